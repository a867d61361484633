//! `Standby`: an engine that is started when it is needed, and anew when it fails.

use anqi_protocol::Fault;

use super::{Engine, EngineSpec};

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

/// An engine that is started when it is needed. One that fails is started anew and asked once more; if it fails again the
/// question has no answer, and the next one is asked of a fresh process.
#[derive(Debug)]
pub struct Standby<'a> {
    spec: &'a EngineSpec,
    engine: Option<Box<dyn Engine>>,
}

impl<'a> Standby<'a> {
    /// Nothing is started yet.
    #[must_use]
    pub const fn new(spec: &'a EngineSpec) -> Standby<'a> {
        Standby { spec, engine: None }
    }

    /// Asks something, and once more if the engine fails.
    ///
    /// # Errors
    /// If the engine cannot be started, also after it has died.
    pub fn ask<T>(&mut self, mut question: impl FnMut(&mut dyn Engine) -> Result<T, Fault>) -> Result<Asked<T>, Fault> {
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

impl Drop for Standby<'_> {
    fn drop(&mut self) {
        if let Some(engine) = self.engine.take() {
            engine.quit();
        }
    }
}
