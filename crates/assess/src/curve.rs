//! Evaluation curves: the share of wins against the value, for all positions and under conditions.

use anqi_stats::{Estimate, Points, wilson_share};
use serde::Serialize;
use statrs::distribution::{ContinuousCDF, StudentsT};

use crate::frame::Frame;

/// Bins `[v - δ/2, v + δ/2)` around the multiples of δ (the paper's equation 4).
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Grid {
    pub(crate) delta: f64,
    first: i64,
    pub(crate) bins: usize,
}

/// More bins than these are no curve.
pub(crate) const MOST_BINS: usize = 1000;

impl Grid {
    /// The bins that hold all `values`; `None` if they are too many or δ is no width.
    pub(crate) fn over(values: &[f64], delta: f64) -> Option<Grid> {
        let (Some(&high), Some(&low)) = (values.first(), values.last()) else { return None };
        let bin = |value: f64| (value / delta + 0.5).floor();
        let bins = bin(high) - bin(low) + 1.0;
        let sound = delta > 0.0 && delta.is_finite() && bin(low).abs() < 1e15 && bins <= MOST_BINS as f64;
        sound.then(|| Grid { delta, first: bin(low) as i64, bins: bins as usize })
    }

    pub(crate) fn bin(&self, value: f64) -> usize {
        let bin = (value / self.delta + 0.5).floor() as i64 - self.first;
        bin.clamp(0, self.bins as i64 - 1) as usize
    }

    pub(crate) fn centre(&self, bin: usize) -> f64 {
        (self.first + bin as i64) as f64 * self.delta
    }

    /// A width of 1, 2 or 5 times a power of ten that gives some forty bins to all but the outermost values.
    pub(crate) fn usual_delta(falling: &[f64]) -> f64 {
        let at = |share: f64| falling[((falling.len() - 1) as f64 * share) as usize];
        let range = at(0.01) - at(0.99);
        let wanted = if range > 0.0 { range / 40.0 } else { 1.0 };
        let power = 10_f64.powf(wanted.log10().floor());
        let widest = (at(0.0) - at(1.0)) / (MOST_BINS as f64 / 2.0);
        [1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 1000.0, 10_000.0]
            .map(|step| step * power)
            .into_iter()
            .find(|&delta| delta >= wanted && delta >= widest)
            .unwrap_or(widest.max(wanted))
    }
}

/// A curve: its points, and how it compares with the total curve.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Curve {
    /// The condition's tag; none for the total curve.
    pub condition: Option<String>,
    /// The group within the condition.
    pub group: Option<String>,
    /// How many positions are under it, with those of bins that are not drawn.
    pub positions: u64,
    /// The points that are drawn, from the smallest value up.
    pub points: Vec<CurvePoint>,
    /// Positions in bins that are too thin to be drawn.
    pub thin: u64,
    /// Whether it rises.
    pub monotone: Monotone,
    /// How it differs from the total curve; none for the total curve, and where they share no bin.
    pub split: Option<Split>,
}

impl Curve {
    /// `total`, or the condition and its group.
    #[must_use]
    pub fn name(&self) -> String {
        match (&self.condition, &self.group) {
            (Some(condition), Some(group)) => format!("{condition}: {group}"),
            _ => "total".to_owned(),
        }
    }
}

/// One bin.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct CurvePoint {
    /// The middle of the bin.
    pub value: f64,
    /// Positions in it.
    pub positions: u64,
    /// Positions of won games.
    pub wins: u64,
    /// Positions of drawn games.
    pub draws: u64,
    /// Positions of lost games.
    pub losses: u64,
    /// Share of the points: wins, and half the draws.
    pub score: Estimate,
    /// Share of wins.
    pub win: Estimate,
    /// Share of draws.
    pub draw: Estimate,
    /// Share of losses.
    pub loss: Estimate,
}

/// Whether a curve rises, as that of a good search must.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Monotone {
    /// How often it falls from one point to the next.
    pub falls: u32,
    /// How often it falls by more than resampling explains: the interval of the step lies below 0.
    pub sure_falls: u32,
    /// Mean distance from the nearest curve that does not fall (isotonic regression), over positions.
    pub distance: f64,
}

/// How far a conditioned curve is from the total curve.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Split {
    /// Mean distance between the curves, over the positions of the condition.
    pub distance: f64,
    /// What that distance would be if only chance divided the curves.
    pub noise: f64,
    /// Mean difference with its sign: above 0, the search thinks too little of such positions.
    pub shift: Estimate,
    /// How often chance alone would divide them as much.
    pub p: f64,
    /// The same, corrected for the number of curves that are looked at (Holm 1979).
    pub p_holm: f64,
}

/// Counts of a game in one bin of one curve.
struct BinCounts {
    cell: u32,
    counts: [u32; 3],
}

/// The counts of all curves by game: a resample adds those of its games.
pub(crate) struct Cells {
    pub(crate) grid: Grid,
    /// Condition and group of each curve; the total curve comes first.
    names: Vec<Option<(String, String)>>,
    entries: Vec<BinCounts>,
    /// Where those of each game begin.
    from: Vec<u32>,
    /// By cell, how many games have positions in it, counted once for each result that they bring: positions of a game
    /// that share a result are one observation.
    observations: Vec<u32>,
}

/// Lost, drawn and won positions by cell.
pub(crate) type CellCounts = Vec<[u32; 3]>;

impl Cells {
    /// Counts every sample under the total curve, and under the curve of its group in each condition.
    pub(crate) fn new(frame: &Frame, grid: Grid, groups: &[(String, crate::condition::Groups)]) -> Cells {
        let mut names = vec![None];
        let mut first_curves = Vec::new();
        for (tag, groups) in groups {
            first_curves.push(names.len() as u32);
            names.extend(groups.names.iter().map(|group| Some((tag.clone(), group.clone()))));
        }
        // A key sorts by game, then by cell.
        let mut keys: Vec<(u64, Points)> = Vec::with_capacity(frame.kept.len() * (groups.len() + 1));
        for kept in &frame.kept {
            let bin = grid.bin(kept.value) as u64;
            let mut under = |curve: u32| {
                let cell = u64::from(curve) * grid.bins as u64 + bin;
                keys.push((u64::from(kept.game) << 32 | cell, kept.result));
            };
            under(0);
            for ((_, groups), first) in groups.iter().zip(&first_curves) {
                if let Some(group) = groups.of[kept.sample] {
                    under(first + group);
                }
            }
        }
        keys.sort_unstable_by_key(|(key, _)| *key);
        let (mut entries, mut from): (Vec<BinCounts>, Vec<u32>) = (Vec::new(), Vec::new());
        let mut last = None;
        for (key, result) in keys {
            if last != Some(key) {
                let game = (key >> 32) as usize;
                from.resize(game + 1, entries.len() as u32);
                entries.push(BinCounts { cell: key as u32, counts: [0; 3] });
                last = Some(key);
            }
            if let Some(entry) = entries.last_mut() {
                entry.counts[result.half_points()] += 1;
            }
        }
        from.resize(frame.games() + 1, entries.len() as u32);
        let mut observations = vec![0; names.len() * grid.bins];
        for entry in &entries {
            observations[entry.cell as usize] += entry.counts.iter().filter(|count| **count > 0).count() as u32;
        }
        Cells { grid, names, entries, from, observations }
    }

    pub(crate) fn count(&self) -> usize {
        self.names.len() * self.grid.bins
    }

    /// The counts with a weight for each game.
    pub(crate) fn counts(&self, weights: &[u16], counts: &mut CellCounts) {
        counts.clear();
        counts.resize(self.count(), [0; 3]);
        for (game, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            for entry in &self.entries[self.from[game] as usize..self.from[game + 1] as usize] {
                let cell = &mut counts[entry.cell as usize];
                (0..3).for_each(|k| cell[k] += u32::from(weight) * entry.counts[k]);
            }
        }
    }

    /// The curves, with what resampling made of each cell: `resampled[number][cell]` holds shares of losses, draws
    /// and wins.
    pub(crate) fn curves(&self, counts: &CellCounts, resampled: &[Vec<[f32; 3]>], thin: u64) -> Vec<Curve> {
        let bins = self.grid.bins;
        let drawn = |cell: usize| u64::from(counts[cell].iter().sum::<u32>()) >= thin.max(1);
        let mut curves = Vec::new();
        for (number, name) in self.names.iter().enumerate() {
            let cells: Vec<usize> = (number * bins..(number + 1) * bins).collect();
            let positions = cells.iter().map(|&cell| u64::from(counts[cell].iter().sum::<u32>())).sum();
            if positions == 0 {
                continue;
            }
            let shown: Vec<usize> = cells.into_iter().filter(|&cell| drawn(cell)).collect();
            let points: Vec<CurvePoint> = shown.iter().map(|&cell| self.point(cell, counts, resampled)).collect();
            let split = (number > 0).then(|| {
                let shared: Vec<usize> = shown.iter().copied().filter(|cell| drawn(cell % bins)).collect();
                split(&shared, bins, counts, resampled)
            });
            let (condition, group) = name.clone().unzip();
            curves.push(Curve {
                condition,
                group,
                positions,
                thin: positions - points.iter().map(|point| point.positions).sum::<u64>(),
                monotone: monotone(&shown, &points, resampled),
                points,
                split: split.flatten(),
            });
        }
        holm(&mut curves);
        curves
    }

    fn point(&self, cell: usize, counts: &CellCounts, resampled: &[Vec<[f32; 3]>]) -> CurvePoint {
        let [losses, draws, wins] = counts[cell].map(u64::from);
        let shares = shares(counts[cell]).map(f64::from);
        let observations = f64::from(self.observations[cell]);
        let estimate = |part: &dyn Fn([f64; 3]) -> f64| {
            let drawn = resampled.iter().map(|cells| part(cells[cell].map(f64::from))).filter(|share| !share.is_nan());
            let share = part(shares);
            wilson_share(share, effective_size(share, drawn, observations))
        };
        CurvePoint {
            value: self.grid.centre(cell % self.grid.bins),
            positions: losses + draws + wins,
            wins,
            draws,
            losses,
            score: estimate(&|[_, draw, win]| win + draw / 2.0),
            win: estimate(&|[_, _, win]| win),
            draw: estimate(&|[_, draw, _]| draw),
            loss: estimate(&|[loss, _, _]| loss),
        }
    }
}

/// Where the normal distribution leaves 2.5 % above.
const NORMAL: f64 = 1.959_963_984_540_054;

/// How many independent observations would give a share as sure as the resamples say (Korn & Graubard 1998), from 1 to as
/// many as there can be. Where few games bring the rarer result the resamples are too sure of themselves, and where none
/// does they all agree: then the bound is what counts.
fn effective_size(share: f64, drawn: impl Iterator<Item = f64> + Clone, observations: f64) -> f64 {
    let count = drawn.clone().count().max(1) as f64;
    let mean = drawn.clone().sum::<f64>() / count;
    let variance = drawn.map(|share| (share - mean).powi(2)).sum::<f64>() / count;
    let alone = share * (1.0 - share);
    // Shares are kept with single precision.
    let size = if variance > 1e-12 && alone > 0.0 { (alone / variance).min(observations) } else { observations };
    // The variance is itself estimated, from so many observations.
    let student = StudentsT::new(0.0, 1.0, (observations - 1.0).max(1.0)).map(|t| t.inverse_cdf(0.975));
    let wider = student.map_or(1.0, |t| NORMAL / t);
    (size * wider * wider).max(1.0)
}

/// Counts as shares; not numbers if there are none.
pub(crate) fn shares(counts: [u32; 3]) -> [f32; 3] {
    let all = counts.iter().sum::<u32>() as f32;
    counts.map(|count| count as f32 / all)
}

fn score([_, draw, win]: [f32; 3]) -> f64 {
    f64::from(win) + f64::from(draw) / 2.0
}

fn monotone(cells: &[usize], points: &[CurvePoint], resampled: &[Vec<[f32; 3]>]) -> Monotone {
    let (mut falls, mut sure_falls) = (0, 0);
    for (cells, points) in cells.windows(2).zip(points.windows(2)) {
        let step = points[1].score.value - points[0].score.value;
        let steps = resampled.iter().map(|drawn| score(drawn[cells[1]]) - score(drawn[cells[0]]));
        let step = Estimate::percentile(step, &mut steps.filter(|step| !step.is_nan()).collect::<Vec<_>>());
        falls += u32::from(step.value < 0.0);
        sure_falls += u32::from(step.value < 0.0 && step.high < 0.0);
    }
    let rising = isotonic(points.iter().map(|point| (point.score.value, point.positions as f64)));
    let all: f64 = points.iter().map(|point| point.positions as f64).sum();
    let away =
        points.iter().zip(rising).map(|(point, rising)| point.positions as f64 * (point.score.value - rising).abs());
    Monotone { falls, sure_falls, distance: if all > 0.0 { away.sum::<f64>() / all } else { 0.0 } }
}

/// The nearest values that do not fall, by pooling neighbours that do (Ayer et al. 1955).
pub(crate) fn isotonic(points: impl Iterator<Item = (f64, f64)>) -> Vec<f64> {
    let mut pools: Vec<(f64, f64, usize)> = Vec::new();
    for (value, weight) in points {
        let mut pool = (value, weight, 1);
        while let Some(&(before, heavy, members)) = pools.last().filter(|(before, ..)| *before > pool.0) {
            let both = heavy + pool.1;
            pool = ((before * heavy + pool.0 * pool.1) / both, both, members + pool.2);
            pools.pop();
        }
        pools.push(pool);
    }
    pools.into_iter().flat_map(|(value, _, members)| std::iter::repeat_n(value, members)).collect()
}

/// The distance of a curve from the total curve over `cells`, and how often chance alone divides them as much: the
/// differences that resampling makes, around the one that was found, are what chance does.
fn split(cells: &[usize], bins: usize, counts: &CellCounts, resampled: &[Vec<[f32; 3]>]) -> Option<Split> {
    if cells.is_empty() {
        return None;
    }
    let weights: Vec<f64> = cells.iter().map(|&cell| f64::from(counts[cell].iter().sum::<u32>())).collect();
    let all: f64 = weights.iter().sum();
    let mean = |part: &dyn Fn(usize) -> f64| (0..cells.len()).map(|k| weights[k] * part(k)).sum::<f64>() / all;
    let found: Vec<f64> =
        cells.iter().map(|&cell| score(shares(counts[cell])) - score(shares(counts[cell % bins]))).collect();
    let squares = mean(&|k| found[k] * found[k]);
    let (mut as_far, mut noise, mut shifts) = (0_usize, 0.0, Vec::new());
    for drawn in resampled {
        let differences: Vec<f64> = (0..cells.len())
            .map(|k| score(drawn[cells[k]]) - score(drawn[cells[k] % bins]))
            // A bin that was not drawn says nothing.
            .zip(&found)
            .map(|(difference, found)| if difference.is_nan() { *found } else { difference })
            .collect();
        as_far += usize::from(mean(&|k| (differences[k] - found[k]).powi(2)) >= squares);
        noise += mean(&|k| (differences[k] - found[k]).abs());
        shifts.push(mean(&|k| differences[k]));
    }
    let p = (as_far + 1) as f64 / (resampled.len() + 1) as f64;
    Some(Split {
        distance: mean(&|k| found[k].abs()),
        noise: noise / resampled.len().max(1) as f64,
        shift: Estimate::percentile(mean(&|k| found[k]), &mut shifts),
        p,
        p_holm: p,
    })
}

fn holm(curves: &mut [Curve]) {
    let mut splits: Vec<&mut Split> = curves.iter_mut().filter_map(|curve| curve.split.as_mut()).collect();
    splits.sort_by(|a, b| a.p.total_cmp(&b.p));
    let (count, mut largest) = (splits.len(), 0.0_f64);
    for (place, split) in splits.into_iter().enumerate() {
        largest = largest.max(split.p * (count - place) as f64).min(1.0);
        split.p_holm = largest;
    }
}
