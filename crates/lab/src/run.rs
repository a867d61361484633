//! The runner: plays what is missing, on many threads, and writes it down.

use std::collections::BTreeMap;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_stats::{Sprt, SprtState, Tally, Verdict};

use crate::cast::{Cast, CastError};
use crate::journal::{MatchJournal, MatchJournalError};
use crate::pair::{PairError, PlayedPair, play_pair};
use crate::plan::Plan;
use crate::referee::BrokenOff;

/// How a run ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Ended {
    /// So many pairs, counted from the first, are the whole match: all of the plan, or as many as the sequential test
    /// needed.
    Complete(u64),
    /// It was told to stop. What was played is in the journal.
    Stopped,
}

/// What comes from those who play the pairs of a plan.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Arrival {
    /// A pair was played.
    Pair(PlayedPair),
    /// A pair that came before must not count; it comes again.
    Discard(u64),
    /// Something that a person should know.
    Note(String),
}

/// What happens during a run.
#[derive(Clone, Copy, Debug)]
pub enum RunEvent<'a> {
    /// A pair was in the journal already.
    Known(&'a PlayedPair),
    /// A pair was played and written down.
    Played(&'a PlayedPair),
    /// A pair that was known or played does not count any more.
    Discarded(u64),
    /// Something that a person should know.
    Note(&'a str),
    /// Nothing, for a while.
    Waiting,
}

/// Why a run failed.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// The journal failed.
    #[error(transparent)]
    Journal(#[from] MatchJournalError),
    /// A pair could not be played.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// Workers elsewhere failed.
    #[error("{0}")]
    Elsewhere(String),
    /// A player crashed the thread it ran on.
    #[error("a player of ours panicked in pair {0}; the message is above")]
    Panicked(u64),
    /// A contender cannot play here.
    #[error(transparent)]
    Cast(#[from] CastError),
}

/// Interval between checks of the stop flag.
const TICK: Duration = Duration::from_millis(50);
/// How long the threads may take to notice that they are to stop. An outside program that thinks is not waited for.
const GRACE: Duration = Duration::from_millis(500);

/// Plays every pair that is missing in the journal, on `threads` threads, until all are there, the sequential test has
/// decided, or `stop` is raised.
///
/// The order in which pairs are finished changes nothing: a sequential test looks at them in the order of the plan and
/// ends the match at the first pair that decides it; pairs beyond it, if there are any, do not count.
///
/// # Errors
/// If the journal cannot be written. What was written before stays.
pub fn run(
    journal: &mut MatchJournal,
    threads: usize,
    cast: &Cast,
    stop: &Stop,
    watch: impl FnMut(RunEvent<'_>),
) -> Result<Ended, RunError> {
    collect(journal, cast, stop, watch, |plan, missing| play_some(plan, missing, threads, cast, stop))
}

/// How many pairs, counted from the first, make the match, if enough of them are in the journal: all of the plan, or as
/// many as the sequential test needed.
///
/// # Errors
/// If the journal cannot be read.
pub fn complete(journal: &MatchJournal) -> Result<Option<u64>, MatchJournalError> {
    if journal.plan().sprt().is_none() {
        // What the games brought does not matter: they are read once, by those who count them.
        return Ok(journal.missing().next().is_none().then(|| journal.plan().count()));
    }
    Ok(Decision::of(journal, |_| {})?.complete())
}

/// [`run()`] with another way to play: `play` gets the plan and the pairs that are missing, and sends them back as they
/// are finished, in any order and some perhaps twice.
///
/// # Errors
/// As [`run()`], and whatever `play` sends.
pub fn collect(
    journal: &mut MatchJournal,
    cast: &Cast,
    stop: &Stop,
    mut watch: impl FnMut(RunEvent<'_>),
    play: impl FnOnce(&Arc<Plan>, Vec<u64>) -> mpsc::Receiver<Result<Arrival, RunError>>,
) -> Result<Ended, RunError> {
    if let Some(note) = journal.admit(cast)? {
        watch(RunEvent::Note(&note));
    }
    let plan = Arc::new(journal.plan().clone());
    let mut decision = Decision::of(journal, |pair| watch(RunEvent::Known(pair)))?;
    if let Some(count) = decision.complete() {
        return Ok(Ended::Complete(count));
    }

    let missing: Vec<u64> = journal.missing().collect();
    let pairs = play(&plan, missing);
    let mut stopped_at = None;
    loop {
        match pairs.recv_timeout(TICK) {
            Ok(Ok(Arrival::Pair(pair))) if journal.has(pair.number) => {}
            Ok(Ok(Arrival::Note(text))) => watch(RunEvent::Note(&text)),
            Ok(Ok(Arrival::Discard(number))) if journal.has(number) => {
                journal.discard(number)?;
                decision = Decision::of(journal, |_| {})?;
                watch(RunEvent::Discarded(number));
            }
            Ok(Ok(Arrival::Discard(_))) => {}
            Ok(Ok(Arrival::Pair(pair))) => {
                journal.append(&pair)?;
                decision.add(&pair);
                watch(RunEvent::Played(&pair));
                if let Some(count) = decision.complete() {
                    stop.raise();
                    journal.sync()?;
                    // Those who play elsewhere have something to say at the end.
                    let last = Instant::now() + GRACE;
                    while let Ok(arrival) = pairs.recv_timeout(last.saturating_duration_since(Instant::now())) {
                        if let Ok(Arrival::Note(text)) = arrival {
                            watch(RunEvent::Note(&text));
                        }
                    }
                    return Ok(Ended::Complete(count));
                }
            }
            Ok(Err(error)) => {
                stop.raise();
                journal.sync()?;
                return Err(error);
            }
            Err(RecvTimeoutError::Timeout) => watch(RunEvent::Waiting),
            // All threads have come to an end.
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if stop.is_raised() && stopped_at.get_or_insert_with(Instant::now).elapsed() >= GRACE {
            break;
        }
    }
    journal.sync()?;
    Ok(Ended::Stopped)
}

/// Plays these pairs of a plan on threads of their own and sends each when it is finished.
///
/// Each thread takes the first pair that is not taken. The threads are not waited for: a pair that is not in the
/// journal was not played.
pub fn play_some(
    plan: &Arc<Plan>,
    missing: Vec<u64>,
    threads: usize,
    cast: &Cast,
    stop: &Stop,
) -> mpsc::Receiver<Result<Arrival, RunError>> {
    let (sender, receiver) = mpsc::channel();
    let queue = Arc::new(Mutex::new(missing.into_iter()));
    for _ in 0..threads.max(1) {
        let (plan, queue, sender) = (Arc::clone(plan), Arc::clone(&queue), sender.clone());
        let (cast, stop) = (cast.clone(), stop.clone());
        thread::spawn(move || {
            while !stop.is_raised() {
                let next = queue.lock().unwrap_or_else(PoisonError::into_inner).next();
                let Some(number) = next else { break };
                let alarm = Alarm { number, sender: &sender };
                let played = play_pair(&plan, number, &cast, &stop);
                std::mem::forget(alarm);
                let message = match played {
                    Err(PairError::BrokenOff(BrokenOff::Stopped)) => break,
                    other => other.map(Arrival::Pair).map_err(RunError::from),
                };
                if sender.send(message).is_err() {
                    break;
                }
            }
        });
    }
    receiver
}

/// Dropped only by a panic.
struct Alarm<'a> {
    number: u64,
    sender: &'a mpsc::Sender<Result<Arrival, RunError>>,
}

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        // The receiver is gone; ignore.
        let _ = self.sender.send(Err(RunError::Panicked(self.number)));
    }
}

/// How many pairs, from the first on, make the match.
#[derive(Debug)]
struct Decision {
    count: u64,
    sprt: Option<Sprt>,
    /// Pairs that came before their turn.
    early: BTreeMap<u64, PlayedPoints>,
    next: u64,
    tally: Tally,
    decided: bool,
}

type PlayedPoints = [anqi_stats::Points; 2];

impl Decision {
    fn new(plan: &Plan) -> Decision {
        Decision {
            count: plan.count(),
            sprt: plan.sprt(),
            early: BTreeMap::new(),
            next: 0,
            tally: Tally::default(),
            decided: false,
        }
    }

    /// What the pairs in a journal decide; `watch` hears of each.
    fn of(journal: &MatchJournal, mut watch: impl FnMut(&PlayedPair)) -> Result<Decision, MatchJournalError> {
        let mut decision = Decision::new(journal.plan());
        for number in (0..journal.plan().count()).filter(|number| journal.has(*number)) {
            let pair = journal.pair(number)?;
            decision.add(&pair);
            watch(&pair);
        }
        Ok(decision)
    }

    fn add(&mut self, pair: &PlayedPair) {
        self.early.insert(pair.number, pair.points());
        while !self.decided
            && let Some(points) = self.early.remove(&self.next)
        {
            self.next += 1;
            self.tally.add_pair(points);
            let verdict = self.sprt.map(|sprt| SprtState::new(sprt, &self.tally.pairs).verdict);
            self.decided = self.next == self.count || !matches!(verdict, None | Some(Verdict::Continue));
        }
    }

    fn complete(&self) -> Option<u64> {
        self.decided.then_some(self.next)
    }
}
