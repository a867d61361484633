//! Who is there: the players of a game whose seats are held by tokens, and what is waited for.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use serde::Serialize;
use tokio::task::AbortHandle;

use crate::house::{House, OpenGame};
use crate::seat::Held;

/// How long is waited for players.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Waits {
    /// A player who has been away for so long may be declared to have left.
    pub away: Duration,
    /// Players who are there must reveal their part of a deal in this time.
    pub reveal: Duration,
    /// A game that waits for a player or for parts of its deal begins in this time, or never.
    pub begin: Duration,
}

/// A minute, half a minute, and a day.
impl Default for Waits {
    fn default() -> Waits {
        Waits {
            away: Duration::from_secs(60),
            reveal: Duration::from_secs(30),
            begin: Duration::from_secs(24 * 60 * 60),
        }
    }
}

/// Whether a player is there.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Presence {
    /// It was invited and has not come.
    Invited,
    Here,
    Away,
    /// Away for so long that the other player may claim the game.
    Gone,
}

/// The place of a player: how many of its connections are there.
#[derive(Clone, Copy)]
pub(crate) struct Place {
    connections: usize,
    away_since: Instant,
    is_gone: bool,
}

impl Default for Place {
    fn default() -> Place {
        Place { connections: 0, away_since: Instant::now(), is_gone: false }
    }
}

impl Place {
    pub(crate) fn presence(&self) -> Presence {
        match (self.connections, self.is_gone) {
            (0, false) => Presence::Away,
            (0, true) => Presence::Gone,
            _ => Presence::Here,
        }
    }

    /// How long it takes until the player has been away for so long; `None` if it has, or is here.
    pub(crate) fn until_gone(&self, after: Duration) -> Option<Duration> {
        (self.presence() == Presence::Away).then(|| after.saturating_sub(self.away_since.elapsed()))
    }

    pub(crate) fn has_been_away_for(&self, time: Duration) -> bool {
        self.connections == 0 && self.away_since.elapsed() >= time
    }

    /// A connection comes or goes. Says whether the player does.
    pub(crate) fn note(&mut self, comes: bool) -> bool {
        let before = self.presence();
        self.connections = if comes { self.connections + 1 } else { self.connections.saturating_sub(1) };
        if self.connections == 0 {
            self.away_since = Instant::now();
        }
        self.is_gone = false;
        self.presence() != before
    }

    pub(crate) fn note_gone(&mut self, after: Duration) -> bool {
        let before = self.is_gone;
        self.is_gone = self.has_been_away_for(after);
        self.is_gone != before
    }
}

/// A connection that acts for seats of a game, until it is dropped.
pub(crate) struct Sitting {
    house: Arc<House>,
    open_game: Arc<OpenGame>,
    pub(crate) held: Held,
}

impl Sitting {
    pub(crate) fn new(house: &Arc<House>, open_game: &Arc<OpenGame>, held: Held) -> Sitting {
        open_game.note_presence(held, true);
        house.wait_for_players(open_game);
        Sitting { house: Arc::clone(house), open_game: Arc::clone(open_game), held }
    }
}

impl Drop for Sitting {
    fn drop(&mut self) {
        self.open_game.note_presence(self.held, false);
        self.house.wait_for_players(&self.open_game);
    }
}

/// The one timer of a game for what is waited for.
#[derive(Default)]
pub(crate) struct Timer(Mutex<Option<AbortHandle>>);

impl Timer {
    fn set(&self, task: Option<AbortHandle>) {
        let mut timer = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(before) = std::mem::replace(&mut *timer, task) {
            before.abort();
        }
    }
}

impl OpenGame {
    fn note_presence(&self, held: Held, comes: bool) {
        let mut hosted = self.hosted();
        if hosted.note_presence(held, comes) {
            self.tell(&hosted);
        }
    }
}

impl House {
    /// Lets time pass for those who are away, and for what must happen before the first ply. It is called whenever one of these
    /// has changed.
    pub(crate) fn wait_for_players(self: &Arc<House>, open_game: &Arc<OpenGame>) {
        // Without a runtime the server is going down.
        let Ok(runtime) = tokio::runtime::Handle::try_current() else { return };
        let left = open_game.hosted().next_wait(self.waits());
        let (house, game) = (Arc::downgrade(self), Arc::downgrade(open_game));
        let task = left.map(|left| {
            runtime.spawn(async move {
                tokio::time::sleep(left + TICK).await;
                if let Some((house, open_game)) = house.upgrade().zip(game.upgrade()) {
                    house.time_is_up(&open_game);
                }
            })
        });
        open_game.timer.set(task.map(|task| task.abort_handle()));
    }

    /// A player has left, or the game has not begun in time.
    fn time_is_up(self: &Arc<House>, open_game: &Arc<OpenGame>) {
        let ended = {
            let mut hosted = open_game.hosted();
            if hosted.note_gone(self.waits().away) {
                open_game.tell(&hosted);
            }
            let due = hosted.opening_wait(self.waits()).filter(|(_, left)| left.is_zero());
            due.map(|(why, _)| hosted.make_void(self.dir(), why))
        };
        if let Some(ended) = ended {
            self.go_on(open_game);
            if let Err(error) = ended {
                open_game.tell_trouble(Some(error.to_string()));
                // The next connection tries again.
                return;
            }
        }
        self.wait_for_players(open_game);
    }
}

/// Beyond the time that is waited for, so that it is over for certain.
const TICK: Duration = Duration::from_millis(5);
