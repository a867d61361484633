//! Fixed piece values: the *static piece value strategy* of Chen, Shen & Hsu, 2.4.

use anqi_rules::Position;

use super::{Evaluate, Weights};
use crate::score::Score;

/// What each side has, on the board and face down, by fixed values.
///
/// The paper gives no values. These keep its order of ranks, set the cannon above the rook
/// because it takes everything, and the pawn with the knight because it takes the king.
#[derive(Clone, Copy, Debug)]
pub struct Fixed(pub Weights);

impl Fixed {
    /// The values, when nothing else is said.
    pub const VALUES: Weights = Weights([1200, 800, 400, 200, 120, 300, 120]);
}

impl Default for Fixed {
    fn default() -> Fixed {
        Fixed(Fixed::VALUES)
    }
}

impl Evaluate for Fixed {
    #[inline]
    fn evaluate(&self, position: &Position) -> Score {
        let Some(turn) = position.turn() else { return Score::DRAW };
        Score(self.0.lead(position, turn))
    }

    fn bound(&self, position: &Position) -> i32 {
        self.0.bound(position)
    }
}
