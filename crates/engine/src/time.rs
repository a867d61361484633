//! `TimeSource`: what time it is. Wall clocks belong to the process, so a player is given one.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Tells the time since some fixed moment; it never goes back.
#[derive(Clone)]
pub struct TimeSource(Arc<dyn Fn() -> Duration + Send + Sync>);

impl TimeSource {
    /// Time as a function tells it.
    #[must_use]
    pub fn new(now: impl Fn() -> Duration + Send + Sync + 'static) -> TimeSource {
        TimeSource(Arc::new(now))
    }

    /// Time since some fixed moment.
    #[must_use]
    pub fn now(&self) -> Duration {
        (self.0)()
    }
}

/// The monotonic clock of the system.
#[cfg(feature = "clock")]
impl Default for TimeSource {
    fn default() -> TimeSource {
        let start = std::time::Instant::now();
        TimeSource::new(move || start.elapsed())
    }
}

impl fmt::Debug for TimeSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("TimeSource").field(&self.now()).finish()
    }
}

/// Time since a moment of a [`TimeSource`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stopwatch<'a> {
    time: &'a TimeSource,
    start: Duration,
}

impl<'a> Stopwatch<'a> {
    pub(crate) fn start(time: &'a TimeSource) -> Stopwatch<'a> {
        Stopwatch { time, start: time.now() }
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.time.now().saturating_sub(self.start)
    }
}
