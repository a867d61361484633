//! On small boards a search to the end gives the exact values of the game.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_engine::{Limits, PlayerSpec, Resources, Score, Stop};
use anqi_rules::{Game, Rules, Seed};

/// `P(win) − P(loss)` of the first flip on each square, from a full search of every action.
fn check(board: &str, army: &str, depth: u32, expected: &[(&str, f64)]) {
    let rules: Rules = format!("chen,board={board},army={army},draw=off,repeat=off").parse().unwrap();
    let spec: PlayerSpec = "chen:enhance,below=flips,condition=off,eval=outcome,table=256".parse().unwrap();
    let choice = spec
        .build(Seed::from(1), &Resources::default())
        .unwrap()
        .analyse(&Game::new(rules), &Limits::depth(depth), &Stop::default())
        .unwrap();
    for (square, value) in expected {
        let flip = choice.candidates.iter().find(|candidate| candidate.mv.to_string() == *square).unwrap();
        let found = f64::from(flip.score.0) / f64::from(Score::WIN.0);
        assert!((found - value).abs() < 1e-5, "{board} {army} {square}: {found} instead of {value}");
    }
}

#[test]
fn two_by_two() {
    for army in ["KP", "KG", "GP", "PP", "KK", "CC"] {
        check("2x2", army, 12, &[("a1", -1.0), ("b2", -1.0)]);
    }
    for army in ["KC", "GC", "CP"] {
        check("2x2", army, 12, &[("a1", -1.0 / 3.0), ("b2", -1.0 / 3.0)]);
    }
}

#[test]
fn three_by_two() {
    check("3x2", "PPP", 16, &[("a1", -1.0 / 5.0), ("b1", 3.0 / 5.0)]);
    check("3x2", "KPP", 20, &[("a1", 1.0 / 45.0), ("b1", 1.0 / 3.0)]);
    check("3x2", "CPP", 20, &[("a1", -1.0 / 10.0), ("b1", -1.0 / 15.0)]);
    check("3x2", "CCC", 20, &[("a1", -2.0 / 5.0), ("b1", -2.0 / 5.0)]);
}

/// Six different kinds: a larger tree. `cargo test --release -p anqi-engine -- --ignored`.
#[test]
#[ignore = "minutes; run with --release -- --ignored"]
fn three_by_two_with_six_kinds() {
    check("3x2", "KGP", 24, &[("a1", 11.0 / 120.0), ("b1", 13.0 / 40.0)]);
}
