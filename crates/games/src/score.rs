//! `EngineValue`: what an engine says of a position.

use std::fmt;

use anqi_rules::Seat;

/// What an engine or a record says of a position, from the point of view of the side to move.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum EngineValue {
    /// Hundredths of a pawn.
    Centipawns(f64),
    /// A forced win (`true`) or loss (`false`), in so many moves or plies if the engine says: engines of chess count
    /// moves, those of shogi plies.
    Mate {
        /// Whether the side to move wins.
        wins: bool,
        /// How far away it is.
        distance: Option<u32>,
    },
    /// Points of territory.
    Lead(f64),
}

impl EngineValue {
    /// One number, more is better for the side to move. A mate is a proven result, better than any number: it is infinite,
    /// at whatever distance, so that no invented scale mixes it with pawns.
    ///
    /// ```
    /// use anqi_games::EngineValue;
    ///
    /// let mate = EngineValue::Mate { wins: false, distance: Some(3) };
    /// assert!(mate.value() < EngineValue::Centipawns(-1500.0).value());
    /// ```
    #[must_use]
    pub const fn value(self) -> f64 {
        match self {
            EngineValue::Centipawns(value) | EngineValue::Lead(value) => value,
            EngineValue::Mate { wins: true, .. } => f64::INFINITY,
            EngineValue::Mate { wins: false, .. } => f64::NEG_INFINITY,
        }
    }

    /// The same as the other side sees it.
    #[must_use]
    pub fn reversed(self) -> EngineValue {
        match self {
            EngineValue::Centipawns(value) => EngineValue::Centipawns(0.0 - value),
            EngineValue::Lead(value) => EngineValue::Lead(0.0 - value),
            EngineValue::Mate { wins, distance } => EngineValue::Mate { wins: !wins, distance },
        }
    }

    /// What the side to move sees if `self` is what [`Seat::First`] sees, and the other way round.
    #[must_use]
    pub fn seen_by(self, side: Seat) -> EngineValue {
        if side == Seat::First { self } else { self.reversed() }
    }

    /// A mate by its signed distance; zero is a mate on the board, which the side to move has lost.
    pub(crate) fn mate(distance: i64) -> EngineValue {
        let length = u32::try_from(distance.unsigned_abs()).unwrap_or(u32::MAX);
        EngineValue::Mate { wins: distance > 0, distance: Some(length) }
    }
}

/// `cp 35`, `mate -3`, `mate +`, `lead 4.5`: as [`FromStr`](std::str::FromStr) reads it.
impl fmt::Display for EngineValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            EngineValue::Centipawns(value) => write!(f, "cp {value}"),
            EngineValue::Lead(value) => write!(f, "lead {value}"),
            EngineValue::Mate { wins, distance } => {
                write!(f, "mate {}", if wins { "+" } else { "-" })?;
                distance.map_or(Ok(()), |distance| write!(f, "{distance}"))
            }
        }
    }
}

/// A text that is no evaluation.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("bad evaluation {0:?}, expected \"cp NUMBER\", \"mate DISTANCE\" or \"lead NUMBER\"")]
pub struct BadEvaluation(pub String);

impl std::str::FromStr for EngineValue {
    type Err = BadEvaluation;

    fn from_str(text: &str) -> Result<EngineValue, BadEvaluation> {
        let bad = || BadEvaluation(anqi_rules::excerpt(text));
        let (unit, number) = text.split_once(' ').ok_or_else(bad)?;
        match unit {
            "cp" => finite(number).map(EngineValue::Centipawns),
            "lead" => finite(number).map(EngineValue::Lead),
            "mate" => mate_from(number),
            _ => None,
        }
        .ok_or_else(bad)
    }
}

/// A distance with a sign, or a sign alone: `3`, `+3`, `-0`, `+`, `-`.
pub(crate) fn mate_from(text: &str) -> Option<EngineValue> {
    let wins = !text.starts_with('-');
    let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
    match digits {
        "" if text.is_empty() => None,
        "" => Some(EngineValue::Mate { wins, distance: None }),
        "0" if !text.starts_with('+') => Some(EngineValue::mate(0)),
        _ if !digits.bytes().all(|byte| byte.is_ascii_digit()) => None,
        _ => Some(EngineValue::Mate { wins, distance: Some(digits.parse().unwrap_or(u32::MAX)) }),
    }
}

/// A number that is one: `nan` and infinities are none.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|number: &f64| number.is_finite())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_goes_round_and_nonsense_is_refused() {
        for text in ["cp 35", "cp -0.5", "mate -3", "mate -0", "mate +12", "mate +", "mate -", "lead -4.5"] {
            assert_eq!(text.parse::<EngineValue>().unwrap().to_string(), text);
        }
        assert_eq!("mate 3".parse(), Ok(EngineValue::mate(3)));
        assert_eq!("mate 0".parse(), Ok(EngineValue::mate(0)));
        assert_eq!(EngineValue::mate(0).value(), f64::NEG_INFINITY);
        for text in ["", "cp", "cp nan", "cp inf", "lead -inf", "mate", "mate x", "mate ", "mate 3.5", "cp  3", "elo 3"]
        {
            assert!(text.parse::<EngineValue>().is_err(), "{text}");
        }
    }
}
