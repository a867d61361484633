//! What the champion thinks of a position without looking ahead.

use anqi_rules::{Color, Game, Position};

use super::expectation::{of_evaluation, of_odds, of_proof, with_edge};
use crate::eval::{Accumulator, Evaluate, Hand, Network};
use crate::score::Score;

/// The learned evaluation where there is one for the game, the one by hand otherwise.
pub(super) struct Evaluator<'a> {
    hand: Hand,
    scale: f32,
    /// Quiet plies that make a draw.
    draw: u16,
    /// Whose turn it is at the root, and the edge of that side over the other.
    turn: Option<Color>,
    edge: f32,
    learned: Option<(&'a Network, Accumulator, Memory)>,
}

/// What the network said of positions lately: captures lead to the same ones in many orders.
struct Memory(Box<[(u64, Score)]>);

impl Memory {
    /// A quarter of a megabyte, which stays close to a core.
    const SLOTS: usize = 1 << 14;

    fn new() -> Memory {
        Memory(vec![(0, Score::DRAW); Memory::SLOTS].into_boxed_slice())
    }

    #[inline]
    fn slot(&mut self, key: u64) -> &mut (u64, Score) {
        &mut self.0[key as usize % Memory::SLOTS]
    }
}

impl<'a> Evaluator<'a> {
    pub(super) fn new(hand: Hand, scale: u32, network: Option<&'a Network>, game: &Game, edge: f32) -> Evaluator<'a> {
        let learned = network.map(|network| (network, network.accumulator(game.position()), Memory::new()));
        let turn = game.position().turn();
        let edge = if turn.is_some() { edge } else { 0.0 }; // before the first flip no side has a colour
        Evaluator { hand, scale: scale as f32, draw: game.rules().draw().unwrap_or(u16::MAX), turn, edge, learned }
    }

    /// `P(win) − P(loss)` for the side to move, against the other side as strong as it is taken to be.
    #[inline]
    pub(super) fn expectation(&mut self, position: &Position) -> Score {
        let edge = if position.turn() == self.turn { self.edge } else { -self.edge };
        match &mut self.learned {
            Some((network, accumulator, memory)) => {
                let urgency = Network::urgency(self.draw.saturating_sub(position.quiet()));
                let key = position.hash() ^ (urgency as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
                let slot = memory.slot(key);
                if slot.0 != key {
                    *slot = (key, of_odds(network.look(accumulator, position, urgency).odds(), edge));
                }
                slot.1
            }
            None => with_edge(of_evaluation(self.hand.evaluate(position), self.scale), edge),
        }
    }

    /// A score of the root as between equals. A draw is a draw, and a proof a proof.
    pub(super) fn told(&self, score: Score) -> Score {
        if score == Score::DRAW || score != of_proof(score) { score } else { with_edge(score, -self.edge) }
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Deal, Rules, Seed};

    use super::*;
    use crate::eval::Linear;

    /// Remembered or not, near a draw or not: an evaluator that has seen a whole game says what a fresh one says.
    #[test]
    fn what_is_remembered_is_what_would_be_said() {
        let network = Network::own().unwrap();
        let (rules, seed) = (Rules::server(), Seed::from(7));
        let (deal, mut game) = (Deal::new(&rules, &seed), Game::new(rules));
        game.play(deal.resolve(game.legal_moves()[0]).unwrap()).unwrap();
        let evaluator = |game: &Game| Evaluator::new(Hand::with_weights(&[]), 1000, Some(&network), game, 0.0);
        let mut old = evaluator(&game);
        for ply in 0.. {
            if game.outcome().is_some() {
                break;
            }
            let position = game.position();
            for position in [*position, position.after_pass(), *position] {
                assert_eq!(old.expectation(&position), evaluator(&game).expectation(&position), "{position}");
            }
            let moves = game.legal_moves();
            game.play(deal.resolve(moves[ply * 7 % moves.len()]).unwrap()).unwrap();
        }
        assert!(game.plies().len() > 40);
        // The same position, soon drawn and not.
        let [calm, late] =
            ["1m2/4/1g2/g3/4/4/1c2/2P1 b - 0", "1m2/4/1g2/g3/4/4/1c2/2P1 b - 57"].map(|text| text.parse().unwrap());
        assert_ne!(old.expectation(&calm), old.expectation(&late));
    }
}
