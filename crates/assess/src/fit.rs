//! Weights out of results: the paper's appendix. MLM is logistic regression; LS, least squares through the sigmoid, is
//! what engine authors call Texel tuning.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;
use anqi_stats::{Estimate, resample, solve};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::logistic;
use crate::settings::UnknownChoice;

/// What a fit makes small.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Loss {
    /// The negative log likelihood of the results.
    Mlm,
    /// The squared distance of chances and results.
    Ls,
}

impl fmt::Display for Loss {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Loss::Mlm => "mlm",
            Loss::Ls => "ls",
        })
    }
}

impl FromStr for Loss {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Loss, UnknownChoice> {
        match text {
            "mlm" => Ok(Loss::Mlm),
            "ls" => Ok(Loss::Ls),
            _ => Err(UnknownChoice::new("fit", excerpt(text), "mlm or ls")),
        }
    }
}

/// Positions to learn from: how often each weight counts in them, and what became of the player to move.
#[derive(Clone, Debug, Default)]
pub struct Lessons {
    width: usize,
    features: Vec<f64>,
    points: Vec<f64>,
    /// The number of its game, from 0 on.
    games: Vec<u32>,
    numbers: HashMap<u64, u32>,
}

/// Mean losses over positions.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Losses {
    /// Log loss, which MLM makes small.
    pub log_loss: f64,
    /// Brier score, which LS makes small.
    pub brier: f64,
}

/// Weights that fit, with intervals by games.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Fit {
    /// What was made small.
    pub loss: Loss,
    /// The weights, in the unit of those they started from. Those that stayed have no width.
    pub weights: Vec<Estimate>,
    /// The slope of the sigmoid: a chance is `1 / (1 + exp(-slope · evaluation))`.
    pub slope: f64,
    /// Steps to the minimum.
    pub steps: u32,
}

impl Lessons {
    /// Adds a position.
    ///
    /// # Panics
    /// If it has another number of features than those before it.
    pub fn push(&mut self, game: u64, features: &[i32], points: f64) {
        assert!(self.points.is_empty() || features.len() == self.width, "all positions have the same features");
        self.width = features.len();
        self.features.extend(features.iter().map(|&feature| f64::from(feature)));
        self.points.push(points);
        let next = self.numbers.len() as u32;
        self.games.push(*self.numbers.entry(game).or_insert(next));
    }

    /// How many positions.
    #[must_use]
    pub fn len(&self) -> usize {
        self.points.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.points.is_empty()
    }

    /// How many games.
    #[must_use]
    pub fn game_count(&self) -> usize {
        self.numbers.len()
    }

    fn rows(&self) -> impl Iterator<Item = &[f64]> {
        self.features.chunks_exact(self.width.max(1))
    }

    /// How often weight number `k` counts in every position.
    pub fn feature(&self, k: usize) -> impl Iterator<Item = f64> + '_ {
        self.rows().map(move |row| row[k])
    }

    /// What weights make of every position.
    pub fn values<'a>(&'a self, weights: &'a [f64]) -> impl Iterator<Item = f64> + Clone + 'a {
        self.features.chunks_exact(self.width.max(1)).map(|row| dot(row, weights))
    }

    /// The slope by which an evaluation with these weights predicts best.
    #[must_use]
    pub fn slope(&self, weights: &[f64]) -> f64 {
        logistic::slope(&self.values(weights).zip(self.points.iter().copied()))
    }

    /// How well weights predict.
    #[must_use]
    pub fn losses(&self, weights: &[f64], slope: f64) -> Losses {
        let count = self.len().max(1) as f64;
        let [log_loss, brier] = self
            .position_losses(weights, slope)
            .fold([0.0; 2], |sums, (_, losses)| [sums[0] + losses[0], sums[1] + losses[1]]);
        Losses { log_loss: log_loss / count, brier: brier / count }
    }

    /// How much less each game loses by `after` than by `before` (weights and slopes), position by position: log loss.
    #[must_use]
    pub fn gain_by_game(&self, before: (&[f64], f64), after: (&[f64], f64)) -> Vec<Vec<f64>> {
        let mut games = vec![Vec::new(); self.game_count()];
        let losses = self.position_losses(before.0, before.1).zip(self.position_losses(after.0, after.1));
        for ((game, before), (_, after)) in losses {
            games[game].push(before[0] - after[0]);
        }
        games
    }

    fn position_losses<'a>(&'a self, weights: &'a [f64], slope: f64) -> impl Iterator<Item = (usize, [f64; 2])> + 'a {
        self.values(weights).zip(&self.points).zip(&self.games).map(move |((value, &points), &game)| {
            let both = [Loss::Mlm, Loss::Ls].map(|loss| loss.of(slope * value, points));
            (game as usize, both)
        })
    }

    /// Fits the weights that are `free`; the others stay as they are. A weight that never counts stays, too.
    ///
    /// Only weights times slope can be told from results. Weights that stay say what the unit is, and the slope is
    /// fitted with the rest; where they say too little for that, or all weights are free, the slope stays as it was.
    ///
    /// ```
    /// use anqi_assess::{Lessons, Loss};
    ///
    /// let mut lessons = Lessons::default();
    /// // The second feature is worth twice the first: 3 of 4 are won with it ahead, as with two of the first.
    /// for (game, (features, points)) in (0..).zip([([2, 0], 1.0), ([2, 0], 1.0), ([2, 0], 1.0), ([2, 0], 0.0),
    ///     ([0, 1], 1.0), ([0, 1], 1.0), ([0, 1], 1.0), ([0, 1], 0.0)]) {
    ///     lessons.push(game, &features, points);
    /// }
    /// let fit = lessons.fit(Loss::Mlm, &[100.0, 100.0], &[false, true], 20, 1);
    /// assert_eq!(fit.weights[0].value, 100.0);
    /// assert!((fit.weights[1].value - 200.0).abs() < 0.01);
    /// ```
    #[must_use]
    pub fn fit(&self, loss: Loss, start: &[f64], free: &[bool], resamples: u32, seed: u64) -> Fit {
        let counts: Vec<bool> = (0..self.width).map(|k| self.rows().any(|row| row[k] != 0.0)).collect();
        let moving: Vec<usize> = (0..self.width).filter(|&k| free[k] && counts[k]).collect();
        let fixed: Vec<f64> = (0..self.width).map(|k| if moving.contains(&k) { 0.0 } else { start[k] }).collect();
        let has_unit = self.values(&fixed).any(|value| value != 0.0);
        let slope = self.slope(start);
        // Logistic regression over the moving features, and over what the fixed weights add up to.
        let rows: Vec<f64> = self
            .rows()
            .flat_map(|row| {
                let fixed = has_unit.then(|| dot(row, &fixed));
                fixed.into_iter().chain(moving.iter().map(|&k| row[k])).collect::<Vec<_>>()
            })
            .collect();
        let unit = has_unit.then_some(slope);
        let first: Vec<f64> = unit.into_iter().chain(moving.iter().map(|&k| slope * start[k])).collect();
        let mut problem =
            Problem { width: first.len(), rows: &rows, points: &self.points, games: &self.games, keeps_first: false };
        let weights_of = |solution: &[f64]| {
            let (slope, solved) = if has_unit { (solution[0], &solution[1..]) } else { (slope, solution) };
            let mut weights = start.to_vec();
            moving.iter().zip(solved).for_each(|(&k, solved)| weights[k] = solved / slope);
            (weights, slope)
        };
        let everybody = vec![1; self.game_count()];
        // The likelihood has one maximum, and least squares begin there.
        let (mut likely, mut steps) = problem.solve(Loss::Mlm, &first, &everybody);
        if has_unit && likely[0] < slope / 4.0 {
            problem.keeps_first = true;
            (likely, steps) = problem.solve(Loss::Mlm, &first, &everybody);
        }
        let problem = &problem;
        let found = match loss {
            Loss::Mlm => likely,
            Loss::Ls => {
                let (solution, more) = problem.solve(Loss::Ls, &likely, &everybody);
                steps += more;
                solution
            }
        };
        let drawn: Vec<Vec<f64>> = (0..u64::from(resamples))
            .into_par_iter()
            .map_init(
                || everybody.clone(),
                |weights, number| {
                    resample(seed, number, weights);
                    weights_of(&problem.solve(loss, &found, weights).0).0
                },
            )
            .collect();
        let (weights, slope) = weights_of(&found);
        let estimate = |(k, &weight): (usize, &f64)| {
            Estimate::percentile(weight, &mut drawn.iter().map(|weights| weights[k]).collect::<Vec<_>>())
        };
        Fit { loss, weights: weights.iter().enumerate().map(estimate).collect(), slope, steps }
    }
}

impl Loss {
    /// What a position costs, by the logarithm of its odds.
    fn of(self, log_odds: f64, points: f64) -> f64 {
        match self {
            // -y ln g - (1 - y) ln(1 - g), without overflow.
            Loss::Mlm => log_odds.max(0.0) - points * log_odds + (-log_odds.abs()).exp().ln_1p(),
            Loss::Ls => (points - logistic::chance(log_odds)).powi(2),
        }
    }
}

/// Positions as rows of a regression.
struct Problem<'a> {
    width: usize,
    rows: &'a [f64],
    points: &'a [f64],
    games: &'a [u32],
    /// Whether the first number is not to be solved for.
    keeps_first: bool,
}

/// No fit takes as many steps.
const MOST_STEPS: u32 = 200;

impl Problem<'_> {
    /// The minimum of the loss from `start` on, with a weight for each game (Levenberg 1944, Marquardt 1963; with the
    /// likelihood these are Newton's steps), and how many steps it took.
    fn solve(&self, loss: Loss, start: &[f64], weights: &[u16]) -> (Vec<f64>, u32) {
        let (mut place, mut damping) = (start.to_vec(), 1e-6);
        let mut cost = self.cost(loss, &place, weights);
        let mut steps = 0;
        'descend: while steps < MOST_STEPS {
            steps += 1;
            let (downhill, curvature) = self.slopes(loss, &place, weights);
            loop {
                let mut damped = curvature.clone();
                (0..self.width).for_each(|k| damped[k][k] *= 1.0 + damping);
                let next: Option<Vec<f64>> = solve(&damped, &downhill)
                    .map(|step| place.iter().zip(step).map(|(place, step)| place + step).collect());
                let better = next.map(|next| (self.cost(loss, &next, weights), next)).filter(|(less, _)| *less < cost);
                match better {
                    Some((less, next)) => {
                        let enough = cost - less <= 1e-12 * cost;
                        (place, cost, damping) = (next, less, (damping / 10.0).max(1e-12));
                        if enough {
                            break 'descend;
                        }
                        break;
                    }
                    // Nothing is lower however short the step: this is the minimum.
                    None if damping > 1e8 => break 'descend,
                    None => damping *= 10.0,
                }
            }
        }
        (place, steps)
    }

    fn weighted<'a>(&'a self, weights: &'a [u16]) -> impl Iterator<Item = (&'a [f64], f64, f64)> {
        self.rows.chunks_exact(self.width.max(1)).zip(self.points).zip(self.games).filter_map(
            |((row, &points), &game)| {
                let weight = weights[game as usize];
                (weight > 0).then(|| (row, points, f64::from(weight)))
            },
        )
    }

    fn cost(&self, loss: Loss, place: &[f64], weights: &[u16]) -> f64 {
        self.weighted(weights).map(|(row, points, weight)| weight * loss.of(dot(row, place), points)).sum()
    }

    /// The way downhill and the curvature (on and below its diagonal), of least squares as Gauss saw it.
    fn slopes(&self, loss: Loss, place: &[f64], weights: &[u16]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let (mut downhill, mut curvature) = (vec![0.0; self.width], vec![vec![0.0; self.width]; self.width]);
        for (row, points, weight) in self.weighted(weights) {
            let chance = logistic::chance(dot(row, place));
            let spread = chance * (1.0 - chance);
            let (pull, bend) = match loss {
                Loss::Mlm => (points - chance, spread),
                Loss::Ls => ((points - chance) * spread, spread * spread),
            };
            for (k, x) in row.iter().enumerate().filter(|(_, x)| **x != 0.0) {
                downhill[k] += weight * pull * x;
                for (entry, y) in curvature[k].iter_mut().zip(row).take(k + 1) {
                    *entry += weight * bend * x * y;
                }
            }
        }
        if self.keeps_first {
            downhill[0] = 0.0;
            curvature.iter_mut().for_each(|row| row[0] = 0.0);
        }
        // A resample may miss all positions in which a weight counts; it stays then.
        (0..self.width).for_each(|k| curvature[k][k] = curvature[k][k].max(f64::MIN_POSITIVE.sqrt()));
        (downhill, curvature)
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}
