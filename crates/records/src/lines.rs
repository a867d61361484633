//! Lines of text from any input, never more than a little of it in memory.

use std::io::{self, BufRead};

use anqi_rules::excerpt;

use crate::error::{Flaw, RecordDamage};

/// The longest line that a record may have, in bytes; longer ones are skipped and reported.
const LONGEST_LINE: usize = 64 * 1024;
/// The largest record, in bytes. The longest game we know takes a few thousand.
const LARGEST_RECORD: usize = 16 * 1024 * 1024;

/// A line without its end, whatever its bytes were.
#[derive(Debug)]
pub(crate) struct TextLine {
    pub(crate) number: u64,
    /// As much of it as can be shown, even if `flaw` says that it is not sound.
    pub(crate) text: String,
    flaw: Option<Flaw>,
}

impl TextLine {
    pub(crate) fn is_blank(&self) -> bool {
        self.text.trim_ascii().is_empty()
    }

    /// The damage that something about this line is.
    pub(crate) fn damage(&self, flaw: impl Into<Flaw>) -> RecordDamage {
        RecordDamage { line: self.number, text: excerpt(&self.text), flaw: flaw.into() }
    }

    /// The text, if it can be trusted.
    pub(crate) fn sound(&self) -> Result<&str, RecordDamage> {
        match &self.flaw {
            None => Ok(&self.text),
            Some(flaw) => Err(self.damage(flaw.clone())),
        }
    }
}

/// Numbered lines, of which one can be put back. `\r\n` ends a line like `\n` does.
#[derive(Debug)]
pub(crate) struct Lines<R> {
    input: R,
    number: u64,
    put_back: Option<TextLine>,
    /// Bytes read since the record began.
    record: usize,
}

impl<R: BufRead> Lines<R> {
    pub(crate) fn new(input: R) -> Lines<R> {
        Lines { input, number: 0, put_back: None, record: 0 }
    }

    /// The next line, or `None` at the end.
    pub(crate) fn next(&mut self) -> io::Result<Option<TextLine>> {
        if let Some(line) = self.put_back.take() {
            return Ok(Some(line));
        }
        let mut bytes = Vec::new();
        let length = self.read_line(&mut bytes)?;
        if length == 0 {
            return Ok(None);
        }
        self.number += 1;
        self.record = self.record.saturating_add(length);
        let mut flaw = None;
        if length > LONGEST_LINE {
            flaw = Some(Flaw::LongLine(LONGEST_LINE));
        } else if self.record > LARGEST_RECORD {
            flaw = Some(Flaw::LargeRecord(LARGEST_RECORD));
        }
        let bytes = bytes.strip_suffix(b"\n").map_or(&bytes[..], |line| line.strip_suffix(b"\r").unwrap_or(line));
        let bytes = if self.number == 1 { bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes) } else { bytes };
        let text = String::from_utf8(bytes.to_vec()).unwrap_or_else(|error| {
            flaw.get_or_insert(Flaw::NotUtf8);
            String::from_utf8_lossy(error.as_bytes()).into_owned()
        });
        Ok(Some(TextLine { number: self.number, text, flaw }))
    }

    /// Lets the next call of [`next`](Lines::next) give this line again.
    pub(crate) fn put_back(&mut self, line: TextLine) {
        self.put_back = Some(line);
    }

    /// The next line with something on it, as the first of a record.
    pub(crate) fn first_of_record(&mut self) -> io::Result<Option<TextLine>> {
        self.record = 0;
        self.skip_until(|line| !line.is_blank())?;
        self.next()
    }

    /// Drops lines up to the first that is `wanted`; they count for no record.
    pub(crate) fn skip_until(&mut self, wanted: impl Fn(&TextLine) -> bool) -> io::Result<()> {
        while let Some(line) = self.next()? {
            if wanted(&line) {
                self.put_back(line);
                break;
            }
            self.record = 0;
        }
        Ok(())
    }

    /// Reads to the end of the line, keeps no more than the longest, tells how long it was.
    fn read_line(&mut self, kept: &mut Vec<u8>) -> io::Result<usize> {
        let mut length = 0_usize;
        loop {
            let chunk = match self.input.fill_buf() {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                chunk => chunk?,
            };
            let end = chunk.iter().position(|&byte| byte == b'\n').map(|at| at + 1);
            let taken = end.unwrap_or(chunk.len());
            kept.extend_from_slice(&chunk[..taken.min(LONGEST_LINE - kept.len())]);
            self.input.consume(taken);
            length = length.saturating_add(taken);
            if end.is_some() || taken == 0 {
                return Ok(length);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{LARGEST_RECORD, LONGEST_LINE, Lines};
    use crate::error::Flaw;

    #[test]
    fn counts_and_ends() {
        let mut lines = Lines::new(&b"\xef\xbb\xbfa\r\n\n b\rc\n\xff\nlast"[..]);
        for (number, text) in [(1, "a"), (2, ""), (3, " b\rc")] {
            let line = lines.next().unwrap().unwrap();
            assert_eq!((line.number, line.sound()), (number, Ok(text)));
        }
        assert_eq!(lines.next().unwrap().unwrap().sound().unwrap_err().flaw, Flaw::NotUtf8);
        let last = lines.next().unwrap().unwrap();
        lines.put_back(last);
        assert_eq!(lines.next().unwrap().unwrap().sound(), Ok("last"));
        assert!(lines.next().unwrap().is_none());
    }

    #[test]
    fn keeps_little() {
        let text = format!("{}\nshort\n", "x".repeat(LARGEST_RECORD));
        let mut lines = Lines::new(text.as_bytes());
        let long = lines.first_of_record().unwrap().unwrap();
        assert_eq!(long.text.len(), LONGEST_LINE);
        assert_eq!(long.sound().unwrap_err().flaw, Flaw::LongLine(LONGEST_LINE));
        assert_eq!(lines.next().unwrap().unwrap().sound().unwrap_err().flaw, Flaw::LargeRecord(LARGEST_RECORD));
    }
}
