//! Joining parts of a match that were played apart.

use std::path::PathBuf;

use crate::journal::{MatchJournal, MatchJournalError};

/// Why a part is not taken.
#[derive(Debug, thiserror::Error)]
pub enum MergeError {
    /// A journal cannot be read or written, or other engines have played the part.
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

/// Adds what `part` has to `whole`. A pair that both have must be the same, if nothing in the plan is a time. A note if it
/// is not known of one of the two who played it.
///
/// # Errors
/// If the part belongs to another plan or was played by other engines, if a pair differs, or if a journal cannot be read
/// or written. What was added before stays.
pub fn merge(whole: &mut MatchJournal, part: &MatchJournal) -> Result<Option<String>, MergeError> {
    let folders = |whole: &MatchJournal| (part.dir().to_owned(), whole.dir().to_owned());
    if part.plan() != whole.plan() {
        let (part, whole) = folders(whole);
        return Err(MergeError::OtherPlan { part, whole });
    }
    let note = whole.admit_part(part)?;
    for number in (0..part.plan().count()).filter(|number| part.has(*number)) {
        let pair = part.pair(number)?;
        if !whole.has(number) {
            whole.append(&pair)?;
        } else if whole.plan().is_reproducible() && whole.pair(number)? != pair {
            let (part, whole) = folders(whole);
            return Err(MergeError::OtherPair { number: number + 1, part, whole });
        }
    }
    Ok(note)
}
