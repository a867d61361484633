//! `Plan`: everything that is to be played, decided beforehand.

use std::fmt;
use std::str::FromStr;

use anqi_engine::PlayerSpec;
use anqi_rules::{Rules, RulesError, Seed, SeedError, excerpt};
use anqi_stats::{Sprt, SprtError};
use serde::{Deserialize, Serialize};

use crate::contender::{Contender, ContenderError, Who};
use anqi_play::{Budget, BudgetError};

/// Everything that decides what is played: with budgets of nodes, playouts or depth, every game follows from it.
///
/// The unit of work is a *pair*: two contenders, one deal, both orders. Pairs are numbered; pair number *n* is the
/// same two games whoever plays them, when, where, and whatever was played before ([`play_pair`](crate::play_pair)).
/// All pairings meet once before any meets again, and in each round all pairings get the same deal.
///
/// ```
/// use anqi_lab::Plan;
///
/// let plan: Plan = r#"
///     version = 2                 # short texts mean what they mean today
///     rules = "chen"
///     seed = 2026
///     pairs = 100                 # for each pairing
///     format = "gauntlet"         # the first against all others, or "round-robin"
///     budget = "nodes=20000"
///     players = ["chen:var1", "chen:basic", "random name=dice", "cmd=./engine tc=15:00"]
/// "#.parse()?;
/// assert_eq!(plan.count(), 300);
/// assert_eq!(plan.pair(4).unwrap().contenders, [0, 2]);
/// assert_eq!(plan.to_string().parse::<Plan>()?, plan);
/// # Ok::<(), anqi_lab::PlanError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Plan {
    event: String,
    rules: Rules,
    seed: Seed,
    pairs: u64,
    format: TournamentFormat,
    budget: Budget,
    contenders: Vec<Contender>,
    sprt: Option<Sprt>,
    // What follows from the above.
    budgets: Vec<Budget>,
    pairings: Vec<[usize; 2]>,
}

/// Who meets whom.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TournamentFormat {
    /// Each against each.
    #[default]
    RoundRobin,
    /// The first against each of the others.
    Gauntlet,
}

/// A pair that is to be played.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Pair {
    /// Its number, from 0; records count from 1.
    pub number: u64,
    /// Which deal: the same for all pairings of a round.
    pub round: u64,
    /// The two contenders by their places in the plan. In the first game the one named first moves first.
    pub contenders: [usize; 2],
}

/// A plan as it is written down, in TOML. Unknown keys are errors that list the known ones.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlanFile {
    /// Which version of plans this is; 1 if it is not said. In version 1 `chen` has no repetition rule, and programs of Chen
    /// et al. that search flips everywhere have `below=flips`, if nothing else is said. Texts that were printed by this
    /// program mean the same in both.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<u32>,
    /// What records call the event; by default it follows from the players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub event: Option<String>,
    /// By which rules; the match server's by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rules: Option<String>,
    /// Where all deals and random choices come from; 1 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seed: Option<SeedText>,
    /// How many pairs each pairing plays; 100 by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pairs: Option<u64>,
    /// Who meets whom; each meets each by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub format: Option<TournamentFormat>,
    /// The budget of contenders without one of their own; 10,000 nodes a move by default.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<String>,
    /// A sequential test that ends the match as soon as it decides: `elo0=0 elo1=5`. For two players.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sprt: Option<String>,
    /// Who plays: one [`Contender`] each.
    pub players: Vec<String>,
}

/// A seed in a plan: a number, or text.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(untagged)]
pub enum SeedText {
    /// A number.
    Number(u64),
    /// A number, or 64 hexadecimal digits.
    Text(String),
}

/// Why a plan cannot be played.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum PlanError {
    /// Not TOML, or not a plan.
    #[error("not a plan: {0}")]
    Syntax(String),
    /// A version that is not known here.
    #[error("version: {0} is not a version of plans, expected 1 or {TODAY}: a newer program may know it")]
    Version(u32),
    /// Bad rules.
    #[error("rules: {0}")]
    Rules(#[from] RulesError),
    /// A bad seed.
    #[error("seed: {0}")]
    Seed(#[from] SeedError),
    /// A bad budget.
    #[error("budget: {0}")]
    Budget(#[from] BudgetError),
    /// A bad test.
    #[error("sprt: {0}")]
    Sprt(#[from] SprtError),
    /// A bad player.
    #[error("player {number}: {error}")]
    Player {
        /// Which one, from 1.
        number: usize,
        /// What is wrong.
        error: ContenderError,
    },
    /// A number of pairs out of range.
    #[error("pairs: {0} is not a number of pairs, expected 1 to {MOST_PAIRS}")]
    Pairs(u64),
    /// A number of players out of range.
    #[error("players: {0} of them, expected 2 to {MOST_PLAYERS}")]
    Players(usize),
    /// Two of one name.
    #[error("two players are called {0:?}, give one another name=")]
    SameName(String),
    /// A sequential test needs one pairing.
    #[error("sprt: a sequential test is for two players, not for {0}")]
    SprtOfMany(usize),
    /// A name that no record can hold.
    #[error("event: {0:?} is not a line of up to 200 characters")]
    Event(String),
}

/// The version in which texts mean what they mean on a command line.
const TODAY: u32 = 2;
const USUAL_PAIRS: u64 = 100;
const USUAL_NODES: u64 = 10_000;
const MOST_PAIRS: u64 = 100_000_000;
const MOST_PLAYERS: usize = 1000;
const LONGEST_EVENT: usize = 200;
/// The most bytes that a plan may have: a thousand players take a tenth of that.
pub const MOST_PLAN_BYTES: usize = 1 << 20;

impl Plan {
    /// A plan, if everything in it is sound.
    ///
    /// # Errors
    /// If something is not.
    pub fn new(file: &PlanFile) -> Result<Plan, PlanError> {
        Plan::with(file, str::parse)
    }

    /// Reads a plan that comes from another machine. Reading opens no file.
    ///
    /// # Errors
    /// If something in it is not sound, or it names a file of weights.
    pub fn received(text: &str) -> Result<Plan, PlanError> {
        Plan::with(&text.parse()?, Contender::received)
    }

    fn with(file: &PlanFile, read: impl Fn(&str) -> Result<Contender, ContenderError>) -> Result<Plan, PlanError> {
        let players = file.players.len();
        if !(2..=MOST_PLAYERS).contains(&players) {
            return Err(PlanError::Players(players));
        }
        let stored = !file.is_of_today()?;
        let player = |(index, text): (usize, &String)| {
            let text = if stored { PlayerSpec::stored(text) } else { text.into() };
            read(&text).map_err(|error| PlanError::Player { number: index + 1, error })
        };
        let mut contenders = file.players.iter().enumerate().map(player).collect::<Result<Vec<_>, _>>()?;
        name_apart(&mut contenders)?;
        let budget = file.budget.as_deref().map_or(Ok(Budget::nodes(USUAL_NODES)), str::parse)?;
        let budgets = contenders.iter().enumerate().map(|(index, contender)| {
            contender.effective_budget(budget).map_err(|error| PlanError::Player { number: index + 1, error })
        });
        let budgets = budgets.collect::<Result<Vec<_>, _>>()?;
        let pairs = file.pairs.unwrap_or(USUAL_PAIRS);
        if !(1..=MOST_PAIRS).contains(&pairs) {
            return Err(PlanError::Pairs(pairs));
        }
        let sprt = file.sprt.as_deref().map(str::parse).transpose()?;
        if sprt.is_some() && players > 2 {
            return Err(PlanError::SprtOfMany(players));
        }
        let event = match &file.event {
            Some(event) => event.clone(),
            None if players == 2 => format!("{} against {}", contenders[0].name, contenders[1].name),
            None => format!("tournament of {players}"),
        };
        if event.chars().count() > LONGEST_EVENT.max(2 * 100 + 9) || event.chars().any(char::is_control) {
            return Err(PlanError::Event(excerpt(&event)));
        }
        let format = file.format.unwrap_or_default();
        Ok(Plan {
            event,
            rules: match &file.rules {
                None => Rules::server(),
                Some(text) if stored => Rules::parse_stored(text)?,
                Some(text) => text.parse()?,
            },
            seed: file.seed.as_ref().map_or(Ok(Seed::from(1)), SeedText::seed)?,
            pairs,
            format,
            budget,
            pairings: format.pairings(players),
            contenders,
            sprt,
            budgets,
        })
    }

    /// What it is written down as.
    #[must_use]
    pub fn to_file(&self) -> PlanFile {
        PlanFile {
            // What is printed says everything.
            version: None,
            event: Some(self.event.clone()),
            rules: Some(self.rules.to_string()),
            seed: Some(SeedText::Text(self.seed.to_string())),
            pairs: Some(self.pairs),
            format: Some(self.format),
            budget: Some(self.budget.to_string()),
            sprt: self.sprt.map(|sprt| sprt.to_string()),
            players: self.contenders.iter().map(ToString::to_string).collect(),
        }
    }

    /// What records call it.
    #[must_use]
    pub fn event(&self) -> &str {
        &self.event
    }

    /// By which rules.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Where all deals and random choices come from.
    #[must_use]
    pub const fn seed(&self) -> &Seed {
        &self.seed
    }

    /// Who plays.
    #[must_use]
    pub fn contenders(&self) -> &[Contender] {
        &self.contenders
    }

    /// What a contender may spend.
    #[must_use]
    pub fn budget_of(&self, contender: usize) -> Budget {
        self.budgets[contender]
    }

    /// The sequential test that may end it early.
    #[must_use]
    pub const fn sprt(&self) -> Option<Sprt> {
        self.sprt
    }

    /// Who meets whom, by their places in the plan.
    #[must_use]
    pub fn pairings(&self) -> &[[usize; 2]] {
        &self.pairings
    }

    /// How many pairs there are at most.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.pairs * self.pairings.len() as u64
    }

    /// Pair number `number`, if there is one.
    #[must_use]
    pub fn pair(&self, number: u64) -> Option<Pair> {
        let pairings = self.pairings.len() as u64;
        let contenders = self.pairings[(number % pairings) as usize];
        (number < self.count()).then_some(Pair { number, round: number / pairings, contenders })
    }

    /// Whether every game follows from the plan alone: nothing in it is bounded by time. Outside programs are taken
    /// at their word.
    #[must_use]
    pub fn is_reproducible(&self) -> bool {
        self.budgets.iter().all(Budget::is_reproducible)
    }

    /// Whether another machine must play the same games to the byte: nothing is bounded by time, and no player is an outside
    /// program or searches with several threads.
    #[must_use]
    pub fn is_repeatable(&self) -> bool {
        let repeats = |contender: &Contender| match &contender.who {
            Who::Player(spec) => spec.table().iter().all(|option| option.name != "threads" || option.default == "1"),
            Who::Outside(_) => false,
        };
        self.is_reproducible() && self.contenders.iter().all(repeats)
    }

    /// 64 hexadecimal digits that no other plan has.
    #[must_use]
    pub fn id(&self) -> String {
        blake3::hash(self.to_string().as_bytes()).to_hex().to_string()
    }
}

impl TournamentFormat {
    fn pairings(self, players: usize) -> Vec<[usize; 2]> {
        let all = (0..players).flat_map(|first| (first + 1..players).map(move |second| [first, second]));
        all.filter(|[first, _]| self == TournamentFormat::RoundRobin || *first == 0).collect()
    }
}

impl SeedText {
    /// The seed.
    ///
    /// # Errors
    /// If the text is none.
    pub fn seed(&self) -> Result<Seed, SeedError> {
        match self {
            SeedText::Number(number) => Ok(Seed::from(*number)),
            SeedText::Text(text) => text.parse(),
        }
    }
}

/// A player that meets itself is told apart; names that a person chose must differ.
fn name_apart(contenders: &mut [Contender]) -> Result<(), PlanError> {
    for index in 1..contenders.len() {
        let (before, rest) = contenders.split_at_mut(index);
        let this = &mut rest[0];
        if let Some(same) = before.iter().find(|other| other.name == this.name) {
            if same != this {
                return Err(PlanError::SameName(this.name.clone()));
            }
            let taken = |name: &String| before.iter().any(|other| other.name == *name);
            let free = (2_u32..).map(|copy| format!("{} ({copy})", this.name)).find(|name| !taken(name));
            this.rename(free.unwrap_or_default());
        }
    }
    Ok(())
}

/// TOML.
impl fmt::Display for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&toml::to_string(&self.to_file()).map_err(|_| fmt::Error)?)
    }
}

impl PlanFile {
    /// For texts that were typed on a command line.
    pub const TODAY: Option<u32> = Some(TODAY);

    fn is_of_today(&self) -> Result<bool, PlanError> {
        match self.version.unwrap_or(1) {
            1 => Ok(false),
            TODAY => Ok(true),
            other => Err(PlanError::Version(other)),
        }
    }

    /// Texts of a plan without a version that would mean something else in the version of today, each with what it means.
    #[must_use]
    pub fn outdated(&self) -> Vec<(String, String)> {
        if self.version.is_some() {
            return Vec::new();
        }
        let rules = self.rules.iter().filter_map(|text| {
            let stored = Rules::parse_stored(text).ok()?;
            (text.parse::<Rules>().ok()? != stored).then(|| (text.clone(), stored.to_string()))
        });
        let players = self.players.iter().map(|text| (text.clone(), PlayerSpec::stored(text).into_owned()));
        rules.chain(players.filter(|(text, meant)| text != meant)).collect()
    }
}

impl FromStr for PlanFile {
    type Err = PlanError;

    /// The plan of an experiment that plays games is one, too: its `kind` says what becomes of them.
    fn from_str(text: &str) -> Result<PlanFile, PlanError> {
        // Reading takes several times the memory of the text.
        if text.len() > MOST_PLAN_BYTES {
            return Err(PlanError::Syntax(format!(
                "it has more than {MOST_PLAN_BYTES} bytes, the most that a plan may have"
            )));
        }
        let syntax = |error: toml::de::Error| PlanError::Syntax(error.to_string().trim_end().to_owned());
        let mut table: toml::Table = toml::from_str(text).map_err(syntax)?;
        match table.get("kind").and_then(toml::Value::as_str) {
            Some("matches" | "branching") => {
                table.remove("kind");
                PlanFile::deserialize(table).map_err(syntax)
            }
            // Read again, so that errors show the line.
            _ => toml::from_str(text).map_err(syntax),
        }
    }
}

impl FromStr for Plan {
    type Err = PlanError;

    fn from_str(text: &str) -> Result<Plan, PlanError> {
        Plan::new(&text.parse()?)
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, PlanFile};

    fn players(players: &[&str]) -> PlanFile {
        PlanFile { players: players.iter().map(|player| (*player).to_owned()).collect(), ..PlanFile::default() }
    }

    #[test]
    fn short_texts_mean_what_they_meant_when_the_plan_was_written() {
        let texts = "rules = 'chen,board=2x4'\nplayers = ['chen:enhance', 'chen:var2,k=8 name=two', 'chen:var1']";
        let plan = |version: &str| format!("{version}{texts}").parse::<Plan>().unwrap();
        let said = |plan: &Plan| {
            let players = plan.contenders().iter().map(ToString::to_string);
            [vec![plan.rules().to_string()], players.collect()].concat()
        };
        let then = [
            "chen,board=2x4,repeat=off",
            "chen:enhance,below=flips",
            "chen:var2,below=flips,k=8 name=two",
            "chen:var1",
        ];
        let today = [
            "chen,board=2x4,repeat=position:3",
            "chen:enhance,below=moves",
            "chen:var2,below=moves,k=8 name=two",
            "chen:var1",
        ];
        assert_eq!(said(&plan("")), then);
        assert_eq!(said(&plan("version = 1\n")), then);
        assert_eq!(said(&plan("version = 2\n")), today);
        // What is printed is read back, whatever it was.
        for plan in [plan(""), plan("version = 2\n")] {
            assert_eq!(plan.to_string().parse::<Plan>().unwrap(), plan);
            assert!(plan.to_string().parse::<PlanFile>().unwrap().outdated().is_empty());
        }
        let outdated = texts.parse::<PlanFile>().unwrap().outdated();
        assert_eq!(outdated.iter().map(|(_, meant)| meant.as_str()).collect::<Vec<_>>(), then[..3]);
    }

    #[test]
    fn all_meet_before_any_meet_again() {
        let plan = Plan::new(&PlanFile { pairs: Some(2), ..players(&["random", "chen:basic", "chen:var1"]) }).unwrap();
        let pairs: Vec<_> =
            (0..).map_while(|number| plan.pair(number)).map(|pair| (pair.round, pair.contenders)).collect();
        assert_eq!(pairs, [(0, [0, 1]), (0, [0, 2]), (0, [1, 2]), (1, [0, 1]), (1, [0, 2]), (1, [1, 2])]);
        assert_eq!(plan.count(), 6);
    }

    #[test]
    fn a_player_may_meet_itself() {
        let plan = Plan::new(&players(&["chen:var1", "chen:var1"])).unwrap();
        assert_eq!(plan.contenders()[1].name, "chen:var1 (2)");
        assert_eq!(plan.to_string().parse::<Plan>().unwrap(), plan);
        assert_eq!(
            Plan::new(&players(&["chen:var1 name=x", "chen:var2 name=x"])).unwrap_err().to_string(),
            "two players are called \"x\", give one another name="
        );
    }

    #[test]
    fn shows_what_is_wrong() {
        for (text, message) in [
            ("players = [\"random\"]", "players: 1 of them, expected 2 to 1000"),
            ("players = [\"random\", \"chaos\"]", "player 2: unknown player \"chaos\""),
            ("pairs = 0\nplayers = [\"random\", \"chen:var1\"]", "pairs: 0 is not a number of pairs"),
            ("rules = \"go\"\nplayers = [\"random\", \"chen:var1\"]", "rules: "),
            (
                "games = 3\nplayers = []",
                "unknown field `games`, expected one of `version`, `event`, `rules`, `seed`, `pairs`",
            ),
            (
                "version = 3\nplayers = [\"random\", \"chen:var1\"]",
                "version: 3 is not a version of plans, expected 1 or 2",
            ),
            (
                "sprt = \"elo0=0 elo1=5\"\nplayers = [\"random\", \"chen:var1\", \"chen:var2\"]",
                "sprt: a sequential test",
            ),
            ("players = [\"random\", \"chen:var1 playouts=9\"]", "player 2: chen:var1 is not bounded by playouts=9"),
        ] {
            let error = text.parse::<Plan>().unwrap_err().to_string();
            assert!(error.contains(message), "{error}");
        }
    }
}
