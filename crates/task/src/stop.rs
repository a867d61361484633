//! `Stop`: the request to end.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A request to end, raised from any thread. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks every task that has a clone to end soon with what it has.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}
