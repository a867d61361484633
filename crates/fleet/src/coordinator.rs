//! The coordinator: queues what is missing, collects what comes back.

use std::collections::HashSet;
use std::fmt::Display;
use std::hash::Hash;
use std::str::FromStr;
use std::time::{Duration, Instant};

use async_nats::jetstream::consumer::{DeliverPolicy, pull};
use futures_util::StreamExt;
use tokio::time::{sleep, timeout};

use crate::queue::{AGAIN, FleetError, Job, Queue, named, results_subject, work_subject};

/// How many items are on the queue at a time: enough for many workers, few enough to stop soon.
const AHEAD: usize = 1000;
/// Interval between checks of the stop flag.
const TICK: Duration = Duration::from_millis(500);
/// After so long without results, what is missing is queued again, in case the server has lost it.
const LOST: Duration = Duration::from_secs(20);
/// A result that begins so says why an item cannot be done.
pub(crate) const FAILED: &str = "failed: ";

/// A job from the side of who wants it done: what is missing, and where results go.
pub(crate) trait Errand {
    /// What is done at a time.
    type Item: Copy + Eq + Hash + Display + FromStr;

    /// Whether nothing is missing or wanted any more.
    fn is_over(&self) -> bool;

    /// At most `most` missing items that can be done now and are not in `queued`, in the order they should be.
    fn ready(&self, queued: &HashSet<Self::Item>, most: usize) -> Vec<Self::Item>;

    /// Puts on the server what a worker needs for an item. False if the server did not answer: try again.
    async fn provide(&mut self, _: Self::Item) -> Result<bool, FleetError> {
        Ok(true)
    }

    /// What was put on the server may be gone.
    fn lost(&mut self) {}

    /// Takes a result. False if it is of no use, and the item must be done again.
    async fn take(&mut self, item: Self::Item, result: Result<&str, &str>) -> Result<bool, FleetError>;
}

/// Has a job done by whatever workers are at the server, now or later, until it is over or stopped.
pub(crate) async fn coordinate<E: Errand>(
    queue: &Queue,
    job: &Job,
    errand: &mut E,
    stopped: impl Fn() -> bool,
) -> Result<(), FleetError> {
    let key = job.key();
    while !queue.put_job(job).await {
        sleep(AGAIN).await;
    }
    let mut queued: HashSet<E::Item> = HashSet::new();
    let mut seen = 0;
    let mut heard = Instant::now();
    let mut caught_up = false;
    while !errand.is_over() && !stopped() {
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
        while !errand.is_over() && !stopped() {
            // Results from the time without a coordinator come first, so that it is not done again.
            if caught_up {
                if heard.elapsed() > LOST {
                    queued.clear();
                    errand.lost();
                    heard = Instant::now();
                }
                top_up(queue, &key, errand, &mut queued).await?;
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
            let Some(item) = named(&message.subject).and_then(|(_, item)| item.parse().ok()) else { continue };
            let text = String::from_utf8_lossy(&message.payload);
            let taken = errand.take(item, text.strip_prefix(FAILED).map_or(Ok(&*text), Err)).await;
            if !matches!(taken, Ok(true)) {
                // It may go better next time, but only if this is out of the way.
                while queue.results.delete_message(seen).await.is_err_and(|error| !is_gone(&error)) && !stopped() {
                    sleep(AGAIN).await;
                }
            }
            queued.remove(&item);
            taken?;
        }
        sleep(AGAIN).await;
    }
    Ok(())
}

/// Whether a message that cannot be deleted is not there.
fn is_gone(error: &async_nats::jetstream::stream::DeleteMessageError) -> bool {
    matches!(error.kind(), async_nats::jetstream::stream::DeleteMessageErrorKind::JetStream(_))
}

/// Puts the first missing items on the queue.
async fn top_up<E: Errand>(
    queue: &Queue,
    key: &str,
    errand: &mut E,
    queued: &mut HashSet<E::Item>,
) -> Result<(), FleetError> {
    // Half empty is early enough, and saves looking for the next item each time.
    if queued.len() > AHEAD / 2 {
        return Ok(());
    }
    for item in errand.ready(queued, AHEAD - queued.len()) {
        if !errand.provide(item).await? || !queue.publish_once(work_subject(key, item), String::new()).await {
            return Ok(());
        }
        queued.insert(item);
    }
    Ok(())
}
