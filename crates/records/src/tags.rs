//! `Tags`: what a record says about the game, by name.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::escape::{escape, unescape};

/// The longest value of a tag or text of a comment, in bytes.
pub(crate) const LONGEST_TEXT: usize = 16 * 1024;
/// The longest name of a tag, in bytes.
const LONGEST_NAME: usize = 64;
/// How many tags a record may have.
const MOST: usize = 256;

/// The tags of a record, in order and each name once.
///
/// ```
/// use anqi_records::Tags;
///
/// let mut tags = Tags::new();
/// tags.set("Second", "Bob \"the rook\"")?;
/// tags.set("Opponent", "none")?; // any other name goes to the end
/// tags.set("First", "Alice")?;
/// assert_eq!(
///     tags.to_string(),
///     "[First \"Alice\"]\n[Second \"Bob \\\"the rook\\\"\"]\n[Opponent \"none\"]\n"
/// );
/// # Ok::<(), anqi_records::TagError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Tags(Vec<(String, String)>);

/// What is wrong with a tag.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TagError {
    /// Not a name.
    #[error("{0:?} is not a tag name, expected a letter, then letters, digits and _, {LONGEST_NAME} at most")]
    Name(String),
    /// A value of more than one line.
    #[error("tag {name} cannot hold a line break: {value:?}")]
    LineBreak {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
    /// A value too long to keep.
    #[error("tag {name} cannot hold more than {LONGEST_TEXT} bytes: {value:?}")]
    LongValue {
        /// The name.
        name: String,
        /// The value.
        value: String,
    },
    /// A name given twice.
    #[error("tag {0} is given twice")]
    Twice(String),
    /// More tags than any record has.
    #[error("tag {0} is one more than the {MOST} that a record may have")]
    TooMany(String),
    /// Not a line with a tag.
    #[error("{0:?} is not a tag, expected [Name \"value\"] with \\\" and \\\\ for quotes and backslashes in it")]
    Syntax(String),
    /// A value that does not mean what its tag should say.
    #[error("tag {name} {value:?}: {reason}")]
    Meaning {
        /// The name.
        name: &'static str,
        /// The value.
        value: String,
        /// What is wrong with it.
        reason: String,
    },
}

impl Tags {
    /// The names with a meaning, in their customary order.
    pub const ROSTER: [&str; 14] = [
        "Event",
        "Site",
        "Date",
        "Round",
        "First",
        "Second",
        "Result",
        "Rules",
        "Seed",
        "DealCommit",
        "TimeControl",
        "Termination",
        "PlyCount",
        "Position",
    ];

    /// No tags yet.
    #[must_use]
    pub fn new() -> Tags {
        Tags::default()
    }

    /// The value of a tag.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds a tag after all others.
    ///
    /// # Errors
    /// If the name is taken or not a name, or if the value has a line break or is too long.
    pub fn push(&mut self, name: &str, value: &str) -> Result<(), TagError> {
        check(name, value)?;
        if self.get(name).is_some() {
            return Err(TagError::Twice(name.to_owned()));
        }
        self.room_for(name)?;
        self.0.push((name.to_owned(), value.to_owned()));
        Ok(())
    }

    /// Gives a tag this value, in place if it is there already, else in its customary order.
    ///
    /// # Errors
    /// If the name is not a name, or if the value has a line break or is too long.
    pub fn set(&mut self, name: &str, value: &str) -> Result<(), TagError> {
        check(name, value)?;
        if self.get(name).is_none() {
            self.room_for(name)?;
        }
        self.put(name, value.to_owned());
        Ok(())
    }

    /// Takes a tag out and gives its value.
    pub fn remove(&mut self, name: &str) -> Option<String> {
        let at = self.0.iter().position(|(known, _)| known == name)?;
        Some(self.0.remove(at).1)
    }

    /// [`set`](Tags::set) for names of ours and values known to be good.
    pub(crate) fn put(&mut self, name: &str, value: String) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value,
            None => {
                let later = |(other, _): &(String, String)| rank(other) > rank(name);
                let at = self.0.iter().position(later).unwrap_or(self.0.len());
                self.0.insert(at, (name.to_owned(), value));
            }
        }
    }

    /// What a tag means.
    pub(crate) fn typed<T>(&self, name: &'static str) -> Result<Option<T>, TagError>
    where
        T: FromStr<Err: fmt::Display>,
    {
        self.get(name).map(|value| value.parse().map_err(|error| meaningless(name, value, &error))).transpose()
    }

    fn room_for(&self, name: &str) -> Result<(), TagError> {
        if self.0.len() < MOST { Ok(()) } else { Err(TagError::TooMany(name.to_owned())) }
    }
}

/// The error for a tag that does not mean what it should.
pub(crate) fn meaningless(name: &'static str, value: &str, reason: &impl fmt::Display) -> TagError {
    TagError::Meaning { name, value: excerpt(value), reason: reason.to_string() }
}

fn rank(name: &str) -> usize {
    Tags::ROSTER.iter().position(|known| *known == name).unwrap_or(Tags::ROSTER.len())
}

fn check(name: &str, value: &str) -> Result<(), TagError> {
    let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    if !name.starts_with(|first: char| first.is_ascii_alphabetic())
        || !name.bytes().all(word)
        || name.len() > LONGEST_NAME
    {
        return Err(TagError::Name(excerpt(name)));
    }
    if value.contains(['\n', '\r']) {
        return Err(TagError::LineBreak { name: name.to_owned(), value: excerpt(value) });
    }
    if value.len() > LONGEST_TEXT {
        return Err(TagError::LongValue { name: name.to_owned(), value: excerpt(value) });
    }
    Ok(())
}

/// One line for each tag.
impl fmt::Display for Tags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.iter().try_for_each(|(name, value)| writeln!(f, "[{name} \"{}\"]", escape(value, '"')))
    }
}

/// Whether a line is meant to be a tag; no other line of a record begins so.
pub(crate) fn is_tag_line(line: &str) -> bool {
    line.strip_prefix('[').is_some_and(|rest| rest.starts_with(|next: char| next.is_ascii_alphabetic()))
}

/// The name and the value in a line `[Name "value"]`.
pub(crate) fn parse_tag(line: &str) -> Result<(&str, String), TagError> {
    let parts = || {
        let inside = line.trim_ascii_end().strip_prefix('[')?.strip_suffix(']')?;
        let (name, value) = inside.split_once(' ')?;
        let quoted = value.trim_ascii_start().strip_prefix('"')?.strip_suffix('"')?;
        Some((name, unescape(quoted, '"').ok()?))
    };
    parts().ok_or_else(|| TagError::Syntax(excerpt(line)))
}

#[cfg(test)]
mod tests {
    use super::{TagError, Tags, parse_tag};

    #[test]
    fn values_go_round() {
        for value in ["", " ", "\"", "\\", "\\\"", "a\\\"b\\\\", "將]", "\"]", "tab\there"] {
            let mut tags = Tags::new();
            tags.push("Event", value).unwrap();
            assert_eq!(parse_tag(&tags.to_string()).unwrap(), ("Event", value.to_owned()));
        }
    }

    #[test]
    fn lines_are_strict() {
        for line in ["", "[", "[]", "[Event]", "[Event x]", "[Event \"x]", "[Event \"x\"", "[Event \"x\\\"]"] {
            assert_eq!(parse_tag(line), Err(TagError::Syntax(line.to_owned())));
        }
        assert!(parse_tag("[Event \"a\"b\"]").is_err() && parse_tag("[Event \"\\n\"]").is_err());
    }

    #[test]
    fn names_and_values_are_checked() {
        let mut tags = Tags::new();
        for name in ["", "1st", "Black Elo", "暗棋", &"x".repeat(65)] {
            assert!(matches!(tags.push(name, ""), Err(TagError::Name(_))));
        }
        assert!(matches!(tags.set("Event", "a\nb"), Err(TagError::LineBreak { .. })));
        assert!(matches!(tags.set("Event", &"x".repeat(1 << 20)), Err(TagError::LongValue { .. })));
        tags.push("Event", "a").unwrap();
        assert_eq!(tags.push("Event", "b"), Err(TagError::Twice("Event".to_owned())));
        for number in 1..256 {
            tags.push(&format!("T{number}"), "").unwrap();
        }
        assert_eq!(tags.push("More", ""), Err(TagError::TooMany("More".to_owned())));
        assert_eq!(tags.set("Event", "c"), Ok(()));
    }
}
