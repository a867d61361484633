//! How every command speaks: plain text for people, one JSON value with a `schema` for programs.

use std::io::{self, BufWriter, StdoutLock, Write};
use std::path::Path;

use anqi_store::Access;
use anyhow::Result;
use serde::Serialize;

/// Standard output, and whether it carries JSON.
pub(crate) struct Output {
    json: bool,
    stdout: BufWriter<StdoutLock<'static>>,
}

impl Output {
    pub(crate) fn new(json: bool) -> Output {
        Output { json, stdout: BufWriter::new(io::stdout().lock()) }
    }

    /// Prints `value` as JSON, or `text` for people.
    pub(crate) fn print(
        &mut self,
        value: &impl Serialize,
        text: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> io::Result<()> {
        if self.json {
            serde_json::to_writer(&mut self.stdout, value)?;
            writeln!(self.stdout)?;
        } else {
            text(&mut self.stdout)?;
        }
        self.stdout.flush()
    }

    /// Standard output as it is, for commands whose output is a file format of its own.
    pub(crate) fn raw(&mut self) -> &mut impl Write {
        &mut self.stdout
    }
}

/// `12345678` as `12,345,678`.
pub(crate) fn grouped(number: u64) -> String {
    anqi_stats::Grouped(number).to_string()
}

/// Writes a file that appears whole or not at all.
pub(crate) fn write_file(path: &Path, write: impl FnOnce(&mut (dyn Write + Send)) -> Result<()>) -> Result<()> {
    anqi_store::write_whole(path, Access::Ordinary, write).map_err(|error: anyhow::Error| {
        // An error that says where it comes from, such as a file that was read, stays what it is.
        let is_told = error.chain().len() > 1 || error.is::<anqi_records::FileError>();
        if is_told { error } else { error.context(format!("cannot write {}", path.display())) }
    })
}
