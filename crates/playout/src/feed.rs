//! `Feed`: somebody who has games to play, one after the other.

use crate::start::PlayoutStart;
use crate::summary::Playout;

/// Somebody who gives out games and takes their results, such as a tree search with several leaves
/// in flight.
///
/// Whenever a game ends its result is handed over, and then the next game asked for; so a feed can
/// let one depend on the other. All lanes are full as long as the feed gives a game whenever it is
/// asked; it may as well refuse, in order to have fewer in flight. It is asked again when another
/// game has ended.
pub trait Feed {
    /// The next game, or `None` if there is none for now.
    fn next(&mut self) -> Option<FeedGame>;

    /// Takes the result of the game that was given this tag.
    fn done(&mut self, tag: u64, playout: Playout);
}

/// A game to play for a [`Feed`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FeedGame {
    /// Comes back with the result.
    pub tag: u64,
    /// Where it starts.
    pub start: PlayoutStart,
    /// Which playout it is.
    pub index: u64,
}
