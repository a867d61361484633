//! The sample games in `data/games` are what their generator makes, and in order.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

#[expect(dead_code, reason = "the example's main writes the files")]
#[path = "../examples/make_samples.rs"]
mod make_samples;

use std::collections::BTreeSet;
use std::path::Path;

use anqi_records::{EndingCheck, Format, Reader, Record, ReplayTotals, replay};
use anqi_rules::{Deal, Ply, Seed};

fn file(name: &str) -> Vec<u8> {
    std::fs::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/games").join(name)).unwrap()
}

fn records(name: &str) -> Vec<Record> {
    Reader::new(&file(name)[..]).unwrap().map(|entry| entry.unwrap().record).collect()
}

#[test]
fn files_are_up_to_date() {
    for (name, text) in make_samples::samples().unwrap() {
        assert!(
            file(name) == text,
            "data/games/{name} is out of date: run cargo run -p anqi-records --example make_samples"
        );
    }
}

#[test]
fn every_game_is_legal_and_ends_as_recorded() {
    let mut reasons = BTreeSet::new();
    for (name, rules) in [
        ("server.anqi", None),
        ("server.txt", None),
        ("chen.anqi", None),
        ("chen.txt", Some("chen,repeat=off".parse().unwrap())), // the server's format does not tell the rules
        ("variants.anqi", None),
    ] {
        let mut check = ReplayTotals::default();
        let mut unfinished = 0;
        for record in records(name) {
            let replay = replay(&record, rules).unwrap();
            check.add(&replay);
            unfinished += u64::from(replay.ending == EndingCheck::Unstated);
            reasons.extend(record.tags().get("Termination").map(str::to_owned));
        }
        assert!(check.is_clean(), "{name}: {check:?}");
        assert_eq!(check.endings_equal + unfinished, check.games, "{name}");
    }
    let known =
        ["elimination", "forfeit", "no action", "no move", "quiet plies", "repetition 3x4", "resignation", "time"];
    assert_eq!(reasons, known.into_iter().map(str::to_owned).collect());
}

#[test]
fn both_formats_hold_the_same_games() {
    for (ours, servers) in [("server.anqi", "server.txt"), ("chen.anqi", "chen.txt")] {
        assert_eq!(Reader::new(&file(servers)[..]).unwrap().format(), Format::Server);
        let (ours, servers) = (records(ours), records(servers));
        assert_eq!(ours.len(), servers.len());
        for (our, server) in ours.iter().zip(&servers) {
            let plies = |record: &Record| record.plies().iter().map(|played| played.ply).collect::<Vec<_>>();
            assert_eq!((plies(our), our.result()), (plies(server), server.result()));
        }
    }
}

/// Whoever has the record can check the promise and the deal.
#[test]
fn deals_are_as_promised() {
    for record in ["server.anqi", "chen.anqi", "variants.anqi"].into_iter().flat_map(records) {
        let seed = record.seed().unwrap().unwrap();
        let nonce: Seed = record.tags().get("DealNonce").unwrap().parse().unwrap();
        assert!(record.deal_commit().unwrap().unwrap().opens_to(&seed, &nonce));
        let deal = Deal::of(&record.start(&record.rules().unwrap().unwrap()).unwrap(), &seed);
        for played in record.plies().iter().filter(|played| matches!(played.ply, Ply::Flip(..))) {
            assert_eq!(deal.resolve(played.ply.to_move()), Ok(played.ply));
        }
    }
}
