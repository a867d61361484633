//! The game at the end of Chen, Shen & Hsu's paper, whose first four flips had to be restored.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use anqi_records::{EndingCheck, PlayedPly, Record, Stats, replay};
use anqi_rules::{Ply, Seat, Termination};

const GAME: &str = include_str!("../../../data/games/chen-appendix.anqi");

fn game() -> Record {
    GAME.parse().unwrap()
}

fn check(record: &Record) {
    let replay = replay(record, None).unwrap();
    assert_eq!((&replay.illegal, &replay.ending), (&None, &EndingCheck::Equal));
    let ending = replay.board_ending.unwrap();
    assert_eq!((ending.outcome.winner, ending.ply), (Some(Seat::Second), 120));
    assert_eq!(ending.outcome.termination, Termination::Elimination);
    assert_eq!(replay.game.color_of(Seat::First).unwrap().name(), "black");
    let mut stats = Stats::default();
    stats.add(&replay);
    assert_eq!(stats.summary().captures, Some(25.0));
}

#[test]
fn is_legal_and_won_by_elimination() {
    let record = game();
    assert_eq!((record.player(Seat::First), record.player(Seat::Second)), (Some("ENHANCE"), Some("VAR1")));
    assert_eq!(record.rules().unwrap().unwrap().to_string(), "chen,repeat=off");
    assert_eq!(record.to_string(), GAME);
    check(&record);
}

/// Which of the possible openings was played does not matter to anything after it.
#[test]
fn every_opening_that_makes_enhance_black_will_do() {
    let (tags, plies, result) = game().into_parts();
    let mut openings = 0;
    for pair in [["d2(m)", "b7(n)"], ["d2(n)", "b7(m)"]] {
        let flips = ["a8(M)", "c8(p)", pair[0], pair[1]].map(|text| text.parse::<Ply>().unwrap());
        for order in orders().into_iter().filter(|order| order[0] != 0) {
            let mut plies = plies.clone();
            for (played, flip) in plies.iter_mut().zip(order) {
                *played = PlayedPly::from(flips[flip]);
            }
            check(&Record::new(tags.clone(), plies, result).unwrap());
            openings += 1;
        }
    }
    assert_eq!(openings, 36);
}

/// All orders of four things.
fn orders() -> Vec<[usize; 4]> {
    let all = (0..256).map(|n| [n & 3, n >> 2 & 3, n >> 4 & 3, n >> 6]);
    all.filter(|order| (0..4).all(|thing| order.contains(&thing))).collect()
}
