//! Sides and seats as documents name them.

use anqi_rules::{Color, Seat};
use serde::{Deserialize, Serialize};

/// `red` or `black`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum ColorName {
    /// Red.
    Red,
    /// Black.
    Black,
}

impl From<Color> for ColorName {
    fn from(color: Color) -> ColorName {
        match color {
            Color::Red => ColorName::Red,
            Color::Black => ColorName::Black,
        }
    }
}

/// `first` or `second`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum SeatName {
    /// The player who moves first.
    First,
    /// The other.
    Second,
}

impl From<Seat> for SeatName {
    fn from(seat: Seat) -> SeatName {
        match seat {
            Seat::First => SeatName::First,
            Seat::Second => SeatName::Second,
        }
    }
}

impl From<SeatName> for Seat {
    fn from(name: SeatName) -> Seat {
        match name {
            SeatName::First => Seat::First,
            SeatName::Second => Seat::Second,
        }
    }
}
