//! `Estimate`: a value never comes without its interval.

use std::fmt;

use serde::{Deserialize, Serialize};

/// An estimate with its 95 % confidence interval. The ends may be infinite.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Estimate {
    /// The estimate.
    pub value: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Estimate {
    /// Half the width of the interval: the number after ±.
    #[must_use]
    pub fn margin(&self) -> f64 {
        (self.high - self.low) / 2.0
    }

    /// Value and ends through a function that does not fall.
    #[must_use]
    pub fn map(&self, function: impl Fn(f64) -> f64) -> Estimate {
        Estimate { value: function(self.value), low: function(self.low), high: function(self.high) }
    }

    /// `value` with the middle 95 % of `samples`, which are drawn around it. The samples come out sorted.
    pub fn percentile(value: f64, samples: &mut [f64]) -> Estimate {
        samples.sort_by(f64::total_cmp);
        let at = |share: f64| match samples.len() {
            0 => f64::NAN,
            // Linear interpolation between the neighbours (Hyndman & Fan 1996, type 7).
            count => {
                let place = share * (count - 1) as f64;
                let (below, rest) = (place.floor() as usize, place.fract());
                let (low, high) = (samples[below], samples[(below + 1).min(count - 1)]);
                // Infinities have no difference.
                if low == high { low } else { low + rest * (high - low) }
            }
        };
        Estimate { value, low: at(0.025), high: at(0.975) }
    }
}

/// `2.23 ± 1.52`, or `inf [12.50, inf]` where an end is infinite; two places unless the format says otherwise.
impl fmt::Display for Estimate {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (places, margin) = (f.precision().unwrap_or(2), self.margin());
        if margin.is_finite() {
            write!(f, "{:.places$} ± {margin:.places$}", self.value)
        } else {
            write!(f, "{:.places$} [{:.places$}, {:.places$}]", self.value, self.low, self.high)
        }
    }
}

/// The point that a standard normal variable exceeds in absolute value in 5 % of cases.
pub(crate) const TWO_SIDED_95: f64 = 1.959_963_984_540_054;
