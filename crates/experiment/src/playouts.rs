//! Experiments of playouts: one row for each position, policy, limit and reading.

use std::ops::Range;
use std::time::Instant;

use anqi_engine::{Choice, Limits, PlayerSpec, Resources, SpecError, Stop};
use anqi_playout::{Path, PlayoutOptions, PlayoutStart, PlayoutSummary, Policy, Reading, playouts};
use anqi_rules::{Game, Position};
use anqi_task::Status;
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::{ExperimentError, PlayoutPlan, RAW, Run, read_table};

/// What one row of the table is about.
#[derive(Clone, PartialEq, Debug)]
pub struct Cell {
    /// The name of the position.
    pub name: String,
    /// The position.
    pub position: Position,
    /// How moves are drawn.
    pub policy: Policy,
    /// Quiet plies after which a playout is drawn.
    pub limit: u32,
    /// How the rules are read.
    pub reading: Reading,
}

/// What was measured: a row of `raw.csv`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayoutRow {
    /// The name of the position.
    pub position: String,
    /// How moves were drawn.
    pub policy: String,
    /// Quiet plies after which a playout was drawn.
    pub limit: u32,
    /// How the rules were read.
    pub reading: String,
    /// How many playouts.
    pub playouts: u64,
    /// How long all of them took.
    pub seconds: f64,
    /// The standard error of that, from batches.
    pub seconds_error: Option<f64>,
    /// Won by the player to move.
    pub wins: u64,
    /// Drawn.
    pub draws: u64,
    /// Lost.
    pub losses: u64,
    /// Mean of the pieces on the board at the end.
    pub left: f64,
    /// Their standard deviation.
    pub left_sd: f64,
    /// Mean of the plies played.
    pub plies: f64,
    /// Their standard deviation.
    pub plies_sd: f64,
    /// The best move if a draw is a draw, and how its playouts ended.
    pub best_plain: Option<String>,
    /// Its wins.
    pub win_plain: Option<u64>,
    /// Its losses.
    pub loss_plain: Option<u64>,
    /// Its draws.
    pub draw_plain: Option<u64>,
    /// The best move if material decides draws.
    pub best_eval: Option<String>,
    /// Its wins.
    pub win_eval: Option<u64>,
    /// Its losses.
    pub loss_eval: Option<u64>,
    /// Its draws.
    pub draw_eval: Option<u64>,
}

/// A best move with the wins, losses and draws of the playouts that began with it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BestMove {
    /// The move.
    pub mv: String,
    /// Wins, losses, draws.
    pub results: [u64; 3],
}

impl PlayoutPlan {
    /// All rows, in the order of the table.
    #[must_use]
    pub fn cells(&self) -> Vec<Cell> {
        let mut cells = Vec::new();
        for (name, position) in &self.positions {
            for &policy in &self.policies {
                for &limit in &self.file().limits {
                    for &reading in &self.readings {
                        cells.push(Cell { name: name.clone(), position: *position, policy, limit, reading });
                    }
                }
            }
        }
        cells
    }

    /// Measures one row. All numbers but the time follow from the plan.
    ///
    /// # Errors
    /// If the position does not fit the rules.
    pub fn measure(&self, cell: &Cell, resources: &Resources) -> Result<PlayoutRow, String> {
        let Cell { policy, limit, reading, .. } = *cell;
        let options = PlayoutOptions { policy, draw: limit, reading, ..PlayoutOptions::default() };
        let seed = self.seed.child(&cell.name).child(policy.to_string()).child(limit.to_string());
        let start = PlayoutStart::from(&cell.position);
        let number = seed.child("playouts").rng().next_u64();
        let (mut summary, mut times) = (PlayoutSummary::default(), Vec::new());
        for batch in batches(self.file().playouts) {
            let began = Instant::now();
            let size = batch.end - batch.start;
            summary += playouts(&start, &options, number, batch, Path::best());
            times.push((size, began.elapsed().as_secs_f64()));
        }

        let game = Game::from_position(self.rules, cell.position).map_err(|error| error.to_string())?;
        let best = |eval: bool| -> Result<Option<BestMove>, String> {
            let Some(playouts) = self.file().best_of else { return Ok(None) };
            let player = flat(cell, eval).map_err(|error| error.to_string())?;
            let limits = Limits { playouts: Some(playouts), ..Limits::default() };
            let mut player = player.build(seed.child("best"), resources).map_err(|error| error.to_string())?;
            let choice = player.choose(&game, &limits, &Stop::default());
            Ok(choice.as_ref().map(BestMove::of))
        };
        Ok(PlayoutRow::new(cell, &summary, &times, best(false)?.as_ref(), best(true)?.as_ref()))
    }
}

/// Playouts in ten batches, so that their times tell how sure the time is.
fn batches(playouts: u64) -> impl Iterator<Item = Range<u64>> {
    (0..10).map(move |batch| playouts * batch / 10..playouts * (batch + 1) / 10).filter(|batch| !batch.is_empty())
}

/// The standard error of the sum of all times, by the spread of the time that a playout takes.
fn error_of_sum(times: &[(u64, f64)]) -> Option<f64> {
    let each: Vec<f64> = times.iter().map(|(size, seconds)| seconds / *size as f64).collect();
    let (count, playouts) = (each.len() as f64, times.iter().map(|(size, _)| size).sum::<u64>() as f64);
    let mean = each.iter().sum::<f64>() / count;
    let variance = each.iter().map(|time| (time - mean).powi(2)).sum::<f64>() / (count - 1.0);
    (each.len() > 1).then(|| playouts * (variance / count).sqrt())
}

/// Flat Monte Carlo with the playouts of a cell.
fn flat(cell: &Cell, eval: bool) -> Result<PlayerSpec, SpecError> {
    let mut spec: PlayerSpec = "mc".parse()?;
    spec.set("policy", &cell.policy.to_string())?;
    spec.set("playout", &cell.limit.to_string())?;
    spec.set("reading", &cell.reading.to_string())?;
    spec.set("eval", if eval { "on" } else { "off" })?;
    Ok(spec)
}

impl BestMove {
    /// Of the columns of a row: the move, its wins, losses and draws.
    pub(crate) fn of_columns(mv: Option<&String>, results: [Option<u64>; 3]) -> Option<BestMove> {
        Some(BestMove { mv: mv?.clone(), results: results.map(Option::unwrap_or_default) })
    }

    fn of(choice: &Choice) -> BestMove {
        let candidate = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
        let results = candidate.and_then(|candidate| candidate.results).unwrap_or_default();
        BestMove { mv: choice.mv.to_string(), results: [results.wins, results.losses, results.draws] }
    }
}

impl PlayoutRow {
    fn new(
        cell: &Cell,
        summary: &PlayoutSummary,
        times: &[(u64, f64)],
        plain: Option<&BestMove>,
        eval: Option<&BestMove>,
    ) -> PlayoutRow {
        let count = |best: Option<&BestMove>, index: usize| best.map(|best| best.results[index]);
        // Four places are more than the numbers have, and keep the table readable.
        let round = |value: f64| (value * 1e4).round() / 1e4;
        let micro = |seconds: f64| (seconds * 1e6).round() / 1e6;
        PlayoutRow {
            position: cell.name.clone(),
            policy: cell.policy.to_string(),
            limit: cell.limit,
            reading: cell.reading.to_string(),
            playouts: summary.count(),
            seconds: micro(times.iter().map(|(_, seconds)| seconds).sum()),
            seconds_error: error_of_sum(times).map(micro),
            wins: summary.wins,
            draws: summary.draws,
            losses: summary.losses,
            left: round(summary.left.mean()),
            left_sd: round(summary.left.sd()),
            plies: round(summary.plies.mean()),
            plies_sd: round(summary.plies.sd()),
            best_plain: plain.map(|best| best.mv.clone()),
            win_plain: count(plain, 0),
            loss_plain: count(plain, 1),
            draw_plain: count(plain, 2),
            best_eval: eval.map(|best| best.mv.clone()),
            win_eval: count(eval, 0),
            loss_eval: count(eval, 1),
            draw_eval: count(eval, 2),
        }
    }

    /// Whether it is the row of this cell.
    #[must_use]
    pub fn is_of(&self, cell: &Cell) -> bool {
        self.position == cell.name
            && self.policy == cell.policy.to_string()
            && self.limit == cell.limit
            && self.reading == cell.reading.to_string()
    }

    /// The best move, with or without evaluation of draws.
    #[must_use]
    pub fn best(&self, eval: bool) -> Option<BestMove> {
        if eval {
            BestMove::of_columns(self.best_eval.as_ref(), [self.win_eval, self.loss_eval, self.draw_eval])
        } else {
            BestMove::of_columns(self.best_plain.as_ref(), [self.win_plain, self.loss_plain, self.draw_plain])
        }
    }
}

impl Run {
    /// Measures the rows that are missing and keeps each of them at once; false if it is stopped. `watch` is told how many
    /// rows there are, and the last one.
    ///
    /// # Errors
    /// If the table cannot be read or written, or a position does not fit the rules.
    pub fn measure(
        &self,
        plan: &PlayoutPlan,
        resources: &Resources,
        stop: &Stop,
        mut watch: impl FnMut(&Status, &Cell),
    ) -> Result<bool, ExperimentError> {
        let (mut rows, cells) = (self.playout_rows()?, plan.cells());
        let mut status = Status::default();
        for cell in &cells {
            status.all.add(1);
            if rows.iter().any(|row| row.is_of(cell)) {
                status.add(1, true);
            }
        }
        for cell in cells {
            if rows.iter().any(|row| row.is_of(&cell)) {
                continue;
            }
            if stop.is_raised() {
                return Ok(false);
            }
            let failed = |error| ExperimentError::Cell { name: cell.name.clone(), error };
            rows.push(plan.measure(&cell, resources).map_err(failed)?);
            self.write_playout_rows(&rows)?;
            status.add(1, false);
            watch(&status, &cell);
        }
        Ok(true)
    }
}

impl Run {
    /// The rows that were measured so far.
    ///
    /// # Errors
    /// If there is a table that cannot be read.
    pub fn playout_rows(&self) -> Result<Vec<PlayoutRow>, ExperimentError> {
        let path = self.dir.join(RAW);
        if path.exists() { read_table(&path) } else { Ok(Vec::new()) }
    }

    /// Writes the rows down.
    ///
    /// # Errors
    /// If that fails; then the table is as it was.
    pub fn write_playout_rows(&self, rows: &[PlayoutRow]) -> Result<(), ExperimentError> {
        self.write_raw(rows)
    }
}
