//! `Contender`: who plays, as a person writes it down.

use std::fmt;
use std::str::FromStr;

use anqi_engine::PlayerSpec;
use anqi_protocol::{OutsideSpec, OutsideSpecError, Protocol};
use anqi_rules::{Seed, excerpt};

use crate::weights::{WeightsFileError, with_weights_from_files, without_weights_files};
use anqi_play::{Bot, BotError, Budget, BudgetError};

/// Who plays: a player of ours or an outside program, its name, and its own budget if it has one.
///
/// One line. A player of ours is its player string, and words `name=…`, `nodes=…` and so on; an outside program is
/// an [`OutsideSpec`]. Quotes keep spaces together. `{seed}` in a program's command line becomes the seed that a
/// player of ours would get.
///
/// ```
/// use anqi_lab::Contender;
///
/// for text in ["chen:var2,below=moves,k=8", "chen:var1 name=fast nodes=5000", "cmd=./engine name=Gold tc=15:00"] {
///     assert_eq!(text.parse::<Contender>()?.to_string(), text);
/// }
/// assert_eq!("chen:var1".parse::<Contender>()?.name, "chen:var1");
/// # Ok::<(), anqi_lab::ContenderError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Contender {
    /// What records and tables call it.
    pub name: String,
    /// Who it is.
    pub who: Who,
    /// What it may spend; `None` for what the plan says.
    pub budget: Option<Budget>,
}

/// A player of ours, or an outside program.
#[derive(Clone, PartialEq, Debug)]
pub enum Who {
    /// A player by its player string.
    Player(PlayerSpec),
    /// An outside program.
    Outside(OutsideSpec),
}

/// The longest name, in characters: it must fit in tables and records.
const LONGEST_NAME: usize = 100;

/// Why a text names no contender.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ContenderError {
    /// Nothing there.
    #[error("no player, expected a player string such as chen:var1, or cmd=PROGRAM")]
    Empty,
    /// Not a player.
    #[error(transparent)]
    Bot(BotError),
    /// A weights file that is none.
    #[error(transparent)]
    Weights(#[from] WeightsFileError),
    /// Not a program.
    #[error(transparent)]
    Outside(#[from] OutsideSpecError),
    /// Not a budget.
    #[error(transparent)]
    Budget(#[from] BudgetError),
    /// A quote without end.
    #[error("a quote is not closed in {0:?}")]
    Quote(String),
    /// No such key.
    #[error("unknown key {0:?} after a player string, expected name=, nodes=, playouts=, depth=, movetime= or tc=")]
    UnknownKey(String),
    /// A key given twice.
    #[error("name is given twice")]
    TwoNames,
    /// A name that would not fit.
    #[error("bad name {0:?}, expected up to {LONGEST_NAME} characters in one line")]
    Name(String),
    /// A player that would think for ever.
    #[error("{player} is not bounded by {budget}, give it nodes=, depth=, movetime= or tc=")]
    Unbounded {
        /// The player.
        player: String,
        /// Its budget.
        budget: String,
    },
    /// A bound of which the program's protocol cannot tell it.
    #[error("{program} cannot be told {budget} by protocol {protocol}, only a clock: set it on its command line")]
    Untold {
        /// The program.
        program: String,
        /// The budget.
        budget: String,
        /// The protocol.
        protocol: &'static str,
    },
}

impl From<BotError> for ContenderError {
    fn from(error: BotError) -> ContenderError {
        match error {
            BotError::Budget(BudgetError::Unknown(word)) => ContenderError::UnknownKey(word),
            error => ContenderError::Bot(error),
        }
    }
}

impl Contender {
    /// A player of ours under its own name.
    #[must_use]
    pub fn player(spec: PlayerSpec) -> Contender {
        Contender { name: spec.to_string(), who: Who::Player(spec), budget: None }
    }

    /// What it may spend when the plan says `usual`, without what it cannot be told.
    ///
    /// # Errors
    /// If that is no bound for it, or if a bound of its own cannot be told to it.
    pub(crate) fn effective_budget(&self, usual: Budget) -> Result<Budget, ContenderError> {
        let budget = self.budget.unwrap_or(usual);
        match &self.who {
            Who::Player(spec) if budget.clock.is_none() && !spec.is_bounded_by(&budget.limits) => {
                Err(ContenderError::Unbounded { player: spec.to_string(), budget: budget.to_string() })
            }
            Who::Outside(spec) if spec.protocol != Protocol::Uci => {
                // These protocols know nothing but the clock of a game.
                let told = Budget { clock: budget.clock, ..Budget::default() };
                match self.budget {
                    Some(own) if own != told => Err(ContenderError::Untold {
                        program: self.name.clone(),
                        budget: own.to_string(),
                        protocol: spec.protocol.name(),
                    }),
                    _ => Ok(told),
                }
            }
            _ => Ok(budget),
        }
    }

    /// Another name for the same.
    pub(crate) fn rename(&mut self, name: String) {
        if let Who::Outside(spec) = &mut self.who {
            spec.name = Some(name.clone());
        }
        self.name = name;
    }

    fn checked(name: String, who: Who, budget: Budget) -> Result<Contender, ContenderError> {
        let fits = !name.is_empty() && name.chars().count() <= LONGEST_NAME;
        if !fits || name.trim() != name || name.chars().any(char::is_control) {
            return Err(ContenderError::Name(excerpt(&name)));
        }
        Ok(Contender { name, who, budget: (!budget.is_empty()).then_some(budget) })
    }
}

/// The program with `{seed}` in its command line replaced.
pub(crate) fn seeded(spec: &OutsideSpec, seed: &Seed) -> OutsideSpec {
    let mut spec = spec.clone();
    spec.command.iter_mut().for_each(|word| *word = word.replace("{seed}", &seed.to_string()));
    spec
}

impl FromStr for Contender {
    type Err = ContenderError;

    fn from_str(text: &str) -> Result<Contender, ContenderError> {
        Contender::read(text, with_weights_from_files)
    }
}

impl Contender {
    /// Reads a contender of a plan that comes from another machine. Reading opens no file.
    ///
    /// # Errors
    /// As [`FromStr`], and if the text names a file of weights: a plan that is sent has the weights themselves.
    pub fn received(text: &str) -> Result<Contender, ContenderError> {
        Contender::read(text, |player| without_weights_files(player).map(str::to_owned))
    }

    fn read(
        text: &str,
        with_weights: impl FnOnce(&str) -> Result<String, WeightsFileError>,
    ) -> Result<Contender, ContenderError> {
        if OutsideSpec::is_meant_by(text) {
            let spec: OutsideSpec = text.parse()?;
            let budget = Budget { limits: spec.limits, clock: spec.clock };
            let name = spec.display_name().to_owned();
            return Contender::checked(name, Who::Outside(spec), budget);
        }
        let words = shell_words::split(text).map_err(|_| ContenderError::Quote(excerpt(text)))?;
        let (player, words) = words.split_first().ok_or(ContenderError::Empty)?;
        let mut names = Vec::new();
        let is_name = |key, value| {
            let known = key == "name";
            names.extend(known.then_some(value));
            known
        };
        let bot = Bot::from_words(&with_weights(player)?, words.iter().map(String::as_str), is_name)?;
        let name = match names[..] {
            [] => bot.player.to_string(),
            [name] => name.to_owned(),
            _ => return Err(ContenderError::TwoNames),
        };
        Contender::checked(name, Who::Player(bot.player), bot.budget)
    }
}

impl fmt::Display for Contender {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.who {
            Who::Outside(spec) => write!(f, "{spec}"),
            Who::Player(spec) => {
                write!(f, "{spec}")?;
                if self.name != spec.to_string() {
                    write!(f, " name={}", shell_words::quote(&self.name))?;
                }
                self.budget.map_or(Ok(()), |budget| write!(f, " {budget}"))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Contender;
    use crate::Budget;

    #[test]
    fn shows_what_is_wrong() {
        for (text, message) in [
            ("", "no player, expected a player string such as chen:var1, or cmd=PROGRAM"),
            ("random name='x", "a quote is not closed in \"random name='x\""),
            ("random nodes=1 nodes=2", "budget nodes is given twice"),
            ("random name=a name=b", "name is given twice"),
            ("random name=' '", "bad name \" \", expected up to 100 characters in one line"),
            (
                "random hash=16",
                "unknown key \"hash=16\" after a player string, expected name=, nodes=, playouts=, depth=, movetime= \
                 or tc=",
            ),
        ] {
            assert_eq!(text.parse::<Contender>().unwrap_err().to_string(), message);
        }
        assert!("nobody".parse::<Contender>().unwrap_err().to_string().starts_with("unknown player \"nobody\""));
    }

    #[test]
    fn everybody_is_bounded() {
        let budget = |text: &str, usual: &str| {
            let contender: Contender = text.parse().unwrap();
            contender.effective_budget(usual.parse().unwrap()).map(|budget: Budget| budget.to_string())
        };
        assert_eq!(budget("chen:var1", "nodes=5").unwrap(), "nodes=5");
        assert_eq!(budget("chen:var1 depth=3", "nodes=5").unwrap(), "depth=3");
        assert!(budget("chen:var1 playouts=3", "nodes=5").is_err());
        assert_eq!(budget("random playouts=3", "nodes=5").unwrap(), "playouts=3");
        assert_eq!(budget("cmd=x", "nodes=5").unwrap(), "");
        assert_eq!(budget("cmd=x", "nodes=5 tc=1:00").unwrap(), "tc=1:00");
        assert_eq!(budget("cmd=x proto=uci", "nodes=5").unwrap(), "nodes=5");
        assert!(budget("cmd=x nodes=5", "nodes=5").is_err());
    }
}
