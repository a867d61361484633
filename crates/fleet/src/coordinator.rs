//! The coordinator: queues what is missing, collects what comes back and counts.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::fmt::Display;
use std::hash::Hash;
use std::str::FromStr;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use crate::envelope::{Reason, Refused, Role, Subject, open, seal};
use crate::key::PublicKey;
use crate::member::Member;
use crate::queue::{AGAIN, FleetError, Job, Queue, job_subject, named, results_subject, work_subject};
use crate::refusals::Refusals;
use crate::roster::Roster;
use crate::status::{BEAT, JobStatus, MemberStatus};
use crate::work_item::WorkItem;

/// How many items are on the queue at a time: enough for many workers, few enough to stop soon.
const AHEAD: usize = 1000;
/// Interval between checks of the stop flag.
const TICK: Duration = Duration::from_millis(500);
/// After so long without results, what is missing is queued again, in case the server has lost it.
const LOST: Duration = Duration::from_secs(20);
/// A result that begins so says why an item cannot be done.
pub(crate) const FAILED: &str = "failed: ";
/// An item that so many workers cannot do is given up, or as many as there are.
const FAILURES: usize = 3;

/// A job from the side of who wants it done: what is missing, and where results go.
pub(crate) trait Errand {
    /// What is done at a time.
    type Item: Copy + Eq + Hash + Display + FromStr;

    /// Whether nothing is missing or wanted any more.
    fn is_over(&self) -> bool;

    /// How many items are done, and how many there are.
    fn progress(&self) -> (u64, u64);

    /// At most `most` missing items that can be done now and are not in `queued`, in the order they should be.
    fn ready(&self, queued: &HashSet<Self::Item>, most: usize) -> Vec<Self::Item>;

    /// Puts on the server what a worker needs for an item, and says what belongs to it. `None` if the server did not answer:
    /// try again.
    async fn provide(&mut self, item: Self::Item) -> Result<Option<WorkItem>, FleetError>;

    /// What was put on the server may be gone.
    fn lost(&mut self) {}

    /// Takes a result that is signed by a trusted worker for this item. Nothing of it is known to be true.
    async fn take(&mut self, item: Self::Item, worker: PublicKey, result: &str) -> Result<Taken, FleetError>;

    /// Does what is to be done while no results come.
    async fn wait(&mut self) -> Result<(), FleetError> {
        Ok(())
    }

    /// The workers.
    fn roster(&self) -> &Roster;
}

/// What became of a result.
pub(crate) enum Taken {
    /// It counts, or is not needed; it stays on the server until the job is over.
    Done,
    /// It stays on the server, and the item is queued once more.
    Kept,
    /// It is of no use, through no fault of its worker's. It is taken off the server and the item queued once more.
    Lost,
    /// It cannot be right: the same, and it is counted.
    Refused(Refused),
}

/// Has a job done by whatever trusted workers are at the server, now or later, until it is over or stopped.
pub(crate) async fn coordinate<E: Errand>(
    member: &Member,
    queue: &Queue,
    job: &Job,
    errand: &mut E,
    refusals: &Refusals,
    stopped: impl Fn() -> bool,
) -> Result<(), FleetError> {
    if member.trusted.is_empty() {
        return Err(FleetError::TrustsNone("worker"));
    }
    let mut desk = Desk {
        member,
        queue,
        job,
        key: job.key(),
        refusals,
        queued: HashSet::new(),
        rounds: HashMap::new(),
        failures: HashMap::new(),
        heard: Instant::now(),
        beat: None,
    };
    let coordinated = desk.coordinate(errand, &stopped).await;
    desk.tell_status(errand).await;
    coordinated
}

/// What a coordinator keeps in mind.
struct Desk<'a, I> {
    member: &'a Member,
    queue: &'a Queue,
    job: &'a Job,
    key: String,
    refusals: &'a Refusals,
    /// On the queue, for all we know.
    queued: HashSet<I>,
    /// How often an item was answered: it is queued under another subject then, because its old message may still be there.
    rounds: HashMap<I, u32>,
    /// The workers that could not do an item.
    failures: HashMap<I, BTreeSet<PublicKey>>,
    /// When something came last that counts.
    heard: Instant,
    beat: Option<Instant>,
}

impl<I: Copy + Eq + Hash + Display + FromStr> Desk<'_, I> {
    async fn coordinate<E: Errand<Item = I>>(
        &mut self,
        errand: &mut E,
        stopped: &impl Fn() -> bool,
    ) -> Result<(), FleetError> {
        while !self.put_job().await && !stopped() {
            sleep(AGAIN).await;
        }
        // Workers may lack the permission to make it.
        let _ = self.queue.workers().await;
        let mut seen = 0;
        let mut caught_up = false;
        while !errand.is_over() && !stopped() {
            let config = pull::OrderedConfig {
                filter_subject: results_subject(&self.key, '*', '*'),
                deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: seen + 1 },
                ..pull::OrderedConfig::default()
            };
            let Ok(consumer) = self.queue.results.create_consumer(config).await else {
                sleep(AGAIN).await;
                continue;
            };
            let Ok(mut messages) = consumer.messages().await else { continue };
            while !errand.is_over() && !stopped() {
                // Results from the time without a coordinator come first, so that it is not done again.
                if caught_up {
                    errand.wait().await?;
                    if self.heard.elapsed() > LOST {
                        self.queued.clear();
                        errand.lost();
                        self.put_job().await;
                        self.heard = Instant::now();
                    }
                    self.top_up(errand).await?;
                }
                if self.beat.is_none_or(|beat| beat.elapsed() > BEAT) {
                    self.tell_status(errand).await;
                    self.beat = Some(Instant::now());
                }
                let message = match timeout(TICK, messages.next()).await {
                    Ok(Some(Ok(message))) => message,
                    // The connection or the server is gone: listen again from the last that was heard.
                    Ok(_) => break,
                    Err(_) => {
                        caught_up = true;
                        continue;
                    }
                };
                let Ok(info) = message.info() else { continue };
                (seen, caught_up) = (info.stream_sequence, caught_up || info.pending == 0);
                if !self.take(errand, &message.subject, &message.payload).await? {
                    // Nothing of it is used, but it would be read again and again.
                    while self.queue.results.delete_message(seen).await.is_err_and(|error| !is_gone(&error))
                        && !stopped()
                    {
                        sleep(AGAIN).await;
                    }
                }
            }
            if !errand.is_over() {
                sleep(AGAIN).await;
            }
        }
        Ok(())
    }

    /// Takes what was found under a subject. False if it must not stay there.
    async fn take<E: Errand<Item = I>>(
        &mut self,
        errand: &mut E,
        subject: &str,
        message: &[u8],
    ) -> Result<bool, FleetError> {
        let refuse = |refused: &Refused| {
            self.refusals.add(format_args!("a result at {}", subject.rsplit('.').nth(1).unwrap_or_default()), refused);
            Ok(false)
        };
        let Some(([_, name, _], item)) = named(subject).and_then(|named| Some((named, named[1].parse::<I>().ok()?)))
        else {
            return refuse(&Refused::new(Reason::Malformed, "its subject names no item"));
        };
        let about = Subject { role: Role::Worker, job: &self.key, item: name, engines: self.job.engines() };
        let (worker, result) = match open(message, &about, &self.member.trusted) {
            Ok(opened) => opened,
            Err(refused) => return refuse(&refused),
        };
        if errand.roster().is_excluded(&worker) {
            // It has taken the item off the queue.
            self.answered(item);
            return refuse(&Refused::new(Reason::Excluded, format!("{worker} is excluded")));
        }
        let stays = if let Some(reason) = result.strip_prefix(FAILED) {
            self.fail(item, worker, reason)?;
            false
        } else {
            match errand.take(item, worker, result).await? {
                Taken::Done | Taken::Kept => true,
                Taken::Lost => false,
                Taken::Refused(refused) => {
                    self.refusals.add(format_args!("the result {name}"), &refused);
                    false
                }
            }
        };
        self.heard = Instant::now();
        self.answered(item);
        Ok(stays)
    }

    /// An item is not on the queue any more; if it is still missing it is queued again.
    fn answered(&mut self, item: I) {
        if self.queued.remove(&item) {
            *self.rounds.entry(item).or_default() += 1;
        }
    }

    /// A worker cannot do an item: another one may.
    fn fail(&mut self, item: I, worker: PublicKey, reason: &str) -> Result<(), FleetError> {
        let reason = anqi_rules::excerpt(reason);
        let name = self.member.trusted.name(&worker).unwrap_or_default();
        self.member.tell.line(&format!("{name} cannot do {item}: {reason}"));
        let failures = self.failures.entry(item).or_default();
        failures.insert(worker);
        if failures.len() >= FAILURES.min(self.member.trusted.len()) {
            return Err(FleetError::Failed { what: item.to_string(), reason });
        }
        Ok(())
    }

    /// Puts the first missing items on the queue.
    async fn top_up<E: Errand<Item = I>>(&mut self, errand: &mut E) -> Result<(), FleetError> {
        // Half empty is early enough, and saves looking for the next item each time.
        if self.queued.len() > AHEAD / 2 {
            return Ok(());
        }
        for item in errand.ready(&self.queued, AHEAD - self.queued.len()) {
            let Some(mut work) = errand.provide(item).await? else { return Ok(()) };
            work.except.extend(errand.roster().excluded());
            work.except.extend(self.failures.get(&item).into_iter().flatten());
            let name = format!("{item}.{}", self.rounds.get(&item).copied().unwrap_or_default());
            let about = Subject { role: Role::Coordinator, job: &self.key, item: &name, engines: "" };
            let message = seal(&self.member.key, &about, &work.to_string());
            if !self.queue.publish_once(work_subject(&self.key, &name), message).await {
                return Ok(());
            }
            self.queued.insert(item);
        }
        Ok(())
    }

    /// Stores the job, and once more if something else was put in its place. False if the server did not answer.
    async fn put_job(&self) -> bool {
        let about = Subject { role: Role::Coordinator, job: &self.key, item: "job", engines: "" };
        let message = seal(&self.member.key, &about, &self.job.to_string());
        self.queue.publish(job_subject(&self.key, self.member.key.public()), message).await
    }

    async fn tell_status<E: Errand<Item = I>>(&self, errand: &E) {
        let (done, all) = errand.progress();
        let job = JobStatus { key: self.key.clone(), title: self.job.title(), done, all };
        let (pairs, tables) = if matches!(self.job, Job::Pairs(..)) { (done, 0) } else { (0, done) };
        let workers = errand.roster().counts(&self.member.trusted);
        let status = MemberStatus {
            pairs,
            tables,
            job: Some(job),
            workers,
            ..MemberStatus::new(Role::Coordinator, self.refusals.counts())
        };
        status.publish(self.queue, &self.member.key, Role::Coordinator).await;
    }
}

/// Whether a message that cannot be deleted is not there.
fn is_gone(error: &async_nats::jetstream::stream::DeleteMessageError) -> bool {
    matches!(error.kind(), async_nats::jetstream::stream::DeleteMessageErrorKind::JetStream(_))
}
