//! Visitors: those who share rates, quotas and turns. A visitor is an address; of IPv6 the network of 64 bits that one
//! subscriber has.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::limits::{Bucket, LimitError, Rate, ServerLimits};

/// Who a visitor is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct VisitorId(IpAddr);

impl VisitorId {
    pub(crate) fn of(address: IpAddr) -> VisitorId {
        VisitorId(match address.to_canonical() {
            IpAddr::V6(address) if !address.is_loopback() => {
                IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() >> 64 << 64))
            }
            address => address,
        })
    }
}

/// A visitor that is here, or was here of late.
#[derive(Debug)]
pub(crate) struct Visitor {
    id: VisitorId,
    sockets: AtomicUsize,
    buckets: Mutex<Buckets>,
}

#[derive(Debug)]
struct Buckets {
    connections: Bucket,
    messages: Bucket,
    games: Bucket,
    games_a_day: Bucket,
    imports: Bucket,
    growth: Bucket,
}

impl Visitor {
    fn new(id: VisitorId) -> Visitor {
        let full = Bucket::full(Instant::now());
        let buckets =
            Buckets { connections: full, messages: full, games: full, games_a_day: full, imports: full, growth: full };
        Visitor { id, sockets: AtomicUsize::new(0), buckets: Mutex::new(buckets) }
    }

    pub(crate) fn id(&self) -> VisitorId {
        self.id
    }

    /// How many sockets it has.
    pub(crate) fn sockets(&self) -> usize {
        self.sockets.load(Ordering::Relaxed)
    }

    /// Counts one socket more; false if it has `most` already.
    pub(crate) fn add_socket(&self, most: usize) -> bool {
        let more = |number| (number < most).then_some(number + 1);
        self.sockets.fetch_update(Ordering::Relaxed, Ordering::Relaxed, more).is_ok()
    }

    pub(crate) fn remove_socket(&self) {
        self.sockets.fetch_sub(1, Ordering::Relaxed);
    }

    fn take(&self, which: impl FnOnce(&mut Buckets) -> &mut Bucket, rate: &Rate, amount: f64) -> Result<(), Duration> {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        which(&mut buckets).take(rate, amount, Instant::now())
    }

    /// One socket more, or how long to wait for it.
    pub(crate) fn take_connection(&self, limits: &ServerLimits) -> Result<(), Duration> {
        self.take(|buckets| &mut buckets.connections, &limits.connections, 1.0)
    }

    /// One message more, or how long to wait for it.
    pub(crate) fn take_message(&self, limits: &ServerLimits) -> Result<(), Duration> {
        self.take(|buckets| &mut buckets.messages, &limits.messages, 1.0)
    }

    /// One game more.
    pub(crate) fn take_game(&self, limits: &ServerLimits) -> Result<(), LimitError> {
        let refused = |wait| LimitError::Rate { what: "new games", wait };
        self.take(|buckets| &mut buckets.games, &limits.games, 1.0).map_err(refused)?;
        self.take(|buckets| &mut buckets.games_a_day, &limits.games_a_day, 1.0).map_err(refused)
    }

    /// An import of so many bytes.
    pub(crate) fn take_import(&self, limits: &ServerLimits, bytes: usize) -> Result<(), LimitError> {
        self.take(|buckets| &mut buckets.imports, &limits.imports, bytes as f64)
            .map_err(|wait| LimitError::Rate { what: "imports", wait })
    }

    /// Whether its commands may add to journals.
    pub(crate) fn check_growth(&self, limits: &ServerLimits) -> Result<(), LimitError> {
        self.take(|buckets| &mut buckets.growth, &limits.growth, 1.0)
            .map_err(|wait| LimitError::Rate { what: "commands", wait })
    }

    /// Its command has added so much to a journal.
    pub(crate) fn spend_growth(&self, limits: &ServerLimits, bytes: u64) {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        buckets.growth.spend(&limits.growth, bytes as f64, Instant::now());
    }

    /// Whether it would be no other if it came for the first time.
    fn is_forgettable(&self, limits: &ServerLimits, now: Instant) -> bool {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let Buckets { connections, messages, games, games_a_day, imports, growth } = &mut *buckets;
        [
            (connections, &limits.connections),
            (messages, &limits.messages),
            (games, &limits.games),
            (games_a_day, &limits.games_a_day),
            (imports, &limits.imports),
            (growth, &limits.growth),
        ]
        .into_iter()
        .all(|(bucket, rate)| bucket.is_full(rate, now))
    }
}

/// Above this number those who are gone are forgotten, even if they have spent something.
const MOST_REMEMBERED: usize = 65_536;

/// All visitors that are here, or that have spent something of late.
#[derive(Debug, Default)]
pub(crate) struct Visitors(Mutex<Known>);

#[derive(Debug, Default)]
struct Known {
    visitors: HashMap<VisitorId, Arc<Visitor>>,
    /// From this number on it is worth looking for those who can be forgotten.
    tidy_at: usize,
}

impl Visitors {
    /// The visitor of an address.
    pub(crate) fn of(&self, address: IpAddr, limits: &ServerLimits) -> Arc<Visitor> {
        let id = VisitorId::of(address);
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(visitor) = known.visitors.get(&id) {
            return Arc::clone(visitor);
        }
        if known.visitors.len() >= known.tidy_at {
            known.tidy(limits);
        }
        let visitor = Arc::new(Visitor::new(id));
        known.visitors.insert(id, Arc::clone(&visitor));
        visitor
    }

    /// How many are here.
    pub(crate) fn here(&self) -> usize {
        let known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        known.visitors.values().filter(|visitor| visitor.sockets() > 0).count()
    }
}

impl Known {
    fn tidy(&mut self, limits: &ServerLimits) {
        let now = Instant::now();
        let is_here = |visitor: &Arc<Visitor>| Arc::strong_count(visitor) > 1;
        self.visitors.retain(|_, visitor| is_here(visitor) || !visitor.is_forgettable(limits, now));
        if self.visitors.len() >= MOST_REMEMBERED {
            self.visitors.retain(|_, visitor| is_here(visitor));
        }
        self.tidy_at = (2 * self.visitors.len()).max(1024);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visitor_is_an_address_or_a_network_of_64_bits() {
        let id = |text: &str| VisitorId::of(text.parse().unwrap());
        assert_eq!(id("::ffff:192.0.2.1"), id("192.0.2.1"));
        assert_ne!(id("192.0.2.1"), id("192.0.2.2"));
        assert_eq!(id("2001:db8::1"), id("2001:db8::ffff:2"));
        assert_ne!(id("2001:db8::1"), id("2001:db8:0:1::1"));
        assert_ne!(id("::1"), id("::2"));
    }

    #[test]
    fn what_was_spent_is_remembered_and_the_rest_forgotten() {
        let limits = ServerLimits { sockets_each: 2, ..ServerLimits::public() };
        let visitors = Visitors::default();
        let address = |number: u32| IpAddr::V4(number.into());
        let guest = visitors.of(address(1), &limits);
        assert!(guest.add_socket(2) && guest.add_socket(2) && !guest.add_socket(2));
        guest.remove_socket();
        assert!(guest.add_socket(2));
        for _ in 0..20 {
            guest.take_game(&limits).unwrap();
        }
        assert!(matches!(guest.take_game(&limits), Err(LimitError::Rate { what: "new games", .. })));
        drop(guest);
        for number in 0..5000 {
            visitors.of(address(1000 + number), &limits);
        }
        assert!(visitors.0.lock().unwrap().visitors.len() <= 2048);
        let again = visitors.of(address(1), &limits);
        assert!(again.take_game(&limits).is_err() && again.sockets() == 2);
    }
}
