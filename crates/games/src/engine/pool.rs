//! Several processes of one engine, answers in the order of the questions.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError, mpsc};
use std::thread;

use anqi_protocol::Fault;

use super::{Engine, EngineSpec};
use crate::record::Position;
use crate::score::Evaluation;

/// What became of a question.
#[derive(Clone, PartialEq, Debug)]
pub enum Asked<T> {
    /// The engine has answered, perhaps only when it was started anew and asked again.
    Answer {
        /// What it said.
        answer: T,
        /// What went wrong the first time.
        again: Option<Fault>,
    },
    /// The engine has failed twice.
    Failed(Twice),
}

/// Two failures at one question.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{first}; asked again: {second}")]
pub struct Twice {
    /// The first time.
    pub first: Fault,
    /// The second time, with a fresh process.
    pub second: Fault,
}

/// Asks `workers` processes of an engine about all positions, and calls `each` with every answer in their order, until it
/// says `false`.
///
/// An engine that fails is started anew and asked once more; if it fails again the position has no value, and the next one
/// is asked.
///
/// # Errors
/// If the engine cannot be started, also after it has died. Answers that came before have been given to `each`.
pub fn evaluate_all(
    spec: &EngineSpec,
    workers: usize,
    positions: &[Position<'_>],
    each: impl FnMut(usize, Asked<Evaluation>) -> bool,
) -> Result<(), Fault> {
    let evaluate = |worker: &mut Worker<'_>, index: usize| worker.ask(|engine| engine.evaluate(&positions[index]));
    in_parallel(spec, workers, positions.len(), evaluate, each)
}

/// Does `count` pieces of work with `workers` processes; results come in order.
pub(crate) fn in_parallel<'a, T: Send>(
    spec: &'a EngineSpec,
    workers: usize,
    count: usize,
    work: impl Fn(&mut Worker<'a>, usize) -> Result<T, Fault> + Sync,
    mut each: impl FnMut(usize, T) -> bool,
) -> Result<(), Fault> {
    let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
    let broken: Mutex<Option<Fault>> = Mutex::new(None);
    let (sender, results) = mpsc::channel();
    thread::scope(|scope| {
        for _ in 0..workers.clamp(1, count.max(1)) {
            let (sender, work, next, stopped, broken) = (sender.clone(), &work, &next, &stopped, &broken);
            scope.spawn(move || {
                let mut worker = Worker { spec, engine: None };
                while !stopped.load(Ordering::Relaxed) {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    if index >= count {
                        break;
                    }
                    match work(&mut worker, index) {
                        // Nobody listens any more once `each` has had enough.
                        Ok(result) => drop(sender.send((index, result))),
                        Err(fault) => {
                            stopped.store(true, Ordering::Relaxed);
                            broken.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(fault);
                        }
                    }
                }
            });
        }
        drop(sender);
        // Results are held back until those before them are there.
        let (mut early, mut wanted) = (BTreeMap::new(), 0);
        for (index, result) in &results {
            early.insert(index, result);
            while let Some(result) = early.remove(&wanted) {
                if !stopped.load(Ordering::Relaxed) || broken.lock().is_ok_and(|broken| broken.is_some()) {
                    let go_on = each(wanted, result);
                    stopped.fetch_or(!go_on, Ordering::Relaxed);
                }
                wanted += 1;
            }
        }
    });
    broken.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(Ok(()), Err)
}

/// A process, as long as it behaves.
pub(crate) struct Worker<'a> {
    spec: &'a EngineSpec,
    engine: Option<Box<dyn Engine>>,
}

impl Worker<'_> {
    /// Asks something, and once more if the engine fails. `Err` if it does not start.
    pub(crate) fn ask<T>(
        &mut self,
        mut question: impl FnMut(&mut dyn Engine) -> Result<T, Fault>,
    ) -> Result<Asked<T>, Fault> {
        let first = match self.ask_once(&mut question)? {
            Ok(answer) => return Ok(Asked::Answer { answer, again: None }),
            Err(fault) => fault,
        };
        Ok(match self.ask_once(&mut question)? {
            Ok(answer) => Asked::Answer { answer, again: Some(first) },
            Err(second) => Asked::Failed(Twice { first, second }),
        })
    }

    fn ask_once<T>(
        &mut self,
        question: &mut impl FnMut(&mut dyn Engine) -> Result<T, Fault>,
    ) -> Result<Result<T, Fault>, Fault> {
        let engine = match &mut self.engine {
            Some(engine) => engine,
            none => none.insert(self.spec.launch()?),
        };
        let answer = question(engine.as_mut());
        if answer.is_err() {
            self.engine = None;
        }
        Ok(answer)
    }
}

impl Drop for Worker<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.quit();
        }
    }
}
