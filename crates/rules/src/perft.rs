//! Counting the leaves of the game tree: the test that a move generator is right.
//!
//! A flip counts one child for each square and each different piece that may lie there. Draw
//! rules do not apply; a side without a legal action has no children.

use crate::moves::{Move, Ply};
use crate::notation::{ParseError, excerpt};
use crate::position::Position;
use crate::rules::Rules;

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

/// A position with the leaves that it has at some depths: a line of a file of counts.
///
/// ```
/// use anqi_rules::{PerftCase, Rules, perft};
///
/// let case = PerftCase::parse("2K1/4/4/4/4/4/4/p3 r - ; D1 3 D2 6", &Rules::default())?;
/// assert_eq!(case.counts, [(1, 3), (2, 6)]);
/// assert!(case.counts.iter().all(|&(depth, leaves)| perft(&case.position, depth) == leaves));
/// # Ok::<(), anqi_rules::PerftCaseError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct PerftCase {
    /// The position.
    pub position: Position,
    /// Depths and leaves.
    pub counts: Vec<(u32, u64)>,
}

/// Why a line holds no counts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PerftCaseError {
    /// No semicolon.
    #[error("expected POSITION ; D1 COUNT D2 COUNT …")]
    NoCounts,
    /// Something before the semicolon that is no position.
    #[error("bad POSITION: {0}")]
    Position(#[from] ParseError),
    /// Nothing, or half a pair, after the semicolon.
    #[error("expected pairs of depth and count after the semicolon, as in D1 448")]
    Pairs,
    /// Not a depth.
    #[error("{0:?} is not a depth, expected D1, D2, …")]
    Depth(String),
    /// Not a count.
    #[error("{0:?} is not a count")]
    Count(String),
}

impl PerftCase {
    /// Reads a line such as `POSITION ; D1 448 D2 192448`, of pieces that capture by these rules; `start` is the beginning
    /// of a game.
    ///
    /// # Errors
    /// If it is another text.
    pub fn parse(line: &str, rules: &Rules) -> Result<PerftCase, PerftCaseError> {
        let (position, counts) = line.split_once(';').ok_or(PerftCaseError::NoCounts)?;
        let position = match position.trim() {
            "start" => Position::initial(rules),
            position => Position::parse(position, rules.ladder())?,
        };
        let words: Vec<&str> = counts.split_whitespace().collect();
        if words.is_empty() || words.len() % 2 == 1 {
            return Err(PerftCaseError::Pairs);
        }
        let count = |pair: &[&str]| {
            let depth = pair[0].strip_prefix('D').and_then(|depth| depth.parse().ok());
            let depth = depth.ok_or_else(|| PerftCaseError::Depth(excerpt(pair[0])))?;
            let leaves = pair[1].parse().map_err(|_| PerftCaseError::Count(excerpt(pair[1])))?;
            Ok::<_, PerftCaseError>((depth, leaves))
        };
        Ok(PerftCase { position, counts: words.chunks_exact(2).map(count).collect::<Result<_, _>>()? })
    }
}
