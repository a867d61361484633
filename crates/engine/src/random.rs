//! The player that draws its moves from a hat.

use anqi_rules::{Game, Seed};
use anqi_task::Stop;
use rand_core::Rng;

use crate::limits::Limits;
use crate::player::{Choice, Player, SearchStats};
use crate::score::Score;

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0xdd8b_3557_1900_e7d8;

/// Plays any legal move, all equally likely.
#[derive(Debug)]
pub(crate) struct Random {
    pub(crate) seed: Seed,
}

impl Player for Random {
    fn choose(&mut self, game: &Game, _: &Limits, _: &Stop) -> Option<Choice> {
        let moves = game.legal_moves();
        let mut rng = self.seed.child(format!("ply {}", game.plies().len())).rng();
        let drawn = (u64::from(rng.next_u32()) * moves.len() as u64) >> 32;
        let mv = *moves.get(drawn as usize)?;
        Some(Choice { mv, score: Score::DRAW, pv: vec![mv], candidates: Vec::new(), stats: SearchStats::default() })
    }

    fn reseed(&mut self, seed: Seed) {
        self.seed = seed;
    }
}
