//! How much a player may think, and how it is told to stop.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use anqi_task::Stop;

use crate::time::{Stopwatch, TimeSource};

/// How much a player may think about one move. The first bound that is reached ends it; without
/// any bound it thinks until it is told to [`Stop`].
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Limits {
    /// Time by the clock.
    pub time: Option<Duration>,
    /// Positions looked at; playouts for players that play them. The reproducible bound: same nodes, same move.
    pub nodes: Option<u64>,
    /// Plies to look ahead.
    pub depth: Option<u32>,
    /// Random games to the end.
    pub playouts: Option<u64>,
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

    /// What is left for the second part of a player that thinks in two, of the nodes at least half.
    #[must_use]
    pub(crate) fn after(&self, nodes: u64, time: Duration) -> Limits {
        let rest = |all: u64| all.saturating_sub(nodes).max(all / 2);
        Limits { time: self.time.map(|all| all.saturating_sub(time)), nodes: self.nodes.map(rest), ..*self }
    }

    /// Only a number of playouts.
    #[must_use]
    pub fn playouts(playouts: u64) -> Limits {
        Limits { playouts: Some(playouts), ..Limits::default() }
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

/// What one search has spent: counts nodes, and tells when its limits are reached.
#[derive(Debug)]
pub(crate) struct Meter<'a> {
    limits: Limits,
    stop: &'a Stop,
    watch: Stopwatch<'a>,
    nodes: u64,
    /// Nodes at which the clock and the flag are looked at next.
    next_look: u64,
    spent: bool,
}

/// Often enough for a fifth of a millisecond, seldom enough to cost nothing.
const NODES_BETWEEN_LOOKS: u64 = 512;

impl<'a> Meter<'a> {
    pub(crate) fn new(limits: &Limits, stop: &'a Stop, time: &'a TimeSource) -> Meter<'a> {
        let watch = Stopwatch::start(time);
        let mut meter = Meter { limits: *limits, stop, watch, nodes: 0, next_look: 0, spent: false };
        meter.look();
        meter
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
        let out_of_time = self.limits.time.is_some_and(|time| self.watch.elapsed() >= time);
        let out_of_nodes = self.limits.nodes.is_some_and(|nodes| self.nodes >= nodes);
        self.spent |= out_of_time || out_of_nodes || self.stop.is_raised();
        let next = self.nodes + NODES_BETWEEN_LOOKS;
        self.next_look = self.limits.nodes.map_or(next, |nodes| next.min(nodes));
    }

    pub(crate) fn is_spent(&self) -> bool {
        self.spent
    }

    pub(crate) fn nodes(&self) -> u64 {
        self.nodes
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.watch.elapsed()
    }
}

/// The same for threads that search together: what each of them takes is counted once.
#[derive(Debug)]
pub(crate) struct SharedMeter<'a> {
    time: Option<Duration>,
    /// No more than this may be taken.
    most: u64,
    stop: &'a Stop,
    watch: Stopwatch<'a>,
    taken: AtomicU64,
    spent: AtomicBool,
}

/// Often enough for a millisecond with the slowest playouts.
const TAKEN_BETWEEN_LOOKS: u64 = 32;

impl<'a> SharedMeter<'a> {
    /// Counts playouts; nodes count like them, as each adds one.
    pub(crate) fn of_playouts(limits: &Limits, stop: &'a Stop, time: &'a TimeSource) -> SharedMeter<'a> {
        let bounds = [limits.playouts, limits.nodes];
        SharedMeter {
            time: limits.time,
            most: bounds.into_iter().flatten().min().unwrap_or(u64::MAX),
            stop,
            watch: Stopwatch::start(time),
            taken: AtomicU64::new(0),
            spent: AtomicBool::new(limits.depth == Some(0)),
        }
    }

    /// Takes one; false if there is none left or the time is up.
    #[inline]
    pub(crate) fn take(&self) -> bool {
        if self.spent.load(Ordering::Relaxed) {
            return false;
        }
        let taken = self.taken.fetch_add(1, Ordering::Relaxed);
        let out_of_time = || self.stop.is_raised() || self.time.is_some_and(|time| self.watch.elapsed() >= time);
        if taken >= self.most || taken.is_multiple_of(TAKEN_BETWEEN_LOOKS) && out_of_time() {
            self.taken.fetch_sub(1, Ordering::Relaxed);
            self.end();
            return false;
        }
        true
    }

    /// Takes at most so many; 0 if there is none left or the time is up.
    pub(crate) fn take_up_to(&self, most: u64) -> u64 {
        (0..most).take_while(|_| self.take()).count() as u64
    }

    /// Takes a batch, so that threads seldom wait for each other here; 0 if there is none left or the time is up. What is
    /// not used is to be [put back](SharedMeter::put_back).
    pub(crate) fn take_batch(&self) -> u64 {
        if self.stop.is_raised() || self.time.is_some_and(|time| self.watch.elapsed() >= time) {
            self.end();
            return 0;
        }
        let more = |taken: u64| Some(taken.saturating_add(TAKEN_BETWEEN_LOOKS).min(self.most));
        let taken = self.taken.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).unwrap_or(self.most);
        TAKEN_BETWEEN_LOOKS.min(self.most.saturating_sub(taken))
    }

    /// Gives back what was taken and not used.
    pub(crate) fn put_back(&self, unused: u64) {
        self.taken.fetch_sub(unused, Ordering::Relaxed);
    }

    /// Whether the search was [ended](SharedMeter::end). What is taken may still be used when there is no more to take.
    #[inline]
    pub(crate) fn is_over(&self) -> bool {
        self.spent.load(Ordering::Relaxed)
    }

    /// Ends the search of all threads.
    pub(crate) fn end(&self) {
        self.spent.store(true, Ordering::Relaxed);
    }

    /// How much was taken.
    pub(crate) fn taken(&self) -> u64 {
        self.taken.load(Ordering::Relaxed)
    }

    pub(crate) fn elapsed(&self) -> Duration {
        self.watch.elapsed()
    }
}
