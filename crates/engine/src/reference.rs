//! The player that Jouandeau & Cazenave measure theirs against (section 4.3): it "simply plays randomly
//! when pieces are unrevealed and otherwise applies minimax to find the best move".

use anqi_rules::{Game, Seed};
use anqi_task::Stop;

use crate::eval::Evaluation;
use crate::limits::Limits;
use crate::minimax::chen::{Chen, ChenOptions, Flips};
use crate::options::{Names, options};
use crate::player::{Choice, Player, Purpose};
use crate::random::Random;
use crate::resources::Resources;

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0x1d0c_d62d_bcf3_a1ac;

options! {
    /// What the reference player can be told. The paper gives neither depth nor evaluation.
    pub struct ReferenceOptions {
        depth: u32 = 5, 1..=100, "plies to look ahead once everything is revealed";
        eval: Evaluation = Evaluation::Draw, Names(Evaluation::NAMES), "evaluation function";
    }
}

/// The reference player.
#[derive(Debug)]
pub(crate) struct Reference {
    depth: u32,
    random: Random,
    minimax: Chen,
}

impl Reference {
    pub(crate) fn new(options: &ReferenceOptions, seed: &Seed, resources: &Resources) -> Reference {
        let minimax = ChenOptions { flips: Flips::Never, eval: options.eval, table: 1, ..ChenOptions::default() };
        Reference {
            depth: options.depth,
            random: Random { seed: seed.child("random") },
            minimax: Chen::new(&minimax, seed.child("minimax"), resources),
        }
    }
}

impl Reference {
    fn think(&mut self, game: &Game, limits: &Limits, stop: &Stop, purpose: Purpose) -> Option<Choice> {
        if !game.position().hidden().is_empty() {
            return self.random.choose(game, limits, stop);
        }
        let depth = limits.depth.map_or(self.depth, |depth| depth.min(self.depth));
        self.minimax.think(game, &Limits { depth: Some(depth), ..*limits }, stop, purpose)
    }
}

impl Player for Reference {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Choice)
    }

    fn analyse(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Analysis)
    }

    fn reseed(&mut self, seed: Seed) {
        self.random.reseed(seed.child("random"));
        self.minimax.reseed(seed.child("minimax"));
    }
}
