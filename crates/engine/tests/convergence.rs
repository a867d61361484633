//! Where the exact value of the game is known, chance-nodes approach it as playouts grow.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_engine::{Choice, Limits, PlayerSpec, Resources, Stop};
use anqi_rules::{Game, Rules, Seed};

/// Equal positions share what lies below them, and a node is worth what its best reply is: the means of
/// the printed algorithm get there too, but not within a million playouts.
const PLAYER: &str = "mcts:chance,share,backup=best,ucb=ucb1-tuned,memory=1024";

fn search(player: &str, board: &str, army: &str, playouts: u64) -> Choice {
    let rules: Rules = format!("chen,board={board},army={army},draw=off,repeat=off").parse().unwrap();
    let spec: PlayerSpec = player.parse().unwrap();
    spec.build(Seed::from(1), &Resources::default())
        .unwrap()
        .choose(&Game::new(rules), &Limits::playouts(playouts), &Stop::default())
        .unwrap()
}

/// `P(win) − P(loss)` of the flip preferred, which must be one of `right`, within `tolerance`.
fn check(board: &str, army: &str, playouts: u64, right: &[&str], value: f64, tolerance: f64) {
    let choice = search(PLAYER, board, army, playouts);
    let found = f64::from(choice.score.0) / 1000.0;
    assert!((found - value).abs() < tolerance, "{board} {army}: {found} instead of {value}");
    assert!(right.is_empty() || right.contains(&choice.mv.to_string().as_str()), "{board} {army}: {}", choice.mv);
}

const INNER: [&str; 4] = ["b1", "b2", "c1", "c2"];

#[test]
fn three_by_two() {
    check("3x2", "PPP", 100_000, &["b1", "b2"], 3.0 / 5.0, 0.03);
    check("3x2", "KPP", 100_000, &["b1", "b2"], 1.0 / 3.0, 0.03);
    check("3x2", "CCC", 100_000, &[], -2.0 / 5.0, 0.03);
}

#[test]
fn two_by_four() {
    check("2x4", "NCPP", 200_000, &INNER, 17.0 / 1680.0, 0.06);
    check("2x4", "KCPP", 200_000, &INNER, -1.0 / 84.0, 0.06);
}

/// `cargo test --release -p anqi-engine --test convergence -- --ignored`.
#[test]
#[ignore = "a minute; run with --release -- --ignored"]
fn two_by_four_at_a_million() {
    check("2x4", "NCPP", 1_000_000, &INNER, 17.0 / 1680.0, 0.03);
    check("2x4", "KCPP", 1_000_000, &INNER, -1.0 / 84.0, 0.03);
    // A corner is worth -23/80 here, hardly less: no flip is clearly preferred yet.
    check("2x4", "KPPP", 1_000_000, &[], -9.0 / 40.0, 0.03);
}

/// Two flips without moves between them: the second player of a group-node does not know which piece
/// came up, and the value is another one.
#[test]
fn group_nodes_approach_something_else() {
    let group = search("mcts:group,ucb=ucb1-tuned", "3x2", "KPP", 300_000);
    let found = f64::from(group.score.0) / 1000.0;
    assert!((found - 1.0 / 3.0).abs() > 0.05, "{found}");
}
