//! Training rows out of files of records.

use std::fs;

use anqi_assess::{TrainingRow, write_rows};

#[test]
fn quiet_positions_of_games_with_a_result_become_rows() {
    let dir = tempfile::tempdir().unwrap();
    let files = [dir.path().join("games.anqi")];
    // The last ply of the first game takes a piece, so the position before it is left out; the second game has no result.
    let text = "[Rules \"server\"]\n[Position \"4/4/4/4/4/4/4/Kg1R r -\"]\n\n1. d1-d2 b1-b2 2. d2-c2 b2-c2 0-1\n\n\
                [Rules \"server\"]\n\n1. a1(P) *\n\n[Rules \"server\"]\n\n1. nothing 1-0\n";
    fs::write(&files[0], text).unwrap();
    let mut bytes = Vec::new();
    let written = write_rows::<Box<dyn std::error::Error>>(&files, None, &mut bytes).unwrap();
    assert_eq!((written.games, written.positions, written.problems.count()), (2, 3, 1), "{:?}", written.problems);
    assert_eq!(bytes.len(), 3 * TrainingRow::SIZE);
}
