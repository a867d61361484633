//! `Only`: which positions count at all.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::tag::Tag;

/// A tag, or the ply, with the word or the numbers that it must have: `capture=no`, `hidden=8..`, `ply=20..60`. A
/// range holds its lower end and not its upper one.
///
/// ```
/// use anqi_assess::Only;
///
/// let only: Only = "hidden=8..16".parse()?;
/// let admits = |tag: &'static str| only.admits(&tag.into());
/// assert!(admits("8") && admits("15") && !admits("16") && !admits("many"));
/// assert_eq!(only.to_string(), "hidden=8..16");
/// # Ok::<(), anqi_assess::OnlyError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Only {
    /// The tag, or `ply`.
    pub tag: String,
    wanted: Wanted,
}

#[derive(Clone, PartialEq, Debug)]
enum Wanted {
    Word(String),
    From { low: Option<f64>, high: Option<f64> },
}

/// A text that admits nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("bad --only {0:?}, expected a tag with a word or a range: capture=no, hidden=8.., ply=20..60")]
pub struct OnlyError(String);

impl Only {
    /// Whether a position with this tag counts.
    #[must_use]
    pub fn admits(&self, tag: &Tag) -> bool {
        match (&self.wanted, tag) {
            (Wanted::Word(wanted), Tag::Word(word)) => wanted == word,
            (Wanted::Word(wanted), Tag::Number(number)) => *wanted == number.to_string(),
            (Wanted::From { low, high }, tag) => tag
                .number()
                .is_some_and(|number| low.is_none_or(|low| low <= number) && high.is_none_or(|high| number < high)),
        }
    }
}

impl FromStr for Only {
    type Err = OnlyError;

    fn from_str(text: &str) -> Result<Only, OnlyError> {
        let bad = || OnlyError(excerpt(text));
        let (tag, wanted) =
            text.split_once('=').filter(|(tag, wanted)| !tag.is_empty() && !wanted.is_empty()).ok_or_else(bad)?;
        let end = |end: &str| match end {
            "" => Ok(None),
            _ => end.parse::<f64>().ok().filter(|end| end.is_finite()).map(Some).ok_or_else(bad),
        };
        let wanted = match wanted.split_once("..") {
            None => Wanted::Word(wanted.to_owned()),
            Some((low, high)) => Wanted::From { low: end(low)?, high: end(high)? },
        };
        Ok(Only { tag: tag.to_owned(), wanted })
    }
}

impl fmt::Display for Only {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.tag)?;
        match &self.wanted {
            Wanted::Word(word) => f.write_str(word),
            Wanted::From { low, high } => {
                let end = |end: &Option<f64>| end.map(|end| end.to_string()).unwrap_or_default();
                write!(f, "{}..{}", end(low), end(high))
            }
        }
    }
}
