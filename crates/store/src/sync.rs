//! `Syncer`: a thread that forces journals to the disk in the background, so that an append does not wait for the disk.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use crate::JournalError;
use crate::disk::Handle;

/// Together with the time that a disk takes this stays below the two seconds that are promised.
const SYNC_AFTER: Duration = Duration::from_secs(1);

/// What the journal and the thread share.
#[derive(Debug)]
pub(crate) struct JournalFile {
    pub(crate) path: PathBuf,
    pub(crate) handle: Handle,
    /// Something was written that may not be on the medium; the thread knows.
    dirty: AtomicBool,
    /// The file was taken away by its owner.
    removed: AtomicBool,
    trouble: Mutex<Option<Trouble>>,
}

/// Why entries may be lost at a power cut. It stays: after a sync that failed, the system may forget what it could not write,
/// and the next one may succeed without it.
#[derive(Clone, Debug)]
enum Trouble {
    Sync(io::ErrorKind, String),
    Gone,
    NoThread,
}

impl JournalFile {
    pub(crate) fn new(path: &Path, handle: Handle) -> JournalFile {
        JournalFile {
            path: path.to_owned(),
            handle,
            dirty: AtomicBool::new(false),
            removed: AtomicBool::new(false),
            trouble: Mutex::new(None),
        }
    }

    /// Forces everything that was written to the medium.
    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        // What is written from here on waits for the next time.
        self.dirty.store(false, Ordering::Release);
        if let Err(error) = self.handle.sync() {
            self.fail(Trouble::Sync(error.kind(), error.to_string()));
        } else if !self.removed.load(Ordering::Acquire) && !self.handle.is_at(&self.path).unwrap_or(true) {
            // Its owner may have taken it away since the first of these questions.
            if !self.removed.load(Ordering::Acquire) {
                self.fail(Trouble::Gone);
            }
        }
        self.check()
    }

    pub(crate) fn is_dirty(&self) -> bool {
        self.dirty.load(Ordering::Acquire)
    }

    pub(crate) fn set_removed(&self) {
        self.removed.store(true, Ordering::Release);
    }

    fn fail(&self, trouble: Trouble) {
        self.trouble.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(trouble);
    }

    /// Whether everything that had to reach the medium so far did.
    pub(crate) fn check(&self) -> Result<(), JournalError> {
        let trouble = self.trouble.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let path = self.path.display().to_string();
        Err(match trouble {
            None => return Ok(()),
            Some(Trouble::Sync(kind, error)) => JournalError::NotSynced { path, kind, error },
            Some(Trouble::Gone) => JournalError::Gone(path),
            Some(Trouble::NoThread) => JournalError::NoThread(path),
        })
    }
}

/// The sync thread. What was appended to a journal is forced to the disk a second later; how that went is told, and kept by
/// the journal.
#[derive(Clone, Debug)]
pub struct Syncer(Option<mpsc::Sender<Weak<JournalFile>>>);

impl Syncer {
    /// Starts the thread; it ends with the last clone of this and the last journal. `report` is called after every sync.
    ///
    /// # Errors
    /// If there can be no thread.
    pub fn start(report: impl Fn(&Path, Result<(), JournalError>) + Send + 'static) -> io::Result<Syncer> {
        let (sender, files) = mpsc::channel::<Weak<JournalFile>>();
        let work = move || {
            while let Ok(first) = files.recv() {
                let due = Instant::now() + SYNC_AFTER;
                let mut written = vec![first];
                // The wait ends early with the last journal, so that no thread outlives it.
                while let Ok(next) = files.recv_timeout(due.saturating_duration_since(Instant::now())) {
                    written.push(next);
                }
                // A journal that was closed has been synced then.
                for file in written.iter().filter_map(Weak::upgrade) {
                    report(&file.path, file.sync());
                }
            }
        };
        thread::Builder::new().name("sync".to_owned()).spawn(work)?;
        Ok(Syncer(Some(sender)))
    }

    /// Without a thread, for tests that decide when the disk is forced.
    #[cfg(feature = "faults")]
    #[must_use]
    pub fn by_hand() -> Syncer {
        Syncer(None)
    }

    /// Has a journal forced to the disk, once for everything that is written until then.
    pub(crate) fn want(&self, file: &Arc<JournalFile>) {
        if !file.dirty.swap(true, Ordering::AcqRel)
            && let Some(sender) = &self.0
            && sender.send(Arc::downgrade(file)).is_err()
        {
            file.fail(Trouble::NoThread);
        }
    }
}
