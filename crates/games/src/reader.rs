//! Reading: one record after the other out of a file of any size, and by name what is wrong with the others.

use std::fmt;
use std::io::{self, BufRead, Read};
use std::path::Path;

use crate::record::{BadMove, BadStart, GameKind, GameRecord};
use crate::{csa, pgn, sgf};

/// The largest record that is looked at, in bytes.
const LARGEST_RECORD: usize = 1024 * 1024;

/// The format of a file of records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameFormat {
    /// Chess.
    Pgn,
    /// Go.
    Sgf,
    /// Shogi.
    Csa,
}

impl GameFormat {
    /// All of them.
    pub const ALL: [GameFormat; 3] = [GameFormat::Pgn, GameFormat::Sgf, GameFormat::Csa];

    /// The ending of its file names.
    #[must_use]
    pub const fn extension(self) -> &'static str {
        match self {
            GameFormat::Pgn => "pgn",
            GameFormat::Sgf => "sgf",
            GameFormat::Csa => "csa",
        }
    }

    /// The game that it is for.
    #[must_use]
    pub const fn kind(self) -> GameKind {
        match self {
            GameFormat::Pgn => GameKind::Chess,
            GameFormat::Sgf => GameKind::Go,
            GameFormat::Csa => GameKind::Shogi,
        }
    }

    /// The format that a file's name promises.
    #[must_use]
    pub fn of(path: &Path) -> Option<GameFormat> {
        let extension = path.extension()?.to_str()?;
        GameFormat::ALL.into_iter().find(|format| format.extension().eq_ignore_ascii_case(extension))
    }
}

/// What is wrong with a record: it is left out, and named.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GameFlaw {
    /// It stops before its end.
    #[error("it stops after {plies} plies: {missing}")]
    Truncated {
        /// How much of it there is.
        plies: usize,
        /// What should have come.
        missing: &'static str,
    },
    /// The result is not known.
    #[error("its result is {0:?}")]
    UnknownResult(String),
    /// It gives two results.
    #[error("its tag says {tag:?}, its end {end:?}")]
    TwoResults {
        /// In front.
        tag: String,
        /// At the end.
        end: String,
    },
    /// A move against the rules.
    #[error("ply {ply}: {bad}")]
    BadMove {
        /// Which, from 1 on.
        ply: usize,
        /// What is wrong with it.
        bad: BadMove,
    },
    /// A start that no game can have.
    #[error("{0}")]
    BadStart(#[from] BadStart),
    /// Another game or a variant of it.
    #[error("{0} is not supported")]
    Unsupported(String),
    /// Not the format that it should be.
    #[error("{0}")]
    Syntax(String),
    /// Too much of it.
    #[error("longer than {LARGEST_RECORD} bytes")]
    TooLong,
}

impl GameFlaw {
    /// A few words for tables of what was left out.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            GameFlaw::Truncated { .. } => "truncated record",
            GameFlaw::UnknownResult(_) => "unknown result",
            GameFlaw::TwoResults { .. } => "contradictory results",
            GameFlaw::BadMove { bad: BadMove::TooMany, .. } | GameFlaw::TooLong => "record too long",
            GameFlaw::BadMove { .. } => "illegal move",
            GameFlaw::BadStart(_) => "bad start position",
            GameFlaw::Unsupported(_) => "unsupported game",
            GameFlaw::Syntax(_) => "damaged record",
        }
    }

    pub(crate) fn syntax(what: &str, text: &str) -> GameFlaw {
        GameFlaw::Syntax(format!("{what} {:?}", anqi_rules::excerpt(text)))
    }
}

/// A record or what is wrong with it.
#[derive(Clone, PartialEq, Debug)]
pub struct NumberedRecord {
    /// Which of the file, from 1 on.
    pub number: u64,
    /// The line on which it begins.
    pub line: u64,
    /// The record.
    pub record: Result<GameRecord, GameFlaw>,
}

impl fmt::Display for NumberedRecord {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "game {} on line {}", self.number, self.line)?;
        self.record.as_ref().map_or_else(|flaw| write!(f, ": {flaw}"), |_| Ok(()))
    }
}

/// Where a record ends, as seen from its next line.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Cut {
    /// Not here.
    Nowhere,
    /// In front of the line, which comes again as the first of the next record.
    Before,
    /// After so many bytes of the line.
    After(usize),
}

/// Finds the ends of records, line by line, without understanding them.
pub(crate) trait Splitter {
    /// A line of the record, or of the next one.
    fn line(&mut self, line: &[u8]) -> Cut;
}

/// Streams the records of a file, never more than one in memory.
///
/// ```
/// use anqi_games::{GameFormat, GameReader};
///
/// let file = "[Result \"1-0\"]\n\n1. e4 f6 2. d4 g5 3. Qh5# 1-0\n\n1. e4 *\n\n1. e4 e6 2. d5 1-0\n";
/// let names: Vec<_> = GameReader::new(file.as_bytes(), GameFormat::Pgn)
///     .map(|entry| entry.map(|entry| entry.record.map_or_else(|flaw| flaw.name(), |_| "good")))
///     .collect::<Result<_, _>>()?;
/// assert_eq!(names, ["good", "unknown result", "illegal move"]);
/// # Ok::<(), std::io::Error>(())
/// ```
pub struct GameReader<R> {
    input: R,
    format: GameFormat,
    splitter: Box<dyn Splitter>,
    number: u64,
    /// The line that comes next, from 1 on.
    line: u64,
    /// Read, but not looked at.
    rest: Vec<u8>,
}

impl<R: fmt::Debug> fmt::Debug for GameReader<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GameReader { input, format, number, line, .. } = self;
        write!(f, "Reader {{ {input:?}, {format:?}, game {number}, line {line} }}")
    }
}

/// The first line of a record and its bytes, unless there are too many.
type Text = (u64, Result<Vec<u8>, GameFlaw>);

impl<R: BufRead> GameReader<R> {
    /// Reads records of that format.
    pub fn new(input: R, format: GameFormat) -> GameReader<R> {
        let splitter: Box<dyn Splitter> = match format {
            GameFormat::Pgn => Box::new(pgn::PgnLines::default()),
            GameFormat::Sgf => Box::new(sgf::Trees::default()),
            GameFormat::Csa => Box::new(csa::CsaLines::default()),
        };
        GameReader { input, format, splitter, number: 0, line: 1, rest: Vec::new() }
    }

    /// The next line with its end, or a large piece of one; empty at the end of the input.
    fn next_line(&mut self) -> io::Result<Vec<u8>> {
        if !self.rest.is_empty() {
            return Ok(std::mem::take(&mut self.rest));
        }
        let mut line = Vec::new();
        (&mut self.input).take(LARGEST_RECORD as u64).read_until(b'\n', &mut line)?;
        Ok(line)
    }

    /// The text of the next record and its first line; `None` at the end, and where a record is too long.
    fn next_text(&mut self) -> io::Result<Option<Text>> {
        let mut text = Vec::new();
        let (mut first, mut too_long) = (self.line, false);
        loop {
            let line = self.next_line()?;
            if line.is_empty() {
                break;
            }
            let cut = self.splitter.line(&line);
            let end = match cut {
                Cut::Nowhere => line.len(),
                Cut::Before => 0,
                Cut::After(end) => end,
            };
            let is_blank = text.iter().all(u8::is_ascii_whitespace);
            if is_blank {
                text.clear();
                first = self.line;
            }
            too_long |= text.len() + end > LARGEST_RECORD;
            if !too_long {
                text.extend_from_slice(&line[..end]);
            }
            self.line += line[..end].iter().filter(|&&byte| byte == b'\n').count() as u64;
            self.rest = line[end..].to_vec();
            if cut != Cut::Nowhere && !text.iter().all(u8::is_ascii_whitespace) {
                break;
            }
        }
        Ok(match too_long {
            true => Some((first, Err(GameFlaw::TooLong))),
            false if text.iter().all(u8::is_ascii_whitespace) => None,
            false => Some((first, Ok(text))),
        })
    }
}

impl<R: BufRead> Iterator for GameReader<R> {
    type Item = io::Result<NumberedRecord>;

    fn next(&mut self) -> Option<io::Result<NumberedRecord>> {
        let (line, text) = match self.next_text() {
            Ok(next) => next?,
            Err(error) => return Some(Err(error)),
        };
        self.number += 1;
        let record = text.and_then(|bytes| {
            // Names may be in any encoding; what we look at is ASCII.
            let text = String::from_utf8_lossy(&bytes);
            match self.format {
                GameFormat::Pgn => pgn::parse(&text),
                GameFormat::Sgf => sgf::parse(&text),
                GameFormat::Csa => csa::parse(&text),
            }
        });
        Some(Ok(NumberedRecord { number: self.number, line, record }))
    }
}
