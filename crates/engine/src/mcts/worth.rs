//! What a look at the board says, for the options that let the tree use it.

use anqi_rules::{Piece, Position};

use crate::eval::{Dynamic, Evaluate, Fixed};

/// A lead of so much is most of a win: a king.
const SCALE: f32 = 1200.0;

/// From -1 for a loss to 1 for a win of the side to move: what it has more than the other side, once it
/// has taken the best piece that it can take.
pub(super) fn worth(position: &Position) -> f32 {
    let Some(turn) = position.turn() else { return 0.0 };
    let value = |piece: Piece| Fixed::VALUES.of(piece.kind);
    let taken = position.attacked_by(turn).iter().filter_map(|square| position.piece_at(square)).map(value).max();
    let lead = Dynamic::default().evaluate(position).0 + taken.unwrap_or(0);
    libm::tanhf(lead as f32 / SCALE) // not the platform's: trees are the same everywhere
}
