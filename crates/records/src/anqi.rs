//! Our own format, for files `*.anqi`: PGN with the plies of this game.
//!
//! A line that begins with `[` and a letter is a tag, always; an empty line ends the tags, and
//! another one the plies. So the lines alone show where records begin, and a damaged one costs no
//! other.

use std::fmt::{self, Write};
use std::io::BufRead;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::error::{Flaw, RecordDamage, RecordError};
use crate::lines::{Lines, TextLine};
use crate::movetext::{self, Movetext};
use crate::reader::LocatedRecord;
use crate::record::Record;
use crate::tags::{Tags, is_tag_line, parse_tag};

const BEGINNING: &str = "tags such as [First \"name\"]";

/// Reads the next record; a damaged one is reported and skipped.
pub(crate) fn read(lines: &mut Lines<impl BufRead>) -> Result<Option<LocatedRecord>, RecordError> {
    let Some(first) = lines.first_of_record()? else { return Ok(None) };
    let line = first.number;
    let tags = read_tags(lines, first);
    if matches!(tags, Err(RecordError::Damaged(_))) {
        // What is left of the tags belongs to this record, too.
        lines.skip_until(TextLine::is_blank)?;
    }
    let record = tags.and_then(|(tags, last)| read_plies(lines, tags, &last));
    if matches!(record, Err(RecordError::Damaged(_))) {
        lines.skip_until(|line| is_tag_line(&line.text))?;
    }
    Ok(Some(LocatedRecord { line, record: record? }))
}

/// The tags and the last line of them.
fn read_tags(lines: &mut Lines<impl BufRead>, first: TextLine) -> Result<(Tags, TextLine), RecordError> {
    let mut tags = Tags::new();
    let mut line = first;
    loop {
        let text = line.sound()?;
        if !is_tag_line(text) {
            return Err(line.damage(if tags.is_empty() { Flaw::Stray(BEGINNING) } else { Flaw::AmongTags }).into());
        }
        parse_tag(text).and_then(|(name, value)| tags.push(name, &value)).map_err(|error| line.damage(error))?;
        match lines.next()? {
            Some(next) if !next.is_blank() => line = next,
            _ => return Ok((tags, line)),
        }
    }
}

fn read_plies(lines: &mut Lines<impl BufRead>, tags: Tags, last_tag: &TextLine) -> Result<Record, RecordError> {
    lines.skip_until(|line| !line.is_blank())?;
    let mut movetext = Movetext::default();
    let mut last = None;
    while movetext.result.is_none() {
        let Some(line) = lines.next()? else { break };
        if line.is_blank() || is_tag_line(&line.text) {
            lines.put_back(line);
            break;
        }
        movetext.line(line.sound()?).map_err(|flaw| line.damage(flaw))?;
        last = Some(line);
    }
    let Some(last) = last else { return Err(last_tag.damage(Flaw::NoMovetext).into()) };
    let (plies, result) = movetext.finish().map_err(|flaw| last.damage(flaw))?;
    Ok(Record::new(tags, plies, result).map_err(|contradiction| last.damage(contradiction))?)
}

/// Writes a record as [`read`] reads it.
pub(crate) fn write(out: &mut impl Write, record: &Record) -> fmt::Result {
    writeln!(out, "{}", record.tags())?;
    movetext::write(out, record.plies(), record.result())
}

/// One record in our format, and nothing else.
impl FromStr for Record {
    type Err = RecordError;

    fn from_str(text: &str) -> Result<Record, RecordError> {
        let mut lines = Lines::new(text.as_bytes());
        let Some(LocatedRecord { record, .. }) = read(&mut lines)? else {
            return Err(RecordDamage { line: 1, text: String::new(), flaw: Flaw::Stray(BEGINNING) }.into());
        };
        match lines.first_of_record()? {
            None => Ok(record),
            Some(line) => Err(line.damage(Flaw::AfterResult(excerpt(&line.text))).into()),
        }
    }
}
