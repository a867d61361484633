//! The worker: takes items off the queue, does them, announces them.

use std::collections::HashMap;
use std::fmt::Display;
use std::path::PathBuf;
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

use anqi_endgame::{Ending, Flavour};
use anqi_engine::Resources;
use anqi_lab::{Allowed, Cast, Plan};
use anqi_task::Stop;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use tokio::runtime;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::coordinator::FAILED;
use crate::envelope::{MOST_BYTES, Reason, Refused, Role, Subject, open, seal};
use crate::key::PublicKey;
use crate::member::Member;
use crate::queue::{AGAIN, FleetError, Job, MOST_WORK_BYTES, PROGRESS, Queue, named, results_subject};
use crate::refusals::Refusals;
use crate::status::{BEAT, MemberStatus};
use crate::tables::Made;
use crate::work_item::WorkItem;
use crate::{pairs, tables};

/// How long the server may keep us waiting for work before we look whether to stop.
const PATIENCE: Duration = Duration::from_secs(1);
/// What is not for this worker may be for another one: it is left to others so often, later and later, and then set aside. A
/// coordinator queues it again.
const LEFT: i64 = 20;
/// The longest pause before it comes again.
const LONGEST_PAUSE: Duration = Duration::from_secs(30);
/// A job that is refused is looked at again after a while: it may have been put in place of the right one.
const REFUSED_FOR: Duration = Duration::from_secs(10);
/// A thread keeps so many jobs in mind.
const MOST_JOBS: usize = 64;

/// What a worker has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// Played a pair of games.
    Pair(u64),
    /// Built the table of a class, by the ending that names it.
    Table(Ending),
}

/// What a worker works with.
#[derive(Clone, Debug)]
pub struct Workshop {
    /// How many items at a time.
    pub threads: usize,
    /// Tables are built here; it may have any, of any flavour, and keeps what is needed and what is built.
    pub dir: PathBuf,
    /// What players share.
    pub resources: Resources,
    /// Which programs and files jobs may use.
    pub allowed: Allowed,
}

/// Does whatever trusted coordinators have queued at a server until `stop` is raised. `heard` hears of each item. What does not
/// count is refused, counted and told; other work goes on.
///
/// # Errors
/// If the server is not there at the beginning, no coordinator is trusted, or this machine's folder of tables cannot be used.
pub fn work(member: &Member, workshop: &Workshop, stop: &Stop, mut heard: impl FnMut(Done)) -> Result<(), FleetError> {
    if member.trusted.is_empty() {
        return Err(FleetError::TrustsNone("coordinator"));
    }
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, receiver) = mpsc::channel();
    let refusals = Refusals::new(member.tell.clone());
    let ended = runtime.block_on(async {
        let queue = Queue::connect(&member.server, &member.tell).await?;
        let hand = || WorkerThread {
            member: member.clone(),
            queue: queue.clone(),
            workshop: workshop.clone(),
            refusals: refusals.clone(),
            stop: stop.clone(),
            done: sender.clone(),
            jobs: HashMap::new(),
        };
        let (mut played, mut built) = (0, 0);
        let mut hear = |done| {
            match done {
                Done::Pair(_) => played += 1,
                Done::Table(_) => built += 1,
            }
            heard(done);
            (played, built)
        };
        let hands: Vec<_> = (0..workshop.threads.max(1)).map(|_| tokio::spawn(hand().work())).collect();
        let (mut beat, mut counts) = (None::<Instant>, (0, 0));
        while hands.iter().any(|hand| !hand.is_finished()) {
            counts = receiver.try_iter().fold(counts, |_, done| hear(done));
            if beat.is_none_or(|beat| beat.elapsed() > BEAT) {
                let status = MemberStatus::new(Role::Worker, refusals.counts());
                let status = MemberStatus { pairs: counts.0, tables: counts.1, ..status };
                status.publish(&queue, &member.key, Role::Worker).await;
                beat = Some(Instant::now());
            }
            sleep(AGAIN).await;
        }
        let _ = receiver.try_iter().map(hear).last();
        for hand in hands {
            if let Ok(ended) = hand.await {
                ended?;
            }
        }
        Ok(())
    });
    refusals.summary().iter().for_each(|line| member.tell.line(line));
    // A program that was told to stop and thinks on is not waited for, nor is a table.
    runtime.shutdown_background();
    ended
}

/// A job that can be done here.
#[derive(Clone)]
enum Ready {
    Pairs(Arc<Plan>, Cast, String),
    Tables(Flavour),
}

/// What becomes of a message.
enum Handled {
    /// It was done and announced.
    Done(Done),
    /// It cannot be done now.
    Later,
    /// It is for others, for all we know.
    Left,
    /// It is for no one.
    SetAside,
}

/// Does one thing after the other.
struct WorkerThread {
    member: Member,
    queue: Queue,
    workshop: Workshop,
    refusals: Refusals,
    stop: Stop,
    done: mpsc::Sender<Done>,
    /// By key and coordinator; none where it was refused.
    jobs: HashMap<(String, PublicKey), (Option<Ready>, Instant)>,
}

impl WorkerThread {
    async fn work(mut self) -> Result<(), FleetError> {
        while !self.stop.is_raised() {
            let Some(workers) = self.queue.workers().await else {
                sleep(AGAIN).await;
                continue;
            };
            while !self.stop.is_raised()
                && let Ok(message) = next(&workers).await
            {
                let Some(message) = message else { continue };
                let answer = match self.handle(&message).await {
                    Ok(Handled::Done(done)) => {
                        let _ = self.done.send(done);
                        continue;
                    }
                    // Another one can have it at once if we are to stop.
                    Ok(Handled::Later) => AckKind::Nak((!self.stop.is_raised()).then_some(PATIENCE)),
                    Ok(Handled::Left) => match message.info().map(|info| info.delivered) {
                        Ok(times) if times < LEFT => {
                            AckKind::Nak(Some((PATIENCE * u32::try_from(times).unwrap_or(1)).min(LONGEST_PAUSE)))
                        }
                        _ => AckKind::Term,
                    },
                    Ok(Handled::SetAside) => AckKind::Term,
                    Err(error) => {
                        // This machine cannot go on. The other hands need not try.
                        let _ = message.ack_with(AckKind::Nak(Some(PATIENCE))).await;
                        self.stop.raise();
                        return Err(error);
                    }
                };
                let _ = message.ack_with(answer).await;
            }
            sleep(AGAIN).await;
        }
        Ok(())
    }

    fn refuse(&self, message: impl Display, refused: &Refused, handled: Handled) -> Handled {
        self.refusals.add(message, refused);
        handled
    }

    /// Does what a message asks for and announces it.
    async fn handle(&mut self, message: &Message) -> Result<Handled, FleetError> {
        let refused = |reason, what: &str| Refused::new(reason, what);
        let Some([key, item, round]) = named(&message.subject) else {
            let refused = refused(Reason::Malformed, "its subject names no item");
            return Ok(self.refuse("an item", &refused, Handled::SetAside));
        };
        if message.payload.len() > MOST_WORK_BYTES {
            let refused = refused(Reason::Oversized, "an item has a few lines");
            return Ok(self.refuse(format_args!("item {item}"), &refused, Handled::SetAside));
        }
        let about = Subject { role: Role::Coordinator, job: key, item: &format!("{item}.{round}"), engines: "" };
        let (signer, work) = match open(&message.payload, &about, &self.member.trusted) {
            Ok(opened) => opened,
            Err(refused) => {
                // Others may trust its signer.
                let handled = if refused.reason == Reason::Foreign { Handled::Left } else { Handled::SetAside };
                return Ok(self.refuse(format_args!("item {item}"), &refused, handled));
            }
        };
        let Some(work) = WorkItem::read(work) else {
            let refused = refused(Reason::Malformed, work);
            return Ok(self.refuse(format_args!("item {item}"), &refused, Handled::SetAside));
        };
        if work.except.contains(&self.member.key.public()) {
            return Ok(Handled::Later);
        }
        let ready = match self.job(key, &signer).await {
            // If the server is gone it will give us this again.
            None => return Ok(Handled::Later),
            Some(None) => return Ok(Handled::Left),
            Some(Some(ready)) => ready,
        };
        let (done, engines, result) = match (ready, item.parse(), item.parse()) {
            (Ready::Pairs(plan, cast, engines), Ok(number), _) => {
                let play = pairs::play(plan, number, cast, self.stop.clone());
                (Done::Pair(number), engines, self.meanwhile(message, play).await)
            }
            (Ready::Tables(flavour), _, Ok(ending)) => {
                let (queue, dir) = (self.queue.clone(), self.workshop.dir.clone());
                let make = tables::make(queue, key.to_owned(), flavour, ending, work.needs, dir);
                let result = match self.meanwhile(message, async { Some(make.await) }).await.transpose()? {
                    Some(Made::Result(result)) => Some(result),
                    Some(Made::Unsound(error)) => {
                        let refused = Refused::new(Reason::Content, error);
                        return Ok(self.refuse(format_args!("item {item}"), &refused, Handled::Left));
                    }
                    Some(Made::NotNow) | None => None,
                };
                (Done::Table(ending), String::new(), result)
            }
            _ => {
                let refused = refused(Reason::Malformed, "the job has no such item");
                return Ok(self.refuse(format_args!("item {item}"), &refused, Handled::SetAside));
            }
        };
        let Some(mut result) = result else { return Ok(Handled::Later) };
        if result.len() > MOST_BYTES - 2048 {
            result = format!("{FAILED}the result has {} bytes, the most is {MOST_BYTES}", result.len());
        }
        let about = Subject { role: Role::Worker, job: key, item, engines: &engines };
        let signed = seal(&self.member.key, &about, &result);
        let subject = results_subject(key, item, self.member.key.public());
        while !self.queue.publish(subject.clone(), signed.clone()).await {
            if self.stop.is_raised() {
                return Ok(Handled::Later);
            }
            sleep(AGAIN).await;
        }
        // If this gets lost the item comes again, and its second result is not counted.
        let _ = message.double_ack().await;
        Ok(Handled::Done(done))
    }

    /// The job that a coordinator has stored under a key: none if the server did not answer, none inside if it cannot be done
    /// here.
    async fn job(&mut self, key: &str, signer: &PublicKey) -> Option<Option<Ready>> {
        let place = (key.to_owned(), *signer);
        if let Some((known, since)) = self.jobs.get(&place)
            && (known.is_some() || since.elapsed() < REFUSED_FOR)
        {
            return Some(known.clone());
        }
        let message = self.queue.job(key, signer).await?;
        let about = Subject { role: Role::Coordinator, job: key, item: "job", engines: "" };
        let opened = open(&message, &about, &self.member.trusted).and_then(|(_, text)| Job::read(key, text));
        let ready = match opened {
            Ok(job) => self.prepare(job).await,
            Err(refused) => Err(refused),
        };
        if let Err(refused) = &ready {
            self.refusals.add(format_args!("job {key}"), refused);
        }
        if self.jobs.len() >= MOST_JOBS {
            self.jobs.clear();
        }
        let ready = ready.ok();
        self.jobs.insert(place, (ready.clone(), Instant::now()));
        Some(ready)
    }

    /// Opens what a job names and starts the programs that it may use.
    async fn prepare(&self, job: Job) -> Result<Ready, Refused> {
        let impossible = |what: String| Refused::new(Reason::Impossible, what);
        match job {
            Job::Tables(flavour) => Ok(Ready::Tables(flavour)),
            Job::Pairs(plan, engines) => {
                let (wanted, resources) = (Arc::clone(&plan), self.workshop.resources.clone());
                let allowed = self.workshop.allowed.clone();
                let cast = spawn_blocking(move || Cast::allowing(&wanted, &resources, &allowed)).await;
                let cast = cast.map_err(|panicked| impossible(panicked.to_string()))?;
                let cast = cast.map_err(|error| impossible(error.to_string()))?;
                let strangers = cast.strangers(&plan, &engines);
                if !strangers.is_empty() {
                    let what = "start the worker of the coordinator's version, with its networks and tables";
                    return Err(impossible(format!("the job is for other engines: {strangers} {what}")));
                }
                Ok(Ready::Pairs(plan, cast, engines))
            }
        }
    }

    /// Does something while the server hears that we are at it; none if we are to stop.
    async fn meanwhile<T>(&self, message: &Message, work: impl Future<Output = Option<T>>) -> Option<T> {
        let mut work = pin!(work);
        loop {
            match timeout(PROGRESS, &mut work).await {
                Ok(done) => return done,
                Err(_) if self.stop.is_raised() => return None,
                Err(_) => drop(message.ack_with(AckKind::Progress).await),
            }
        }
    }
}

/// The next item from the queue, if one comes in time; an error if the server is gone.
async fn next(workers: &Consumer<pull::Config>) -> Result<Option<Message>, ()> {
    let mut batch = workers.batch().max_messages(1).expires(PATIENCE).messages().await.map_err(drop)?;
    match timeout(2 * PATIENCE, batch.next()).await {
        Ok(message) => message.transpose().map_err(drop),
        Err(_) => Err(()),
    }
}
