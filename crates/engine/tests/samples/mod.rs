//! Positions of random games.

use anqi_rules::{Deal, Game, Position, Rules, Seed};
use rand_core::Rng;

/// So many positions that are `wanted`.
pub(crate) fn positions(rules: &Rules, seed: &Seed, count: usize, wanted: impl Fn(&Position) -> bool) -> Vec<Position> {
    let mut found = Vec::new();
    for number in 0u32.. {
        let seed = seed.child(number.to_le_bytes());
        let deal = Deal::new(rules, &seed);
        let mut rng = seed.child("moves").rng();
        let mut game = Game::new(*rules);
        while game.outcome().is_none() {
            let moves = game.legal_moves();
            let drawn = moves[rng.next_u32() as usize % moves.len()];
            game.play(deal.resolve(drawn).unwrap()).unwrap();
            if game.outcome().is_none() && wanted(game.position()) && rng.next_u32().is_multiple_of(8) {
                found.push(*game.position());
                if found.len() == count {
                    return found;
                }
            }
        }
    }
    found
}
