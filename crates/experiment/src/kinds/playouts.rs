//! `kind = "playouts"`: random games from some positions; a row for each position, policy, limit and reading.

use std::ops::Range;
use std::time::Instant;

use anqi_engine::{Choice, Limits, PlayerSpec, Resources, SpecError, Stop};
use anqi_lab::SeedText;
use anqi_playout::{Path, PlayoutOptions, PlayoutStart, PlayoutSummary, Policy, Reading, playouts};
use anqi_rules::{Game, Position, Rules, Seed, excerpt};
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::facts::{Facts, Quantity, share};
use crate::kind::{ExperimentKind, Told, Work};
use crate::number::{Number, Z, show};
use crate::section::{Section, SectionTable};
use crate::sheet::read_keys;
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// Every position by every policy, limit and reading.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayoutPlan {
    file: PlayoutPlanFile,
    rules: Rules,
    seed: Seed,
    positions: Vec<(String, Position)>,
    policies: Vec<Policy>,
    readings: Vec<Reading>,
}

/// A plan of playouts as it is written down.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlayoutPlanFile {
    /// By which rules; Chen's by default.
    #[serde(default = "usual_rules")]
    pub rules: String,
    /// Where all random choices come from; 1 by default.
    #[serde(default = "usual_seed")]
    pub seed: SeedText,
    /// How moves are drawn.
    pub policies: Vec<String>,
    /// Quiet plies after which a playout is drawn.
    pub limits: Vec<u32>,
    /// How the rules are read: `rules`, `paper`; both by default.
    #[serde(default = "usual_readings")]
    pub readings: Vec<String>,
    /// How many playouts for each of them.
    pub playouts: u64,
    /// Playouts that are shared among the legal moves to find the best one; none by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub best_of: Option<u64>,
    /// How many playouts the published numbers are from, and the number that times are given for; 2,000 by default.
    #[serde(default = "usual_published")]
    pub published_playouts: u64,
    /// From where.
    pub positions: Vec<PositionFile>,
}

/// A position with a name.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PositionFile {
    /// What tables call it.
    pub name: String,
    /// `start`, or `BOARD SIDE POOL`.
    pub position: String,
}

fn usual_rules() -> String {
    "chen".to_owned()
}

const fn usual_seed() -> SeedText {
    SeedText::Number(1)
}

fn usual_readings() -> Vec<String> {
    Reading::ALL.iter().map(ToString::to_string).collect()
}

const fn usual_published() -> u64 {
    2000
}

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
    /// A plan, if everything in it is sound.
    ///
    /// # Errors
    /// If something is not.
    pub fn new(file: PlayoutPlanFile) -> Result<PlayoutPlan, SheetError> {
        let rules: Rules = file.rules.parse().map_err(|error| SheetError::value("rules", error))?;
        let seed = file.seed.seed().map_err(|error| SheetError::value("seed", error))?;
        let position = |entry: &PositionFile| {
            let parsed = match entry.position.as_str() {
                "start" => Ok(Position::initial(&rules)),
                text => Position::parse(text, rules.ladder()),
            };
            let named = |error| SheetError::value(format!("position {:?}", excerpt(&entry.name)), error);
            parsed.map(|position| (entry.name.clone(), position)).map_err(named)
        };
        let positions = file.positions.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        let policies = file.policies.iter().map(|text| text.parse()).collect::<Result<Vec<Policy>, _>>();
        let policies = policies.map_err(|error| SheetError::value("policies", error))?;
        let readings = file.readings.iter().map(|text| text.parse()).collect::<Result<Vec<Reading>, _>>();
        let readings = readings.map_err(|error| SheetError::value("readings", error))?;
        let lists = [
            ("positions", file.positions.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>()),
            ("policies", file.policies.clone()),
            ("readings", file.readings.clone()),
            ("limits", file.limits.iter().map(ToString::to_string).collect()),
        ];
        for (key, names) in lists {
            SheetError::check_list(key, &names)?;
        }
        let counts = [
            ("playouts", file.playouts, 2),
            ("published_playouts", file.published_playouts, 2),
            ("best_of", file.best_of.unwrap_or(1), 1),
            ("limits", file.limits.iter().copied().min().unwrap_or(0).into(), 1),
        ];
        for (key, found, least) in counts {
            if !(least..=1_000_000_000).contains(&found) {
                return Err(SheetError::Range { key, found, expected: "2 (limits: 1) to 1000000000" });
            }
        }
        Ok(PlayoutPlan { rules, seed, positions, policies, readings, file })
    }

    /// Where all random choices come from.
    #[must_use]
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// The positions with their names.
    #[must_use]
    pub fn positions(&self) -> &[(String, Position)] {
        &self.positions
    }

    /// As it is written down.
    #[must_use]
    pub const fn file(&self) -> &PlayoutPlanFile {
        &self.file
    }
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    Ok(Box::new(PlayoutPlan::new(read_keys(table)?)?))
}

impl ExperimentKind for PlayoutPlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&self.file)
    }

    fn size(&self) -> String {
        format!("{} cells of {} playouts", self.cells().len(), self.file.playouts)
    }

    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let best_of = self.file.best_of.map(|_| count);
        Ok(Box::new(PlayoutPlan::new(PlayoutPlanFile { playouts: count, best_of, ..self.file.clone() })?))
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.playout_rows().is_ok_and(|rows| rows.len() == self.cells().len())
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let (mut rows, cells) = (run.playout_rows()?, self.cells());
        let found = cells.iter().filter(|cell| rows.iter().any(|row| row.is_of(cell))).count();
        for cell in &cells {
            if rows.iter().any(|row| row.is_of(cell)) {
                continue;
            }
            if work.stop.is_raised() {
                return Ok(false);
            }
            let failed = |error| ExperimentError::Work { name: cell.name.clone(), error };
            rows.push(self.row(cell, work.resources).map_err(failed)?);
            run.write_raw(&rows)?;
            let now = format!("{} {} {} {}", cell.name, cell.policy, cell.limit, cell.reading);
            work.show("rows", [rows.len(), found, cells.len()], &now);
        }
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let (printed, rows) = (experiment.published::<PrintedPlayouts>()?, run.playout_rows()?);
        let timed = self.file.published_playouts;
        Ok(Told {
            measured: (rows.len(), self.cells().len(), "rows"),
            printed: printed_facts(&printed, &rows, timed),
            facts: measured_facts(&rows, timed),
            sections: Comparison { plan: self, printed: &printed, rows: &rows }.sections(),
            ..Told::default()
        })
    }
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
    pub fn row(&self, cell: &Cell, resources: &Resources) -> Result<PlayoutRow, String> {
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
    spec.set("draws", if eval { "lead" } else { "off" })?;
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
    /// The rows that were measured so far.
    ///
    /// # Errors
    /// If there is a table that cannot be read.
    pub fn playout_rows(&self) -> Result<Vec<PlayoutRow>, ExperimentError> {
        let path = self.dir.join(RAW);
        if path.exists() { read_table(&path) } else { Ok(Vec::new()) }
    }
}

/// A printed row about playouts. Whatever the table does not print has no column.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrintedPlayouts {
    /// The name of the position.
    pub position: String,
    /// How moves were drawn.
    pub policy: String,
    /// Quiet plies after which a playout was drawn.
    pub limit: u32,
    /// How long all playouts took.
    pub seconds: Option<f64>,
    /// The share of draws.
    pub draw_rate: Option<f64>,
    /// Mean of the pieces on the board at the end.
    pub left: Option<f64>,
    /// Their standard deviation.
    pub left_sd: Option<f64>,
    /// Mean of the plies played.
    pub plies: Option<f64>,
    /// Their standard deviation.
    pub plies_sd: Option<f64>,
    /// The best move if a draw is a draw.
    pub best_plain: Option<String>,
    /// Its wins in percent, as all that follow.
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

impl PrintedPlayouts {
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

/// Playouts are called `POSITION POLICY LIMIT READING`.
fn measured_facts(rows: &[PlayoutRow], timed: u64) -> Facts {
    let mut facts = Facts::default();
    for row in rows {
        let name = format!("{} {} {} {}", row.position, row.policy, row.limit, row.reading);
        facts.add(Quantity::Left, name.clone(), left(row));
        facts.add(Quantity::Plies, name.clone(), plies(row));
        facts.add(Quantity::Draws, name.clone(), draw_rate(row));
        if let Some(error) = row.seconds_error {
            let scale = timed as f64 / row.playouts as f64;
            facts.add(Quantity::Seconds, name, Number::new(row.seconds * scale, error * scale));
        }
    }
    facts
}

/// Printed playouts go by the names of all readings. Their spread is not printed for all, so their errors are those of
/// measured ones over as many playouts.
fn printed_facts(rows: &[PrintedPlayouts], measured: &[PlayoutRow], count: u64) -> Facts {
    let mut facts = Facts::default();
    for row in measured {
        let about = |printed: &&PrintedPlayouts| {
            printed.position == row.position && printed.policy == row.policy && printed.limit == row.limit
        };
        let Some(printed) = rows.iter().find(about) else { continue };
        let name = format!("{} {} {} {}", row.position, row.policy, row.limit, row.reading);
        let scale = (row.playouts as f64 / count as f64).sqrt();
        for (measure, value, number) in [
            (Quantity::Left, printed.left, left(row)),
            (Quantity::Plies, printed.plies, plies(row)),
            (Quantity::Draws, printed.draw_rate, draw_rate(row)),
        ] {
            if let Some(value) = value {
                facts.add(measure, name.clone(), Number::new(value, number.error * scale));
            }
        }
        if let Some(seconds) = printed.seconds {
            facts.add(Quantity::Seconds, name, Number::new(seconds, 0.0));
        }
    }
    facts
}

/// Pieces left at the end of a playout.
fn left(row: &PlayoutRow) -> Number {
    Number { value: row.left, error: row.left_sd / (row.playouts as f64).sqrt(), sd: Some(row.left_sd) }
}

/// Plies of a playout.
fn plies(row: &PlayoutRow) -> Number {
    Number { value: row.plies, error: row.plies_sd / (row.playouts as f64).sqrt(), sd: Some(row.plies_sd) }
}

/// The share of drawn playouts.
fn draw_rate(row: &PlayoutRow) -> Number {
    share(row.draws, row.playouts).unwrap_or(Number::new(f64::NAN, f64::NAN))
}

/// Printed and measured playouts side by side.
struct Comparison<'a> {
    plan: &'a PlayoutPlan,
    printed: &'a [PrintedPlayouts],
    rows: &'a [PlayoutRow],
}

impl Comparison<'_> {
    fn sections(&self) -> Vec<Section> {
        let file = self.plan.file();
        let said = format!(
            "Printed numbers are from {} playouts, measured ones from {}, seed {}. Intervals are 95 %; a printed number \
             *agrees* if the difference is within the interval of a difference.",
            file.published_playouts,
            file.playouts,
            self.plan.seed(),
        );
        let tables = [
            self.numbers("Pieces left (standard deviation)", 2, |printed| printed.left, left),
            self.numbers("Plies (standard deviation)", 2, |printed| printed.plies, plies),
            self.numbers("Share of draws", 3, |printed| printed.draw_rate, draw_rate),
            self.best_moves("Best move and its wins/losses/draws in percent", false),
            self.best_moves("The same, draws decided by material", true),
            self.times(),
        ];
        [Section::words(said)].into_iter().chain(tables.into_iter().flatten()).collect()
    }

    /// The names of columns, with some of each reading.
    fn columns(&self, of_reading: impl Fn(&str) -> Vec<String>) -> Vec<String> {
        let first = ["position", "policy", "limit", "printed"].map(str::to_owned);
        first.into_iter().chain(self.plan.file().readings.iter().flat_map(|reading| of_reading(reading))).collect()
    }

    /// Every position, policy and limit in the order of the plan, with what was printed about it.
    fn lines(&self) -> impl Iterator<Item = (Vec<String>, Option<&PrintedPlayouts>, Vec<Option<&PlayoutRow>>)> {
        let readings = self.plan.file().readings.len();
        let cells = self.plan.cells();
        let groups: Vec<_> = cells.chunks(readings).map(<[_]>::to_vec).collect();
        groups.into_iter().map(|group| {
            let (name, policy, limit) = (&group[0].name, group[0].policy.to_string(), group[0].limit);
            let about = |row: &&PrintedPlayouts| row.position == *name && row.policy == policy && row.limit == limit;
            let printed = self.printed.iter().find(about);
            let rows = group.iter().map(|cell| self.rows.iter().find(|row| row.is_of(cell))).collect();
            (vec![name.clone(), policy, limit.to_string()], printed, rows)
        })
    }

    fn numbers(
        &self,
        title: &str,
        places: usize,
        printed: impl Fn(&PrintedPlayouts) -> Option<f64>,
        measured: impl Fn(&PlayoutRow) -> Number,
    ) -> Option<Section> {
        if !self.printed.iter().any(|row| printed(row).is_some()) {
            return None;
        }
        let count = (self.plan.file().published_playouts as f64).sqrt();
        let mut tally = vec![(0, 0); self.plan.file().readings.len()];
        let mut rows = Vec::new();
        for (mut line, row, cells) in self.lines() {
            let value = row.and_then(&printed);
            line.push(value.map_or("–".to_owned(), |value| format!("{value:.2}")));
            for (cell, (agree, compared)) in cells.into_iter().zip(&mut tally) {
                let number = cell.map(&measured);
                let difference = value.zip(number).map(|(value, number)| {
                    // What is printed has the spread of ours, over as many playouts, and was rounded to two places.
                    let spread = number.error * (cell.map_or(1, |cell| cell.playouts) as f64).sqrt();
                    let there = Number { value, error: (spread / count).hypot(0.005 / Z), sd: None };
                    *compared += 1;
                    *agree += u32::from(number.agrees(there));
                    number.difference(there, places)
                });
                line.extend([show(number, places), difference.unwrap_or("–".to_owned())]);
            }
            rows.push(line);
        }
        let told = |(reading, (agree, compared)): (&String, (u32, u32))| {
            format!("**{agree} of {compared} agree by reading `{reading}`.**")
        };
        let columns = self.columns(|reading| vec![reading.to_owned(), "difference".to_owned()]);
        Some(Section {
            title: title.to_owned(),
            before: String::new(),
            table: Some(SectionTable { columns, rows }),
            after: self.plan.file().readings.iter().zip(tally).map(told).collect::<Vec<_>>().join("\n"),
        })
    }

    fn best_moves(&self, title: &str, eval: bool) -> Option<Section> {
        if !self.printed.iter().any(|row| row.best(eval).is_some()) {
            return None;
        }
        let line = |(mut line, row, cells): (Vec<String>, Option<&PrintedPlayouts>, Vec<Option<&PlayoutRow>>)| {
            let shown = |best: Option<BestMove>| best.map_or("–".to_owned(), |best| best_move(&best));
            line.push(shown(row.and_then(|row| row.best(eval))));
            line.extend(cells.iter().map(|cell| shown(cell.and_then(|cell| cell.best(eval)))));
            line
        };
        let best_of = self.plan.file().best_of.unwrap_or_default();
        let moves = self.plan.positions().iter().map(|(name, at)| format!("{name} {}", at.moves().len()));
        let moves = moves.collect::<Vec<_>>().join(", ");
        Some(Section {
            title: title.to_owned(),
            before: String::new(),
            table: Some(SectionTable {
                columns: self.columns(|reading| vec![reading.to_owned()]),
                rows: self.lines().map(line).collect(),
            }),
            after: format!("{best_of} playouts shared equally among the legal moves ({moves})."),
        })
    }

    fn times(&self) -> Option<Section> {
        if !self.printed.iter().any(|row| row.seconds.is_some()) {
            return None;
        }
        let count = self.plan.file().published_playouts;
        let line = |(mut line, row, cells): (Vec<String>, Option<&PrintedPlayouts>, Vec<Option<&PlayoutRow>>)| {
            let there = row.and_then(|row| row.seconds);
            line.push(there.map_or("–".to_owned(), |there| format!("{there:.3}")));
            for cell in cells {
                let scale = cell.map_or(1.0, |cell| count as f64 / cell.playouts as f64);
                let here = cell.map(|cell| cell.seconds * scale);
                let margin = cell.and_then(|cell| cell.seconds_error).map(|error| Z * error * scale);
                let margin = margin.map_or(String::new(), |margin| format!(" ± {margin:.4}"));
                let faster = there.zip(here).map_or("–".to_owned(), |(there, here)| format!("{:.0}", there / here));
                line.extend([here.map_or("–".to_owned(), |here| format!("{here:.4}{margin}")), faster]);
            }
            line
        };
        let after = "On one thread of the machine that made this run; the interval is that of ten batches.";
        Some(Section {
            title: format!("Seconds for {count} playouts"),
            before: String::new(),
            table: Some(SectionTable {
                columns: self.columns(|reading| vec![reading.to_owned(), "times as fast".to_owned()]),
                rows: self.lines().map(line).collect(),
            }),
            after: after.to_owned(),
        })
    }
}

/// `c6-c7 48/2/50`.
fn best_move(best: &BestMove) -> String {
    let total = best.results.iter().sum::<u64>().max(1) as f64;
    let percent = best.results.map(|count| format!("{:.0}", 100.0 * count as f64 / total));
    format!("{} {}", best.mv, percent.join("/"))
}
