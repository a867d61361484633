//! A finished game looked at again: what each move lost, what each flip was lucky by.

use anqi_engine::{Chances, Choice, Stop};
use anqi_lab::luck;
use anqi_play::{Analyst, SeatName, rounded, worth};
use anqi_rules::{Game, Move, Seat};
use serde::Serialize;

/// Positions that the search looks at for each ply.
const NODES: u64 = 100_000;
/// Expected score that a mistake and a blunder cost.
const MISTAKE: f64 = 0.08;
const BLUNDER: f64 = 0.16;
/// At most so many moments are worth a second try.
const MOST_PUZZLES: usize = 5;

/// How bad a move was.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) enum Grade {
    Mistake,
    Blunder,
}

impl Grade {
    pub(crate) fn of(loss: f64) -> Option<Grade> {
        match loss {
            BLUNDER.. => Some(Grade::Blunder),
            MISTAKE.. => Some(Grade::Mistake),
            _ => None,
        }
    }
}

/// What is said about one ply.
#[derive(Clone, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct PlyReview {
    pub(crate) ply: usize,
    played: String,
    best: String,
    seat: SeatName,
    /// Chances of win, draw and loss for the first player before the ply.
    wdl: Chances,
    /// Expected score that the move gave away.
    loss: f64,
    /// Whether that is a mistake or a blunder.
    grade: Option<Grade>,
    /// Expected score that chance gave to the player who flipped.
    luck: Option<f64>,
    /// Moves that lose next to nothing; playing one of them solves the puzzle.
    good: Vec<String>,
}

/// The whole game.
#[derive(Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Review {
    game: String,
    /// How luck is measured.
    value: &'static str,
    nodes: u64,
    sides: [SideReview; 2],
    puzzles: Vec<usize>,
}

#[derive(Default, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
struct SideReview {
    moves: usize,
    mistakes: usize,
    blunders: usize,
    /// Expected score given away, in all.
    loss: f64,
    flips: usize,
    luck: f64,
}

/// Looks at the last ply of `game`; `before` is the game without it.
pub(crate) fn look(analyst: &Analyst, before: &Game, game: &Game, stop: &Stop) -> Option<PlyReview> {
    let ply = before.plies().len();
    let played = *game.plies().get(ply)?;
    let choice = analyst.think(before, NODES, stop)?;
    let chances = Analyst::value_of(before, &choice);
    let loss = loss_of(before, &choice, played.to_move())?;
    let grade = Grade::of(loss);
    // Only what may become a puzzle needs them.
    let moves = before.legal_moves();
    let good = moves
        .iter()
        .copied()
        .filter(|_| grade.is_some())
        .filter(|&mv| loss_of(before, &choice, mv).is_some_and(|loss| loss < MISTAKE / 2.0));
    let seat = before.seat();
    Some(PlyReview {
        ply,
        played: played.to_string(),
        best: choice.mv.to_string(),
        seat: seat.into(),
        wdl: if seat == Seat::First { chances } else { [chances[2], chances[1], chances[0]] },
        loss: rounded(loss),
        grade,
        luck: luck::of_flip(before.position(), played).map(rounded),
        good: good.map(|mv| mv.to_string()).collect(),
    })
}

/// Expected score that a move gives away, compared with the best.
pub(crate) fn loss_of(game: &Game, choice: &Choice, mv: Move) -> Option<f64> {
    let worth = |mv| worth(game, choice, mv);
    if mv == choice.mv { Some(0.0) } else { Some((worth(choice.mv)? - worth(mv)?).max(0.0)) }
}

impl Review {
    pub(crate) fn new(id: &str, plies: &[PlyReview]) -> Review {
        let mut sides = [SideReview::default(), SideReview::default()];
        for review in plies {
            let side = &mut sides[review.ply % 2];
            side.moves += 1;
            side.loss = rounded(side.loss + review.loss);
            side.blunders += usize::from(review.grade == Some(Grade::Blunder));
            side.mistakes += usize::from(review.grade == Some(Grade::Mistake));
            side.flips += usize::from(review.luck.is_some());
            side.luck = rounded(side.luck + review.luck.unwrap_or(0.0));
        }
        let mut worst: Vec<&PlyReview> = plies.iter().filter(|review| review.grade.is_some()).collect();
        worst.sort_by(|a, b| b.loss.total_cmp(&a.loss).then(a.ply.cmp(&b.ply)));
        let puzzles = worst.iter().take(MOST_PUZZLES).map(|review| review.ply).collect();
        Review { game: id.to_owned(), value: luck::VALUE, nodes: NODES, sides, puzzles }
    }
}
