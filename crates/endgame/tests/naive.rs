//! The same values by slow and obvious code on positions of `anqi-rules`: swept until nothing changes.

use std::collections::HashMap;
use std::num::NonZeroUsize;

use anqi_endgame::{Class, Distance, Ending, Tables, Wdl};
use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Piece, Position, Setup, Square, SquareSet};

/// A position but for its quiet plies.
type Key = ([u32; 3], SquareSet, Option<Color>);

fn key(position: &Position) -> Key {
    (position.planes(), position.pieces(Color::Red), position.turn())
}

/// Every placement of `material`, both sides to move.
fn placements(material: Material) -> Vec<Position> {
    let pieces: Vec<Piece> = material.pieces().collect();
    let mut setups = vec![Setup::empty(BoardSize::FourByEight, Ladder::Taiwan)];
    for piece in pieces {
        let with_piece = |setup: &Setup| -> Vec<Setup> {
            let free = Square::all().filter(|square| setup.pieces[square.index()].is_none());
            let put = |square: Square| {
                let mut setup = setup.clone();
                setup.pieces[square.index()] = Some(piece);
                setup
            };
            free.map(put).collect()
        };
        setups = setups.iter().flat_map(with_piece).collect();
    }
    let both = setups.into_iter().flat_map(|setup| {
        Color::ALL.map(|turn| Position::try_from(Setup { turn: Some(turn), ..setup.clone() }).expect("a placement"))
    });
    // Equal pieces give every placement more than once.
    let distinct: HashMap<Key, Position> = both.map(|position| (key(&position), position)).collect();
    distinct.into_values().collect()
}

/// Adds the distances of all decided positions of `material` and of everything it can become.
fn sweep(material: Material, solved: &mut HashMap<Key, u16>) {
    if Color::ALL.into_iter().any(|color| material.of(color) == 0) {
        for position in placements(material) {
            if position.turn().is_some_and(|turn| position.pieces(turn).is_empty()) {
                solved.insert(key(&position), 0);
            }
        }
        return;
    }
    for (piece, _) in material.iter() {
        let mut rest = material;
        rest.remove(piece);
        sweep(rest, solved);
    }
    let mut open = placements(material);
    // Sweep number d decides what takes d plies, until a sweep finds nothing and no smaller ending takes longer.
    let longest_after_capture = solved.values().copied().max().unwrap_or(0);
    for distance in 0.. {
        let decided = |position: &Position| {
            let after = |mv: Move| match mv {
                Move::Step { from, to } => position.after_step(from, to),
                Move::Flip(_) => unreachable!("nothing is face down"),
            };
            let next: Vec<Option<u16>> =
                position.moves().iter().map(|&mv| solved.get(&key(&after(mv))).copied()).collect();
            let won = next.iter().flatten().any(|&plies| plies % 2 == 0 && plies + 1 == distance);
            let lost = next.iter().all(|plies| plies.is_some_and(|plies| plies % 2 == 1 && plies < distance));
            won || lost
        };
        let (found, rest): (Vec<Position>, Vec<Position>) = open.into_iter().partition(decided);
        solved.extend(found.iter().map(|position| (key(position), distance)));
        open = rest;
        if found.is_empty() && distance > longest_after_capture + 1 {
            return;
        }
    }
}

fn agree(endings: impl IntoIterator<Item = Ending>) {
    for ending in endings {
        let mut tables = Tables::default();
        tables.build([ending], NonZeroUsize::MIN).expect("a small ending");
        let mut naive = HashMap::new();
        sweep(*ending.material(), &mut naive);
        for position in placements(*ending.material()) {
            let value = tables.probe(&position).expect("built");
            let expected = naive.get(&key(&position)).copied();
            assert_eq!(value.distance(), expected.map(Distance), "{position}");
            let wdl = expected.map_or(Wdl::Draw, |plies| if plies % 2 == 1 { Wdl::Win } else { Wdl::Loss });
            assert_eq!(value.wdl(), wdl, "{position}");
        }
    }
}

#[test]
fn agrees_on_all_endings_of_two_pieces() {
    agree(Ending::all(2));
}

#[test]
fn agrees_on_endings_of_three_pieces() {
    agree(["N-pp", "KP-p", "P-rc", "CC-n", "C-nc"].map(|name| name.parse().expect(name)));
}

/// Endings of one class, as they stand: pieces of one group are told apart here.
#[test]
fn agrees_on_endings_of_one_class() {
    agree(["N-np", "NP-r", "GN-k"].map(|name| name.parse().expect(name)));
}

#[test]
#[ignore = "sweeps two endings of four different pieces"]
fn agrees_on_endings_of_four_pieces_of_one_order() {
    agree(["GN-mn", "MN-rn"].map(|name| name.parse().expect(name)));
}

#[test]
#[ignore = "sweeps every class of three pieces"]
fn agrees_on_all_classes_of_three_pieces() {
    agree(Class::all(3).into_values());
}

#[test]
#[ignore = "sweeps ten classes of four pieces"]
fn agrees_on_ten_classes_of_four_pieces() {
    let names = ["N-ppp", "PP-nn", "CC-cc", "NN-rp", "KP-pp", "CC-nn", "C-ppp", "KC-pp", "R-ncc", "CC-pp"];
    agree(names.map(|name| name.parse().expect(name)));
}
