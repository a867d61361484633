//! `Budget`: what a side may spend, in the words of match runners.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anqi_engine::Limits;
use anqi_rules::{Game, excerpt};

use crate::clock::{Clock, ClockError};
use crate::time::Stock;

/// What a side may spend: on each move, on the whole game, or both. The first bound that is reached counts.
///
/// Words divided by spaces: `nodes=100000`, `playouts=640`, `depth=4`, `movetime=0.25` (seconds),
/// `tc=MOVES/MINUTES:SECONDS+INCREMENT` (a clock).
///
/// ```
/// use anqi_play::Budget;
///
/// for text in ["nodes=100000", "depth=4", "movetime=0.25", "tc=15:00", "tc=40/5:00+0.5", "nodes=5000 tc=1:00"] {
///     assert_eq!(text.parse::<Budget>()?.to_string(), text);
/// }
/// assert!("nodes=1000".parse::<Budget>()?.is_reproducible());
/// assert!(!"tc=15:00".parse::<Budget>()?.is_reproducible());
/// # Ok::<(), anqi_play::BudgetError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Budget {
    /// For each move.
    pub limits: Limits,
    /// For the game.
    pub clock: Option<Clock>,
}

/// Why a text is not a budget.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BudgetError {
    /// No such word.
    #[error("unknown budget {0:?}, expected nodes=, playouts=, depth=, movetime= or tc=")]
    Unknown(String),
    /// A bad number.
    #[error("bad budget {0:?}, expected a number from 1 on")]
    Number(String),
    /// A bad time.
    #[error("bad budget {0:?}, expected seconds, to the millisecond")]
    Seconds(String),
    /// A bad clock.
    #[error("tc: {0}")]
    Clock(#[from] ClockError),
    /// A word given twice.
    #[error("budget {0} is given twice")]
    Twice(&'static str),
}

impl Budget {
    /// The words, in their order.
    pub const KEYS: [&str; 5] = ["nodes", "playouts", "depth", "movetime", "tc"];

    /// So many nodes a move, and no clock.
    #[must_use]
    pub fn nodes(nodes: u64) -> Budget {
        Budget { limits: Limits::nodes(nodes), clock: None }
    }

    /// Whether nothing is bounded.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Budget::default()
    }

    /// Whether the same game comes out on every machine: nothing is bounded by time.
    #[must_use]
    pub fn is_reproducible(&self) -> bool {
        self.limits.time.is_none() && self.clock.is_none()
    }

    /// The limits of the next move of `game`, of which the clock shows `left`.
    #[must_use]
    pub fn limits_now(&self, game: &Game, left: Option<Duration>) -> Limits {
        match (self.clock, left) {
            (Some(clock), Some(left)) => Stock::of(&clock, left, game).bound(&self.limits, game),
            _ => self.limits,
        }
    }

    /// Takes one `key=value`; false if the key is not a budget's.
    ///
    /// # Errors
    /// If the value is bad or the key was given before.
    pub fn set(&mut self, key: &str, value: &str) -> Result<bool, BudgetError> {
        let Some(key) = Budget::KEYS.into_iter().find(|known| *known == key) else { return Ok(false) };
        let limits = &mut self.limits;
        match key {
            "nodes" => fill(&mut limits.nodes, key, number(key, value)?),
            "playouts" => fill(&mut limits.playouts, key, number(key, value)?),
            "depth" => fill(&mut limits.depth, key, u32::try_from(number(key, value)?).unwrap_or(u32::MAX)),
            "movetime" => fill(&mut limits.time, key, seconds(key, value)?),
            _ => fill(&mut self.clock, key, value.parse()?),
        }?;
        Ok(true)
    }
}

fn fill<T>(place: &mut Option<T>, key: &'static str, value: T) -> Result<(), BudgetError> {
    match place.replace(value) {
        None => Ok(()),
        Some(_) => Err(BudgetError::Twice(key)),
    }
}

fn number(key: &str, value: &str) -> Result<u64, BudgetError> {
    let digits = value.bytes().all(|byte| byte.is_ascii_digit());
    let number = if digits { value.parse().ok().filter(|&number| number > 0) } else { None };
    number.ok_or_else(|| BudgetError::Number(excerpt(&format!("{key}={value}"))))
}

/// A clock's bare seconds.
fn seconds(key: &str, value: &str) -> Result<Duration, BudgetError> {
    let plain = value.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.');
    let clock = if plain { value.parse::<Clock>().ok() } else { None };
    clock.map(|clock| clock.base).ok_or_else(|| BudgetError::Seconds(excerpt(&format!("{key}={value}"))))
}

impl FromStr for Budget {
    type Err = BudgetError;

    fn from_str(text: &str) -> Result<Budget, BudgetError> {
        let mut budget = Budget::default();
        for word in text.split_ascii_whitespace() {
            let known = match word.split_once('=') {
                Some((key, value)) => budget.set(key, value)?,
                None => false,
            };
            if !known {
                return Err(BudgetError::Unknown(excerpt(word)));
            }
        }
        if budget.is_empty() { Err(BudgetError::Unknown(excerpt(text))) } else { Ok(budget) }
    }
}

impl fmt::Display for Budget {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Limits { nodes, playouts, depth, time, .. } = self.limits;
        let values = [
            nodes.map(|nodes| nodes.to_string()),
            playouts.map(|playouts| playouts.to_string()),
            depth.map(|depth| depth.to_string()),
            time.map(|time| time.as_secs_f64().to_string()),
            self.clock.map(|clock| clock.to_string()),
        ];
        let mut gap = "";
        for (key, value) in Budget::KEYS.into_iter().zip(values) {
            if let Some(value) = value {
                write!(f, "{gap}{key}={value}")?;
                gap = " ";
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::Budget;

    #[test]
    fn shows_what_is_wrong() {
        for (text, message) in [
            ("", "unknown budget \"\", expected nodes=, playouts=, depth=, movetime= or tc="),
            ("nodes", "unknown budget \"nodes\", expected nodes=, playouts=, depth=, movetime= or tc="),
            ("nodes=0", "bad budget \"nodes=0\", expected a number from 1 on"),
            ("depth=-1", "bad budget \"depth=-1\", expected a number from 1 on"),
            ("movetime=1:00", "bad budget \"movetime=1:00\", expected seconds, to the millisecond"),
            ("nodes=1 nodes=2", "budget nodes is given twice"),
        ] {
            assert_eq!(text.parse::<Budget>().unwrap_err().to_string(), message);
        }
        assert!("tc=fast".parse::<Budget>().unwrap_err().to_string().starts_with("tc: \"fast\" is not a time control"));
    }
}
