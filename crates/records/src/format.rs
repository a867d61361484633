//! The text formats that go in and out, and how to tell them apart.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

use crate::server;
use crate::tags::is_tag_line;

/// A text format of records.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Format {
    /// Our own, for files `*.anqi`.
    Anqi,
    /// The match server's.
    Server,
}

impl Format {
    /// Both formats.
    pub const ALL: [Format; 2] = [Format::Anqi, Format::Server];

    /// The name on command lines.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Format::Anqi => "anqi",
            Format::Server => "server",
        }
    }

    /// The format of a file that begins so, by the first line that occurs in one format only.
    ///
    /// ```
    /// use anqi_records::Format;
    ///
    /// assert_eq!(Format::detect(b"INITIAL\n* Alice vs Bob\n"), Some(Format::Server));
    /// assert_eq!(Format::detect(b"\n[First \"Alice\"]\n"), Some(Format::Anqi));
    /// assert_eq!(Format::detect(b"# games of today\n"), None);
    /// ```
    #[must_use]
    pub fn detect(beginning: &[u8]) -> Option<Format> {
        let beginning = beginning.strip_prefix(b"\xef\xbb\xbf").unwrap_or(beginning);
        beginning.split(|&byte| byte == b'\n').find_map(|line| {
            let line = String::from_utf8_lossy(line);
            if server::is_line(&line) {
                Some(Format::Server)
            } else if is_tag_line(&line) {
                Some(Format::Anqi)
            } else {
                None
            }
        })
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A text that names no format.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown record format {0:?}, expected anqi or server")]
pub struct UnknownFormat(String);

impl FromStr for Format {
    type Err = UnknownFormat;

    fn from_str(text: &str) -> Result<Format, UnknownFormat> {
        Format::ALL.into_iter().find(|format| format.name() == text).ok_or_else(|| UnknownFormat(excerpt(text)))
    }
}
