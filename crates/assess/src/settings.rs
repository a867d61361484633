//! What an assessment can be told.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;
use serde::Serialize;

use crate::condition::Condition;

/// What becomes of drawn games.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Draws {
    /// They are left out, as Takeuchi et al. do.
    #[default]
    Drop,
    /// They are half a win.
    Half,
    /// They are half a win, and curves show wins, draws and losses apart.
    Three,
}

/// What values mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scale {
    /// Chances of winning, from 0 to 1; half is even.
    Probability,
    /// Anything else; 0 is even.
    Score,
}

impl Scale {
    /// The value from which on a win is predicted.
    #[must_use]
    pub const fn threshold(self) -> f64 {
        match self {
            Scale::Probability => 0.5,
            Scale::Score => 0.0,
        }
    }

    /// Chances if all values could be.
    #[must_use]
    pub fn of(values: &[f64]) -> Scale {
        let chance = |value: &f64| value.is_infinite() || (0.0..=1.0).contains(value);
        if values.iter().all(chance) { Scale::Probability } else { Scale::Score }
    }
}

/// Everything that an assessment depends on besides the samples.
#[derive(Clone, PartialEq, Debug)]
pub struct Settings {
    /// What becomes of drawn games.
    pub draws: Draws,
    /// What the values mean; `None` for chances if all of them could be.
    pub scale: Option<Scale>,
    /// The width of a bin, the paper's δ; `None` for 0.05 of chances, and about forty bins of scores.
    pub delta: Option<f64>,
    /// Bins with fewer positions are not drawn.
    pub thin: u64,
    /// Values beyond this on either side count like it; `None` for the largest that is not a proof.
    pub clamp: Option<f64>,
    /// Conditions whose curves are drawn.
    pub by: Vec<Condition>,
    /// How often games are resampled for the intervals.
    pub resamples: u32,
    /// Where the resampling comes from.
    pub seed: u64,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            draws: Draws::default(),
            scale: None,
            delta: None,
            thin: 100,
            clamp: None,
            by: Vec::new(),
            resamples: 1000,
            seed: 1,
        }
    }
}

/// A text that is none of the choices.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown {what} {text:?}, expected {expected}")]
pub struct UnknownChoice {
    what: &'static str,
    text: String,
    expected: &'static str,
}

impl UnknownChoice {
    pub(crate) fn new(what: &'static str, text: String, expected: &'static str) -> UnknownChoice {
        UnknownChoice { what, text, expected }
    }
}

impl FromStr for Draws {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Draws, UnknownChoice> {
        match text {
            "drop" => Ok(Draws::Drop),
            "half" => Ok(Draws::Half),
            "three" => Ok(Draws::Three),
            _ => {
                Err(UnknownChoice { what: "treatment of draws", text: excerpt(text), expected: "drop, half or three" })
            }
        }
    }
}

impl FromStr for Scale {
    type Err = UnknownChoice;

    fn from_str(text: &str) -> Result<Scale, UnknownChoice> {
        match text {
            "probability" => Ok(Scale::Probability),
            "score" => Ok(Scale::Score),
            _ => Err(UnknownChoice { what: "scale", text: excerpt(text), expected: "probability or score" }),
        }
    }
}

impl fmt::Display for Draws {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Draws::Drop => "drop",
            Draws::Half => "half",
            Draws::Three => "three",
        })
    }
}

impl fmt::Display for Scale {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Scale::Probability => "probability",
            Scale::Score => "score",
        })
    }
}
