//! `Sprt`: Wald's sequential test in its generalised form, as fishtest and fastchess run it.
//!
//! The log-likelihood ratio compares the most likely distributions of the outcomes under H0 and H1,
//! given what was seen (M. Van den Bergh, "The generalized maximum likelihood ratio for the
//! expectation value of a distribution" and "Normalized Elo revisited").

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

use crate::elo::{NELO_PER_DEVIATION, score_from_elo};
use crate::tally::Outcomes;

/// In which units the hypotheses are given.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Model {
    /// Normalised Elo.
    #[default]
    Normalized,
    /// Logistic Elo.
    Logistic,
}

impl Model {
    const ALL: [Model; 2] = [Model::Normalized, Model::Logistic];

    /// Its name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Model::Normalized => "normalized",
            Model::Logistic => "logistic",
        }
    }
}

impl FromStr for Model {
    type Err = SprtError;

    fn from_str(text: &str) -> Result<Model, SprtError> {
        let found = Model::ALL.into_iter().find(|model| model.name() == text);
        found.ok_or_else(|| SprtError::UnknownModel(text.chars().take(40).collect()))
    }
}

/// A test of H1 (the difference is `elo1`) against H0 (it is `elo0`).
///
/// ```
/// use anqi_stats::Sprt;
///
/// let sprt: Sprt = "elo0=0 elo1=2".parse()?;
/// assert_eq!(sprt.to_string(), "elo0=0 elo1=2 alpha=0.05 beta=0.05 model=normalized");
/// assert_eq!(sprt.to_string().parse::<Sprt>()?, sprt);
/// # Ok::<(), anqi_stats::SprtError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Sprt {
    elo0: f64,
    elo1: f64,
    alpha: f64,
    beta: f64,
    model: Model,
}

/// What is wrong with a test.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SprtError {
    /// Hypotheses that cannot be told apart.
    #[error("elo1={elo1} must be above elo0={elo0}, both within ±1000")]
    Hypotheses {
        /// The first hypothesis.
        elo0: f64,
        /// The second.
        elo1: f64,
    },
    /// Error rates that promise nothing.
    #[error("alpha={alpha} and beta={beta} must lie between 0 and 1, and so must their sum")]
    ErrorRates {
        /// False positives.
        alpha: f64,
        /// False negatives.
        beta: f64,
    },
    /// Not a model.
    #[error("unknown SPRT model {0:?}, expected normalized or logistic")]
    UnknownModel(String),
    /// Not a field.
    #[error("unknown SPRT field {0:?}, expected elo0=, elo1=, alpha=, beta= or model=")]
    UnknownField(String),
    /// Twice the same field.
    #[error("SPRT field {0} is given twice")]
    Twice(&'static str),
    /// No hypothesis.
    #[error("SPRT needs {0}=")]
    Missing(&'static str),
    /// Not a number.
    #[error("{value:?} is not a number for SPRT field {field}")]
    NotANumber {
        /// Of which field.
        field: &'static str,
        /// What stood there.
        value: String,
    },
}

/// What a test says so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// Play on.
    Continue,
    /// The difference is not `elo1`.
    H0,
    /// The difference is not `elo0`.
    H1,
}

impl Sprt {
    /// A test with error rates `alpha` (H1 accepted though H0 is true) and `beta` (the other way).
    ///
    /// # Errors
    /// If the hypotheses or the rates make no test.
    pub fn new(elo0: f64, elo1: f64, alpha: f64, beta: f64, model: Model) -> Result<Sprt, SprtError> {
        if !(elo0 < elo1 && elo0 >= -1000.0 && elo1 <= 1000.0) {
            return Err(SprtError::Hypotheses { elo0, elo1 });
        }
        if !(alpha > 0.0 && beta > 0.0 && alpha + beta < 1.0) {
            return Err(SprtError::ErrorRates { alpha, beta });
        }
        Ok(Sprt { elo0, elo1, alpha, beta, model })
    }

    /// The two hypotheses.
    #[must_use]
    pub const fn hypotheses(&self) -> (f64, f64) {
        (self.elo0, self.elo1)
    }

    /// Below the first H0 is accepted, above the second H1 (Wald 1945).
    #[must_use]
    pub fn bounds(&self) -> (f64, f64) {
        ((self.beta / (1.0 - self.alpha)).ln(), ((1.0 - self.beta) / self.alpha).ln())
    }

    /// The log-likelihood ratio of H1 to H0; 0 if nothing was played.
    #[must_use]
    pub fn llr<O: Outcomes>(&self, outcomes: &O) -> f64 {
        if outcomes.total() == 0 {
            return 0.0;
        }
        let seen = Seen::new(outcomes);
        let (likely0, likely1) = match self.model {
            Model::Logistic => {
                let likely = |elo: f64| seen.likeliest_with_mean(score_from_elo(elo));
                (likely(self.elo0), likely(self.elo1))
            }
            Model::Normalized => {
                // A pair's share of the points has 1/√2 of the standard deviation of a game's.
                let deviations = |nelo: f64| nelo / NELO_PER_DEVIATION * f64::from(O::GAMES).sqrt();
                let likely = |nelo: f64| seen.likeliest_with_deviations(0.5, deviations(nelo));
                (likely(self.elo0), likely(self.elo1))
            }
        };
        let ratio = likely1.iter().zip(&likely0).map(|(one, zero)| (one / zero).ln());
        seen.total * ratio.zip(&seen.shares).map(|(ratio, (_, p))| ratio * p).sum::<f64>()
    }

    /// What a log-likelihood ratio says.
    #[must_use]
    pub fn verdict(&self, llr: f64) -> Verdict {
        let (low, high) = self.bounds();
        match llr {
            _ if llr >= high => Verdict::H1,
            _ if llr <= low => Verdict::H0,
            _ => Verdict::Continue,
        }
    }
}

/// The empirical distribution: shares of the points and how often they came.
struct Seen {
    total: f64,
    shares: Vec<(f64, f64)>,
}

impl Seen {
    /// What never happened counts as a thousandth of an observation, as in fishtest and fastchess.
    fn new(outcomes: &impl Outcomes) -> Seen {
        const NEVER: f64 = 1e-3;
        let counts: Vec<f64> = outcomes.counts().iter().map(|&count| (count as f64).max(NEVER)).collect();
        let total: f64 = counts.iter().sum();
        Seen { total, shares: outcomes.shares().zip(counts.iter().map(|count| count / total)).collect() }
    }

    /// The most likely distribution with this mean.
    fn likeliest_with_mean(&self, mean: f64) -> Vec<f64> {
        let centred: Vec<(f64, f64)> = self.shares.iter().map(|&(share, p)| (share - mean, p)).collect();
        likeliest_with_mean_zero(&centred)
    }

    /// The most likely distribution whose mean lies `deviations` standard deviations above `reference`.
    ///
    /// The condition is linearised around the last guess and solved again until nothing moves.
    fn likeliest_with_deviations(&self, reference: f64, deviations: f64) -> Vec<f64> {
        const ROUNDS: usize = 100;
        let mut guess = vec![1.0 / self.shares.len() as f64; self.shares.len()];
        for _ in 0..ROUNDS {
            let weighted = |value: &dyn Fn(f64) -> f64| -> f64 {
                self.shares.iter().zip(&guess).map(|(&(share, _), p)| value(share) * p).sum()
            };
            let mean = weighted(&|share| share);
            let deviation = weighted(&|share| (share - mean).powi(2)).sqrt();
            let linear = self.shares.iter().map(|&(share, p)| {
                let bend = 1.0 + ((mean - share) / deviation).powi(2);
                (share - reference - deviations * deviation * bend / 2.0, p)
            });
            let next = likeliest_with_mean_zero(&linear.collect::<Vec<_>>());
            let moved = next.iter().zip(&guess).map(|(next, last)| (next - last).abs()).fold(0.0, f64::max);
            guess = next;
            if moved < 1e-12 {
                break;
            }
        }
        guess
    }
}

/// The most likely distribution over `values` with mean 0: p / (1 + x · value), where x makes it so.
fn likeliest_with_mean_zero(values: &[(f64, f64)]) -> Vec<f64> {
    let (low, high) = values.iter().fold((f64::MAX, f64::MIN), |(low, high), &(v, _)| (low.min(v), high.max(v)));
    // All denominators must stay positive; in between the mean falls as x grows.
    let x = root_of_falling(-1.0 / high, -1.0 / low, |x| values.iter().map(|(v, p)| p * v / (1.0 + x * v)).sum());
    values.iter().map(|(v, p)| p / (1.0 + x * v)).collect()
}

/// Bisection down to neighbouring numbers.
fn root_of_falling(mut low: f64, mut high: f64, function: impl Fn(f64) -> f64) -> f64 {
    loop {
        let middle = low.midpoint(high);
        if middle <= low || middle >= high {
            return middle;
        }
        if function(middle) > 0.0 { low = middle } else { high = middle }
    }
}

impl fmt::Display for Sprt {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Sprt { elo0, elo1, alpha, beta, model } = self;
        write!(f, "elo0={elo0} elo1={elo1} alpha={alpha} beta={beta} model={}", model.name())
    }
}

/// `elo0=0 elo1=5`, and if need be `alpha=0.05 beta=0.05 model=normalized`, split by spaces or commas.
impl FromStr for Sprt {
    type Err = SprtError;

    fn from_str(text: &str) -> Result<Sprt, SprtError> {
        const FIELDS: [&str; 4] = ["elo0", "elo1", "alpha", "beta"];
        let mut numbers = [None; FIELDS.len()];
        let mut model = None;
        for word in text.split([' ', ',']).filter(|word| !word.is_empty()) {
            let excerpt = |text: &str| text.chars().take(40).collect::<String>();
            let (key, value) = word.split_once('=').ok_or_else(|| SprtError::UnknownField(excerpt(word)))?;
            if key == "model" {
                if model.replace(value.parse()?).is_some() {
                    return Err(SprtError::Twice("model"));
                }
                continue;
            }
            let index = FIELDS.iter().position(|&field| field == key);
            let index = index.ok_or_else(|| SprtError::UnknownField(excerpt(word)))?;
            let field = FIELDS[index];
            let number = value.parse::<f64>().ok().filter(|number| number.is_finite());
            let number = number.ok_or_else(|| SprtError::NotANumber { field, value: excerpt(value) })?;
            if numbers[index].replace(number).is_some() {
                return Err(SprtError::Twice(field));
            }
        }
        let needed = |index: usize| numbers[index].ok_or(SprtError::Missing(FIELDS[index]));
        let rate = |index: usize| numbers[index].unwrap_or(0.05);
        Sprt::new(needed(0)?, needed(1)?, rate(2), rate(3), model.unwrap_or_default())
    }
}
