//! The worker: takes pairs, plays them, announces them.

use std::collections::HashMap;
use std::sync::{Arc, mpsc};
use std::time::Duration;

use anqi_engine::Stop;
use anqi_lab::{BrokenOff, PairError, Plan, PlayedPair, play_pair, try_programs};
use async_nats::jetstream::consumer::{Consumer, pull};
use async_nats::jetstream::{AckKind, Message};
use futures_util::StreamExt;
use tokio::runtime;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::coordinator::FAILED;
use crate::queue::{AGAIN, FleetError, PROGRESS, Queue, named_pair, results_subject};

/// How long the server may keep us waiting for work before we look whether to stop.
const PATIENCE: Duration = Duration::from_secs(1);

/// Plays whatever pairs are queued at a server, `threads` at a time, until `stop` is raised. `played` hears of each.
///
/// # Errors
/// If the server is not there at the beginning, or if a plan cannot be played here; others may be able to.
pub fn work(url: &str, threads: usize, stop: &Stop, mut played: impl FnMut(u64)) -> Result<(), FleetError> {
    let runtime = runtime::Builder::new_current_thread().enable_all().build()?;
    let (sender, receiver) = mpsc::channel();
    let ended = runtime.block_on(async {
        let queue = Queue::connect(url).await?;
        let hands: Vec<_> =
            (0..threads.max(1)).map(|_| tokio::spawn(hand(queue.clone(), stop.clone(), sender.clone()))).collect();
        drop(sender);
        while hands.iter().any(|hand| !hand.is_finished()) {
            receiver.try_iter().for_each(&mut played);
            sleep(AGAIN).await;
        }
        receiver.try_iter().for_each(&mut played);
        for hand in hands {
            if let Ok(ended) = hand.await {
                ended?;
            }
        }
        Ok(())
    });
    // A program that was told to stop and thinks on is not waited for.
    runtime.shutdown_background();
    ended
}

/// Plays one pair after the other.
async fn hand(queue: Queue, stop: Stop, played: mpsc::Sender<u64>) -> Result<(), FleetError> {
    let mut plans: HashMap<String, Arc<Plan>> = HashMap::new();
    while !stop.is_raised() {
        let Some(workers) = queue.workers().await else {
            sleep(AGAIN).await;
            continue;
        };
        while !stop.is_raised()
            && let Ok(message) = next(&workers).await
        {
            let Some(message) = message else { continue };
            let Some((key, number)) = named_pair(&message.subject) else {
                let _ = message.ack_with(AckKind::Term).await;
                continue;
            };
            let plan = match plans.get(key) {
                Some(plan) => Arc::clone(plan),
                None => match queue.plan(key).await {
                    None => continue, // the server is gone, and will give us the pair again
                    Some(plan) => {
                        let able = plan.and_then(|plan| Ok(try_programs(&plan).map(|()| plan)?));
                        let plan = match able {
                            Ok(plan) => Arc::new(plan),
                            Err(error) => {
                                // Not for us. The other hands need not try.
                                let _ = message.ack_with(AckKind::Nak(Some(PATIENCE))).await;
                                stop.raise();
                                return Err(error);
                            }
                        };
                        plans.insert(key.to_owned(), Arc::clone(&plan));
                        plan
                    }
                },
            };
            let Some(text) = play(&plan, number, &stop, &message).await else {
                let _ = message.ack_with(AckKind::Nak(None)).await;
                break;
            };
            while !queue.publish_once(results_subject(key, number), text.clone()).await {
                if stop.is_raised() {
                    return Ok(());
                }
                sleep(AGAIN).await;
            }
            // If this gets lost the pair comes again, and its result is not kept.
            let _ = message.double_ack().await;
            let _ = played.send(number);
        }
        sleep(AGAIN).await;
    }
    Ok(())
}

/// The next pair from the queue, if one comes in time; an error if the server is gone.
async fn next(workers: &Consumer<pull::Config>) -> Result<Option<Message>, ()> {
    let mut batch = workers.batch().max_messages(1).expires(PATIENCE).messages().await.map_err(drop)?;
    match timeout(2 * PATIENCE, batch.next()).await {
        Ok(message) => message.transpose().map_err(drop),
        Err(_) => Err(()),
    }
}

/// The text of a pair, or why it cannot be played; none if we are to stop. The server hears that we are at it.
async fn play(plan: &Arc<Plan>, number: u64, stop: &Stop, message: &Message) -> Option<String> {
    let (plan, raised) = (Arc::clone(plan), stop.clone());
    let mut game = spawn_blocking(move || play_pair(&plan, number, &raised));
    loop {
        match timeout(PROGRESS, &mut game).await {
            Err(_) => {
                let _ = message.ack_with(AckKind::Progress).await;
            }
            Ok(Ok(Ok(pair))) => return Some(PlayedPair::to_text(&pair)),
            Ok(Ok(Err(PairError::BrokenOff(BrokenOff::Stopped)))) => return None,
            Ok(Ok(Err(error))) => return Some(format!("{FAILED}{error}")),
            Ok(Err(_)) => return Some(format!("{FAILED}a player of ours panicked; the worker has the message")),
        }
    }
}
