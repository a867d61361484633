//! `Sheet`: what an experiment measures, as `plan.toml` says it.

use std::fmt;
use std::str::FromStr;

use anqi_lab::{Plan, PlanError, PlanFile, SeedText};
use anqi_playout::{Policy, Reading, UnknownName, UnknownPolicy};
use anqi_rules::{ParseError, Position, Rules, RulesError, Seed, SeedError, excerpt};
use serde::{Deserialize, Serialize};

/// What is measured. The key `kind` says which of these it is.
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
#[derive(Clone, PartialEq, Debug)]
pub enum Sheet {
    /// `kind = "playouts"`: random games from some positions.
    Playouts(PlayoutPlan),
    /// `kind = "matches"`: games between players; the other keys are those of a [`PlanFile`].
    Matches(Plan),
    /// `kind = "branching"`: the choices in games between players; the other keys are those of a [`PlanFile`].
    Branching(Plan),
}

/// Every position by every policy, limit and reading.
#[derive(Clone, PartialEq, Debug)]
pub struct PlayoutPlan {
    file: PlayoutPlanFile,
    pub(crate) rules: Rules,
    pub(crate) seed: Seed,
    pub(crate) positions: Vec<(String, Position)>,
    pub(crate) policies: Vec<Policy>,
    pub(crate) readings: Vec<Reading>,
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

/// Why a plan measures nothing.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SheetError {
    /// Not TOML, or not a plan.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// No kind, or one that is not known.
    #[error("kind: {0} is not a kind of experiment, expected \"playouts\", \"matches\" or \"branching\"")]
    Kind(String),
    /// A bad plan of games.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Bad rules.
    #[error("rules: {0}")]
    Rules(#[from] RulesError),
    /// A bad seed.
    #[error("seed: {0}")]
    Seed(#[from] SeedError),
    /// A bad policy.
    #[error("policies: {0}")]
    Policy(#[from] UnknownPolicy),
    /// A bad reading.
    #[error("readings: {0}")]
    Reading(#[from] UnknownName),
    /// A bad position.
    #[error("position {name:?}: {error}")]
    Position {
        /// Its name.
        name: String,
        /// What is wrong.
        error: ParseError,
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

impl PlayoutPlan {
    /// A plan, if everything in it is sound.
    ///
    /// # Errors
    /// If something is not.
    pub fn new(file: PlayoutPlanFile) -> Result<PlayoutPlan, SheetError> {
        let rules: Rules = file.rules.parse()?;
        let seed = file.seed.seed()?;
        let position = |entry: &PositionFile| {
            let parsed = match entry.position.as_str() {
                "start" => Ok(Position::initial(&rules)),
                text => Position::parse(text, rules.ladder()),
            };
            let named = |error| SheetError::Position { name: excerpt(&entry.name), error };
            parsed.map(|position| (entry.name.clone(), position)).map_err(named)
        };
        let positions = file.positions.iter().map(position).collect::<Result<Vec<_>, _>>()?;
        let policies = file.policies.iter().map(|text| text.parse()).collect::<Result<Vec<Policy>, _>>()?;
        let readings = file.readings.iter().map(|text| text.parse()).collect::<Result<Vec<Reading>, _>>()?;
        let lists = [
            ("positions", file.positions.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>()),
            ("policies", file.policies.clone()),
            ("readings", file.readings.clone()),
            ("limits", file.limits.iter().map(ToString::to_string).collect()),
        ];
        for (key, names) in lists {
            if names.is_empty() {
                return Err(SheetError::Range { key, found: 0, expected: "at least one" });
            }
            if let Some(place) = (1..names.len()).find(|&place| names[..place].contains(&names[place])) {
                return Err(SheetError::Twice { key, name: excerpt(&names[place]) });
            }
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

impl Sheet {
    /// The games to be played, if games are.
    #[must_use]
    pub const fn plan(&self) -> Option<&Plan> {
        match self {
            Sheet::Playouts(_) => None,
            Sheet::Matches(plan) | Sheet::Branching(plan) => Some(plan),
        }
    }

    /// The word in the plan.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Sheet::Playouts(_) => "playouts",
            Sheet::Matches(_) => "matches",
            Sheet::Branching(_) => "branching",
        }
    }

    /// How much is to be done, in words.
    #[must_use]
    pub fn size(&self) -> String {
        match self {
            Sheet::Playouts(plan) => format!("{} cells of {} playouts", plan.cells().len(), plan.file.playouts),
            Sheet::Matches(plan) | Sheet::Branching(plan) => {
                format!("{} pairings, {} games", plan.pairings().len(), 2 * plan.count())
            }
        }
    }

    /// The same with another number of playouts, or of pairs for each pairing.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn with_count(&self, count: u64) -> Result<Sheet, SheetError> {
        Ok(match self {
            Sheet::Playouts(plan) => {
                let best_of = plan.file.best_of.map(|_| count);
                Sheet::Playouts(PlayoutPlan::new(PlayoutPlanFile { playouts: count, best_of, ..plan.file.clone() })?)
            }
            Sheet::Matches(plan) => Sheet::Matches(with_pairs(plan, count)?),
            Sheet::Branching(plan) => Sheet::Branching(with_pairs(plan, count)?),
        })
    }
}

fn with_pairs(plan: &Plan, count: u64) -> Result<Plan, PlanError> {
    Plan::new(&PlanFile { pairs: Some(count), ..plan.to_file() })
}

fn syntax(error: &toml::de::Error) -> SheetError {
    SheetError::Syntax(error.to_string().trim_end().to_owned())
}

impl FromStr for Sheet {
    type Err = SheetError;

    fn from_str(text: &str) -> Result<Sheet, SheetError> {
        let mut table: toml::Table = toml::from_str(text).map_err(|error| syntax(&error))?;
        let kind = table.remove("kind");
        match kind.as_ref().and_then(toml::Value::as_str) {
            Some("playouts") => {
                let file = PlayoutPlanFile::deserialize(table).map_err(|error| syntax(&error))?;
                PlayoutPlan::new(file).map(Sheet::Playouts)
            }
            Some(kind @ ("matches" | "branching")) => {
                let file = PlanFile::deserialize(table).map_err(|error| syntax(&error))?;
                let plan = Plan::new(&file)?;
                Ok(if kind == "matches" { Sheet::Matches(plan) } else { Sheet::Branching(plan) })
            }
            _ => Err(SheetError::Kind(kind.map_or("nothing".to_owned(), |kind| excerpt(&kind.to_string())))),
        }
    }
}

/// TOML.
impl fmt::Display for Sheet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self {
            Sheet::Playouts(plan) => toml::to_string(&plan.file),
            Sheet::Matches(plan) | Sheet::Branching(plan) => toml::to_string(&plan.to_file()),
        };
        write!(f, "kind = \"{}\"\n{}", self.kind(), text.map_err(|_| fmt::Error)?)
    }
}
