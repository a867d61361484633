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

/// Plies to the end of the game when the winner hurries and the loser delays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Distance(pub u16);

/// The verdict on a position with no ply limit: drawn, or decided at a distance.
///
/// A decided game ends with a player who is to move and cannot: lost at distance 0. So the distance of a win is
/// odd, that of a loss even, and one number holds both: 0 for a draw, otherwise the distance plus one.
///
/// ```
/// use anqi_endgame::{Distance, Value, Wdl};
///
/// assert_eq!(Value::decided(Distance(17)).wdl(), Wdl::Win);
/// assert_eq!(Value::decided(Distance(0)).wdl(), Wdl::Loss);
/// assert_eq!((Value::DRAW.wdl(), Value::DRAW.distance()), (Wdl::Draw, None));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Value(u16);

impl Value {
    /// Neither side can win.
    pub const DRAW: Value = Value(0);

    /// Won or lost in so many plies. Play without repetition is shorter than 65,535 plies in every table built so
    /// far by a factor of hundreds; a longer one would be a mistake of the builder.
    ///
    /// # Panics
    /// If the distance is 65,535.
    #[must_use]
    #[inline]
    pub const fn decided(distance: Distance) -> Value {
        assert!(distance.0 < u16::MAX);
        Value(distance.0 + 1)
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

    /// Plies to the end of the game; `None` for a draw.
    #[must_use]
    #[inline]
    pub const fn distance(self) -> Option<Distance> {
        match self.0 {
            0 => None,
            above => Some(Distance(above - 1)),
        }
    }
}
