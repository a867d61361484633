//! What the server and one visitor of it may spend: numbers, and the token bucket that counts them.

use std::num::NonZeroUsize;
use std::thread::available_parallelism;
use std::time::{Duration, Instant};

use anqi_play::{Analyst, BotPolicy, Budget};

/// Every bound of a server. [`ServerLimits::default`] is for one user on the loopback address, who meets none of them;
/// [`ServerLimits::public`] for a network.
#[derive(Clone, Debug)]
pub struct ServerLimits {
    /// What a page may ask of a player.
    pub bots: BotPolicy,
    /// Whether a player without a bound of nodes, playouts or time is stopped after the nodes of `bots`.
    pub bounds_depth: bool,
    /// How many engines may work at the same time.
    pub slots: Slots,
    /// How many requests of a visitor may wait for a slot; a further one is refused.
    pub waiting: usize,
    /// An analysis looks at no more positions.
    pub analysis_nodes: u64,
    /// What the players of all games keep between their moves, in MB.
    pub players_megabytes: u32,
    /// The most sockets, of pages and of everything else.
    pub sockets: usize,
    /// The most sockets of one visitor.
    pub sockets_each: usize,
    /// New sockets of a visitor.
    pub connections: Rate,
    /// Messages and HTTP requests of a visitor.
    pub messages: Rate,
    /// New games of a visitor, in the short run.
    pub games: Rate,
    /// New games of a visitor, in the long run.
    pub games_a_day: Rate,
    /// Bytes of a visitor's imports.
    pub imports: Rate,
    /// Bytes that a visitor's commands add to journals.
    pub growth: Rate,
    /// The longest journal of one game, in bytes.
    pub game_bytes: u64,
    /// The most games in the folder.
    pub folder_games: u64,
}

/// How many engines may work at the same time, and at what.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Slots {
    /// Moves, hints and warnings.
    pub play: NonZeroUsize,
    /// Analyses and reviews. Play takes these, too, when it needs them.
    pub study: NonZeroUsize,
    /// For moves of a few milliseconds alone, which so never wait for long ones.
    pub quick: NonZeroUsize,
}

impl Slots {
    /// The usual ones of a machine with so many cores.
    #[must_use]
    pub fn of_cores(cores: NonZeroUsize) -> Slots {
        let half = NonZeroUsize::new(cores.get().div_ceil(2)).unwrap_or(NonZeroUsize::MIN);
        Slots { play: cores, study: half, quick: half }
    }

    /// Those that long work may have.
    pub(crate) fn long(self) -> usize {
        self.play.get() + self.study.get()
    }

    /// All of them.
    pub(crate) fn all(self) -> usize {
        self.long() + self.quick.get()
    }
}

/// So many at once, and so many a second in the long run.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Rate {
    /// The most at once.
    pub burst: f64,
    /// In the long run.
    pub per_second: f64,
}

impl Rate {
    /// So many a second, and so many at once.
    #[must_use]
    pub const fn per_second(per_second: f64, burst: f64) -> Rate {
        Rate { burst, per_second }
    }

    /// So many a minute, and as many at once.
    #[must_use]
    pub const fn per_minute(number: f64) -> Rate {
        Rate { burst: number, per_second: number / 60.0 }
    }

    /// So many a day, and as many at once.
    #[must_use]
    pub const fn per_day(number: f64) -> Rate {
        Rate { burst: number, per_second: number / 86_400.0 }
    }
}

/// More than any use of one user, so that only a program out of control meets it.
const PLENTY: Rate = Rate::per_second(1e6, 1e7);

impl Default for ServerLimits {
    fn default() -> ServerLimits {
        let cores = cores();
        ServerLimits {
            bots: BotPolicy::page(u32::try_from(cores.get()).unwrap_or(u32::MAX)),
            bounds_depth: false,
            slots: Slots::of_cores(cores),
            waiting: 16,
            analysis_nodes: 10_000_000,
            players_megabytes: 2048,
            sockets: 4096,
            sockets_each: 4096,
            connections: PLENTY,
            messages: PLENTY,
            games: PLENTY,
            games_a_day: PLENTY,
            imports: Rate::per_second(1e9, 1e10),
            growth: Rate::per_second(1e9, 1e10),
            game_bytes: 1 << 30,
            folder_games: u64::MAX,
        }
    }
}

impl ServerLimits {
    /// Those of a server on a network.
    #[must_use]
    pub fn public() -> ServerLimits {
        ServerLimits {
            bots: BotPolicy {
                usual: Budget::nodes(20_000),
                time: Duration::from_secs(5),
                nodes: 500_000,
                depth: 12,
                threads: 1,
                megabytes: 64,
            },
            bounds_depth: true,
            waiting: 2,
            analysis_nodes: Analyst::STAGES[Analyst::STAGES.len() - 1],
            players_megabytes: 64,
            sockets: 16_384,
            sockets_each: 512,
            connections: Rate::per_second(50.0, 600.0),
            messages: Rate::per_second(50.0, 500.0),
            games: Rate { burst: 20.0, per_second: 6.0 / 60.0 },
            games_a_day: Rate::per_day(500.0),
            imports: Rate { burst: 4e6, per_second: 1e6 / 60.0 },
            growth: Rate { burst: 1e6, per_second: 1e3 },
            game_bytes: 256 << 10,
            folder_games: 1_000_000,
            ..ServerLimits::default()
        }
    }
}

impl ServerLimits {
    /// What players of kept games may be: as much as a user alone may ask for, or more. A game that was begun is read, whatever
    /// bounds the server has by now.
    pub(crate) fn of_kept_games(&self) -> BotPolicy {
        let (alone, now) = (ServerLimits::default().bots, self.bots);
        BotPolicy {
            usual: now.usual,
            time: alone.time.max(now.time),
            nodes: alone.nodes.max(now.nodes),
            depth: alone.depth.max(now.depth),
            threads: alone.threads.max(now.threads),
            megabytes: alone.megabytes.max(now.megabytes),
        }
    }
}

fn cores() -> NonZeroUsize {
    available_parallelism().unwrap_or(NonZeroUsize::MIN)
}

/// Counts what is taken at a rate: full at first, and filled again as time goes by.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bucket {
    missing: f64,
    at: Instant,
}

impl Bucket {
    pub(crate) fn full(now: Instant) -> Bucket {
        Bucket { missing: 0.0, at: now }
    }

    /// Takes an amount, or says how long it will not be there. An amount beyond the burst is there when the bucket is full.
    pub(crate) fn take(&mut self, rate: &Rate, amount: f64, now: Instant) -> Result<(), Duration> {
        self.fill(rate, now);
        let over = self.missing + amount.min(rate.burst) - rate.burst;
        if over > 0.0 {
            return Err(Duration::try_from_secs_f64(over / rate.per_second).unwrap_or(Duration::MAX));
        }
        self.missing += amount;
        Ok(())
    }

    /// Takes an amount that was spent already; what is not there is missing later.
    pub(crate) fn spend(&mut self, rate: &Rate, amount: f64, now: Instant) {
        self.fill(rate, now);
        self.missing += amount;
    }

    /// Whether nothing is missing.
    pub(crate) fn is_full(&mut self, rate: &Rate, now: Instant) -> bool {
        self.fill(rate, now);
        self.missing <= 0.0
    }

    fn fill(&mut self, rate: &Rate, now: Instant) {
        let came = now.saturating_duration_since(self.at).as_secs_f64() * rate.per_second;
        self.missing = (self.missing - came).max(0.0);
        self.at = now;
    }
}

/// What a visitor has asked too much of.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum LimitError {
    #[error("{0} requests of yours wait for an engine already: wait for them, or close other pages")]
    Busy(usize),
    #[error("too many {what} from your address: try again in {} s", .wait.as_secs().saturating_add(1))]
    Rate { what: &'static str, wait: Duration },
    #[error("this game has {0} bytes on the disk, and may have no more: start a new one from its position")]
    GameSize(u64),
    #[error("this server has {0} games, and keeps no more")]
    FolderFull(u64),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bucket_is_filled_again() {
        let rate = Rate::per_second(2.0, 4.0);
        let start = Instant::now();
        let at = |millis| start + Duration::from_millis(millis);
        let mut bucket = Bucket::full(start);
        for _ in 0..4 {
            assert_eq!(bucket.take(&rate, 1.0, at(0)), Ok(()));
        }
        assert_eq!(bucket.take(&rate, 1.0, at(0)), Err(Duration::from_millis(500)));
        assert_eq!(bucket.take(&rate, 1.0, at(250)), Err(Duration::from_millis(250)));
        assert_eq!(bucket.take(&rate, 1.0, at(500)), Ok(()));
        assert!(!bucket.is_full(&rate, at(1500)) && bucket.is_full(&rate, at(2500)));
        // More than the burst is taken from a full bucket, and owed.
        assert_eq!(bucket.take(&rate, 8.0, at(2500)), Ok(()));
        assert_eq!(bucket.take(&rate, 1.0, at(2500)), Err(Duration::from_millis(2500)));
        bucket.spend(&rate, 100.0, at(2500));
        assert!(bucket.take(&rate, 1.0, at(10_000)).is_err());
    }
}
