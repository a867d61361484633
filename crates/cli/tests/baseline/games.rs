//! 230 games of all families of players, by budgets of nodes and playouts: every byte of their records is compared.

use std::fs;

use crate::support::{compare_lines, fixtures, run};

/// Tags that records did not have then.
pub(crate) const NEW_TAGS: [&str; 2] = ["FirstEngine", "SecondEngine"];

/// Records without the tags that did not exist then.
pub(crate) fn without_new_tags(records: &str) -> String {
    let is_new = |line: &str| {
        let name = line.strip_prefix('[').and_then(|tag| tag.split_once(' ')).map(|(name, _)| name);
        name.is_some_and(|name| NEW_TAGS.contains(&name))
    };
    records.split_inclusive('\n').filter(|line| !is_new(line)).collect()
}

fn replay(plan: &str, games: usize) {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures().join(format!("games/{plan}.toml"));
    run(dir.path(), &["tournament", path.to_str().unwrap(), "--dir", "match"]);
    let records = fs::read_to_string(dir.path().join("match/games.anqi")).unwrap();
    assert_eq!(records.matches("[Event ").count(), games);
    compare_lines(&format!("games/{plan}.anqi"), &records, without_new_tags);
}

#[test]
fn every_preset_plays_the_same_games() {
    replay("presets", 156);
}

#[test]
fn options_of_every_family_play_the_same_games() {
    replay("options", 42);
}

#[test]
fn small_boards_and_the_other_ladder_play_the_same_games() {
    replay("small", 24);
    replay("hongkong", 8);
}

#[test]
fn only_new_tags_are_dropped() {
    let then = "[First \"random\"]\n[Luck \"0.1\"]\n\n1. a1(p) {[%nodes 5]} *\n";
    let now =
        "[First \"random\"]\n[FirstEngine \"1f\"]\n[Luck \"0.1\"]\n[SecondEngine \"2e\"]\n\n1. a1(p) {[%nodes 5]} *\n";
    assert_eq!(without_new_tags(now), then);
    assert_eq!(without_new_tags(then), then);
}
