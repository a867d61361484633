//! Pairs of games, for those who want them played and for those who play them.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anqi_lab::{Arrival, BrokenOff, Cast, PairError, PairMismatch, Plan, PlayedPair, RunError, check_pair, play_pair};
use anqi_task::Stop;
use tokio::runtime;
use tokio::task::spawn_blocking;

use crate::coordinator::{Errand, FAILED, Taken, coordinate};
use crate::envelope::{Reason, Refused};
use crate::key::PublicKey;
use crate::ledger::Ledger;
use crate::member::Member;
use crate::queue::{FleetError, Job, Queue};
use crate::refusals::{Refusals, Tell};
use crate::roster::{Roster, worker_lines};
use crate::work_item::WorkItem;

/// Separates the choice of what is played again from every other use of a key.
const PURPOSE: &str = "anqi 2026-11-19 fleet: which pairs are played again, version 1";
/// When nothing else is left to do, other workers have so long to play pairs again; then the coordinator does.
const LAST: Duration = Duration::from_secs(20);

/// How a match is played by a fleet.
#[derive(Clone, Debug)]
pub struct FleetMatch {
    /// The folder of the match; who has played what is kept in its file `fleet`.
    pub dir: PathBuf,
    /// Which share of the pairs is played again by another worker, from 0 to 1, if the plan is repeatable.
    pub again: f64,
}

/// What share is played again if nothing is said.
pub const AGAIN_SHARE: f64 = 0.02;

impl FleetMatch {
    /// A match in a folder, of which as much is played again as usual.
    #[must_use]
    pub fn new(dir: &Path) -> FleetMatch {
        FleetMatch { dir: dir.to_owned(), again: AGAIN_SHARE }
    }
}

/// Has the missing pairs of a plan played by whatever trusted workers are at a server, now or later: for
/// [`collect`](anqi_lab::collect). What they send is checked against the plan before it counts. If a pair that two have played
/// differs, the coordinator plays it itself: the worker that was wrong is excluded, and its pairs are played again.
#[must_use]
pub fn play_elsewhere(
    member: &Member,
    how: &FleetMatch,
    plan: &Arc<Plan>,
    cast: &Cast,
    missing: Vec<u64>,
    stop: &Stop,
) -> mpsc::Receiver<Result<Arrival, RunError>> {
    let (sender, receiver) = mpsc::channel();
    let notes = sender.clone();
    let member = Member {
        // The receiver is gone; ignore.
        tell: Tell::new(move |line| drop(notes.send(Ok(Arrival::Note(line.to_owned()))))),
        ..member.clone()
    };
    let (how, plan, cast, stop) = (how.clone(), Arc::clone(plan), cast.clone(), stop.clone());
    thread::spawn(move || {
        if let Err(failure) = coordinate_pairs(&member, &how, &plan, &cast, missing, &sender, &stop) {
            // The receiver is gone; ignore.
            let _ = sender.send(Err(RunError::Elsewhere(failure.to_string())));
        }
    });
    receiver
}

fn coordinate_pairs(
    member: &Member,
    how: &FleetMatch,
    plan: &Arc<Plan>,
    cast: &Cast,
    missing: Vec<u64>,
    sender: &mpsc::Sender<Result<Arrival, RunError>>,
    stop: &Stop,
) -> Result<(), FleetError> {
    let refusals = Refusals::new(member.tell.clone());
    let again = if plan.is_repeatable() { how.again } else { 0.0 };
    let mut playing = Playing {
        member,
        plan: Arc::clone(plan),
        cast: cast.clone(),
        missing: missing.into_iter().collect(),
        sender: sender.clone(),
        stop: stop.clone(),
        ledger: Ledger::open(&how.dir, &plan.id())?,
        again: Again { key: member.key.derive(PURPOSE), plan: plan.id(), share: again },
        held: BTreeMap::new(),
        heard: Instant::now(),
    };
    let job = Job::pairs(plan, cast);
    let played = runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let queue = Queue::connect(&member.server, &member.tell).await?;
        playing.discard_excluded();
        coordinate(member, &queue, &job, &mut playing, &refusals, || stop.is_raised()).await
    });
    let workers = playing.roster().counts(&member.trusted);
    for line in worker_lines(&workers).into_iter().chain(refusals.summary()) {
        member.tell.line(&line);
    }
    played
}

/// Takes everything about a plan off a server: its match is complete.
///
/// # Errors
/// If the server is not there.
pub fn clear(member: &Member, plan: &Arc<Plan>, cast: &Cast) -> Result<(), FleetError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let queue = Queue::connect(&member.server, &member.tell).await?;
        queue.clear(&Job::pairs(plan, cast), &member.key.public()).await;
        Ok(())
    })
}

/// Which pairs are played again: the coordinator finds the same ones after a restart, and no one without its key knows them.
struct Again {
    key: [u8; 32],
    plan: String,
    share: f64,
}

impl Again {
    fn chooses(&self, number: u64) -> bool {
        let hash = blake3::keyed_hash(&self.key, format!("{} {number}", self.plan).as_bytes());
        let [a, b, c, d, ..] = *hash.as_bytes();
        f64::from(u32::from_le_bytes([a, b, c, d])) < self.share * 2_f64.powi(32)
    }
}

/// The pairs that a journal lacks, and the way to it.
struct Playing<'a> {
    member: &'a Member,
    plan: Arc<Plan>,
    cast: Cast,
    missing: BTreeSet<u64>,
    sender: mpsc::Sender<Result<Arrival, RunError>>,
    stop: Stop,
    ledger: Ledger,
    again: Again,
    /// Pairs that must be played again before they count, and by whom they were.
    held: BTreeMap<u64, (PublicKey, PlayedPair)>,
    /// When a worker sent something last.
    heard: Instant,
}

impl Playing<'_> {
    /// Counts a pair.
    fn count(&mut self, pair: PlayedPair, worker: PublicKey, checked: bool) -> Result<(), FleetError> {
        let half_points = pair.points().iter().map(|points| points.half_points()).sum();
        self.ledger.played(pair.number, worker, half_points, checked)?;
        self.missing.remove(&pair.number);
        self.held.remove(&pair.number);
        if self.sender.send(Ok(Arrival::Pair(pair))).is_err() {
            self.missing.clear(); // enough was played
        }
        Ok(())
    }

    /// Whether there is no second worker who could play a pair again.
    fn has_one_worker(&self) -> bool {
        self.member.trusted.len() <= self.roster().excluded().count() + 1
    }

    /// Nothing of a worker counts any more.
    fn exclude(&mut self, worker: PublicKey, reason: String) -> Result<(), FleetError> {
        let name = self.member.trusted.name(&worker).unwrap_or_default().to_owned();
        self.member.tell.line(&format!("worker {name} ({worker}) is excluded: {reason}; its pairs are played again"));
        self.ledger.exclude(worker, reason)?;
        self.held.retain(|_, (holder, _)| *holder != worker);
        self.discard_excluded();
        Ok(())
    }

    /// Takes the pairs of excluded workers out of the journal.
    fn discard_excluded(&mut self) {
        for number in self.ledger.only_by_excluded() {
            if self.missing.insert(number) {
                // The receiver is gone; ignore.
                let _ = self.sender.send(Ok(Arrival::Discard(number)));
            }
        }
    }

    /// Plays a pair here, where the truth is known, and compares what workers have sent with it.
    async fn judge(&mut self, number: u64, sent: Vec<(PublicKey, PlayedPair)>) -> Result<(), FleetError> {
        let (plan, cast, stop) = (Arc::clone(&self.plan), self.cast.clone(), self.stop.clone());
        let own = match spawn_blocking(move || play_pair(&plan, number, &cast, &stop)).await {
            Ok(Ok(own)) => own,
            Ok(Err(PairError::BrokenOff(BrokenOff::Stopped))) => return Ok(()),
            Ok(Err(error)) => return Err(failed(number, error.to_string())),
            Err(panicked) => return Err(failed(number, panicked.to_string())),
        };
        let mut right = None;
        for (worker, pair) in sent {
            if pair == own {
                right = Some(worker);
            } else {
                self.exclude(worker, format!("pair {number} was not what it sent"))?;
            }
        }
        self.count(own, right.unwrap_or(self.member.key.public()), true)
    }
}

fn failed(number: u64, reason: String) -> FleetError {
    FleetError::Failed { what: format!("pair {number}"), reason }
}

impl Errand for Playing<'_> {
    type Item = u64;

    fn is_over(&self) -> bool {
        self.missing.is_empty()
    }

    fn progress(&self) -> (u64, u64) {
        let all = self.plan.count();
        (all - self.missing.len() as u64, all)
    }

    fn ready(&self, queued: &HashSet<u64>, most: usize) -> Vec<u64> {
        self.missing.iter().copied().filter(|number| !queued.contains(number)).take(most).collect()
    }

    async fn provide(&mut self, number: u64) -> Result<Option<WorkItem>, FleetError> {
        let except = self.held.get(&number).map(|(worker, _)| *worker).into_iter().collect();
        Ok(Some(WorkItem { except, ..WorkItem::default() }))
    }

    async fn take(&mut self, number: u64, worker: PublicKey, text: &str) -> Result<Taken, FleetError> {
        self.heard = Instant::now();
        if !self.missing.contains(&number) {
            return Ok(Taken::Done);
        }
        let pair = match check_pair(&self.plan, &self.cast, number, text) {
            Ok(pair) => pair,
            Err(mismatch) => {
                // Clocks are measured, and machines may be busy: that alone is no lie.
                if !matches!(mismatch, PairMismatch::Clock { .. }) {
                    self.exclude(worker, format!("what it sent as pair {number} cannot be: {mismatch}"))?;
                }
                return Ok(Taken::Refused(Refused::new(Reason::Content, mismatch)));
            }
        };
        if !self.again.chooses(number) {
            self.count(pair, worker, false)?;
            return Ok(Taken::Done);
        }
        match self.held.get(&number) {
            Some((holder, _)) if *holder == worker => {}
            Some((_, held)) if *held == pair => self.count(pair, worker, true)?,
            Some((holder, held)) => {
                let sent = vec![(*holder, held.clone()), (worker, pair)];
                self.judge(number, sent).await?;
            }
            None if self.has_one_worker() => self.judge(number, vec![(worker, pair)]).await?,
            None => drop(self.held.insert(number, (worker, pair))),
        }
        Ok(if self.missing.contains(&number) { Taken::Kept } else { Taken::Done })
    }

    async fn wait(&mut self) -> Result<(), FleetError> {
        let no_other = self.heard.elapsed() > LAST && self.held.len() == self.missing.len();
        if (no_other || self.has_one_worker())
            && let Some((number, sent)) = self.held.pop_first()
        {
            self.judge(number, vec![sent]).await?;
        }
        Ok(())
    }

    fn roster(&self) -> &Roster {
        &self.ledger.roster
    }
}

/// The text of a pair, or why it cannot be played; none if we are to stop.
pub(crate) async fn play(plan: Arc<Plan>, number: u64, cast: Cast, stop: Stop) -> Option<String> {
    match spawn_blocking(move || play_pair(&plan, number, &cast, &stop)).await {
        Ok(Ok(pair)) => Some(PlayedPair::to_text(&pair)),
        Ok(Err(PairError::BrokenOff(BrokenOff::Stopped))) => None,
        Ok(Err(error)) => Some(format!("{FAILED}{error}")),
        Err(_) => Some(format!("{FAILED}a player of ours panicked; the worker has the message")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_share_that_is_played_again_is_the_one_asked_for() {
        let again = |share, key| Again { key: [key; 32], plan: "plan".to_owned(), share };
        let chosen = |again: &Again| (0..10_000).filter(|&number| again.chooses(number)).collect::<Vec<u64>>();
        assert!(chosen(&again(0.0, 1)).is_empty());
        assert_eq!(chosen(&again(1.0, 1)).len(), 10_000);
        let two = chosen(&again(0.02, 1));
        assert!((150..=250).contains(&two.len()), "{}", two.len());
        assert_eq!(chosen(&again(0.02, 1)), two); // after a restart
        assert_ne!(chosen(&again(0.02, 2)), two); // to those who have another key
    }
}
