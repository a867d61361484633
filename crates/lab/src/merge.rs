//! Joining parts of a match that were played apart.

use std::path::{Path, PathBuf};
use std::{fmt::Write as _, io};

use anqi_engine::Fingerprint;
use anqi_store::{Access, write_whole};

use crate::journal::{ENGINES, MatchJournal, MatchJournalError};

/// Why a part is not taken.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A journal cannot be read or written.
    #[error(transparent)]
    Journal(#[from] MatchJournalError),
    /// It has another plan.
    #[error("{} is part of another match than {}", part.display(), whole.display())]
    OtherPlan {
        /// The folder of the part.
        part: PathBuf,
        /// The folder of the match.
        whole: PathBuf,
    },
    /// Other engines have played it.
    #[error("{} was played by other engines than {}:\n{strangers}play it again", part.display(), whole.display())]
    OtherEngines {
        /// The folder of the part.
        part: PathBuf,
        /// The folder of the match.
        whole: PathBuf,
        /// Who differs, with both fingerprints.
        strangers: String,
    },
    /// A pair that both have, and that depends on nothing but the plan, differs.
    #[error("pair {number} in {} is not the one in {}", part.display(), whole.display())]
    OtherPair {
        /// Which pair, counted from 1.
        number: u64,
        /// The folder of the part.
        part: PathBuf,
        /// The folder of the match.
        whole: PathBuf,
    },
}

/// Adds what `part` has to `whole`. A pair that both have must be the same, if nothing in the plan is a time.
///
/// # Errors
/// If the part belongs to another plan or was played by other engines, if a pair differs, or if a journal cannot be read
/// or written. What was added before stays.
pub fn merge(whole: &mut MatchJournal, part: &MatchJournal) -> Result<(), MergeError> {
    let folders = |whole: &MatchJournal| (part.dir().to_owned(), whole.dir().to_owned());
    if part.plan() != whole.plan() {
        let (part, whole) = folders(whole);
        return Err(MergeError::OtherPlan { part, whole });
    }
    if let Some(theirs) = engines(part.dir())? {
        match engines(whole.dir())? {
            Some(ours) => {
                let strangers = strangers(whole, &ours, &theirs);
                if !strangers.is_empty() {
                    let (part, whole) = folders(whole);
                    return Err(MergeError::OtherEngines { part, whole, strangers });
                }
            }
            None if whole.is_empty() => {
                let path = whole.dir().join(ENGINES);
                write_whole(&path, Access::Ordinary, |out| out.write_all(theirs.as_bytes()))
                    .map_err(|error| failed(&path, error))?;
            }
            // It is not known who played the games of an earlier version.
            None => {}
        }
    }
    for number in (0..part.plan().count()).filter(|number| part.has(*number)) {
        let pair = part.pair(number)?;
        if !whole.has(number) {
            whole.append(&pair)?;
        } else if whole.plan().is_reproducible() && whole.pair(number)? != pair {
            let (part, whole) = folders(whole);
            return Err(MergeError::OtherPair { number: number + 1, part, whole });
        }
    }
    Ok(())
}

/// Who played what is in a folder, if that was written down.
fn engines(dir: &Path) -> Result<Option<String>, MatchJournalError> {
    let path = dir.join(ENGINES);
    match anqi_store::read_text(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        lines => lines.map(Some).map_err(|error| failed(&path, error)),
    }
}

/// The contenders whose fingerprints are known of both and differ.
fn strangers(whole: &MatchJournal, ours: &str, theirs: &str) -> String {
    let mut strangers = String::new();
    let known = |line: &str| line.parse::<Fingerprint>().ok();
    for ((contender, ours), theirs) in whole.plan().contenders().iter().zip(ours.lines()).zip(theirs.lines()) {
        if let (Some(ours), Some(theirs)) = (known(ours), known(theirs))
            && ours != theirs
        {
            // Writing to a string cannot fail.
            let _ = writeln!(strangers, "  {}: {theirs} in the part, {ours} in the match", contender.name);
        }
    }
    strangers
}

fn failed(path: &Path, error: io::Error) -> MatchJournalError {
    MatchJournalError::Io { path: path.display().to_string(), error }
}
