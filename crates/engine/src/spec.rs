//! Player strings: `chen:var1,k=8`. The only place where they are read and written.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use anqi_rules::{Game, Position, Seed, excerpt};

use crate::champion::expectation::of_score;
use crate::champion::{self, Champion, ChampionOptions, Chances, NetOption, chances_in_tables, expected};
use crate::eval::Evaluation;
use crate::limits::Limits;
use crate::mcts::flat;
use crate::mcts::{self, Average, Draws, Flat, FlatOptions, Mcts, MctsOptions, Nodes};
use crate::minimax::chen::{self, Below, Chen, ChenOptions, Flips, TypeOrder};
use crate::minimax::decision::{Decision, SumOf};
use crate::minimax::negascout::{self, NegaScout, NegaScoutOptions};
use crate::options::{OptionError, OptionGroup, OptionInfo, differences, set_all};
use crate::player::{Candidate, Choice, Player, ResultCounts};
use crate::random::{self, Random};
use crate::reference::{self, Reference, ReferenceOptions};
use crate::resources::{BuildError, Resources};
use crate::score::Score;
use crate::tables::{TablesOption, WithTables};

/// A player by name, with options that differ from the name's.
///
/// ```
/// use anqi_engine::PlayerSpec;
///
/// for text in ["random", "chen:var1", "chen:var2,below=moves,k=8", "chen:basic,policy=comparing", "mc,playout=20"] {
///     assert_eq!(text.parse::<PlayerSpec>()?.to_string(), text);
/// }
/// assert_eq!("chen:enhance".parse::<PlayerSpec>()?.to_string(), "chen:enhance,below=moves");
/// assert_eq!("negascout,table=paper".parse::<PlayerSpec>()?.to_string(), "negascout,decision=complete,table=paper");
/// assert!("chen:var1,depht=3".parse::<PlayerSpec>().is_err());
/// # Ok::<(), anqi_engine::SpecError>(())
/// ```
///
/// `below` (where it has an effect) and `decision` are always printed: [files](PlayerSpec::stored) that do not say them are older
/// than these options. `eval` of the Monte Carlo players is read as what it is called today:
///
/// ```
/// # use anqi_engine::PlayerSpec;
/// assert_eq!("mcts:chance,playout=40,eval".parse::<PlayerSpec>()?.to_string(), "mcts:chance,playout=40,draws=lead");
/// assert_eq!("mc,eval=off".parse::<PlayerSpec>()?.to_string(), "mc");
/// # Ok::<(), anqi_engine::SpecError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct PlayerSpec {
    preset: &'static Preset,
    options: PlayerOptions,
}

/// The options of each family of players.
#[derive(Clone, PartialEq, Debug)]
enum PlayerOptions {
    Random,
    Chen(ChenOptions),
    NegaScout(NegaScoutOptions),
    Mcts(MctsOptions),
    Flat(FlatOptions),
    Reference(ReferenceOptions),
    Champion(ChampionOptions),
}

/// A name that a player string may start with.
#[derive(Debug)]
pub struct Preset {
    /// The name.
    pub name: &'static str,
    /// What it is.
    pub help: &'static str,
    options: fn() -> PlayerOptions,
}

impl PartialEq for Preset {
    fn eq(&self, other: &Preset) -> bool {
        self.name == other.name
    }
}

/// All names.
static PRESETS: [Preset; 13] = [
    Preset {
        name: "champion",
        help: "the strongest: principal-variation search with chance nodes, endgame tables, a tuned evaluation",
        options: || PlayerOptions::Champion(ChampionOptions::default()),
    },
    Preset { name: "random", help: "any legal move, all equally likely", options: || PlayerOptions::Random },
    Preset {
        name: "chen:basic",
        help: "BASIC of Chen et al.: searches moves only, flips at random by a policy",
        options: || PlayerOptions::Chen(ChenOptions { flips: Flips::Never, ..ChenOptions::default() }),
    },
    Preset {
        name: "chen:enhance",
        help: "ENHANCE: searches every flip with everything it may show",
        options: || PlayerOptions::Chen(ChenOptions::default()),
    },
    Preset {
        name: "chen:var1",
        help: "VAR1: searches flips at the root only (initial-depth flipping)",
        options: || PlayerOptions::Chen(ChenOptions { flips: Flips::Root, ..ChenOptions::default() }),
    },
    Preset {
        name: "chen:var2",
        help: "VAR2: a flip looks at k kinds of piece, in a fixed order",
        options: || PlayerOptions::Chen(ChenOptions { k: 6, ..ChenOptions::default() }),
    },
    Preset {
        name: "chen:var3",
        help: "VAR3: a flip looks at k kinds of piece, in random order",
        options: || PlayerOptions::Chen(ChenOptions { k: 6, order: TypeOrder::Random, ..ChenOptions::default() }),
    },
    Preset {
        name: "negascout",
        help: "the NegaScout course program: quiescence, null moves, move-or-flip decision",
        options: || PlayerOptions::NegaScout(NegaScoutOptions::default()),
    },
    Preset {
        name: "mcts:chance",
        help: "MCTS of Jouandeau & Cazenave with chance-nodes: a child for each piece that may come up",
        options: || PlayerOptions::Mcts(MctsOptions::default()),
    },
    Preset {
        name: "mcts:group",
        help: "MCTS with group-nodes: one node for everything that may come up",
        options: || PlayerOptions::Mcts(MctsOptions { nodes: Nodes::Group, ..MctsOptions::default() }),
    },
    Preset {
        name: "mc",
        help: "flat Monte Carlo: the move whose playouts are won most",
        options: || PlayerOptions::Flat(FlatOptions::default()),
    },
    Preset {
        name: "mc-score",
        help: "flat Monte Carlo: the move whose playouts end with most material",
        options: || PlayerOptions::Flat(FlatOptions { average: Average::Material, ..FlatOptions::default() }),
    },
    Preset {
        name: "reference",
        help: "the reference player of Jouandeau & Cazenave: random while anything is face down, then minimax",
        options: || PlayerOptions::Reference(ReferenceOptions::default()),
    },
];

impl PlayerSpec {
    /// All names that a player string may start with.
    #[must_use]
    pub fn presets() -> &'static [Preset] {
        &PRESETS
    }

    /// What a player string in a file says, with the words after it. Where flips are searched everywhere and `below` is not
    /// given, or `decision` not to the course program, the text is older than that option and means what was played then.
    ///
    /// ```
    /// use anqi_engine::PlayerSpec;
    ///
    /// assert_eq!(PlayerSpec::stored("chen:var2,k=8 name=x nodes=5"), "chen:var2,below=flips,k=8 name=x nodes=5");
    /// assert_eq!(PlayerSpec::stored("negascout,null=off"), "negascout,decision=shared,sum=mean,null=off");
    /// for text in ["chen:var2,below=moves", "chen:var1", "chen:enhance,flips=root", "champion", "cmd=./chen:enhance"] {
    ///     assert_eq!(PlayerSpec::stored(text), text);
    /// }
    /// assert_eq!(PlayerSpec::stored("negascout,decision=complete"), "negascout,decision=complete");
    /// ```
    #[must_use]
    pub fn stored(text: &str) -> Cow<'_, str> {
        // A word of a plan may be in quotes.
        let start = text.len() - text.trim_start_matches([' ', '\t', '\'', '"']).len();
        let player = text[start..].split_whitespace().next().unwrap_or_default();
        let name = player.split([',', '\'', '"']).next().unwrap_or_default();
        let preset = PRESETS.iter().find(|preset| preset.name == name).map(|preset| (preset.options)());
        let option = |key: &str| player.split(',').find_map(|part| part.strip_prefix(key)?.strip_prefix('='));
        let meant: &[(&str, &str)] = match preset {
            Some(PlayerOptions::Chen(ChenOptions { flips, .. })) => {
                let everywhere = Flips::Everywhere.name();
                let searches = option("flips").unwrap_or(flips.name()) == everywhere && option("below").is_none();
                if searches { &[("below", Below::Flips.name())] } else { &[] }
            }
            Some(PlayerOptions::NegaScout(_)) if option("decision").is_none() => {
                &[("decision", Decision::Shared.name()), ("sum", SumOf::Mean.name())]
            }
            _ => &[],
        };
        let missing: String = meant
            .iter()
            .filter(|(key, _)| option(key).is_none())
            .map(|(key, value)| format!(",{key}={value}"))
            .collect();
        if missing.is_empty() {
            return text.into();
        }
        let (before, after) = text.split_at(start + name.len());
        format!("{before}{missing}{after}").into()
    }

    /// What the player's name stands for.
    #[must_use]
    pub const fn help(&self) -> &'static str {
        self.preset.help
    }

    /// The options that this player takes, with its own values as defaults.
    #[must_use]
    pub fn table(&self) -> Vec<OptionInfo> {
        self.options.table()
    }

    /// Sets one option.
    ///
    /// # Errors
    /// If there is no such option or it does not take this value; the player stays as it was.
    pub fn set(&mut self, key: &str, value: &str) -> Result<(), SpecError> {
        let bad = |error| SpecError::Option { name: self.preset.name, error };
        let mut options = self.options.clone();
        let (key, value) = options.today(key, value);
        options.set(key, value).map_err(bad)?;
        options.check().map_err(bad)?;
        self.options = options;
        Ok(())
    }

    /// The player, ready to play. `seed` is where its random choices come from, `resources` hold what its options name.
    ///
    /// # Errors
    /// If a network or tables that it names were not [opened](Resources::open_for).
    pub fn build(&self, seed: Seed, resources: &Resources) -> Result<Box<dyn Player>, BuildError> {
        resources.check(self)?;
        let player: Box<dyn Player> = match &self.options {
            PlayerOptions::Random => Box::new(Random { seed }),
            PlayerOptions::Chen(options) => Box::new(Chen::new(options, seed, resources)),
            PlayerOptions::NegaScout(options) => Box::new(NegaScout::new(options, resources)),
            PlayerOptions::Mcts(options) => Box::new(Mcts::new(options, seed, resources)),
            PlayerOptions::Flat(options) => Box::new(Flat::new(options, seed, resources)),
            PlayerOptions::Reference(options) => Box::new(Reference::new(options, &seed, resources)),
            PlayerOptions::Champion(options) => Box::new(Champion::new(options, resources)),
        };
        Ok(match self.tables() {
            None | Some(TablesOption::Off) => player,
            Some(tables) => Box::new(WithTables { player, tables: tables.clone(), resources: resources.clone() }),
        })
    }

    /// The family's name, and a number by which its play is known.
    pub(crate) fn family(&self) -> (&'static str, u64) {
        match &self.options {
            PlayerOptions::Random => ("random", random::BEHAVIOUR),
            PlayerOptions::Chen(_) => ("chen", chen::BEHAVIOUR),
            PlayerOptions::NegaScout(_) => ("negascout", negascout::BEHAVIOUR),
            PlayerOptions::Mcts(_) => ("mcts", mcts::BEHAVIOUR),
            PlayerOptions::Flat(_) => ("flat", flat::BEHAVIOUR),
            PlayerOptions::Reference(_) => ("reference", reference::BEHAVIOUR),
            PlayerOptions::Champion(_) => ("champion", champion::BEHAVIOUR),
        }
    }

    /// The network of the players that can have one.
    pub(crate) fn net(&self) -> Option<&NetOption> {
        match &self.options {
            PlayerOptions::Champion(options) => Some(&options.net),
            _ => None,
        }
    }

    /// The file of a network and the folder of tables that the player string names, if it names any.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        let net = match self.net() {
            Some(NetOption::File(path)) => Some(path.as_str()),
            _ => None,
        };
        let tables = match self.tables() {
            Some(TablesOption::Folder(path)) => Some(path.as_str()),
            _ => None,
        };
        net.into_iter().chain(tables)
    }

    /// The tables of the players that can have some.
    #[must_use]
    pub fn tables(&self) -> Option<&TablesOption> {
        match &self.options {
            PlayerOptions::Chen(options) => Some(&options.tables),
            PlayerOptions::NegaScout(options) => Some(&options.tables),
            PlayerOptions::Mcts(options) => Some(&options.tables),
            PlayerOptions::Champion(options) => Some(&options.tables),
            PlayerOptions::Random | PlayerOptions::Flat(_) | PlayerOptions::Reference(_) => None,
        }
    }

    /// The same player as a judge of positions, to whom both sides are equal: a champion at play takes itself to have an `edge`.
    #[must_use]
    pub fn impartial(&self) -> PlayerSpec {
        let mut spec = self.clone();
        if let PlayerOptions::Champion(options) = &mut spec.options {
            options.edge = 0;
        }
        spec
    }

    /// Whether the player's answer comes from random games: then its budget is one of playouts.
    #[must_use]
    pub fn plays_out(&self) -> bool {
        matches!(self.options, PlayerOptions::Mcts(_) | PlayerOptions::Flat(_))
    }

    /// What a choice of this player says about the position, for the mover: the share of won playouts (a draw is half
    /// of one), the expected score of a champion, or a score; infinite for a proof. Flat Monte Carlo speaks of all playouts, as in Takeuchi et al., the
    /// others of their best move.
    #[must_use]
    pub fn value_of(&self, position: &Position, choice: &Choice) -> f64 {
        let chance = |results: ResultCounts| f64::midpoint(results.balance(), 1.0);
        let proof = || f64::INFINITY.copysign(f64::from(choice.score.0));
        match &self.options {
            PlayerOptions::Flat(FlatOptions { average: Average::Results, .. }) => {
                let mut all = ResultCounts::default();
                choice.candidates.iter().filter_map(|candidate| candidate.results).for_each(|results| all += results);
                chance(all)
            }
            PlayerOptions::Flat(FlatOptions { average: Average::Material, .. }) => {
                let scores = choice.candidates.iter().map(|candidate| f64::from(candidate.score.0));
                scores.sum::<f64>() / choice.candidates.len().max(1) as f64
            }
            _ if choice.score.is_decided() => proof(),
            PlayerOptions::Mcts(_) => {
                let best = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
                chance(best.and_then(|candidate| candidate.results).unwrap_or_default())
            }
            PlayerOptions::Champion(options) if options.fitted => expected(position, choice.score),
            PlayerOptions::Champion(_) => f64::midpoint(of_score(choice.score), 1.0),
            _ => without_proofs(choice),
        }
    }

    /// What one of this player's candidates promises the mover: the shares of its playouts, or what a champion's score
    /// [means in games](crate::chances), unless its tables have proven it. Scores of the others are no chances.
    #[must_use]
    pub fn chances_of(&self, game: &Game, candidate: &Candidate, resources: &Resources) -> Option<Chances> {
        match &self.options {
            PlayerOptions::Champion(options) => {
                let (position, score) = (game.position(), candidate.score);
                let proven = || resources.tables(&options.tables, game)?.score(position);
                let in_tables = !score.is_decided() && proven().is_some();
                Some(chances_in_tables(position, score, in_tables))
            }
            _ => candidate.results.map(ResultCounts::shares),
        }
    }

    /// Whether the player comes to an end by itself under these limits, without being told to stop.
    #[must_use]
    pub fn is_bounded_by(&self, limits: &Limits) -> bool {
        match &self.options {
            PlayerOptions::Random | PlayerOptions::Reference(_) => true,
            PlayerOptions::Chen(_) | PlayerOptions::NegaScout(_) | PlayerOptions::Champion(_) => {
                limits.nodes.is_some() || limits.depth.is_some() || limits.time.is_some()
            }
            PlayerOptions::Mcts(_) | PlayerOptions::Flat(_) => *limits != Limits::default(),
        }
    }
}

/// The score of a choice in units of evaluations: a proof that a flip may bring would drown all of them in the mean.
fn without_proofs(choice: &Choice) -> f64 {
    const MOST: i32 = 1 << 15; // about what the course program gives to a whole army against nothing
    let chosen = choice.candidates.iter().find(|candidate| candidate.mv == choice.mv);
    let outcomes = chosen.map_or(&[][..], |candidate| &candidate.outcomes);
    if !outcomes.iter().any(|outcome| outcome.score.is_decided()) {
        return f64::from(choice.score.0);
    }
    let worth = |score: Score| if score.is_decided() { MOST * score.0.signum() } else { score.0 };
    let sum: f64 = outcomes.iter().map(|outcome| f64::from(worth(outcome.score)) * f64::from(outcome.count)).sum();
    sum / outcomes.iter().map(|outcome| f64::from(outcome.count)).sum::<f64>()
}

impl PlayerOptions {
    /// Options are set one after the other; some can be wrong together, such as weights and an evaluation.
    fn check(&self) -> Result<(), OptionError> {
        match self {
            PlayerOptions::Chen(options) => Ok(options.eval.check_weights(&options.weights.0)?),
            PlayerOptions::NegaScout(options) => Ok(Evaluation::Course.check_weights(&options.weights.0)?),
            PlayerOptions::Champion(options) => Ok(Evaluation::Hand.check_weights(&options.weights.0)?),
            PlayerOptions::Mcts(options) => options.check(),
            PlayerOptions::Random | PlayerOptions::Flat(_) | PlayerOptions::Reference(_) => Ok(()),
        }
    }
}

impl Preset {
    /// The options that this player takes, with its defaults.
    #[must_use]
    pub fn table(&self) -> Vec<OptionInfo> {
        (self.options)().table()
    }
}

impl OptionGroup for PlayerOptions {
    fn table(&self) -> Vec<OptionInfo> {
        match self {
            PlayerOptions::Random => Vec::new(),
            PlayerOptions::Chen(options) => options.table(),
            PlayerOptions::NegaScout(options) => options.table(),
            PlayerOptions::Mcts(options) => options.table(),
            PlayerOptions::Flat(options) => options.table(),
            PlayerOptions::Reference(options) => options.table(),
            PlayerOptions::Champion(options) => options.table(),
        }
    }

    fn set(&mut self, key: &str, value: &str) -> Result<(), OptionError> {
        match self {
            PlayerOptions::Random => Err(OptionError::Unknown { key: key.to_owned(), known: "none".to_owned() }),
            PlayerOptions::Chen(options) => options.set(key, value),
            PlayerOptions::NegaScout(options) => options.set(key, value),
            PlayerOptions::Mcts(options) => options.set(key, value),
            PlayerOptions::Flat(options) => options.set(key, value),
            PlayerOptions::Reference(options) => options.set(key, value),
            PlayerOptions::Champion(options) => options.set(key, value),
        }
    }

    /// `eval=` of the Monte Carlo players is older than `draws=`.
    fn today<'a>(&self, key: &'a str, value: &'a str) -> (&'a str, &'a str) {
        match (self, key, value) {
            (PlayerOptions::Mcts(_) | PlayerOptions::Flat(_), "eval", "on") => ("draws", Draws::Lead.name()),
            (PlayerOptions::Mcts(_) | PlayerOptions::Flat(_), "eval", "off") => ("draws", Draws::Off.name()),
            _ => (key, value),
        }
    }
}

/// Why a text names no player.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SpecError {
    /// No such name.
    #[error("unknown player {name:?}, expected one of {known}")]
    UnknownName {
        /// What was given.
        name: String,
        /// The names there are.
        known: String,
    },
    /// A bad option.
    #[error("player {name}: {error}")]
    Option {
        /// The player.
        name: &'static str,
        /// What is wrong.
        error: OptionError,
    },
}

impl FromStr for PlayerSpec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<PlayerSpec, SpecError> {
        let mut parts = text.split(',');
        let name = parts.next().unwrap_or_default();
        let preset = PRESETS.iter().find(|preset| preset.name == name).ok_or_else(|| SpecError::UnknownName {
            name: excerpt(name),
            known: PRESETS.each_ref().map(|preset| preset.name).join(", "),
        })?;
        let mut options = (preset.options)();
        let bad = |error| SpecError::Option { name: preset.name, error };
        set_all(&mut options, parts).map_err(bad)?;
        options.check().map_err(bad)?;
        Ok(PlayerSpec { preset, options })
    }
}

impl fmt::Display for PlayerSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.preset.name)?;
        let mut base = (self.preset.options)();
        // What differs is printed.
        match (&self.options, &mut base) {
            (PlayerOptions::Chen(options), PlayerOptions::Chen(base)) if options.flips == Flips::Everywhere => {
                base.below = options.below.other();
            }
            (PlayerOptions::NegaScout(options), PlayerOptions::NegaScout(base)) => {
                base.decision = options.decision.other();
            }
            _ => {}
        }
        differences(&self.options, &base).iter().try_for_each(|difference| write!(f, ",{difference}"))
    }
}
