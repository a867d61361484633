//! Plays what is missing of a multiverse: all universes through one queue, so that every thread has work to the end.
//!
//! A universe that is being played has its journal in `work/NUMBER` of the run's folder. As soon as a pairing is complete
//! it is in the tables, and as soon as all pairings are, the journal goes: records follow from the plan, the tables have
//! their hashes. So a run stays small, and its folder can be carried to another machine at any time.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Resources, Stop};
use anqi_lab::{BrokenOff, Cast, MatchJournal, PairError, PlayedPair, RunError, play_pair};
use anqi_records::Record;
use anqi_store::{FolderLock, exists};
use anqi_task::Status;

use super::plan::{MultiversePlan, Universe};
use super::rows::{Place, Results};
use crate::ExperimentError;
use crate::Run;
use crate::kind::Work;

/// What is counted.
const PAIRS: &str = "pairs";
/// Interval between checks of the stop flag.
const TICK: Duration = Duration::from_millis(50);
/// How long the threads may take to notice that they are to stop.
const GRACE: Duration = Duration::from_millis(500);

/// Plays every pair that is missing in a folder and keeps each at once; false if it was stopped, or if the rest would not
/// be finished in time.
pub(super) fn play(run: &Run, plan: &MultiversePlan, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
    let journals = run.work_dir()?;
    let _lock = FolderLock::take(&journals)?;
    let mut board = Board::new([&run.dir, &journals], plan, work)?;
    board.settle_all()?;
    work.host.show(PAIRS, &board.status, "");
    let pairs = board.start(work)?;
    let mut stopped_at = None;
    loop {
        match pairs.recv_timeout(TICK) {
            Ok(Ok((universe, pair))) => {
                board.add(universe, &pair)?;
                work.host.show(PAIRS, &board.status, &plan.universes()[universe].name);
            }
            Ok(Err(error)) => {
                work.stop.raise();
                board.sync()?;
                return Err(error);
            }
            Err(RecvTimeoutError::Timeout) => work.host.show(PAIRS, &board.status, ""),
            // All threads have come to an end.
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if work.stop.is_raised() && stopped_at.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            break;
        }
    }
    board.sync()?;
    Ok(board.missing.is_empty())
}

/// What is missing and where it is kept.
struct Board<'a> {
    dir: &'a Path,
    work_dir: &'a Path,
    plan: &'a MultiversePlan,
    results: Results,
    /// The pairs that are missing of each pairing that is to be played.
    missing: BTreeMap<Place, u64>,
    journals: BTreeMap<usize, MatchJournal>,
    casts: BTreeMap<usize, Cast>,
    status: Status,
}

impl<'a> Board<'a> {
    fn new(
        [dir, work_dir]: [&'a Path; 2],
        plan: &'a MultiversePlan,
        work: &Work<'_>,
    ) -> Result<Board<'a>, ExperimentError> {
        let results = Results::read(dir, plan)?;
        let chosen = |universe: &Universe| work.slice.only.as_ref().is_none_or(|only| only.matches(&universe.name));
        let mut board = Board {
            dir,
            work_dir,
            plan,
            results,
            missing: BTreeMap::new(),
            journals: BTreeMap::new(),
            casts: BTreeMap::new(),
            status: Status::default(),
        };
        let mut wanted: BTreeMap<Place, bool> = BTreeMap::new();
        for universe in plan.universes().iter().filter(|universe| chosen(universe)) {
            for (pairing, &by) in universe.played_by.iter().enumerate() {
                wanted.insert((by, pairing), board.results.has(plan, (by, pairing)));
            }
        }
        if let (true, Some(only)) = (wanted.is_empty(), work.slice.only.as_ref()) {
            let known: Vec<&str> = plan.universes().iter().map(|universe| universe.name.as_str()).collect();
            return Err(ExperimentError::NoUniverse { pattern: only.to_string(), known: known.join(" ") });
        }
        for (&place, &known) in &wanted {
            let universe = &plan.universes()[place.0];
            let units = cost(universe, place.1);
            for _ in 0..universe.pairs() {
                board.status.all.add(units);
            }
            if known {
                (0..universe.pairs()).for_each(|_| board.status.add(units, true));
            } else {
                board.open(place.0, work.resources)?;
                let numbers = numbers(universe, place.1);
                let there = numbers.filter(|&number| board.has(place.0, number)).count() as u64;
                (0..there).for_each(|_| board.status.add(units, true));
                board.missing.insert(place, universe.pairs() - there);
            }
        }
        Ok(board)
    }

    /// Gets the players of a universe ready, so that a mistyped name costs no games, and its journal if there is one.
    fn open(&mut self, universe: usize, resources: &Resources) -> Result<(), ExperimentError> {
        if self.casts.contains_key(&universe) {
            return Ok(());
        }
        let cast = Cast::new(&self.plan.universes()[universe].plan, resources).map_err(play_error)?;
        self.casts.insert(universe, cast);
        if exists(&self.folder(universe)) {
            self.journal(universe)?;
        }
        Ok(())
    }

    fn folder(&self, universe: usize) -> PathBuf {
        self.work_dir.join((universe + 1).to_string())
    }

    fn has(&self, universe: usize, number: u64) -> bool {
        self.journals.get(&universe).is_some_and(|journal| journal.has(number))
    }

    /// The journal of a universe, begun if it is not there.
    fn journal(&mut self, universe: usize) -> Result<&mut MatchJournal, ExperimentError> {
        let folder = self.folder(universe);
        Ok(match self.journals.entry(universe) {
            Entry::Occupied(journal) => journal.into_mut(),
            Entry::Vacant(place) => {
                let mut journal = MatchJournal::open_or_create(&folder, &self.plan.universes()[universe].plan)?;
                journal.admit(&self.casts[&universe])?;
                place.insert(journal)
            }
        })
    }

    /// Takes in what was complete when the last session ended.
    fn settle_all(&mut self) -> Result<(), ExperimentError> {
        let complete: Vec<Place> =
            self.missing.iter().filter(|(_, left)| **left == 0).map(|(place, _)| *place).collect();
        complete.into_iter().try_for_each(|place| self.settle(place))?;
        // Journals of universes that are complete were left behind by a session that was killed.
        for universe in 0..self.plan.universes().len() {
            self.clear(universe)?;
        }
        Ok(())
    }

    fn add(&mut self, universe: usize, pair: &PlayedPair) -> Result<(), ExperimentError> {
        let plan = &self.plan.universes()[universe].plan;
        let place = (universe, (pair.number % plan.pairings().len() as u64) as usize);
        let units = cost(&self.plan.universes()[universe], place.1);
        let journal = self.journal(universe)?;
        if journal.has(pair.number) {
            return Ok(());
        }
        // Comments are most of the bytes of a record, and nothing of them is kept.
        let games = pair.games.clone().map(Record::without_comments);
        journal.append(&PlayedPair { number: pair.number, games })?;
        self.status.add(units, false);
        if let Some(left) = self.missing.get_mut(&place) {
            *left -= 1;
            if *left == 0 {
                self.settle(place)?;
            }
        }
        Ok(())
    }

    /// Writes a complete pairing into the tables, and takes the journal away if it was the last one of its universe.
    fn settle(&mut self, place: Place) -> Result<(), ExperimentError> {
        let universe = &self.plan.universes()[place.0];
        if let Some(journal) = self.journals.get_mut(&place.0) {
            journal.sync()?;
            self.results.add(universe, place, journal)?;
        }
        self.missing.remove(&place);
        self.results.write(self.dir, self.plan)?;
        self.clear(place.0)
    }

    /// Removes the journal of a universe of which everything is in the tables.
    fn clear(&mut self, universe: usize) -> Result<(), ExperimentError> {
        let own = self.plan.universes()[universe].played_by.iter().enumerate().filter(|(_, by)| **by == universe);
        let folder = self.folder(universe);
        if exists(&folder) && own.into_iter().all(|(pairing, _)| self.results.has(self.plan, (universe, pairing))) {
            self.journals.remove(&universe);
            fs::remove_dir_all(&folder)
                .map_err(|error| ExperimentError::Io { path: folder.display().to_string(), error })?;
        }
        Ok(())
    }

    fn sync(&mut self) -> Result<(), ExperimentError> {
        self.journals.values_mut().try_for_each(|journal| journal.sync().map_err(Into::into))
    }

    /// Starts threads that play what is missing and send it.
    fn start(&self, work: &Work<'_>) -> Result<mpsc::Receiver<Sent>, ExperimentError> {
        let mut shares: BTreeMap<usize, Share> = BTreeMap::new();
        for &(universe, pairing) in self.missing.keys() {
            let plan = &self.plan.universes()[universe];
            let share = shares.entry(universe).or_insert_with(|| Share {
                universe,
                plan: Arc::new(plan.plan.clone()),
                cast: self.casts[&universe].clone(),
                numbers: Vec::new(),
                longest: Duration::ZERO,
            });
            share.numbers.extend(numbers(plan, pairing).filter(|&number| !self.has(universe, number)));
        }
        for share in shares.values_mut() {
            // The next one is taken from the end.
            share.numbers.sort_unstable_by(|a, b| b.cmp(a));
        }
        let (sender, receiver) = mpsc::channel();
        let queue = Arc::new(Mutex::new(Queue(shares.into_values().collect())));
        for _ in 0..work.threads.get() {
            let (queue, sender, stop, until) =
                (Arc::clone(&queue), sender.clone(), work.stop.clone(), work.slice.until);
            thread::spawn(move || play_on(&queue, until, &stop, &sender));
        }
        Ok(receiver)
    }
}

/// A pair of a universe, or why there are no more.
type Sent = Result<(usize, PlayedPair), ExperimentError>;

/// What is to be played of one universe.
struct Share {
    universe: usize,
    plan: Arc<anqi_lab::Plan>,
    cast: Cast,
    numbers: Vec<u64>,
    /// How long the longest pair took.
    longest: Duration,
}

/// All universes in the order of the plan.
struct Queue(Vec<Share>);

impl Queue {
    /// The next pair of the first universe whose pairs are over before `until`.
    fn next(&mut self, until: Option<Instant>) -> Option<(usize, u64)> {
        let left = until.map_or(Duration::MAX, |until| until.saturating_duration_since(Instant::now()));
        let place = self.0.iter().position(|share| !share.numbers.is_empty() && share.longest <= left)?;
        Some((place, self.0[place].numbers.pop()?))
    }
}

/// Plays one pair after another.
fn play_on(queue: &Mutex<Queue>, until: Option<Instant>, stop: &Stop, sender: &mpsc::Sender<Sent>) {
    let locked = || queue.lock().unwrap_or_else(PoisonError::into_inner);
    while !stop.is_raised() {
        let Some((place, number)) = locked().next(until) else { break };
        let (universe, plan, cast) = {
            let share = &locked().0[place];
            (share.universe, Arc::clone(&share.plan), share.cast.clone())
        };
        let begun = Instant::now();
        let alarm = Alarm { number, sender };
        let played = play_pair(&plan, number, &cast, stop);
        std::mem::forget(alarm);
        let message = match played {
            Err(PairError::BrokenOff(BrokenOff::Stopped)) => break,
            Ok(pair) => {
                let longest = &mut locked().0[place].longest;
                *longest = (*longest).max(begun.elapsed());
                Ok((universe, pair))
            }
            Err(error) => Err(play_error(error)),
        };
        if sender.send(message).is_err() {
            break;
        }
    }
}

/// Dropped only by a panic.
struct Alarm<'a> {
    number: u64,
    sender: &'a mpsc::Sender<Sent>,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        // The receiver is gone; ignore.
        let _ = self.sender.send(Err(play_error(RunError::Panicked(self.number))));
    }
}

fn play_error(error: impl Into<RunError>) -> ExperimentError {
    ExperimentError::Play(Box::new(error.into()))
}

/// The pairs of a pairing.
fn numbers(universe: &Universe, pairing: usize) -> impl Iterator<Item = u64> {
    let pairings = universe.plan.pairings().len() as u64;
    (0..universe.pairs()).map(move |round| round * pairings + pairing as u64)
}

/// What a pair costs, for an estimate of the time that is left: what both players may spend on a move.
fn cost(universe: &Universe, pairing: usize) -> u64 {
    let spend = |player: usize| {
        let limits = universe.plan.budget_of(player).limits;
        limits.nodes.or(limits.playouts).unwrap_or(1)
    };
    universe.plan.pairings()[pairing].into_iter().map(spend).sum()
}
