//! Which move to try first.

use anqi_rules::{Move, MoveList, Position, Square};
use arrayvec::ArrayVec;

/// Hands out the steps of a position, the most promising first: the move the table remembers, then
/// captures of high pieces by low ones, then quiet steps by how often they were best elsewhere.
///
/// Sorted only as far as it is read: most nodes are done after a move or two.
pub(crate) struct Picker {
    left: ArrayVec<(i32, Move), 256>,
}

impl Picker {
    #[inline]
    pub(crate) fn new() -> Picker {
        Picker { left: ArrayVec::new() }
    }

    /// Takes in the steps of `position`. In place: these lists are long and mostly empty.
    #[inline]
    pub(crate) fn fill(&mut self, position: &Position, remembered: Option<Move>, history: &History) {
        let mut moves = MoveList::new();
        position.captures_into(&mut moves);
        let captures = moves.len();
        position.quiet_steps_into(&mut moves);
        // The last of equals is handed out first: put in the captures last.
        let (captures, quiet) = moves.split_at(captures);
        self.left.extend(quiet.iter().map(|&mv| (history.of(mv), mv)));
        self.left.extend(captures.iter().map(|&mv| (capture_score(position, mv), mv)));
        if let Some(entry) = self.left.iter_mut().find(|(_, mv)| Some(*mv) == remembered) {
            entry.0 = i32::MAX;
        }
    }

    /// Takes in the captures of `position` alone.
    #[inline]
    pub(crate) fn fill_captures(&mut self, position: &Position) {
        let mut moves = MoveList::new();
        position.captures_into(&mut moves);
        self.left.extend(moves.iter().map(|&mv| (capture_score(position, mv), mv)));
    }

    /// Hands out the best move left. (No `Iterator`: a `for` loop would copy the list.)
    #[inline]
    pub(crate) fn pick(&mut self) -> Option<Move> {
        let best = (0..self.left.len()).max_by_key(|&index| self.left[index].0)?;
        Some(self.left.swap_remove(best).1)
    }
}

/// Above every history score.
const CAPTURE: i32 = 1 << 24;

#[inline]
fn capture_score(position: &Position, mv: Move) -> i32 {
    match mv {
        Move::Step { from, to } => CAPTURE + i32::from(position.rung_at(to)) * 8 - i32::from(position.rung_at(from)),
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
        *entry = (*entry + (depth * depth) as i32).min(CAPTURE / 2);
    }
}
