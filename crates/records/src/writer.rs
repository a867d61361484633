//! `Writer`: records of either format, one at a time.

use std::io::{self, Write};

use crate::error::WriteError;
use crate::format::Format;
use crate::record::Record;
use crate::server;

/// Writes records to any output, with an empty line between them.
///
/// ```
/// use anqi_records::{Format, Reader, Writer};
///
/// let text = "[Result \"*\"]\n\n1. b8(G) *\n\n[Result \"*\"]\n\n1. d1(k) d2(p) *\n";
/// let mut writer = Writer::new(Vec::new(), Format::Anqi);
/// for entry in Reader::new(text.as_bytes())? {
///     writer.write(&entry?.record)?;
/// }
/// assert_eq!(writer.into_inner(), text.as_bytes());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Writer<W> {
    out: W,
    format: Format,
    gap: &'static str,
}

impl<W: Write> Writer<W> {
    /// Writes records of one format.
    pub fn new(out: W, format: Format) -> Writer<W> {
        Writer { out, format, gap: "" }
    }

    /// Writes a record.
    ///
    /// # Errors
    /// If the output fails, or if the match server's format cannot hold the record; then nothing is
    /// written and the next record can be.
    pub fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        let text = match self.format {
            Format::Anqi => record.to_string(),
            Format::Server => server::to_text(record)?,
        };
        self.out.write_all(self.gap.as_bytes())?;
        self.out.write_all(text.as_bytes())?;
        self.gap = "\n";
        Ok(())
    }

    /// Hands everything on to where it goes.
    ///
    /// # Errors
    /// If the output fails.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// The output.
    pub fn into_inner(self) -> W {
        self.out
    }
}
