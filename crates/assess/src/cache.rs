//! `Cache`: values that were worked out before, in a file that survives every interruption.

use std::collections::HashMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

/// Which position, by whom, with what budget: a hash of their texts.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub struct Key(u128);

impl Key {
    /// The key of a position. Everything that the value depends on must be among the texts.
    #[must_use]
    pub fn new(position: &str, player: &str, budget: &str) -> Key {
        let mut hasher = blake3::Hasher::new_derive_key("anqi value of a position, version 1");
        for text in [position, player, budget] {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
        let mut half = [0; 16];
        hasher.finalize_xof().fill(&mut half);
        Key(u128::from_be_bytes(half))
    }
}

/// Values by key. With a file, every value is there as soon as it is known; a line that was cut off or damaged is
/// passed over, and its value worked out again.
#[derive(Debug, Default)]
pub struct Cache {
    values: HashMap<Key, f64>,
    file: Option<File>,
    damaged: u64,
}

/// Why a cache cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum CacheError {
    /// The file cannot be read or written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// Somebody else writes to it.
    #[error("another process is using it")]
    InUse,
    /// A file of something else, which is left as it is.
    #[error("not a cache of values: it begins with {0:?}")]
    Foreign(String),
}

const FIRST_LINE: &str = "anqi values 1\n";

impl Cache {
    /// Opens a file, or makes one.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(path: &Path) -> Result<Cache, CacheError> {
        let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        file.try_lock().map_err(|error| match error {
            TryLockError::WouldBlock => CacheError::InUse,
            TryLockError::Error(error) => CacheError::Io(error),
        })?;
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        let begun = &FIRST_LINE.as_bytes()[..FIRST_LINE.len().min(bytes.len())];
        if !bytes.starts_with(begun) {
            let line = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned();
            return Err(CacheError::Foreign(anqi_rules::excerpt(&line)));
        }
        let mut cache = Cache::default();
        // What comes after the last end of a line was cut off; new lines are written in its place.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        for line in bytes[..whole].split(|&byte| byte == b'\n').skip(1).filter(|line| !line.is_empty()) {
            match parse(line) {
                Some((key, value)) => drop(cache.values.insert(key, value)),
                None => cache.damaged += 1,
            }
        }
        file.set_len(whole as u64)?;
        file.seek(SeekFrom::End(0))?;
        if whole == 0 {
            file.write_all(FIRST_LINE.as_bytes())?;
        }
        cache.file = Some(file);
        Ok(cache)
    }

    /// A value that is known.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<f64> {
        self.values.get(&key).copied()
    }

    /// Remembers a value.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn put(&mut self, key: Key, value: f64) -> io::Result<()> {
        if self.values.insert(key, value).is_none()
            && let Some(file) = &mut self.file
        {
            file.write_all(line(key, value).as_bytes())?;
        }
        Ok(())
    }

    /// How many values are known.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Whether values are kept in a file.
    #[must_use]
    pub const fn is_saved(&self) -> bool {
        self.file.is_some()
    }

    /// Lines of the file that were damaged.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }
}

/// Key, value, and a check on both.
fn line(key: Key, value: f64) -> String {
    let text = format!("{:032x} {value}", key.0);
    format!("{text} {:08x}\n", check(text.as_bytes()))
}

fn parse(line: &[u8]) -> Option<(Key, f64)> {
    let (text, sum) = std::str::from_utf8(line).ok()?.rsplit_once(' ')?;
    if u32::from_str_radix(sum, 16).ok()? != check(text.as_bytes()) {
        return None;
    }
    let (key, value) = text.split_once(' ')?;
    Some((Key(u128::from_str_radix(key, 16).ok()?), value.parse().ok()?))
}

fn check(bytes: &[u8]) -> u32 {
    crc32fast::hash(bytes)
}
