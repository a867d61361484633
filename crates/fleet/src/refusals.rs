//! `Refusals`: what did not count, by reason, and told to the operator.

use std::collections::BTreeMap;
use std::fmt::{self, Display};
use std::sync::{Arc, Mutex, PoisonError};

use crate::envelope::{Reason, Refused};

/// So many of each reason are told one by one; the rest are counted.
const TOLD: u64 = 5;

/// Passes a line on to the operator.
#[derive(Clone)]
pub struct Tell(Arc<dyn Fn(&str) + Send + Sync>);

impl Tell {
    /// Passes lines to a function.
    pub fn new(tell: impl Fn(&str) + Send + Sync + 'static) -> Tell {
        Tell(Arc::new(tell))
    }

    pub(crate) fn line(&self, text: &str) {
        (self.0)(text);
    }
}

impl fmt::Debug for Tell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Tell")
    }
}

/// Counts by reason. Clones share them.
#[derive(Clone, Debug)]
pub(crate) struct Refusals {
    counts: Arc<Mutex<BTreeMap<Reason, u64>>>,
    tell: Tell,
}

impl Refusals {
    pub(crate) fn new(tell: Tell) -> Refusals {
        Refusals { counts: Arc::default(), tell }
    }

    /// Counts a message, and tells of it unless there were many of its kind.
    pub(crate) fn add(&self, message: impl Display, refused: &Refused) {
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(refused.reason).or_default();
        *count += 1;
        let count = *count;
        drop(counts);
        match count {
            ..=TOLD => self.tell.line(&format!("{message} refused: {refused}")),
            _ if count == TOLD + 1 => {
                self.tell.line(&format!("more are refused ({}); from now on they are counted", refused.reason));
            }
            _ => {}
        }
    }

    /// How many for each reason.
    pub(crate) fn counts(&self) -> BTreeMap<String, u64> {
        let counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        counts.iter().map(|(reason, count)| (reason.name().to_owned(), *count)).collect()
    }

    /// All of them in a line, if there are any.
    pub(crate) fn summary(&self) -> Option<String> {
        let counts = self.counts();
        let parts: Vec<String> = counts.iter().map(|(reason, count)| format!("{count} {reason}")).collect();
        (!parts.is_empty()).then(|| format!("messages refused: {}", parts.join(", ")))
    }
}
