//! Which move to try first.

use anqi_rules::{Move, MoveList, Position, Square, Survey};
use arrayvec::ArrayVec;

/// Hands out the steps of a position, the most promising first: the move the table remembers, then
/// captures of high pieces by low ones, then quiet steps by how often they were best elsewhere.
///
/// Each group is made only when it is asked for and sorted only as far as it is read: most nodes are
/// done after a move or two.
pub(crate) struct Picker {
    remembered: Option<Move>,
    stage: Stage,
    left: ArrayVec<(i32, Move), 256>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    Remembered,
    Captures,
    Quiet,
}

impl Picker {
    #[inline]
    pub(crate) fn new(remembered: Option<Move>) -> Picker {
        Picker { remembered, stage: Stage::Remembered, left: ArrayVec::new() }
    }

    /// Makes the captures of a position that was surveyed.
    #[inline]
    pub(crate) fn fill_surveyed(&mut self, position: &Position, survey: &Survey) {
        self.stage = Stage::Captures;
        let mut moves = MoveList::new();
        survey.captures_into(position, &mut moves);
        self.sort_in(position, &moves);
    }

    /// The next capture of `position`.
    #[inline]
    pub(crate) fn capture(&mut self, position: &Position) -> Option<Move> {
        if self.stage == Stage::Remembered {
            self.fill_captures(position);
        }
        self.take_best()
    }

    /// The next step of `position`, quiet ones included. (No `Iterator`: a `for` loop would copy the list.)
    /// Without anything to sort them by quiet steps come as they are.
    #[inline]
    pub(crate) fn step(&mut self, position: &Position, quiet: Option<Quiet>) -> Option<Move> {
        if self.stage == Stage::Remembered {
            // A step of another position with the same key is no step here.
            self.remembered = self.remembered.filter(|mv| matches!(mv, Move::Step { .. }) && position.is_legal(*mv));
            if self.remembered.is_some() {
                self.fill_captures(position);
                return self.remembered;
            }
        }
        loop {
            let next = match self.stage {
                Stage::Quiet if quiet.is_none() => self.left.pop().map(|(_, mv)| mv),
                Stage::Quiet => self.take_best(),
                _ => self.capture(position),
            };
            match next {
                Some(mv) if Some(mv) == self.remembered => {}
                Some(mv) => return Some(mv),
                None if self.stage == Stage::Quiet => return None,
                None => self.fill_quiet(position, quiet),
            }
        }
    }

    #[inline]
    fn fill_captures(&mut self, position: &Position) {
        self.stage = Stage::Captures;
        let mut moves = MoveList::new();
        position.captures_into(&mut moves);
        self.sort_in(position, &moves);
    }

    #[inline]
    fn sort_in(&mut self, position: &Position, captures: &MoveList) {
        self.left.extend(captures.iter().map(|&mv| (capture_score(position, mv), mv)));
    }

    #[inline]
    fn fill_quiet(&mut self, position: &Position, quiet: Option<Quiet>) {
        self.stage = Stage::Quiet;
        let mut moves = MoveList::new();
        position.quiet_steps_into(&mut moves);
        self.left.extend(moves.iter().map(|&mv| (quiet.map_or(0, |quiet| quiet.of(mv)), mv)));
    }

    #[inline]
    fn take_best(&mut self) -> Option<Move> {
        let mut best = 0;
        for index in 1..self.left.len() {
            if self.left[index].0 > self.left[best].0 {
                best = index;
            }
        }
        (!self.left.is_empty()).then(|| self.left.swap_remove(best).1)
    }
}

/// What quiet steps are sorted by.
#[derive(Clone, Copy)]
pub(crate) struct Quiet<'a> {
    history: &'a History,
    /// Steps that refuted a sibling, or the same move elsewhere, the best first: they come before all others.
    refutations: [Option<Move>; 3],
}

impl<'a> Quiet<'a> {
    #[inline]
    pub(crate) fn new(history: &'a History, refutations: [Option<Move>; 3]) -> Quiet<'a> {
        Quiet { history, refutations }
    }

    #[inline]
    fn of(self, mv: Move) -> i32 {
        match self.refutations.iter().position(|refutation| *refutation == Some(mv)) {
            Some(place) => MOST_HISTORY + 3 - place as i32,
            None => self.history.of(mv),
        }
    }
}

impl<'a> From<&'a History> for Quiet<'a> {
    #[inline]
    fn from(history: &'a History) -> Quiet<'a> {
        Quiet::new(history, [None; 3])
    }
}

/// No history score is larger.
const MOST_HISTORY: i32 = 1 << 24;

#[inline]
fn capture_score(position: &Position, mv: Move) -> i32 {
    match mv {
        Move::Step { from, to } => i32::from(position.rung_at(to)) * 8 - i32::from(position.rung_at(from)),
        Move::Flip(_) => 0,
    }
}

/// How often a quiet step was the best one, weighted by depth.
#[derive(Clone, Debug)]
pub(crate) struct History(Box<[i32; Square::COUNT * Square::COUNT]>);

impl History {
    pub(crate) fn new() -> History {
        History(Box::new([0; Square::COUNT * Square::COUNT]))
    }

    #[inline]
    fn index(mv: Move) -> usize {
        match mv {
            Move::Step { from, to } => from.index() * Square::COUNT + to.index(),
            Move::Flip(square) => square.index() * (Square::COUNT + 1),
        }
    }

    #[inline]
    fn of(&self, mv: Move) -> i32 {
        self.0[History::index(mv)]
    }

    #[inline]
    pub(crate) fn reward(&mut self, mv: Move, depth: u32) {
        let entry = &mut self.0[History::index(mv)];
        *entry = (*entry + (depth * depth) as i32).min(MOST_HISTORY);
    }
}
