//! `Review`: a finished game looked at again. What each move gave away, what chance gave to each flip.

use anqi_engine::{Chances, Choice};
use anqi_rules::{Game, Move, Seat};
use anqi_task::Stop;
use serde::Serialize;

use crate::analysis::rounded;
use crate::analyst::{Analyst, worth};
use crate::luck;
use crate::names::SeatName;

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
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub enum Grade {
    /// It costs as much as a lead.
    Mistake,
    /// It costs twice that.
    Blunder,
}

impl Grade {
    /// The grade of a move that gives away so much expected score; none if that is little.
    #[must_use]
    pub fn of(loss: f64) -> Option<Grade> {
        match loss {
            BLUNDER.. => Some(Grade::Blunder),
            MISTAKE.. => Some(Grade::Mistake),
            _ => None,
        }
    }
}

/// What is said about one ply.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct PlyReview {
    /// How many plies were played before it.
    pub ply: usize,
    /// The ply.
    pub played: String,
    /// The best move.
    pub best: String,
    /// Who moved.
    pub seat: SeatName,
    /// Chances of win, draw and loss for the first player before the ply.
    pub wdl: Chances,
    /// Expected score that the move gave away.
    pub loss: f64,
    /// Whether that is a mistake or a blunder.
    pub grade: Option<Grade>,
    /// Expected score that chance gave to the player who flipped.
    pub luck: Option<f64>,
    /// Moves that lose next to nothing; playing one of them solves the puzzle.
    pub good: Vec<String>,
}

/// The whole game.
#[derive(Clone, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Review {
    /// The game's id.
    pub game: String,
    /// How luck is measured.
    pub value: &'static str,
    /// Positions that were looked at for each ply.
    pub nodes: u64,
    /// The first player and the second.
    pub sides: [SideReview; 2],
    /// Plies that are worth a second try, the worst first.
    pub puzzles: Vec<usize>,
}

/// One player in the whole game.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct SideReview {
    /// Plies.
    pub moves: usize,
    /// Mistakes that are no blunders.
    pub mistakes: usize,
    /// Blunders.
    pub blunders: usize,
    /// Expected score given away, in all.
    pub loss: f64,
    /// Flips.
    pub flips: usize,
    /// Expected score that chance gave, in all.
    pub luck: f64,
}

impl Analyst {
    /// Looks at the last ply of `game`; `before` is the game without it. Nothing if it was stopped.
    #[must_use]
    pub fn review(&self, before: &Game, game: &Game, stop: &Stop) -> Option<PlyReview> {
        let ply = before.plies().len();
        let played = *game.plies().get(ply)?;
        let choice = self.think(before, NODES, stop)?;
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
}

/// Expected score that a move gives away, compared with the best; nothing if the analyst was stopped before it had looked at
/// every move.
#[must_use]
pub fn loss_of(game: &Game, choice: &Choice, mv: Move) -> Option<f64> {
    let worth = |mv| worth(game, choice, mv);
    if mv == choice.mv { Some(0.0) } else { Some((worth(choice.mv)? - worth(mv)?).max(0.0)) }
}

impl Review {
    /// Counts what was said about the plies of a game.
    #[must_use]
    pub fn new(id: &str, plies: &[PlyReview]) -> Review {
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
