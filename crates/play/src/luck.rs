//! Luck: what the flips of a game gave.
//!
//! # The idea
//!
//! When a player turns a piece up, both know what may come: the pieces still face down, each equally likely.
//! So with *any* fixed value *v* of positions, the number
//!
//! > luck of a flip = v(position after it) − mean of v over everything that could have come up
//!
//! has expectation exactly 0, given all that went before, whoever plays and however well. The sum *L* over the flips of
//! a game is a martingale at its end: E\[*L*\] = 0. If *v* knows anything about the game, *L* goes along with the result,
//! and the *luck-adjusted* result
//!
//! > s − c·L
//!
//! has the same expectation as the plain one for every constant *c*, but less variance: a control variate. A poor *v*
//! costs precision, never truth.
//!
//! # The value
//!
//! [`VALUE`] names it: *v* is the static piece values of Chen, Shen & Hsu after the captures that follow (a capture
//! search of [`PLIES`] plies in which either side may stop), turned into an expected score by a logistic curve of scale
//! [`SCALE`]. Captures matter because static values alone do not change when a piece is turned up: who has what was known
//! before. The scale was chosen once, on 600 games of `experiments/chen-order-of-strength`: with it the best coefficient
//! is close to 1. A change of any of the three changes the name.

use anqi_engine::{Evaluate, Fixed, Score};
use anqi_rules::{Game, Move, MoveList, Ply, Position, Seat};

/// The name of the value by which luck is measured.
pub const VALUE: &str = "static-captures-2";
/// How many plies of captures it looks ahead.
pub const PLIES: u32 = 2;
/// Points of the static evaluation in one unit of log odds.
pub const SCALE: f64 = 1200.0;

/// The expected score of the side to move, between 0 and 1.
#[must_use]
pub fn value(position: &Position) -> f64 {
    let Score(score) = captures(&Fixed::default(), position, PLIES, -Score::INFINITE, Score::INFINITE);
    // Not the platform's exp: records have the same digits everywhere.
    1.0 / (1.0 + libm::exp(-f64::from(score) / SCALE))
}

/// The best that the side to move gets by captures, or by stopping.
fn captures(eval: &Fixed, position: &Position, plies: u32, alpha: Score, beta: Score) -> Score {
    let mut best = eval.evaluate(position);
    if plies == 0 || best >= beta {
        return best;
    }
    let mut list = MoveList::new();
    position.captures_into(&mut list);
    for &mv in &list {
        if let Move::Step { from, to } = mv {
            let after = position.after_step(from, to);
            best = best.max(-captures(eval, &after, plies - 1, -beta, -alpha.max(best)));
            if best >= beta {
                break;
            }
        }
    }
    best
}

/// What a flip gave the player who made it: `None` for a step.
///
/// ```
/// use anqi_play::luck;
/// use anqi_rules::Position;
///
/// // Red turns up b1 beside its rook: a pawn is harmless, a rook would take first.
/// let position: Position = "4/4/4/4/4/4/4/Rxx1 r pr".parse()?;
/// let [pawn, rook] = ["b1(p)".parse()?, "b1(r)".parse()?].map(|ply| luck::of_flip(&position, ply).unwrap());
/// assert!(pawn > 0.0 && pawn + rook == 0.0);
/// assert_eq!(luck::of_flip(&position, "a1-a2".parse()?), None);
///
/// let position: Position = "4/4/4/4/4/4/4/Px2 r k".parse()?;
/// assert_eq!(luck::of_flip(&position, "b1(k)".parse()?), Some(0.0)); // what must come is no luck
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn of_flip(before: &Position, ply: Ply) -> Option<f64> {
    let Ply::Flip(square, shown) = ply else { return None };
    let (mut sum, mut weight, mut given) = (0.0, 0.0, 0.0);
    for (piece, count) in before.reveals() {
        // After a flip the other side is to move.
        let worth = 1.0 - value(&before.after_flip(square, piece));
        sum += worth * f64::from(count);
        weight += f64::from(count);
        if piece == shown {
            given = worth;
        }
    }
    Some(given - sum / weight)
}

/// The luck of each ply, for the player who made it.
pub fn by_ply(game: &Game) -> impl Iterator<Item = Option<f64>> {
    game.positions().iter().zip(game.plies()).map(|(before, &ply)| of_flip(before, ply))
}

/// The first player's luck in a game, given that of each ply.
#[must_use]
pub fn of_first(by_ply: &[Option<f64>]) -> f64 {
    let signed = Seat::ALL.into_iter().cycle().zip(by_ply);
    signed
        .map(|(seat, luck)| match seat {
            Seat::First => luck.unwrap_or(0.0),
            Seat::Second => -luck.unwrap_or(0.0),
        })
        .sum()
}
