//! `Sheet`: what an experiment measures, as `plan.toml` says it.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use anqi_lab::{Plan, PlanError};
use anqi_rules::excerpt;
use serde::de::DeserializeOwned;

use crate::kind::{ExperimentKind, Inputs, Work};
use crate::kinds::{self, KINDS};
use crate::{ExperimentError, MultiverseError, Run};

/// What is measured. The key `kind` says which module under `kinds` reads the other keys.
///
/// ```
/// use anqi_experiment::Sheet;
///
/// let sheet: Sheet = r#"
///     kind = "playouts"
///     policies = ["random", "capture"]
///     limits = [40, 640]
///     playouts = 2000
///     [[positions]]
///     name = "beginning"
///     position = "start"
/// "#.parse()?;
/// assert_eq!(sheet.to_string().parse::<Sheet>()?, sheet);
///
/// let error = "kind = 'matches'\ngames = 3\nplayers = []".parse::<Sheet>().unwrap_err().to_string();
/// assert!(error.contains("unknown field `games`, expected one of `version`, `event`, `rules`"), "{error}");
/// # Ok::<(), anqi_experiment::SheetError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Sheet {
    kind: &'static str,
    plan: Arc<dyn ExperimentKind>,
}

/// Why a plan measures nothing.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SheetError {
    /// Not TOML, or not a plan.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// No kind, or one that is not known.
    #[error("kind: {found} is not a kind of experiment, expected {expected}")]
    Kind {
        /// What it says.
        found: String,
        /// All kinds.
        expected: String,
    },
    /// A bad plan of games.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// A bad multiverse.
    #[error(transparent)]
    Multiverse(Box<MultiverseError>),
    /// A key with a value that cannot be read.
    #[error("{key}: {error}")]
    Value {
        /// Which key.
        key: String,
        /// What is wrong with it.
        error: String,
    },
    /// A list without entries, or a number out of range.
    #[error("{key}: {found}, expected {expected}")]
    Range {
        /// Which key.
        key: &'static str,
        /// What it says.
        found: u64,
        /// What it may say.
        expected: &'static str,
    },
    /// Something listed twice.
    #[error("{key}: {name:?} is listed twice")]
    Twice {
        /// Which key.
        key: &'static str,
        /// What.
        name: String,
    },
}

impl From<MultiverseError> for SheetError {
    fn from(error: MultiverseError) -> SheetError {
        SheetError::Multiverse(Box::new(error))
    }
}

impl SheetError {
    /// What is wrong with the value of a key.
    pub(crate) fn value(key: impl Into<String>, error: impl fmt::Display) -> SheetError {
        SheetError::Value { key: key.into(), error: error.to_string() }
    }

    /// A list must have something, and nothing twice.
    pub(crate) fn check_list(key: &'static str, names: &[String]) -> Result<(), SheetError> {
        if names.is_empty() {
            return Err(SheetError::Range { key, found: 0, expected: "at least one" });
        }
        match (1..names.len()).find(|&place| names[..place].contains(&names[place])) {
            Some(place) => Err(SheetError::Twice { key, name: excerpt(&names[place]) }),
            None => Ok(()),
        }
    }
}

/// Reads the keys of a plan. Those that are not known are errors that list the known ones.
pub(crate) fn read_keys<T: DeserializeOwned>(table: toml::Table) -> Result<T, SheetError> {
    T::deserialize(table).map_err(|error| syntax(&error))
}

/// Kinds that came with version 2 of plans have no other.
pub(crate) fn check_version(version: u32) -> Result<(), SheetError> {
    match version {
        2 => Ok(()),
        found => Err(SheetError::Range { key: "version", found: found.into(), expected: "2" }),
    }
}

fn syntax(error: &toml::de::Error) -> SheetError {
    SheetError::Syntax(error.to_string().trim_end().to_owned())
}

impl Sheet {
    /// The word in the plan.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        self.kind
    }

    pub(crate) fn plan(&self) -> &dyn ExperimentKind {
        &*self.plan
    }

    /// How much is to be done, in words.
    #[must_use]
    pub fn size(&self) -> String {
        self.plan.size()
    }

    /// The games to be played, if they are those of one plan whose journal lies in the folder of a run itself.
    #[must_use]
    pub fn games(&self) -> Option<&Plan> {
        self.plan.games()
    }

    /// The same with another number of what the kind counts: playouts, pairs of games, positions.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn with_count(&self, count: u64) -> Result<Sheet, SheetError> {
        Ok(Sheet { kind: self.kind, plan: self.plan.with_count(count)?.into() })
    }

    /// Whether every file that it needs from outside was given.
    ///
    /// # Errors
    /// If one was not.
    pub fn check_inputs(&self, inputs: &Inputs) -> Result<(), ExperimentError> {
        self.plan.inputs().into_iter().try_for_each(|name| inputs.file(name).map(|_| ()))
    }

    /// Whether a run has everything that is asked for.
    #[must_use]
    pub fn is_finished(&self, run: &Run) -> bool {
        self.plan.is_finished(run)
    }

    /// Measures what is missing in a run and keeps it as it comes; false if it was stopped.
    ///
    /// # Errors
    /// If something that it needs is missing, or the run cannot be read or written.
    pub fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        Ok(self.is_finished(run) || self.plan.measure(run, work)?)
    }
}

/// Plans are equal if they say the same.
impl PartialEq for Sheet {
    fn eq(&self, other: &Sheet) -> bool {
        self.to_string() == other.to_string()
    }
}

impl FromStr for Sheet {
    type Err = SheetError;

    fn from_str(text: &str) -> Result<Sheet, SheetError> {
        let mut table: toml::Table = toml::from_str(text).map_err(|error| syntax(&error))?;
        let kind = table.remove("kind");
        let word = kind.as_ref().and_then(toml::Value::as_str);
        let Some((kind, read)) = word.and_then(|word| KINDS.iter().find(|(kind, _)| *kind == word)) else {
            let found = kind.map_or("nothing".to_owned(), |kind| excerpt(&kind.to_string()));
            return Err(SheetError::Kind { found, expected: kinds::names() });
        };
        Ok(Sheet { kind, plan: read(table)?.into() })
    }
}

/// TOML.
impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "kind = \"{}\"\n{}", self.kind, self.plan.text().map_err(|_| fmt::Error)?)
    }
}
