//! `Frame`: samples sorted and summed once, so that a resample of games costs one pass.
//!
//! What depends on order (ROC, tau, precision) is counted over the samples from the best value down, each with the
//! weight of its game. Everything else is a sum over games.

use std::collections::HashMap;

use anqi_stats::Points;

use crate::logistic;
use crate::metrics::Numbers;
use crate::sample::Samples;
use crate::settings::{Draws, Scale, Settings};

/// Samples made ready for counting.
pub(crate) struct Frame {
    /// From the best value down.
    ranks: Vec<Rank>,
    /// The values in that order.
    pub(crate) values: Vec<f64>,
    /// How many values predict a win.
    predicted: usize,
    /// By game.
    sums: Vec<Sums>,
    /// By game and bin of the chance, those of game `g` from `reliable_from[g]` on.
    reliable: Vec<Reliable>,
    reliable_from: Vec<u32>,
    /// Which samples are in it, in their own order, and for each the number of its game and its clamped value.
    pub(crate) kept: Vec<Kept>,
    pub(crate) scale: Scale,
    /// The slope of the logistic curve that turns scores into chances; `None` for chances.
    pub(crate) slope: Option<f64>,
    /// Proven values, which count like this many in either direction.
    pub(crate) clamped: u64,
    pub(crate) limit: f64,
    pub(crate) dropped_draws: u64,
}

/// A sample that counts.
pub(crate) struct Kept {
    pub(crate) sample: usize,
    pub(crate) game: u32,
    pub(crate) value: f64,
    pub(crate) result: Points,
}

/// A sample in the order of values, in one word: game, result, and whether the next one has a smaller value.
#[derive(Clone, Copy)]
struct Rank(u32);

impl Rank {
    fn new(game: u32, result: Points, last: bool) -> Rank {
        Rank(game << 3 | (result.half_points() as u32) << 1 | u32::from(last))
    }

    fn game(self) -> usize {
        (self.0 >> 3) as usize
    }

    fn half_points(self) -> usize {
        (self.0 >> 1 & 3) as usize
    }

    fn ends_tie(self) -> bool {
        self.0 & 1 == 1
    }
}

/// No more games than fit into a [`Rank`].
pub(crate) const MOST_GAMES: usize = 1 << 29;

/// What adds up over the positions of a game. Values are measured from the mean of all.
#[derive(Clone, Copy, Default)]
struct Sums {
    /// Positions of lost, drawn and won games.
    counts: [f64; 3],
    value: f64,
    value_squared: f64,
    /// Values times points.
    value_points: f64,
    brier: f64,
    log_loss: f64,
}

impl Sums {
    fn add(&mut self, other: &Sums, weight: f64) {
        (0..3).for_each(|k| self.counts[k] += weight * other.counts[k]);
        self.value += weight * other.value;
        self.value_squared += weight * other.value_squared;
        self.value_points += weight * other.value_points;
        self.brier += weight * other.brier;
        self.log_loss += weight * other.log_loss;
    }
}

/// What a game adds to one bin of the reliability diagram.
#[derive(Clone, Copy, Default)]
struct Reliable {
    bin: u32,
    count: f64,
    chance: f64,
    points: f64,
}

/// Bins of the chance for calibration.
const CHANCE_BINS: usize = 10;

/// Where the logarithm of a chance is cut off, as scikit-learn does.
const SMALLEST_CHANCE: f64 = f64::EPSILON;

impl Frame {
    pub(crate) fn new(samples: &Samples, settings: &Settings) -> Frame {
        let scale = settings.scale.unwrap_or_else(|| Scale::of(samples.values()));
        let finite = samples.values().iter().filter(|value| value.is_finite());
        let largest = finite.fold(0.0_f64, |most, value| most.max(value.abs()));
        let clamp = settings.clamp.map(f64::abs).filter(|clamp| clamp.is_finite());
        let limit = clamp.unwrap_or(if largest > 0.0 { largest } else { 1.0 });
        let clamp = |value: f64| match scale {
            Scale::Probability => value.clamp(0.0, 1.0),
            Scale::Score => value.clamp(-limit, limit),
        };
        let (mut kept, mut games, mut dropped_draws, mut clamped) = (Vec::new(), HashMap::new(), 0, 0);
        for (sample, (&value, &result)) in samples.values().iter().zip(samples.results()).enumerate() {
            if settings.draws == Draws::Drop && result == Points::Draw {
                dropped_draws += 1;
                continue;
            }
            let next = games.len() as u32;
            let game = *games.entry(samples.games().codes()[sample]).or_insert(next);
            clamped += u64::from(clamp(value) != value);
            // Adding zero makes -0 equal to 0 in every order.
            kept.push(Kept { sample, game, value: clamp(value) + 0.0, result });
        }
        let mut order: Vec<u32> = (0..kept.len() as u32).collect();
        order.sort_by(|&a, &b| kept[b as usize].value.total_cmp(&kept[a as usize].value));
        let values: Vec<f64> = order.iter().map(|&place| kept[place as usize].value).collect();
        let ranks = order.iter().enumerate().map(|(place, &index)| {
            let Kept { game, result, value, .. } = kept[index as usize];
            Rank::new(game, result, values.get(place + 1) != Some(&value))
        });
        let ranks = ranks.collect();
        let predicted = values.partition_point(|&value| value >= scale.threshold());
        let slope = (scale == Scale::Score)
            .then(|| logistic::slope(&kept.iter().map(|kept| (kept.value, kept.result.half_points() as f64 / 2.0))));
        let mut frame = Frame {
            ranks,
            values,
            predicted,
            sums: vec![Sums::default(); games.len()],
            reliable: Vec::new(),
            reliable_from: Vec::new(),
            kept,
            scale,
            slope,
            clamped,
            limit,
            dropped_draws,
        };
        frame.sum_up();
        frame
    }

    pub(crate) fn games(&self) -> usize {
        self.sums.len()
    }

    /// The chance of winning that a value stands for.
    pub(crate) fn chance(&self, value: f64) -> f64 {
        self.slope.map_or(value, |slope| logistic::chance(slope * value))
    }

    fn sum_up(&mut self) {
        let mean = self.values.iter().sum::<f64>() / self.values.len().max(1) as f64;
        let mut reliable = vec![[Reliable::default(); CHANCE_BINS]; self.sums.len()];
        for &Kept { game, value, result, .. } in &self.kept {
            let (points, chance) = (result.half_points() as f64 / 2.0, self.chance(value));
            let sums = &mut self.sums[game as usize];
            sums.counts[result.half_points()] += 1.0;
            sums.value += value - mean;
            sums.value_squared += (value - mean).powi(2);
            sums.value_points += (value - mean) * points;
            sums.brier += (chance - points).powi(2);
            let sure = chance.clamp(SMALLEST_CHANCE, 1.0 - SMALLEST_CHANCE);
            sums.log_loss -= points * sure.ln() + (1.0 - points) * (-sure).ln_1p();
            let bin = ((chance * CHANCE_BINS as f64) as usize).min(CHANCE_BINS - 1);
            let cell = &mut reliable[game as usize][bin];
            cell.count += 1.0;
            cell.chance += chance;
            cell.points += points;
        }
        for bins in reliable {
            self.reliable_from.push(self.reliable.len() as u32);
            let filled = (0..).zip(bins).filter(|(_, cell)| cell.count > 0.0);
            self.reliable.extend(filled.map(|(bin, cell)| Reliable { bin, ..cell }));
        }
        self.reliable_from.push(self.reliable.len() as u32);
    }

    /// All metrics, with a weight for each game.
    pub(crate) fn numbers(&self, weights: &[u16]) -> Numbers {
        let (mut total, mut bins) = (Sums::default(), [Reliable::default(); CHANCE_BINS]);
        for (game, &weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0) {
            let weight = f64::from(weight);
            total.add(&self.sums[game], weight);
            let cells = self.reliable_from[game] as usize..self.reliable_from[game + 1] as usize;
            for cell in &self.reliable[cells] {
                let bin = &mut bins[cell.bin as usize];
                bin.count += weight * cell.count;
                bin.chance += weight * cell.chance;
                bin.points += weight * cell.points;
            }
        }
        let mut ranking = Ranking::new(total.counts);
        ranking.go_down(&self.ranks[..self.predicted], weights);
        let (predicted, hits) = (ranking.count(), ranking.wins());
        ranking.go_down(&self.ranks[self.predicted..], weights);

        let count: f64 = total.counts.iter().sum();
        let (wins, losses) = (ranking.all_wins(), count - ranking.all_wins());
        let (misses, false_alarms) = (wins - hits, predicted - hits);
        let precision_at_top = ranking.top.unwrap_or(f64::NAN);
        let mean = total.value / count;
        let won = total.value_points / wins;
        let lost = (total.value - total.value_points) / losses;
        let square = total.value_squared / count;
        // Less than rounding leaves is nothing.
        let variance = Some(square - mean * mean).filter(|variance| *variance > 1e-12 * square);
        let deviation = variance.map_or(f64::NAN, f64::sqrt);
        let rate = wins / count;
        let over_bins = |part: &dyn Fn(&Reliable) -> f64| {
            bins.iter().filter(|bin| bin.count > 0.0).map(|bin| bin.count / count * part(bin)).sum::<f64>()
        };
        let gap = |bin: &Reliable| (bin.chance - bin.points) / bin.count;
        Numbers {
            acc: (hits + losses - false_alarms) / count,
            fsc: if hits > 0.0 { 2.0 * hits / (2.0 * hits + false_alarms + misses) } else { 0.0 },
            lft: precision_at_top,
            lft_table: precision_at_top / (hits / count),
            lift: precision_at_top / rate,
            roc: ranking.roc(),
            apr: if wins > 0.0 { ranking.precisions / 11.0 } else { f64::NAN },
            ap: ranking.average_precision / wins,
            bep: ranking.break_even.unwrap_or(f64::NAN),
            tau: ranking.tau_printed(),
            tau_table: ranking.tau_table(),
            tau_b: ranking.tau_b(),
            ev: (won - lost).abs(),
            ev_sd: (won - lost).abs() / deviation,
            brier: total.brier / count,
            reliability: over_bins(&|bin| gap(bin).powi(2)),
            resolution: over_bins(&|bin| (bin.points / bin.count - rate).powi(2)),
            uncertainty: (total.counts[2] + total.counts[1] / 4.0) / count - rate * rate,
            log_loss: total.log_loss / count,
            ece: over_bins(&|bin| gap(bin).abs()),
        }
    }

    /// The ROC curve: false alarms and hits as shares of losses and wins, from the best value down.
    pub(crate) fn roc_curve(&self) -> Vec<(f64, f64)> {
        self.thinned(|[wins, losses], [all_wins, all_losses]| (losses / all_losses, wins / all_wins))
    }

    /// Precision against recall, from the best value down.
    pub(crate) fn precision_recall(&self) -> Vec<(f64, f64)> {
        self.thinned(|[wins, losses], [all_wins, _]| (wins / all_wins, wins / (wins + losses)))
    }

    /// Points of a curve at the ends of ties, no more than a picture shows.
    fn thinned(&self, point: impl Fn([f64; 2], [f64; 2]) -> (f64, f64)) -> Vec<(f64, f64)> {
        const MOST: usize = 250;
        let counts = |ranks: &[Rank]| {
            let points: usize = ranks.iter().map(|rank| rank.half_points()).sum();
            [points as f64 / 2.0, ranks.len() as f64 - points as f64 / 2.0]
        };
        let all = counts(&self.ranks);
        let step = (self.ranks.len() / MOST).max(1);
        let (mut so_far, mut next, mut points) = ([0.0; 2], 0, Vec::new());
        for (place, rank) in self.ranks.iter().enumerate() {
            let [wins, losses] = counts(std::slice::from_ref(rank));
            so_far = [so_far[0] + wins, so_far[1] + losses];
            if rank.ends_tie() && (place >= next || place + 1 == self.ranks.len()) {
                points.push(point(so_far, all));
                next = place + step;
            }
        }
        points
    }
}

/// What is counted from the best value down. A draw is half a win and half a loss, but its order among results is
/// between them.
struct Ranking {
    /// All of it: lost, drawn, won.
    all: [u64; 3],
    above: [u64; 3],
    /// Twice the wins and twice the losses above.
    roc: u64,
    discordant: u64,
    /// Pairs of equal value and different results.
    tied: u64,
    /// Pairs of equal value.
    same_value: u64,
    average_precision: f64,
    precisions: f64,
    next_recall: u64,
    top: Option<f64>,
    break_even: Option<f64>,
}

impl Ranking {
    fn new(counts: [f64; 3]) -> Ranking {
        Ranking {
            all: counts.map(|count| count as u64),
            above: [0; 3],
            roc: 0,
            discordant: 0,
            tied: 0,
            same_value: 0,
            average_precision: 0.0,
            precisions: 0.0,
            next_recall: 0,
            top: None,
            break_even: None,
        }
    }

    fn go_down(&mut self, ranks: &[Rank], weights: &[u16]) {
        let mut tie = [0; 3];
        for rank in ranks {
            tie[rank.half_points()] += u64::from(weights[rank.game()]);
            if rank.ends_tie() {
                if tie != [0; 3] {
                    self.pass(tie);
                }
                tie = [0; 3];
            }
        }
    }

    /// Counts positions of one value.
    fn pass(&mut self, [lost, drawn, won]: [u64; 3]) {
        let count = lost + drawn + won;
        let (wins, losses) = (2 * won + drawn, 2 * lost + drawn); // twice as many
        let [lost_above, drawn_above, won_above] = self.above;
        let (count_above, wins_above) = (lost_above + drawn_above + won_above, 2 * won_above + drawn_above);
        self.roc += losses * (2 * wins_above + wins);
        self.discordant += won * (lost_above + drawn_above) + drawn * lost_above;
        self.tied += lost * drawn + lost * won + drawn * won;
        self.same_value += count * (count - 1) / 2;
        self.above = [lost_above + lost, drawn_above + drawn, won_above + won];
        let (count_now, wins_now) = (count_above + count, wins_above + wins);
        let precision = wins_now as f64 / (2 * count_now) as f64;
        self.average_precision += wins as f64 / 2.0 * precision;
        let all_wins = 2 * self.all[2] + self.all[1];
        while self.next_recall <= 10 && 10 * wins_now >= self.next_recall * all_wins {
            self.precisions += precision;
            self.next_recall += 1;
        }
        // Inside a tie every order is equally likely: wins come evenly.
        let wins_until =
            |place: f64| (wins_above as f64 + wins as f64 * (place - count_above as f64) / count as f64) / 2.0;
        let quarter = self.all.iter().sum::<u64>() as f64 / 4.0;
        if self.top.is_none() && count_now as f64 >= quarter {
            self.top = Some(wins_until(quarter) / quarter);
        }
        let as_many = all_wins as f64 / 2.0;
        if self.break_even.is_none() && count_now as f64 >= as_many {
            self.break_even = Some(wins_until(as_many) / as_many);
        }
    }

    fn count(&self) -> f64 {
        self.above.iter().sum::<u64>() as f64
    }

    fn wins(&self) -> f64 {
        self.above[2] as f64 + self.above[1] as f64 / 2.0
    }

    fn all_wins(&self) -> f64 {
        self.all[2] as f64 + self.all[1] as f64 / 2.0
    }

    fn roc(&self) -> f64 {
        let [lost, drawn, won] = self.all.map(|count| count as f64);
        self.roc as f64 / (2.0 * (2.0 * won + drawn) * (2.0 * lost + drawn))
    }

    fn pairs(&self) -> f64 {
        let count = self.all.iter().sum::<u64>() as f64;
        count * (count - 1.0) / 2.0
    }

    /// Pairs with different results.
    fn different(&self) -> f64 {
        let [lost, drawn, won] = self.all.map(|count| count as f64);
        lost * drawn + lost * won + drawn * won
    }

    /// Every pair that is not discordant is concordant.
    fn tau_printed(&self) -> f64 {
        1.0 - 2.0 * self.discordant as f64 / self.pairs()
    }

    fn tau_table(&self) -> f64 {
        1.0 - 2.0 * self.discordant as f64 / self.different()
    }

    fn tau_b(&self) -> f64 {
        let concordant = self.different() - self.tied as f64 - self.discordant as f64;
        let untied = (self.pairs() - self.same_value as f64) * self.different();
        (concordant - self.discordant as f64) / untied.sqrt()
    }
}
