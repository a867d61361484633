//! `MultiversePlan`: matches with axes, as `plan.toml` says them, and the universes that follow.

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

use anqi_lab::{Contender, ContenderError, Plan, PlanError, PlanFile, SeedText, TournamentFormat};
use anqi_rules::excerpt;
use serde::{Deserialize, Serialize};

use super::rows::COLUMNS;
use super::template::{SEED, Setting, Template, TemplateError};

/// A plan of matches whose rules, budget and players have places for axes: `chen,repeat={repeat}`.
///
/// Every combination of the values is a *universe*: a plan of matches as any other. A part is the same plan with other values
/// for some axes, other players out of it, or another number of pairs. An axis for which the texts of a part have no place
/// does not multiply its universes.
///
/// ```
/// use anqi_experiment::MultiversePlan;
///
/// let plan: MultiversePlan = r#"
///     version = 2
///     rules = "chen,repeat={repeat}"
///     budget = "nodes={nodes}"
///     pairs = 100
///     players = ["chen:basic name=BASIC", "chen:enhance,below={below} name=ENHANCE", "chen:var1 name=VAR1"]
///     [axes]
///     repeat = ["off", "position:3"]
///     below = ["moves", "flips"]
///     nodes = [10000]
///     [[parts]]
///     players = ["BASIC", "ENHANCE"]
///     pairs = 50
///     axes = { nodes = [1000000], repeat = ["off"] }
/// "#.parse()?;
/// let names: Vec<&str> = plan.universes().iter().map(|universe| universe.name.as_str()).collect();
/// assert_eq!(names, [
///     "below=moves,nodes=10000,repeat=off",
///     "below=moves,nodes=10000,repeat=position:3",
///     "below=flips,nodes=10000,repeat=off",
///     "below=flips,nodes=10000,repeat=position:3",
///     "below=moves,nodes=1000000,repeat=off",
///     "below=flips,nodes=1000000,repeat=off",
/// ]);
/// // BASIC against VAR1 is the same with both values of `below`: it is played once.
/// assert_eq!(plan.universes()[2].played_by, [2, 0, 2]);
/// # Ok::<(), anqi_experiment::MultiverseError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct MultiversePlan {
    file: MultiverseFile,
    axes: Vec<String>,
    universes: Vec<Universe>,
}

/// One combination of values.
#[derive(Clone, PartialEq, Debug)]
pub struct Universe {
    /// `below=moves,nodes=10000,repeat=off`, with `PART/` before it if its part has a name.
    pub name: String,
    /// The value of each axis that its texts have a place for.
    pub setting: Setting,
    /// What is played.
    pub plan: Plan,
    /// For each pairing of the plan the universe that plays it: the first one in which it is the same match.
    pub played_by: Vec<usize>,
}

/// A multiverse as it is written down, in TOML. Keys that are not of axes mean what they mean in a [`PlanFile`].
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MultiverseFile {
    /// Which version of plans this is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// What records call the event.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// By which rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Where all deals and random choices come from, in every universe.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<SeedText>,
    /// How many pairs each pairing plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Who meets whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TournamentFormat>,
    /// The budget of players without one of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// Who plays.
    pub players: Vec<String>,
    /// The values of each axis.
    pub axes: BTreeMap<String, Vec<AxisValue>>,
    /// More universes.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<PartFile>,
}

/// A part of a multiverse: what it does not say is as in the plan.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PartFile {
    /// What its universes are called besides their values.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// By which rules.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// How many pairs each pairing plays.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Who meets whom.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TournamentFormat>,
    /// The budget of players without one of their own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// The names of those of the plan's players who play.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub players: Option<Vec<String>>,
    /// The values of some axes.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub axes: BTreeMap<String, Vec<AxisValue>>,
}

/// A value of an axis.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum AxisValue {
    /// A whole number.
    Whole(i64),
    /// Another number.
    Real(f64),
    /// Text.
    Text(String),
}

/// Why a multiverse cannot be played.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum MultiverseError {
    /// Not TOML, or not a multiverse.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// A name that no axis can have.
    #[error("axis {0:?}: expected a name of letters, digits, - and _ that is not seed or a column of raw.csv")]
    Axis(String),
    /// An axis without values, or a value twice.
    #[error("axis {axis}: {problem}")]
    Values {
        /// Which axis.
        axis: String,
        /// What is wrong.
        problem: String,
    },
    /// An axis that changes nothing.
    #[error("axis {axis}: no text of {part} has a place for it: {{{axis}}}")]
    Unused {
        /// Which axis.
        axis: String,
        /// Where.
        part: String,
    },
    /// A bad text.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// A part that sets an axis or names a player that is not there.
    #[error("{part}: unknown {what} {name:?}, expected one of {known}")]
    Unknown {
        /// Which part.
        part: String,
        /// Of what.
        what: &'static str,
        /// The name.
        name: String,
        /// Those that there are.
        known: String,
    },
    /// A name that no folder and no table can hold.
    #[error("part {0:?}: expected a name of letters, digits, - and _")]
    PartName(String),
    /// A universe that is there twice.
    #[error("{0} is there twice: give one of the two parts a name")]
    Twice(String),
    /// Too many of them.
    #[error("{0} universes, expected at most {MOST_UNIVERSES}")]
    TooMany(usize),
    /// A player whose name cannot be told.
    #[error("player {number}: {error}")]
    Player {
        /// Which one, from 1.
        number: usize,
        /// What is wrong.
        error: ContenderError,
    },
    /// A bad plan.
    #[error("{universe}: {error}")]
    Plan {
        /// In which universe.
        universe: String,
        /// What is wrong.
        error: PlanError,
    },
    /// Games that another machine cannot play again.
    #[error("{0}: a budget of time: games of a multiverse must follow from its plan")]
    Time(String),
}

/// More would take longer than is ever of use.
const MOST_UNIVERSES: usize = 10_000;

impl fmt::Display for AxisValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            AxisValue::Whole(number) => write!(f, "{number}"),
            AxisValue::Real(number) => write!(f, "{number}"),
            AxisValue::Text(text) => f.write_str(text),
        }
    }
}

impl MultiversePlan {
    /// A plan, if everything in it is sound.
    ///
    /// # Errors
    /// If something is not.
    pub fn new(file: MultiverseFile) -> Result<MultiversePlan, MultiverseError> {
        for axis in file.axes.keys() {
            if !is_plain(axis) || axis == SEED || COLUMNS.contains(&axis.as_str()) {
                return Err(MultiverseError::Axis(excerpt(axis)));
            }
        }
        let axes: Vec<String> = file.axes.keys().cloned().collect();
        let mut used: Vec<String> = Vec::new();
        let mut universes: Vec<Universe> = Vec::new();
        for (number, part) in std::iter::once(&PartFile::default()).chain(&file.parts).enumerate() {
            let part = Part::new(&file, part, number)?;
            used.extend(part.used().map(str::to_owned));
            part.add_universes(&mut universes)?;
        }
        if let Some(axis) = axes.iter().find(|axis| !used.contains(axis)) {
            return Err(MultiverseError::Unused { axis: axis.clone(), part: "the plan".to_owned() });
        }
        Ok(MultiversePlan { file, axes, universes })
    }

    /// As it is written down.
    #[must_use]
    pub const fn file(&self) -> &MultiverseFile {
        &self.file
    }

    /// The names of the axes, in order.
    #[must_use]
    pub fn axes(&self) -> &[String] {
        &self.axes
    }

    /// All universes.
    #[must_use]
    pub fn universes(&self) -> &[Universe] {
        &self.universes
    }

    /// How many pairings are played, each by one universe, and how many games.
    #[must_use]
    pub fn size(&self) -> (usize, u64) {
        let own = |(place, universe): (usize, &Universe)| {
            let own = universe.played_by.iter().filter(|&&by| by == place).count();
            (own, 2 * own as u64 * universe.pairs())
        };
        let sizes = self.universes.iter().enumerate().map(own);
        sizes.fold((0, 0), |(pairings, games), (more, played)| (pairings + more, games + played))
    }

    /// The same with another number of pairs for each pairing.
    ///
    /// # Errors
    /// If it is out of range.
    pub fn with_pairs(&self, pairs: u64) -> Result<MultiversePlan, MultiverseError> {
        let part = |part: &PartFile| PartFile { pairs: None, ..part.clone() };
        let parts = self.file.parts.iter().map(part).collect();
        MultiversePlan::new(MultiverseFile { pairs: Some(pairs), parts, ..self.file.clone() })
    }
}

impl Universe {
    /// How many pairs each pairing plays.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.plan.count() / self.plan.pairings().len() as u64
    }

    /// The names of the players of a pairing.
    #[must_use]
    pub fn names(&self, pairing: usize) -> [&str; 2] {
        self.plan.pairings()[pairing].map(|player| self.plan.contenders()[player].name.as_str())
    }

    /// Everything that the games of a pairing follow from, besides the seed and the number of the pairing.
    fn pairing(&self, pairing: usize) -> String {
        let players = self.plan.pairings()[pairing];
        let player = |player: usize| format!("{} {}", self.plan.contenders()[player], self.plan.budget_of(player));
        format!("{}\n{}\n{}", self.plan.rules(), player(players[0]), player(players[1]))
    }
}

/// A part with everything that it does not say itself.
struct Part<'a> {
    what: String,
    name: Option<&'a str>,
    file: &'a MultiverseFile,
    own: &'a PartFile,
    rules: Option<Template>,
    budget: Option<Template>,
    players: Vec<Template>,
    values: BTreeMap<&'a str, Vec<String>>,
}

impl<'a> Part<'a> {
    fn new(file: &'a MultiverseFile, own: &'a PartFile, number: usize) -> Result<Part<'a>, MultiverseError> {
        let what = match (&own.name, number) {
            (Some(name), _) if !is_plain(name) => return Err(MultiverseError::PartName(excerpt(name))),
            (Some(name), _) => format!("part {name:?}"),
            (None, 0) => "the plan".to_owned(),
            (None, number) => format!("part {number}"),
        };
        let known: Vec<&str> = file.axes.keys().map(String::as_str).collect();
        if let Some(axis) = own.axes.keys().find(|axis| !file.axes.contains_key(*axis)) {
            let (name, known) = (excerpt(axis), known.join(", "));
            return Err(MultiverseError::Unknown { part: what, what: "axis", name, known });
        }
        let mut values = BTreeMap::new();
        for (axis, usual) in &file.axes {
            let texts: Vec<String> = own.axes.get(axis).unwrap_or(usual).iter().map(ToString::to_string).collect();
            let problem = match (0..texts.len()).find(|&place| texts[..place].contains(&texts[place])) {
                Some(place) => format!("{:?} is listed twice", excerpt(&texts[place])),
                None if texts.is_empty() => "no values".to_owned(),
                None => {
                    values.insert(axis.as_str(), texts);
                    continue;
                }
            };
            return Err(MultiverseError::Values { axis: axis.clone(), problem });
        }
        let template = |text: &String| Template::new(text, &known);
        let rules = own.rules.as_ref().or(file.rules.as_ref()).map(template).transpose()?;
        let budget = own.budget.as_ref().or(file.budget.as_ref()).map(template).transpose()?;
        let players = file.players.iter().map(template).collect::<Result<Vec<_>, _>>()?;
        let mut part = Part { what, name: own.name.as_deref(), file, own, rules, budget, players, values };
        if let Some(names) = &own.players {
            part.players = part.chosen(names)?;
        }
        if let Some(axis) = own.axes.keys().find(|axis| !part.used().any(|used| used == *axis)) {
            return Err(MultiverseError::Unused { axis: axis.clone(), part: part.what });
        }
        Ok(part)
    }

    /// The players with these names.
    fn chosen(&self, names: &[String]) -> Result<Vec<Template>, MultiverseError> {
        // Names with places for axes are those of the first universe.
        let first: Setting = self.values.iter().map(|(axis, values)| ((*axis).to_owned(), values[0].clone())).collect();
        let mut known = Vec::new();
        for (number, player) in self.players.iter().enumerate() {
            let contender = player.fill(&first)?.parse::<Contender>();
            known.push(contender.map_err(|error| MultiverseError::Player { number: number + 1, error })?.name);
        }
        let find = |name: &String| match known.iter().position(|other| other == name) {
            Some(place) => Ok(self.players[place].clone()),
            None => {
                let (part, name, known) = (self.what.clone(), excerpt(name), known.join(", "));
                Err(MultiverseError::Unknown { part, what: "player", name, known })
            }
        };
        names.iter().map(find).collect()
    }

    /// The axes that its texts have places for.
    fn used(&self) -> impl Iterator<Item = &str> {
        self.rules.iter().chain(&self.budget).chain(&self.players).flat_map(Template::axes)
    }

    /// Every combination of values, the last axis changing fastest.
    fn settings(&self) -> Result<Vec<Setting>, MultiverseError> {
        let axes = self.values.iter().filter(|(axis, _)| self.used().any(|used| used == **axis));
        let mut settings = vec![Setting::new()];
        for (axis, values) in axes {
            let count = settings.len().saturating_mul(values.len());
            if count > MOST_UNIVERSES {
                return Err(MultiverseError::TooMany(count));
            }
            let with = |setting: &Setting, value: &String| {
                let mut setting = setting.clone();
                setting.insert((*axis).to_owned(), value.clone());
                setting
            };
            settings =
                settings.iter().flat_map(|setting| values.iter().map(move |value| with(setting, value))).collect();
        }
        Ok(settings)
    }

    fn add_universes(&self, universes: &mut Vec<Universe>) -> Result<(), MultiverseError> {
        let mut first_of: BTreeMap<(usize, String), usize> = BTreeMap::new();
        for setting in self.settings()? {
            let mut universe = self.universe(setting)?;
            if universes.iter().any(|other| other.name == universe.name) {
                return Err(MultiverseError::Twice(universe.name));
            }
            if universes.len() == MOST_UNIVERSES {
                return Err(MultiverseError::TooMany(MOST_UNIVERSES + 1));
            }
            for pairing in 0..universe.plan.pairings().len() {
                let place = universes.len();
                universe.played_by.push(*first_of.entry((pairing, universe.pairing(pairing))).or_insert(place));
            }
            universes.push(universe);
        }
        Ok(())
    }

    fn universe(&self, setting: Setting) -> Result<Universe, MultiverseError> {
        let values: Vec<String> = setting.iter().map(|(axis, value)| format!("{axis}={value}")).collect();
        let name = match (self.name, values.is_empty()) {
            (None, true) => "all".to_owned(),
            (None, false) => values.join(","),
            (Some(part), true) => part.to_owned(),
            (Some(part), false) => format!("{part}/{}", values.join(",")),
        };
        let fill = |template: &Option<Template>| template.as_ref().map(|text| text.fill(&setting)).transpose();
        let file = PlanFile {
            version: self.file.version,
            event: self.file.event.clone(),
            rules: fill(&self.rules)?,
            seed: self.file.seed.clone(),
            pairs: self.own.pairs.or(self.file.pairs),
            format: self.own.format.or(self.file.format),
            budget: fill(&self.budget)?,
            sprt: None,
            players: self.players.iter().map(|text| text.fill(&setting)).collect::<Result<_, _>>()?,
        };
        let plan = Plan::new(&file).map_err(|error| MultiverseError::Plan { universe: name.clone(), error })?;
        if !plan.is_reproducible() {
            return Err(MultiverseError::Time(name));
        }
        Ok(Universe { name, setting, plan, played_by: Vec::new() })
    }
}

/// Whether a name fits in tables, names of files and patterns.
fn is_plain(name: &str) -> bool {
    !name.is_empty() && name.len() <= 40 && name.chars().all(|c| c.is_ascii_alphanumeric() || "-_".contains(c))
}

/// The keys of a plan but for its `kind`.
impl FromStr for MultiversePlan {
    type Err = MultiverseError;

    fn from_str(text: &str) -> Result<MultiversePlan, MultiverseError> {
        let syntax = |error: toml::de::Error| MultiverseError::Syntax(error.to_string().trim_end().to_owned());
        MultiversePlan::new(toml::from_str(text).map_err(syntax)?)
    }
}

/// TOML.
impl fmt::Display for MultiversePlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&toml::to_string(&self.file).map_err(|_| fmt::Error)?)
    }
}
