//! What can go wrong: damaged records, and records that a format cannot hold.

use std::io;

use anqi_rules::{ParseError, Position, SetupError};

use crate::comment::CommentError;
use crate::record::Contradiction;
use crate::tags::TagError;

/// Why no record came out of a reader.
#[derive(Debug, thiserror::Error)]
pub enum RecordError {
    /// A record is damaged; the next call reads the one after it.
    #[error(transparent)]
    Damaged(#[from] RecordDamage),
    /// The input cannot be read; there will be no more records.
    #[error("cannot read records: {0}")]
    Io(#[from] io::Error),
}

/// Where a record is damaged, and how.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("line {line}: {flaw}; the line reads {text:?}")]
pub struct RecordDamage {
    /// The line, counted from 1.
    pub line: u64,
    /// The beginning of that line.
    pub text: String,
    /// What is wrong.
    pub flaw: Flaw,
}

/// What is wrong with a record.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Flaw {
    /// Bytes that are not text.
    #[error("not UTF-8")]
    NotUtf8,
    /// A line too long to be one of a record.
    #[error("a line of more than {0} bytes")]
    LongLine(usize),
    /// A record too large to be one game.
    #[error("a record of more than {0} bytes")]
    LargeRecord(usize),
    /// More plies than any game has.
    #[error("a record of more than {0} plies")]
    ManyPlies(usize),
    /// Text where a record should begin.
    #[error("expected a record, which begins with {0}")]
    Stray(&'static str),
    /// Something other than a tag among the tags.
    #[error("expected a tag, or the empty line after the tags")]
    AmongTags,
    /// A bad tag.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// Tags without plies and result.
    #[error("the record ends after its tags")]
    NoMovetext,
    /// Plies without a result.
    #[error("the record ends without a result")]
    NoResult,
    /// Text after the result.
    #[error("{0:?} comes after the result")]
    AfterResult(String),
    /// A bad ply.
    #[error(transparent)]
    Ply(#[from] ParseError),
    /// A move number that does not count the plies.
    #[error("move number {found:?} where {expected} was expected")]
    MoveNumber {
        /// What stands there.
        found: String,
        /// What should.
        expected: String,
    },
    /// A comment with no ply before it.
    #[error("a comment before the first ply")]
    CommentFirst,
    /// A comment without end.
    #[error("a comment without a closing brace")]
    OpenComment,
    /// A bad comment.
    #[error(transparent)]
    Comment(#[from] CommentError),
    /// A record that contradicts itself.
    #[error(transparent)]
    Contradiction(#[from] Contradiction),
    /// A line of the match server's format that says something else than it should.
    #[error("expected {0}")]
    Expected(&'static str),
    /// A result that names the wrong player.
    #[error("the result names {found:?}, but the points are {expected:?}'s")]
    Winner {
        /// Who is named.
        found: String,
        /// Who has the points.
        expected: String,
    },
    /// A start that cannot be.
    #[error("impossible start: {0}")]
    Setup(#[from] SetupError),
}

/// Why a record was not written. Nothing of it was, unless the output itself failed.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The output cannot be written.
    #[error("cannot write records: {0}")]
    Io(#[from] io::Error),
    /// A tag that the format needs is not what it should be.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// The match server knows no unfinished games.
    #[error("the match server's format cannot hold a game without a result")]
    Unfinished,
    /// Names that would read back as others.
    #[error("the match server's format cannot tell {first:?} from {second:?} in one line")]
    Players {
        /// Who moves first.
        first: String,
        /// Who moves second.
        second: String,
    },
    /// A start that would read back as another.
    #[error("the match server's format cannot hold the start {0}")]
    Start(Position),
    /// A reason that is not one word.
    #[error("the match server's format cannot hold the termination {0:?}")]
    Termination(String),
}
