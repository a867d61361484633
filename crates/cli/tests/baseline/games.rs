//! 230 games of all families of players, by budgets of nodes and playouts: every byte of their records is compared.

use std::env;
use std::ffi::OsStr;
use std::fs;
use std::process::{Command, Stdio};

use crate::support::{compare_lines, fixtures, in_old_words, line_differences, program, run};

/// Tags that records did not have then.
pub(crate) const NEW_TAGS: [&str; 2] = ["FirstEngine", "SecondEngine"];

/// Records without the tags that did not exist then, in the words of then.
pub(crate) fn without_new_tags(records: &str) -> String {
    let records = in_old_words(records);
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

/// The games of a plan by a program, with other deals and as many pairs of each pairing.
fn games_of(program: &OsStr, plan: &str, pairs: u64) -> String {
    let dir = tempfile::tempdir().unwrap();
    let path = fixtures().join(format!("games/{plan}.toml"));
    let mut command = Command::new(program);
    command.arg("tournament").arg(path).args(["--seed", "99", "--dir", "match", "--pairs", &pairs.to_string()]);
    assert!(command.current_dir(dir.path()).stdout(Stdio::null()).status().unwrap().success());
    fs::read_to_string(dir.path().join("match/games.anqi")).unwrap()
}

/// Many games beside the program that `ANQI_BASELINE` names: 10,000, or `ANQI_GAMES`.
#[test]
#[ignore = "takes minutes; scripts/baseline builds the program of c3a29fa and runs this"]
fn both_programs_play_the_same_games() {
    let baseline = env::var_os("ANQI_BASELINE").expect("ANQI_BASELINE must name the program of c3a29fa");
    let games: u64 = env::var("ANQI_GAMES").map_or(10_000, |games| games.parse().unwrap());
    let mut compared = 0;
    for (plan, pairings) in [("presets", 78), ("options", 21), ("small", 6), ("hongkong", 2)] {
        let pairs = (games / 4).div_ceil(2 * pairings);
        let (then, now) = (games_of(&baseline, plan, pairs), games_of(&program(), plan, pairs));
        let differences = line_differences(&without_new_tags(&then), &without_new_tags(&now));
        assert!(differences.is_empty(), "{plan}: {}", differences[..differences.len().min(20)].join("\n"));
        compared += now.matches("[Event ").count();
    }
    println!("{compared} games are the same");
}

#[test]
fn only_new_tags_are_dropped() {
    let then = "[First \"random\"]\n[Luck \"0.1\"]\n\n1. a1(p) {[%nodes 5]} *\n";
    let now =
        "[First \"random\"]\n[FirstEngine \"1f\"]\n[Luck \"0.1\"]\n[SecondEngine \"2e\"]\n\n1. a1(p) {[%nodes 5]} *\n";
    assert_eq!(without_new_tags(now), then);
    assert_eq!(without_new_tags(then), then);
}
