//! The algorithms of Chen, Shen & Hsu as they are printed, without pruning, table or ordering: short
//! enough to be read against the paper, and what the played forms are tested against. [`course`] has those of the course
//! report.
//!
//! Printed Algorithm 3.2 calls a "normal alpha-beta pruning algorithm by considering only moving actions" and then, if
//! `s ≤ c`, itself after each flip. The reading `below=flips` calls itself after moves, too.

pub mod course;

use anqi_rules::{Move, Piece, Position};

use crate::eval::Evaluate;
use crate::minimax::chen::Below;
use crate::score::Score;

/// What the printed algorithms need to know.
#[derive(Clone, Debug)]
pub struct Printed<'a, E> {
    /// The evaluation function.
    pub eval: &'a E,
    /// The pieces that a flip looks at, in order; all of them for ENHANCE.
    pub types: Vec<Piece>,
    /// How many of them (k-type expansion).
    pub k: usize,
    /// What the first search of Algorithm 3.2 is.
    pub below: Below,
    /// Draw after so many quiet plies.
    pub draw: u16,
}

impl<E: Evaluate> Printed<'_, E> {
    /// Algorithm 3.1 below the root: `negamax(position, depth_limit)`, moving actions only.
    pub fn negamax(&self, position: &Position, depth_limit: u32) -> Score {
        if let Some(score) = self.finished(position, depth_limit) {
            return score;
        }
        let next = self.moves(position);
        if next.is_empty() || depth_limit == 0 {
            return self.eval.evaluate(position);
        }
        next.iter().map(|p| -self.negamax(p, depth_limit - 1)).max().unwrap_or_default()
    }

    /// Algorithm 3.2: `exhaustive(position, depth_limit)`, without α and β.
    pub fn exhaustive(&self, position: &Position, depth_limit: u32) -> Score {
        if let Some(score) = self.finished(position, depth_limit) {
            return score;
        }
        let c = self.eval.evaluate(position);
        if depth_limit == 0 {
            return c;
        }
        let mut s = match self.below {
            Below::Moves => self.negamax(position, depth_limit),
            Below::Flips => {
                let best = self.moves(position).iter().map(|p| -self.exhaustive(p, depth_limit - 1)).max();
                best.unwrap_or(-Score::INFINITE)
            }
        };
        if s <= c {
            for r in position.hidden() {
                let types = self.types.iter().map(|&t| (t, position.pool().count(t))).filter(|&(_, n)| n > 0);
                let values = types.take(self.k).map(|(t, piece_num_of_type)| {
                    let p = position.after_flip(r, t);
                    (-self.exhaustive(&p, depth_limit - 1), piece_num_of_type)
                });
                s = s.max(Score::mean(values));
            }
        }
        s
    }

    fn moves(&self, position: &Position) -> Vec<Position> {
        let moves = position.moves().into_iter();
        moves
            .filter_map(|mv| match mv {
                Move::Step { from, to } => Some(position.after_step(from, to)),
                Move::Flip(_) => None,
            })
            .collect()
    }

    /// Wins, losses and draws by the rules, which the paper leaves to its evaluation function. At the
    /// horizon only what is seen without making moves counts.
    fn finished(&self, position: &Position, depth: u32) -> Option<Score> {
        if position.turn().is_some_and(|turn| position.remaining(turn) == 0) {
            return Some(Score::loss(depth));
        }
        if position.quiet() >= self.draw {
            return Some(Score::DRAW);
        }
        (depth > 0 && !position.has_moves()).then(|| Score::loss(depth))
    }
}
