//! `View`: everything about a live game that a face may show.

use std::time::Duration;

use anqi_rules::{Commitment, Game, Seat};

use crate::occupant::Occupant;
use crate::terms::Secret;

/// Everything that a face may show of a live game, and nothing hidden.
#[expect(missing_debug_implementations, reason = "the secret has none")]
pub struct View<'a> {
    /// Rules, position, plies, outcome.
    pub game: &'a Game,
    /// Who sits where.
    pub seats: &'a [Occupant; 2],
    /// What the clocks of the first and the second player show.
    pub clocks: [Option<Duration>; 2],
    /// Whose clock runs.
    pub running: Option<Seat>,
    /// Who has offered a draw that stands.
    pub offer: Option<Seat>,
    /// Whether there is a decision of a human to take back.
    pub can_take_back: bool,
    /// How many take-backs there were.
    pub take_backs: u32,
    /// What was promised about the deal.
    pub commitment: Option<Commitment>,
    /// The secret of the deal, once the game is over.
    pub told: Option<&'a Secret>,
}
