//! Two searches on the same positions: is one of them right more often?

use std::collections::HashMap;

use anqi_stats::Estimate;
use serde::Serialize;

use crate::assessment::{AssessError, Measured, Resampled};
use crate::metrics::METRICS;
use crate::sample::Samples;
use crate::settings::Settings;

/// How two searches differ on the positions that both have valued.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Comparison {
    /// The two.
    pub names: [String; 2],
    /// Positions that both have valued and that count.
    pub positions: u64,
    /// Positions that only one of them has valued.
    pub unpaired: u64,
    /// By metric, how much more the second has (E(v) is left out where the two speak of different things), and how likely a difference is that far from 0 if there is none.
    pub differences: Vec<Difference>,
}

/// How two searches differ by one metric.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Difference {
    /// The second's value less the first's.
    #[serde(flatten)]
    pub more: Measured,
    /// Two-sided, from the same resamples of games for both.
    pub p: f64,
}

impl Comparison {
    /// Compares two searches, with the same resamples of games for both. Positions are the same if game and ply are.
    ///
    /// # Errors
    /// If they have no positions in common, or cannot be assessed.
    pub fn new(names: [&str; 2], samples: [&Samples; 2], settings: &Settings) -> Result<Comparison, AssessError> {
        let key = |samples: &Samples, index: usize| (samples.games().get(index).to_owned(), samples.plies()[index]);
        let mut places: HashMap<(String, u32), usize> =
            (0..samples[0].len()).map(|index| (key(samples[0], index), index)).collect();
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for index in 0..samples[1].len() {
            // A position that comes twice is paired once.
            if let Some(place) = places.remove(&key(samples[1], index)) {
                first.push(place);
                second.push(index);
            }
        }
        // Curves are not compared, so that bins and conditions of either do not matter.
        let settings = Settings { by: Vec::new(), delta: None, ..settings.clone() };
        let resampled =
            |number: usize, places: &[usize]| Resampled::new(names[number], &samples[number].select(places), &settings);
        let (one, two) = (resampled(0, &first)?, resampled(1, &second)?);
        let same_scale = one.assessment.scale == two.assessment.scale;
        let comparable = METRICS.iter().enumerate().filter(|(_, metric)| same_scale || metric.name != "E(v)");
        let differences = comparable.map(|(place, metric)| {
            let value = |of: &Resampled| of.assessment.metrics[place].value.value;
            let drawn = one.numbers.iter().zip(&two.numbers).map(|(one, two)| two[place] - one[place]);
            let mut drawn: Vec<f64> = drawn.filter(|number| !number.is_nan()).collect();
            let value = Estimate::percentile(value(&two) - value(&one), &mut drawn);
            Difference { more: Measured { metric, value }, p: two_sided(&drawn) }
        });
        Ok(Comparison {
            names: names.map(str::to_owned),
            positions: one.assessment.positions,
            unpaired: (samples[0].len() + samples[1].len() - 2 * first.len()) as u64,
            differences: differences.collect(),
        })
    }
}

/// How much of what was drawn lies on the other side of 0, twice.
fn two_sided(drawn: &[f64]) -> f64 {
    let at_most = drawn.iter().filter(|difference| **difference <= 0.0).count();
    let at_least = drawn.iter().filter(|difference| **difference >= 0.0).count();
    (2.0 * (at_most.min(at_least) + 1) as f64 / (drawn.len() + 1) as f64).min(1.0)
}
