//! The worker: takes items off the queue, does them, announces them.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::pin::pin;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anqi_endgame::Ending;
use anqi_endgame::Flavour;
use anqi_engine::Resources;
use anqi_lab::{Cast, Plan};
use anqi_task::Stop;
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use tokio::runtime;
use tokio::time::{sleep, timeout};

use crate::queue::{AGAIN, FleetError, Job, PROGRESS, Queue, named, results_subject};
use crate::{pairs, tables};

/// How long the server may keep us waiting for work before we look whether to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// What a worker has done.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Done {
    /// Played a pair of games.
    Pair(u64),
    /// Built the table of a class, by the ending that names it.
    Table(Ending),
}

/// Does whatever is queued at a server, `threads` items at a time, until `stop` is raised. `heard` hears of each. Tables
/// are built in `dir`, which may have any, of any flavour, and keeps what is needed and what is built.
///
/// # Errors
/// If the server is not there at the beginning, or if something cannot be done here; others may be able to.
pub fn work(
    url: &str,
    threads: usize,
    dir: &Path,
    resources: &Resources,
    stop: &Stop,
    mut heard: impl FnMut(Done),
) -> Result<(), FleetError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, receiver) = mpsc::channel();
    let ended = runtime.block_on(async {
        let queue = Queue::connect(url).await?;
        let hand = || WorkerThread {
            queue: queue.clone(),
            dir: dir.to_owned(),
            resources: resources.clone(),
            stop: stop.clone(),
            done: sender.clone(),
        };
        let hands: Vec<_> = (0..threads.max(1)).map(|_| tokio::spawn(hand().work())).collect();
        while hands.iter().any(|hand| !hand.is_finished()) {
            receiver.try_iter().for_each(&mut heard);
            sleep(AGAIN).await;
        }
        receiver.try_iter().for_each(&mut heard);
        for hand in hands {
            if let Ok(ended) = hand.await {
                ended?;
            }
        }
        Ok(())
    });
    // A program that was told to stop and thinks on is not waited for, nor is a table.
    runtime.shutdown_background();
    ended
}

/// A job that can be done here.
enum Ready {
    Pairs(Arc<Plan>, Cast),
    Tables(Flavour),
}

/// Does one thing after the other.
struct WorkerThread {
    queue: Queue,
    dir: PathBuf,
    resources: Resources,
    stop: Stop,
    done: mpsc::Sender<Done>,
}

impl WorkerThread {
    async fn work(self) -> Result<(), FleetError> {
        let mut jobs: HashMap<String, Ready> = HashMap::new();
        while !self.stop.is_raised() {
            let Some(workers) = self.queue.workers().await else {
                sleep(AGAIN).await;
                continue;
            };
            while !self.stop.is_raised()
                && let Ok(message) = next(&workers).await
            {
                let Some(message) = message else { continue };
                match self.handle(&message, &mut jobs).await {
                    Ok(Some(done)) => drop(self.done.send(done)),
                    Ok(None) => {
                        // Another one can have it at once if we are to stop.
                        let after = (!self.stop.is_raised()).then_some(PATIENCE);
                        let _ = message.ack_with(AckKind::Nak(after)).await;
                    }
                    Err(error) => {
                        // Not for us. The other hands need not try.
                        let _ = message.ack_with(AckKind::Nak(Some(PATIENCE))).await;
                        self.stop.raise();
                        return Err(error);
                    }
                }
            }
            sleep(AGAIN).await;
        }
        Ok(())
    }

    /// Does what a message asks for and announces it. None if it cannot be done now.
    async fn handle(&self, message: &Message, jobs: &mut HashMap<String, Ready>) -> Result<Option<Done>, FleetError> {
        let Some((key, item)) = named(&message.subject) else { return Ok(None) };
        if !jobs.contains_key(key) {
            // If the server is gone it will give us this again.
            let Some(job) = self.queue.job(key).await else { return Ok(None) };
            let job = job?;
            let ready = match job {
                Job::Pairs(plan, engines) => {
                    let cast = Cast::new(&plan, &self.resources)?;
                    let strangers = cast.strangers(&plan, &engines);
                    if !strangers.is_empty() {
                        return Err(FleetError::Engines { key: key.to_owned(), strangers });
                    }
                    Ready::Pairs(plan, cast)
                }
                Job::Tables(flavour) => Ready::Tables(flavour),
            };
            jobs.insert(key.to_owned(), ready);
        }
        let (done, text) = match (&jobs[key], item.parse(), item.parse()) {
            (Ready::Pairs(plan, cast), Ok(number), _) => {
                let play = pairs::play(Arc::clone(plan), number, cast.clone(), self.stop.clone());
                (Done::Pair(number), self.meanwhile(message, async { Ok(play.await) }).await?)
            }
            (Ready::Tables(flavour), _, Ok(ending)) => {
                let make = tables::make(self.queue.clone(), key.to_owned(), *flavour, ending, self.dir.clone());
                (Done::Table(ending), self.meanwhile(message, make).await?)
            }
            _ => {
                // Nothing of ours. The server hears no more of it.
                let _ = message.ack_with(AckKind::Term).await;
                return Ok(None);
            }
        };
        let Some(text) = text else { return Ok(None) };
        while !self.queue.publish_once(results_subject(key, item), text.clone()).await {
            if self.stop.is_raised() {
                return Ok(None);
            }
            sleep(AGAIN).await;
        }
        // If this gets lost the item comes again, and its result is not kept.
        let _ = message.double_ack().await;
        Ok(Some(done))
    }

    /// Does something while the server hears that we are at it; none if we are to stop.
    async fn meanwhile(
        &self,
        message: &Message,
        work: impl Future<Output = Result<Option<String>, FleetError>>,
    ) -> Result<Option<String>, FleetError> {
        let mut work = pin!(work);
        loop {
            match timeout(PROGRESS, &mut work).await {
                Ok(done) => return done,
                Err(_) if self.stop.is_raised() => return Ok(None),
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
