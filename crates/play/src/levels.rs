//! Levels: players from beginner to full strength, rated against each other.

use serde::Serialize;

/// A level of play.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Level {
    /// From 1.
    pub number: usize,
    /// Who plays, with its budget; a budget of nodes or playouts plays the same everywhere.
    pub player: &'static str,
    /// The rating in `tests/data/levels`, moved so that level 1 has 0, and half of its 95 % interval there.
    pub elo: [i32; 2],
}

const fn level(number: usize, player: &'static str, elo: [i32; 2]) -> Level {
    Level { number, player, elo }
}

/// All levels, the weakest first.
pub static LEVELS: [Level; 8] = [
    level(1, "random nodes=1", [0, 58]),
    level(2, "mcts:chance,memory=16,cut=30 playouts=30", [285, 55]),
    level(3, "mcts:chance,memory=16,cut=30 playouts=100", [391, 50]),
    level(4, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=150", [701, 49]),
    level(5, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=500", [908, 42]),
    level(6, "mcts:chance,memory=16,cut=30,minimax=0.7,bias=20,quality=1 playouts=1500", [1032, 43]),
    level(7, "champion,hash=4 nodes=1000", [1430, 72]),
    level(8, "champion,hash=16 nodes=200000", [1732, 94]),
];

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    /// What is said of the levels is what was measured of the same players.
    #[test]
    fn ratings_are_those_of_the_tournament() {
        let read = |name| fs::read_to_string(format!("tests/data/levels/{name}")).unwrap();
        let (plan, standings) = (read("plan.toml"), read("standings.txt"));
        let rating = |number: usize| -> [i32; 2] {
            let name = format!("level-{number}");
            let line = standings.lines().find(|line| line.split_whitespace().nth(1) == Some(&name)).unwrap();
            let (before, after) = line.split_once('±').unwrap();
            let last = before.split_whitespace().next_back().unwrap();
            [last.parse().unwrap(), after.split_whitespace().next().unwrap().parse().unwrap()]
        };
        let [zero, _] = rating(1);
        for level in LEVELS {
            assert!(plan.contains(&format!("\"{} name=level-{}\"", level.player, level.number)), "{level:?}");
            let [elo, margin] = rating(level.number);
            assert_eq!(level.elo, [elo - zero, margin], "{level:?}");
        }
    }
}
