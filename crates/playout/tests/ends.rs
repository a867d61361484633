//! How playouts end, on boards where there is no doubt.

use anqi_playout::{Path, Playout, PlayoutOptions, PlayoutResult, PlayoutStart, Policy, Reading, for_each};
use anqi_rules::{Position, Square, SquareSet};

/// All playouts of `position` must end like this, on every path and by either reading.
fn check(position: &str, outcome: PlayoutResult, plies: u32, left: u32) {
    let start = PlayoutStart::from(&position.parse::<Position>().expect(position));
    for path in Path::available() {
        for reading in Reading::ALL {
            let options = PlayoutOptions { policy: Policy::Capture, reading, ..PlayoutOptions::default() };
            for_each(&start, &options, 1, 0..40, path, |_, playout| {
                let found = (playout.outcome, playout.plies, playout.left());
                assert_eq!(found, (outcome, plies, left), "{position} {path} {reading}");
            });
        }
    }
}

#[test]
fn nothing_left() {
    check("4/4/4/4/4/4/4/K3 b -", PlayoutResult::Loss, 0, 1);
    check("4/4/4/4/4/4/4/4 r -", PlayoutResult::Loss, 0, 0);
    check("4/4/4/4/4/4/4/Kg2 r -", PlayoutResult::Win, 1, 1);
    check("4/4/4/4/4/4/4/kp2 r -", PlayoutResult::Loss, 0, 2);
}

/// Black could still flip a red piece, but has none of its own.
#[test]
fn nothing_left_but_something_to_flip() {
    check("4/4/4/4/4/4/4/Kg1x r P", PlayoutResult::Win, 1, 2);
}

/// The pawn cannot take a guard and has nowhere to go; it has lost even if it is a draw otherwise.
#[test]
fn nothing_to_do() {
    check("4/4/4/4/4/4/g3/Pg2 r - 40", PlayoutResult::Loss, 0, 3);
}

#[test]
fn too_many_quiet_plies() {
    check("p3/4/4/4/4/4/4/3K r - 40", PlayoutResult::Draw, 0, 2);
    check("p3/4/4/4/4/4/4/3K r - 39", PlayoutResult::Draw, 1, 2);
    check("p3/4/4/4/4/4/4/3K b - 30", PlayoutResult::Draw, 10, 2);
}

/// The cannon takes the knight behind the pawn; nobody else can capture.
#[test]
fn cannons_jump() {
    check("4/4/4/4/4/4/4/CP1n r -", PlayoutResult::Win, 1, 2);
    check("n3/4/4/P3/4/4/4/C3 r -", PlayoutResult::Win, 1, 2);
    check("C3/4/4/P3/4/4/4/n3 r -", PlayoutResult::Win, 1, 2);
    check("4/4/4/4/4/4/4/nPC1 r -", PlayoutResult::Win, 1, 2);
}

/// Before the first flip nobody has a colour, and flipping is all there is to do.
#[test]
fn the_first_flip_is_a_ply() {
    let start = PlayoutStart::from(&"xx/xx - KPkp".parse::<Position>().unwrap());
    for path in Path::available() {
        let options = PlayoutOptions { draw: 1, ..PlayoutOptions::default() };
        for_each(&start, &options, 1, 0..200, path, |_, playout| assert!(playout.plies >= 1));
    }
}

/// The end shows who has what, the player to move at the start first, whoever moves at the end.
#[test]
fn the_end_is_the_board() {
    let check = |text: &str, first: &str, second: &str, hidden: &str| {
        let position: Position = text.parse().expect(text);
        let squares = |names: &str| -> SquareSet {
            names.split_whitespace().map(|name| name.parse::<Square>().expect(name)).collect()
        };
        for path in Path::available() {
            let options = PlayoutOptions { policy: Policy::Capture, ..PlayoutOptions::default() };
            for_each(&PlayoutStart::from(&position), &options, 1, 0..40, path, |_, Playout { end, .. }| {
                assert_eq!((end.first, end.second, end.hidden), (squares(first), squares(second), squares(hidden)));
                let rungs = end.by_rung().map(SquareSet::len);
                assert_eq!(rungs.iter().sum::<u32>(), (end.first | end.second).len(), "{text} {path}");
            });
        }
    };
    check("4/4/4/4/4/4/4/Kg1x r P", "b1 d1", "", "d1");
    check("4/4/4/4/4/4/4/kG1x b p", "b1 d1", "", "d1");
    check("4/4/4/4/4/4/4/K3 b -", "", "a1", "");
    check("4/4/4/4/4/4/g3/Pg2 r - 40", "a1", "a2 b1", "");
}

/// A game that ends by itself at the cut has ended by itself.
#[test]
fn cut_short() {
    let check = |text: &str, cut: u32, outcome: PlayoutResult, plies: u32| {
        let start = PlayoutStart::from(&text.parse::<Position>().expect(text));
        for path in Path::available() {
            for reading in Reading::ALL {
                let options =
                    PlayoutOptions { cut: Some(cut), policy: Policy::Capture, reading, ..PlayoutOptions::default() };
                for_each(&start, &options, 1, 0..100, path, |_, playout| {
                    assert_eq!((playout.outcome, playout.plies), (outcome, plies), "{text} {path} {reading}");
                });
            }
        }
    };
    check("p3/4/4/4/4/4/4/3K b - 30", 9, PlayoutResult::Cut, 9);
    check("p3/4/4/4/4/4/4/3K b - 30", 10, PlayoutResult::Draw, 10);
    check("p3/4/4/4/4/4/4/3K b - 30", 11, PlayoutResult::Draw, 10);
    check("4/4/4/4/4/4/4/Kg2 r -", 1, PlayoutResult::Win, 1);
    check("xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx - KGGMMRRNNCCPPPPPkggmmrrnnccppppp", 1, PlayoutResult::Cut, 1);
    check("xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx - KGGMMRRNNCCPPPPPkggmmrrnnccppppp", 12, PlayoutResult::Cut, 12);
}
