//! Players of ours that wait for the next move of their game. They live as long as it does, if the memory suffices.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};

use anqi_engine::{BuildError, Resources};
use anqi_play::{Bot, Thinker};
use anqi_rules::Seat;

use crate::house::OpenGame;

/// All waiting players together keep no more; then the one that has waited longest goes, and is built anew when its
/// game needs it. Its choices do not depend on that.
const MOST_MEGABYTES: u32 = 2048;

/// The waiting players of a house, the longest waiting first.
#[derive(Default)]
pub(crate) struct Thinkers(Mutex<Vec<Waiting>>);

struct Waiting {
    game: Weak<OpenGame>,
    seat: Seat,
    megabytes: u32,
    thinker: Thinker,
}

impl Thinkers {
    fn waiting(&self) -> MutexGuard<'_, Vec<Waiting>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
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
        while all > MOST_MEGABYTES {
            all -= waiting.remove(0).megabytes;
        }
    }
}
