//! The NegaScout course program without pruning, null windows, table or ordering: its values and its decision, to be read against
//! the report and to test the played form against.

use anqi_rules::{Move, Piece, Position, Square};

use crate::eval::Evaluate;
use crate::minimax::decision::{Among, ChanceBy, SumOf};
use crate::score::Score;

/// What the plain search needs to know.
#[derive(Clone, Debug)]
pub struct PlainCourse<'a, E> {
    /// The evaluation function (section 2.3).
    pub eval: &'a E,
    /// Whether captures are searched beyond the horizon.
    pub quiescence: bool,
    /// Whether a side may pass while pieces are face down.
    pub null: bool,
    /// Draw after so many quiet plies.
    pub draw: u16,
}

/// The scores of a face-down piece: what it may be, how many such pieces there are, and the score for the side that turns it up.
pub type FlipScores = Vec<(Piece, u8, Score)>;

impl<E: Evaluate> PlainCourse<'_, E> {
    /// Section 2.1: the score of a position for the side to move, so many plies ahead.
    pub fn negamax(&self, position: &Position, depth: u32) -> Score {
        if position.turn().is_some_and(|turn| position.remaining(turn) == 0) {
            return Score::loss(depth);
        }
        if position.quiet() >= self.draw {
            return Score::DRAW;
        }
        if depth == 0 {
            return if self.quiescence { self.quiescent(position) } else { self.eval.evaluate(position) };
        }
        let mut next: Vec<Position> = position.moves().iter().filter_map(|mv| after_step(position, *mv)).collect();
        if self.null && !position.hidden().is_empty() {
            next.push(position.after_pass());
        }
        let best = next.iter().map(|child| -self.negamax(child, depth - 1)).max();
        best.unwrap_or_else(|| {
            // Who cannot move can still turn something up, which is not searched.
            if position.hidden().is_empty() { Score::loss(depth) } else { self.eval.evaluate(position) }
        })
    }

    /// "The evaluating function is called when there exists no capturing moves, or when capturing pieces is not the best choice."
    fn quiescent(&self, position: &Position) -> Score {
        let children = position.captures().into_iter().filter_map(|mv| after_step(position, mv));
        let scores = children.map(|child| match child.turn() {
            Some(turn) if child.remaining(turn) == 0 => Score::win(0),
            _ => -self.quiescent(&child),
        });
        scores.fold(self.eval.evaluate(position), Score::max)
    }

    /// "The best score of moving a face-up piece", if one can move.
    pub fn best_move(&self, root: &Position, depth: u32) -> Option<Score> {
        let children = root.moves().into_iter().filter_map(|mv| after_step(root, mv));
        children.map(|child| -self.negamax(&child, depth - 1)).max()
    }

    /// "For every face-down piece p, and every possible kind of piece k that p may be, the program calculates the score of
    /// board after turning p to become k and simulated 4 plys."
    pub fn flips(&self, root: &Position, plies: u32) -> Vec<(Square, FlipScores)> {
        let score = |p, k| -self.negamax(&root.after_flip(p, k), plies);
        let scores = |p| root.reveals().map(|(k, count)| (k, count, score(p, k))).collect();
        root.hidden().iter().map(|p| (p, scores(p))).collect()
    }
}

/// Section 2.2: the piece that is turned up, `None` if one is moved.
#[must_use]
pub fn turned_up(
    flips: &[(Square, FlipScores)],
    best_move: Option<Score>,
    sum: SumOf,
    chance: ChanceBy,
    among: Among,
) -> Option<Square> {
    let pieces = |by_pieces: bool, count: u8| if by_pieces { i32::from(count) } else { 1 };
    let promises_more = |scores: &FlipScores| {
        let Some(best_move) = best_move else { return true };
        let (mut greater, mut all) = (0, 0);
        for &(_, count, score) in scores {
            let n = pieces(chance == ChanceBy::Pieces, count);
            all += n;
            greater += if score > best_move { n } else { 0 };
        }
        f64::from(greater) / f64::from(all) > 0.5
    };
    let sum_of = |scores: &FlipScores| match sum {
        SumOf::Kinds | SumOf::Pieces => {
            scores.iter().map(|&(_, count, score)| score.0 * pieces(sum == SumOf::Pieces, count)).sum()
        }
        SumOf::Mean => Score::mean(scores.iter().map(|&(_, count, score)| (score, count))).0,
    };
    if !flips.iter().any(|(_, scores)| promises_more(scores)) {
        return None;
    }
    let mut best: Option<(i32, Square)> = None;
    for (p, scores) in flips {
        let counts = among == Among::All || promises_more(scores);
        if counts && best.is_none_or(|(highest, _)| sum_of(scores) > highest) {
            best = Some((sum_of(scores), *p));
        }
    }
    best.map(|(_, p)| p)
}

fn after_step(position: &Position, mv: Move) -> Option<Position> {
    match mv {
        Move::Step { from, to } => Some(position.after_step(from, to)),
        Move::Flip(_) => None,
    }
}
