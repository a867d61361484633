//! Shares of a whole: exact tests and intervals for counts of yes and no.

use statrs::function::beta::beta_reg;

use crate::estimate::{Estimate, TWO_SIDED_95};

/// The two-sided p-value of the exact sign test: how often a fair coin falls at least as unevenly.
/// Ties are left out beforehand; nothing gives 1.
///
/// ```
/// assert!((anqi_stats::sign_test(5, 0) - 0.0625).abs() < 1e-12); // twice 1/32
/// ```
#[must_use]
pub fn sign_test(plus: u64, minus: u64) -> f64 {
    let (fewer, total) = (plus.min(minus), plus + minus);
    (2.0 * at_most(fewer, total, 0.5)).min(1.0)
}

/// Wilson's score interval for the share of `successes`, at 95 %.
#[must_use]
pub fn wilson(successes: u64, total: u64) -> Option<Estimate> {
    share(successes, total).map(|share| wilson_share(share, total as f64))
}

/// The same for a share of observations that are worth `size` independent ones (Korn & Graubard 1998).
#[must_use]
pub fn wilson_share(share: f64, size: f64) -> Estimate {
    let z2 = TWO_SIDED_95 * TWO_SIDED_95;
    let middle = (share + z2 / (2.0 * size)) / (1.0 + z2 / size);
    let margin = TWO_SIDED_95 / (1.0 + z2 / size) * (share * (1.0 - share) / size + z2 / (4.0 * size * size)).sqrt();
    Estimate { value: share, low: (middle - margin).max(0.0), high: (middle + margin).min(1.0) }
}

/// The exact interval of Clopper and Pearson for the share of `successes`, at 95 %: never too narrow.
#[must_use]
pub fn clopper_pearson(successes: u64, total: u64) -> Option<Estimate> {
    const TAIL: f64 = 0.025;
    let value = share(successes, total)?;
    let low = match successes {
        0 => 0.0,
        _ => share_where(|share| 1.0 - at_most(successes - 1, total, share) < TAIL),
    };
    let high = if successes == total { 1.0 } else { share_where(|share| at_most(successes, total, share) > TAIL) };
    Some(Estimate { value, low, high })
}

fn share(part: u64, whole: u64) -> Option<f64> {
    (whole > 0 && part <= whole).then(|| part as f64 / whole as f64)
}

/// The chance of at most `successes` out of `total`.
fn at_most(successes: u64, total: u64, share: f64) -> f64 {
    if successes >= total { 1.0 } else { beta_reg((total - successes) as f64, successes as f64 + 1.0, 1.0 - share) }
}

/// The largest share that is still `below` something that every larger share is above.
fn share_where(below: impl Fn(f64) -> bool) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..60 {
        let middle = f64::midpoint(low, high);
        if below(middle) { low = middle } else { high = middle }
    }
    f64::midpoint(low, high)
}
