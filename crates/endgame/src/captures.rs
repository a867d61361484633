//! What the captures of a class promise: every one leads into a smaller class that is solved already.
//! Where only outcomes count there is a faster way to the same: see `outlook.rs`.
//!
//! Captures are found for a row at a time: all pieces but one stand still, and that one, the bit piece, stands
//! anywhere. Then a capture among the others is possible with the bit piece on a set of squares (for a cannon those
//! that make it jump over exactly one piece), one by the bit piece from a set of squares, and one of the bit piece on a
//! set of squares.

use anqi_rules::{Color, Square, SquareSet, neighbours};
use arrayvec::ArrayVec;

use crate::index::{MOST_PIECES, Placement};
use crate::{Class, Distance, Grouping, Measure, Table, Value, Wdl};

/// Where a capture of one group leads: how to read the rest, and its table.
struct Conversion<'a> {
    grouping: Grouping,
    table: &'a Table,
}

/// The captures of a class.
pub(crate) struct Captures<'a> {
    class: &'a Class,
    measure: Measure,
    /// By captured group; `None` where the last piece of a side is taken and the game is over.
    conversions: ArrayVec<Option<Conversion<'a>>, MOST_PIECES>,
}

/// A piece that stands still.
#[derive(Clone, Copy)]
pub(crate) struct Fixed {
    pub(crate) group: usize,
    pub(crate) square: u32,
}

/// What captures promise with the bit piece on each of 32 squares.
pub(crate) struct Promises {
    /// Squares where a capture wins, and the fewest plies.
    pub(crate) won: u32,
    pub(crate) win: [u16; 32],
    /// Squares where a capture draws.
    pub(crate) drawn: u32,
    /// Squares where there is a losing capture, and the most plies.
    pub(crate) lost: u32,
    pub(crate) loss: [u16; 32],
}

impl Promises {
    fn new() -> Promises {
        Promises { won: 0, win: [0; 32], drawn: 0, lost: 0, loss: [0; 32] }
    }

    /// Counts in a capture after which the enemy faces `value`, for the bit piece on any of `squares`.
    #[inline]
    fn add(&mut self, squares: u32, value: Value, measure: Measure) {
        let plies = match (measure, value.distance()) {
            (Measure::End, Some(Distance(plies))) => plies + 1,
            _ => 1,
        };
        match value.wdl() {
            Wdl::Draw => self.drawn |= squares,
            Wdl::Loss => {
                for square in SquareSet(squares) {
                    let win = &mut self.win[square.index()];
                    *win = if self.won >> square.index() & 1 == 1 { plies.min(*win) } else { plies };
                }
                self.won |= squares;
            }
            Wdl::Win => {
                for square in SquareSet(squares) {
                    let loss = &mut self.loss[square.index()];
                    *loss = plies.max(*loss);
                }
                self.lost |= squares;
            }
        }
    }
}

impl<'a> Captures<'a> {
    /// `None` if `smaller` lacks a table.
    pub(crate) fn new(
        class: &'a Class,
        measure: Measure,
        smaller: impl Fn(&Class) -> Option<&'a Table>,
    ) -> Option<Captures<'a>> {
        let conversion = |captured: usize| match class.without(captured) {
            None => Some(None),
            Some(grouping) => smaller(&grouping.class).map(|table| Some(Conversion { grouping, table })),
        };
        let conversions = (0..class.groups().len()).map(conversion).collect::<Option<_>>()?;
        Some(Captures { class, measure, conversions })
    }

    /// What captures promise to `color` with `fixed` standing still and a piece of group `bit` on each of `squares`.
    pub(crate) fn promises(&self, color: Color, fixed: &[Fixed], bit: usize, squares: u32) -> Promises {
        let groups = self.class.groups();
        let mut promises = Promises::new();
        let mut sets = [0; MOST_PIECES];
        fixed.iter().for_each(|piece| sets[piece.group] |= 1 << piece.square);
        let occupied = sets.iter().sum();
        let mut add = |victim: usize, squares: u32, sets: &[u32; MOST_PIECES]| {
            promises.add(squares, self.after(color, victim, sets), self.measure);
        };
        let (ours, theirs): (ArrayVec<Fixed, MOST_PIECES>, ArrayVec<Fixed, MOST_PIECES>) =
            fixed.iter().copied().partition(|piece: &Fixed| groups[piece.group].color == color);

        for &attacker in &ours {
            let group = &groups[attacker.group];
            for &victim in &theirs {
                let squares = match group.jumps {
                    true => squares & jumps_with_help(attacker.square, victim.square, occupied),
                    false if group.takes(victim.group) && adjacent(attacker.square, victim.square) => squares,
                    false => 0,
                };
                if squares != 0 {
                    let mut sets = sets;
                    sets[victim.group] ^= 1 << victim.square;
                    sets[attacker.group] ^= 1 << attacker.square | 1 << victim.square;
                    for square in SquareSet(squares) {
                        let mut sets = sets;
                        sets[bit] |= square.set().0;
                        add(victim.group, square.set().0, &sets);
                    }
                }
            }
            // The bit piece is taken.
            if groups[bit].color != color && (group.jumps || group.takes(bit)) {
                let reach = if group.jumps { jumps_to(attacker.square, occupied) } else { steps_to(attacker.square) };
                for square in SquareSet(squares & reach) {
                    let mut sets = sets;
                    sets[attacker.group] ^= 1 << attacker.square | square.set().0;
                    add(bit, square.set().0, &sets);
                }
            }
        }
        // The bit piece takes.
        if groups[bit].color == color {
            for &victim in &theirs {
                let reach = match groups[bit].jumps {
                    true => jumps_to(victim.square, occupied),
                    false if groups[bit].takes(victim.group) => steps_to(victim.square),
                    false => 0,
                };
                if squares & reach != 0 {
                    let mut sets = sets;
                    sets[victim.group] ^= 1 << victim.square;
                    sets[bit] |= 1 << victim.square;
                    add(victim.group, squares & reach, &sets);
                }
            }
        }
        promises
    }

    /// What the enemy of `color` faces after losing a piece of group `victim`; `sets` are those after it.
    #[inline]
    pub(crate) fn after(&self, color: Color, victim: usize, sets: &[u32; MOST_PIECES]) -> Value {
        let Some(conversion) = &self.conversions[victim] else { return Value::loss(Distance(0)) };
        let grouping = &conversion.grouping;
        let mut after = Placement { sets: [0; MOST_PIECES], turn: grouping.color(color.other()) };
        for (group, set) in sets.iter().enumerate().take(self.class.groups().len()) {
            after.sets[grouping.part(group)] |= set;
        }
        conversion.table.value(&after)
    }
}

pub(crate) fn adjacent(a: u32, b: u32) -> bool {
    steps_to(a) >> b & 1 == 1
}

pub(crate) fn steps_to(square: u32) -> u32 {
    neighbours(Square::from_low_bits(square as usize)).0
}

/// The squares between which and `square` exactly one of `occupied` stands.
pub(crate) fn jumps_to(square: u32, occupied: u32) -> u32 {
    let lined = SquareSet(LINES[square as usize]).iter();
    let jumps = |other: &Square| (BETWEEN[square as usize][other.index()] & occupied).count_ones() == 1;
    lined.filter(jumps).fold(0, |all, square| all | square.set().0)
}

/// Where one more piece may stand so that a cannon on `from` takes what is on `to`.
pub(crate) fn jumps_with_help(from: u32, to: u32, occupied: u32) -> u32 {
    if LINES[from as usize] >> to & 1 == 0 {
        return 0;
    }
    let between = BETWEEN[from as usize][to as usize];
    match (between & occupied).count_ones() {
        0 => between,
        1 => !between,
        _ => 0,
    }
}

/// The other squares on file and rank.
pub(crate) fn lines(square: u32) -> u32 {
    LINES[square as usize]
}

static LINES: [u32; 32] = {
    let mut lines = [0; 32];
    let mut square = 0;
    while square < 32 {
        let (file, rank) = (square / 8, square % 8);
        lines[square] = (0xFF << (8 * file) | 0x0101_0101 << rank) ^ 1 << square;
        square += 1;
    }
    lines
};

/// The squares between two on a line.
static BETWEEN: [[u32; 32]; 32] = {
    let mut table = [[0; 32]; 32];
    let mut a = 0;
    while a < 32 {
        let mut b = 0;
        while b < 32 {
            let (low, high) = if a < b { (a, b) } else { (b, a) };
            let step = if a / 8 == b / 8 { 1 } else { 8 };
            if LINES[a] >> b & 1 == 1 {
                let mut square = low + step;
                while square < high {
                    table[a][b] |= 1 << square;
                    square += step;
                }
            }
            b += 1;
        }
        a += 1;
    }
    table
};
