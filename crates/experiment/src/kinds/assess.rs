//! `kind = "assess"`: which search is right, by game records (Takeuchi, Kaneko & Yamaguchi); a row for each set of records,
//! treatment of draws, search and metric. Each set also has its values and a page with all curves.

use std::path::{Path, PathBuf};

use anqi_assess::{
    Cache, Condition, Draws, Method, Records, Report, Scale, SearchSpec, Selection, Series, Settings, USUAL_CONDITIONS,
    Valuer, WorkError,
};
use anqi_engine::Limits;
use anqi_games::{EngineSpec, OtherGames};
use anqi_play::{Budget, split_player};
use anqi_rules::excerpt;
use anqi_stats::Estimate;
use serde::{Deserialize, Serialize};

use super::source::{Source, is_name};
use crate::facts::{Facts, Quantity};
use crate::kind::{ExperimentKind, Told, Work};
use crate::number::{Number, Z};
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// The keys of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct AssessFile {
    version: u32,
    /// Who values positions of this game: players with their budgets, or evaluation functions.
    #[serde(default)]
    searches: Vec<String>,
    /// Who values positions of another game.
    #[serde(default)]
    engines: Vec<String>,
    /// What each engine may spend.
    #[serde(default)]
    budgets: Vec<String>,
    /// What becomes of drawn games; one assessment for each.
    #[serde(default = "usual_draws")]
    draws: Vec<String>,
    #[serde(flatten)]
    settings: SettingsKeys,
    /// Whose values are assessed.
    sets: Vec<SetKeys>,
}

/// How values are assessed; the keys are options of `anqi assess`.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct SettingsKeys {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) scale: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) delta: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) thin: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) clamp: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) by: Option<Vec<String>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) resamples: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) seed: Option<u64>,
}

/// One set of records.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SetKeys {
    name: String,
    records: Source,
    /// Positions of a game; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    per_game: Option<u32>,
    /// Only the first so many games; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    games: Option<u64>,
}

fn usual_draws() -> Vec<String> {
    vec![Draws::default().to_string()]
}

/// A sound plan.
#[derive(Debug)]
struct AssessPlan {
    file: AssessFile,
    searches: Vec<SearchSpec>,
    engines: Vec<EngineSpec>,
    draws: Vec<Draws>,
    settings: Settings,
}

/// A metric of one search.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct AssessRow {
    set: String,
    draws: String,
    method: String,
    positions: u64,
    games: u64,
    metric: String,
    value: f64,
    low: f64,
    high: f64,
}

/// An assessment as a page of its own: what it is made of.
#[derive(Clone, Debug)]
pub struct AssessmentPage {
    /// The name of the page.
    pub name: String,
    values: PathBuf,
    settings: Settings,
    facts: Vec<(String, String)>,
}

impl AssessmentPage {
    /// Everything that the values say.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn report(&self) -> Result<Report, ExperimentError> {
        let failed = |error: WorkError| ExperimentError::Work { name: self.name.clone(), error: error.to_string() };
        let (series, skipped) = Series::from_files(std::slice::from_ref(&self.values)).map_err(failed)?;
        Report::of(&series, &self.settings, self.facts.clone(), skipped).map_err(failed)
    }
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    known_keys(&table)?;
    AssessPlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

/// Keys that are read together with others are not refused by themselves.
fn known_keys(table: &toml::Table) -> Result<(), SheetError> {
    const KNOWN: [&str; 13] = [
        "version",
        "searches",
        "engines",
        "budgets",
        "draws",
        "scale",
        "delta",
        "thin",
        "clamp",
        "by",
        "resamples",
        "seed",
        "sets",
    ];
    match table.keys().find(|key| !KNOWN.contains(&key.as_str())) {
        Some(key) => {
            let expected = KNOWN.map(|key| format!("`{key}`")).join(", ");
            Err(SheetError::Syntax(format!("unknown field `{}`, expected one of {expected}", excerpt(key))))
        }
        None => Ok(()),
    }
}

impl SettingsKeys {
    /// What they mean, with the conditions that are usual for the game.
    pub(super) fn settings(&self, draws: Draws, usual: &[&str]) -> Result<Settings, SheetError> {
        let bad = |key: &'static str| move |error: &dyn std::fmt::Display| SheetError::value(key, error);
        let scale = self.scale.as_deref().map(str::parse::<Scale>).transpose().map_err(|error| bad("scale")(&error))?;
        if let Some(clamp) = self.clamp.filter(|clamp| !clamp.is_finite() || *clamp == 0.0) {
            return Err(SheetError::value("clamp", format!("{clamp}, expected a number other than 0")));
        }
        if self.resamples == Some(0) {
            return Err(SheetError::Range { key: "resamples", found: 0, expected: "at least one" });
        }
        let by: Vec<&str> = match &self.by {
            Some(by) => by.iter().map(String::as_str).collect(),
            None => usual.to_vec(),
        };
        let by = by.into_iter().map(str::parse::<Condition>).collect::<Result<_, _>>();
        let usual = Settings::default();
        Ok(Settings {
            draws,
            scale,
            delta: self.delta,
            thin: self.thin.unwrap_or(usual.thin),
            clamp: self.clamp.map(f64::abs),
            by: by.map_err(|error| bad("by")(&error))?,
            resamples: self.resamples.unwrap_or(usual.resamples),
            seed: self.seed.unwrap_or(usual.seed),
        })
    }
}

impl AssessPlan {
    fn new(file: AssessFile) -> Result<AssessPlan, SheetError> {
        check_version(file.version)?;
        SheetError::check_list("sets", &file.sets.iter().map(|set| set.name.clone()).collect::<Vec<_>>())?;
        SheetError::check_list("draws", &file.draws)?;
        for set in &file.sets {
            if !is_name(&set.name) {
                return Err(SheetError::value(
                    "sets",
                    format!("{:?} is not a name of letters, digits, - and _", excerpt(&set.name)),
                ));
            }
            set.records.check()?;
        }
        if file.searches.is_empty() == file.engines.is_empty() {
            return Err(SheetError::value("searches, engines", "expected one of them"));
        }
        let searches = file.searches.iter().map(|text| search(text)).collect::<Result<_, _>>()?;
        let engine = |text: &String| text.parse::<EngineSpec>();
        let engines = file.engines.iter().map(engine).collect::<Result<Vec<_>, _>>();
        let engines = engines.map_err(|error| SheetError::value("engines", error))?;
        let budgets = file.budgets.iter().map(|text| text.parse::<Budget>()).collect::<Result<Vec<_>, _>>();
        let budgets = budgets.map_err(|error| SheetError::value("budgets", error))?;
        let limits: Vec<Limits> = budgets.iter().map(|budget| budget.limits).collect();
        let engines =
            anqi_games::with_budgets(&engines, &limits).map_err(|error| SheetError::value("budgets", error))?;
        let draws = file.draws.iter().map(|text| text.parse()).collect::<Result<Vec<Draws>, _>>();
        let draws = draws.map_err(|error| SheetError::value("draws", error))?;
        let usual = if engines.is_empty() { &USUAL_CONDITIONS[..] } else { &anqi_games::USUAL_CONDITIONS[..] };
        let settings = file.settings.settings(Draws::default(), usual)?;
        Ok(AssessPlan { file, searches, engines, draws, settings })
    }

    /// The name of the folder of a set with one treatment of draws.
    fn folder(&self, set: &SetKeys, draws: Draws) -> String {
        if draws == self.draws[0] { set.name.clone() } else { format!("{}-{draws}", set.name) }
    }

    fn values(&self, run: &Run, set: &SetKeys) -> PathBuf {
        run.dir.join(&set.name).join("values.parquet")
    }

    /// Values the positions of a set; nothing if it was stopped.
    fn value(&self, set: &SetKeys, run: &Run, work: &mut Work<'_>) -> Result<Option<Vec<Series>>, ExperimentError> {
        let failed =
            |error: &dyn std::fmt::Display| ExperimentError::Work { name: set.name.clone(), error: error.to_string() };
        let Some(file) = set.records.obtain(&set.name, run, work)? else { return Ok(None) };
        let cache =
            Cache::open(&run.work_dir()?.join(format!("{}.cache", set.name))).map_err(|error| failed(&error))?;
        let selection =
            Selection { per_game: set.per_game, games: set.games, seed: self.settings.seed, ..Selection::default() };
        let (threads, stop, resources, host) = (work.threads, work.stop, work.resources, &mut *work.host);
        let mut watch = |name: &str, done: usize, all: usize| {
            let amount = |count: usize| anqi_task::Amount { items: count as u64, units: count as u64 };
            let status = anqi_task::Status { done: amount(done), all: amount(all), ..anqi_task::Status::default() };
            host.show("positions", &status, name);
        };
        let mut valuer = Valuer::new(cache, threads, self.settings.seed, resources, stop, &mut watch);
        let files = [file];
        let series = if self.engines.is_empty() {
            let records = Records { files: &files, selection: &selection, searches: &self.searches, provers: &[] };
            records.value(&mut valuer).map(|valued| valued.series)
        } else {
            let format = anqi_games::format_of(&files, &self.engines).map_err(|error| failed(&error))?;
            let format = format.ok_or_else(|| failed(&"records of no other game"))?;
            let games = OtherGames { format, files: &files, selection: &selection, engines: &self.engines };
            games.value(&mut valuer).map(|valued| valued.series)
        };
        match series {
            Ok(series) => Ok(Some(series)),
            Err(WorkError::Stopped) => Ok(None),
            Err(error) => Err(failed(&error)),
        }
    }

    /// Assesses values with one treatment of draws, and writes their tables down.
    fn assess(
        &self,
        run: &Run,
        set: &SetKeys,
        series: &[Series],
        draws: Draws,
    ) -> Result<Vec<AssessRow>, ExperimentError> {
        let name = self.folder(set, draws);
        let failed =
            |error: &dyn std::fmt::Display| ExperimentError::Work { name: name.clone(), error: error.to_string() };
        let settings = Settings { draws, ..self.settings.clone() };
        let report = Report::of(series, &settings, self.facts(set, draws), anqi_assess::Skipped::default());
        let report = report.map_err(|error| failed(&error))?;
        write_tables(run, &name, &report)?;
        let rows = report.assessments.iter().flat_map(|assessment| {
            assessment.metrics.iter().map(|measured| {
                let Estimate { value, low, high } = measured.value;
                AssessRow {
                    set: set.name.clone(),
                    draws: draws.to_string(),
                    method: assessment.name.clone(),
                    positions: assessment.positions,
                    games: assessment.games,
                    metric: measured.metric.name.to_owned(),
                    value,
                    low,
                    high,
                }
            })
        });
        Ok(rows.collect())
    }

    fn facts(&self, set: &SetKeys, draws: Draws) -> Vec<(String, String)> {
        [
            ("made by", format!("anqi {}", env!("CARGO_PKG_VERSION"))),
            ("records", set.name.clone()),
            ("seed", self.settings.seed.to_string()),
            ("draws", draws.to_string()),
            ("resamples", self.settings.resamples.to_string()),
        ]
        .map(|(name, value)| (name.to_owned(), value))
        .to_vec()
    }
}

/// The tables of an assessment in a folder of the run.
pub(super) fn write_tables(run: &Run, folder: &str, report: &Report) -> Result<(), ExperimentError> {
    let dir = run.dir.join(folder);
    anqi_store::create_folders(&dir).map_err(|error| crate::io_error(&dir, error))?;
    type Table = fn(&Report, &mut Vec<u8>) -> Result<(), csv::Error>;
    let tables: [(&str, Table); 4] = [
        ("metrics.csv", |report, out| report.write_metrics_csv(out)),
        ("curves.csv", |report, out| report.write_curves_csv(out)),
        ("splits.csv", |report, out| report.write_splits_csv(out)),
        ("comparisons.csv", |report, out| report.write_comparisons_csv(out)),
    ];
    for (name, write) in tables {
        let mut bytes = Vec::new();
        let path = dir.join(name);
        let failed = |error| ExperimentError::Table { path: path.display().to_string(), error };
        write(report, &mut bytes).map_err(failed)?;
        crate::write_file(&path, &bytes)?;
    }
    Ok(())
}

/// The values of a set as a file.
fn write_values(path: &Path, series: &[Series]) -> Result<(), ExperimentError> {
    let failed = |error: &dyn std::fmt::Display| ExperimentError::Work {
        name: path.display().to_string(),
        error: error.to_string(),
    };
    if let Some(dir) = path.parent() {
        anqi_store::create_folders(dir).map_err(|error| crate::io_error(dir, error))?;
    }
    let mut bytes = Vec::new();
    let together = Series::together(series).map_err(|error| failed(&error))?;
    together.write_parquet(&mut bytes).map_err(|error| failed(&error))?;
    crate::write_file(path, &bytes)
}

fn search(text: &str) -> Result<SearchSpec, SheetError> {
    let bad = |error: &dyn std::fmt::Display| SheetError::value(format!("search {:?}", excerpt(text)), error);
    let (method, budget) = split_player(text);
    let method: Method = method.parse().map_err(|error: anqi_assess::MethodError| bad(&error))?;
    let budget = (!budget.is_empty()).then(|| budget.parse::<Budget>()).transpose().map_err(|error| bad(&error))?;
    let spec = SearchSpec { method, budget };
    match SearchSpec::with_budgets(std::slice::from_ref(&spec), &[]) {
        Ok(_) => Ok(spec),
        Err(error) => Err(bad(&error)),
    }
}

impl ExperimentKind for AssessPlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(&self.file)
    }

    fn size(&self) -> String {
        let searches = self.searches.len() + self.engines.len();
        format!("{} sets of records, {searches} searches", self.file.sets.len())
    }

    /// Games of each set; pairs for each pairing where games between players are played first.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let smaller = |set: &SetKeys| {
            let is_made = matches!(set.records, Source::Games(_) | Source::SelfPlay(_));
            let games = if is_made { set.games } else { Some(count) };
            SetKeys { records: set.records.with_games(count), games, ..set.clone() }
        };
        let sets = self.file.sets.iter().map(smaller).collect();
        Ok(Box::new(AssessPlan::new(AssessFile { sets, ..self.file.clone() })?))
    }

    fn inputs(&self) -> Vec<&str> {
        self.file.sets.iter().filter_map(|set| set.records.input()).collect()
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.dir.join(RAW).is_file()
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        // A missing program is better known before the work.
        for engine in &self.engines {
            let failed = |error: &dyn std::fmt::Display| ExperimentError::Work {
                name: engine.to_string(),
                error: error.to_string(),
            };
            engine.launch().map_err(|error| failed(&error))?.quit();
        }
        let mut rows = Vec::new();
        for set in &self.file.sets {
            let Some(series) = self.value(set, run, work)? else { return Ok(false) };
            write_values(&self.values(run, set), &series)?;
            for &draws in &self.draws {
                rows.extend(self.assess(run, set, &series, draws)?);
            }
        }
        run.write_raw(&rows)?;
        Ok(true)
    }

    fn tell(&self, _: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let path = run.dir.join(RAW);
        let mut told = Told { measured: (0, 1, "tables"), ..Told::default() };
        if !path.is_file() {
            return Ok(told);
        }
        let rows: Vec<AssessRow> = read_table(&path)?;
        told.measured.0 = 1;
        add_facts(&mut told.facts, &rows);
        for set in &self.file.sets {
            for &draws in &self.draws {
                let name = self.folder(set, draws);
                let of_set = |row: &&AssessRow| row.set == set.name && row.draws == draws.to_string();
                let rows: Vec<&AssessRow> = rows.iter().filter(of_set).collect();
                told.sections.push(metrics(&name, draws, &rows));
                told.pages.push(AssessmentPage {
                    name,
                    values: self.values(run, set),
                    settings: Settings { draws, ..self.settings.clone() },
                    facts: self.facts(set, draws),
                });
            }
        }
        Ok(told)
    }
}

/// `SET METHOD`, where draws are left out.
fn add_facts(facts: &mut Facts, rows: &[AssessRow]) {
    for AssessRow { set, draws, method, metric, value, low, high, .. } in rows {
        let measure = match metric.as_str() {
            "ROC" => Quantity::Roc,
            "ACC" => Quantity::Acc,
            "Brier" => Quantity::Brier,
            _ => continue,
        };
        if *draws == Draws::Drop.to_string() {
            facts.add(measure, format!("{set} {method}"), Number::new(*value, (high - low) / (2.0 * Z)));
        }
    }
}

fn metrics(name: &str, draws: Draws, rows: &[&AssessRow]) -> Section {
    const METRICS: [&str; 8] = ["ACC", "ROC", "tau", "tau (tables)", "E(v)", "E(v)/sd", "Brier", "ECE"];
    let mut methods: Vec<&str> = Vec::new();
    for row in rows {
        if !methods.contains(&row.method.as_str()) {
            methods.push(&row.method);
        }
    }
    let line = |&method: &&str| {
        let cell = |metric: &str| {
            let found = rows.iter().find(|row| row.method == method && row.metric == metric);
            found.map_or("–".to_owned(), |row| format!("{:.3} ± {:.3}", row.value, (row.high - row.low) / 2.0))
        };
        [format!("`{method}`")].into_iter().chain(METRICS.map(cell)).collect()
    };
    let columns: Vec<&str> = ["search"].into_iter().chain(METRICS).collect();
    let counts = rows.first().map_or((0, 0), |row| (row.positions, row.games));
    let before = format!(
        "{} positions of {} games, draws: {draws}; ± is half of a 95 % interval from resampled games. Curves: \
         [{name}.html]({name}.html).",
        counts.0, counts.1
    );
    Section { before, ..Section::table(format!("Records {name}"), &columns, methods.iter().map(line).collect()) }
}
