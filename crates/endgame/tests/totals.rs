//! Exact numbers of retrograde analysis on the 4×8 board.

use std::num::NonZeroUsize;

use anqi_endgame::{Class, Distance, Ending, TableTally, Tables, Wdl};
use anqi_rules::Color;

fn tables(endings: impl IntoIterator<Item = Ending>) -> Tables {
    let mut tables = Tables::default();
    tables.build(endings, NonZeroUsize::new(2).expect("two")).expect("small endings");
    tables
}

fn ending(name: &str) -> Ending {
    name.parse().expect(name)
}

/// Over all materials of `pieces` pieces, both sides to move.
fn total(tables: &Tables, pieces: u32) -> TableTally {
    let mut total = TableTally::default();
    for ending in Ending::all(pieces) {
        let tally = tables.tally(&ending).expect("built");
        total += tally[Color::Red];
        total += tally[Color::Black];
    }
    total
}

fn tally(win: u64, draw: u64, loss: u64, longest: u16) -> TableTally {
    TableTally { win, draw, loss, longest: Some(Distance(longest)) }
}

#[test]
fn all_endings_of_two_and_three_pieces() {
    let tables = tables(Ending::all(3).chain(Ending::all(2)));
    assert_eq!(total(&tables, 2), tally(26_624, 45_632, 24_960, 17));
    assert_eq!(total(&tables, 3), tally(7_822_064, 5_126_256, 7_050_400, 23));
}

#[test]
fn all_endings_of_four_pieces() {
    let tables = tables(Class::all(4).into_values());
    assert_eq!(total(&tables, 4), tally(920_001_532, 565_717_488, 793_281_940, 121));
    let longest = tables.tally(&ending("NC-rc")).expect("built");
    assert_eq!(longest[Color::Black].longest, Some(Distance(121)));
}

#[test]
fn single_endings() {
    let all = [
        ("N-pp", [1452, 13428, 0], [0, 14872, 8]),
        ("P-kp", [2888, 1552, 25320], [29752, 0, 8]),
        ("N-rc", [0, 1576, 28184], [29752, 8, 0]),
        ("P-kc", [0, 29760, 0], [512, 29248, 0]),
        ("C-nn", [0, 192, 14688], [14880, 0, 0]),
    ];
    let tables = tables(all.map(|(name, ..)| ending(name)));
    for (name, red, black) in all {
        let tally = tables.tally(&ending(name)).expect("built");
        let counts = |color| [tally[color].win, tally[color].draw, tally[color].loss];
        assert_eq!((counts(Color::Red), counts(Color::Black)), (red, black), "{name}");
        let mirrored = tables.tally(&ending(name).swapped()).expect("the same table");
        assert_eq!((mirrored[Color::Red], mirrored[Color::Black]), (tally[Color::Black], tally[Color::Red]), "{name}");
    }
}

#[test]
fn one_against_one() {
    let tables = tables(Ending::all(2));
    for (name, win, draw, loss) in
        [("R-n", 512, 480, 0), ("P-k", 512, 480, 0), ("N-n", 512, 0, 480), ("C-c", 0, 992, 0), ("C-p", 0, 992, 0)]
    {
        let tally = tables.tally(&ending(name)).expect("built")[Color::Red];
        assert_eq!((tally.win, tally.draw, tally.loss), (win, draw, loss), "{name}");
    }
}

/// Chen et al., Fig. 7.
#[test]
fn figure_7() {
    let tables = tables([ending("P-ggmc")]);
    for (turn, wdl, plies) in [('b', Wdl::Win, 13), ('r', Wdl::Loss, 16)] {
        let text = format!("1m2/4/1g2/g3/4/4/1c2/2P1 {turn} -");
        let value = tables.probe(&text.parse().expect("a position")).expect("built");
        assert_eq!((value.wdl(), value.distance()), (wdl, Some(Distance(plies))));
    }
}
