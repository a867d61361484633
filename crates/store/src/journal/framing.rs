//! How a line of a journal is written, and what can be wrong with one.

use std::borrow::Cow;
use std::fmt;

/// One entry as text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JournalLine<'a> {
    /// One word that says what it is; empty in old files that have none.
    pub kind: Cow<'a, str>,
    /// Which one; 0 in old files that have none.
    pub number: u64,
    /// What it says.
    pub text: Cow<'a, str>,
}

impl<'a> JournalLine<'a> {
    /// A line of these parts.
    pub fn new(kind: &'a str, number: u64, text: impl Into<Cow<'a, str>>) -> JournalLine<'a> {
        JournalLine { kind: Cow::Borrowed(kind), number, text: text.into() }
    }
}

/// How entries are told apart and checked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Framing {
    /// `KIND NUMBER LENGTH CHECKSUM TEXT`: since version 2.
    Lines,
    /// `CHECKSUM TEXT`
    SumFirst,
    /// `TEXT CHECKSUM`
    SumLast,
    /// `KIND NUMBER LENGTH CHECKSUM`, a line break, so many bytes of text, a line break.
    Blocks,
}

/// What is wrong with a line.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum DamageReason {
    /// The bytes are not UTF-8.
    #[error("it is not UTF-8 text")]
    NotText,
    /// The parts are not there.
    #[error("it does not begin with kind, number, length and checksum, but with {0:?}")]
    NoFrame(String),
    /// There is no checksum in an old line.
    #[error("it has no checksum: {0:?}")]
    NoChecksum(String),
    /// The length is not the one that it should have.
    #[error("it says that it has {said} bytes of text, and has {is}")]
    Length {
        /// What it says.
        said: u64,
        /// How many there are.
        is: u64,
    },
    /// Other bytes than those that were written.
    #[error("its checksum is {said:08x}, and that of its text {is:08x}")]
    Checksum {
        /// What it says.
        said: u32,
        /// What the text gives.
        is: u32,
    },
    /// Another byte where the line should end.
    #[error("it does not end with a line break")]
    NoLineEnd,
    /// It was not on the medium when the power was cut.
    #[error("its end reads as zeros, as what a power cut has lost does")]
    Lost,
    /// A line is missing before it, or it is there twice.
    #[error("its number is {said}, and {expected} was expected")]
    Number {
        /// What it says.
        said: u64,
        /// What comes next.
        expected: u64,
    },
    /// Whole, and not what the journal may hold.
    #[error("{0}")]
    Content(String),
}

impl DamageReason {
    /// The same without any text of the file, which may be secret.
    #[must_use]
    pub fn without_text(&self) -> DamageReason {
        let content = |what: &str| DamageReason::Content(what.to_owned());
        match self {
            DamageReason::NoFrame(_) => content("it does not begin with kind, number, length and checksum"),
            DamageReason::NoChecksum(_) => content("it has no checksum"),
            DamageReason::Content(_) => content("it is none that this journal may hold"),
            reason => reason.clone(),
        }
    }
}

impl Framing {
    /// The bytes of an entry.
    pub(crate) fn encode(self, line: &JournalLine<'_>) -> Vec<u8> {
        let JournalLine { kind, number, text } = line;
        match self {
            Framing::Lines => {
                let text = escape(text);
                let frame = format!("{kind} {number} {}", text.len());
                let sum = checksum(frame.as_bytes(), text.as_bytes());
                format!("{frame} {sum:08x} {text}\n")
            }
            Framing::SumFirst => format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())),
            Framing::SumLast => format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes())),
            Framing::Blocks => {
                let frame = format!("{kind} {number} {}", text.len());
                format!("{frame} {:08x}\n{text}\n", checksum(frame.as_bytes(), text.as_bytes()))
            }
        }
        .into_bytes()
    }

    /// Reads one line without its line break. Blocks are read by [`Frame`], as they have more than one.
    pub(crate) fn decode(self, line: &[u8]) -> Result<JournalLine<'_>, DamageReason> {
        match self {
            Framing::Lines => {
                let frame = Frame::read(line)?;
                let text = line.get(frame.end + 1..).unwrap_or_default();
                frame.check(text)?;
                let text = unescape(std::str::from_utf8(text).map_err(|_| DamageReason::NotText)?)?;
                Ok(JournalLine { kind: Cow::Borrowed(frame.kind), number: frame.number, text })
            }
            Framing::Blocks => {
                let frame = Frame::read(line)?;
                let text = line.get(frame.end + 1..).unwrap_or_default();
                frame.check(text)?;
                let text = std::str::from_utf8(text).map_err(|_| DamageReason::NotText)?;
                Ok(JournalLine { kind: Cow::Borrowed(frame.kind), number: frame.number, text: Cow::Borrowed(text) })
            }
            Framing::SumFirst | Framing::SumLast => {
                let line = std::str::from_utf8(line).map_err(|_| DamageReason::NotText)?;
                let parts = match self {
                    Framing::SumFirst => line.split_once(' '),
                    _ => line.rsplit_once(' ').map(|(text, sum)| (sum, text)),
                };
                let parts = parts.and_then(|(sum, text)| Some((hexadecimal(sum)?, text)));
                let (said, text) = parts.ok_or_else(|| DamageReason::NoChecksum(crate::excerpt(line)))?;
                let is = crc32fast::hash(text.as_bytes());
                if is != said {
                    return Err(DamageReason::Checksum { said, is });
                }
                Ok(JournalLine { kind: Cow::Borrowed(""), number: 0, text: Cow::Borrowed(text) })
            }
        }
    }
}

/// What stands before the text of a line.
#[derive(Debug)]
pub(crate) struct Frame<'a> {
    kind: &'a str,
    number: u64,
    pub(crate) length: u64,
    sum: u32,
    /// How many bytes it takes.
    pub(crate) end: usize,
}

impl<'a> Frame<'a> {
    /// No frame is longer.
    pub(crate) const LONGEST: usize = 80;

    pub(crate) fn read(line: &'a [u8]) -> Result<Frame<'a>, DamageReason> {
        let beginning = &line[..line.len().min(Frame::LONGEST)];
        let none = || DamageReason::NoFrame(crate::excerpt(&String::from_utf8_lossy(beginning)));
        let mut end = 0;
        let mut word = || {
            let rest = beginning.get(end..)?;
            let length = rest.iter().position(|byte| b" \n".contains(byte)).unwrap_or(rest.len());
            end += length + 1;
            std::str::from_utf8(&rest[..length]).ok().filter(|word| !word.is_empty())
        };
        let mut read = || Some((word()?, decimal(word()?)?, decimal(word()?)?, hexadecimal(word()?)?));
        let (kind, number, length, sum) = read().ok_or_else(none)?;
        Ok(Frame { kind, number, length, sum, end: end - 1 })
    }

    /// How many bytes frame, text, and the byte after each have.
    pub(crate) fn whole_length(&self) -> Option<usize> {
        usize::try_from(self.length).ok()?.checked_add(self.end + 2)
    }

    pub(crate) fn check(&self, text: &[u8]) -> Result<(), DamageReason> {
        if text.len() as u64 != self.length {
            return Err(DamageReason::Length { said: self.length, is: text.len() as u64 });
        }
        let is = checksum(format!("{} {} {}", self.kind, self.number, self.length).as_bytes(), text);
        if is == self.sum { Ok(()) } else { Err(DamageReason::Checksum { said: self.sum, is }) }
    }
}

fn checksum(frame: &[u8], text: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(frame);
    hasher.update(text);
    hasher.finalize()
}

/// A number as it is written; the library's own parser would take a sign and leading zeros.
fn decimal(word: &str) -> Option<u64> {
    let number: u64 = word.parse().ok()?;
    (number.to_string() == word).then_some(number)
}

fn hexadecimal(word: &str) -> Option<u32> {
    let number = u32::from_str_radix(word, 16).ok()?;
    (format!("{number:08x}") == word).then_some(number)
}

/// Text without line breaks.
fn escape(text: &str) -> Cow<'_, str> {
    if !text.contains(['\\', '\n', '\r']) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(text.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r"))
}

fn unescape(text: &str) -> Result<Cow<'_, str>, DamageReason> {
    if !text.contains('\\') {
        return Ok(Cow::Borrowed(text));
    }
    let mut plain = String::with_capacity(text.len());
    let mut chars = text.chars();
    while let Some(c) = chars.next() {
        plain.push(match c {
            '\\' => match chars.next() {
                Some('\\') => '\\',
                Some('n') => '\n',
                Some('r') => '\r',
                _ => return Err(DamageReason::Content("a backslash stands for nothing".to_owned())),
            },
            c => c,
        });
    }
    Ok(Cow::Owned(plain))
}

/// The mark after the bytes of a line that was cut off: ` torn BYTES CHECKSUM`, and a line break. It closes the line, so that
/// the next entry begins a new one, and says that these bytes were never acknowledged.
#[derive(Debug)]
pub(crate) struct TornMark(u64, u32);

impl TornMark {
    /// For the bytes since the last line that ended.
    pub(crate) fn of(torn: &[u8]) -> TornMark {
        TornMark(torn.len() as u64, checksum(b"torn", torn))
    }

    /// Whether these bytes, without their line break, end with the mark of all that is before it.
    pub(crate) fn ends(bytes: &[u8]) -> bool {
        // The longest mark has 35 bytes.
        let from = bytes.len().saturating_sub(40);
        let at = bytes[from..].windows(6).rposition(|window| window == b" torn ");
        at.is_some_and(|at| {
            let (torn, mark) = bytes.split_at(from + at);
            mark == TornMark::of(torn).to_string().as_bytes()
        })
    }
}

impl fmt::Display for TornMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, " torn {} {:08x}", self.0, self.1)
    }
}
