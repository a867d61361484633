//! Pairs of games, for those who want them played and for those who play them.

use std::collections::{BTreeSet, HashSet};
use std::sync::{Arc, mpsc};
use std::thread;

use anqi_lab::{BrokenOff, Cast, PairError, Plan, PlayedPair, RunError, play_pair};
use anqi_task::Stop;
use tokio::runtime;
use tokio::task::spawn_blocking;

use crate::coordinator::{Errand, FAILED, coordinate};
use crate::queue::{FleetError, Job, Queue};

/// Has the missing pairs of a plan played by whatever workers are at a server, now or later: for
/// [`collect`](anqi_lab::collect).
#[must_use]
pub fn play_elsewhere(
    url: &str,
    plan: &Arc<Plan>,
    cast: &Cast,
    missing: Vec<u64>,
    stop: &Stop,
) -> mpsc::Receiver<Result<PlayedPair, RunError>> {
    let (sender, receiver) = mpsc::channel();
    let (url, job, stop) = (url.to_owned(), Job::pairs(plan, cast), stop.clone());
    let mut playing = Playing { missing: missing.into_iter().collect(), sender };
    thread::spawn(move || {
        let played = runtime::Builder::new_current_thread().enable_all().build().map_err(FleetError::from);
        let played = played.and_then(|runtime| {
            runtime.block_on(async {
                let queue = Queue::connect(&url).await?;
                coordinate(&queue, &job, &mut playing, || stop.is_raised()).await
            })
        });
        if let Err(failure) = played {
            // The receiver is gone; ignore.
            let _ = playing.sender.send(Err(RunError::Elsewhere(failure.to_string())));
        }
    });
    receiver
}

/// Takes everything about a plan off a server: its match is complete.
///
/// # Errors
/// If the server is not there.
pub fn clear(url: &str, plan: &Arc<Plan>, cast: &Cast) -> Result<(), FleetError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        Queue::connect(url).await?.clear(&Job::pairs(plan, cast)).await;
        Ok(())
    })
}

/// The pairs that a journal lacks, and the way to it.
struct Playing {
    missing: BTreeSet<u64>,
    sender: mpsc::Sender<Result<PlayedPair, RunError>>,
}

impl Errand for Playing {
    type Item = u64;

    fn is_over(&self) -> bool {
        self.missing.is_empty()
    }

    fn ready(&self, queued: &HashSet<u64>, most: usize) -> Vec<u64> {
        self.missing.iter().copied().filter(|number| !queued.contains(number)).take(most).collect()
    }

    async fn take(&mut self, number: u64, result: Result<&str, &str>) -> Result<bool, FleetError> {
        let played = result.map_err(str::to_owned);
        let played = played.and_then(|text| PlayedPair::from_text(number, text).map_err(|error| error.to_string()));
        let pair = played.map_err(|reason| FleetError::Failed { what: format!("pair {number}"), reason })?;
        self.missing.remove(&number);
        if self.sender.send(Ok(pair)).is_err() {
            self.missing.clear(); // enough was played
        }
        Ok(true)
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
