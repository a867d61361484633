//! Building tables into a folder: class by class, smaller ones first, each file whole or not at all.
//!
//! What is in the folder already is not built again, so a build that was killed goes on where it was. A class is claimed
//! before it is solved: any number of processes, on any machines that share the folder, build different ones.

use std::collections::{BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anqi_rules::{ByColor, Seed};
use anqi_store::{ContainerError, FileClaim, clear_parts, create_folders};
use anqi_task::{Progress, Status, Stop, together};

use crate::file::{TableFile, write};
use crate::retrograde::solve;
use crate::{
    Class, Disagreement, Distance, Ending, Flavour, Index, Table, TableError, TableTally, Value, table_path,
    verify_sample,
};

/// How long to wait for another process's table before looking again.
const A_WHILE: Duration = Duration::from_millis(50);

/// Builds the classes of `endings`, and all that captures lead to, into `dir`. Returns whether everything is there; if
/// `stop` is raised, what is being solved is given up. `progress` counts classes and their positions, up to symmetry.
///
/// # Errors
/// If an ending has more than [`MOST_PIECES`](crate::MOST_PIECES) pieces, the folder cannot be written to, or a file in it is damaged.
pub fn build(
    dir: &Path,
    flavour: Flavour,
    endings: impl IntoIterator<Item = Ending>,
    threads: NonZeroUsize,
    stop: &Stop,
    mut progress: impl Progress + Send,
) -> Result<bool, TableError> {
    let failed = |error| TableError::Folder { path: dir.display().to_string(), error };
    create_folders(dir).map_err(failed)?;
    clear_parts(dir, |name| name.ends_with(".table")).map_err(failed)?;
    let levels = Class::levels(endings).map_err(TableError::TooManyPieces)?;
    let size = |class: &Class| Index::new(class).map_or(0, |index| index.positions());
    let mut status = Status::default();
    levels.iter().flatten().for_each(|class| status.all.add(size(class)));
    progress.report(&status);

    let mut smaller: HashMap<Class, Table> = HashMap::new();
    for (pieces, level) in levels.iter().enumerate() {
        let needed = levels[pieces + 1..].iter().any(|level| !level.is_empty());
        // The largest first, so that no thread is left alone with one of them at the end.
        let mut queue: Vec<(u64, &Class)> = level.iter().map(|class| (size(class), class)).collect();
        queue.sort();
        let progress = &mut progress;
        let work = Mutex::new(Work { queue, elsewhere: Vec::new(), built: HashMap::new(), status, progress });
        let maker = Maker { dir, flavour, smaller: &smaller, needed };
        together(threads.get().min(level.len()), |_| maker.work(&work, stop)).into_iter().collect::<Result<(), _>>()?;
        if stop.is_raised() {
            return Ok(false);
        }
        let work = work.into_inner().unwrap_or_else(PoisonError::into_inner);
        (smaller, status) = (work.built, work.status);
    }
    Ok(true)
}

/// What threads share while they build the classes of one size.
struct Work<'a, P> {
    /// The largest last.
    queue: Vec<(u64, &'a Class)>,
    /// Claimed by other processes, which may die.
    elsewhere: Vec<(u64, &'a Class)>,
    built: HashMap<Class, Table>,
    status: Status,
    progress: P,
}

struct Maker<'a> {
    dir: &'a Path,
    flavour: Flavour,
    smaller: &'a HashMap<Class, Table>,
    /// Whether larger classes will want these.
    needed: bool,
}

impl Maker<'_> {
    fn work<P: Progress>(&self, work: &Mutex<Work<'_, &mut P>>, stop: &Stop) -> Result<(), TableError> {
        let lock = || work.lock().unwrap_or_else(PoisonError::into_inner);
        while !stop.is_raised() {
            let next = {
                let mut work = lock();
                let next = work.queue.pop().map(|next| (next, true));
                next.or_else(|| work.elsewhere.pop().map(|next| (next, false)))
            };
            let Some(((size, class), first)) = next else { break };
            if !first {
                thread::sleep(A_WHILE);
            }
            match self.make(class, stop) {
                Ok(Some((table, found))) => {
                    let mut work = lock();
                    work.built.extend(table.map(|table| (class.clone(), table)));
                    work.status.add(size, found && first);
                    let status = work.status;
                    work.progress.report(&status);
                }
                Ok(None) => lock().elsewhere.push((size, class)),
                Err(error) => {
                    lock().queue.clear();
                    lock().elsewhere.clear();
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Finds or makes the file of a class; gives the table if it is needed, and whether the file was there. `None` if
    /// somebody else is at it.
    fn make(&self, class: &Class, stop: &Stop) -> Result<Option<(Option<Table>, bool)>, TableError> {
        let Some(ending) = class.name() else { unreachable!("all classes have names") };
        if let Some(file) = TableFile::find(self.dir, &ending, self.flavour)? {
            return Ok(Some((if self.needed { Some(file.load()?) } else { None }, true)));
        }
        let Some(claim) = FileClaim::new(&table_path(self.dir, &ending, self.flavour))? else { return Ok(None) };
        let Some(table) = solve(class, self.flavour, |smaller| self.smaller.get(smaller)) else {
            unreachable!("all smaller classes are there")
        };
        if stop.is_raised() {
            return Ok(Some((None, false)));
        }
        write(claim, &ending, &table)?;
        Ok(Some((self.needed.then_some(table), false)))
    }
}

/// One class of a build, for those who share it out themselves.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BuildStep {
    /// The ending that names the class.
    pub ending: Ending,
    /// How many positions it has, up to symmetry.
    pub positions: u64,
    /// The classes that captures lead to, by name: their tables must be there first.
    pub needs: Vec<Ending>,
}

/// A build of `endings` class by class, the smaller ones first.
///
/// # Errors
/// If an ending has more than [`MOST_PIECES`](crate::MOST_PIECES) pieces.
pub fn steps(endings: impl IntoIterator<Item = Ending>) -> Result<Vec<BuildStep>, TableError> {
    let levels = Class::levels(endings).map_err(TableError::TooManyPieces)?;
    let step = |class: &Class| {
        let needs: BTreeSet<Class> = class.smaller().collect();
        let needs = needs.iter().filter_map(Class::name).collect();
        Some(BuildStep { ending: class.name()?, positions: Index::new(class)?.positions(), needs })
    };
    Ok(levels.iter().flatten().filter_map(step).collect())
}

/// Builds one class, if it is not there, into a folder that has all that captures lead to.
///
/// # Errors
/// If it has not, cannot be written to, or a file in it is damaged.
pub fn build_step(dir: &Path, flavour: Flavour, step: &BuildStep) -> Result<(), TableError> {
    let class = Class::of(&step.ending).class;
    let smaller = load(dir, flavour, &step.needs)?;
    let maker = Maker { dir, flavour, smaller: &smaller, needed: false };
    while maker.make(&class, &Stop::default())?.is_none() {
        thread::sleep(A_WHILE);
    }
    Ok(())
}

/// A check of a table by the rules, at random placements.
#[derive(Clone, Copy, Debug)]
pub struct SampleCheck<'a> {
    /// The classes that captures lead to, by name: their tables must be in the folder.
    pub needs: &'a [Ending],
    /// How many placements.
    pub count: u64,
    /// Where they come from.
    pub seed: &'a Seed,
}

/// Puts a table that was built elsewhere into a folder, if it is not there, once every block of it is checked, and a sample of
/// its values by the rules.
///
/// # Errors
/// If the bytes are not a sound table of that class, a value of the sample is wrong, or the folder cannot be written to.
pub fn adopt(
    dir: &Path,
    flavour: Flavour,
    ending: &Ending,
    bytes: &[u8],
    sample: Option<&SampleCheck<'_>>,
) -> Result<(), TableError> {
    let path = table_path(dir, ending, flavour);
    while TableFile::find(dir, ending, flavour)?.is_none() {
        match FileClaim::new(&path)? {
            Some(claim) => {
                let smaller = load(dir, flavour, sample.map_or(&[], |sample| sample.needs))?;
                let is_sound = |part: &Path| {
                    let unsound = |error: TableError| match error {
                        TableError::Container(ContainerError::Io { .. }) => error, // our own disk
                        error => TableError::Unsound(Box::new(error)),
                    };
                    let table =
                        TableFile::open_as(part, ending, flavour).and_then(|file| file.load()).map_err(unsound)?;
                    let wrong = sample.and_then(|SampleCheck { count, seed, .. }| {
                        verify_sample(&table, |class| smaller.get(class), *count, seed)?.err()
                    });
                    match wrong {
                        Some(Disagreement { placement, found, expected }) => {
                            let position = Class::of(ending).position(ending, &placement);
                            let position = position.map_or_else(String::new, |position| position.to_string());
                            let told = |value: Value| match value.distance() {
                                Some(Distance(plies)) => format!("{} in {plies}", value.wdl().name()),
                                None => value.wdl().name().to_owned(),
                            };
                            let (found, expected) = (told(found), told(expected));
                            let what = format!("at {position} it says {found}, what follows is {expected}");
                            Err(unsound(TableError::Head { path: ending.to_string(), what }))
                        }
                        None => Ok(()),
                    }
                };
                claim.adopt(bytes, is_sound)?;
            }
            None => thread::sleep(A_WHILE),
        }
    }
    Ok(())
}

/// The tables of classes, by name, out of a folder that has them all.
pub(crate) fn load(dir: &Path, flavour: Flavour, names: &[Ending]) -> Result<HashMap<Class, Table>, TableError> {
    let table = |name: &Ending| {
        let table = TableFile::need(dir, name, flavour)?.load()?;
        Ok((table.class().clone(), table))
    };
    names.iter().map(table).collect()
}

/// Solves the classes of `endings`, which all have the same number of pieces, without keeping the tables: `heard` gets
/// the results over all placements of each class, under its name, as soon as they are known. The smaller tables are
/// taken from `dir` and built there where they are missing. Returns whether everything was solved.
///
/// # Errors
/// As for [`build`].
pub fn count(
    dir: &Path,
    flavour: Flavour,
    endings: &[Ending],
    threads: NonZeroUsize,
    stop: &Stop,
    heard: impl FnMut(Ending, &ByColor<TableTally>) + Send,
) -> Result<bool, TableError> {
    let mut levels = Class::levels(endings.iter().copied()).map_err(TableError::TooManyPieces)?;
    let Some(pieces) = levels.iter().rposition(|level| !level.is_empty()) else { return Ok(true) };
    let top = std::mem::take(&mut levels[pieces]);
    let below: Vec<Ending> = levels[pieces - 1].iter().filter_map(Class::name).collect();
    if !build(dir, flavour, below.iter().copied(), threads, stop, ())? {
        return Ok(false);
    }
    let smaller = load(dir, flavour, &below)?;
    let mut queue: Vec<&Class> = top.iter().collect();
    queue.sort_by_cached_key(|class| Index::new(class).map(|index| index.positions()));
    let work = Mutex::new((queue, heard));
    let lock = || work.lock().unwrap_or_else(PoisonError::into_inner);
    together(threads.get(), |_| {
        while !stop.is_raised() {
            let next = lock().0.pop();
            let Some(class) = next else { break };
            let table = solve(class, flavour, |smaller_class| smaller.get(smaller_class));
            if let (Some(name), Some(table)) = (class.name(), table) {
                (lock().1)(name, table.tally());
            }
        }
    });
    Ok(!stop.is_raised())
}
