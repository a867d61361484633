//! A journal loses nothing and doubles nothing, wherever it is cut or damaged.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;

use anqi_engine::{Resources, Stop};
use anqi_lab::{Cast, Ended, MatchJournal, MatchJournalError, Plan, RunEvent, Standings, play_pair, run};
use anqi_store::LockError;

fn cast(plan: &Plan) -> Cast {
    Cast::new(plan, &Resources::default()).unwrap()
}

fn plan(pairs: u32, more: &str) -> Plan {
    let text =
        format!("rules = 'server,board=2x4'\npairs = {pairs}\nplayers = ['chen:var1 nodes=50', 'random']\n{more}");
    text.parse().unwrap()
}

/// Everything played at once on one thread: games and journal.
fn undisturbed(plan: &Plan) -> (Vec<u8>, Vec<u8>) {
    let dir = tempfile::tempdir().unwrap();
    finish(dir.path(), plan, 1);
    (fs::read(dir.path().join("games.anqi")).unwrap(), fs::read(dir.path().join("journal")).unwrap())
}

/// Plays what is missing; gives the number of pairs that were.
fn finish(dir: &Path, plan: &Plan, threads: usize) -> usize {
    let mut journal = MatchJournal::open_or_create(dir, plan).unwrap();
    let mut played = 0;
    let ended = run(&mut journal, threads, &cast(plan), &Stop::default(), |event| {
        played += usize::from(matches!(event, RunEvent::Played(_)));
    });
    let Ended::Complete(pairs) = ended.unwrap() else { panic!("stopped") };
    journal.write_games(pairs).unwrap();
    played
}

#[test]
fn a_pair_depends_on_plan_and_number_alone() {
    let plan = plan(12, "");
    let backwards: Vec<_> =
        (0..12).rev().map(|number| play_pair(&plan, number, &cast(&plan), &Stop::default()).unwrap()).collect();
    for pair in backwards {
        assert_eq!(pair, play_pair(&plan, pair.number, &cast(&plan), &Stop::default()).unwrap());
        assert_eq!(anqi_lab::PlayedPair::from_text(pair.number, &pair.to_text()).unwrap(), pair);
    }
    assert!(play_pair(&plan, 12, &cast(&plan), &Stop::default()).is_err());
}

#[test]
fn threads_change_nothing() {
    let plan = plan(40, "");
    let (games, _) = undisturbed(&plan);
    for threads in [2, 5] {
        let dir = tempfile::tempdir().unwrap();
        assert_eq!(finish(dir.path(), &plan, threads), 40);
        assert!(fs::read(dir.path().join("games.anqi")).unwrap() == games);
    }
}

/// Cut at every byte: whole pairs stay, the rest is played again, and the games are the same.
#[test]
fn cut_anywhere() {
    let plan = plan(3, "");
    let (games, journal) = undisturbed(&plan);
    let text = String::from_utf8(journal.clone()).unwrap();
    let heads: Vec<usize> = text.match_indices("\npair ").map(|(at, _)| at + 1).collect();
    let ends: Vec<usize> = heads.iter().skip(1).copied().chain([journal.len()]).collect();
    let dir = tempfile::tempdir().unwrap();
    for cut in (heads[0]..journal.len()).step_by(53).chain(ends.iter().flat_map(|&end| [end - 1, end])) {
        fs::write(dir.path().join("journal"), &journal[..cut]).unwrap();
        let _ = fs::remove_file(dir.path().join("games.anqi"));
        let whole = ends.iter().filter(|&&end| end <= cut).count();
        assert_eq!(finish(dir.path(), &plan, 1), 3 - whole, "cut at {cut}");
        assert!(fs::read(dir.path().join("games.anqi")).unwrap() == games, "cut at {cut}");
        // What was cut off stays, and every pair is there once.
        let now = fs::read(dir.path().join("journal")).unwrap();
        assert!(now.starts_with(&journal[..cut]), "cut at {cut}");
        assert!((cut == heads[0] || ends.contains(&cut)) == (now == journal), "cut at {cut}");
        let journal = MatchJournal::read(dir.path()).unwrap();
        assert!((journal.len(), journal.damages().is_empty()) == (3, true), "cut at {cut}: {}", journal.damages());
    }
}

/// Any byte changed: at most one pair is played again, and never is a wrong one believed.
#[test]
fn damaged_anywhere() {
    let plan = plan(3, "");
    let (games, journal) = undisturbed(&plan);
    let first = String::from_utf8(journal.clone()).unwrap().find("\npair ").unwrap() + 1;
    let dir = tempfile::tempdir().unwrap();
    for at in (first..journal.len()).step_by(71) {
        let mut damaged = journal.clone();
        damaged[at] ^= 0x15;
        fs::write(dir.path().join("journal"), &damaged).unwrap();
        assert_eq!(finish(dir.path(), &plan, 1), 1, "damaged at {at}");
        assert!(fs::read(dir.path().join("games.anqi")).unwrap() == games, "damaged at {at}");
        assert_eq!(finish(dir.path(), &plan, 1), 0, "damaged at {at}");
    }
}

#[test]
fn refuses_what_is_not_its_own() {
    let dir = tempfile::tempdir().unwrap();
    let here = plan(2, "seed = 1");
    assert!(matches!(MatchJournal::open(dir.path()), Err(MatchJournalError::Missing(_))));
    let journal = MatchJournal::open_or_create(dir.path(), &here).unwrap();
    assert!(matches!(MatchJournal::open(dir.path()), Err(MatchJournalError::Lock(LockError::Held(_)))));
    // Reading needs no lock.
    assert!(MatchJournal::read(dir.path()).unwrap().is_empty());
    drop(journal);
    assert_eq!(MatchJournal::open(dir.path()).unwrap().plan(), &here);
    let error = MatchJournal::open_or_create(dir.path(), &plan(3, "seed = 1")).unwrap_err().to_string();
    assert!(error.ends_with("there: pairs = 2\n  here:  pairs = 3"), "{error}");

    fs::write(dir.path().join("journal"), "my diary\n").unwrap();
    let error = MatchJournal::open(dir.path()).unwrap_err().to_string();
    assert!(error.ends_with("not a journal of kind \"match\": line 1 is \"my diary\""), "{error}");
    fs::write(dir.path().join("journal"), "anqi-journal 1\nplan 0 5 00000000\nhello\n").unwrap();
    let error = MatchJournal::open(dir.path()).unwrap_err().to_string();
    assert!(error.contains("line 2, the head, is damaged: its checksum is 00000000"), "{error}");
}

/// A sequential test ends at the same pair whatever arrives first, and pairs beyond it do not count.
#[test]
fn a_test_decides_in_the_order_of_the_plan() {
    let plan = plan(400, "sprt = 'elo0=0 elo1=200'");
    let (games, _) = undisturbed(&plan);
    let mut ends = Vec::new();
    for threads in [1, 2, 7] {
        let dir = tempfile::tempdir().unwrap();
        // Some pairs from far behind are there already.
        let mut journal = MatchJournal::open_or_create(dir.path(), &plan).unwrap();
        for number in [9, 77, 399] {
            journal.append(&play_pair(&plan, number, &cast(&plan), &Stop::default()).unwrap()).unwrap();
        }
        let ended = run(&mut journal, threads, &cast(&plan), &Stop::default(), |_| {}).unwrap();
        let Ended::Complete(pairs) = ended else { panic!("stopped") };
        assert_eq!(Standings::of(&journal, pairs).unwrap().pairs(), pairs);
        journal.write_games(pairs).unwrap();
        assert!(fs::read(dir.path().join("games.anqi")).unwrap() == games);
        ends.push(pairs);
    }
    assert!(ends[0] < 400 && ends.iter().all(|end| *end == ends[0]), "{ends:?}");
}

#[test]
fn stopped_means_nothing_half_done() {
    let plan = plan(30, "");
    let (games, _) = undisturbed(&plan);
    let dir = tempfile::tempdir().unwrap();
    let mut rounds = 0;
    loop {
        let mut journal = MatchJournal::open_or_create(dir.path(), &plan).unwrap();
        let stop = Stop::default();
        let mut played = 0;
        let ended = run(&mut journal, 2, &cast(&plan), &stop, |event| {
            played += usize::from(matches!(event, RunEvent::Played(_)));
            if played == 4 {
                stop.raise();
            }
        });
        rounds += 1;
        if let Ended::Complete(pairs) = ended.unwrap() {
            journal.write_games(pairs).unwrap();
            break;
        }
    }
    assert!(rounds > 2, "{rounds}");
    assert!(fs::read(dir.path().join("games.anqi")).unwrap() == games);
}
