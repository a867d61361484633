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
    pub problems: Vec<FileProblem>,
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
                check.problems.extend(problems(&replay).map(|problem| FileProblem::new(&source, problem)));
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
    pub problems: Vec<FileProblem>,
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
pub fn count_files(files: &[PathBuf], rules: Option<Rules>) -> Result<(Stats, Vec<FileProblem>), FileError> {
    let (mut stats, mut problems) = (Stats::default(), Vec::new());
    for replayed in replay_files(files, rules) {
        match replayed?.1 {
            Ok((_, replay)) => stats.add(&replay),
            Err(problem) => problems.push(problem),
        }
    }
    Ok((stats, problems))
}
