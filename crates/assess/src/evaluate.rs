//! A pool of judges that value positions of any game, side by side.

use std::collections::HashMap;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anqi_engine::Stop;

use crate::cache::{Cache, Key};

/// Somebody who values positions of some game: a player of ours, an engine in another process, a table.
pub trait Judge {
    /// A position with everything that the value depends on.
    type Position: Sync;

    /// The value for the side to move; infinite for a proof.
    ///
    /// # Errors
    /// If it has none to give, with the reason; it is then replaced by a fresh judge, as a program that died must be.
    fn value(&mut self, position: &Self::Position, stop: &Stop) -> Result<f64, String>;
}

/// A position to be valued.
#[derive(Clone, Debug)]
pub struct Valuation<P> {
    /// Under which its value is remembered. Equal keys are valued once.
    pub key: Key,
    /// The position.
    pub position: P,
}

/// What became of the tasks.
#[derive(Clone, PartialEq, Debug)]
pub struct Evaluated {
    /// A value for each task, or why there is none, in the order of the tasks.
    pub values: Vec<Result<f64, String>>,
    /// Positions that a judge looked at now; the others were known.
    pub fresh: usize,
}

/// Why a pool gave up.
#[derive(Debug, thiserror::Error)]
pub enum EvaluateError {
    /// The cache cannot be written.
    #[error("cannot write the cache: {0}")]
    Cache(#[from] anqi_store::JournalError),
    /// It was told to stop; everything that is known is in the cache.
    #[error("stopped")]
    Stopped,
    /// No judge can be had.
    #[error("{0}")]
    NoJudge(String),
}

/// Values all positions that the cache does not know, on so many threads, each with a judge of its own.
///
/// A judge's value must depend on nothing but the position. `watch` hears how many of the unknown ones are done.
///
/// # Errors
/// If no judge can be made, the cache cannot be written, or it is told to stop.
pub fn evaluate<J: Judge>(
    tasks: &[Valuation<J::Position>],
    cache: &mut Cache,
    threads: usize,
    stop: &Stop,
    judge: impl Fn() -> Result<J, String> + Sync,
    mut watch: impl FnMut(usize, usize),
) -> Result<Evaluated, EvaluateError> {
    let mut places: HashMap<Key, usize> = HashMap::new();
    for (place, task) in tasks.iter().enumerate().filter(|(_, task)| cache.get(task.key).is_none()) {
        places.entry(task.key).or_insert(place);
    }
    let mut unknown: Vec<usize> = places.into_values().collect();
    unknown.sort_unstable();
    let next = AtomicUsize::new(0);
    let mut failed: HashMap<Key, String> = HashMap::new();
    let (send, receive) = mpsc::channel();
    let outcome = thread::scope(|scope| {
        for _ in 0..threads.clamp(1, unknown.len().max(1)) {
            let (send, next, unknown, judge) = (send.clone(), &next, &unknown, &judge);
            scope.spawn(move || {
                let mut current = None;
                while let Some(&place) = unknown.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if stop.is_raised() {
                        return;
                    }
                    let sitting = match current.take().map_or_else(judge, Ok) {
                        Ok(sitting) => current.insert(sitting),
                        Err(reason) => {
                            let _ = send.send(Err(reason));
                            return;
                        }
                    };
                    let value = sitting.value(&tasks[place].position, stop);
                    // A search that was stopped might have said something else.
                    if stop.is_raised() {
                        return;
                    }
                    if value.is_err() {
                        current = None;
                    }
                    let value =
                        value.and_then(|value| if value.is_nan() { Err("not a number".to_owned()) } else { Ok(value) });
                    let _ = send.send(Ok((place, value)));
                }
            });
        }
        drop(send);
        for (done, message) in (1..).zip(&receive) {
            match message {
                Ok((place, Ok(value))) => cache.put(tasks[place].key, value)?,
                Ok((place, Err(reason))) => drop(failed.insert(tasks[place].key, reason)),
                Err(reason) => {
                    next.store(unknown.len(), Ordering::Relaxed);
                    return Err(EvaluateError::NoJudge(reason));
                }
            }
            watch(done, unknown.len());
        }
        Ok(())
    });
    outcome?;
    if stop.is_raised() {
        return Err(EvaluateError::Stopped);
    }
    let value = |task: &Valuation<J::Position>| match (cache.get(task.key), failed.get(&task.key)) {
        (Some(value), _) => Ok(value),
        (None, Some(reason)) => Err(reason.clone()),
        (None, None) => Err("not valued".to_owned()),
    };
    Ok(Evaluated { values: tasks.iter().map(value).collect(), fresh: unknown.len() })
}
