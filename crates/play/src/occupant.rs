//! Who sits at a side of the board.

use std::fmt;

use anqi_engine::PlayerSpec;
use anqi_rules::excerpt;

use crate::bot::{Bot, BotError, BotPolicy};
use crate::levels::{LEVELS, Level};

/// Who moves for one side.
#[derive(Clone, PartialEq, Debug)]
pub enum Occupant {
    /// A human at this face.
    Human,
    /// A level.
    Level(&'static Level, Bot),
    /// A player string with its budget.
    Bot(Bot),
    /// A program or a player elsewhere; its moves come from outside.
    Remote,
}

impl Occupant {
    /// Reads `person`, `level:3` or a player string with its budget.
    ///
    /// # Errors
    /// If it is none of them, or asks for more than the policy allows.
    pub fn read(text: &str, policy: &BotPolicy) -> Result<Occupant, BotError> {
        if text == "person" {
            return Ok(Occupant::Human);
        }
        if let Some(number) = text.strip_prefix("level:") {
            let level = number.parse::<usize>().ok().and_then(|number| LEVELS.get(number.checked_sub(1)?));
            let level = level.ok_or_else(|| BotError::Level(excerpt(text)))?;
            return Ok(Occupant::Level(level, policy.read(level.player)?));
        }
        policy.read(text).map(Occupant::Bot)
    }

    /// Who sat there by a record; a name that is no player's is a human's.
    #[must_use]
    pub fn named(name: &str, policy: &BotPolicy) -> Occupant {
        let Ok(bot) = policy.read(&PlayerSpec::stored(name)) else { return Occupant::Human };
        let same = |level: &&Level| policy.read(level.player).as_ref() == Ok(&bot);
        match LEVELS.iter().find(same) {
            Some(level) => Occupant::Level(level, bot),
            None => Occupant::Bot(bot),
        }
    }

    /// The bot that thinks for this side, if one does.
    #[must_use]
    pub fn bot(&self) -> Option<&Bot> {
        match self {
            Occupant::Human | Occupant::Remote => None,
            Occupant::Level(_, bot) | Occupant::Bot(bot) => Some(bot),
        }
    }

    /// Whether a human moves here.
    #[must_use]
    pub fn is_human(&self) -> bool {
        *self == Occupant::Human
    }

    /// The number of the level, if it is one.
    #[must_use]
    pub fn level(&self) -> Option<usize> {
        if let Occupant::Level(level, _) = self { Some(level.number) } else { None }
    }

    /// What a record says: who it was, exactly.
    #[must_use]
    pub fn recorded(&self) -> String {
        match self {
            Occupant::Human => "person".to_owned(),
            Occupant::Remote => "remote".to_owned(),
            Occupant::Level(_, bot) | Occupant::Bot(bot) => bot.to_string(),
        }
    }
}

/// The text that [`Occupant::read`] reads.
impl fmt::Display for Occupant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Occupant::Level(level, _) => write!(f, "level:{}", level.number),
            _ => f.write_str(&self.recorded()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_go_round_or_say_what_is_wrong() {
        let policy = BotPolicy::page(2);
        let read = |text: &str| Occupant::read(text, &policy);
        for text in ["person", "level:1", "level:8", "random nodes=20000", "mcts:chance,cut=30 playouts=640"] {
            assert_eq!(read(text).unwrap().to_string(), text);
        }
        for text in ["person", "level:1", "level:8", "chen:var1 depth=4"] {
            let occupant = read(text).unwrap();
            assert_eq!(Occupant::named(&occupant.recorded(), &policy), occupant);
        }
        assert_eq!(Occupant::named("Alice", &policy), Occupant::Human);
        assert_eq!(read("chen:var1").unwrap().to_string(), "chen:var1 nodes=20000");
        let bounds = "asks for too much, expected at most 60 seconds, 10,000,000 nodes or playouts and depth 30 a move";
        let size = "asks for too much, expected at most 2 threads and 1024 MB";
        for (text, message) in [
            ("level:0", "no level \"level:0\", expected level:1 to level:8"),
            ("level:9", "no level \"level:9\""),
            ("level:x", "no level \"level:x\""),
            ("nobody", "unknown player \"nobody\""),
            ("cmd=./anything", "unknown player"),
            ("mcts:chance nodes=99999999999", bounds),
            ("mcts:chance movetime=61", bounds),
            ("chen:var1 depth=99", bounds),
            ("mcts:chance,memory=65536", size),
            ("champion,hash=65536", size),
            ("mcts:chance,threads=256", size),
            (
                "chen:var1 tc=15:00",
                "a player at the page takes no clock of its own, but \"chen:var1 tc=15:00\" has one",
            ),
            ("chen:var1 speed=3", "unknown budget \"speed=3\", expected nodes=, playouts=, depth=, movetime= or tc="),
            ("", "unknown player \"\""),
        ] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
