//! How is it kept? Everything that is written to disk goes through this crate, which knows no game.
//!
//! ```
//! use anqi_store::{Access, write_whole};
//!
//! let dir = tempfile::tempdir()?;
//! let path = dir.path().join("report.html");
//! write_whole(&path, Access::Ordinary, |out| out.write_all(b"<!DOCTYPE html>"))?;
//! assert_eq!(std::fs::read(&path)?, b"<!DOCTYPE html>");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `disk.rs` | every call to the file system: the real one, or in tests a simulated one |
//! | `whole.rs` | `write_whole`: a file is there complete or not at all; `clear_parts`: what killed writers left |
//! | `lock.rs` | `FolderLock`: one process at a time in a folder |
//! | `journal/` | `LineJournal`: a typed head, then one checked entry a line, appended one by one |
//! | `sync.rs` | `Syncer`: the thread that forces journals to the disk |
//! | `sealed.rs` | texts and JSON objects with checksums, for files that are written whole |
//! | `container.rs` | `Container`, `FileClaim`: bytes in compressed, checked blocks; the right to make a file |
//! | `faults/` | the simulated disk, behind the feature `faults` |
//!
//! - **Reading never changes a file.** A damaged line is named with its number and the reason; the file keeps every byte.
//! - **A torn last line is not damage.** It was never acknowledged. The next append marks it and starts a new line.
//! - **Acknowledged** means: on the disk for every other process at once, so that a kill of this process loses nothing, and
//!   forced to the medium within two seconds, so that a power cut after that loses nothing.
//! - **A file that is written whole** is complete on the medium before it gets its name.

mod container;
mod disk;
#[cfg(feature = "faults")]
pub mod faults;
mod journal;
mod lock;
mod sealed;
mod sync;
mod whole;

pub use container::{Container, ContainerError, FileClaim};
pub use disk::{
    Access, Found, create_folders, create_secret_folder, exists, is_open_to_others, list, make_secret, read_small,
    read_text, remove,
};
pub use journal::{
    Damage, DamageReason, Damages, Framing, JournalError, JournalFormat, JournalLine, LineJournal, Old, OldHead, Owner,
    Place,
};
pub use lock::{FolderLock, LockError};
pub use sealed::{seal_object, seal_text, unseal_object, unseal_text};
pub use sync::Syncer;
pub use whole::{clear_parts, write_whole};

/// The beginning of a text, short enough for a message.
fn excerpt(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}
