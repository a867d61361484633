//! Published tables, asked again: an experiment is a folder of data, and a new one needs no Rust.
//!
//! | file | what it is |
//! |---|---|
//! | `plan.toml` | what is measured: a [`Sheet`] |
//! | `published.csv` | what was printed, such as [`PrintedMatch`]; may be missing |
//! | `report.toml` | an [`Outline`]: claims to be judged, figures to be drawn; may be missing |
//! | `README.md` | the question, as its title, and the answer |
//! | `runs/DATE-COMMIT/` | one run: its plan, `raw.csv`, records, report and figures |
//!
//! The `kind` of a plan says what is measured: each is one module under `kinds`. A run is finished when it has everything
//! that the plan asks for; one that is not goes on where it was.

mod facts;
mod figure;
mod findings;
mod judge;
mod kind;
mod kinds;
mod number;
mod outline;
mod section;
mod sheet;

use std::error::Error;
use std::fs;
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use anqi_lab::{MOST_PLAN_BYTES, MatchJournalError};
use anqi_rules::excerpt;
use anqi_store::{Access, LockError, read_small, read_text, write_whole};
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use facts::{Pattern, Quantity};
pub use figure::{BoardFigure, Content, CurveFigure, CurvePoint, Dots, Figure, FigureLine, Mark};
pub use findings::Findings;
pub use judge::{Evidence, Judged, Judgement, after_holm, p_value};
pub use kind::{Alone, Host, Inputs, Slice, Work, with_own_stop};
pub use kinds::{
    AssessmentPage, AxisValue, BestMove, BranchingRow, Cell, ClaimInReading, Fit, FitColumn, Fitted, FittedReading,
    Marginal, MatchRow, MultiverseError, MultiverseFile, MultiversePlan, Order, PartFile, PlayoutPlan, PlayoutPlanFile,
    PlayoutRow, PositionFile, PrintedBranching, PrintedMatch, PrintedPlayouts, Robustness, Setting, StudiedClaim,
    TemplateError, Universe,
};
pub use number::{Number, Z, show};
pub use outline::{Axes, Claim, CurvePlan, FigurePlan, Form, GroupPlan, Outline, OutlineError, TablePlan};
pub use section::{Section, SectionTable};
pub use sheet::{Sheet, SheetError};

/// A folder with a plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Experiment {
    /// The folder.
    pub dir: PathBuf,
    /// What the folder is called.
    pub name: String,
    /// The question it asks: the title of its README.
    pub question: String,
    /// What is measured.
    pub sheet: Sheet,
}

/// One run of an experiment: a folder under `runs`.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Run {
    /// The folder.
    pub dir: PathBuf,
}

/// Why an experiment cannot be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ExperimentError {
    /// A file or folder fails.
    #[error("{path}: {error}")]
    Io {
        /// Which.
        path: String,
        /// How.
        error: io::Error,
    },
    /// A bad plan.
    #[error("{path}: {error}")]
    Sheet {
        /// Which file.
        path: String,
        /// What is wrong.
        error: Box<SheetError>,
    },
    /// A bad table.
    #[error("{path}: {error}")]
    Table {
        /// Which file.
        path: String,
        /// What is wrong.
        error: csv::Error,
    },
    /// A bad outline of the report.
    #[error("{path}: {error}")]
    Outline {
        /// Which file.
        path: String,
        /// What is wrong.
        error: OutlineError,
    },
    /// Games that cannot be read.
    #[error(transparent)]
    Journal(Box<MatchJournalError>),
    /// Games that cannot be played.
    #[error(transparent)]
    Play(Box<dyn Error + Send + Sync>),
    /// A file that the plan names and that was not given.
    #[error("input {name:?} was not given, expected --input {name}=PATH or a path in {variable}")]
    Input {
        /// What the plan calls it.
        name: String,
        /// The environment variable that may name it.
        variable: String,
    },
    /// Another process plays in the folder of a run.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// A table of another multiverse.
    #[error("{path}: {row} is not in the plan")]
    OtherRow {
        /// Which file.
        path: String,
        /// The universe and the pairing.
        row: String,
    },
    /// A choice of no universe.
    #[error("no universe matches {pattern:?}, there are: {known}")]
    NoUniverse {
        /// What was asked for.
        pattern: String,
        /// Those that are there.
        known: String,
    },
    /// A figure of a claim that none of the tables has.
    #[error("report.toml: curve of an unknown claim {claim:?}, expected one of: {known}")]
    Claim {
        /// What was asked for.
        claim: String,
        /// Those that are there.
        known: String,
    },
    /// A part of the work that fails.
    #[error("{name}: {error}")]
    Work {
        /// What it is called.
        name: String,
        /// The reason.
        error: String,
    },
    /// Another file than the one that the run began with.
    #[error(
        "input {name:?}: {path} is another file than the run was begun with; give this run another name with --run"
    )]
    OtherInput {
        /// What the plan calls it.
        name: String,
        /// The file.
        path: String,
    },
    /// No experiment of that name.
    #[error("no experiment {name:?} in {root}, there are: {known}")]
    Unknown {
        /// What was asked for.
        name: String,
        /// The folder of all experiments.
        root: String,
        /// Those that are there.
        known: String,
    },
    /// A name of a run that is no name of a folder.
    #[error("bad --run {0:?}, expected letters, digits, dots, - and _")]
    RunName(String),
    /// No run of that name.
    #[error("no such run of {experiment}, there are: {known}")]
    UnknownRun {
        /// The name of the experiment.
        experiment: String,
        /// The runs that are there.
        known: String,
    },
    /// A run that is older than plans.
    #[error("{0} has no plan.toml: it is older than plans of its kind, and kept as it is")]
    NoPlan(String),
    /// A run of another plan.
    #[error("{0} was begun with another plan; give this run another name with --run")]
    OtherPlan(String),
}

impl From<MatchJournalError> for ExperimentError {
    fn from(error: MatchJournalError) -> ExperimentError {
        ExperimentError::Journal(Box::new(error))
    }
}

impl From<Box<dyn Error + Send + Sync>> for ExperimentError {
    fn from(error: Box<dyn Error + Send + Sync>) -> ExperimentError {
        ExperimentError::Play(error)
    }
}

impl Experiment {
    /// Reads the plan in a folder.
    ///
    /// # Errors
    /// If there is none, or a bad one.
    pub fn open(dir: &Path) -> Result<Experiment, ExperimentError> {
        let path = dir.join("plan.toml");
        let text = read_text(&path, MOST_PLAN_BYTES).map_err(|error| io_error(&path, error))?;
        let sheet = text.parse().map_err(|error| sheet_error(&path, error))?;
        let readme = read_text(&dir.join("README.md"), MOST_PLAN_BYTES).unwrap_or_default();
        let question = readme.lines().next().unwrap_or_default().trim_start_matches('#').trim().to_owned();
        let name = dir.file_name().unwrap_or(dir.as_os_str()).to_string_lossy().into_owned();
        Ok(Experiment { dir: dir.to_owned(), name, question, sheet })
    }

    /// The names of all folders under `root` that have a plan, in order.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn names(root: &Path) -> Result<Vec<String>, ExperimentError> {
        let mut names: Vec<String> = folders(root)?;
        names.retain(|name| root.join(name).join("plan.toml").is_file());
        Ok(names)
    }

    /// The experiment of this name under `root`.
    ///
    /// # Errors
    /// If there is none, or a bad one.
    pub fn named(root: &Path, name: &str) -> Result<Experiment, ExperimentError> {
        let known = Experiment::names(root)?;
        if !known.iter().any(|known| known == name) {
            let (name, known) = (excerpt(name), known.join(", "));
            return Err(ExperimentError::Unknown { name, root: root.display().to_string(), known });
        }
        Experiment::open(&root.join(name))
    }

    /// All runs, in the order of their names, which begin with their dates.
    ///
    /// # Errors
    /// If the folder cannot be read.
    pub fn runs(&self) -> Result<Vec<Run>, ExperimentError> {
        let runs = self.dir.join("runs");
        let names = if runs.is_dir() { folders(&runs)? } else { Vec::new() };
        Ok(names.into_iter().map(|name| Run { dir: runs.join(name) }).collect())
    }

    /// The run called `name`, or the last one.
    ///
    /// # Errors
    /// If there is none.
    pub fn run(&self, name: Option<&str>) -> Result<Run, ExperimentError> {
        let mut runs = self.runs()?;
        let names: Vec<String> = runs.iter().map(Run::name).collect();
        let place = match name {
            Some(name) => names.iter().position(|known| known == name),
            None => runs.len().checked_sub(1),
        };
        match place {
            Some(place) => Ok(runs.swap_remove(place)),
            None => Err(ExperimentError::UnknownRun { experiment: self.name.clone(), known: names.join(", ") }),
        }
    }

    /// The last run of this very plan that is not finished, or else a new one called `name`.
    ///
    /// # Errors
    /// If there is a run of that name with another plan, or if it cannot be written.
    pub fn continue_or_begin(&self, sheet: &Sheet, name: &str) -> Result<Run, ExperimentError> {
        let open = |run: &Run| run.sheet().is_ok_and(|planned| planned == *sheet) && !sheet.is_finished(run);
        if let Some(run) = self.runs()?.into_iter().rev().find(open) {
            return Ok(run);
        }
        self.begin(sheet, name)
    }

    /// The run called `name`: a new one, or one of this very plan.
    ///
    /// # Errors
    /// If it is no name of a folder, if there is a run of that name with another plan, or if it cannot be written.
    pub fn begin(&self, sheet: &Sheet, name: &str) -> Result<Run, ExperimentError> {
        let fits = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
        if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(fits) {
            return Err(ExperimentError::RunName(excerpt(name)));
        }
        let (run, plan) = (Run { dir: self.dir.join("runs").join(name) }, sheet.to_string());
        fs::create_dir_all(&run.dir).map_err(|error| io_error(&run.dir, error))?;
        match run.plan() {
            Ok(_) if run.sheet().is_ok_and(|planned| planned == *sheet) => Ok(run),
            Ok(_) => Err(ExperimentError::OtherPlan(run.dir.display().to_string())),
            Err(_) => run.write("plan.toml", plan.as_bytes()).map(|()| run),
        }
    }

    /// What was printed, if anything was.
    fn published<T: DeserializeOwned>(&self) -> Result<Vec<T>, ExperimentError> {
        let path = self.dir.join("published.csv");
        if path.exists() { read_table(&path) } else { Ok(Vec::new()) }
    }

    /// What the report is to say, if anything beyond its tables.
    ///
    /// # Errors
    /// If there is an outline that cannot be read.
    pub fn outline(&self) -> Result<Outline, ExperimentError> {
        let path = self.dir.join("report.toml");
        if !path.exists() {
            return Ok(Outline::default());
        }
        let text = read_text(&path, MOST_PLAN_BYTES).map_err(|error| io_error(&path, error))?;
        text.parse().map_err(|error| ExperimentError::Outline { path: path.display().to_string(), error })
    }
}

impl Run {
    /// What it is called.
    #[must_use]
    pub fn name(&self) -> String {
        self.dir.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    /// Whether it has a plan; runs that are older than plans of their kind are kept as they are.
    #[must_use]
    pub fn has_plan(&self) -> bool {
        self.dir.join("plan.toml").is_file()
    }

    /// What this run measures, which need not be what the experiment asks for by now.
    ///
    /// # Errors
    /// If its plan cannot be read.
    pub fn sheet(&self) -> Result<Sheet, ExperimentError> {
        let path = self.dir.join("plan.toml");
        if !self.has_plan() {
            return Err(ExperimentError::NoPlan(self.dir.display().to_string()));
        }
        let text = self.plan()?;
        text.parse().map_err(|error| sheet_error(&path, error))
    }

    /// By which readings of the papers and rules it was made, as `readings.txt` says, where its plan does not: a line.
    ///
    /// # Errors
    /// If there is such a file that cannot be read.
    pub fn readings(&self) -> Result<Option<String>, ExperimentError> {
        let path = self.dir.join("readings.txt");
        if !path.exists() {
            return Ok(None);
        }
        let text = read_text(&path, MOST_PLAN_BYTES).map_err(|error| io_error(&path, error))?;
        Ok(Some(text.split_whitespace().collect::<Vec<_>>().join(" ")))
    }

    fn plan(&self) -> Result<String, ExperimentError> {
        let path = self.dir.join("plan.toml");
        read_text(&path, MOST_PLAN_BYTES).map_err(|error| io_error(&path, error))
    }

    /// A file by its path from the folder of the experiment.
    fn beside_plan(&self, path: &str) -> PathBuf {
        self.dir.join("../..").join(path)
    }

    /// The folder of what is needed while the run is measured and not kept: journals, caches, tables.
    fn work_dir(&self) -> Result<PathBuf, ExperimentError> {
        let dir = self.dir.join("work");
        fs::create_dir_all(&dir).map_err(|error| io_error(&dir, error))?;
        Ok(dir)
    }

    /// Writes down which file an input was, or compares it with the one that was given before.
    fn remember_input(&self, name: &str, path: &Path) -> Result<(), ExperimentError> {
        let (mut hasher, mut bytes, mut part) = (blake3::Hasher::new(), 0, vec![0; 1 << 16]);
        let mut file = fs::File::open(path).map_err(|error| io_error(path, error))?;
        loop {
            match file.read(&mut part).map_err(|error| io_error(path, error))? {
                0 => break,
                count => {
                    hasher.update(&part[..count]);
                    bytes += count;
                }
            }
        }
        let line = format!("{name} {bytes} bytes, blake3 {}", hasher.finalize().to_hex());
        let known = self.dir.join("inputs.txt");
        let text = if known.exists() {
            read_text(&known, MOST_PLAN_BYTES).map_err(|error| io_error(&known, error))?
        } else {
            String::new()
        };
        match text.lines().find(|known| known.split(' ').next() == Some(name)) {
            Some(known) if known == line => Ok(()),
            Some(_) => Err(ExperimentError::OtherInput { name: name.to_owned(), path: path.display().to_string() }),
            None => self.write("inputs.txt", format!("{text}{line}\n").as_bytes()),
        }
    }

    /// The table of what was measured as text; empty if there is none.
    fn raw_text(&self) -> Result<String, ExperimentError> {
        let path = self.dir.join(RAW);
        if !path.exists() {
            return Ok(String::new());
        }
        read_text(&path, MOST_TABLE_BYTES).map_err(|error| io_error(&path, error))
    }

    /// Writes a file of this run: there whole or not at all.
    ///
    /// # Errors
    /// If that fails; then the file is as it was.
    pub fn write(&self, name: &str, bytes: &[u8]) -> Result<(), ExperimentError> {
        write_file(&self.dir.join(name), bytes)
    }

    /// Writes the table of what was measured.
    ///
    /// # Errors
    /// If that fails; then the table is as it was.
    pub fn write_raw<T: Serialize>(&self, rows: &[T]) -> Result<(), ExperimentError> {
        let failed = |error| ExperimentError::Table { path: self.dir.join(RAW).display().to_string(), error };
        let mut writer = csv::Writer::from_writer(Vec::new());
        rows.iter().try_for_each(|row| writer.serialize(row)).map_err(failed)?;
        let bytes = writer.into_inner().map_err(|error| io_error(&self.dir.join(RAW), error.into_error()))?;
        self.write(RAW, &bytes)
    }
}

const RAW: &str = "raw.csv";
/// No table of an experiment has more.
const MOST_TABLE_BYTES: usize = 64 << 20;

fn write_file(path: &Path, bytes: &[u8]) -> Result<(), ExperimentError> {
    write_whole(path, Access::Ordinary, |out| out.write_all(bytes)).map_err(|error| io_error(path, error))
}

fn read_table<T: DeserializeOwned>(path: &Path) -> Result<Vec<T>, ExperimentError> {
    let failed = |error| ExperimentError::Table { path: path.display().to_string(), error };
    let bytes = read_small(path, MOST_TABLE_BYTES).map_err(|error| io_error(path, error))?;
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(&bytes[..]);
    reader.deserialize().collect::<Result<_, _>>().map_err(failed)
}

fn folders(dir: &Path) -> Result<Vec<String>, ExperimentError> {
    let read = || -> io::Result<Vec<String>> {
        let mut names = Vec::new();
        for entry in fs::read_dir(dir)? {
            let entry = entry?;
            if entry.path().is_dir() {
                names.push(entry.file_name().to_string_lossy().into_owned());
            }
        }
        names.sort();
        Ok(names)
    };
    read().map_err(|error| io_error(dir, error))
}

fn sheet_error(path: &Path, error: SheetError) -> ExperimentError {
    ExperimentError::Sheet { path: path.display().to_string(), error: Box::new(error) }
}

fn io_error(path: &Path, error: io::Error) -> ExperimentError {
    ExperimentError::Io { path: path.display().to_string(), error }
}
