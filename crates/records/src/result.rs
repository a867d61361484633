//! How a record says that its game ended.

use std::fmt;
use std::str::FromStr;

use anqi_rules::{Outcome, ParseError, Seat, Termination, excerpt};

/// `1-0`, `0-1`, `1/2-1/2` or `*`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameResult {
    /// Won by this seat.
    Won(Seat),
    /// A draw.
    Drawn,
    /// No result is known.
    Unfinished,
}

impl GameResult {
    /// All four.
    pub const ALL: [GameResult; 4] =
        [GameResult::Won(Seat::First), GameResult::Won(Seat::Second), GameResult::Drawn, GameResult::Unfinished];

    /// The text in records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            GameResult::Won(Seat::First) => "1-0",
            GameResult::Won(Seat::Second) => "0-1",
            GameResult::Drawn => "1/2-1/2",
            GameResult::Unfinished => "*",
        }
    }
}

impl From<Option<Outcome>> for GameResult {
    fn from(outcome: Option<Outcome>) -> GameResult {
        match outcome {
            Some(Outcome { winner: Some(seat), .. }) => GameResult::Won(seat),
            Some(Outcome { winner: None, .. }) => GameResult::Drawn,
            None => GameResult::Unfinished,
        }
    }
}

impl fmt::Display for GameResult {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that is not a result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a result, expected 1-0, 0-1, 1/2-1/2 or *")]
pub struct ResultError(String);

impl FromStr for GameResult {
    type Err = ResultError;

    fn from_str(text: &str) -> Result<GameResult, ResultError> {
        GameResult::ALL.into_iter().find(|result| result.name() == text).ok_or_else(|| ResultError(excerpt(text)))
    }
}

/// Why a record says that its game ended: the text of a [`Termination`], or `no move`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Reason {
    /// Exactly this.
    Exactly(Termination),
    /// The match server's `NoMove`, written `no move`: somebody had nothing left or could do
    /// nothing, and the server does not say which.
    NoMove,
}

impl Reason {
    /// Whether a game that ended by `termination` ended for this reason.
    #[must_use]
    pub fn admits(self, termination: Termination) -> bool {
        match self {
            Reason::Exactly(exactly) => exactly == termination,
            Reason::NoMove => matches!(termination, Termination::Elimination | Termination::NoAction),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Reason::Exactly(termination) => write!(f, "{termination}"),
            Reason::NoMove => f.write_str("no move"),
        }
    }
}

impl FromStr for Reason {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Reason, ParseError> {
        if text == "no move" { Ok(Reason::NoMove) } else { text.parse().map(Reason::Exactly) }
    }
}
