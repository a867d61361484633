//! What was printed: the rows of `published.csv`.

use anqi_stats::Games;
use serde::{Deserialize, Serialize};

use crate::BestMove;

/// A printed row about playouts. Whatever the table does not print has no column.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct PrintedPlayouts {
    /// The name of the position.
    pub position: String,
    /// How moves were drawn.
    pub policy: String,
    /// Quiet plies after which a playout was drawn.
    pub limit: u32,
    /// How long all playouts took.
    pub seconds: Option<f64>,
    /// The share of draws.
    pub draw_rate: Option<f64>,
    /// Mean of the pieces on the board at the end.
    pub left: Option<f64>,
    /// Their standard deviation.
    pub left_sd: Option<f64>,
    /// Mean of the plies played.
    pub plies: Option<f64>,
    /// Their standard deviation.
    pub plies_sd: Option<f64>,
    /// The best move if a draw is a draw.
    pub best_plain: Option<String>,
    /// Its wins in percent, as all that follow.
    pub win_plain: Option<u64>,
    /// Its losses.
    pub loss_plain: Option<u64>,
    /// Its draws.
    pub draw_plain: Option<u64>,
    /// The best move if material decides draws.
    pub best_eval: Option<String>,
    /// Its wins.
    pub win_eval: Option<u64>,
    /// Its losses.
    pub loss_eval: Option<u64>,
    /// Its draws.
    pub draw_eval: Option<u64>,
}

impl PrintedPlayouts {
    /// The best move, with or without evaluation of draws.
    #[must_use]
    pub fn best(&self, eval: bool) -> Option<BestMove> {
        if eval {
            BestMove::of_columns(self.best_eval.as_ref(), [self.win_eval, self.loss_eval, self.draw_eval])
        } else {
            BestMove::of_columns(self.best_plain.as_ref(), [self.win_plain, self.loss_plain, self.draw_plain])
        }
    }
}

/// A printed result. `player` and `opponent` by the names in the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedMatch {
    /// Whose wins and losses these are.
    pub player: String,
    /// Against whom.
    pub opponent: String,
    /// `first`: the games in which `player` moved first; `both`: all games.
    pub order: Order,
    /// Games won.
    pub wins: u64,
    /// Lost.
    pub losses: u64,
    /// Drawn.
    pub draws: u64,
}

/// Which games a printed result counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Those in which the player moved first.
    First,
    /// All of them.
    Both,
}

impl PrintedMatch {
    /// The counts.
    #[must_use]
    pub const fn games(&self) -> Games {
        Games([self.losses, self.draws, self.wins])
    }
}

/// A printed line about the branching factor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedBranching {
    /// How many pieces are face down, or `all`.
    pub hidden: String,
    /// Revealed pieces on the board.
    pub revealed: Option<f64>,
    /// Kinds that are face down.
    pub kinds: Option<f64>,
    /// Moves of revealed pieces.
    pub moves: f64,
    /// With flips.
    pub branching: f64,
}
