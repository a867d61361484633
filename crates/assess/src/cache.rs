//! `Cache`: values that were worked out before, in a file that survives every interruption.

use std::collections::HashMap;
use std::path::Path;

use anqi_store::{
    Access, Damages, Framing, JournalError, JournalFormat, JournalLine, LineJournal, Old, OldHead, Owner, Syncer,
};

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
    file: Option<LineJournal<ValuesFormat>>,
}

/// Keys with their values.
#[derive(Debug)]
struct ValuesFormat;

impl JournalFormat for ValuesFormat {
    const NAME: &'static str = "values";
    const ORDERED: bool = false;
    const OLD: Option<Old> = Some(Old { first_line: "anqi values 1", head: OldHead::None, framing: Framing::SumLast });
    type Head = ();
    type Entry = (Key, f64);

    fn write_head((): &()) -> String {
        String::new()
    }

    fn read_head(_: &str) -> Result<(), String> {
        Ok(())
    }

    fn write((key, value): &(Key, f64)) -> JournalLine<'_> {
        JournalLine::new("value", 0, format!("{:032x} {value}", key.0))
    }

    fn read(line: JournalLine<'_>) -> Result<(Key, f64), String> {
        let parts = line.text.split_once(' ');
        let read = parts.and_then(|(key, value)| Some((Key(u128::from_str_radix(key, 16).ok()?), value.parse().ok()?)));
        read.ok_or_else(|| format!("{:?} is not a key and a value", anqi_rules::excerpt(&line.text)))
    }
}

impl Cache {
    /// Opens a file, or makes one.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(path: &Path) -> Result<Cache, JournalError> {
        let io = |error| JournalError::Io { path: path.display().to_string(), error };
        // The file keeps what goes wrong, and the next value is refused.
        let syncer = Syncer::start(|_, _| {}).map_err(io)?;
        let mut values = HashMap::new();
        let met = |(key, value), _| {
            values.insert(key, value);
        };
        let file = LineJournal::open_or_create(path, Owner::Alone, Access::Ordinary, &(), &syncer, met)?;
        Ok(Cache { values, file: Some(file) })
    }

    /// A value that is known.
    #[must_use]
    pub fn get(&self, key: Key) -> Option<f64> {
        self.values.get(&key).copied()
    }

    /// Remembers a value.
    ///
    /// # Errors
    /// If the file cannot be written, or values before it could not be forced to the disk.
    pub fn put(&mut self, key: Key, value: f64) -> Result<(), JournalError> {
        if self.values.insert(key, value).is_none()
            && let Some(file) = &mut self.file
        {
            file.check()?;
            file.append(&(key, value))?;
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

    /// What was damaged in the file.
    #[must_use]
    pub fn damages(&self) -> Option<&Damages> {
        self.file.as_ref().map(LineJournal::damages)
    }
}
