//! `Elo`: strength differences from counts, as fastchess and fishtest define them.

use serde::Serialize;
use statrs::function::erf::erf;

use crate::estimate::{Estimate, TWO_SIDED_95};
use crate::tally::Outcomes;

/// Elo points in one natural unit of log odds, 400 / ln 10; normalised Elo has twice that in one
/// standard deviation of a game, so that the two agree for even games without draws.
const ELO_PER_LOGIT: f64 = 400.0 / std::f64::consts::LN_10;

/// Normalised Elo points in one standard deviation of the points of a game.
pub(crate) const NELO_PER_DEVIATION: f64 = 2.0 * ELO_PER_LOGIT;

/// How much stronger one player is than the other.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Elo {
    /// Share of the points, from 0 to 1.
    pub score: Estimate,
    /// Logistic Elo: what the score says.
    pub elo: Estimate,
    /// Normalised Elo (Van den Bergh): the same in standard deviations of a game, which says how many
    /// games it takes to see it.
    pub nelo: Estimate,
    /// Likelihood of superiority: the chance that the true difference is above 0, from 0 to 1.
    pub los: f64,
}

impl Elo {
    /// From [`Games`](crate::Games) or, better, [`Pairs`](crate::Pairs); none from nothing.
    #[must_use]
    pub fn of<O: Outcomes>(outcomes: &O) -> Option<Elo> {
        let (mean, variance) = outcomes.moments()?;
        let deviation = (variance / outcomes.total() as f64).sqrt();
        let margin = TWO_SIDED_95 * deviation;
        let score = Estimate { value: mean, low: mean - margin, high: mean + margin };
        // A pair's share of the points has half the variance of a game's.
        let game_deviation = (f64::from(O::GAMES) * variance).sqrt();
        let nelo = |score: f64| match score - 0.5 {
            0.0 => 0.0,
            above => above / game_deviation * NELO_PER_DEVIATION,
        };
        // Without any spread the sign alone decides.
        let los = if deviation > 0.0 {
            (1.0 + erf((mean - 0.5) / (std::f64::consts::SQRT_2 * deviation))) / 2.0
        } else {
            0.5 + 0.5 * (mean - 0.5).partial_cmp(&0.0).map_or(0.0, |order| f64::from(order as i8))
        };
        Some(Elo { score, elo: score.map(elo_from_score), nelo: score.map(nelo), los })
    }
}

/// The logistic Elo difference at which a player is expected to score this share; infinite at the ends.
#[must_use]
pub fn elo_from_score(score: f64) -> f64 {
    let score = score.clamp(0.0, 1.0);
    ELO_PER_LOGIT * (score / (1.0 - score)).ln()
}

/// The share of the points that a player is expected to score with this logistic Elo advantage.
#[must_use]
pub fn score_from_elo(elo: f64) -> f64 {
    1.0 / (1.0 + (-elo / ELO_PER_LOGIT).exp())
}
