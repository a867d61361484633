//! The pages that have a game open hear of every change of it: once, in order, and no more than what has changed.

use std::sync::{Arc, Mutex, PoisonError};

use anqi_rules::Ply;
use tokio::sync::broadcast;

use crate::hosted::HostedGame;
use crate::view::{Change, GameView};
use crate::wire::{self, Event};

/// A page that is further behind than this is sent the whole game.
const MOST_UNHEARD: usize = 16;

/// A change, and the message that tells it.
pub(crate) struct Told {
    pub(crate) change: Change,
    pub(crate) text: String,
}

/// What was told last, and the channel to the watchers. The game is locked during every call.
pub(crate) struct Watchers {
    last: Mutex<Last>,
    channel: broadcast::Sender<Arc<Told>>,
}

struct Last {
    version: u64,
    plies: Vec<Ply>,
}

impl Watchers {
    pub(crate) fn new(hosted: &HostedGame) -> Watchers {
        let last = Last { version: 0, plies: hosted.game().plies().to_vec() };
        Watchers { last: Mutex::new(last), channel: broadcast::Sender::new(MOST_UNHEARD) }
    }

    /// The game now; clocks have run since the last change.
    pub(crate) fn view(&self, hosted: &HostedGame) -> GameView {
        let last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        GameView::of(hosted, last.version)
    }

    /// The game now, and every change from now on.
    pub(crate) fn watch(&self, hosted: &HostedGame) -> (GameView, broadcast::Receiver<Arc<Told>>) {
        (self.view(hosted), self.channel.subscribe())
    }

    /// Whether a page has the game open.
    pub(crate) fn is_watched(&self) -> bool {
        self.channel.receiver_count() > 0
    }

    /// Tells what has changed.
    pub(crate) fn tell(&self, hosted: &HostedGame) {
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        let version = last.version + 1;
        let change = Change::of(hosted, &last.plies, version);
        last.version = version;
        last.plies.truncate(change.kept());
        last.plies.extend_from_slice(&hosted.game().plies()[change.kept()..]);
        // The number rises without listeners too: a page may have looked at the game without listening.
        if self.is_watched() {
            let text = wire::text(&Event::Change(change.clone().into()));
            let _ = self.channel.send(Arc::new(Told { change, text }));
        }
    }
}
