//! Who sits at a side of the board: a person, or a player by level or by its string.

use std::fmt;
use std::str::FromStr;
use std::thread::available_parallelism;
use std::time::Duration;

use anqi_engine::{BuildError, Choice, Limits, PlayerSpec, Resources, SpecError, Stop};
use anqi_play::{Budget, BudgetError, Clock, LEVELS, Level};
use anqi_rules::{Game, Seed, excerpt};

/// Who moves for one side.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Sitter {
    /// Somebody at the page.
    Person,
    /// A level.
    Level(&'static Level, Engine),
    /// A player string with its budget.
    Engine(Engine),
}

/// A player of ours and how much it may think: `chen:var1 depth=4`. Programs of others are no such text, and nobody
/// may ask for the whole machine.
#[derive(Clone, PartialEq, Debug)]
pub struct Engine {
    spec: PlayerSpec,
    budget: Budget,
}

/// Why a text names nobody who could sit down.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum SitterError {
    /// No such level.
    #[error("no level {0:?}, expected level:1 to level:{most}", most = LEVELS.len())]
    Level(String),
    /// No such player.
    #[error(transparent)]
    Spec(#[from] SpecError),
    /// A file that the player names cannot be used.
    #[error(transparent)]
    Files(#[from] BuildError),
    /// No such budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A clock that belongs to the game.
    #[error("a player at the page takes no clock of its own, but {0:?} has one: set the game's clock")]
    OwnClock(String),
    /// A budget beyond reason.
    #[error("{0:?} asks for too much, expected at most 60 seconds, 10,000,000 nodes or playouts and depth 30 a move")]
    TooMuch(String),
    /// Threads or memory beyond reason.
    #[error("{0:?} asks for too much, expected at most {most} threads and 1024 MB", most = cores())]
    TooLarge(String),
}

/// Thought over when a player string says nothing else.
const DEFAULT_NODES: u64 = 20_000;
const MOST_NODES: u64 = 10_000_000;
const MOST_TIME: Duration = Duration::from_secs(60);
const MOST_DEPTH: u32 = 30;

fn cores() -> u32 {
    available_parallelism().map_or(1, |cores| u32::try_from(cores.get()).unwrap_or(u32::MAX))
}

impl FromStr for Sitter {
    type Err = SitterError;

    fn from_str(text: &str) -> Result<Sitter, SitterError> {
        if text == "person" {
            return Ok(Sitter::Person);
        }
        if let Some(number) = text.strip_prefix("level:") {
            let level = number.parse::<usize>().ok().and_then(|number| LEVELS.get(number.checked_sub(1)?));
            let level = level.ok_or_else(|| SitterError::Level(excerpt(text)))?;
            return Ok(Sitter::Level(level, level.player.parse()?));
        }
        text.parse().map(Sitter::Engine)
    }
}

impl FromStr for Engine {
    type Err = SitterError;

    fn from_str(text: &str) -> Result<Engine, SitterError> {
        let (spec, budget) = text.trim().split_once(char::is_whitespace).unwrap_or((text.trim(), ""));
        let spec: PlayerSpec = spec.parse()?;
        let budget = if budget.trim().is_empty() { Budget::nodes(DEFAULT_NODES) } else { budget.parse()? };
        if budget.clock.is_some() {
            return Err(SitterError::OwnClock(excerpt(text)));
        }
        let Limits { time, nodes, depth, playouts, .. } = budget.limits;
        let modest = time.is_none_or(|time| time <= MOST_TIME)
            && [nodes, playouts].into_iter().flatten().all(|count| count <= MOST_NODES)
            && depth.is_none_or(|depth| depth <= MOST_DEPTH);
        if !modest {
            return Err(SitterError::TooMuch(excerpt(text)));
        }
        let option = |name: &str| spec.table().into_iter().find(|option| option.name == name);
        let above = |name: &str, most: u32| {
            option(name).is_some_and(|option| option.default.parse::<u32>().is_ok_and(|value| value > most))
        };
        if above("threads", cores()) || above("memory", 1024) || above("hash", 1024) {
            return Err(SitterError::TooLarge(excerpt(text)));
        }
        Ok(Engine { spec, budget })
    }
}

impl fmt::Display for Sitter {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Sitter::Person => f.write_str("person"),
            Sitter::Level(level, _) => write!(f, "level:{}", level.number),
            Sitter::Engine(engine) => engine.fmt(f),
        }
    }
}

impl fmt::Display for Engine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.spec, self.budget)
    }
}

impl Sitter {
    /// Whoever thinks for this side, if it is not a person.
    pub(crate) fn engine(&self) -> Option<&Engine> {
        match self {
            Sitter::Person => None,
            Sitter::Level(_, engine) | Sitter::Engine(engine) => Some(engine),
        }
    }

    /// The number of the level, if it is one.
    pub(crate) fn level(&self) -> Option<usize> {
        if let Sitter::Level(level, _) = self { Some(level.number) } else { None }
    }

    /// Who sat there by a record; a name that is no player's is a person's.
    pub(crate) fn named(name: &str) -> Sitter {
        let Ok(engine) = name.parse::<Engine>() else { return Sitter::Person };
        let same = |level: &&Level| level.player.parse().as_ref() == Ok(&engine);
        match LEVELS.iter().find(same) {
            Some(level) => Sitter::Level(level, engine),
            None => Sitter::Engine(engine),
        }
    }

    /// What stands in a record: who it was, exactly.
    pub(crate) fn recorded(&self) -> String {
        self.engine().map_or_else(|| "person".to_owned(), Engine::to_string)
    }
}

impl Engine {
    /// Opens the files that the player names.
    ///
    /// # Errors
    /// If one cannot be used.
    pub fn open(&self, resources: &Resources) -> Result<(), BuildError> {
        resources.open_for(&self.spec)
    }

    /// Chooses a move; `clock` is the time control and what is left of it. The seed must not come from the deal's: what is
    /// public decides the move.
    ///
    /// # Errors
    /// If a file that the player names cannot be used.
    pub fn choose(
        &self,
        game: &Game,
        clock: Option<(Clock, Duration)>,
        seed: Seed,
        resources: &Resources,
        stop: &Stop,
    ) -> Result<Option<Choice>, BuildError> {
        let (control, left) = clock.unzip();
        let limits = Budget { clock: control, ..self.budget }.limits_now(game, left);
        // A game that was kept may name files that were not opened yet.
        self.open(resources)?;
        Ok(self.spec.build(seed, resources)?.choose(game, &limits, stop))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_go_round_or_say_what_is_wrong() {
        for text in ["person", "level:1", "level:8", "random nodes=20000", "mcts:chance,cut=30 playouts=640"] {
            assert_eq!(text.parse::<Sitter>().unwrap().to_string(), text);
        }
        for text in ["person", "level:1", "level:8", "chen:var1 depth=4"] {
            let sitter: Sitter = text.parse().unwrap();
            assert_eq!(Sitter::named(&sitter.recorded()), sitter);
        }
        assert_eq!(Sitter::named("Alice"), Sitter::Person);
        assert_eq!("chen:var1".parse::<Sitter>().unwrap().to_string(), "chen:var1 nodes=20000");
        for text in [
            "level:0",
            "level:9",
            "level:x",
            "nobody",
            "cmd=./anything",
            "mcts:chance nodes=99999999999",
            "mcts:chance movetime=61",
            "mcts:chance,memory=65536",
            "champion,hash=65536",
            "mcts:chance,threads=256",
            "chen:var1 depth=99",
            "chen:var1 tc=15:00",
            "chen:var1 speed=3",
            "",
        ] {
            assert!(text.parse::<Sitter>().is_err(), "{text}");
        }
    }
}
