//! Games in play that commit c3a29fa left on the disk go on: its journals replay.

use std::fs;
use std::time::Duration;

use anqi_play::{BotPolicy, Command, Entry, LiveGame, Secret, Terms};

#[test]
fn journals_of_c3a29fa_replay() {
    let mut journals = 0;
    for file in fs::read_dir("../cli/tests/fixtures/c3a29fa/page").unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "journal") {
            continue;
        }
        let text = fs::read_to_string(&path).unwrap();
        // Each line is a checksum and an object.
        let mut lines = text.lines().map(|line| line.split_once(' ').unwrap().1);
        let first = lines.next().unwrap();
        let head: serde_json::Value = serde_json::from_str(first).unwrap();
        let terms: Terms = serde_json::from_str(first).unwrap();
        let secret = Secret::parse(head["seed"].as_str().unwrap(), head["nonce"].as_str().unwrap()).unwrap();
        let mut live = LiveGame::begin(&terms, secret, &BotPolicy::page(2), Duration::ZERO).unwrap();
        let (mut plies, mut backs, mut left) = (0, 0, None);
        for line in lines {
            let entry: Entry = serde_json::from_str(line).unwrap();
            // What is written is what was read.
            assert_eq!(serde_json::to_string(&entry).unwrap(), line);
            let seat = live.game().seat();
            live.commit(std::slice::from_ref(&entry), Duration::ZERO).unwrap();
            match entry {
                Entry::Ply { clock, .. } => (plies, left) = (plies + 1, clock.map(|clock| (seat, clock))),
                Entry::Back { plies: taken, .. } => (plies, backs, left) = (plies - taken, backs + 1, None),
                _ => {}
            }
        }
        assert_eq!((live.game().plies().len(), live.take_backs()), (plies, backs), "{path:?}");
        if let Some((seat, clock)) = left {
            assert_eq!(live.left(seat), Some(clock));
        }
        // And it goes on with the deal that was promised.
        let command = Command::Play { mv: live.game().legal_moves()[0], ply: plies, used: None };
        live.apply(live.game().seat(), &command, Duration::ZERO).unwrap();
        assert!(live.record().tags().get("Seed").is_none());
        journals += 1;
    }
    assert!(journals >= 2);
}
