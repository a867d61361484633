//! Small boards are solved: the champion knows what every action is worth there.

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

use anqi_rules::{BoardSize, Game, Ladder, Move};
use anqi_solve::Solver;

use super::expectation::ONE;
use crate::score::Score;

/// Boards of so many squares are solved as a whole, from the first flip.
pub(super) const SMALL_BOARD: u32 = 8;

/// Boards that were solved, and what their actions are worth.
#[derive(Debug, Default)]
pub(crate) struct SmallBoards(Mutex<HashMap<(BoardSize, Ladder), Solver>>);

impl SmallBoards {
    /// What the actions of a game on a small board are worth, apart from draws by quiet plies and repetition; `None` on larger
    /// boards. The first question about an army takes some tenths of a second.
    pub(super) fn actions(&self, game: &Game) -> Option<Vec<(Move, Score)>> {
        let position = game.position();
        let board = position.board();
        if board.squares().len() > SMALL_BOARD {
            return None;
        }
        let mut solved = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = (board, position.ladder());
        let solver = solved.entry(key).or_insert_with(|| Solver::new(key.0, key.1));
        solver.solve(&position.revealed(), position.pool(), NonZeroUsize::MIN).ok()?;
        let legal = game.legal_moves();
        let score = |numerator: i64, denominator: i64| Score((i64::from(ONE - 1) * numerator / denominator) as i32);
        let worth = solver.actions(position)?.into_iter().filter(|(mv, _)| legal.contains(mv));
        Some(worth.map(|(mv, worth)| (mv, score(*worth.value.numer(), *worth.value.denom()))).collect())
    }
}
