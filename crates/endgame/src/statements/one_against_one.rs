//! "The simplest endgame": one piece against one, and the left of Figs. 2 and 3.

use anqi_rules::{Color, Kind, Ladder, Piece};

use super::cases::{Case, Cases, Judged, Test, takes};
use super::{Outline, Unit};
use crate::{Value, Wdl};

const SENTENCE: &str = "The player with the piece that can capture the other conditionally wins when the distance of the two pieces \
                        is an odd number in his turn. Otherwise, the game is a draw.";

pub(super) fn outlines() -> impl Iterator<Item = Outline> {
    let pairs = |name, exactly, judge| {
        let test = Test::Cases(Cases { unit: Unit::Positions, casts: pairs(|_, _| true), at: None, judge });
        Outline { name, source: "section 2.5", sentence: SENTENCE, exactly, test }
    };
    [
        pairs(
            "one-against-one",
            "A side whose piece takes the other wins if the distance is odd when it is next to move: now, or after the \
             other's step, which changes the distance by one. Otherwise the game is a draw. A cannon takes nothing: it has no carriage.",
            in_its_next_turn,
        ),
        pairs(
            "one-against-one.to-move",
            "The same, but the distance is looked at for the side to move only: if the other side has the stronger \
             piece, or an equal one, the game is a draw.",
            in_its_turn_now,
        ),
        pairs(
            "one-against-one.by-rank",
            "The same as the first, but a cannon can capture cannons and pawns, as Table 1 ranks them.",
            by_rank,
        ),
    ]
    .into_iter()
}

/// One piece against one, of all kinds that are `wanted`, red's first.
pub(super) fn pairs(wanted: impl Fn(Piece, Piece) -> bool) -> Vec<Vec<Piece>> {
    let of = |color| Kind::ALL.into_iter().map(move |kind| Piece { color, kind });
    let all = of(Color::Red).flat_map(|red| of(Color::Black).map(move |black| [red, black]));
    all.filter(|&[red, black]| wanted(red, black)).map(Vec::from).collect()
}

/// The result for the side to move, where `takes` says which pieces decide, and in whose turn.
fn expected(case: &Case<'_>, takes: impl Fn(Piece, Piece) -> bool, waits: bool) -> Wdl {
    let [mine, theirs] = if case.turn == Color::Red { [0, 1] } else { [1, 0] };
    let is_odd = case.distance(0, 1) % 2 == 1;
    if takes(case.pieces[mine], case.pieces[theirs]) && is_odd {
        Wdl::Win
    } else if waits && takes(case.pieces[theirs], case.pieces[mine]) && !is_odd {
        Wdl::Loss
    } else {
        Wdl::Draw
    }
}

fn compared(case: &Case<'_>, expected: Wdl) -> Judged {
    let found = Value::wdl(case.value());
    Judged::new(found == expected, || {
        let [red, black] = [case.pieces[0], case.pieces[1]];
        let parity = if case.distance(0, 1) % 2 == 1 { "odd" } else { "even" };
        let mover_takes = if case.turn == Color::Red { takes(red, black) } else { takes(black, red) };
        let relation = match (takes(red, black), takes(black, red)) {
            (true, true) => "equal pieces",
            (false, false) => "neither piece takes the other",
            _ if mover_takes => "the stronger piece to move",
            _ => "the weaker piece to move",
        };
        format!("{} instead of {}: {relation}, {parity} distance", found.name(), expected.name())
    })
}

fn in_its_next_turn(case: &Case<'_>) -> Judged {
    compared(case, expected(case, takes, true))
}

fn in_its_turn_now(case: &Case<'_>) -> Judged {
    compared(case, expected(case, takes, false))
}

fn by_rank(case: &Case<'_>) -> Judged {
    let by_rank = |attacker: Piece, victim: Piece| {
        let [rank, lower] = [attacker, victim].map(|piece| Ladder::Taiwan.rung(piece.kind));
        takes(attacker, victim) || attacker.kind == Kind::Cannon && rank >= lower
    };
    compared(case, expected(case, by_rank, true))
}
