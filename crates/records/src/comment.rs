//! `Comment`: what a record says about a ply.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::clock::ClockTime;
use crate::eval::{Eval, Permille};
use crate::tags::LONGEST_TEXT;

/// What a record says about a ply: commands such as `[%eval 0.35]`, then words.
///
/// The words hold no command of ours and are divided by single spaces, so a comment can be wrapped
/// at any of them; commands that we do not know stay among the words as they are.
///
/// ```
/// use anqi_records::Comment;
///
/// let comment: Comment = "bold [%clk 0:14:59.5] [%depth 8]  [%eval 0.35]".parse()?;
/// assert_eq!(comment.clk.map(|clock| clock.millis()), Some(899_500));
/// assert_eq!(comment.text(), "bold [%depth 8]");
/// assert_eq!(comment.to_string(), "[%eval 0.35] [%clk 0:14:59.5] bold [%depth 8]");
/// # Ok::<(), anqi_records::CommentError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Comment {
    /// `[%eval 0.35]`: the value of the position after the ply, for the mover.
    pub eval: Option<Eval>,
    /// `[%wdl 520 300 180]`: chances of win, draw and loss in per mille, for the mover.
    pub wdl: Option<Permille>,
    /// `[%clk 0:14:59.5]`: time left on the mover's clock after the ply.
    pub clk: Option<ClockTime>,
    /// `[%emt 0:00:01.25]`: time that the mover spent on the ply.
    pub emt: Option<ClockTime>,
    text: String,
}

/// Why a text is not a comment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommentError {
    /// Not an evaluation.
    #[error("{0:?} is not an evaluation, expected a decimal such as 0.35")]
    Eval(String),
    /// Not three chances.
    #[error("{0:?} is not win, draw and loss, expected three numbers that add up to 1000")]
    Wdl(String),
    /// Not a time.
    #[error("{0:?} is not a time, expected hours, minutes and seconds such as 0:14:59.5")]
    Clock(String),
    /// A command given twice.
    #[error("[%{0}] is given twice")]
    Twice(&'static str),
    /// A command without its bracket.
    #[error("{0:?} has no closing bracket")]
    OpenCommand(String),
    /// A command among plain words.
    #[error("{0:?} holds a command such as [%eval], expected words only")]
    CommandInText(String),
    /// More words than we read.
    #[error("{0:?} is longer than {LONGEST_TEXT} bytes")]
    LongText(String),
    /// A backslash that escapes nothing.
    #[error("{0:?} is not an escape, expected \\}} or \\\\")]
    Escape(String),
}

const COMMANDS: [&str; 4] = ["eval", "wdl", "clk", "emt"];

impl Comment {
    /// A comment of words; runs of white space become single spaces.
    ///
    /// # Errors
    /// If the words hold a command of ours, or are too many.
    pub fn new(text: &str) -> Result<Comment, CommentError> {
        let comment: Comment = text.parse()?;
        match comment.commands().next() {
            None => Ok(comment),
            Some(_) => Err(CommentError::CommandInText(excerpt(text))),
        }
    }

    /// Whether it says nothing.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Comment::default()
    }

    /// The words.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Says what `more` says, too.
    pub(crate) fn merge(&mut self, more: &Comment) -> Result<(), CommentError> {
        join(&mut self.eval, more.eval, "eval")?;
        join(&mut self.wdl, more.wdl, "wdl")?;
        join(&mut self.clk, more.clk, "clk")?;
        join(&mut self.emt, more.emt, "emt")?;
        if !self.text.is_empty() && !more.text.is_empty() {
            self.text.push(' ');
        }
        self.text.push_str(&more.text);
        check_length(&self.text)
    }

    fn commands(&self) -> impl Iterator<Item = (&'static str, String)> + use<> {
        let values = [
            self.eval.map(|eval| eval.to_string()),
            self.wdl.map(|wdl| wdl.to_string()),
            self.clk.map(|clk| clk.to_string()),
            self.emt.map(|emt| emt.to_string()),
        ];
        COMMANDS.into_iter().zip(values).filter_map(|(name, value)| Some((name, value?)))
    }

    fn obey(&mut self, name: &'static str, value: &str) -> Result<(), CommentError> {
        match name {
            "eval" => fill(&mut self.eval, name, value),
            "wdl" => fill(&mut self.wdl, name, value),
            "clk" => fill(&mut self.clk, name, value),
            _ => fill(&mut self.emt, name, value),
        }
    }
}

fn fill<T>(place: &mut Option<T>, name: &'static str, value: &str) -> Result<(), CommentError>
where
    T: FromStr<Err = CommentError>,
{
    join(place, Some(value.trim_ascii().parse()?), name)
}

fn join<T>(place: &mut Option<T>, value: Option<T>, name: &'static str) -> Result<(), CommentError> {
    if place.is_some() && value.is_some() {
        return Err(CommentError::Twice(name));
    }
    *place = place.take().or(value);
    Ok(())
}

fn check_length(text: &str) -> Result<(), CommentError> {
    if text.len() <= LONGEST_TEXT { Ok(()) } else { Err(CommentError::LongText(excerpt(text))) }
}

/// The commands in a fixed order, then the words.
impl fmt::Display for Comment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut gap = "";
        for (name, value) in self.commands() {
            write!(f, "{gap}[%{name} {value}]")?;
            gap = " ";
        }
        if !self.text.is_empty() {
            write!(f, "{gap}{}", self.text)?;
        }
        Ok(())
    }
}

impl FromStr for Comment {
    type Err = CommentError;

    fn from_str(text: &str) -> Result<Comment, CommentError> {
        let mut comment = Comment::default();
        let mut words = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("[%") {
            words.push_str(&rest[..at]);
            rest = &rest[at..];
            let Some((name, value)) = known_command(rest) else {
                words.push_str("[%");
                rest = &rest["[%".len()..];
                continue;
            };
            let (value, after) = value.split_once(']').ok_or_else(|| CommentError::OpenCommand(excerpt(rest)))?;
            comment.obey(name, value)?;
            words.push(' ');
            rest = after;
        }
        words.push_str(rest);
        comment.text = words.split_ascii_whitespace().collect::<Vec<_>>().join(" ");
        check_length(&comment.text)?;
        Ok(comment)
    }
}

/// The name of the command of ours that `text` begins with, and what follows the name.
fn known_command(text: &str) -> Option<(&'static str, &str)> {
    let command = text.strip_prefix("[%")?;
    COMMANDS.into_iter().find_map(|name| {
        let value = command.strip_prefix(name)?;
        (!value.starts_with(|next: char| next.is_ascii_alphanumeric())).then_some((name, value))
    })
}

#[cfg(test)]
mod tests {
    use super::{Comment, CommentError};

    #[test]
    fn shows_what_is_wrong() {
        for (text, message) in [
            ("[%eval #5]", "\"#5\" is not an evaluation, expected a decimal such as 0.35"),
            ("[%wdl 1 2 3]", "\"1 2 3\" is not win, draw and loss, expected three numbers that add up to 1000"),
            ("[%clk 15]", "\"15\" is not a time, expected hours, minutes and seconds such as 0:14:59.5"),
            ("[%emt 0:00:01] [%emt 0:00:02]", "[%emt] is given twice"),
            ("so [%eval 0.3", "\"[%eval 0.3\" has no closing bracket"),
        ] {
            assert_eq!(text.parse::<Comment>().unwrap_err().to_string(), message);
        }
    }

    #[test]
    fn commands_cannot_hide_in_words() {
        let comment: Comment = "[%evaluate] [% eval 3] [ [%clk 0:00:01]%eval 3]".parse().unwrap();
        assert_eq!(comment.text(), "[%evaluate] [% eval 3] [ %eval 3]");
        assert_eq!(comment.to_string().parse(), Ok(comment));
        let hidden = "well [%eval 3]";
        assert_eq!(Comment::new(hidden), Err(CommentError::CommandInText(hidden.to_owned())));
        assert!(matches!(Comment::new(&"x".repeat(1 << 20)), Err(CommentError::LongText(_))));
    }
}
