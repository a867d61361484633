//! Two squares in a row are a move, the same square twice is a flip: how both the numbered lines and UCI write it.

use std::fmt;
use std::str::FromStr;

use anqi_rules::{Move, Square};

/// A move as a pair of squares, `b8 b8` or `c6 c7`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct SquarePair(pub(crate) Square, pub(crate) Square);

impl From<Move> for SquarePair {
    fn from(mv: Move) -> SquarePair {
        match mv {
            Move::Flip(square) => SquarePair(square, square),
            Move::Step { from, to } => SquarePair(from, to),
        }
    }
}

impl From<SquarePair> for Move {
    fn from(SquarePair(from, to): SquarePair) -> Move {
        if from == to { Move::Flip(from) } else { Move::Step { from, to } }
    }
}

/// With a space, as the numbered lines have it.
impl fmt::Display for SquarePair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

/// What an engine may answer when asked for a move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum EngineAnswer {
    Move(Move),
    /// `a0 a0`.
    Resigns,
    /// Well written, but one of the squares is not there.
    OffBoard,
    /// Anything else.
    Nonsense,
}

impl EngineAnswer {
    pub(crate) fn of(from: &str, to: &str) -> EngineAnswer {
        let looks_like_a_square = |word: &str| {
            let mut characters = word.chars();
            characters.next().is_some_and(|file| file.is_ascii_lowercase())
                && word.len() > 1
                && characters.all(|rank| rank.is_ascii_digit())
        };
        match (Square::from_str(from), Square::from_str(to)) {
            (Ok(from), Ok(to)) => EngineAnswer::Move(SquarePair(from, to).into()),
            _ if (from, to) == ("a0", "a0") => EngineAnswer::Resigns,
            _ if looks_like_a_square(from) && looks_like_a_square(to) => EngineAnswer::OffBoard,
            _ => EngineAnswer::Nonsense,
        }
    }
}
