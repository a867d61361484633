//! The match server's own games, where they are at hand: `ANQI_SERVER_GAMES=path`, or the file
//! `../shared/data/server-games.txt` beside the workspace. They are not ours to publish.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::path::PathBuf;

use anqi_records::{EndingCheck, Format, Reader, Record, ReplayTotals, Stats, Writer, replay};
use anqi_rules::Rules;

fn server_games() -> Option<Vec<u8>> {
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data/server-games.txt");
    let path = std::env::var_os("ANQI_SERVER_GAMES").map_or_else(|| PathBuf::from(beside), PathBuf::from);
    let games = std::fs::read(&path).ok();
    if games.is_none() {
        println!("SKIPPED: no match server's games, set ANQI_SERVER_GAMES to the file that has them");
    }
    games
}

fn records(text: &[u8]) -> Vec<Record> {
    Reader::new(text).unwrap().map(|entry| entry.unwrap().record).collect()
}

fn write(records: &[Record], format: Format) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new(), format);
    records.iter().for_each(|record| writer.write(record).unwrap());
    writer.into_inner()
}

#[test]
fn every_ply_is_legal_and_every_ending_right() {
    let Some(text) = server_games() else { return };
    let mut check = ReplayTotals::default();
    let mut stats = Stats::default();
    for entry in Reader::new(&text[..]).unwrap() {
        let entry = entry.unwrap();
        let replay = replay(&entry.record, Some(Rules::server())).unwrap();
        assert_eq!(replay.illegal, None, "line {}", entry.line);
        assert_eq!(replay.ending, EndingCheck::Equal, "line {}", entry.line);
        check.add(&replay);
        stats.add(&replay);
    }
    println!("{}", serde_json::to_string(&check).unwrap());
    println!("{}", serde_json::to_string_pretty(&stats.summary()).unwrap());
    assert_eq!((check.games, check.endings_equal, check.illegal, check.endings_differ), (1302, 1302, 0, 0));

    // 2,151 games, of which these are a part: 139.3 plies, 31.2 flips, 24.5 captures; 8.22, 16.28, 89.85 choices.
    let summary = stats.summary();
    let near = |value: Option<f64>, about: f64| value.is_some_and(|value| (value / about - 1.0).abs() < 0.1);
    assert!(near(summary.length.map(|length| length.mean), 139.3));
    assert!(near(summary.flips, 31.2) && near(summary.captures, 24.5));
    let branching = summary.branching;
    assert!(near(branching.moves, 8.22));
    assert!(near(branching.with_flip_squares, 16.28) && near(branching.with_flip_outcomes, 89.85));
}

#[test]
fn they_go_out_as_they_came_in() {
    let Some(text) = server_games() else { return };
    let read = records(&text);
    assert!(write(&read, Format::Server) == text, "written back, the file is another");

    let ours = write(&read, Format::Anqi);
    let again = records(&ours);
    assert!(again == read, "by way of our format, the records are others");
    assert!(write(&again, Format::Server) == text, "by way of our format, the file is another");
}
