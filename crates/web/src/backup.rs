//! Backups of a folder of games, made while a server uses it, and what brings them back.
//!
//! Journals only grow, and records appear whole, so a copy of each file up to its last whole line is the game as it stood at
//! some moment after the backup began. `contents` in the copy names all files with their lengths and checksums; it is
//! written last, so that a backup without it is known to be unfinished.

use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anqi_store::{
    Access, Damage, FolderLock, LockError, create_secret_folder, list, read_small, seal_text, unseal_text, write_whole,
};

const CONTENTS: &str = "contents";
const KIND: &str = "backup";
/// No file of a folder of games is longer; a game's journal has a bound of its own.
const LONGEST: usize = 1 << 30;

/// How much was copied.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Copied {
    /// How many files.
    pub files: u64,
    /// Their lengths together.
    pub bytes: u64,
}

/// Why a backup cannot be made or brought back.
#[derive(Debug, thiserror::Error)]
pub enum BackupError {
    /// A file or folder cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// Which.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// The folder that is to be written has files.
    #[error("{path}: {file} is there already; choose a folder that is empty or not there")]
    NotEmpty {
        /// The folder.
        path: String,
        /// One of its files.
        file: String,
    },
    /// A server uses the folder.
    #[error(transparent)]
    Locked(#[from] LockError),
    /// No backup, or an unfinished one.
    #[error("{0}: there is no file \"contents\": this is no backup, or it was not finished")]
    Unfinished(String),
    /// The list of files is not what was written.
    #[error("{path}: {damage}")]
    Contents {
        /// The list.
        path: String,
        /// What is wrong with it.
        damage: Damage,
    },
    /// A line of the list is none.
    #[error("{path}: {line:?} is no line of a backup, expected NAME BYTES CRC-32")]
    Line {
        /// The list.
        path: String,
        /// The line.
        line: String,
    },
    /// A file is not what was written.
    #[error("{path}: it has {is} and had {was} when the backup was made; nothing was restored")]
    Damaged {
        /// The file.
        path: String,
        /// What it is now.
        is: String,
        /// What it was.
        was: String,
    },
}

fn failed(path: &Path) -> impl FnOnce(io::Error) -> BackupError {
    let path = path.display().to_string();
    move |error| BackupError::Io { path, error }
}

fn name_of(path: &Path) -> &str {
    path.file_name().and_then(OsStr::to_str).unwrap_or_default()
}

fn is_journal(name: &str) -> bool {
    name.ends_with(".journal")
}

/// What belongs to the server that uses the folder, or to a file in the making.
fn is_passing(name: &str) -> bool {
    name.is_empty() || name == "lock" || name == "server.json" || name.ends_with(".part")
}

/// Length and checksum, as the list has them.
fn sum(bytes: &[u8]) -> String {
    format!("{} {:08x}", bytes.len(), crc32fast::hash(bytes))
}

/// Refuses a folder that has files, and makes one that is not there.
fn make_empty(dir: &Path) -> Result<(), BackupError> {
    create_secret_folder(dir).map_err(failed(dir))?;
    let found = list(dir).map_err(failed(dir))?;
    match found.iter().map(|found| name_of(&found.path)).find(|name| !is_passing(name)) {
        Some(file) => Err(BackupError::NotEmpty { path: dir.display().to_string(), file: file.to_owned() }),
        None => Ok(()),
    }
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    read_small(path, LONGEST)
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), BackupError> {
    write_whole(path, Access::Secret, |file| file.write_all(bytes)).map_err(failed(path))
}

/// Copies a folder of games to a new one, whether a server uses it or not. The copies are for their owner alone: journals have
/// the seeds of deals.
///
/// # Errors
/// If a file cannot be read or written, or there are files where the copy is to be.
pub fn backup(games: &Path, to: &Path) -> Result<Copied, BackupError> {
    // Before the new folder is made, which may lie in this one.
    let found = list(games).map_err(failed(games))?;
    make_empty(to)?;
    let (mut copied, mut lines) = (Copied::default(), BTreeSet::new());
    let mut copy = |path: &Path| -> Result<bool, BackupError> {
        let name = name_of(path);
        let mut bytes = match read(path) {
            // A game ended: its record is there by now.
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            bytes => bytes.map_err(failed(path))?,
        };
        if is_journal(name) {
            // What is after the last line break is being written, or was never acknowledged.
            bytes.truncate(bytes.iter().rposition(|&byte| byte == b'\n').map_or(0, |last| last + 1));
        }
        write(&to.join(name), &bytes)?;
        copied.files += 1;
        copied.bytes += bytes.len() as u64;
        lines.insert(format!("{name} {}\n", sum(&bytes)));
        Ok(true)
    };
    let is_wanted = |path: &Path| path.is_file() && !is_passing(name_of(path));
    for journal in found.iter().filter(|found| is_journal(name_of(&found.path)) && is_wanted(&found.path)) {
        copy(&journal.path)?;
    }
    // Records second: a game that has ended since the first list is in this one.
    for other in list(games).map_err(failed(games))? {
        if !is_journal(name_of(&other.path)) && is_wanted(&other.path) {
            copy(&other.path)?;
        }
    }
    let contents = to.join(CONTENTS);
    write(&contents, seal_text(KIND, &lines.into_iter().collect::<String>()).as_bytes())?;
    Ok(copied)
}

/// Copies a backup into a folder without games, after all of it has been checked.
///
/// # Errors
/// If the backup is not whole, or the folder has files or is used by a server.
pub fn restore(from: &Path, games: &Path) -> Result<Copied, BackupError> {
    let contents = from.join(CONTENTS);
    let text = match read(&contents) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Err(BackupError::Unfinished(from.display().to_string()));
        }
        bytes => bytes.map_err(failed(&contents))?,
    };
    let path = contents.display().to_string();
    let lines = unseal_text(KIND, &text)
        .map_err(|damage| BackupError::Contents { path: path.clone(), damage })?
        .ok_or_else(|| BackupError::Unfinished(from.display().to_string()))?;
    let mut files: Vec<(PathBuf, String, &str)> = Vec::new();
    for line in lines.lines().filter(|line| !line.is_empty()) {
        let parts = line.split_once(' ').filter(|(name, _)| is_plain(name));
        let (name, was) =
            parts.ok_or_else(|| BackupError::Line { path: path.clone(), line: line.chars().take(80).collect() })?;
        files.push((from.join(name), name.to_owned(), was));
    }
    // All of it is looked at before anything is written.
    for (path, _, was) in &files {
        let is = sum(&read(path).map_err(failed(path))?);
        if is != *was {
            return Err(BackupError::Damaged { path: path.display().to_string(), is, was: (*was).to_owned() });
        }
    }
    create_secret_folder(games).map_err(failed(games))?;
    let _lock = FolderLock::take(games)?;
    make_empty(games)?;
    let mut copied = Copied::default();
    for (path, name, was) in &files {
        let bytes = read(path).map_err(failed(path))?;
        let is = sum(&bytes);
        if is != *was {
            return Err(BackupError::Damaged { path: path.display().to_string(), is, was: (*was).to_owned() });
        }
        write(&games.join(name), &bytes)?;
        copied.files += 1;
        copied.bytes += bytes.len() as u64;
    }
    Ok(copied)
}

/// A name that stays in the folder.
fn is_plain(name: &str) -> bool {
    !is_passing(name) && name != CONTENTS && name != ".." && name != "." && !name.contains(['/', '\\'])
}
