//! Weights as plain data: a value for each kind, and named extras, in a text that a file can hold.

use std::fmt;
use std::str::FromStr;

use anqi_rules::{Color, Kind, Piece, Position, excerpt};

use super::larger_side;

/// Piece values, in the order of [`Kind::ALL`].
///
/// ```
/// use anqi_engine::Weights;
///
/// let weights: Weights = "king 1200\nguard 800\nminister 400\nrook 200\nknight 120\ncannon 300\npawn 120".parse()?;
/// assert_eq!(weights.to_string().parse::<Weights>()?, weights);
/// # Ok::<(), anqi_engine::WeightsError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights(pub [i32; 7]);

pub(crate) const NAMES: [&str; 7] = ["king", "guard", "minister", "rook", "knight", "cannon", "pawn"];

/// No weight may be larger: 32 of them must stay far below a win.
pub(crate) const MOST: i32 = 100_000;

impl Weights {
    /// The value of a kind.
    #[must_use]
    #[inline]
    pub const fn of(&self, kind: Kind) -> i32 {
        self.0[kind as usize]
    }

    /// What `color` has more than the other side, on the board and face down.
    #[must_use]
    #[inline]
    pub fn lead(&self, position: &Position, color: Color) -> i32 {
        let (own, foe) = (position.pieces(color), position.pieces(color.other()));
        let revealed: i32 = (1..)
            .zip(position.by_rung())
            .map(|(rung, set)| {
                let more = (set & own).len() as i32 - (set & foe).len() as i32;
                self.of(position.ladder().kind(rung)) * more
            })
            .sum();
        if position.hidden().is_empty() { revealed } else { revealed + self.hidden_lead(position, color) }
    }

    fn hidden_lead(&self, position: &Position, color: Color) -> i32 {
        let value = |(piece, count): (Piece, u8)| {
            self.of(piece.kind) * i32::from(count) * if piece.color == color { 1 } else { -1 }
        };
        position.reveals().map(value).sum()
    }

    /// No difference between what the two sides have or may come to have is larger, for either side.
    pub(crate) fn bound(&self, position: &Position) -> i32 {
        if self.0.iter().all(|weight| *weight >= 0) {
            return larger_side(|color| self.material(position, color)); // captures only take away
        }
        // A piece that is worth less than nothing counts for the other side.
        let sizes = Weights(self.0.map(i32::abs));
        Color::ALL.into_iter().map(|color| sizes.material(position, color)).sum()
    }

    /// The value of all pieces of `color` on the board and face down.
    #[must_use]
    pub fn material(&self, position: &Position, color: Color) -> i32 {
        Kind::ALL.into_iter().map(|kind| self.of(kind) * position.left(color, kind) as i32).sum()
    }
}

/// One `name value` a line.
impl fmt::Display for Weights {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        NAMES.iter().zip(self.0).try_for_each(|(name, value)| writeln!(f, "{name} {value}"))
    }
}

/// Why a text holds no weights.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum WeightsError {
    /// Not `name value`.
    #[error(
        "bad weight {0:?}, expected one of king, guard, minister, rook, knight, cannon, pawn and a number up to 100000"
    )]
    BadLine(String),
    /// Not a list of numbers.
    #[error("bad weights {0:?}, expected whole numbers up to 100000 such as 1200/800/400/200/120/300/120")]
    BadList(String),
    /// Not as many as the evaluation has.
    #[error("evaluation {eval} has {} weights ({expected}), found {found}", .expected.split(", ").filter(|name| !name.is_empty()).count())]
    Count {
        /// The evaluation.
        eval: &'static str,
        /// What its weights are called.
        expected: String,
        /// How many there were.
        found: usize,
    },
    /// A file that does not say whose weights these are.
    #[error("{0:?} names no evaluation, expected a first line such as: eval static")]
    NoEvaluation(String),
    /// Not `name value` with a name of the evaluation.
    #[error("bad weight {line:?}, expected one of {expected} and a number up to 100000")]
    BadName {
        /// The line.
        line: String,
        /// The names.
        expected: String,
    },
    /// A name given twice.
    #[error("{0} is given twice")]
    Twice(&'static str),
    /// A kind without a value.
    #[error("no weight for {0}")]
    Missing(&'static str),
}

impl FromStr for Weights {
    type Err = WeightsError;

    fn from_str(text: &str) -> Result<Weights, WeightsError> {
        let mut values = [None; 7];
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#')) {
            let bad = || WeightsError::BadLine(excerpt(line));
            let (name, value) = line.split_once(char::is_whitespace).ok_or_else(bad)?;
            let kind = NAMES.iter().position(|known| *known == name).ok_or_else(bad)?;
            let value = value.trim().parse().ok().filter(|value| (-MOST..=MOST).contains(value));
            values[kind] = Some(value.ok_or_else(bad)?);
        }
        let mut weights = Weights([0; 7]);
        for (kind, value) in values.into_iter().enumerate() {
            weights.0[kind] = value.ok_or(WeightsError::Missing(NAMES[kind]))?;
        }
        Ok(weights)
    }
}
