//! The journal of self-play on a disk that fails, tears and loses power, and with damaged bytes.

use anqi_games::{GameStart, GamesJournal, KeptGame, SelfPlay};
use anqi_rules::Seed;
use anqi_store::faults::{After, DamageTest, MUCH_DAMAGE, Reading, SOME_DAMAGE, SimulatedDisk, every_fault};

fn plan() -> SelfPlay {
    SelfPlay {
        engine: "proto=uci cmd='an engine' nodes=1".parse().expect("an engine"),
        start: GameStart::Chess(None),
        opening: 4,
        longest: 100,
        seed: Seed::from(1),
    }
}

fn game(number: usize) -> KeptGame {
    KeptGame::Finished {
        plies: number as u64,
        winner: None,
        record: format!("[Round \"{number}\"]\n\n1. e4 1/2-1/2\n"),
    }
}

/// As c3a29fa wrote it.
fn old_journal(count: usize) -> Vec<u8> {
    let mut file = format!("anqi self-play 1 {}\n", plan().head().escape_default());
    for number in 0..count {
        let text = serde_json::to_string(&(number, game(number))).expect("strings");
        file += &format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
    }
    file.into_bytes()
}

#[test]
fn every_call_may_fail() {
    for before in [None, Some(old_journal(2)), Some(old_journal(2)[..200].to_vec())] {
        every_fault(
            |disk| {
                if let Some(before) = &before {
                    disk.put(&disk.path().join("games.pgn.journal"), before);
                }
            },
            |disk| {
                let opened = GamesJournal::open(&disk.path().join("games.pgn"), &plan());
                let Ok(mut journal) = opened else { return Vec::new() };
                (0..5).filter(|&number| journal.add(number, game(number)).is_ok()).collect()
            },
            |disk, acknowledged, after| {
                let mut journal = GamesJournal::open(&disk.path().join("games.pgn"), &plan()).expect("room");
                assert!(journal.games().iter().all(|(number, kept)| *kept == game(*number)), "{after:?}");
                for number in acknowledged {
                    assert!(after != After::Restart || journal.games().contains_key(&number), "{number}");
                }
                journal.add(5, game(5)).expect("room");
                drop(journal);
                let journal = GamesJournal::open(&disk.path().join("games.pgn"), &plan()).expect("sound");
                assert_eq!(journal.games().get(&5), Some(&game(5)));
                journal.remove().expect("there");
            },
        );
    }
}

/// Never a wrong game, never a shortened file; the damaged line is named.
fn damaged(times: usize) {
    let disk = SimulatedDisk::mount(1);
    let (games, path) = (disk.path().join("games.pgn"), disk.path().join("games.pgn.journal"));
    let mut journal = GamesJournal::open(&games, &plan()).expect("room");
    (0..10).for_each(|number| journal.add(number, game(number)).expect("room"));
    drop(journal);
    let entries: Vec<String> = (0..10).map(|number| format!("{:?}", (number, game(number)))).collect();
    for whole in [disk.peek(&path).expect("written"), old_journal(10)] {
        let test = DamageTest { file: "games.pgn.journal", whole: &whole, entries: &entries, most_lost: 2 };
        let refused = test.run(times / 2, |path| match GamesJournal::open(&path.with_extension(""), &plan()) {
            Err(error) => Reading::Refused(error.to_string()),
            Ok(journal) => Reading::Read {
                entries: journal.games().iter().map(|(number, kept)| format!("{:?}", (*number, kept))).collect(),
                told: journal.damages().to_string(),
            },
        });
        println!("self-play journal: {} damaged files, {refused} refused", times / 2);
    }
}

#[test]
fn damage_is_named_and_nothing_is_shortened() {
    damaged(SOME_DAMAGE);
}

#[test]
#[ignore = "long: 17,000 damaged journals"]
fn damage_is_named_and_nothing_is_shortened_very_often() {
    damaged(MUCH_DAMAGE);
}
