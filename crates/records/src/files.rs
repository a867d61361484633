//! Records out of files, packed with zstd or not.

use std::fmt;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use crate::{Reader, Record, RecordDamage, RecordError};

/// The place of a record: a file and a line in it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Source {
    /// The name of the file as it was given.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
}

/// `games.anqi:17`.
impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, self.line)
    }
}

/// A file of records that cannot be read to its end.
#[derive(Debug, thiserror::Error)]
pub enum FileError {
    /// It cannot be opened.
    #[error("cannot open {file}: {error}")]
    Open {
        /// Which file.
        file: String,
        /// The reason.
        error: io::Error,
    },
    /// Reading it fails.
    #[error("cannot read {file}: {error}")]
    Read {
        /// Which file.
        file: String,
        /// The reason.
        error: io::Error,
    },
}

/// Opens a file for reading and unpacks it if zstd packed it; `-` is standard input, which is read as it is.
///
/// # Errors
/// If the file cannot be opened.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>, FileError> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let unpacked = || -> io::Result<Box<dyn BufRead>> {
        let mut file = BufReader::new(File::open(path)?);
        if file.fill_buf()?.starts_with(&MAGIC) {
            let unpacked: Box<dyn Read> = Box::new(zstd::Decoder::with_buffer(file)?);
            return Ok(Box::new(BufReader::new(unpacked)));
        }
        Ok(Box::new(file))
    };
    unpacked().map_err(|error| FileError::Open { file: path.display().to_string(), error })
}

/// A record out of a file, or what is wrong with it.
pub type Found = (Source, Result<Record, RecordDamage>);

/// All records of `files`, one at a time. What comes after an error is the next file.
pub fn read_files(files: &[PathBuf]) -> impl Iterator<Item = Result<Found, FileError>> + '_ {
    files.iter().flat_map(|path| -> Box<dyn Iterator<Item = Result<Found, FileError>>> {
        let file = path.display().to_string();
        let failed = |file: &str, error| FileError::Read { file: file.to_owned(), error };
        let reader = open(path).and_then(|input| Reader::new(input).map_err(|error| failed(&file, error)));
        match reader {
            Err(error) => Box::new(std::iter::once(Err(error))),
            Ok(reader) => Box::new(reader.map(move |entry| {
                let (line, record) = match entry {
                    Ok(entry) => (entry.line, Ok(entry.record)),
                    Err(RecordError::Damaged(damage)) => (damage.line, Err(damage)),
                    Err(RecordError::Io(error)) => return Err(failed(&file, error)),
                };
                Ok((Source { file: file.clone(), line }, record))
            })),
        }
    })
}
