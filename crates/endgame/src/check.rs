//! Checking the tables of a folder, class by class.

use std::collections::BTreeSet;
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};

use anqi_rules::Position;
use anqi_task::{Progress, Status, together};

use crate::build::load;
use crate::file::{TableFile, table_path};
use crate::{Class, Disagreement, Ending, Flavour, MOST_PIECES, TableError, classes_up_to, verify};

/// What a check of files has found.
#[derive(Clone, Default, Debug)]
pub struct FilesChecked {
    /// How many classes.
    pub classes: u64,
    /// How many positions of those that are right, up to symmetry, both sides to move.
    pub positions: u64,
    /// One position of each class that is wrong, by the name of the class.
    pub wrong: Vec<WrongTable>,
}

/// A table with a value that does not follow from its successors.
#[derive(Clone, Debug)]
pub struct WrongTable {
    /// The name of its class.
    pub ending: Ending,
    /// Where.
    pub position: Position,
    /// What the table says, and what follows.
    pub disagreement: Disagreement,
}

/// The classes up to six pieces whose tables are in a folder, by their names.
#[must_use]
pub fn present(dir: &Path, flavour: Flavour) -> Vec<Ending> {
    let there = |ending: &Ending| table_path(dir, ending, flavour).exists();
    classes_up_to(MOST_PIECES as u32).into_values().filter(there).collect()
}

/// [Verifies](verify) the tables of the classes of `endings` in a folder, which must have those that captures lead to.
/// `progress` counts classes.
///
/// # Errors
/// If an ending has more than [`MOST_PIECES`] pieces, or a table is missing, damaged or cannot be read.
pub fn verify_files(
    dir: &Path,
    flavour: Flavour,
    endings: &[Ending],
    threads: NonZeroUsize,
    mut progress: impl Progress + Send,
) -> Result<FilesChecked, TableError> {
    let mut status = Status::default();
    endings.iter().for_each(|_| status.all.add(1));
    progress.report(&status);
    let found = Mutex::new((FilesChecked::default(), status, progress));
    for pieces in 2..=MOST_PIECES as u32 {
        let level: Vec<Class> =
            endings.iter().filter(|ending| ending.len() == pieces).map(|ending| Class::of(ending).class).collect();
        let below: BTreeSet<Class> = level.iter().flat_map(Class::smaller).collect();
        let smaller = load(dir, flavour, &below.iter().filter_map(Class::name).collect::<Vec<_>>())?;
        let queue = Mutex::new(level.iter());
        let next = || queue.lock().unwrap_or_else(PoisonError::into_inner).next();
        let work = |_| -> Result<(), TableError> {
            while let Some(class) = next() {
                let Some(ending) = class.name() else { unreachable!("all classes of up to six pieces have names") };
                let table = TableFile::need(dir, &ending, flavour)?.load()?;
                let Some(verified) = verify(&table, |class| smaller.get(class)) else {
                    unreachable!("all smaller tables are loaded")
                };
                let (found, status, progress) = &mut *found.lock().unwrap_or_else(PoisonError::into_inner);
                found.classes += 1;
                match verified {
                    Ok(positions) => found.positions += positions,
                    Err(disagreement) => {
                        let position = Class::of(&ending).position(&ending, &disagreement.placement);
                        let Some(position) = position else { unreachable!("a placement is a position") };
                        found.wrong.push(WrongTable { ending, position, disagreement });
                    }
                }
                status.add(1, false);
                progress.report(status);
            }
            Ok(())
        };
        together(threads.get().min(level.len()), work).into_iter().collect::<Result<(), _>>()?;
    }
    let (mut found, ..) = found.into_inner().unwrap_or_else(PoisonError::into_inner);
    found.wrong.sort_by_cached_key(|wrong| wrong.ending.to_string());
    Ok(found)
}
