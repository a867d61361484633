//! `FolderLock`: one process at a time in a folder.

use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Instant;

use crate::disk::{self, Access, Handle, Open};
use crate::whole::{PATIENCE, PAUSE};

const NAME: &str = "lock";

/// Held as long as a process is at work in a folder: a lock on its file `lock`, which the system takes away when the process
/// ends, however it ends.
#[derive(Debug)]
pub struct FolderLock {
    dir: PathBuf,
    _handle: Handle,
}

/// Why a folder cannot be locked.
#[derive(Debug, thiserror::Error)]
pub enum LockError {
    /// Another process has it.
    #[error("{0}: another process is at work in this folder; wait for it, or end it")]
    Held(String),
    /// The folder or the file cannot be made.
    #[error("cannot lock the folder {path}: {error}")]
    Io {
        /// The folder.
        path: String,
        /// Why not.
        error: io::Error,
    },
}

impl FolderLock {
    /// Locks a folder, and makes it if need be.
    ///
    /// # Errors
    /// If another process has it for a second, or it cannot be made.
    pub fn take(dir: &Path) -> Result<FolderLock, LockError> {
        let failed = |error| LockError::Io { path: dir.display().to_string(), error };
        disk::create_folders(dir).map_err(failed)?;
        let handle = disk::open(&dir.join(NAME), Open::AppendOrCreate(Access::Ordinary)).map_err(failed)?;
        // A process that was killed while it started a program leaves the lock to that program until it runs.
        if patiently_lock(&handle).map_err(failed)? {
            Ok(FolderLock { dir: dir.to_owned(), _handle: handle })
        } else {
            Err(LockError::Held(dir.display().to_string()))
        }
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }
}

/// Locks a file. False if another process keeps it locked.
pub(crate) fn patiently_lock(handle: &Handle) -> io::Result<bool> {
    let started = Instant::now();
    loop {
        if handle.try_lock()? {
            return Ok(true);
        }
        if started.elapsed() >= PATIENCE {
            return Ok(false);
        }
        thread::sleep(PAUSE);
    }
}
