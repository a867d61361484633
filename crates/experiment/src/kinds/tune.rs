//! `kind = "tune"`: weights of an evaluation fitted to game records, and played against those that they began with; a row for
//! each match.

use anqi_assess::{Draws, Loss, Selection, Tuned, Tuning, USUAL_CONDITIONS};
use anqi_engine::Evaluation;
use anqi_lab::{Plan, PlanFile, SeedText, read_weights_file};
use anqi_rules::excerpt;
use serde::{Deserialize, Serialize};

use super::assess::{SettingsKeys, write_tables};
use super::games;
use super::matches::{MatchRow, PrintedMatch, measured_facts, printed_facts, results};
use super::source::Source;
use crate::kind::{ExperimentKind, Told, Work};
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table, write_file};

/// The keys of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct TuneFile {
    version: u32,
    records: Source,
    /// Whose weights.
    eval: String,
    /// A file beside the plan with the weights to begin with; the evaluation's own by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    start: Option<String>,
    /// Which weights are fitted; all by default.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    free: Vec<String>,
    /// What is made small.
    #[serde(default = "usual_fits")]
    fits: Vec<String>,
    /// What becomes of drawn games.
    #[serde(default = "usual_draws")]
    draws: String,
    /// Positions of a game; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per_game: Option<u32>,
    /// The share of the games that is not learnt from.
    #[serde(default = "usual_held_out")]
    held_out: f64,
    /// How often games are resampled for the intervals of weights.
    #[serde(default = "usual_refits")]
    refits: u32,
    #[serde(default)]
    thin: Option<u64>,
    #[serde(default)]
    seed: Option<u64>,
    /// Who plays with the new weights against itself with the old ones.
    check: String,
    /// How many pairs for each two of them.
    pairs: u64,
}

fn usual_fits() -> Vec<String> {
    vec!["mlm".to_owned(), "ls".to_owned()]
}

fn usual_draws() -> String {
    Draws::default().to_string()
}

const fn usual_held_out() -> f64 {
    0.2
}

const fn usual_refits() -> u32 {
    200
}

/// A sound plan.
#[derive(Debug)]
struct TunePlan {
    file: TuneFile,
    eval: Evaluation,
    losses: Vec<Loss>,
    tuning: Tuning,
}

/// A weight that was fitted.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct WeightRow {
    fit: String,
    weight: String,
    start: i32,
    fitted: f64,
    low: f64,
    high: f64,
    log_loss_before: f64,
    log_loss_after: f64,
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    TunePlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

impl TunePlan {
    fn new(file: TuneFile) -> Result<TunePlan, SheetError> {
        check_version(file.version)?;
        file.records.check()?;
        let eval = Evaluation::from_name(&file.eval).filter(|eval| !eval.weight_names().is_empty());
        let eval = eval.ok_or_else(|| {
            let error =
                format!("{:?} has no weights to fit, expected static, dynamic, course or hand", excerpt(&file.eval));
            SheetError::value("eval", error)
        })?;
        SheetError::check_list("fits", &file.fits)?;
        let losses = file.fits.iter().map(|text| text.parse()).collect::<Result<Vec<Loss>, _>>();
        let losses = losses.map_err(|error| SheetError::value("fits", error))?;
        let free = Tuning::free(eval, &file.free).map_err(|error| SheetError::value("free", error))?;
        let draws = file.draws.parse::<Draws>().map_err(|error| SheetError::value("draws", error))?;
        if !(0.0..1.0).contains(&file.held_out) {
            return Err(SheetError::value(
                "held_out",
                format!("{}, expected a share from 0 to less than 1", file.held_out),
            ));
        }
        let keys = SettingsKeys { thin: file.thin, seed: file.seed, ..SettingsKeys::default() };
        let tuning = Tuning {
            eval,
            start: eval.weights(),
            free,
            losses: losses.clone(),
            quiet: false,
            held_out: file.held_out,
            refits: file.refits,
            settings: keys.settings(draws, &USUAL_CONDITIONS)?,
        };
        let (spec, _) = anqi_play::split_player(&file.check);
        spec.parse::<anqi_engine::PlayerSpec>().map_err(|error| SheetError::value("check", error))?;
        if file.pairs == 0 {
            return Err(SheetError::Range { key: "pairs", found: 0, expected: "at least one" });
        }
        Ok(TunePlan { file, eval, losses, tuning })
    }

    /// The games between the fitted weights and those that they began with.
    fn matches(&self, tuned: &Tuned) -> Result<Plan, SheetError> {
        Ok(Plan::new(&PlanFile {
            version: PlanFile::TODAY,
            event: Some(format!("tuned weights of {}", tuned.eval)),
            players: tuned.players(&self.file.check),
            pairs: Some(self.file.pairs),
            seed: Some(SeedText::Number(self.tuning.settings.seed)),
            ..PlanFile::default()
        })?)
    }
}

impl ExperimentKind for TunePlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&self.file)
    }

    fn size(&self) -> String {
        format!("{} fits, {} pairs for each two", self.losses.len(), self.file.pairs)
    }

    /// Pairs, of the games to learn from and of those that check.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let records = self.file.records.with_games(count);
        Ok(Box::new(TunePlan::new(TuneFile { records, pairs: count, ..self.file.clone() })?))
    }

    fn inputs(&self) -> Vec<&str> {
        self.file.records.input().into_iter().collect()
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.dir.join(RAW).is_file()
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let failed = |error: &dyn std::fmt::Display| ExperimentError::Work {
            name: self.file.eval.clone(),
            error: error.to_string(),
        };
        let Some(file) = self.file.records.obtain("records", run, work)? else { return Ok(false) };
        let mut tuning = self.tuning.clone();
        if let Some(name) = &self.file.start {
            let (eval, weights) = read_weights_file(&run.beside_plan(name)).map_err(|error| failed(&error))?;
            if eval != self.eval {
                return Err(failed(&format!("{name} holds weights of evaluation {}", eval.name())));
            }
            tuning.start = weights;
        }
        let seed = tuning.settings.seed;
        let selection = Selection { per_game: self.file.per_game, seed, ..Selection::default() };
        let collected = selection.collect(&[file], false, false).map_err(|error| failed(&error))?;
        let facts = [("made by".to_owned(), format!("anqi {}", env!("CARGO_PKG_VERSION")))];
        let (tuned, report, _) = tuning.run(collected, None, &facts).map_err(|error| failed(&error))?;
        write_tables(run, "curves", &report)?;
        let mut weights = Vec::new();
        for fitted in &tuned.fits {
            run.write(&format!("{}.weights", fitted.fit.loss), tuned.weights_file(self.eval, fitted).as_bytes())?;
            for (place, name) in tuned.names.iter().enumerate().filter(|(place, _)| tuning.free[*place]) {
                let weight = &fitted.fit.weights[place];
                weights.push(WeightRow {
                    fit: fitted.fit.loss.to_string(),
                    weight: (*name).to_owned(),
                    start: tuned.start[place],
                    fitted: weight.value,
                    low: weight.low,
                    high: weight.high,
                    log_loss_before: fitted.before.log_loss,
                    log_loss_after: fitted.after.log_loss,
                });
            }
        }
        let plan = self.matches(&tuned).map_err(|error| failed(&error))?;
        let Some(journal) = games::play(&plan, &run.work_dir()?.join("check"), work)? else { return Ok(false) };
        games::write_records(&journal, &run.dir.join("check.anqi.zst"))?;
        let path = run.dir.join("weights.csv");
        let mut writer = csv::Writer::from_writer(Vec::new());
        let bad = |error| ExperimentError::Table { path: path.display().to_string(), error };
        weights.iter().try_for_each(|row| writer.serialize(row)).map_err(bad)?;
        let bytes = writer.into_inner().map_err(|error| crate::io_error(&path, error.into_error()))?;
        write_file(&path, &bytes)?;
        run.write_raw(&MatchRow::all(&journal)?)?;
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        const COLUMNS: [&str; 6] = ["fit", "weight", "start", "fitted", "95 % by games", "log loss on games held out"];
        let mut told = Told { measured: (0, 1, "tables"), ..Told::default() };
        if !self.is_finished(run) {
            return Ok(told);
        }
        told.measured.0 = 1;
        let printed = experiment.published::<PrintedMatch>()?;
        let rows = run.match_rows()?;
        told.printed = printed_facts(&printed);
        told.facts = measured_facts(&rows);
        let weights: Vec<WeightRow> = read_table(&run.dir.join("weights.csv"))?;
        let line = |row: &WeightRow| {
            vec![
                row.fit.clone(),
                row.weight.clone(),
                row.start.to_string(),
                format!("{:.1}", row.fitted),
                format!("{:.1} to {:.1}", row.low, row.high),
                format!("{:.4} → {:.4}", row.log_loss_before, row.log_loss_after),
            ]
        };
        told.sections.push(Section::table("Weights", &COLUMNS, weights.iter().map(line).collect()));
        let said = format!("`{}`; a draw is half a point; intervals are 95 %.", self.file.check);
        told.sections.push(Section { before: said, ..results(&rows, &printed) });
        Ok(told)
    }
}
