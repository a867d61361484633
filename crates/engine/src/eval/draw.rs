//! The material count of Jouandeau & Cazenave, 4.1, that gives drawn playouts to the richer side.

use anqi_rules::Position;

use super::{Evaluate, Weights, larger_side};
use crate::score::Score;

/// `{K G M R N C P}` = `{0.15, 0.1, 0.07, 0.05, 0.03, 0.05, 0.05}`, in thousandths.
#[derive(Clone, Copy, Debug)]
pub struct DrawJudge;

impl DrawJudge {
    /// The values.
    pub const VALUES: Weights = Weights([150, 100, 70, 50, 30, 50, 50]);

    /// What the sixteen pieces of a side are worth together: one, as printed.
    pub const ARMY: i32 = 1000;
}

impl Evaluate for DrawJudge {
    #[inline]
    fn evaluate(&self, position: &Position) -> Score {
        let Some(turn) = position.turn() else { return Score::DRAW };
        Score(DrawJudge::VALUES.lead(position, turn))
    }

    fn bound(&self, position: &Position) -> i32 {
        larger_side(|color| DrawJudge::VALUES.material(position, color)) // captures only take away
    }
}
