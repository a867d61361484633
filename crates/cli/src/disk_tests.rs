//! Commands that write games, on a disk of which every call may fail: the file is there whole or as it was before.

use std::path::Path;
use std::time::Duration;

use anqi_play::{BotPolicy, Command, LiveGame, Secret, Terms};
use anqi_records::Reader;
use anqi_rules::Seed;
use anqi_store::faults::every_fault;
use clap::Parser;

use crate::output::Output;
use crate::{Cli, play, run};

/// A game of two humans that one of them has given up.
fn resigned() -> LiveGame {
    let person = || "person".to_owned();
    let terms = Terms { rules: "server".to_owned(), first: person(), second: person(), ..Terms::default() };
    let secret = Secret::from_seed(&Seed::from(7));
    let mut live = LiveGame::begin(&terms, secret, &BotPolicy::page(1), Duration::ZERO).unwrap();
    for ply in 0..5 {
        let mv = live.game().legal_moves()[0];
        live.apply(live.game().seat(), &Command::Play { mv, ply, used: None }, Duration::ZERO).unwrap();
    }
    live.apply(live.game().seat(), &Command::Resign, Duration::ZERO).unwrap();
    live
}

/// How many games a file holds; `None` if one of them is not whole.
fn games(bytes: &[u8]) -> Option<usize> {
    Reader::new(bytes)
        .ok()?
        .map(|entry| entry.ok().filter(|entry| entry.record.result().name() != "*").map(drop))
        .collect::<Option<Vec<()>>>()
        .map(|all| all.len())
}

/// Runs a command once for every call that it makes and every fault of it.
fn every_call_may_fail(name: &str, count: usize, write: impl Fn(&Path) -> bool) {
    const BEFORE: &[u8] = b"what was there before";
    let runs = every_fault(
        |disk| disk.put(&disk.path().join("games"), BEFORE),
        |disk| write(&disk.path().join("games")),
        |disk, was_written, after| {
            let path = disk.path().join("games");
            let left = disk.peek(&path).unwrap();
            let is_new = games(&left) == Some(count);
            assert!(is_new || left == BEFORE, "{name}, {after:?}: {}", String::from_utf8_lossy(&left));
            assert!(is_new || !was_written, "{name}, {after:?}: what was acknowledged is lost");
            // What a killed writer has left is no obstacle, and does not stay.
            assert!(write(&path), "{name}");
            assert_eq!((games(&disk.peek(&path).unwrap()), disk.names()), (Some(count), vec![path]), "{name}");
        },
    );
    assert!(runs > 100, "{name}: {runs}");
}

fn command(args: &[&str]) -> bool {
    let cli = Cli::try_parse_from(args).unwrap();
    run(&cli, &mut Output::new(false)).is_ok()
}

#[test]
fn games_are_saved_whole() {
    let live = resigned();
    every_call_may_fail("play --save", 1, |path| play::save(path, &live).is_ok());
}

#[test]
fn games_are_converted_whole() {
    let dir = tempfile::tempdir().unwrap();
    let input = dir.path().join("games.anqi");
    let record = resigned().record().to_string();
    std::fs::write(&input, format!("{record}\n{record}\n{record}")).unwrap();
    let input = input.to_str().unwrap();
    every_call_may_fail("records convert", 3, |path| {
        command(&["anqi", "records", "convert", "--to", "anqi", input, "-o", path.to_str().unwrap()])
    });
}

#[test]
fn games_of_programs_are_written_whole() {
    every_call_may_fail("serve-match", 2, |path| {
        command(&["anqi", "serve-match", "random", "random name=other", "-o", path.to_str().unwrap()])
    });
}
