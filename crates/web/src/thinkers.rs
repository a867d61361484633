//! Players of ours that wait for the next move of their game. They live as long as it does, if the memory suffices.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use anqi_engine::{BuildError, Resources};
use anqi_play::{Bot, Thinker};
use anqi_rules::Seat;

use crate::house::OpenGame;

/// The waiting players of a house, the longest waiting first.
pub(crate) struct Thinkers {
    waiting: Mutex<Vec<Waiting>>,
    /// All of them together keep no more; then the one that has waited longest goes, and is built anew when its game needs
    /// it. Its choices do not depend on that.
    most_megabytes: u32,
}

struct Waiting {
    game: Weak<OpenGame>,
    seat: Seat,
    megabytes: u32,
    thinker: Thinker,
}

impl Thinkers {
    pub(crate) fn new(most_megabytes: u32) -> Thinkers {
        Thinkers { waiting: Mutex::default(), most_megabytes }
    }

    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The player of a seat: the one that waits, or a new one.
    pub(crate) fn take(
        &self,
        game: &Arc<OpenGame>,
        seat: Seat,
        bot: &Bot,
        resources: &Resources,
    ) -> Result<Thinker, BuildError> {
        let mut waiting = self.waiting();
        let own = |other: &Waiting| other.seat == seat && other.game.as_ptr() == Arc::as_ptr(game);
        match waiting.iter().position(own) {
            Some(place) => Ok(waiting.remove(place).thinker),
            None => {
                // Building it takes a while.
                drop(waiting);
                // A game that was kept may name files that were not opened yet.
                resources.open_for(&bot.player)?;
                bot.thinker(resources)
            }
        }
    }

    /// Lets a player wait for the next move.
    pub(crate) fn put(&self, game: &Arc<OpenGame>, seat: Seat, bot: &Bot, thinker: Thinker) {
        let mut waiting = self.waiting();
        // A search that was stopped may end after the next one: one player is enough for a seat.
        waiting.retain(|other| {
            other.game.strong_count() > 0 && (other.seat != seat || other.game.as_ptr() != Arc::as_ptr(game))
        });
        waiting.push(Waiting { game: Arc::downgrade(game), seat, megabytes: bot.megabytes(), thinker });
        let mut all: u32 = waiting.iter().map(|player| player.megabytes).sum();
        while all > self.most_megabytes {
            all -= waiting.remove(0).megabytes;
        }
    }
}
