//! Positions out of records: nothing bad slips in, nothing is lost in silence.
#![allow(clippy::unwrap_used)]

use anqi_assess::{ChosenPosition, Positions, Skipped, tags};
use anqi_records::{Reader, Record};
use anqi_rules::{Seat, Seed};
use anqi_stats::Points;

fn positions() -> Positions {
    Positions { rules: None, per_game: None, only: Vec::new(), seed: Seed::from(1), from_comments: false }
}

fn of(positions: &Positions, text: &str) -> (Vec<ChosenPosition>, Vec<(String, u64)>) {
    let record: Record = text.parse().unwrap();
    let mut skipped = Skipped::default();
    let places = positions.of(1, &record, "a record", &mut skipped);
    let counts = skipped.reasons().iter().map(|skip| (skip.reason.clone(), skip.count)).collect();
    (places, counts)
}

const GAME: &str = "[Rules \"server,board=2x2\"]\n\n\
    1. a1(P) b1(k) 2. a1-b1 {[%wdl 700 200 100]} a2(K) {[%eval -3.5]} 3. b2(p) b2-b1 4. a2-a1 b1-a1 0-1\n";

#[test]
fn every_position_that_somebody_moved_in() {
    let (places, skipped) = of(&positions(), GAME);
    assert!(skipped.is_empty());
    assert_eq!(places.iter().map(|place| place.ply).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let results: Vec<Points> = places.iter().map(|place| place.result).collect();
    assert!(results.chunks(2).all(|two| two == [Points::Loss, Points::Win]));
    // The game as a player sees it begins after the last flip or capture.
    assert_eq!(places[6].start.plies().len(), 0);
    assert_eq!(places[7].start.plies().len(), 1);
    assert!(places.iter().all(|place| place.start.outcome().is_none()));
    // Equal positions have equal texts, others not.
    let mut texts: Vec<String> = places.iter().map(ChosenPosition::text).collect();
    texts.dedup();
    assert_eq!(texts.len(), 8);
}

#[test]
fn comments_are_seen_by_whoever_moves_next() {
    let (places, _) = of(&Positions { from_comments: true, ..positions() }, GAME);
    let said: Vec<_> = places.iter().map(|place| (place.ply, place.comment.clone().unwrap())).collect();
    assert_eq!(said, [(3, ("? [%wdl]".to_owned(), 0.2)), (4, ("? [%eval]".to_owned(), 3.5))]);
}

#[test]
fn bad_records_are_counted_by_reason() {
    for (text, reason) in [
        (GAME.replace("b2-b1 4. a2-a1 b1-a1 0-1", "b2-b1 4. a1-a2 b1-a1 0-1"), "record with an illegal ply"),
        (GAME.replace("0-1", "1-0"), "record with another result than the board's"),
        (GAME.replace(" b1-a1 0-1", " *"), "record without a result"),
        (GAME.replace("server,board=2x2", "house rules"), "record that cannot be replayed"),
    ] {
        let (places, skipped) = of(&positions(), &text);
        assert_eq!((places.len(), skipped), (0, vec![(reason.to_owned(), 1)]), "{text}");
    }
    // What cannot even be read is an error of the reader, which goes on with the next record.
    let truncated = format!("{}\n\n{GAME}", &GAME[..GAME.len() - 12]);
    let read: Vec<bool> = Reader::new(truncated.as_bytes()).unwrap().map(|entry| entry.is_ok()).collect();
    assert_eq!(read, [false, true]);
}

#[test]
fn a_sample_has_a_position_of_every_stretch() {
    for wanted in 1..=8 {
        let (places, _) = of(&Positions { per_game: Some(wanted), ..positions() }, GAME);
        assert_eq!(places.len(), wanted as usize);
        for (stretch, place) in (0..).zip(&places) {
            assert!(
                (stretch * 8 / wanted..(stretch + 1) * 8 / wanted).contains(&place.ply),
                "{} of {wanted}",
                place.ply
            );
        }
    }
    let only = vec!["ply=2..5".parse().unwrap(), "side=second".parse().unwrap()];
    let (places, _) = of(&Positions { only, ..positions() }, GAME);
    assert_eq!(places.iter().map(|place| place.ply).collect::<Vec<_>>(), [3]);
}

#[test]
fn tags_say_what_stands_there() {
    let check = |position: &str, expected: [&str; 7]| {
        let found = tags(&position.parse().unwrap(), Seat::Second);
        assert_eq!(found.iter().map(|(_, tag)| tag.to_string()).collect::<Vec<_>>(), expected, "{position}");
    };
    // Hidden, pieces, capture, king attacked, cannon with a carriage, side, lead.
    check(
        "xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx - KGGMMRRNNCCPPPPPkggmmrrnnccppppp",
        ["32", "32", "no", "no", "no", "second", "0"],
    );
    check("4/4/4/4/4/1p2/1K2/4 r -", ["0", "2", "no", "yes", "no", "second", "1080"]);
    check("4/4/4/4/4/1K2/1p2/4 b -", ["0", "2", "yes", "no", "no", "second", "-1080"]);
    check("4/4/4/1g2/4/1p2/1C2/4 r -", ["0", "3", "yes", "no", "yes", "second", "-620"]);
}
