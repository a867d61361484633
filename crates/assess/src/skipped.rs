//! `Skipped`: what was left out and why, so that nothing is lost in silence.

use std::fmt;

use serde::{Serialize, Serializer};

/// Everything that was left out, counted by reason, with the first example of each.
///
/// ```
/// use anqi_assess::Skipped;
///
/// let mut skipped = Skipped::default();
/// skipped.add("unknown result", || "line 7: \"?\"".to_owned());
/// skipped.add("unknown result", || "line 9: \"-\"".to_owned());
/// assert_eq!(skipped.to_string(), "2 × unknown result, first line 7: \"?\"\n");
/// ```
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Skipped(Vec<Skip>);

/// One reason.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub struct Skip {
    /// Why.
    pub reason: String,
    /// How often.
    pub count: u64,
    /// Where it happened first, with the text.
    pub first: String,
}

impl Skipped {
    /// Counts one.
    pub fn add(&mut self, reason: &str, example: impl FnOnce() -> String) {
        match self.0.iter_mut().find(|skip| skip.reason == reason) {
            Some(skip) => skip.count += 1,
            None => self.0.push(Skip { reason: reason.to_owned(), count: 1, first: example() }),
        }
    }

    /// Counts what somebody else left out.
    pub fn extend(&mut self, other: &Skipped) {
        for more in &other.0 {
            match self.0.iter_mut().find(|skip| skip.reason == more.reason) {
                Some(skip) => skip.count += more.count,
                None => self.0.push(more.clone()),
            }
        }
    }

    /// The reasons, in the order in which they came up.
    #[must_use]
    pub fn reasons(&self) -> &[Skip] {
        &self.0
    }

    /// How many in all.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.0.iter().map(|skip| skip.count).sum()
    }

    /// Whether nothing was left out.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl Serialize for Skipped {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

/// A line for each reason.
impl fmt::Display for Skipped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|Skip { reason, count, first }| writeln!(f, "{count} × {reason}, first {first}"))
    }
}
