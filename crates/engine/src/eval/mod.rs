//! Evaluation functions, one file each, chosen by name.

mod course;
mod draw;
mod dynamic;
mod fixed;
mod hand;
mod layer;
mod linear;
mod network;
mod network_file;
mod quiet;
mod situated;
mod weights;

use anqi_rules::{Color, Position};

use crate::options::choices;
use crate::score::Score;

pub(crate) use course::Armies;
pub use course::Course;
pub use draw::DrawJudge;
pub use dynamic::Dynamic;
pub use fixed::Fixed;
pub use hand::Hand;
pub use linear::Linear;
pub(crate) use linear::read_list;
pub use network::NetworkFacts;
pub use network::view;
pub(crate) use network::{Accumulator, Network};
pub use network_file::NetworkError;
pub use quiet::{play_out_captures, quiesce};
pub use situated::Situated;
pub use weights::{Weights, WeightsError};

/// Says how good a position is for the side to move, without looking ahead.
///
/// Evaluations know nothing of wins and losses by the rules; the search does.
pub trait Evaluate {
    /// The score for the side to move; 0 before anybody has a colour.
    fn evaluate(&self, position: &Position) -> Score;

    /// No evaluation of this position or of any that comes after it is larger, for either side.
    fn bound(&self, position: &Position) -> i32;

    /// No score within `depth` plies is larger, for either side.
    fn most(&self, position: &Position, depth: u32) -> i32 {
        // A side loses at most one piece a ply, and with pieces face down everybody can act.
        let lasts = |color| position.remaining(color) > depth;
        if position.hidden().len() > depth && Color::ALL.into_iter().all(lasts) {
            self.bound(position)
        } else {
            Score::win(depth).0
        }
    }
}

/// The larger of what the two sides have.
fn larger_side(value: impl Fn(Color) -> i32) -> i32 {
    value(Color::Red).max(value(Color::Black))
}

/// Nothing is good or bad until the game is over. With a search to the end, scores become
/// `P(win) − P(loss)` times [`Score::WIN`].
#[derive(Clone, Copy, Debug)]
pub struct OutcomeOnly;

impl Evaluate for OutcomeOnly {
    fn evaluate(&self, _: &Position) -> Score {
        Score::DRAW
    }

    fn bound(&self, _: &Position) -> i32 {
        0
    }
}

choices! {
    /// The evaluation functions by name.
    pub enum Evaluation {
        Static = "static", "fixed piece values (Chen 2.4)";
        Dynamic = "dynamic", "values that follow what is left of the enemy (Chen 2.4)";
        Situated = "situated", "the same, with cannons by distance and unknown neighbours, and the king's risk (Chen 2.4)";
        Course = "course", "the course program's: useless pieces count nothing, mobility counts";
        Hand = "hand", "the champion's by hand: pieces by what can take them, where they stand";
        Draw = "draw", "the material count that judges draws (Jouandeau 4.1)";
        Outcome = "outcome", "nothing but the end of the game";
    }
}

/// Calls `$then` with the evaluation function that `$name` stands for, with `$weights` if there are any: one copy of the search for
/// each, so that the innermost loop calls it directly.
macro_rules! with_evaluation {
    ($name:expr, $weights:expr, |$eval:ident| $then:expr) => {
        match $name {
            $crate::eval::Evaluation::Static => {
                let $eval = <$crate::eval::Fixed as $crate::eval::Linear>::with_weights($weights);
                $then
            }
            $crate::eval::Evaluation::Dynamic => {
                let $eval = <$crate::eval::Dynamic as $crate::eval::Linear>::with_weights($weights);
                $then
            }
            $crate::eval::Evaluation::Course => {
                let $eval = <$crate::eval::Course as $crate::eval::Linear>::with_weights($weights);
                $then
            }
            $crate::eval::Evaluation::Hand => {
                let $eval = <$crate::eval::Hand as $crate::eval::Linear>::with_weights($weights);
                $then
            }
            $crate::eval::Evaluation::Situated => {
                let $eval = $crate::eval::Situated::default();
                $then
            }
            $crate::eval::Evaluation::Draw => {
                let $eval = $crate::eval::DrawJudge;
                $then
            }
            $crate::eval::Evaluation::Outcome => {
                let $eval = $crate::eval::OutcomeOnly;
                $then
            }
        }
    };
}

pub(crate) use with_evaluation;
