//! `ExperimentKind`: what one kind of experiment is asked, and everything that is done with the answer.
//!
//! A kind is one module under `kinds`: its plan, its rows, how they are measured and continued, and what a report says of
//! them. The list [`KINDS`](crate::kinds::KINDS) is the only other place that knows it.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Resources, Stop};
use anqi_lab::{Cast, Ended, MatchJournal};
use anqi_task::Status;

use crate::facts::{Facts, Pattern};
use crate::figure::Figure;
use crate::section::Section;
use crate::{AssessmentPage, Experiment, ExperimentError, Run, SheetError};

/// The plan of one kind of experiment.
pub(crate) trait ExperimentKind: fmt::Debug + Send + Sync {
    /// The plan as it is written down, but for the line `kind`. What it gives is read back as the same plan.
    fn text(&self) -> Result<String, toml::ser::Error>;

    /// How much is to be done, in words.
    fn size(&self) -> String;

    /// The same plan with another number of what `--count` counts.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError>;

    /// Whether a run has everything that the plan asks for.
    fn is_finished(&self, run: &Run) -> bool;

    /// Measures what is missing in a run and keeps it as it comes; false if it was stopped.
    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError>;

    /// What a run says, as far as it is measured.
    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError>;

    /// The names of the files that it needs from outside.
    fn inputs(&self) -> Vec<&str> {
        Vec::new()
    }

    /// Numbers with the names that every run of the plan has, whatever it measures; none if they depend on what is found.
    fn names(&self) -> Facts {
        Facts::default()
    }

    /// The games to be played, if they are those of one plan whose journal lies in the folder of the run itself.
    fn games(&self) -> Option<&anqi_lab::Plan> {
        None
    }
}

/// What a run says.
#[derive(Default)]
pub(crate) struct Told {
    /// How much is measured, of how much, and of what.
    pub(crate) measured: (usize, usize, &'static str),
    /// Printed numbers by name, for claims and figures.
    pub(crate) printed: Facts,
    /// Measured numbers by name.
    pub(crate) facts: Facts,
    /// Figures beside those that `report.toml` asks for.
    pub(crate) figures: Vec<Figure>,
    /// Words and tables.
    pub(crate) sections: Vec<Section>,
    /// Assessments, each of which is a page of its own.
    pub(crate) pages: Vec<AssessmentPage>,
}

/// What measuring needs from outside.
pub struct Work<'a> {
    /// Networks, tables and a clock for players.
    pub resources: &'a Resources,
    /// The request to end.
    pub stop: &'a Stop,
    /// How many things are done at a time where time does not count.
    pub threads: NonZeroUsize,
    /// Files that the plan names and does not hold.
    pub inputs: Inputs,
    /// The part of the work that is done this time, where a kind can be divided.
    pub slice: Slice,
    /// Plays games and shows how far the work is.
    pub host: &'a mut dyn Host,
}

/// A part of the work of a multiverse.
#[derive(Clone, Debug, Default)]
pub struct Slice {
    /// The universes that are played, by their names; all without it.
    pub only: Option<Pattern>,
    /// When the work will be stopped, if that is known: no pair is begun that would not be over by then.
    pub until: Option<Instant>,
}

/// Plays games and shows how far the work is.
pub trait Host {
    /// Plays what is missing in a journal.
    ///
    /// # Errors
    /// If a player cannot be made, or the journal cannot be written.
    fn play(&mut self, journal: &mut MatchJournal) -> Result<Ended, Box<dyn Error + Send + Sync>>;

    /// So much is done of things called `what`; `now` is the one that was done last.
    fn show(&mut self, what: &'static str, status: &Status, now: &str);
}

/// A host that plays on threads of its own and shows nothing.
pub struct Alone<'a> {
    /// Networks, tables and a clock for players.
    pub resources: &'a Resources,
    /// The request to end.
    pub stop: &'a Stop,
    /// How many pairs of games at a time.
    pub threads: NonZeroUsize,
}

impl Host for Alone<'_> {
    fn play(&mut self, journal: &mut MatchJournal) -> Result<Ended, Box<dyn Error + Send + Sync>> {
        let cast = Cast::new(journal.plan(), self.resources)?;
        let threads = self.threads.get();
        Ok(with_own_stop(self.stop, |stop| anqi_lab::run(journal, threads, &cast, stop, |_| {}))?)
    }

    fn show(&mut self, _: &'static str, _: &Status, _: &str) {}
}

/// Does `work` with a flag of its own, which is raised when `stop` is: a match raises its flag when it is complete, and what
/// comes after it must go on.
pub fn with_own_stop<T>(stop: &Stop, work: impl FnOnce(&Stop) -> T) -> T {
    /// Ends the thread that watches, even if the work panics.
    struct Ended<'a>(&'a AtomicBool);
    impl Drop for Ended<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    let (own, ended) = (Stop::default(), AtomicBool::new(false));
    thread::scope(|scope| {
        scope.spawn(|| {
            while !ended.load(Ordering::Relaxed) {
                if stop.is_raised() {
                    return own.raise();
                }
                thread::sleep(TICK);
            }
        });
        let _ended = Ended(&ended);
        work(&own)
    })
}

/// Interval between looks at the flag of the whole work.
const TICK: Duration = Duration::from_millis(20);

/// Files by the names that plans give them.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Inputs(BTreeMap<String, PathBuf>);

impl Inputs {
    /// The files that were given.
    #[must_use]
    pub fn new(files: impl IntoIterator<Item = (String, PathBuf)>) -> Inputs {
        Inputs(files.into_iter().collect())
    }

    /// The environment variable that names an input: `ANQI_SERVER_GAMES` for `server-games`.
    #[must_use]
    pub fn variable(name: &str) -> String {
        format!("ANQI_{}", name.to_uppercase().replace('-', "_"))
    }

    /// The file of this name.
    pub(crate) fn file(&self, name: &str) -> Result<&PathBuf, ExperimentError> {
        let missing = || ExperimentError::Input { name: name.to_owned(), variable: Inputs::variable(name) };
        self.0.get(name).ok_or_else(missing)
    }
}

impl Work<'_> {
    /// Shows that so many of all things called `what` are done, `found` of them before.
    pub(crate) fn show(&mut self, what: &'static str, [done, found, all]: [usize; 3], now: &str) {
        let mut status = Status::default();
        (0..all).for_each(|_| status.all.add(1));
        (0..done).for_each(|place| status.add(1, place < found));
        self.host.show(what, &status, now);
    }
}
