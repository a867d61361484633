//! Fig. 7: g, g, m and c against a pawn.

use anqi_rules::{Color, Piece, Square};

use super::cases::{Case, Cases, Judged, Test};
use super::{Outline, Unit};
use crate::Distance;

/// The pieces and their squares in the figure.
const PIECES: [(char, &str); 5] = [('P', "c1"), ('m', "b8"), ('g', "b6"), ('g', "a5"), ('c', "b2")];

pub(super) fn outlines() -> impl Iterator<Item = Outline> {
    let outline = |name, sentence, exactly, unit, everywhere: bool, judge| {
        let cast = PIECES.iter().filter_map(|&(letter, _)| Piece::from_char(letter)).collect();
        let squares = || PIECES.iter().filter_map(|(_, square)| square.parse().ok()).collect::<Vec<Square>>();
        let cases = Cases { unit, casts: vec![cast], at: (!everywhere).then(squares), judge };
        Outline { name, source: "section 5.3, Figure 7", sentence, exactly, test: Test::Cases(cases) }
    };
    [
        outline(
            "figure-7",
            "Figure 7 shows a winning position that black has a great advantage.",
            "Black wins with either side to move.",
            Unit::Placements,
            false,
            black_wins,
        ),
        outline(
            "figure-7.plies",
            "It takes at least fourteen plies for the program to find such a winning strategy.",
            "With perfect play on both sides the pawn is captured after fourteen plies or more.",
            Unit::Positions,
            false,
            fourteen_plies,
        ),
        outline(
            "figure-7.everywhere",
            "The only thing black needs to do is to capture the red pawn.",
            "Black wins from every placement of these pieces, with either side to move.",
            Unit::Placements,
            true,
            black_wins,
        ),
    ]
    .into_iter()
}

fn black_wins(case: &Case<'_>) -> Judged {
    let wins = Color::ALL.into_iter().all(|first| case.winner(first) == Some(Color::Black));
    Judged::new(wins, || case.both())
}

/// The pawn is all that Red has: plies to its capture are plies to the end.
fn fourteen_plies(case: &Case<'_>) -> Judged {
    let plies = case.value().distance();
    let what = || plies.map_or_else(|| "never".to_owned(), |Distance(plies)| format!("after {plies} plies"));
    Judged::new(plies >= Some(Distance(14)), what)
}
