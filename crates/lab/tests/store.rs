//! A match journal on a disk that fails, tears and loses power, and with damaged bytes.

use std::fs;

use anqi_engine::{Resources, Stop};
use anqi_lab::{Cast, MatchJournal, Plan, PlayedPair, play_pair};
use anqi_store::faults::{After, SimulatedDisk, damage, every_fault};

fn plan() -> Plan {
    "rules = 'server,board=2x4'\npairs = 6\nplayers = ['chen:var1 nodes=20', 'random']".parse().expect("a plan")
}

fn pairs(plan: &Plan) -> Vec<PlayedPair> {
    let cast = Cast::new(plan, &Resources::default()).expect("two players of ours");
    let play = |number| play_pair(plan, number, &cast, &Stop::default()).expect("a pair");
    (0..plan.count()).map(play).collect()
}

/// As c3a29fa wrote it.
fn old_journal(plan: &Plan, pairs: &[PlayedPair]) -> Vec<u8> {
    let entry = |kind: &str, number: u64, text: &str| {
        let head = format!("{kind} {number} {}", text.len());
        format!("{head} {:08x}\n{text}\n", crc32fast::hash(format!("{head}{text}").as_bytes()))
    };
    let pairs = pairs.iter().map(|pair| entry("pair", pair.number, &pair.to_text()));
    ["anqi-journal 1\n".to_owned(), entry("plan", 0, &plan.to_string())]
        .into_iter()
        .chain(pairs)
        .collect::<String>()
        .into()
}

#[test]
fn every_call_may_fail() {
    let (plan, count) = (plan(), 3);
    let pairs = pairs(&plan);
    let old = old_journal(&plan, &pairs[..1]);
    for before in [None, Some(&old[..]), Some(&old[..old.len() - 9])] {
        let runs = every_fault(
            |disk| {
                if let Some(before) = before {
                    disk.put_folder(&disk.path().join("match"));
                    disk.put(&disk.path().join("match/journal"), before);
                }
            },
            |disk| {
                let (mut acknowledged, mut synced) = (Vec::new(), Vec::new());
                if let Ok(mut journal) = MatchJournal::open_or_create(&disk.path().join("match"), &plan) {
                    for pair in &pairs[..count] {
                        if journal.append(pair).is_err() {
                            break;
                        }
                        acknowledged.push(pair.number);
                        if pair.number == 1 && journal.sync().is_ok() {
                            synced.clone_from(&acknowledged);
                        }
                    }
                    let _ = journal.write_games(count as u64);
                }
                (acknowledged, synced)
            },
            |disk, (acknowledged, synced), after| {
                let dir = disk.path().join("match");
                let mut journal = MatchJournal::open_or_create(&dir, &plan).expect("room");
                let kept = if after == After::Restart { acknowledged } else { synced };
                for number in kept {
                    assert_eq!(journal.pair(number).expect("acknowledged"), pairs[number as usize], "{after:?}");
                }
                if after == After::Restart {
                    assert_eq!(journal.damages().count(), 0, "{}", journal.damages());
                }
                for pair in &pairs {
                    journal.append(pair).expect("room");
                }
                journal.sync().expect("room");
                let games = journal.write_games(6).expect("all are there");
                let all: Vec<String> = pairs.iter().map(PlayedPair::to_text).collect();
                assert_eq!(anqi_store::read_text(&games).expect("written"), all.join("\n"));
            },
        );
        assert!(runs > 300, "{runs}");
    }
}

fn damaged(times: usize) {
    let plan = plan();
    let pairs = pairs(&plan);
    let disk = SimulatedDisk::mount(1);
    let dir = disk.path().join("match");
    let path = dir.join("journal");
    let mut journal = MatchJournal::open_or_create(&dir, &plan).expect("room");
    pairs.iter().for_each(|pair| journal.append(pair).expect("room"));
    drop(journal);
    for whole in [disk.peek(&path).expect("written"), old_journal(&plan, &pairs)] {
        for damaged in damage(&whole, 7).take(times / 2) {
            disk.put(&path, &damaged.bytes);
            match MatchJournal::read(&dir) {
                Err(error) => assert!(error.to_string().contains("line "), "{error}"),
                Ok(journal) => {
                    let told = journal.damages().to_string();
                    if !damaged.is_cut {
                        assert!(journal.len() >= 5 && told.contains("line "), "byte {}: {told}", damaged.at);
                    }
                    for number in (0..6).filter(|number| journal.has(*number)) {
                        assert_eq!(journal.pair(number).expect("sound"), pairs[number as usize], "byte {}", damaged.at);
                    }
                }
            }
            assert_eq!(disk.peek(&path).expect("there"), damaged.bytes, "reading changes nothing");
        }
    }
}

#[test]
fn damage_is_named_and_nothing_is_shortened() {
    damaged(2_000);
}

#[test]
#[ignore = "long: 20,000 damaged journals"]
fn damage_is_named_and_nothing_is_shortened_very_often() {
    damaged(20_000);
}

/// A match that c3a29fa began goes on in its version.
#[test]
fn an_old_journal_goes_on() {
    let plan = plan();
    let pairs = pairs(&plan);
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("journal");
    fs::write(&path, old_journal(&plan, &pairs[..2])).expect("room");
    let mut journal = MatchJournal::open(dir.path()).expect("a journal");
    assert_eq!((journal.len(), journal.plan()), (2, &plan));
    pairs.iter().for_each(|pair| journal.append(pair).expect("room"));
    drop(journal);
    assert_eq!(fs::read(&path).expect("there"), old_journal(&plan, &pairs));
}
