//! Retrograde analysis of one class: from the ends of the game backwards, one ply of distance after the other.
//!
//! Every capture leads into a smaller class that is solved already, every other move stays in the class and can be
//! taken back. So captures are looked up once, when a position is first met, and the rest is a walk backwards along
//! quiet steps (Thompson 1986, with the counters of Wu & Beal 2001):
//!
//! 1. A capture that leaves the enemy lost decides the position no later than one ply above that loss. A position
//!    without any way out is lost. Both wait in the layer of their distance.
//! 2. Layer by layer, each position not decided earlier is decided. Before a lost position every position is won, one
//!    ply later. Before a won position the number of quiet steps not yet refuted falls by one; at none, and with no
//!    capture that saves, the position is lost, and the longest of its ways to lose counts.
//! 3. What no layer has reached is drawn.
//!
//! The counters are exact because numbers are: see [`Index`] on why no placement is its own reflection.

use anqi_rules::{ByColor, Color, Square, SquareSet, cannon_targets, neighbours};
use arrayvec::ArrayVec;

use crate::index::{MOST_PIECES, Placement};
use crate::{Class, Distance, Index, Reading, Tally, Value, Wdl};

/// A class with the value of each of its placements.
#[derive(Clone, Debug)]
pub struct Table {
    class: Class,
    index: Index,
    values: Vec<Value>,
    tally: ByColor<Tally>,
}

impl Table {
    /// The class.
    #[must_use]
    pub const fn class(&self) -> &Class {
        &self.class
    }

    /// The numbering.
    #[must_use]
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// The values by number.
    #[must_use]
    pub fn values(&self) -> &[Value] {
        &self.values
    }

    /// The results by the side to move, over all numbers; each stands for [`Index::weight`] placements.
    #[must_use]
    pub const fn tally(&self) -> &ByColor<Tally> {
        &self.tally
    }

    /// The value of a placement for the side to move.
    #[must_use]
    #[inline]
    pub fn value(&self, placement: &Placement) -> Value {
        self.values[self.index.number(placement) as usize]
    }
}

/// Where a capture of one group leads: how to read the rest, and its table.
struct Conversion<'a> {
    reading: Reading,
    table: &'a Table,
}

/// Moves of a class, forwards and backwards.
struct Board<'a> {
    class: &'a Class,
    /// By captured group; `None` where the last piece of a side is taken and the game is over.
    conversions: ArrayVec<Option<Conversion<'a>>, MOST_PIECES>,
}

/// Marks a position that a capture saves: it cannot be lost, however many quiet steps are refuted.
const SAVED: u8 = u8::MAX;

/// What the captures of a position promise.
struct Captures {
    /// The shortest win.
    win: Option<Distance>,
    /// Whether one of them draws.
    draw: bool,
    /// The longest loss, 0 if there is no capture.
    loss: Distance,
}

/// Solves `class`; `smaller` gives the tables of the classes that a capture leads to. `None` if it has more than
/// [`MOST_PIECES`] pieces or a smaller table is missing.
pub(crate) fn solve<'a>(class: &'a Class, smaller: impl Fn(&Class) -> Option<&'a Table>) -> Option<Table> {
    let index = Index::new(class)?;
    let conversion = |captured: usize| match class.without(captured) {
        None => Some(None),
        Some(reading) => smaller(&reading.class).map(|table| Some(Conversion { reading, table })),
    };
    let conversions = (0..class.groups().len()).map(conversion).collect::<Option<_>>()?;
    let board = Board { class, conversions };

    let size = index.len() as usize;
    let mut values = vec![Value::DRAW; size];
    let mut unrefuted = vec![0; size];
    let mut layers = Layers::default();

    // Step 1. Captures and dead ends.
    for (number, unrefuted) in (0..index.len()).zip(&mut unrefuted) {
        let placement = index.placement(number);
        let captures = board.captures(&placement);
        let quiet = board.count_quiet(&placement);
        *unrefuted = quiet;
        if let Some(distance) = captures.win {
            layers.push(distance, number);
            *unrefuted = SAVED;
        } else if captures.draw {
            *unrefuted = SAVED;
        } else if quiet == 0 {
            layers.push(captures.loss, number);
        }
    }

    // Step 2. Backwards, layer by layer; a layer only adds to later ones.
    let mut distance = Distance(0);
    while let Some(layer) = layers.take(distance) {
        let (decided, next) = (Value::decided(distance), Distance(distance.0 + 1));
        for number in layer {
            if values[number as usize] != Value::DRAW {
                continue;
            }
            values[number as usize] = decided;
            board.each_before(&index.placement(number), |before| {
                let number = index.number(before);
                if values[number as usize] != Value::DRAW {
                    return;
                }
                if decided.wdl() == Wdl::Loss {
                    layers.push(next, number);
                    return;
                }
                let unrefuted = &mut unrefuted[number as usize];
                if *unrefuted != SAVED {
                    *unrefuted -= 1;
                    if *unrefuted == 0 {
                        layers.push(next.max(board.captures(before).loss), number);
                    }
                }
            });
        }
        distance = next;
    }

    // Step 3. The rest has kept the value it began with: a draw.
    let (red, black) = values.split_at(size / 2);
    let tally = ByColor([red, black].map(|values| values.iter().copied().collect()));
    Some(Table { class: class.clone(), index, values, tally })
}

/// Numbers waiting to be decided, by distance.
#[derive(Default)]
struct Layers(Vec<Vec<u32>>);

impl Layers {
    fn push(&mut self, distance: Distance, number: u32) {
        let distance = usize::from(distance.0);
        if self.0.len() <= distance {
            self.0.resize_with(distance + 1, Vec::new);
        }
        self.0[distance].push(number);
    }

    /// The layer of this distance; `None` beyond the last.
    fn take(&mut self, distance: Distance) -> Option<Vec<u32>> {
        self.0.get_mut(usize::from(distance.0)).map(std::mem::take)
    }
}

impl Board<'_> {
    /// The groups of `color` with their numbers.
    #[inline]
    fn groups(&self, color: Color) -> impl Iterator<Item = (usize, &crate::Group)> {
        self.class.groups().iter().enumerate().filter(move |(_, group)| group.color == color)
    }

    #[inline]
    fn captures(&self, placement: &Placement) -> Captures {
        let occupied = placement.occupied();
        let mut captures = Captures { win: None, draw: false, loss: Distance(0) };
        for (attacker, group) in self.groups(placement.turn) {
            for from in SquareSet(placement.sets[attacker]) {
                let reach = if group.jumps { cannon_targets(from, SquareSet(occupied)) } else { neighbours(from) }.0;
                if reach & occupied == 0 {
                    continue;
                }
                for (victim, _) in self.groups(placement.turn.other()) {
                    if !group.jumps && !group.takes(victim) {
                        continue;
                    }
                    for to in SquareSet(reach & placement.sets[victim]) {
                        captures.add(self.after_capture(placement, (attacker, from), (victim, to)));
                    }
                }
            }
        }
        captures
    }

    /// What the enemy faces after a capture.
    #[inline]
    fn after_capture(&self, placement: &Placement, attacker: (usize, Square), victim: (usize, Square)) -> Value {
        let Some(conversion) = &self.conversions[victim.0] else { return Value::decided(Distance(0)) };
        let mut sets = placement.sets;
        sets[attacker.0] ^= attacker.1.set().0 | victim.1.set().0;
        sets[victim.0] ^= victim.1.set().0;
        let reading = &conversion.reading;
        let turn = reading.color(placement.turn.other());
        let mut after = Placement { sets: [0; MOST_PIECES], turn };
        for (group, set) in sets.into_iter().enumerate() {
            after.sets[reading.part(group)] |= set;
        }
        conversion.table.value(&after)
    }

    #[inline]
    fn count_quiet(&self, placement: &Placement) -> u8 {
        let mut count = 0;
        self.each_step(placement, placement.turn, |_, _, _| count += 1);
        count
    }

    /// Every placement from which a quiet step leads here.
    #[inline]
    fn each_before(&self, placement: &Placement, mut visit: impl FnMut(&Placement)) {
        let mover = placement.turn.other();
        self.each_step(placement, mover, |group, from, to| {
            let mut before = Placement { turn: mover, ..*placement };
            before.sets[group] ^= from | to;
            visit(&before);
        });
    }

    /// Every step of `color` onto an empty square: group, from, to.
    #[inline]
    fn each_step(&self, placement: &Placement, color: Color, mut visit: impl FnMut(usize, u32, u32)) {
        let empty = !placement.occupied();
        for (group, _) in self.groups(color) {
            for from in SquareSet(placement.sets[group]) {
                for to in SquareSet(neighbours(from).0 & empty) {
                    visit(group, from.set().0, to.set().0);
                }
            }
        }
    }
}

impl Captures {
    /// Counts in a capture after which the enemy faces `value`.
    #[inline]
    fn add(&mut self, value: Value) {
        let one_more = |distance: Distance| Distance(distance.0 + 1);
        match (value.wdl(), value.distance().map(one_more)) {
            (Wdl::Loss, Some(win)) => self.win = Some(self.win.map_or(win, |best| best.min(win))),
            (Wdl::Win, Some(loss)) => self.loss = self.loss.max(loss),
            _ => self.draw = true,
        }
    }
}
