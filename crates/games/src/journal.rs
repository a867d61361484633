//! Games of self-play that are there already, in a file that survives every interruption.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};

use anqi_assess::Skipped;
use anqi_rules::{Seat, excerpt};
use serde::{Deserialize, Serialize};

use crate::board::Outcome;
use crate::self_play::{Played, SelfPlay};
use crate::writer::write_record;

/// What is kept of a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum Kept {
    /// A game with a result.
    Finished {
        /// Its length.
        plies: u64,
        /// `first` or `second`; `None` for a draw.
        winner: Option<String>,
        /// The game as PGN, SGF or CSA.
        record: String,
    },
    /// A game that is left out.
    Skipped {
        /// Why.
        reason: String,
        /// What was found.
        text: String,
    },
}

impl Kept {
    /// The game as it is written, if it has a result.
    #[must_use]
    pub fn record(&self) -> Option<&str> {
        match self {
            Kept::Finished { record, .. } => Some(record),
            Kept::Skipped { .. } => None,
        }
    }
}

impl From<Played> for Kept {
    fn from(played: Played) -> Kept {
        let skipped = |reason: &str, text: String| Kept::Skipped { reason: reason.to_owned(), text };
        match played {
            Played::Unfinished { plies } => skipped("unfinished game", format!("{plies} plies")),
            Played::Failed { plies, twice } => skipped("engine failed twice", format!("ply {plies}: {twice}")),
            Played::Illegal { plies, answer } => skipped("illegal move", format!("ply {plies}: {answer:?}")),
            Played::Finished(record) => {
                let mut text = Vec::new();
                match write_record(&mut text, &record) {
                    Err(error) => skipped("record that cannot be written", error.to_string()),
                    Ok(()) => Kept::Finished {
                        plies: record.moves.len() as u64,
                        winner: match record.outcome {
                            Outcome::Win(seat) => Some(seat.name().to_owned()),
                            Outcome::Draw => None,
                        },
                        record: String::from_utf8_lossy(&text).into_owned(),
                    },
                }
            }
        }
    }
}

/// The results of games.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Results {
    /// Games with a result.
    pub games: usize,
    /// Won by whoever began.
    pub first_wins: u64,
    /// Drawn.
    pub draws: u64,
    /// Won by the other.
    pub second_wins: u64,
    /// The plies of all games.
    pub plies: u64,
    /// Games that were left out.
    pub skipped: Skipped,
}

impl Results {
    /// Counts game number `number`, from 1 on.
    pub fn add(&mut self, number: usize, kept: &Kept) {
        match kept {
            Kept::Skipped { reason, text } => self.skipped.add(reason, || format!("game {number}, {text}")),
            Kept::Finished { plies, winner, .. } => {
                self.games += 1;
                self.plies += plies;
                *match winner.as_deref() {
                    None => &mut self.draws,
                    Some(winner) if winner == Seat::First.name() => &mut self.first_wins,
                    Some(_) => &mut self.second_wins,
                } += 1;
            }
        }
    }
}

/// Why games cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum KeepError {
    /// A file that cannot be used.
    #[error("cannot {what} {path}: {error}")]
    Io {
        /// What was tried.
        what: &'static str,
        /// Which file.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// Another process has it.
    #[error("another process is using {0}")]
    InUse(String),
    /// Games of another kind, which are left as they are.
    #[error("{path} is of other games: it begins with {line:?}")]
    Other {
        /// Which file.
        path: String,
        /// How it begins.
        line: String,
    },
}

/// A line that says what is played, then a line for each game: a checksum, its number and what became of it. A line that was
/// cut off or damaged is passed over, and its game played again.
#[derive(Debug)]
pub struct GamesJournal {
    path: PathBuf,
    file: File,
    games: BTreeMap<usize, Kept>,
}

const FIRST_WORDS: &str = "anqi self-play 1 ";

impl GamesJournal {
    /// Opens the journal beside a file of games, or makes one.
    ///
    /// # Errors
    /// If it cannot be used, or is of other games than those of `plan`.
    pub fn open(games: &Path, plan: &SelfPlay) -> Result<GamesJournal, KeepError> {
        let mut name = OsString::from(games);
        name.push(".journal");
        let path = PathBuf::from(name);
        let shown = path.display().to_string();
        let cannot = |error| KeepError::Io { what: "use", path: shown.clone(), error };
        let mut file =
            OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path).map_err(cannot)?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(KeepError::InUse(shown)),
            Err(TryLockError::Error(error)) => return Err(cannot(error)),
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes).map_err(cannot)?;
        let first = format!("{FIRST_WORDS}{}\n", plan.head().escape_default());
        // What comes after the last end of a line was cut off; new lines are written in its place.
        let whole = bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |end| end + 1);
        let begun = &bytes[..bytes.len().min(first.len())];
        if begun != &first.as_bytes()[..begun.len()] {
            let line = String::from_utf8_lossy(&bytes).lines().next().unwrap_or_default().to_owned();
            return Err(KeepError::Other { path: shown, line: excerpt(&line) });
        }
        let lines = bytes[..whole].split(|&byte| byte == b'\n').skip(1);
        let games = lines.filter_map(parse).collect();
        file.set_len(whole as u64).map_err(cannot)?;
        file.seek(SeekFrom::End(0)).map_err(cannot)?;
        if whole == 0 {
            file.write_all(first.as_bytes()).map_err(cannot)?;
        }
        Ok(GamesJournal { path, file, games })
    }

    /// The games by number.
    #[must_use]
    pub const fn games(&self) -> &BTreeMap<usize, Kept> {
        &self.games
    }

    /// Keeps a game; when this returns it is on the disk.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, number: usize, kept: Kept) -> Result<(), KeepError> {
        let cannot = |error| KeepError::Io { what: "write", path: self.path.display().to_string(), error };
        let text = serde_json::to_string(&(number, &kept)).map_err(|error| cannot(error.into()))?;
        let line = format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
        self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data()).map_err(cannot)?;
        self.games.insert(number, kept);
        Ok(())
    }

    /// Removes the file: the games are elsewhere now.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(self) -> Result<(), KeepError> {
        let cannot = |error| KeepError::Io { what: "remove", path: self.path.display().to_string(), error };
        fs::remove_file(&self.path).map_err(cannot)
    }
}

fn parse(line: &[u8]) -> Option<(usize, Kept)> {
    let (sum, text) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    let is_whole = u32::from_str_radix(sum, 16).ok()? == crc32fast::hash(text.as_bytes());
    is_whole.then(|| serde_json::from_str(text).ok())?
}
