//! Petty pieces: Figs. 2 and 3. The figures themselves are not legible in the text that we have, so what is said of them is
//! tested over all placements of the pieces that it is said about.
//!
//! "A petty piece is defined as the piece that does not have attacking power but are used to change the turn": it takes none
//! of the enemy's pieces. A cannon has that power as soon as there is a carriage, so it has no part here; what becomes of the
//! sentences with a cannon is a reading of its own.

use anqi_rules::{Color, Kind, Ladder, Piece};

use super::cases::{Case, Cases, Judged, Test, takes};
use super::one_against_one::pairs;
use super::{Outline, Unit};
use crate::Wdl;

const LEFT_2: &str = "In the left of Figure 2, the player who moves first loses the game.";
const RIGHT_2: &str = "However, in the right of Figure 2, black wins no matter who plays first.";
const TURN_2: &str = "If black plays first, he can move the petty piece, the pawn, and the position reduces to the situation that \
                      red plays first.";
const LEFT_3: &str = "In the left figure, if red moves first, he loses the game, otherwise the game is a draw.";
const RIGHT_3: &str = "In the right of Figure 3, no matter who plays first, the game is guaranteed to be a draw.";
const TURN_3: &str = "If red moves first, he can move the petty piece to avoid being captured.";

/// The parts of the pieces. In Fig. 2 both sides have an equal one and Black a petty one, in Fig. 3 Black has the stronger
/// one and Red a petty one.
const RED: usize = 0;
const BLACK: usize = 1;
const PETTY: usize = 2;

pub(super) fn outlines() -> impl Iterator<Item = Outline> {
    let outline = |name, source, sentence, exactly, unit, casts, judge| {
        let test = Test::Cases(Cases { unit, casts, at: None, judge });
        Outline { name, source, sentence, exactly, test }
    };
    let of_2 = |name, sentence, exactly, unit, casts, judge| {
        outline(name, "section 2.5, Figure 2", sentence, exactly, unit, casts, judge)
    };
    let of_3 = |name, sentence, exactly, unit, casts, judge| {
        outline(name, "section 2.5, Figure 3", sentence, exactly, unit, casts, judge)
    };
    let equal = || pairs(|red, black| takes(red, black) && takes(black, red));
    let weaker = || pairs(|red, black| takes(black, red) && !takes(red, black));
    [
        of_2(
            "figure-2-left",
            LEFT_2,
            "One piece against an equal one: the side to move loses.",
            Unit::Positions,
            equal(),
            mover_loses,
        ),
        of_2(
            "figure-2-left.even",
            LEFT_2,
            "The same, the pieces at an even distance.",
            Unit::Positions,
            equal(),
            |case| at_even_distance(case, mover_loses),
        ),
        of_2(
            "figure-2-right",
            RIGHT_2,
            "A piece of Red against an equal one and a petty piece: Black wins with either side to move.",
            Unit::Placements,
            winning(false),
            black_wins,
        ),
        of_2(
            "figure-2-right.even",
            RIGHT_2,
            "The same, the equal pieces at an even distance as in the left figure.",
            Unit::Placements,
            winning(false),
            |case| at_even_distance(case, black_wins),
        ),
        of_2(
            "figure-2-right.turn",
            TURN_2,
            "The equal pieces at an even distance and Black to move: some step of the petty piece wins.",
            Unit::Positions,
            winning(false),
            |case| in_turn(case, Color::Black, |case| petty_step(case, Wdl::Win)),
        ),
        of_2(
            "figure-2-right.only",
            TURN_2,
            "The same, and no step of the other piece wins: the petty piece is needed.",
            Unit::Positions,
            winning(false),
            |case| in_turn(case, Color::Black, |case| only_petty_step(case, BLACK, Wdl::Win)),
        ),
        of_2(
            "figure-2-right.cannon",
            RIGHT_2,
            "The same as figure-2-right.even, the petty piece a cannon.",
            Unit::Placements,
            winning(true),
            |case| at_even_distance(case, black_wins),
        ),
        of_3(
            "figure-3-left",
            LEFT_3,
            "A piece of Red against a stronger one: Red loses if it moves first, otherwise the game is a draw.",
            Unit::Placements,
            weaker(),
            loses_or_draws,
        ),
        of_3(
            "figure-3-left.even",
            LEFT_3,
            "The same, the pieces at an even distance.",
            Unit::Placements,
            weaker(),
            |case| at_even_distance(case, loses_or_draws),
        ),
        of_3(
            "figure-3-right",
            RIGHT_3,
            "A piece of Red and a lower, petty one against a piece that takes both: a draw with either side to move.",
            Unit::Placements,
            drawing(false),
            draws,
        ),
        of_3(
            "figure-3-right.even",
            RIGHT_3,
            "The same, Red's other piece at an even distance from Black's as in the left figure.",
            Unit::Placements,
            drawing(false),
            |case| at_even_distance(case, draws),
        ),
        of_3(
            "figure-3-right.pair",
            RIGHT_3,
            "Two equal pieces of Red against a piece that takes them: a draw with either side to move.",
            Unit::Placements,
            two_equal(),
            draws,
        ),
        of_3(
            "figure-3-right.turn",
            TURN_3,
            "Red's other piece at an even distance from Black's and Red to move: some step of the petty piece draws.",
            Unit::Positions,
            drawing(false),
            |case| in_turn(case, Color::Red, |case| petty_step(case, Wdl::Draw)),
        ),
        of_3(
            "figure-3-right.only",
            TURN_3,
            "The same, and no step of the other piece draws: the petty piece is needed.",
            Unit::Positions,
            drawing(false),
            |case| in_turn(case, Color::Red, |case| only_petty_step(case, RED, Wdl::Draw)),
        ),
        of_3(
            "figure-3-right.cannon",
            RIGHT_3,
            "The same as figure-3-right.even, one of Red's pieces a cannon.",
            Unit::Placements,
            drawing(true),
            |case| at_even_distance(case, draws),
        ),
    ]
    .into_iter()
}

/// Two equal pieces, and another one of Black that takes nothing by stepping; one of the three a cannon or none.
fn winning(with_cannon: bool) -> Vec<Vec<Piece>> {
    let equal = pairs(|red, black| takes(red, black) && takes(black, red));
    with_petty(equal, Color::Black, RED, with_cannon)
}

/// A piece of Red against a stronger one, and a lower one that takes nothing by stepping; one of Red's a cannon or none.
fn drawing(with_cannon: bool) -> Vec<Vec<Piece>> {
    let weaker = pairs(|red, black| takes(black, red) && !takes(red, black));
    let mut casts = with_petty(weaker, Color::Red, BLACK, with_cannon);
    let rung = |piece: Piece| Ladder::Taiwan.rung(piece.kind);
    casts.retain(|cast| rung(cast[PETTY]) < rung(cast[RED]));
    casts
}

/// Every third piece of `color` that is not in the pair and takes nothing of the enemy by stepping.
fn with_petty(pairs: Vec<Vec<Piece>>, color: Color, enemy: usize, with_cannon: bool) -> Vec<Vec<Piece>> {
    let others = |pair: Vec<Piece>| {
        let others = Kind::ALL.into_iter().map(move |kind| Piece { color, kind });
        let enemy = pair[enemy];
        let is_petty = move |other: &Piece| !takes(*other, enemy);
        let casts = others.filter(is_petty).map(move |other| vec![pair[RED], pair[BLACK], other]);
        casts.filter(|cast| cast[PETTY] != cast[RED] && cast[PETTY] != cast[BLACK])
    };
    let has_cannon = |cast: &Vec<Piece>| cast.iter().any(|piece| piece.kind == Kind::Cannon);
    pairs.into_iter().flat_map(others).filter(|cast| has_cannon(cast) == with_cannon).collect()
}

/// Two equal pieces of Red against a stronger one; an army has one king, and cannons are not petty.
fn two_equal() -> Vec<Vec<Piece>> {
    let is_double = |piece: Piece| !matches!(piece.kind, Kind::King | Kind::Cannon);
    let weaker = pairs(|red, black| takes(black, red) && !takes(red, black) && is_double(red));
    weaker.into_iter().map(|pair| vec![pair[RED], pair[BLACK], pair[RED]]).collect()
}

fn at_even_distance(case: &Case<'_>, judge: fn(&Case<'_>) -> Judged) -> Judged {
    if case.distance(RED, BLACK).is_multiple_of(2) { judge(case) } else { Judged::Outside }
}

fn in_turn(case: &Case<'_>, color: Color, judge: fn(&Case<'_>) -> Judged) -> Judged {
    if case.turn == color { at_even_distance(case, judge) } else { Judged::Outside }
}

fn mover_loses(case: &Case<'_>) -> Judged {
    let found = case.value().wdl();
    Judged::new(found == Wdl::Loss, || format!("a {} for the side to move", found.name()))
}

fn black_wins(case: &Case<'_>) -> Judged {
    let wins = Color::ALL.into_iter().all(|first| case.winner(first) == Some(Color::Black));
    Judged::new(wins, || case.both())
}

fn loses_or_draws(case: &Case<'_>) -> Judged {
    let is_so = case.winner(Color::Red) == Some(Color::Black) && case.winner(Color::Black).is_none();
    Judged::new(is_so, || case.both())
}

fn draws(case: &Case<'_>) -> Judged {
    let draws = Color::ALL.into_iter().all(|first| case.winner(first).is_none());
    Judged::new(draws, || case.both())
}

/// Whether a step of the petty piece keeps `wanted`.
fn petty_step(case: &Case<'_>, wanted: Wdl) -> Judged {
    let best = case.steps(PETTY).max();
    let without = || match best {
        None => "the petty piece has no step".to_owned(),
        Some(_) => format!("no step of the petty piece does, the position is a {}", case.value().wdl().name()),
    };
    Judged::new(best >= Some(wanted), without)
}

/// Whether it does and no step of piece `other` does.
fn only_petty_step(case: &Case<'_>, other: usize, wanted: Wdl) -> Judged {
    match petty_step(case, wanted) {
        Judged::Holds if case.steps(other).max() >= Some(wanted) => {
            Judged::Fails("a step of the other piece does, too".to_owned())
        }
        judged => judged,
    }
}
