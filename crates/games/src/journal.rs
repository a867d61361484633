//! Games of self-play that are there already, in a file that survives every interruption.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};

use anqi_assess::Skipped;
use anqi_rules::{Seat, excerpt};
use anqi_store::{
    Access, Damages, Framing, JournalError, JournalFormat, JournalLine, LineJournal, Old, OldHead, Owner, Syncer,
};
use serde::{Deserialize, Serialize};

use crate::board::WinOrDraw;
use crate::self_play::{SelfPlay, SelfPlayed};
use crate::writer::write_record;

/// What is kept of a game.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum KeptGame {
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

impl KeptGame {
    /// The game as it is written, if it has a result.
    #[must_use]
    pub fn record(&self) -> Option<&str> {
        match self {
            KeptGame::Finished { record, .. } => Some(record),
            KeptGame::Skipped { .. } => None,
        }
    }
}

impl From<SelfPlayed> for KeptGame {
    fn from(played: SelfPlayed) -> KeptGame {
        let skipped = |reason: &str, text: String| KeptGame::Skipped { reason: reason.to_owned(), text };
        match played {
            SelfPlayed::Unfinished { plies } => skipped("unfinished game", format!("{plies} plies")),
            SelfPlayed::Failed { plies, twice } => skipped("engine failed twice", format!("ply {plies}: {twice}")),
            SelfPlayed::Illegal { plies, answer } => skipped("illegal move", format!("ply {plies}: {answer:?}")),
            SelfPlayed::Finished(record) => {
                let mut text = Vec::new();
                match write_record(&mut text, &record) {
                    Err(error) => skipped("record that cannot be written", error.to_string()),
                    Ok(()) => KeptGame::Finished {
                        plies: record.moves.len() as u64,
                        winner: match record.outcome {
                            WinOrDraw::Win(seat) => Some(seat.name().to_owned()),
                            WinOrDraw::Draw => None,
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
    /// Won by the first player.
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
    pub fn add(&mut self, number: usize, kept: &KeptGame) {
        match kept {
            KeptGame::Skipped { reason, text } => self.skipped.add(reason, || format!("game {number}, {text}")),
            KeptGame::Finished { plies, winner, .. } => {
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
    /// The file cannot be read or written, or its beginning is damaged.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The file cannot be removed.
    #[error("cannot remove {path}: {error}")]
    Remove {
        /// Which file.
        path: String,
        /// The reason.
        error: io::Error,
    },
    /// Games of another kind, which are left as they are.
    #[error("{path} is of other games: line {line} says {text:?}; take another output file, or move that one away")]
    Other {
        /// Which file.
        path: String,
        /// Which line says so.
        line: u64,
        /// How it begins.
        text: String,
    },
}

/// What is played, then each game with what became of it. A game whose line was cut off or damaged is played again.
#[derive(Debug)]
pub struct GamesJournal {
    lines: LineJournal<GamesFormat>,
    games: BTreeMap<usize, KeptGame>,
}

/// Everything that games depend on, and games by number.
#[derive(Debug)]
struct GamesFormat;

impl JournalFormat for GamesFormat {
    const NAME: &'static str = "self-play";
    const ORDERED: bool = false;
    const OLD: Option<Old> =
        Some(Old { first_line: "anqi self-play 1 ", head: OldHead::FirstLine, framing: Framing::SumFirst });
    type Head = String;
    type Entry = (usize, KeptGame);

    fn write_head(head: &String) -> String {
        head.clone()
    }

    fn read_head(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn write(entry: &(usize, KeptGame)) -> JournalLine<'_> {
        // Numbers and strings: this cannot fail. The number is in the text as well because old lines have it only there.
        JournalLine::new("game", entry.0 as u64, serde_json::to_string(entry).unwrap_or_default())
    }

    fn read(line: JournalLine<'_>) -> Result<(usize, KeptGame), String> {
        serde_json::from_str(&line.text).map_err(|error| error.to_string())
    }
}

impl GamesJournal {
    /// Opens the journal beside a file of games, or makes one.
    ///
    /// # Errors
    /// If it cannot be used, or is of other games than those of `plan`.
    pub fn open(games: &Path, plan: &SelfPlay) -> Result<GamesJournal, KeepError> {
        let mut path = OsString::from(games);
        path.push(".journal");
        let path = PathBuf::from(path);
        let other = |line, text: &str| KeepError::Other { path: path.display().to_string(), line, text: excerpt(text) };
        // The journal keeps what goes wrong, and the next game is refused.
        let syncer = Syncer::start(|_, _| {});
        let syncer = syncer.map_err(|error| JournalError::Io { path: path.display().to_string(), error })?;
        let (mut games, head) = (BTreeMap::new(), plan.head());
        let met = |(number, kept), _| drop(games.insert(number, kept));
        let lines = LineJournal::open_or_create(&path, Owner::Alone, Access::Ordinary, &head, &syncer, met);
        let lines: LineJournal<GamesFormat> = lines.map_err(|error| match error {
            JournalError::Foreign { beginning, .. } => other(1, &beginning),
            error => error.into(),
        })?;
        // Version 1 escaped it.
        if *lines.head() != head && *lines.head() != head.escape_default().to_string() {
            return Err(other(lines.head_line(), lines.head()));
        }
        Ok(GamesJournal { lines, games })
    }

    /// The games by number.
    #[must_use]
    pub const fn games(&self) -> &BTreeMap<usize, KeptGame> {
        &self.games
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// What was damaged when it was opened.
    #[must_use]
    pub fn damages(&self) -> &Damages {
        self.lines.damages()
    }

    /// Keeps a game.
    ///
    /// # Errors
    /// If it cannot be written, or games before it could not be forced to the disk.
    pub fn add(&mut self, number: usize, kept: KeptGame) -> Result<(), KeepError> {
        self.lines.check()?;
        let entry = (number, kept);
        self.lines.append(&entry)?;
        self.games.insert(entry.0, entry.1);
        Ok(())
    }

    /// Removes the file: the games are elsewhere now.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(self) -> Result<(), KeepError> {
        let path = self.lines.path().display().to_string();
        self.lines.remove().map_err(|error| KeepError::Remove { path, error })
    }
}
