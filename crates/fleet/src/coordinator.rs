//! The coordinator: queues what is missing, collects what comes back.

use std::collections::BTreeSet;
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_lab::{Plan, PlayedPair, RunError};
use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use futures_util::StreamExt;
use tokio::runtime;
use tokio::time::{sleep, timeout};

use crate::queue::{AGAIN, FleetError, Queue, key, named_pair, results_subject, work_subject};

/// How many pairs are on the queue at a time: enough for many workers, few enough to stop soon.
const AHEAD: usize = 1000;
/// How often somebody looks whether to stop.
const TICK: Duration = Duration::from_millis(500);
/// After so long without results, what is missing is queued again, in case the server has lost it.
const LOST: Duration = Duration::from_secs(20);
/// A result that begins so says why a pair could not be played.
pub(crate) const FAILED: &str = "failed: ";

type Results = mpsc::Sender<Result<PlayedPair, RunError>>;

/// Has the missing pairs of a plan played by whatever workers are at a server, now or later: for
/// [`collect`](anqi_lab::collect).
#[must_use]
pub fn play_elsewhere(
    url: &str,
    plan: &Arc<Plan>,
    missing: Vec<u64>,
    stop: &Stop,
) -> mpsc::Receiver<Result<PlayedPair, RunError>> {
    let (sender, receiver) = mpsc::channel();
    let (url, plan, stop) = (url.to_owned(), Arc::clone(plan), stop.clone());
    thread::spawn(move || {
        let failure = match runtime::Builder::new_current_thread().enable_all().build() {
            Ok(runtime) => runtime.block_on(coordinate(&url, &plan, missing, &stop, &sender)).err(),
            Err(error) => Some(error.into()),
        };
        if let Some(failure) = failure {
            // If nobody listens any more nobody needs to know.
            let _ = sender.send(Err(RunError::Elsewhere(failure.to_string())));
        }
    });
    receiver
}

/// Takes everything about a plan off a server: its match is complete.
///
/// # Errors
/// If the server is not there.
pub fn clear(url: &str, plan: &Plan) -> Result<(), FleetError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let queue = Queue::connect(url).await?;
        let key = key(plan);
        // What stays there costs room, no more.
        let _ = queue.work.purge().filter(format!("anqi.work.{key}.*")).await;
        let _ = queue.results.purge().filter(results_subject(&key, '*')).await;
        Ok(())
    })
}

async fn coordinate(
    url: &str,
    plan: &Plan,
    missing: Vec<u64>,
    stop: &Stop,
    sender: &Results,
) -> Result<(), FleetError> {
    let queue = Queue::connect(url).await?;
    let key = key(plan);
    while !queue.put_plan(plan).await {
        sleep(AGAIN).await;
    }
    let mut missing: BTreeSet<u64> = missing.into_iter().collect();
    let mut queued: BTreeSet<u64> = BTreeSet::new();
    let mut seen = 0;
    let mut heard = Instant::now();
    let mut caught_up = false;
    while !missing.is_empty() && !stop.is_raised() {
        let config = pull::OrderedConfig {
            filter_subject: results_subject(&key, '*'),
            deliver_policy: DeliverPolicy::ByStartSequence { start_sequence: seen + 1 },
            ..pull::OrderedConfig::default()
        };
        let Ok(consumer) = queue.results.create_consumer(config).await else {
            sleep(AGAIN).await;
            continue;
        };
        let Ok(mut messages) = consumer.messages().await else { continue };
        while !missing.is_empty() && !stop.is_raised() {
            // What was announced while nobody listened comes first, so that it is not played again.
            if caught_up {
                if heard.elapsed() > LOST {
                    queued.clear();
                    heard = Instant::now();
                }
                top_up(&queue, &key, &missing, &mut queued).await;
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
            heard = Instant::now();
            let Ok(info) = message.info() else { continue };
            (seen, caught_up) = (info.stream_sequence, caught_up || info.pending == 0);
            let Some((_, number)) = named_pair(&message.subject) else { continue };
            let text = String::from_utf8_lossy(&message.payload);
            let played = match text.strip_prefix(FAILED) {
                Some(reason) => Err(RunError::Elsewhere(format!("pair {number}: {reason}"))),
                None => PlayedPair::from_text(number, &text).map_err(RunError::from),
            };
            if played.is_err() {
                // It may go better next time.
                let _ = queue.results.delete_message(seen).await;
            }
            missing.remove(&number);
            queued.remove(&number);
            if sender.send(played).is_err() {
                return Ok(());
            }
        }
        sleep(AGAIN).await;
    }
    Ok(())
}

/// Puts the first missing pairs on the queue.
async fn top_up(queue: &Queue, key: &str, missing: &BTreeSet<u64>, queued: &mut BTreeSet<u64>) {
    // Half empty is early enough, and saves looking for the next pair each time.
    if queued.len() > AHEAD / 2 {
        return;
    }
    let next: Vec<u64> =
        missing.iter().copied().filter(|number| !queued.contains(number)).take(AHEAD - queued.len()).collect();
    for number in next {
        if !queue.publish_once(work_subject(key, number), String::new()).await {
            return;
        }
        queued.insert(number);
    }
}
