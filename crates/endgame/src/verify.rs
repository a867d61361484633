//! Checking a table by looking forward: every value must follow from those of the positions that the moves lead to.
//!
//! Nothing of the builder is used here. Placements are laid out square by square, moves are those of `anqi-rules`'
//! geometry, and values are looked up one at a time.
//!
//! A table of distances that passes is right: by induction on the distance each decided position is what it is said to
//! be, and who is said to draw can always move to another draw and never to a win. Outcomes that follow from each other
//! are not proven by that (a circle of wins would pass), so a decided outcome is only found to be consistent.

use anqi_rules::{Color, Seed, Square, SquareSet, cannon_targets, neighbours};
use rand_core::Rng;

use crate::index::MOST_PIECES;
use crate::{Class, Distance, Grouping, Measure, Placement, Table, Value, Wdl};

/// A value that does not follow from its successors.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Disagreement {
    /// Where.
    pub placement: Placement,
    /// What the table says.
    pub found: Value,
    /// What follows from the successors.
    pub expected: Value,
}

/// Compares every placement of a table, up to symmetry, with its successors; `smaller` gives the tables that captures
/// lead to, of the same flavour. Returns how many placements were compared, both sides to move, or the first that is
/// wrong; `None` if a smaller table is missing.
pub fn verify<'a>(
    table: &'a Table,
    smaller: impl Fn(&Class) -> Option<&'a Table>,
) -> Option<Result<u64, Disagreement>> {
    let check = Check::new(table, smaller)?;
    let class = table.class();
    // Of four reflections one is enough: the one with some single piece in the corner.
    let single = class.groups().iter().position(|group| group.count == 1);
    let mut order: Vec<usize> = (0..class.groups().len()).collect();
    order.sort_by_key(|&group| Some(group) != single);
    let corner = if single.is_some() { 0x0000_0F0F } else { !0 };
    let mut sets = [0; MOST_PIECES];
    Some(check.lay_out(&order, corner, &mut sets))
}

/// The same for so many random placements, drawn from `seed`; one may be drawn twice. A table that was forged or built on
/// damage is wrong in many places, a single wrong value may stay hidden.
pub fn verify_sample<'a>(
    table: &'a Table,
    smaller: impl Fn(&Class) -> Option<&'a Table>,
    count: u64,
    seed: &Seed,
) -> Option<Result<(), Disagreement>> {
    let check = Check::new(table, smaller)?;
    let mut rng = seed.rng();
    let mut below = |most: usize| ((u64::from(rng.next_u32()) * most as u64) >> 32) as usize;
    for _ in 0..count {
        let mut squares: [u32; Square::COUNT] = std::array::from_fn(|square| 1 << square);
        let mut sets = [0; MOST_PIECES];
        let pieces = table.class().groups().iter().enumerate();
        let pieces = pieces.flat_map(|(group, of)| std::iter::repeat_n(group, usize::from(of.count)));
        for (place, group) in pieces.enumerate() {
            squares.swap(place, place + below(Square::COUNT - place));
            sets[group] |= squares[place];
        }
        if let Err(wrong) = check.compare(&Placement { sets, turn: Color::ALL[below(2)] }) {
            return Some(Err(wrong));
        }
    }
    Some(Ok(()))
}

struct Check<'a> {
    table: &'a Table,
    /// By captured group; `None` where the game is over.
    conversions: Vec<Option<(Grouping, &'a Table)>>,
}

/// What the moves looked at so far promise.
#[derive(Default)]
struct Best {
    win: Option<u16>,
    draw: bool,
    loss: u16,
}

impl<'a> Check<'a> {
    /// None if a table that a capture leads to is missing.
    fn new(table: &'a Table, smaller: impl Fn(&Class) -> Option<&'a Table>) -> Option<Check<'a>> {
        let class = table.class();
        let conversion = |captured: usize| match class.without(captured) {
            None => Some(None),
            Some(grouping) => smaller(&grouping.class).map(|table| Some((grouping, table))),
        };
        let conversions = (0..class.groups().len()).map(conversion).collect::<Option<Vec<_>>>()?;
        Some(Check { table, conversions })
    }

    /// Places the groups in `order` in all ways, the first on `allowed` squares only, and compares.
    fn lay_out(&self, order: &[usize], allowed: u32, sets: &mut [u32; MOST_PIECES]) -> Result<u64, Disagreement> {
        let Some((&group, rest)) = order.split_first() else {
            for turn in Color::ALL {
                self.compare(&Placement { sets: *sets, turn })?;
            }
            return Ok(2);
        };
        let used: u32 = sets.iter().sum();
        let squares: Vec<u32> = SquareSet(allowed & !used).iter().map(|square| square.set().0).collect();
        self.choose(usize::from(self.table.class().groups()[group].count), &squares, group, rest, sets)
    }

    fn choose(
        &self,
        count: usize,
        squares: &[u32],
        group: usize,
        rest: &[usize],
        sets: &mut [u32; MOST_PIECES],
    ) -> Result<u64, Disagreement> {
        if count == 0 {
            return self.lay_out(rest, !0, sets);
        }
        let mut compared = 0;
        for (place, square) in squares.iter().enumerate() {
            sets[group] ^= square;
            compared += self.choose(count - 1, &squares[place + 1..], group, rest, sets)?;
            sets[group] ^= square;
        }
        Ok(compared)
    }

    fn compare(&self, placement: &Placement) -> Result<(), Disagreement> {
        let (found, expected) = (self.table.value(placement), self.expected(placement));
        if found == expected { Ok(()) } else { Err(Disagreement { placement: *placement, found, expected }) }
    }

    /// The value that follows from all moves.
    fn expected(&self, placement: &Placement) -> Value {
        let groups = self.table.class().groups();
        let (turn, occupied) = (placement.turn, placement.occupied());
        let mut best = Best::default();
        for (attacker, group) in groups.iter().enumerate().filter(|(_, group)| group.color == turn) {
            for from in SquareSet(placement.sets[attacker]) {
                for to in SquareSet(neighbours(from).0 & !occupied) {
                    let mut after = Placement { turn: turn.other(), ..*placement };
                    after.sets[attacker] ^= from.set().0 | to.set().0;
                    self.step(self.table.value(&after), &mut best);
                }
                let reach = if group.jumps { cannon_targets(from, SquareSet(occupied)) } else { neighbours(from) };
                for (victim, _) in groups.iter().enumerate().filter(|(_, other)| other.color != turn) {
                    if group.jumps || group.takes(victim) {
                        for to in SquareSet(placement.sets[victim]).iter().filter(|&to| reach.contains(to)) {
                            self.capture(self.captured(placement, (attacker, from), (victim, to)), &mut best);
                        }
                    }
                }
            }
        }
        let distance = |plies| if self.table.flavour().measure() == Measure::Outcome { 0 } else { plies };
        match best {
            Best { win: Some(plies), .. } => Value::win(Distance(distance(plies))),
            Best { draw: true, .. } => Value::DRAW,
            Best { loss, .. } => Value::loss(Distance(distance(loss))),
        }
    }

    /// What the enemy faces after a capture.
    fn captured(&self, placement: &Placement, attacker: (usize, Square), victim: (usize, Square)) -> Value {
        let Some((grouping, table)) = &self.conversions[victim.0] else { return Value::loss(Distance(0)) };
        let mut after = Placement { sets: [0; MOST_PIECES], turn: grouping.color(placement.turn.other()) };
        for (group, mut set) in placement.sets.into_iter().enumerate().take(self.conversions.len()) {
            if group == victim.0 {
                set &= !victim.1.set().0;
            }
            if group == attacker.0 {
                set = set & !attacker.1.set().0 | victim.1.set().0;
            }
            after.sets[grouping.part(group)] |= set;
        }
        table.value(&after)
    }

    /// A quiet step; under a draw rule what takes longer than the rule allows is a draw.
    fn step(&self, value: Value, best: &mut Best) {
        let plies = value.distance().map_or(0, |Distance(plies)| plies + 1);
        let limit = self.table.flavour().draw().unwrap_or(u16::MAX);
        let in_time = self.table.flavour().measure() == Measure::Outcome || plies <= limit;
        best.add(if in_time { value.wdl() } else { Wdl::Draw }, plies);
    }

    fn capture(&self, value: Value, best: &mut Best) {
        let end = self.table.flavour().measure() == Measure::End;
        best.add(value.wdl(), if end { value.distance().map_or(0, |Distance(plies)| plies + 1) } else { 1 });
    }
}

impl Best {
    /// A move after which the enemy faces `theirs`, in so many plies from before it.
    fn add(&mut self, theirs: Wdl, plies: u16) {
        match theirs {
            Wdl::Loss => self.win = Some(self.win.map_or(plies, |best| best.min(plies))),
            Wdl::Draw => self.draw = true,
            Wdl::Win => self.loss = self.loss.max(plies),
        }
    }
}
