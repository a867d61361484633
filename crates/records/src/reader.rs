//! `Reader`: records of either format, one at a time.

use std::io::{self, BufRead, Chain, Cursor, Read};

use crate::error::RecordError;
use crate::format::Format;
use crate::lines::Lines;
use crate::record::Record;
use crate::{anqi, server};

/// How far we look for a line that tells the format.
const BEGINNING: usize = 64 * 1024;

/// Reads records one at a time from any input.
///
/// A damaged record is an error, and the next call reads the one after it. When the input itself
/// fails, that error is the last item.
#[derive(Debug)]
pub struct Reader<R> {
    lines: Lines<Chain<Cursor<Vec<u8>>, R>>,
    format: Format,
    failed: bool,
}

/// A record and where it begins.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LocatedRecord {
    /// The line, counted from 1.
    pub line: u64,
    /// What stands there.
    pub record: Record,
}

impl<R: BufRead> Reader<R> {
    /// Reads whichever format the input is in. Input in neither is read as our own, which will
    /// say what is wrong with it.
    ///
    /// # Errors
    /// If the input cannot be read.
    pub fn new(mut input: R) -> io::Result<Reader<R>> {
        let mut beginning = Vec::new();
        let format = loop {
            // A line at a time, so that a game which is still being played can be followed.
            let known = beginning.len();
            let room = (BEGINNING - known) as u64;
            input.by_ref().take(room).read_until(b'\n', &mut beginning)?;
            match Format::detect(&beginning[known..]) {
                Some(format) => break format,
                None if beginning.len() == known => break Format::Anqi,
                None => {}
            }
        };
        Ok(Reader::over(Cursor::new(beginning).chain(input), format))
    }

    /// Reads records of one format.
    pub fn with_format(input: R, format: Format) -> Reader<R> {
        Reader::over(Cursor::new(Vec::new()).chain(input), format)
    }

    fn over(input: Chain<Cursor<Vec<u8>>, R>, format: Format) -> Reader<R> {
        Reader { lines: Lines::new(input), format, failed: false }
    }

    /// The format that is read.
    #[must_use]
    pub const fn format(&self) -> Format {
        self.format
    }
}

impl<R: BufRead> Iterator for Reader<R> {
    type Item = Result<LocatedRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let read = match self.format {
            Format::Anqi => anqi::read(&mut self.lines),
            Format::Server => server::read(&mut self.lines),
        };
        self.failed = matches!(read, Err(RecordError::Io(_)));
        read.transpose()
    }
}
