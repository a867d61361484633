//! The plies of our format: `1. c4(k) {[%eval 0.1] some text} d1(P) 2. c4-c5 1-0`.

use std::fmt::{self, Write};

use anqi_rules::{Ply, excerpt};

use crate::comment::CommentError;
use crate::error::Flaw;
use crate::escape::{escape, unescape};
use crate::record::PlayedPly;
use crate::result::GameResult;

/// More plies than any game has: it takes at most 62 flips and captures, and nobody waits longer
/// than 180 plies for the next one.
pub(crate) const MOST_PLIES: usize = u16::MAX as usize;
/// Where lines are wrapped. A longer word gets a line of its own.
const COLUMNS: usize = 80;

/// Plies read so far, line by line.
#[derive(Default)]
pub(crate) struct Movetext {
    pub(crate) plies: Vec<PlayedPly>,
    pub(crate) result: Option<GameResult>,
    /// What stands after an opening brace that is not closed yet, escapes and all.
    open: Option<String>,
}

impl Movetext {
    /// Takes the next line.
    pub(crate) fn line(&mut self, text: &str) -> Result<(), Flaw> {
        let mut rest = text;
        loop {
            if let Some(open) = &mut self.open {
                let Some(end) = closing_brace(rest) else {
                    // The end of a line is white space like any other.
                    open.push_str(rest);
                    open.push(' ');
                    return Ok(());
                };
                open.push_str(&rest[..end]);
                rest = &rest[end + 1..];
                self.close()?;
            }
            rest = rest.trim_ascii_start();
            if rest.is_empty() {
                return Ok(());
            }
            if self.result.is_some() {
                return Err(Flaw::AfterResult(excerpt(rest)));
            }
            if let Some(after) = rest.strip_prefix('{') {
                self.open = Some(String::new());
                rest = after;
            } else {
                let end = rest.find(|c: char| c.is_ascii_whitespace() || c == '{').unwrap_or(rest.len());
                self.word(&rest[..end])?;
                rest = &rest[end..];
            }
        }
    }

    /// The plies and the result, if the text is complete.
    pub(crate) fn finish(self) -> Result<(Vec<PlayedPly>, GameResult), Flaw> {
        match (self.open, self.result) {
            (Some(_), _) => Err(Flaw::OpenComment),
            (None, None) => Err(Flaw::NoResult),
            (None, Some(result)) => Ok((self.plies, result)),
        }
    }

    fn word(&mut self, word: &str) -> Result<(), Flaw> {
        if let Ok(result) = word.parse() {
            self.result = Some(result);
            return Ok(());
        }
        if word.ends_with('.') {
            return check_number(word, self.plies.len());
        }
        if self.plies.len() == MOST_PLIES {
            return Err(Flaw::ManyPlies(MOST_PLIES));
        }
        let ply: Ply = word.parse()?;
        self.plies.push(ply.into());
        Ok(())
    }

    /// Gives the open comment to the last ply, after what it says already.
    fn close(&mut self) -> Result<(), Flaw> {
        let raw = self.open.take().unwrap_or_default();
        let text = unescape(&raw, '}').map_err(CommentError::Escape)?;
        let Some(played) = self.plies.last_mut() else { return Err(Flaw::CommentFirst) };
        Ok(played.comment.merge(&text.parse()?)?)
    }
}

/// Checks the number before ply `index`: a wrong one means that plies were lost. Only the first
/// player's plies are numbered.
pub(crate) fn check_number(found: &str, index: usize) -> Result<(), Flaw> {
    let expected = if index.is_multiple_of(2) { format!("{}.", index / 2 + 1) } else { "a ply".to_owned() };
    if found == expected { Ok(()) } else { Err(Flaw::MoveNumber { found: excerpt(found), expected }) }
}

/// The first closing brace that no backslash escapes.
fn closing_brace(text: &str) -> Option<usize> {
    let mut bytes = text.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        match byte {
            b'}' => return Some(at),
            b'\\' => drop(bytes.next()),
            _ => {}
        }
    }
    None
}

/// Writes plies and result, wrapped, with an end of line.
pub(crate) fn write(out: &mut impl Write, plies: &[PlayedPly], result: GameResult) -> fmt::Result {
    let mut wrap = Wrap { out, column: 0 };
    for (index, PlayedPly { ply, comment }) in plies.iter().enumerate() {
        wrap.word(&if index.is_multiple_of(2) { format!("{}. {ply}", index / 2 + 1) } else { ply.to_string() })?;
        if !comment.is_empty() {
            let text = format!("{{{}}}", escape(&comment.to_string(), '}'));
            words(&text).iter().try_for_each(|word| wrap.word(word))?;
        }
    }
    wrap.word(result.name())?;
    writeln!(wrap.out)
}

/// The words of a comment; a command such as `[%clk 0:14:59]` is one, so that it stays on its line.
fn words(comment: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    for part in comment.split_ascii_whitespace() {
        match words.last_mut().filter(|word| word.rfind("[%") > word.rfind(']')) {
            Some(open) => {
                open.push(' ');
                open.push_str(part);
            }
            None => words.push(part.to_owned()),
        }
    }
    words
}

/// Words with a space or an end of line between them. A number and its ply count as one word.
struct Wrap<'a, W> {
    out: &'a mut W,
    column: usize,
}

impl<W: Write> Wrap<'_, W> {
    fn word(&mut self, word: &str) -> fmt::Result {
        let length = word.chars().count();
        if self.column > 0 {
            if self.column + 1 + length <= COLUMNS {
                self.out.write_char(' ')?;
                self.column += 1;
            } else {
                self.out.write_char('\n')?;
                self.column = 0;
            }
        }
        // A line that begins with a bracket is a tag, so a word of a comment that does is indented.
        if self.column == 0 && word.starts_with('[') {
            self.out.write_char(' ')?;
            self.column = 1;
        }
        self.column += length;
        self.out.write_str(word)
    }
}
