//! Games of archived experiments, played again.

use std::fs;

use anqi_lab::{Plan, PlanFile};
use anqi_records::{Reader, Record};

use crate::games::NEW_TAGS;
use crate::support::{in_old_words, root, run};

/// What is compared of a game: its tags but the number of the pair, its plies, its result. Archives have no comments.
fn meaning(record: &Record) -> String {
    let tags = record.tags().iter().filter(|(name, _)| *name != "Round" && !NEW_TAGS.contains(name));
    let tags: Vec<String> = tags.map(|(name, value)| format!("{name} {}", in_old_words(value))).collect();
    let plies: Vec<String> = record.plies().iter().map(|played| played.ply.to_string()).collect();
    format!("{}\n{}\n{}", tags.join("\n"), plies.join(" "), record.result())
}

fn games(text: &[u8]) -> Vec<String> {
    Reader::new(text).unwrap().map(|entry| meaning(&entry.unwrap().record)).collect()
}

/// Plays the first pair of each pairing of the first `players` of an archived plan, and finds the games in the archive.
fn replay(experiment: &str, players: usize) {
    let folder = root().join("experiments").join(experiment);
    let archive = zstd::decode_all(&fs::read(folder.join("games.anqi.zst")).unwrap()[..]).unwrap();
    let mut file: PlanFile = fs::read_to_string(folder.join("plan.toml")).unwrap().parse().unwrap();
    // A deal depends on the round and a player's seed on its place in the plan: fewer pairings play the same games.
    file.players.truncate(players);
    file.pairs = Some(1);
    let dir = tempfile::tempdir().unwrap();
    fs::write(dir.path().join("plan.toml"), Plan::new(&file).unwrap().to_string()).unwrap();
    run(dir.path(), &["tournament", "plan.toml", "--dir", "match"]);
    let archived = games(&archive);
    let played = games(&fs::read(dir.path().join("match/games.anqi")).unwrap());
    assert!(played.len() >= 2);
    for game in played {
        assert!(archived.contains(&game), "{experiment} has no such game:\n{game}");
    }
}

#[test]
fn programs_of_chen_choose_the_same() {
    replay("chen-table2/runs/2026-11-15-7cdb304", 3);
}

#[test]
fn parts_of_the_course_program_play_the_same() {
    replay("course-parts/runs/2026-11-15-7cdb304", 3);
}

#[test]
fn tree_searches_play_the_same() {
    replay("jouandeau-table4/runs/2026-11-15-8bc2d57", 2);
}
