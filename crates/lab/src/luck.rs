//! A score without the luck of the flips ([`anqi_play::luck`]).
//!
//! In a match the unit is the pair: X is a contender's score in a pair, Λ its mean luck in the two games. [`Adjusted`]
//! reports c = 1, the honest fixed choice, and the c that saves most, Cov(X, Λ) / Var(Λ), estimated from the same pairs;
//! that estimate costs a bias of order 1/n, far below the interval.

use anqi_play::luck::VALUE;
use anqi_stats::Estimate;
use serde::Serialize;

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
