//! Levels: players from beginner to full strength, rated against each other.

use serde::Serialize;

/// A level of play.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Level {
    /// From 1.
    pub number: usize,
    /// Who plays, with its budget; a budget of playouts plays the same everywhere.
    pub player: &'static str,
    /// The rating in `benchmarks/2026-11-15/levels`, where level 1 has 0, and half of its 95 % interval.
    pub elo: [i32; 2],
}

const fn level(number: usize, player: &'static str, elo: [i32; 2]) -> Level {
    Level { number, player, elo }
}

/// All levels, the weakest first.
pub static LEVELS: [Level; 8] = [
    level(1, "random nodes=1", [0, 0]),
    level(2, "mcts:chance,memory=16,cut=30 playouts=30", [0, 0]),
    level(3, "mcts:chance,memory=16,cut=30 playouts=100", [0, 0]),
    level(4, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=150", [0, 0]),
    level(5, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=500", [0, 0]),
    level(6, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=1500", [0, 0]),
    level(7, "mcts:chance,memory=32,cut=30,minimax=0.7,bias=20,quality=1 playouts=5000", [0, 0]),
    level(8, "mcts:chance,memory=64,cut=30,minimax=0.7,bias=20,quality=1 playouts=16000", [0, 0]),
];
