//! Levels: players from beginner to full strength, rated against each other.

use serde::Serialize;

/// A level of play.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Level {
    /// From 1.
    pub number: usize,
    /// Who plays, with its budget; a budget of nodes or playouts plays the same everywhere.
    pub player: &'static str,
    /// The rating in `benchmarks/2026-11-15/levels`, moved so that level 1 has 0, and half of its 95 % interval there.
    pub elo: [i32; 2],
}

const fn level(number: usize, player: &'static str, elo: [i32; 2]) -> Level {
    Level { number, player, elo }
}

/// All levels, the weakest first.
pub static LEVELS: [Level; 8] = [
    level(1, "random nodes=1", [0, 55]),
    level(2, "mcts:chance,memory=16,cut=30 playouts=30", [283, 46]),
    level(3, "mcts:chance,memory=16,cut=30 playouts=100", [389, 45]),
    level(4, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=150", [715, 48]),
    level(5, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=500", [975, 45]),
    level(6, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=1500", [1116, 41]),
    level(7, "champion,hash=4 nodes=1000", [1227, 43]),
    level(8, "champion,hash=16 nodes=200000", [1227, 43]),
];
