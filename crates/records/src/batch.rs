//! What is done with all records of some files: replayed, checked, written in another format, counted.

use std::fmt;
use std::io::{self, Write};
use std::path::PathBuf;

use anqi_rules::Rules;
use serde::Serialize;

use crate::check::ReplayTotals;
use crate::error::WriteError;
use crate::files::{FileError, Source, read_files};
use crate::format::Format;
use crate::jsonl::write_json_line;
use crate::record::Record;
use crate::replay::{EndingCheck, Replay, replay};
use crate::stats::Stats;
use crate::writer::Writer;

/// Something that is wrong with a record of a file.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct FileProblem {
    /// The name of the file.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
    /// What is wrong.
    pub problem: String,
}

impl FileProblem {
    fn new(source: &Source, problem: impl fmt::Display) -> FileProblem {
        FileProblem { file: source.file.clone(), line: source.line, problem: problem.to_string() }
    }
}

/// `games.anqi:17: the ending differs`.
impl fmt::Display for FileProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file, self.line, self.problem)
    }
}

/// A record of a file with what the rules make of it, or why they make nothing of it.
pub type Replayed = (Source, Result<(Record, Replay), FileProblem>);

/// What is wrong with the records of some files: the first of it by name, the rest counted. A file of a few kilobytes may
/// unpack to any number of damaged records.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FileProblems {
    /// The first ones.
    #[serde(rename = "problems")]
    named: Vec<FileProblem>,
    /// How many more there are.
    #[serde(rename = "more_problems", skip_serializing_if = "is_zero")]
    more: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl FileProblems {
    /// So many are named.
    pub const MOST: usize = 10_000;

    /// Adds one.
    pub fn push(&mut self, problem: FileProblem) {
        if self.named.len() < FileProblems::MOST {
            self.named.push(problem);
        } else {
            self.more += 1;
        }
    }

    /// How many there are.
    #[must_use]
    pub const fn count(&self) -> u64 {
        self.named.len() as u64 + self.more
    }

    /// The first ones.
    #[must_use]
    pub fn named(&self) -> &[FileProblem] {
        &self.named
    }
}

/// A line for each that is named, and one that counts the rest.
impl fmt::Display for FileProblems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.named.iter().try_for_each(|problem| writeln!(f, "{problem}"))?;
        if self.more > 0 { writeln!(f, "and {} more", self.more) } else { Ok(()) }
    }
}

/// All records of `files`, replayed under `rules` or their own.
pub fn replay_files(files: &[PathBuf], rules: Option<Rules>) -> impl Iterator<Item = Result<Replayed, FileError>> + '_ {
    read_files(files).map(move |found| {
        let (source, record) = found?;
        let replayed = match record {
            Err(damage) => Err(FileProblem::new(&source, damage)),
            Ok(record) => match replay(&record, rules) {
                Err(error) => Err(FileProblem::new(&source, error)),
                Ok(replay) => Ok((record, replay)),
            },
        };
        Ok((source, replayed))
    })
}

/// What a check of files has found.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FilesCheck {
    /// The totals over all records.
    #[serde(flatten)]
    pub totals: ReplayTotals,
    /// Records that cannot be read or replayed, illegal plies, endings that differ.
    #[serde(flatten)]
    pub problems: FileProblems,
}

/// Replays every record of `files` and compares its ending with the recorded one.
///
/// # Errors
/// If a file cannot be read to its end.
pub fn check_files(files: &[PathBuf], rules: Option<Rules>) -> Result<FilesCheck, FileError> {
    let mut check = FilesCheck::default();
    for replayed in replay_files(files, rules) {
        match replayed? {
            (source, Ok((_, replay))) => {
                check.totals.add(&replay);
                problems(&replay).for_each(|problem| check.problems.push(FileProblem::new(&source, problem)));
            }
            (_, Err(problem)) => {
                check.totals.add_damaged();
                check.problems.push(problem);
            }
        }
    }
    Ok(check)
}

fn problems(replay: &Replay) -> impl Iterator<Item = String> {
    let illegal = replay.illegal.as_ref().map(|illegal| format!("ply {}: {}", illegal.ply, illegal.error));
    let differs = matches!(replay.ending, EndingCheck::Differs { .. });
    illegal.into_iter().chain(differs.then(|| format!("ending differs: {}", replay.ending)))
}

/// How records are written.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Target {
    /// In a format that can be read again.
    Text(Format),
    /// As JSON Lines, an object for each game.
    JsonLines,
}

/// What came of writing records in another format.
#[derive(Clone, PartialEq, Eq, Default, Debug, Serialize)]
pub struct FilesConverted {
    /// How many records were written.
    pub written: u64,
    /// Records that cannot be read, or that the format cannot hold.
    #[serde(flatten)]
    pub problems: FileProblems,
}

/// Writes the records of `files` to `out`.
///
/// # Errors
/// If a file cannot be read to its end, or `out` cannot be written to.
pub fn convert_files<E: From<FileError> + From<io::Error>>(
    files: &[PathBuf],
    target: Target,
    out: &mut impl Write,
) -> Result<FilesConverted, E> {
    let mut converted = FilesConverted::default();
    let mut sink = match target {
        Target::Text(format) => Sink::Text(Writer::new(&mut *out, format)),
        Target::JsonLines => Sink::Json(&mut *out),
    };
    for found in read_files(files) {
        let (source, record) = found?;
        match record.map(|record| sink.write(&record)) {
            Ok(Ok(())) => converted.written += 1,
            Ok(Err(WriteError::Io(error))) => return Err(error.into()),
            Ok(Err(error)) => converted.problems.push(FileProblem::new(&source, error)),
            Err(damage) => converted.problems.push(FileProblem::new(&source, damage)),
        }
    }
    out.flush()?;
    Ok(converted)
}

enum Sink<W: Write> {
    Text(Writer<W>),
    Json(W),
}

impl<W: Write> Sink<W> {
    fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        match self {
            Sink::Text(writer) => writer.write(record),
            Sink::Json(out) => write_json_line(out, record),
        }
    }
}

/// Counts the records of `files`; the others are told.
///
/// # Errors
/// If a file cannot be read to its end.
pub fn count_files(files: &[PathBuf], rules: Option<Rules>) -> Result<(Stats, FileProblems), FileError> {
    let (mut stats, mut problems) = (Stats::default(), FileProblems::default());
    for replayed in replay_files(files, rules) {
        match replayed?.1 {
            Ok((_, replay)) => stats.add(&replay),
            Err(problem) => problems.push(problem),
        }
    }
    Ok((stats, problems))
}
