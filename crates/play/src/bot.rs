//! `Bot`: a player of ours with its budget, as text `chen:var1 depth=4`; and what a stranger may ask of one.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anqi_engine::{BuildError, Choice, Limits, Player, PlayerSpec, Resources, SpecError};
use anqi_rules::{Game, Seed, excerpt};
use anqi_task::Stop;

use crate::budget::{Budget, BudgetError};

/// A player and how much it may think.
///
/// ```
/// use anqi_play::Bot;
///
/// for text in ["random", "chen:var1 depth=4", "mcts:chance,cut=30 playouts=640 movetime=0.5"] {
///     assert_eq!(text.parse::<Bot>()?.to_string(), text);
/// }
/// # Ok::<(), anqi_play::BotError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Bot {
    /// The player.
    pub player: PlayerSpec,
    /// What it may spend; empty if the text names no budget.
    pub budget: Budget,
}

/// Why a text is not a bot, or not one that may be asked for.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BotError {
    /// No such player.
    #[error(transparent)]
    Player(#[from] SpecError),
    /// No such budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// No such level.
    #[error("no level {0:?}, expected level:1 to level:{most}", most = crate::LEVELS.len())]
    Level(String),
    /// A clock that belongs to the game.
    #[error("a player at the page takes no clock of its own, but {0:?} has one: set the game's clock")]
    OwnClock(String),
    /// A budget beyond the policy.
    #[error("{text:?} asks for too much, expected at most {allowed}")]
    TooMuch {
        /// What was asked.
        text: String,
        /// What is allowed.
        allowed: String,
    },
    /// Threads or memory beyond the policy.
    #[error("{text:?} asks for too much, expected at most {threads} threads and {megabytes} MB")]
    TooLarge {
        /// What was asked.
        text: String,
        /// The most threads.
        threads: u32,
        /// The most memory.
        megabytes: u32,
    },
}

/// A text divided into its player string and the words after it.
#[must_use]
pub fn split_player(text: &str) -> (&str, &str) {
    let text = text.trim();
    let (player, words) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    (player, words.trim())
}

impl Bot {
    /// Reads a player string and the words after it. A `key=value` that is no budget's is offered to `other`, which
    /// says whether it knows the key.
    ///
    /// # Errors
    /// If the player, a budget or a word is not known.
    pub fn from_words<'a>(
        player: &str,
        words: impl IntoIterator<Item = &'a str>,
        mut other: impl FnMut(&'a str, &'a str) -> bool,
    ) -> Result<Bot, BotError> {
        let (player, mut budget) = (player.parse()?, Budget::default());
        for word in words {
            let known = match word.split_once('=') {
                Some((key, value)) => budget.set(key, value)? || other(key, value),
                None => false,
            };
            if !known {
                return Err(BudgetError::Unknown(excerpt(word)).into());
            }
        }
        Ok(Bot { player, budget })
    }

    /// How much memory it asks for, in whole megabytes; 1 at least.
    #[must_use]
    pub fn megabytes(&self) -> u32 {
        let options = self.player.table();
        let sizes = options.iter().filter(|option| ["memory", "hash", "table"].contains(&option.name));
        sizes.filter_map(|option| option.default.parse::<u32>().ok()).sum::<u32>().max(1)
    }

    /// The bot at work, which lives as long as its game.
    ///
    /// # Errors
    /// If a file that the player names was not opened.
    pub fn thinker(&self, resources: &Resources) -> Result<Thinker, BuildError> {
        // The seed of every choice is given with it.
        Ok(Thinker { player: self.player.build(Seed::from(0), resources)?, budget: self.budget })
    }
}

impl FromStr for Bot {
    type Err = BotError;

    fn from_str(text: &str) -> Result<Bot, BotError> {
        let (player, words) = split_player(text);
        Bot::from_words(player, words.split_ascii_whitespace(), |_, _| false)
    }
}

impl fmt::Display for Bot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let gap = if self.budget.is_empty() { "" } else { " " };
        write!(f, "{}{gap}{}", self.player, self.budget)
    }
}

/// A bot's player at work in one game.
#[expect(missing_debug_implementations, reason = "players have none")]
pub struct Thinker {
    player: Box<dyn Player>,
    budget: Budget,
}

impl Thinker {
    /// Chooses a move. `clock` is the game's time control and what is left of it. The choice is that of a player built
    /// with `seed`, which must not come from the deal's: what is public decides the move.
    pub fn choose(
        &mut self,
        game: &Game,
        clock: Option<(crate::Clock, Duration)>,
        seed: Seed,
        stop: &Stop,
    ) -> Option<Choice> {
        let budget = Budget { clock: clock.map(|(control, _)| control), ..self.budget };
        let limits = budget.limits_now(game, clock.map(|(_, left)| left));
        self.player.reseed(seed);
        self.player.choose(game, &limits, stop)
    }
}

/// What a stranger may ask a bot to spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BotPolicy {
    /// What a bot gets whose text names no budget.
    pub usual: Budget,
    /// The longest time a move.
    pub time: Duration,
    /// The most nodes, or playouts, a move.
    pub nodes: u64,
    /// The greatest depth.
    pub depth: u32,
    /// The most threads.
    pub threads: u32,
    /// The most memory, in MB.
    pub megabytes: u32,
}

impl BotPolicy {
    /// What the page and the terminal allow on a machine with so many cores.
    #[must_use]
    pub fn page(cores: u32) -> BotPolicy {
        BotPolicy {
            usual: Budget::nodes(20_000),
            time: Duration::from_secs(60),
            nodes: 10_000_000,
            depth: 30,
            threads: cores,
            megabytes: 1024,
        }
    }

    /// Reads a bot that keeps to this policy.
    ///
    /// # Errors
    /// If the text is not a bot, or asks for more.
    pub fn read(&self, text: &str) -> Result<Bot, BotError> {
        let mut bot: Bot = text.parse()?;
        if bot.budget.is_empty() {
            bot.budget = self.usual;
        }
        if bot.budget.clock.is_some() {
            return Err(BotError::OwnClock(excerpt(text)));
        }
        let Limits { time, nodes, depth, playouts, .. } = bot.budget.limits;
        let modest = time.is_none_or(|time| time <= self.time)
            && [nodes, playouts].into_iter().flatten().all(|count| count <= self.nodes)
            && depth.is_none_or(|depth| depth <= self.depth);
        if !modest {
            return Err(BotError::TooMuch { text: excerpt(text), allowed: self.to_string() });
        }
        let options = bot.player.table();
        let above = |name: &str, most: u32| {
            let mut values = options.iter().filter(|option| option.name == name);
            values.any(|option| option.default.parse::<u32>().is_ok_and(|value| value > most))
        };
        if above("threads", self.threads) || above("memory", self.megabytes) || above("hash", self.megabytes) {
            return Err(BotError::TooLarge { text: excerpt(text), threads: self.threads, megabytes: self.megabytes });
        }
        Ok(bot)
    }
}

/// The bounds of a move: `60 seconds, 10,000,000 nodes or playouts and depth 30 a move`.
impl fmt::Display for BotPolicy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} seconds, ", self.time.as_secs())?;
        let digits = self.nodes.to_string();
        for (place, digit) in digits.chars().enumerate() {
            let gap = if place > 0 && (digits.len() - place).is_multiple_of(3) { "," } else { "" };
            write!(f, "{gap}{digit}")?;
        }
        write!(f, " nodes or playouts and depth {} a move", self.depth)
    }
}
