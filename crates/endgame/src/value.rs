//! What a position is worth, for the side to move.

/// Who wins under perfect play, seen by the side to move.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Wdl {
    /// The side to move loses.
    Loss,
    /// Neither side can win.
    Draw,
    /// The side to move wins.
    Win,
}

impl Wdl {
    /// The same seen by the other side.
    #[must_use]
    pub const fn reversed(self) -> Wdl {
        match self {
            Wdl::Loss => Wdl::Win,
            Wdl::Draw => Wdl::Draw,
            Wdl::Win => Wdl::Loss,
        }
    }

    /// `win`, `draw` or `loss`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Wdl::Loss => "loss",
            Wdl::Draw => "draw",
            Wdl::Win => "win",
        }
    }
}

/// Plies, when the winner hurries and the loser delays. To what is said by the [`Measure`](crate::Measure) of a table.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Distance(pub u16);

/// The verdict on a position: drawn, or decided at a distance. One number holds both: 0 for a draw, otherwise twice
/// the distance and one more for a loss, two more for a win.
///
/// ```
/// use anqi_endgame::{Distance, Value, Wdl};
///
/// let value = Value::win(Distance(17));
/// assert_eq!((value.wdl(), value.distance()), (Wdl::Win, Some(Distance(17))));
/// assert_eq!((Value::DRAW.wdl(), Value::DRAW.distance()), (Wdl::Draw, None));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(u16);

impl Value {
    /// Neither side can win.
    pub const DRAW: Value = Value(0);

    /// Won in so many plies. The longest play in the tables built so far is shorter than 32,767 plies by a factor of
    /// a hundred; a longer one would be a mistake of the builder.
    #[must_use]
    #[inline]
    pub const fn win(distance: Distance) -> Value {
        Value(2 * distance.0 + 2)
    }

    /// Lost in so many plies.
    #[must_use]
    #[inline]
    pub const fn loss(distance: Distance) -> Value {
        Value(2 * distance.0 + 1)
    }

    /// Win, draw or loss.
    #[must_use]
    #[inline]
    pub const fn wdl(self) -> Wdl {
        match self.0 {
            0 => Wdl::Draw,
            odd if odd % 2 == 1 => Wdl::Loss,
            _ => Wdl::Win,
        }
    }

    /// Plies to what the table measures; `None` for a draw.
    #[must_use]
    #[inline]
    pub const fn distance(self) -> Option<Distance> {
        match self.0 {
            0 => None,
            above => Some(Distance((above - 1) / 2)),
        }
    }

    /// As it stands in a table.
    #[inline]
    pub(crate) const fn code(self) -> u16 {
        self.0
    }

    #[inline]
    pub(crate) const fn from_code(code: u16) -> Value {
        Value(code)
    }
}
