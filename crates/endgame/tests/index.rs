//! Places and placements go round.

use std::num::NonZeroUsize;
use std::sync::LazyLock;

use anqi_endgame::{Class, Ending, Index, MOST_PIECES, Tables};
use anqi_rules::{BoardSize, Color, Ladder, Position, Setup, SquareSet};
use proptest::prelude::*;

fn classes(most: u32) -> Vec<Class> {
    (2..=most).flat_map(|pieces| Class::all(pieces).into_keys()).collect()
}

/// The four ways in which the board lies, on sets of squares.
fn reflections(sets: [u32; MOST_PIECES]) -> [[u32; MOST_PIECES]; 4] {
    let turn = |symmetry: anqi_rules::Symmetry| {
        sets.map(|set| SquareSet(set).iter().map(|square| symmetry.apply(square)).collect::<SquareSet>().0)
    };
    let mut symmetries = BoardSize::FourByEight.symmetries();
    std::array::from_fn(|_| turn(symmetries.next().expect("there are four")))
}

/// Every place is a gap or a placement, and the place of that placement is one of a reflection of it.
#[test]
fn every_place_up_to_three_pieces_goes_round() {
    for class in classes(3) {
        let index = Index::new(&class).expect("small");
        for placement in (0..index.places()).filter_map(|place| index.placement(place)) {
            let again = index.placement(index.place(&placement)).expect("no gap");
            assert_eq!(again.turn, placement.turn);
            assert!(reflections(placement.sets).contains(&again.sets), "{placement:?} {again:?}");
        }
    }
}

/// Reflections are folded and equal pieces merged: what is left of all placements there are.
#[test]
fn positions_are_counted_up_to_symmetry() {
    for class in classes(6) {
        let index = Index::new(&class).expect("small");
        let ordered: u64 = (0..u64::from(class.pieces())).map(|placed| 32 - placed).product();
        let alike: u64 = class.groups().iter().map(|group| (1..=u64::from(group.count)).product::<u64>()).product();
        let fold = if class.pieces() == 2 { 1 } else { 4 };
        assert_eq!(index.positions(), 2 * ordered / alike / fold, "{class:?}");
    }
    let totals = (2..=6).map(|pieces| {
        let classes = Class::all(pieces).into_keys();
        classes.map(|class| Index::new(&class).expect("small").positions()).sum::<u64>()
    });
    let cumulated: Vec<u64> = totals
        .scan(0, |sum, n| {
            *sum += n;
            Some(*sum)
        })
        .collect();
    assert_eq!(cumulated, [9920, 248_000, 21_644_200, 1_565_694_680, 106_745_134_640]);
    let too_large = Class::all(MOST_PIECES as u32 + 1).into_keys().next().expect("there are 1998");
    assert!(Index::new(&too_large).is_none());
}

static KNIGHT_AND_CANNON_AGAINST_ROOK: LazyLock<(Ending, Tables)> = LazyLock::new(|| {
    let ending = "NC-r".parse().expect("an ending");
    let mut tables = Tables::default();
    tables.build([ending], NonZeroUsize::MIN).expect("small");
    (ending, tables)
});

proptest! {
    #[test]
    fn placements_are_disjoint_and_complete(
        name in prop::sample::select(vec!["NC-rcp", "PP-nn", "PPP-kg", "CCP-cp", "KGMR-np", "PP-kcc", "CC-cc"]),
        part in 0.0..1.0f64,
    ) {
        let class = Class::of(&name.parse::<Ending>().expect(name)).class;
        let index = Index::new(&class).expect("small");
        let place = (part * index.places() as f64) as usize;
        let Some(placement) = index.placement(place) else { return Ok(()) };
        let mut used = 0;
        for (group, set) in class.groups().iter().zip(placement.sets) {
            prop_assert_eq!(set.count_ones(), u32::from(group.count));
            prop_assert_eq!(set & used, 0);
            used |= set;
        }
        let again = index.placement(index.place(&placement)).expect("no gap");
        prop_assert!(reflections(placement.sets).contains(&again.sets));
    }

    /// A reflected or recoloured position is the same position.
    #[test]
    fn values_do_not_depend_on_how_the_board_lies(squares in prop::sample::subsequence((0..32).collect::<Vec<usize>>(), 3)) {
        let (ending, tables) = &*KNIGHT_AND_CANNON_AGAINST_ROOK;
        let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
        for (piece, square) in ending.material().pieces().zip(squares) {
            setup.pieces[square] = Some(piece);
        }
        for turn in Color::ALL {
            let position = Position::try_from(Setup { turn: Some(turn), ..setup.clone() }).expect("a position");
            let value = tables.probe(&position);
            prop_assert!(value.is_some());
            for symmetry in BoardSize::FourByEight.symmetries() {
                prop_assert_eq!(tables.probe(&position.transformed(symmetry)), value);
                prop_assert_eq!(tables.probe(&position.transformed(symmetry).swapped()), value);
            }
        }
    }
}

#[test]
fn tables_do_not_depend_on_the_number_of_threads() {
    let build = |threads| {
        let mut tables = Tables::default();
        tables.build(Ending::all(3), NonZeroUsize::new(threads).expect("some")).expect("small");
        tables
    };
    let (one, many) = (build(1), build(5));
    assert_eq!(one.iter().count(), 25);
    assert!(one.iter().zip(many.iter()).all(|(a, b)| a == b));
}

#[test]
fn what_is_not_in_the_tables_has_no_value() {
    let mut tables = Tables::default();
    tables.build(["N-p".parse().expect("an ending")], NonZeroUsize::MIN).expect("small");
    for text in ["4/4/4/4/4/4/4/N2x r p", "4/4/4/4/4/4/4/N2C r -", "2/Np r -", "4/4/4/4/4/4/4/NC1p r -"] {
        assert_eq!(tables.probe(&text.parse().expect(text)), None, "{text}");
    }
    assert!(tables.probe(&"4/4/4/4/4/4/4/N2p r -".parse().expect("a position")).is_some());
    let seven: Ending = "KGM-kgmr".parse().expect("an ending");
    let error = tables.build([seven], NonZeroUsize::MIN).expect_err("too many pieces").to_string();
    assert_eq!(error, "KGM-kgmr has more than 6 pieces");
}
