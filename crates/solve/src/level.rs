//! `SolvedLevel`: all positions of a class with the same squares face down, solved at once.
//!
//! A flip or a capture leaves a level for one that is solved already, and never comes back: it *converts*. Inside a level
//! there are quiet steps only, which can go round for ever, and endless play is worth 0. So a level is a game of two
//! players on a graph whose exits have known values, and it is solved exactly, from the most decisive exits to the
//! least (retrograde analysis with many values in place of two):
//!
//! 1. For every position find its best conversion and count its quiet steps.
//! 2. Take the values t > 0 in descending order. A position with a conversion worth t, or with a step to a position that
//!    is worth −t to the enemy, is worth t. A position all of whose steps lead to positions worth at least t to the
//!    enemy is worth −t or its best conversion, if that is better.
//! 3. What is left is worth 0: both sides can avoid everything below.
//!
//! Values are whole numbers: with h squares face down, multiples of 1/h!.
//!
//! A value does not say how often games are drawn, and play of equal value can differ in that. The *split* is that of two
//! players who, of actions of equal value, take the one with fewer draws (as the value is the same, it wins more often,
//! and loses more often): of the conversions that such play can reach, that with the fewest draws.

use anqi_endgame::{Class, Grouping};
use anqi_rules::{BoardSize, Color, Square, SquareSet, cannon_targets, neighbours};

use crate::index::{Index, MOST_GROUPS, VeiledPlacement};
use crate::turning::Turning;

/// The values of a level, by number.
#[derive(Clone, Debug)]
pub(crate) struct SolvedLevel {
    index: Index,
    /// For the side to move, in units of 1/h!.
    values: Vec<i16>,
    /// How often games are drawn, in the same units; empty if nobody asked.
    draws: Vec<u16>,
}

/// The units of values with so many squares face down: h!. Values fit in 16 bits up to seven.
pub(crate) fn unit(hidden: u32) -> i64 {
    (1..=i64::from(hidden)).product()
}

impl SolvedLevel {
    /// A level whose values come from elsewhere; `None` if there are too few or too many.
    #[cfg(feature = "files")]
    pub(crate) fn from_values(index: Index, values: Vec<i16>) -> Option<SolvedLevel> {
        (values.len() == index.len() as usize).then_some(SolvedLevel { index, values, draws: Vec::new() })
    }

    pub(crate) fn index(&self) -> &Index {
        &self.index
    }

    pub(crate) fn values(&self) -> &[i16] {
        &self.values
    }

    /// Value and draws of a placement, for the side to move.
    #[inline]
    pub(crate) fn worth(&self, placement: &VeiledPlacement) -> (i32, Option<i32>) {
        let number = self.index.number(placement) as usize;
        (i32::from(self.values[number]), self.draws.get(number).map(|&draws| i32::from(draws)))
    }
}

/// A level that a conversion leads to, and how to read it.
#[derive(Clone, Debug)]
pub(crate) struct Child<'a> {
    pub(crate) level: &'a SolvedLevel,
    pub(crate) grouping: Grouping,
    /// How the board must be turned to meet the level.
    pub(crate) turning: Option<Turning>,
}

impl Child<'_> {
    /// Value and draws after a conversion, for the enemy of the mover, whose `turn` it is now.
    #[inline]
    pub(crate) fn worth(&self, sets: &[u32; MOST_GROUPS], groups: usize, turn: Color) -> (i32, Option<i32>) {
        let mut after = VeiledPlacement { sets: [0; MOST_GROUPS], turn: self.grouping.color(turn) };
        for (group, &set) in sets[..groups].iter().enumerate() {
            let set = self.turning.as_ref().map_or(set, |turning| turning.apply(set));
            after.sets[self.grouping.part(group)] |= set;
        }
        self.level.worth(&after)
    }
}

/// The classes that one capture or flip leads to.
pub(crate) fn successors(class: &Class) -> impl Iterator<Item = Class> {
    let captures = |group: usize| class.without(group).filter(|_| class.can_be_taken(group));
    let groupings =
        (0..class.groups().len()).flat_map(move |group| captures(group).into_iter().chain(class.flipped(group)));
    groupings.map(|grouping| grouping.class)
}

/// What is needed to solve a level.
pub(crate) struct Problem<'a> {
    board: BoardSize,
    class: &'a Class,
    hidden: u32,
    unit: i32,
    index: Index,
    /// By the group of the captured piece.
    captures: Vec<Capture<'a>>,
    flips: Vec<Flip<'a>>,
}

enum Capture<'a> {
    Never,
    Won,
    To(Child<'a>),
}

/// A face-down square and what may lie there.
struct Flip<'a> {
    square: u32,
    /// Group, how many of it are in the pool, and where that leads.
    reveals: Vec<(usize, i32, Child<'a>)>,
}

/// The conversion of a position that is best for the mover; fewer draws are better if values are equal.
#[derive(Clone, Copy)]
struct Best {
    value: i32,
    draws: i32,
}

/// Worse than anything.
const NOTHING: Best = Best { value: i32::MIN, draws: 0 };

impl Best {
    #[inline]
    fn or(self, other: Best) -> Best {
        let better = (other.value, -other.draws) > (self.value, -self.draws);
        if better { other } else { self }
    }
}

impl<'a> Problem<'a> {
    /// `find` gives the level of a class and a set of face-down squares, and how to turn the board for it.
    pub(crate) fn new(
        board: BoardSize,
        turnings: &[Turning],
        class: &'a Class,
        hidden: u32,
        find: impl Fn(&Class, u32) -> (&'a SolvedLevel, Option<Turning>),
    ) -> Problem<'a> {
        let child = |grouping: Grouping, hidden: u32| {
            let (level, turning) = find(&grouping.class, hidden);
            Child { level, grouping, turning }
        };
        let capture = |group: usize| match class.without(group) {
            _ if !class.can_be_taken(group) => Capture::Never,
            None => Capture::Won,
            Some(grouping) => Capture::To(child(grouping, hidden)),
        };
        let flip = |square: Square| {
            let square = square.set().0;
            let reveal = |(group, grouping): (usize, Grouping)| {
                (group, i32::from(class.groups()[group].pool), child(grouping, hidden & !square))
            };
            let after = (0..class.groups().len()).filter_map(|group| Some((group, class.flipped(group)?)));
            Flip { square, reveals: after.map(reveal).collect() }
        };
        Problem {
            board,
            class,
            hidden,
            unit: unit(class.hidden()) as i32,
            index: Index::new(board, turnings, class, hidden),
            captures: (0..class.groups().len()).map(capture).collect(),
            flips: SquareSet(hidden).iter().map(flip).collect(),
        }
    }

    /// Solves it; with the split between wins, draws and losses if asked for.
    pub(crate) fn solve(self, split: bool) -> SolvedLevel {
        let size = self.index.len() as usize;
        let mut values = vec![OPEN; size];
        let mut best = vec![NOTHING; size];
        let mut unrefuted = vec![0_u8; size];
        let mut stages = Stages::new(self.unit);

        // Step 1. Conversions, and positions that are decided at once.
        for number in 0..self.index.len() {
            let placement = self.index.placement(number);
            let here = self.best_conversion(&placement);
            let steps = self.count_steps(&placement);
            best[number as usize] = here;
            unrefuted[number as usize] = steps;
            match here.value {
                i32::MIN if steps == 0 => stages.push(-self.unit, number), // nothing to do is a loss
                value if value > 0 || steps == 0 => stages.push(value, number),
                _ => {}
            }
        }

        // Step 2. Backwards, from the most decisive values down.
        for stage in (1..=self.unit).rev() {
            while let Some((number, value)) = stages.pop(stage) {
                if values[number as usize] != OPEN {
                    continue;
                }
                values[number as usize] = value as i16;
                self.each_before(&self.index.placement(number), |before| {
                    let number = self.index.number(before);
                    if values[number as usize] != OPEN {
                        return;
                    }
                    if value < 0 {
                        stages.push(-value, number);
                        return;
                    }
                    let unrefuted = &mut unrefuted[number as usize];
                    *unrefuted -= 1;
                    // A better conversion that wins waits in its stage already, one worth 0 is what remains.
                    let otherwise = best[number as usize].value;
                    if *unrefuted == 0 && otherwise < 0 {
                        stages.push(otherwise.max(-value), number);
                    }
                });
            }
        }

        // Step 3. The rest.
        values.iter_mut().filter(|value| **value == OPEN).for_each(|value| *value = 0);
        let draws = if split { self.split(&values, &best) } else { Vec::new() };
        SolvedLevel { index: self.index, values, draws }
    }

    /// How often games are drawn: from the conversions with the fewest draws backwards along steps of equal value.
    fn split(&self, values: &[i16], best: &[Best]) -> Vec<u16> {
        let mut draws = vec![OPEN_DRAWS; values.len()];
        let mut stages: Vec<Vec<u32>> = vec![Vec::new(); self.unit as usize + 1];
        for (number, (&value, best)) in values.iter().zip(best).enumerate() {
            if best.value == i32::from(value) {
                stages[best.draws as usize].push(number as u32);
            } else if best.value == i32::MIN && i32::from(value) == -self.unit {
                stages[0].push(number as u32); // lost whatever is played
            }
        }
        for (fewest, stage) in stages.iter_mut().enumerate() {
            while let Some(number) = stage.pop() {
                if draws[number as usize] != OPEN_DRAWS {
                    continue;
                }
                draws[number as usize] = fewest as u16;
                self.each_before(&self.index.placement(number), |before| {
                    let before = self.index.number(before);
                    if draws[before as usize] == OPEN_DRAWS && values[before as usize] == -values[number as usize] {
                        stage.push(before);
                    }
                });
            }
        }
        // Nobody converts: quiet play for ever.
        let all = self.unit as u16;
        draws.into_iter().map(|draws| if draws == OPEN_DRAWS { all } else { draws }).collect()
    }

    #[inline]
    fn best_conversion(&self, placement: &VeiledPlacement) -> Best {
        self.best_capture(placement).or(self.best_flip(placement))
    }

    #[inline]
    fn best_capture(&self, placement: &VeiledPlacement) -> Best {
        let groups = self.class.groups();
        let occupied = placement.occupied() | self.hidden;
        let mut best = NOTHING;
        for (attacker, group) in groups.iter().enumerate().filter(|(_, group)| group.color == placement.turn) {
            for from in SquareSet(placement.sets[attacker]) {
                let reach = if group.jumps { cannon_targets(from, SquareSet(occupied)) } else { neighbours(from) }.0;
                if reach & occupied == 0 {
                    continue;
                }
                for (victim, other) in groups.iter().enumerate() {
                    if other.color == group.color || !group.jumps && !group.takes(victim) {
                        continue;
                    }
                    for to in SquareSet(reach & placement.sets[victim]) {
                        best = best.or(self.after_capture(placement, (attacker, from), (victim, to)));
                    }
                }
            }
        }
        best
    }

    #[inline]
    fn after_capture(&self, placement: &VeiledPlacement, attacker: (usize, Square), victim: (usize, Square)) -> Best {
        let child = match &self.captures[victim.0] {
            Capture::To(child) => child,
            Capture::Won => return Best { value: self.unit, draws: 0 },
            Capture::Never => unreachable!("no piece takes this one"),
        };
        let mut sets = placement.sets;
        sets[attacker.0] ^= attacker.1.set().0 | victim.1.set().0;
        sets[victim.0] ^= victim.1.set().0;
        let (value, draws) = child.worth(&sets, self.captures.len(), placement.turn.other());
        Best { value: -value, draws: draws.unwrap_or(0) }
    }

    #[inline]
    fn best_flip(&self, placement: &VeiledPlacement) -> Best {
        let mut best = NOTHING;
        for flip in &self.flips {
            let mut sum = Best { value: 0, draws: 0 };
            for (group, count, child) in &flip.reveals {
                let mut sets = placement.sets;
                sets[*group] |= flip.square;
                let (value, draws) = child.worth(&sets, self.captures.len(), placement.turn.other());
                // The level below counts in h times larger units, and the counts sum up to h.
                sum.value -= count * value;
                sum.draws += count * draws.unwrap_or(0);
            }
            best = best.or(sum);
        }
        best
    }

    #[inline]
    fn count_steps(&self, placement: &VeiledPlacement) -> u8 {
        let mut count = 0;
        self.each_step(placement, placement.turn, |_, _, _| count += 1);
        count
    }

    /// Every placement from which a quiet step leads here.
    #[inline]
    fn each_before(&self, placement: &VeiledPlacement, mut visit: impl FnMut(&VeiledPlacement)) {
        let mover = placement.turn.other();
        self.each_step(placement, mover, |group, from, to| {
            let mut before = VeiledPlacement { turn: mover, ..*placement };
            before.sets[group] ^= from | to;
            visit(&before);
        });
    }

    /// Every step of `color` onto an empty square: group, from, to.
    #[inline]
    fn each_step(&self, placement: &VeiledPlacement, color: Color, mut visit: impl FnMut(usize, u32, u32)) {
        let empty = self.board.squares().0 & !(placement.occupied() | self.hidden);
        for (group, _) in self.class.groups().iter().enumerate().filter(|(_, group)| group.color == color) {
            for from in SquareSet(placement.sets[group]) {
                for to in SquareSet(neighbours(from).0 & empty) {
                    visit(group, from.set().0, to.set().0);
                }
            }
        }
    }
}

/// Not decided yet; no value is that low.
const OPEN: i16 = i16::MIN;
/// Not decided yet; no count is that high.
const OPEN_DRAWS: u16 = u16::MAX;

/// Positions waiting to be decided, by how decisive their value would be.
struct Stages(Vec<[Vec<u32>; 2]>);

impl Stages {
    fn new(unit: i32) -> Stages {
        Stages(vec![Default::default(); unit as usize + 1])
    }

    fn push(&mut self, value: i32, number: u32) {
        self.0[value.unsigned_abs() as usize][usize::from(value < 0)].push(number);
    }

    /// The next position of a stage, with the value it would have.
    fn pop(&mut self, stage: i32) -> Option<(u32, i32)> {
        let [wins, losses] = &mut self.0[stage as usize];
        wins.pop().map(|number| (number, stage)).or_else(|| losses.pop().map(|number| (number, -stage)))
    }
}
