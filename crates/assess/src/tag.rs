//! `Tag`: what is known of a position by one name.

use std::borrow::Cow;
use std::fmt;

/// A word or a number.
///
/// ```
/// use anqi_assess::Tag;
///
/// assert_eq!(Tag::from(-3), Tag::from("-3".to_owned()));
/// assert_eq!((Tag::from("yes").number(), Tag::from(12).number()), (None, Some(12.0)));
/// // Another spelling of a number stays a word, so that it is written as it was read.
/// assert_eq!((Tag::from("007").to_string(), Tag::from("007").number()), ("007".to_owned(), Some(7.0)));
/// ```
#[derive(Clone, PartialEq, Debug)]
pub enum Tag {
    /// A word, such as `yes`.
    Word(Cow<'static, str>),
    /// A finite number.
    Number(f64),
}

impl Tag {
    /// `yes` or `no`.
    #[must_use]
    pub fn yes(is: bool) -> Tag {
        Tag::Word(Cow::Borrowed(if is { "yes" } else { "no" }))
    }

    /// The number, also of a word that spells one.
    #[must_use]
    pub fn number(&self) -> Option<f64> {
        match self {
            Tag::Word(word) => word.parse().ok(),
            Tag::Number(number) => Some(*number),
        }
    }
}

impl fmt::Display for Tag {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Tag::Word(word) => word.fmt(f),
            Tag::Number(number) => number.fmt(f),
        }
    }
}

impl From<Cow<'static, str>> for Tag {
    fn from(text: Cow<'static, str>) -> Tag {
        match text.parse::<f64>() {
            Ok(number) if number.is_finite() && number.to_string() == text => Tag::Number(number),
            _ => Tag::Word(text),
        }
    }
}

impl From<&'static str> for Tag {
    fn from(text: &'static str) -> Tag {
        Tag::from(Cow::Borrowed(text))
    }
}

impl From<String> for Tag {
    fn from(text: String) -> Tag {
        Tag::from(Cow::<'static, str>::Owned(text))
    }
}

impl From<i32> for Tag {
    fn from(number: i32) -> Tag {
        Tag::Number(number.into())
    }
}

impl From<u32> for Tag {
    fn from(number: u32) -> Tag {
        Tag::Number(number.into())
    }
}
