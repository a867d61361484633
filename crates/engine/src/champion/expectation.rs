//! From evaluations to expectations.

use crate::score::Score;

/// A certain win, where it is one of several things that a flip may bring.
pub(super) const ONE: i32 = 1 << 20;

/// A score of the champion as `P(win) − P(loss)`.
pub(crate) fn of_score(score: Score) -> f64 {
    f64::from(of_proof(score).0) / f64::from(ONE)
}

/// What an evaluation is worth as `P(win) − P(loss)`: a sigmoid without an exponential, so that every machine agrees.
#[inline]
pub(super) fn of_evaluation(score: Score, scale: f32) -> Score {
    let x = score.0 as f32 / scale;
    Score((x / (1.0 + x * x).sqrt() * (ONE - 1) as f32) as i32)
}

/// A proof counts as a certain win or loss, whatever its length.
#[inline]
pub(super) fn of_proof(score: Score) -> Score {
    Score(score.0.clamp(-ONE, ONE))
}

/// The expectation of chances of a win, a draw and a loss.
#[inline]
pub(super) fn of_chances([win, _, loss]: [f32; 3]) -> Score {
    Score(((win - loss) * (ONE - 1) as f32) as i32)
}
