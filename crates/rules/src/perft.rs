//! Counting the leaves of the game tree: the test that a move generator is right.
//!
//! A flip counts one child for each square and each different piece that may lie there. Draw
//! rules do not apply; a side without a legal action has no children.

use crate::moves::{Move, Ply};
use crate::position::Position;

/// Leaves at `depth`, the last ply counted without being played.
///
/// ```
/// use anqi_rules::{perft, Position, Rules};
///
/// assert_eq!(perft(&Position::initial(&Rules::default()), 2), 192_448);
/// ```
#[must_use]
pub fn perft(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        1 => u64::from(position.count_steps() + position.hidden().len() * position.pool().kinds()),
        _ => sum_over_plies(position, |_, child| perft(child, depth - 1)),
    }
}

/// Leaves at `depth`, every one of them visited. For measuring, and for checking [`perft`].
#[must_use]
pub fn perft_visiting(position: &Position, depth: u32) -> u64 {
    match depth {
        0 => 1,
        _ => sum_over_plies(position, |_, child| perft_visiting(child, depth - 1)),
    }
}

/// The leaves below each possible first ply.
#[must_use]
pub fn divide(position: &Position, depth: u32) -> Vec<(Ply, u64)> {
    let mut parts = Vec::new();
    if depth > 0 {
        sum_over_plies(position, |ply, child| {
            let leaves = perft(child, depth - 1);
            parts.push((ply, leaves));
            leaves
        });
    }
    parts
}

#[inline]
fn sum_over_plies(position: &Position, mut leaves: impl FnMut(Ply, &Position) -> u64) -> u64 {
    let mut sum = 0;
    for mv in position.moves() {
        match mv {
            Move::Step { from, to } => sum += leaves(Ply::Step { from, to }, &position.after_step(from, to)),
            Move::Flip(square) => {
                for (piece, _) in position.reveals() {
                    sum += leaves(Ply::Flip(square, piece), &position.after_flip(square, piece));
                }
            }
        }
    }
    sum
}
