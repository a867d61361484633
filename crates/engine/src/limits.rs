//! How much a player may think, and how it is told to stop.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How much a player may think about one move. The first bound that is reached ends it; without
/// any bound it thinks until it is told to [`Stop`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Positions looked at. The reproducible bound: same nodes, same move.
    pub nodes: Option<u64>,
    /// Plies to look ahead.
    pub depth: Option<u32>,
    /// Random games to the end.
    pub playouts: Option<u64>,
    /// Score every move exactly, not only the best one: for analysis.
    pub every_move: bool,
}

impl Limits {
    /// Only a number of nodes.
    #[must_use]
    pub fn nodes(nodes: u64) -> Limits {
        Limits { nodes: Some(nodes), ..Limits::default() }
    }

    /// Half of the time and of the nodes, for a player that thinks in two parts.
    #[must_use]
    pub(crate) fn half(&self) -> Limits {
        Limits { time: self.time.map(|time| time / 2), nodes: self.nodes.map(|nodes| nodes / 2), ..*self }
    }

    /// Only a depth.
    #[must_use]
    pub fn depth(depth: u32) -> Limits {
        Limits { depth: Some(depth), ..Limits::default() }
    }

    /// Only a time.
    #[must_use]
    pub fn time(time: Duration) -> Limits {
        Limits { time: Some(time), ..Limits::default() }
    }
}

/// Says "now" from another thread. Clones are the same flag.
#[derive(Clone, Debug, Default)]
pub struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Asks whoever holds a clone to come to an end.
    pub fn raise(&self) {
        self.0.store(true, Ordering::Relaxed);
    }

    /// Whether it was raised.
    #[must_use]
    pub fn is_raised(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

/// The budget of one search: counts nodes and notices when the limits are reached.
#[derive(Debug)]
pub(crate) struct Budget<'a> {
    limits: Limits,
    stop: &'a Stop,
    started: Instant,
    nodes: u64,
    /// Nodes at which the clock and the flag are looked at next.
    next_look: u64,
    spent: bool,
}

/// Often enough for a millisecond, seldom enough to cost nothing.
const NODES_BETWEEN_LOOKS: u64 = 4096;

impl<'a> Budget<'a> {
    pub(crate) fn new(limits: &Limits, stop: &'a Stop) -> Budget<'a> {
        let mut budget =
            Budget { limits: *limits, stop, started: Instant::now(), nodes: 0, next_look: 0, spent: false };
        budget.look();
        budget
    }

    /// Counts a node; true if the search has to end.
    #[inline]
    pub(crate) fn count(&mut self) -> bool {
        self.nodes += 1;
        if self.nodes >= self.next_look {
            self.look();
        }
        self.spent
    }

    #[cold]
    fn look(&mut self) {
        let out_of_time = self.limits.time.is_some_and(|time| self.started.elapsed() >= time);
        let out_of_nodes = self.limits.nodes.is_some_and(|nodes| self.nodes >= nodes);
        self.spent |= out_of_time || out_of_nodes || self.stop.is_raised();
        let next = self.nodes + NODES_BETWEEN_LOOKS;
        self.next_look = self.limits.nodes.map_or(next, |nodes| next.min(nodes));
    }

    /// Starts the clock anew.
    pub(crate) fn restart(&mut self) {
        self.started = Instant::now();
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.spent
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.nodes
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.started.elapsed()
    }
}
