//! The match server's format.
//!
//! ```text
//! INITIAL
//! * Alice vs Bob                          who moves first, who second
//! * 1 2 2 2 2 2 5 1 2 2 2 2 2 5           how many K G M R N C P k g m r n c p there are
//! * X X X X                               eight rows, rank 8 first; X face down, - empty
//! ...
//! * first 0                               0 or 1; whoever is named first moves first all the same
//! * time 900                              seconds a side
//! * 1. b8(G) d8(c)
//! ...
//! * NoMove Alice Wins 1.000000,0.000000   why, who (the first player of a draw), points
//! ```
//!
//! Text becomes a [`Sheet`], which has a field for every line, and a sheet becomes a record.

mod board;
mod convert;
mod ending;
mod sheet;

use std::io::BufRead;

use crate::error::{RecordError, WriteError};
use crate::lines::Lines;
use crate::reader::LocatedRecord;
use crate::record::Record;
use sheet::{Sheet, is_beginning};

/// Whether a line can only be the server's.
pub(crate) fn is_line(line: &str) -> bool {
    is_beginning(line) || line.starts_with("* ")
}

/// Reads the next record; a damaged one is reported and skipped.
pub(crate) fn read(lines: &mut Lines<impl BufRead>) -> Result<Option<LocatedRecord>, RecordError> {
    let Some(first) = lines.first_of_record()? else { return Ok(None) };
    let line = first.number;
    let record =
        Sheet::read(lines, first).and_then(|(sheet, last)| Ok(sheet.to_record().map_err(|flaw| last.damage(flaw))?));
    if matches!(record, Err(RecordError::Damaged(_))) {
        lines.skip_until(|line| is_beginning(&line.text))?;
    }
    Ok(Some(LocatedRecord { line, record: record? }))
}

/// A record as [`read`] reads it.
pub(crate) fn to_text(record: &Record) -> Result<String, WriteError> {
    Ok(Sheet::of_record(record)?.to_string())
}
