//! `ReplayTotals`: what the rules say about many records, in numbers.

use serde::Serialize;

use crate::replay::{EndingCheck, Replay};

/// Totals over many replays. Endings that could not be compared are in neither of the last two.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize)]
pub struct ReplayTotals {
    /// Records that were replayed.
    pub games: u64,
    /// Plies in them.
    pub plies: u64,
    /// Plies that the rules refuse, at most one a game: what follows it cannot be judged.
    pub illegal: u64,
    /// Recorded endings that the board confirms.
    pub endings_equal: u64,
    /// Recorded endings that it does not.
    pub endings_differ: u64,
    /// Records that could not be read or replayed.
    pub damaged: u64,
}

impl ReplayTotals {
    /// Counts a replay.
    pub fn add(&mut self, replay: &Replay) {
        self.games += 1;
        self.plies += (replay.game.plies().len() + replay.unplayed) as u64;
        self.illegal += u64::from(replay.illegal.is_some());
        match replay.ending {
            EndingCheck::Equal => self.endings_equal += 1,
            EndingCheck::Differs { .. } => self.endings_differ += 1,
            EndingCheck::Unstated => {}
        }
    }

    /// Counts a record that could not be read or replayed.
    pub fn add_damaged(&mut self) {
        self.damaged += 1;
    }

    /// Whether everything was in order.
    #[must_use]
    pub const fn is_clean(&self) -> bool {
        self.illegal == 0 && self.endings_differ == 0 && self.damaged == 0
    }
}
