//! How well measured games explain a printed result: the Dirichlet-multinomial distribution.
//!
//! A printed cell says how many of its games were lost, drawn and won. If the games that were measured under some reading
//! come from the same distribution, their counts say what to expect: with a Dirichlet prior over the three chances and
//! measured counts *y*, the chance of printed counts *x* is that of a Pólya urn that begins with *y* plus the prior.
//! Measured games are a limited number; unlike a plain multinomial, this allows for it.

use statrs::function::gamma::ln_gamma;

use crate::tally::{Games, Outcomes};

/// The prior count of each outcome: Jeffreys' prior, which depends on no scale.
const JEFFREYS: f64 = 0.5;

/// Logarithms that differ by less are of the same chance: what rounding leaves of `ln_gamma`.
const ROUNDING: f64 = 1e-9;

/// What measured games say of other games.
///
/// ```
/// use anqi_stats::{Games, Predictive};
///
/// // Nothing measured: the prior alone. One game ends in each of three ways with the same chance.
/// let unknown = Predictive::of(&Games([0, 0, 0]));
/// assert!((unknown.log_likelihood(&Games([0, 0, 1])).exp() - 1.0 / 3.0).abs() < 1e-12);
/// // Of two games, 1/2 · 3/2 : (3/2 · 5/2) that both are won.
/// assert!((unknown.log_likelihood(&Games([0, 0, 2])).exp() - 0.2).abs() < 1e-12);
///
/// let measured = Predictive::of(&Games([10, 100, 90]));
/// assert!(measured.p(&Games([6, 52, 42])) > 0.5);
/// assert!(measured.p(&Games([42, 52, 6])) < 1e-12);
/// ```
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Predictive {
    /// Measured counts plus the prior: losses, draws, wins.
    alpha: [f64; 3],
}

impl Predictive {
    /// What to expect of games like these.
    #[must_use]
    pub fn of(measured: &Games) -> Predictive {
        Predictive { alpha: measured.0.map(|count| count as f64 + JEFFREYS) }
    }

    /// The natural logarithm of the chance of exactly these counts among as many games.
    #[must_use]
    pub fn log_likelihood(&self, games: &Games) -> f64 {
        let parts = self.alpha.iter().zip(games.0).map(|(&alpha, count)| part(alpha, count));
        self.whole(games.total()) + parts.sum::<f64>()
    }

    /// The chance of counts that are at most as likely as these, among as many games: small if games like those that were
    /// measured hardly ever give such counts. Exact, by looking at all counts.
    #[must_use]
    pub fn p(&self, games: &Games) -> f64 {
        let (mut sum, limit) = (0.0, self.log_likelihood(games) + ROUNDING);
        self.each(games.total(), |_, log| {
            if log <= limit {
                sum += log.exp();
            }
        });
        sum.min(1.0)
    }

    /// How far the log-likelihood of so many games is below that of their own frequencies ([`saturated`]) on average, if they
    /// are games like those that were measured: what a likelihood of the true distribution looks like.
    ///
    /// ```
    /// use anqi_stats::{Games, Predictive};
    ///
    /// // Every game of 1,000 was drawn, and so will be the next ones, nearly.
    /// assert!(Predictive::of(&Games([0, 1000, 0])).expected(100) > -0.5);
    /// // Half a unit for each of the two free shares, and more where few games were measured.
    /// let (many, few) = (Predictive::of(&Games([300_000; 3])), Predictive::of(&Games([30; 3])));
    /// assert!((many.expected(100) + 1.0).abs() < 0.05 && many.expected(100) > few.expected(100));
    /// ```
    #[must_use]
    pub fn expected(&self, total: u64) -> f64 {
        let parts: Vec<f64> = (0..=total).map(|count| frequency(count, total)).collect();
        let (mut sum, factorial) = (0.0, ln_gamma(total as f64 + 1.0));
        self.each(total, |games, log| {
            let own: f64 = games.0.iter().map(|&count| parts[count as usize]).sum();
            sum += log.exp() * (log - factorial - own);
        });
        sum
    }

    /// All counts of so many games, each with its log-likelihood.
    fn each(&self, total: u64, mut visit: impl FnMut(Games, f64)) {
        let [losses, draws, wins] =
            self.alpha.map(|alpha| (0..=total).map(|count| part(alpha, count)).collect::<Vec<f64>>());
        let whole = self.whole(total);
        for (lost, loss) in (0..=total).zip(losses) {
            for (drawn, draw) in (0..=total - lost).zip(&draws) {
                let won = total - lost - drawn;
                visit(Games([lost, drawn, won]), whole + loss + draw + wins[won as usize]);
            }
        }
    }

    /// The factor that all counts of one total share.
    fn whole(&self, total: u64) -> f64 {
        let (all, total) = (self.alpha.iter().sum::<f64>(), total as f64);
        ln_gamma(total + 1.0) + ln_gamma(all) - ln_gamma(all + total)
    }
}

/// The factor of one outcome.
fn part(alpha: f64, count: u64) -> f64 {
    let count = count as f64;
    ln_gamma(alpha + count) - ln_gamma(alpha) - ln_gamma(count + 1.0)
}

/// The natural logarithm of the chance of these counts if the chance of each outcome is its share of them: no distribution
/// makes them likelier. What a likelihood is compared with.
///
/// ```
/// use anqi_stats::{Games, saturated};
///
/// assert!((saturated(&Games([1, 0, 1])).exp() - 0.5).abs() < 1e-12);
/// assert_eq!(saturated(&Games([0, 7, 0])), 0.0);
/// ```
#[must_use]
pub fn saturated(games: &Games) -> f64 {
    let total = games.total();
    let parts = games.0.into_iter().map(|count| frequency(count, total));
    // Rounding may leave a chance a little above 1.
    (ln_gamma(total as f64 + 1.0) + parts.sum::<f64>()).min(0.0)
}

/// The factor of one outcome by its own frequency.
fn frequency(count: u64, total: u64) -> f64 {
    match count {
        0 => 0.0,
        _ => count as f64 * (count as f64 / total as f64).ln() - ln_gamma(count as f64 + 1.0),
    }
}

/// Shares that add up to 1 from logarithms of likelihoods, if all were equally likely before.
///
/// ```
/// use anqi_stats::posterior;
///
/// let shares = posterior(&[-2000.0, -2000.0 + 3_f64.ln(), f64::NEG_INFINITY]);
/// assert!((shares[0] - 0.25).abs() < 1e-12 && (shares[1] - 0.75).abs() < 1e-12 && shares[2] == 0.0);
/// assert!(posterior(&[]).is_empty());
/// ```
#[must_use]
pub fn posterior(log_likelihoods: &[f64]) -> Vec<f64> {
    // Likelihoods themselves are too small for a number.
    let best = log_likelihoods.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let shares: Vec<f64> = log_likelihoods.iter().map(|log| (log - best).exp()).collect();
    let sum: f64 = shares.iter().sum();
    shares.into_iter().map(|share| share / sum).collect()
}
