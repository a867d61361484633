//! `Flavour`: what a table says, and under which draw rule.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::{Distance, Value};

/// What the distances of a table count.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Measure {
    /// Nothing: win, draw or loss only; all distances are 0.
    Outcome,
    /// Plies to the next capture, or to the end of the game without one.
    Conversion,
    /// Plies to the end of the game.
    End,
}

/// What a table says, and under which draw rule: `end`, `conversion`, `outcome`, or with a rule `conversion-60`,
/// `outcome-60`.
///
/// With a rule, a value is exact for a position after a flip or capture, when the quiet plies are counted anew. A
/// distance to conversion then decides for every count: a win at distance d can be had if d more plies are allowed.
/// The shortest way to the end is none under a rule, because it may be too long to the next capture; so `end` has none.
///
/// ```
/// use anqi_endgame::Flavour;
///
/// for text in ["outcome", "outcome-40", "conversion", "conversion-180", "end"] {
///     assert_eq!(text.parse::<Flavour>()?.to_string(), text);
/// }
/// assert!("end-60".parse::<Flavour>().is_err());
/// # Ok::<(), anqi_endgame::FlavourError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Flavour {
    measure: Measure,
    draw: Option<u16>,
}

/// Why a text is not a [`Flavour`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a flavour of tables, expected end, conversion, outcome, conversion-60 or outcome-60")]
pub struct FlavourError(String);

impl Flavour {
    /// Plies to the end of the game, no draw rule.
    pub const END: Flavour = Flavour { measure: Measure::End, draw: None };

    /// Win, draw or loss, the game being drawn after `draw` quiet plies.
    #[must_use]
    pub const fn outcome(draw: Option<u16>) -> Flavour {
        Flavour { measure: Measure::Outcome, draw }
    }

    /// Plies to the next capture, the game being drawn after `draw` quiet plies.
    #[must_use]
    pub const fn conversion(draw: Option<u16>) -> Flavour {
        Flavour { measure: Measure::Conversion, draw }
    }

    /// What distances count.
    #[must_use]
    pub const fn measure(self) -> Measure {
        self.measure
    }

    /// The quiet plies after which the game is drawn.
    #[must_use]
    pub const fn draw(self) -> Option<u16> {
        self.draw
    }

    /// The distance of a value; `None` for draws, and where tables know outcomes alone.
    #[must_use]
    pub fn distance(self, value: Value) -> Option<Distance> {
        value.distance().filter(|_| self.measure != Measure::Outcome)
    }

    /// A value for people.
    ///
    /// ```
    /// use anqi_endgame::{Distance, Flavour, Value};
    ///
    /// let value = Value::loss(Distance(16));
    /// assert_eq!(Flavour::END.describe(value), "loss in 16");
    /// assert_eq!(Flavour::outcome(None).describe(value), "loss");
    /// ```
    #[must_use]
    pub fn describe(self, value: Value) -> String {
        let name = value.wdl().name();
        self.distance(value).map_or_else(|| name.to_owned(), |Distance(plies)| format!("{name} in {plies}"))
    }
}

impl fmt::Display for Flavour {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self.measure {
            Measure::Outcome => "outcome",
            Measure::Conversion => "conversion",
            Measure::End => "end",
        })?;
        self.draw.map_or(Ok(()), |draw| write!(f, "-{draw}"))
    }
}

impl FromStr for Flavour {
    type Err = FlavourError;

    fn from_str(text: &str) -> Result<Flavour, FlavourError> {
        let bad = || FlavourError(excerpt(text));
        let (name, draw) = match text.split_once('-') {
            Some((name, draw)) => (name, Some(draw.parse().ok().filter(|&plies| plies > 0).ok_or_else(bad)?)),
            None => (text, None),
        };
        match (name, draw) {
            ("outcome", draw) => Ok(Flavour::outcome(draw)),
            ("conversion", draw) => Ok(Flavour::conversion(draw)),
            ("end", None) => Ok(Flavour::END),
            _ => Err(bad()),
        }
    }
}
