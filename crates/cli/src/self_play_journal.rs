//! Games of `anqi self-play` that are there already, in a file that survives every interruption.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anqi_rules::excerpt;
use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

/// What became of a game.
#[derive(Serialize, Deserialize)]
pub(crate) enum Kept {
    Finished { plies: u64, winner: Option<String>, record: String },
    Skipped { reason: String, text: String },
}

impl Kept {
    pub(crate) fn record(&self) -> Option<&str> {
        match self {
            Kept::Finished { record, .. } => Some(record),
            Kept::Skipped { .. } => None,
        }
    }
}

/// A line that says what is played, then a line for each game: a checksum, its number and what became of it. A line that was
/// cut off or damaged is passed over, and its game played again.
pub(crate) struct GamesJournal {
    path: PathBuf,
    file: File,
    games: BTreeMap<usize, Kept>,
}

const FIRST_WORDS: &str = "anqi self-play 1 ";

impl GamesJournal {
    /// Opens the journal beside a file of games, or makes one. `head` is all that games depend on.
    pub(crate) fn open(games: &Path, head: &str) -> Result<GamesJournal> {
        let mut name = OsString::from(games);
        name.push(".journal");
        let path = PathBuf::from(name);
        let shown = path.display();
        let cannot = || format!("cannot use {shown}");
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path);
        let mut file = file.with_context(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => bail!("another process is using {shown}"),
            Err(TryLockError::Error(error)) => return Err(error).with_context(cannot),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).with_context(cannot)?;
        let first = format!("{FIRST_WORDS}{}\n", head.escape_default());
        // What comes after the last end of a line was cut off; new lines are written in its place.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let begun = &bytes[..bytes.len().min(first.len())];
        if begun != &first.as_bytes()[..begun.len()] {
            let line = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned();
            bail!("{shown} is of other games: it begins with {:?}", excerpt(&line));
        }
        let lines = bytes[..whole].split(|&byte| byte == b'\n').skip(1);
        let games = lines.filter_map(parse).collect();
        file.set_len(whole as u64).with_context(cannot)?;
        file.seek(SeekFrom::End(0)).with_context(cannot)?;
        if whole == 0 {
            file.write_all(first.as_bytes()).with_context(cannot)?;
        }
        Ok(GamesJournal { path, file, games })
    }

    pub(crate) const fn games(&self) -> &BTreeMap<usize, Kept> {
        &self.games
    }

    /// Keeps a game; when this returns it is on the disk.
    pub(crate) fn add(&mut self, number: usize, kept: Kept) -> Result<()> {
        let text = serde_json::to_string(&(number, &kept))?;
        let line = format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("cannot write {}", self.path.display()))?;
        self.games.insert(number, kept);
        Ok(())
    }

    /// The games are elsewhere now.
    pub(crate) fn remove(self) -> Result<()> {
        fs::remove_file(&self.path).with_context(|| format!("cannot remove {}", self.path.display()))
    }
}

fn parse(line: &[u8]) -> Option<(usize, Kept)> {
    let (sum, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let is_whole = u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(text.as_bytes());
    is_whole.then(|| serde_json::from_str(text).ok())?
}
