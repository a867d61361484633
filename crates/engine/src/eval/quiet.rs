//! What a position is worth when captures have been played out.

use anqi_rules::{Move, Position};

use super::Evaluate;
use crate::score::Score;

/// The evaluation after the best captures on both sides; everybody may stop at any moment. No limits: captures take
/// pieces away, so there is an end.
#[must_use]
pub fn quiesce(eval: &(impl Evaluate + ?Sized), position: &Position) -> Score {
    play_out_captures(eval, position).0
}

/// The same, with the position in which the captures end.
#[must_use]
pub fn play_out_captures(eval: &(impl Evaluate + ?Sized), position: &Position) -> (Score, Position) {
    search(eval, position, -Score::INFINITE, Score::INFINITE)
}

fn search(eval: &(impl Evaluate + ?Sized), position: &Position, alpha: Score, beta: Score) -> (Score, Position) {
    let mut best = (eval.evaluate(position), *position);
    for mv in position.captures() {
        if best.0 >= beta {
            break;
        }
        let Move::Step { from, to } = mv else { continue };
        let child = position.after_step(from, to);
        let (score, end) = if child.turn().is_some_and(|turn| child.remaining(turn) == 0) {
            (Score::win(0), child)
        } else {
            let (score, end) = search(eval, &child, -beta, -best.0.max(alpha));
            (-score, end)
        };
        if score > best.0 {
            best = (score, end);
        }
    }
    best
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::Fixed;

    #[test]
    fn captures_are_played_out() {
        for (position, score) in [
            // The rook takes a pawn that a guard protects: better not.
            ("4/4/4/4/4/1g2/1p2/1R2 r -", 200 - 120 - 800),
            // Nobody protects it.
            ("4/4/4/4/4/4/1p2/1R2 r -", Score::win(0).0),
            ("4/4/4/3n/4/4/1p2/1R2 r -", 200 - 120),
        ] {
            assert_eq!(quiesce(&Fixed::default(), &position.parse().unwrap()), Score(score), "{position}");
        }
    }
}
