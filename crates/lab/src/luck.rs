//! Luck: what the flips gave, and a score without it.
//!
//! # The idea
//!
//! When a player turns a piece up, both know what may come: the pieces still face down, each equally likely.
//! So with *any* fixed value *v* of positions, the number
//!
//! > luck of a flip = v(position after it) − mean of v over everything that could have come up
//!
//! has expectation exactly 0, given all that went before, whoever plays and however well. The sum *L* over the flips of
//! a game is a martingale at its end: E\[*L*\] = 0. If *v* knows anything about the game, *L* goes along with the result,
//! and the *luck-adjusted* result
//!
//! > s − c·L
//!
//! has the same expectation as the plain one for every constant *c*, but less variance: a control variate. A poor *v*
//! costs precision, never truth.
//!
//! # The value
//!
//! [`VALUE`] names it: *v* is the static piece values of Chen, Shen & Hsu after the captures that follow (a capture
//! search of [`PLIES`] plies in which either side may stop), turned into an expected score by a logistic curve of scale
//! [`SCALE`]. Captures matter because static values alone do not change when a piece is turned up: who has what was known
//! before. The scale was chosen once, on 600 games of `experiments/chen-order-of-strength`: with it the best coefficient
//! is close to 1. A change of any of the three changes the name.
//!
//! # The coefficient
//!
//! In a match the unit is the pair: X is a contender's score in a pair, Λ its mean luck in the two games. [`Adjusted`]
//! reports c = 1, the honest fixed choice, and the c that saves most, Cov(X, Λ) / Var(Λ), estimated from the same pairs;
//! that estimate costs a bias of order 1/n, far below the interval.

use anqi_engine::{Evaluate, Fixed, Score};
use anqi_rules::{Game, Move, MoveList, Ply, Position, Seat};
use anqi_stats::Estimate;
use serde::Serialize;

/// The name of the value by which luck is measured.
pub const VALUE: &str = "static-captures-2";
/// How many plies of captures it looks ahead.
pub const PLIES: u32 = 2;
/// Points of the static evaluation in one unit of log odds.
pub const SCALE: f64 = 1200.0;

/// The expected score of the side to move, between 0 and 1.
#[must_use]
pub fn value(position: &Position) -> f64 {
    let Score(score) = captures(&Fixed::default(), position, PLIES, -Score::INFINITE, Score::INFINITE);
    // Not the platform's exp: records have the same digits everywhere.
    1.0 / (1.0 + libm::exp(-f64::from(score) / SCALE))
}

/// The best that the side to move gets by captures, or by stopping.
fn captures(eval: &Fixed, position: &Position, plies: u32, alpha: Score, beta: Score) -> Score {
    let mut best = eval.evaluate(position);
    if plies == 0 || best >= beta {
        return best;
    }
    let mut list = MoveList::new();
    position.captures_into(&mut list);
    for &mv in &list {
        if let Move::Step { from, to } = mv {
            let after = position.after_step(from, to);
            best = best.max(-captures(eval, &after, plies - 1, -beta, -alpha.max(best)));
            if best >= beta {
                break;
            }
        }
    }
    best
}

/// What a flip gave the player who made it: `None` for a step.
///
/// ```
/// use anqi_lab::luck;
/// use anqi_rules::Position;
///
/// // Red turns up b1 beside its rook: a pawn is harmless, a rook would take first.
/// let position: Position = "4/4/4/4/4/4/4/Rxx1 r pr".parse()?;
/// let [pawn, rook] = ["b1(p)".parse()?, "b1(r)".parse()?].map(|ply| luck::of_flip(&position, ply).unwrap());
/// assert!(pawn > 0.0 && pawn + rook == 0.0);
/// assert_eq!(luck::of_flip(&position, "a1-a2".parse()?), None);
///
/// let position: Position = "4/4/4/4/4/4/4/Px2 r k".parse()?;
/// assert_eq!(luck::of_flip(&position, "b1(k)".parse()?), Some(0.0)); // what must come is no luck
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn of_flip(before: &Position, ply: Ply) -> Option<f64> {
    let Ply::Flip(square, shown) = ply else { return None };
    let (mut sum, mut weight, mut given) = (0.0, 0.0, 0.0);
    for (piece, count) in before.reveals() {
        // After a flip the other side is to move.
        let worth = 1.0 - value(&before.after_flip(square, piece));
        sum += worth * f64::from(count);
        weight += f64::from(count);
        if piece == shown {
            given = worth;
        }
    }
    Some(given - sum / weight)
}

/// The luck of each ply, for the player who made it.
pub fn by_ply(game: &Game) -> impl Iterator<Item = Option<f64>> {
    game.positions().iter().zip(game.plies()).map(|(before, &ply)| of_flip(before, ply))
}

/// The first player's luck in a game, given that of each ply.
#[must_use]
pub fn of_first(by_ply: &[Option<f64>]) -> f64 {
    let signed = Seat::ALL.into_iter().cycle().zip(by_ply);
    signed
        .map(|(seat, luck)| match seat {
            Seat::First => luck.unwrap_or(0.0),
            Seat::Second => -luck.unwrap_or(0.0),
        })
        .sum()
}

/// A score with the luck taken out, beside the plain one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Adjusted {
    /// How many pairs.
    pub pairs: u64,
    /// By which value of positions.
    pub value: &'static str,
    /// The plain score of a pair's points, 0 to 1.
    pub plain: Estimate,
    /// The mean luck.
    pub luck: Estimate,
    /// With coefficient 1.
    pub fixed: Adjustment,
    /// With the coefficient that saves most.
    pub fitted: Adjustment,
}

/// A score adjusted with one coefficient.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Adjustment {
    /// How much of the luck is taken out.
    pub coefficient: f64,
    /// What is left of the score.
    pub score: Estimate,
    /// The share of the plain score's variance that is saved; negative if it grew.
    pub variance_saved: f64,
}

/// Sums over pairs from which [`Adjusted`] follows.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct LuckSums {
    pairs: u64,
    score: f64,
    luck: f64,
    score_score: f64,
    score_luck: f64,
    luck_luck: f64,
}

impl LuckSums {
    /// Counts a pair: a contender's share of its points, and its mean luck in it.
    pub fn add(&mut self, score: f64, luck: f64) {
        self.pairs += 1;
        self.score += score;
        self.luck += luck;
        self.score_score += score * score;
        self.score_luck += score * luck;
        self.luck_luck += luck * luck;
    }

    /// The score without the luck; none from fewer than two pairs.
    #[must_use]
    pub fn adjusted(&self) -> Option<Adjusted> {
        if self.pairs < 2 {
            return None;
        }
        let n = self.pairs as f64;
        let (score, luck) = (self.score / n, self.luck / n);
        let moment = |product: f64, a: f64, b: f64| (product - n * a * b) / (n - 1.0);
        let variance = moment(self.score_score, score, score).max(0.0);
        let luck_variance = moment(self.luck_luck, luck, luck).max(0.0);
        let covariance = moment(self.score_luck, score, luck);
        let estimate = |value: f64, variance: f64| {
            let margin = 1.959_963_984_540_054 * (variance / n).sqrt();
            Estimate { value, low: value - margin, high: value + margin }
        };
        let adjust = |coefficient: f64| {
            let left = variance - 2.0 * coefficient * covariance + coefficient * coefficient * luck_variance;
            let saved = if variance > 0.0 { 1.0 - left / variance } else { 0.0 };
            let score = estimate(score - coefficient * luck, left.max(0.0));
            Adjustment { coefficient, score, variance_saved: saved }
        };
        let best = if luck_variance > 0.0 { covariance / luck_variance } else { 0.0 };
        Some(Adjusted {
            pairs: self.pairs,
            value: VALUE,
            plain: estimate(score, variance),
            luck: estimate(luck, luck_variance),
            fixed: adjust(1.0),
            fitted: adjust(best),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::LuckSums;

    #[test]
    fn luck_that_explains_everything_saves_everything() {
        let mut sums = LuckSums::default();
        for (score, luck) in [(0.0, -0.25), (0.5, 0.0), (1.0, 0.25), (0.5, 0.0)] {
            sums.add(score, luck);
        }
        let adjusted = sums.adjusted().unwrap();
        assert_eq!(adjusted.fitted.coefficient, 2.0);
        assert!((adjusted.fitted.variance_saved - 1.0).abs() < 1e-12);
        assert!((adjusted.fixed.variance_saved - 0.75).abs() < 1e-12); // 1 - (1 - 1/2)^2
        assert!((adjusted.fitted.score.value - 0.5).abs() < 1e-12);
        assert_eq!(LuckSums::default().adjusted(), None);
    }

    #[test]
    fn luck_that_explains_nothing_saves_nothing() {
        let mut sums = LuckSums::default();
        for (score, luck) in [(0.0, -0.1), (0.0, 0.1), (1.0, -0.1), (1.0, 0.1)] {
            sums.add(score, luck);
        }
        let adjusted = sums.adjusted().unwrap();
        assert!(adjusted.fitted.coefficient.abs() < 1e-12 && adjusted.fitted.variance_saved.abs() < 1e-12);
        assert!(adjusted.fixed.variance_saved < 0.0);
    }
}
