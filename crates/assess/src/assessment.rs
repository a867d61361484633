//! `Assessment`: everything that samples say about one search.

use anqi_rules::excerpt;
use anqi_stats::{Estimate, resample};
use rayon::prelude::*;
use serde::{Serialize, Serializer};

use crate::condition::Groups;
use crate::curve::{Cells, Curve, Grid, MOST_BINS, shares};
use crate::frame::{Frame, MOST_GAMES};
use crate::metrics::{METRICS, Metric};
use crate::sample::Samples;
use crate::settings::{Scale, Settings};

/// What samples say about a search: metrics and curves, each with its interval by games.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Assessment {
    /// Who was assessed.
    pub name: String,
    /// Positions that count.
    pub positions: u64,
    /// Games that they come from.
    pub games: u64,
    /// Positions of drawn games that were left out.
    pub dropped_draws: u64,
    /// Values beyond the limit, proofs among them, that count like it.
    pub clamped: u64,
    /// That limit.
    pub limit: f64,
    /// What the values mean.
    pub scale: Scale,
    /// The slope of the logistic curve that turns scores into chances; none for chances.
    pub slope: Option<f64>,
    /// The width of a bin.
    pub delta: f64,
    /// Share of the points over all positions.
    pub base_rate: f64,
    /// The metrics, in the order of [`METRICS`].
    pub metrics: Vec<Measured>,
    /// The curves, the total one first.
    pub curves: Vec<Curve>,
    /// The ROC curve: shares of losses and of wins above a falling threshold.
    pub roc: Vec<(f64, f64)>,
    /// Recall and precision above a falling threshold.
    pub precision_recall: Vec<(f64, f64)>,
}

/// A metric and its value.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Measured {
    /// Which.
    pub metric: &'static Metric,
    /// How much. Not a number where it has no value, such as ROC without losses.
    pub value: Estimate,
}

impl Serialize for Measured {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Named<'a> {
            name: &'a str,
            #[serde(flatten)]
            value: Estimate,
        }
        Named { name: self.metric.name, value: self.value }.serialize(serializer)
    }
}

/// Why samples cannot be assessed.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum AssessError {
    /// Nothing is left.
    #[error("no positions of decided games among {0} positions")]
    Nothing(usize),
    /// A condition on what is not there.
    #[error("no tag {tag:?}, there are: {known}")]
    UnknownTag {
        /// What was asked for.
        tag: String,
        /// What there is.
        known: String,
    },
    /// A bin width that makes no curve.
    #[error("bins of width {delta} are no curve over values from {low} to {high}: at most {MOST_BINS} bins")]
    Delta {
        /// The width.
        delta: f64,
        /// The smallest value.
        low: f64,
        /// The largest.
        high: f64,
    },
    /// More games than can be counted.
    #[error("more than {MOST_GAMES} games")]
    ManyGames,
}

impl Assessment {
    /// Assesses samples. The same samples, settings and name give the same numbers, on any number of threads.
    ///
    /// ```
    /// use anqi_assess::{Assessment, Sample, Samples, Settings};
    /// use anqi_stats::Points;
    ///
    /// let mut samples = Samples::default();
    /// for (game, value, result) in [("1", 0.9, Points::Win), ("2", 0.4, Points::Loss), ("3", 0.3, Points::Win)] {
    ///     samples.push(Sample { game: game.to_owned(), ply: 1, value, result, tags: Vec::new() })?;
    /// }
    /// let assessment = Assessment::new("somebody", &samples, &Settings::default())?;
    /// assert_eq!(assessment.metric("ACC").unwrap().value, 2.0 / 3.0);
    /// assert_eq!(assessment.metric("ROC").unwrap().value, 0.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If nothing is left to count, a condition names no tag, or the bins are no bins.
    pub fn new(name: &str, samples: &Samples, settings: &Settings) -> Result<Assessment, AssessError> {
        Ok(Resampled::new(name, samples, settings)?.assessment)
    }

    /// A metric by its name.
    #[must_use]
    pub fn metric(&self, name: &str) -> Option<Estimate> {
        self.metrics.iter().find(|measured| measured.metric.name == name).map(|measured| measured.value)
    }
}

/// An assessment with the metrics of every resample, for comparisons.
pub(crate) struct Resampled {
    pub(crate) assessment: Assessment,
    pub(crate) numbers: Vec<[f64; METRICS.len()]>,
}

impl Resampled {
    pub(crate) fn new(name: &str, samples: &Samples, settings: &Settings) -> Result<Resampled, AssessError> {
        let frame = Frame::new(samples, settings);
        if frame.kept.is_empty() {
            return Err(AssessError::Nothing(samples.len()));
        }
        if frame.games() >= MOST_GAMES {
            return Err(AssessError::ManyGames);
        }
        let cells = Cells::new(&frame, grid(&frame, settings)?, &groups(samples, settings)?);
        let every_game = vec![1; frame.games()];
        let mut counts = Vec::new();
        cells.counts(&every_game, &mut counts);
        let drawn: Vec<_> = (0..u64::from(settings.resamples))
            .into_par_iter()
            .map_init(
                || (every_game.clone(), Vec::new()),
                |(weights, counts), number| {
                    resample(settings.seed, number, weights);
                    cells.counts(weights, counts);
                    let shares: Vec<[f32; 3]> = counts.iter().map(|counts| shares(*counts)).collect();
                    (frame.numbers(weights).list(), shares)
                },
            )
            .collect();
        let (numbers, resampled): (Vec<_>, Vec<_>) = drawn.into_iter().unzip();
        let found = frame.numbers(&every_game).list();
        let metrics = METRICS.iter().enumerate().map(|(place, metric)| {
            let mut drawn: Vec<f64> = numbers.iter().map(|numbers: &[f64; METRICS.len()]| numbers[place]).collect();
            drawn.retain(|number| !number.is_nan());
            Measured { metric, value: Estimate::percentile(found[place], &mut drawn) }
        });
        let points: usize = frame.kept.iter().map(|kept| kept.result.half_points()).sum();
        let assessment = Assessment {
            name: name.to_owned(),
            positions: frame.kept.len() as u64,
            games: frame.games() as u64,
            dropped_draws: frame.dropped_draws,
            clamped: frame.clamped,
            limit: frame.limit,
            scale: frame.scale,
            slope: frame.slope,
            delta: cells.grid.delta,
            base_rate: points as f64 / 2.0 / frame.kept.len() as f64,
            metrics: metrics.collect(),
            curves: cells.curves(&counts, &resampled, settings.thin),
            roc: frame.roc_curve(),
            precision_recall: frame.precision_recall(),
        };
        Ok(Resampled { assessment, numbers })
    }
}

fn grid(frame: &Frame, settings: &Settings) -> Result<Grid, AssessError> {
    const OF_CHANCES: f64 = 0.05;
    let usual = || match frame.scale {
        Scale::Probability => OF_CHANCES,
        Scale::Score => Grid::usual_delta(&frame.values),
    };
    let delta = settings.delta.unwrap_or_else(usual);
    let end = |place: Option<&f64>| place.copied().unwrap_or_default();
    let (high, low) = (end(frame.values.first()), end(frame.values.last()));
    Grid::over(&frame.values, delta).ok_or(AssessError::Delta { delta, low, high })
}

fn groups(samples: &Samples, settings: &Settings) -> Result<Vec<(String, Groups)>, AssessError> {
    let apply = |condition: &crate::condition::Condition| {
        let groups = condition.apply(samples).ok_or_else(|| AssessError::UnknownTag {
            tag: excerpt(&condition.tag),
            known: ["ply"].into_iter().chain(samples.tag_names()).collect::<Vec<_>>().join(", "),
        })?;
        Ok((condition.tag.clone(), groups))
    };
    settings.by.iter().map(apply).collect()
}
