//! `Talk`: a supervised program and lines of text, for protocols that this crate does not know.

use std::time::{Duration, Instant};

use anqi_rules::excerpt;

use super::fault::Fault;
use super::process::Process;
use super::spec::OutsideSpec;

/// A running program that is told lines and answers with lines. Deadlines, bounds and its end are as for
/// [`Outside`](crate::Outside): whatever it does is a [`Fault`] in the end, and nothing of it survives this value.
#[derive(Debug)]
pub struct Talk(Process);

impl Talk {
    /// Starts the program. Of the description only command, directory and patience matter here.
    ///
    /// # Errors
    /// If it does not start.
    pub fn start(spec: &OutsideSpec) -> Result<Talk, Fault> {
        Process::start(spec).map(Talk)
    }

    /// Sends a line.
    ///
    /// # Errors
    /// If the program has ended or does not read.
    pub fn tell(&mut self, line: &str) -> Result<(), Fault> {
        self.0.send(&excerpt(line), format!("{line}\n").as_bytes())
    }

    /// The next line, if it comes before the deadline; bytes that are no text are replaced. `limit` is how long that is, for
    /// the report.
    ///
    /// # Errors
    /// If none comes.
    pub fn hear(&mut self, deadline: Instant, limit: Duration) -> Result<String, Fault> {
        Ok(self.0.line(deadline, limit)?.shown().to_owned())
    }

    /// Says goodbye, and gives the program a moment to go by itself.
    pub fn quit(mut self, word: &str) {
        if self.tell(word).is_ok() {
            self.0.wait_for_end(super::GOODBYE);
        }
    }
}
