//! Perft: every count of `data/perft.txt`, exactly.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anqi_rules::{PerftCase, Position, Rules, divide, perft, perft_visiting};

/// Compares `count` with every expected number up to `largest`; says how many there were.
fn check(largest: u64, count: impl Fn(&Position, u32) -> u64) -> usize {
    let lines = include_str!("../../../data/perft.txt").lines().filter(|line| !line.starts_with('#'));
    let mut checked = 0;
    for line in lines {
        let PerftCase { position, counts } = PerftCase::parse(line, &Rules::default()).unwrap();
        for (depth, expected) in counts.into_iter().filter(|&(_, leaves)| leaves <= largest) {
            assert_eq!(count(&position, depth), expected, "depth {depth} of {position}");
            checked += 1;
        }
    }
    checked
}

#[test]
fn every_count_of_the_file() {
    assert_eq!(check(u64::MAX, perft), 120);
}

#[test]
fn visiting_every_leaf_gives_the_same() {
    assert_eq!(check(3_000_000, perft_visiting), 101);
}

#[test]
fn the_parts_of_divide_add_up() {
    let checked = check(3_000_000, |position, depth| {
        let parts = divide(position, depth);
        assert_eq!(parts.len() as u64, perft(position, 1), "one part for each first ply of {position}");
        parts.into_iter().map(|(_, leaves)| leaves).sum()
    });
    assert_eq!(checked, 101);
}

#[test]
fn depth_zero_is_the_position_itself() {
    let position: Position = "2K1/4/4/4/4/4/4/p3 r -".parse().unwrap();
    assert_eq!((perft(&position, 0), perft_visiting(&position, 0)), (1, 1));
    assert!(divide(&position, 0).is_empty());
}

#[test]
fn a_line_that_holds_no_counts_says_why() {
    let error = |line| PerftCase::parse(line, &Rules::default()).unwrap_err().to_string();
    for (line, expected) in [
        ("2K1/4/4/4/4/4/4/p3 r -", "expected POSITION ; D1 COUNT"),
        ("nowhere ; D1 3", "bad POSITION: "),
        ("start ; D1", "expected pairs of depth and count"),
        ("start ;", "expected pairs of depth and count"),
        ("start ; 1 3", "\"1\" is not a depth"),
        ("start ; D1 many", "\"many\" is not a count"),
    ] {
        assert!(error(line).starts_with(expected), "{line}: {}", error(line));
    }
}
