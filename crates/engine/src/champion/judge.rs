//! What the champion thinks of a position without looking ahead.

use anqi_rules::{Game, Position};

use super::expectation::{of_chances, of_evaluation};
use crate::eval::{Evaluate, Eyes, Hand, Network};
use crate::score::Score;

/// The learned evaluation where there is one for the game, the one by hand otherwise.
#[derive(Clone)]
pub(super) struct Judge<'a> {
    hand: Hand,
    scale: f32,
    /// Quiet plies that make a draw.
    draw: u16,
    learned: Option<(&'a Network, Eyes)>,
}

impl<'a> Judge<'a> {
    pub(super) fn new(hand: Hand, scale: u32, network: Option<&'a Network>, game: &Game) -> Judge<'a> {
        let learned = network.map(|network| (network, network.eyes(game.position())));
        Judge { hand, scale: scale as f32, draw: game.rules().draw.unwrap_or(u16::MAX), learned }
    }

    /// `P(win) − P(loss)` for the side to move.
    #[inline]
    pub(super) fn expectation(&mut self, position: &Position) -> Score {
        match &mut self.learned {
            Some((network, eyes)) => {
                let left = self.draw.saturating_sub(position.quiet());
                of_chances(network.look(eyes, position, left).chances())
            }
            None => of_evaluation(self.hand.evaluate(position), self.scale),
        }
    }
}
