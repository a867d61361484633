//! What a player thought of its position: `Eval` and `Permille`.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::comment::CommentError;

/// A value of the position after a ply, seen by the mover: more is better.
///
/// The unit is the engine's own; there is no pawn to measure by. A finite number, printed with as
/// few digits as give it back.
///
/// ```
/// use anqi_records::Eval;
///
/// let eval: Eval = "-0.35".parse()?;
/// assert_eq!(eval.get(), -0.35);
/// assert_eq!(eval.to_string(), "-0.35");
/// # Ok::<(), anqi_records::CommentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, PartialOrd, Debug)]
pub struct Eval(f64);

/// Sound because an `Eval` is never NaN.
impl Eq for Eval {}

impl Eval {
    /// The value, unless it is infinite or not a number.
    #[must_use]
    pub fn new(value: f64) -> Option<Eval> {
        // Adding zero turns -0 into 0, which prints without a sign.
        value.is_finite().then_some(Eval(value + 0.0))
    }

    /// The number.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl fmt::Display for Eval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

impl FromStr for Eval {
    type Err = CommentError;

    fn from_str(text: &str) -> Result<Eval, CommentError> {
        // `f64::from_str` also takes exponents, infinities and bare points.
        let digits = text.strip_prefix(['+', '-']).unwrap_or(text);
        let (whole, fraction) = digits.split_once('.').unwrap_or((digits, "0"));
        let plain = [whole, fraction].iter().all(|part| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit()));
        let value = if plain { text.parse().ok().and_then(Eval::new) } else { None };
        value.ok_or_else(|| CommentError::Eval(excerpt(text)))
    }
}

/// Chances of win, draw and loss in per mille, seen by the mover.
///
/// ```
/// use anqi_records::Permille;
///
/// let wdl: Permille = "520 300 180".parse()?;
/// assert_eq!(wdl.win(), 520);
/// assert_eq!(wdl.to_string(), "520 300 180");
/// assert_eq!(Permille::new(520, 300, 181), None); // more than everything
/// # Ok::<(), anqi_records::CommentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Permille([u16; 3]);

impl Permille {
    /// The three chances, if they add up to 1000.
    #[must_use]
    pub fn new(win: u16, draw: u16, loss: u16) -> Option<Permille> {
        let sum: u32 = [win, draw, loss].map(u32::from).iter().sum();
        (sum == 1000).then_some(Permille([win, draw, loss]))
    }

    /// The mover wins.
    #[must_use]
    pub const fn win(self) -> u16 {
        self.0[0]
    }

    /// A draw.
    #[must_use]
    pub const fn draw(self) -> u16 {
        self.0[1]
    }

    /// The mover loses.
    #[must_use]
    pub const fn loss(self) -> u16 {
        self.0[2]
    }
}

impl fmt::Display for Permille {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.win(), self.draw(), self.loss())
    }
}

impl FromStr for Permille {
    type Err = CommentError;

    fn from_str(text: &str) -> Result<Permille, CommentError> {
        let chances: Option<Vec<u16>> = text.split_ascii_whitespace().take(4).map(|word| word.parse().ok()).collect();
        match chances.as_deref() {
            Some(&[win, draw, loss]) => Permille::new(win, draw, loss),
            _ => None,
        }
        .ok_or_else(|| CommentError::Wdl(excerpt(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::{Eval, Permille};

    #[test]
    fn evals_are_plain_decimals() {
        for text in ["0", "0.1", "-12.375", "1000000", "0.000001"] {
            assert_eq!(text.parse::<Eval>().unwrap().to_string(), text);
        }
        assert_eq!("-0.0".parse::<Eval>().unwrap().to_string(), "0");
        for text in ["", "-", "nan", "inf", "1e3", ".5", "5.", "1,5", "--1", &"9".repeat(400)] {
            assert!(text.parse::<Eval>().is_err(), "{text}");
        }
    }

    #[test]
    fn chances_add_up() {
        for text in ["", "1000", "500 500", "400 300 299", "1000 0 0 0", "x 0 0", "1001 0 -1"] {
            assert!(text.parse::<Permille>().is_err(), "{text}");
        }
    }
}
