//! Checking values by forward play with the rules of the game: code that shares nothing with retrograde analysis.
//!
//! Two things together prove the values of a level, those of the levels below being proven:
//!
//! - *Every value is that of the best action.* Then nobody can get more than the values say: by induction over the plies
//!   that a forced conversion takes.
//! - *Every value but 0 is grounded.* A position worth v > 0 has an action worth v that converts, or that leads to a
//!   grounded position; all quiet steps of a position worth v < 0 lead to grounded positions; and grounds do not go
//!   round in circles. Then who is better can really convert: values do not just promise each other.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anqi_endgame::{Class, Grouping};
use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Piece, Position, Setup, Square, SquareSet};

use crate::index::MOST_GROUPS;
use crate::{Fraction, Solver, Veiled};

impl Solver {
    /// Checks the values of every position of an ending, which must be solved with everything its actions lead to.
    /// Gives the number of positions looked at.
    ///
    /// # Errors
    /// With the first position whose value is wrong, or not known.
    pub fn verify(&self, veiled: &Veiled) -> Result<u64, Position> {
        let grouping = veiled.grouping();
        let mut probe = CachedProbe { solver: self, groupings: HashMap::new() };
        let mut positions = 0;
        for (hidden, level) in self.levels(&grouping.class).into_iter().flatten() {
            let position = |number: u32| {
                let placement = level.index().placement(number);
                place(veiled, &grouping, &placement.sets, grouping.color(placement.turn), hidden)
            };
            let count = level.index().len();
            positions += u64::from(count);
            let mut grounded = vec![false; count as usize];
            let mut waiting = Vec::new();
            for number in 0..count {
                let position = position(number);
                let value = probe.value(&position).ok_or(position)?;
                let best = probe.best_action(&position).ok_or(position)?;
                if value != best {
                    return Err(position);
                }
                if value == Fraction::ZERO {
                    grounded[number as usize] = true;
                } else {
                    waiting.push(number);
                }
            }
            while !waiting.is_empty() {
                let before = waiting.len();
                let grounded_now = &mut grounded;
                waiting.retain(|&number| {
                    let ground = probe.has_ground(&position(number), |after| {
                        self.number(&grouping, after).is_some_and(|number| grounded_now[number as usize])
                    });
                    grounded_now[number as usize] = ground;
                    !ground
                });
                if waiting.len() == before {
                    return Err(position(waiting[0]));
                }
            }
        }
        Ok(positions)
    }
}

/// A position of `veiled` with the groups of its class on these squares. Which piece of a group stands where does not
/// matter.
fn place(veiled: &Veiled, grouping: &Grouping, sets: &[u32; MOST_GROUPS], turn: Color, hidden: u32) -> Position {
    let empty = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
    let mut setup = Setup { turn: Some(turn), hidden: SquareSet(hidden), pool: *veiled.pool(), ..empty };
    let mut left = *sets;
    for piece in veiled.shown().pieces() {
        let set = &mut left[grouping.part(piece.index())];
        let square = Square::from_low_bits(set.trailing_zeros() as usize);
        *set &= set.wrapping_sub(1);
        setup.pieces[square.index()] = Some(piece);
    }
    Position::try_from(setup).unwrap_or_else(|error| unreachable!("{error}"))
}

/// Probing without finding the canonical form of the same material again and again.
struct CachedProbe<'a> {
    solver: &'a Solver,
    groupings: HashMap<(Material, Material), Grouping>,
}

impl CachedProbe<'_> {
    fn value(&mut self, position: &Position) -> Option<Fraction> {
        let turn = position.turn()?;
        if position.remaining(turn) == 0 {
            return Some(-Fraction::ONE);
        }
        let (shown, pool) = (position.revealed(), *position.pool());
        let ladder = position.ladder();
        let grouping = match self.groupings.entry((shown, pool)) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => new.insert(Class::of_pieces(&shown, &pool, ladder)),
        };
        Some(self.solver.worth(grouping, position)?.value)
    }

    fn action(&mut self, position: &Position, mv: Move) -> Option<Fraction> {
        match mv {
            Move::Step { from, to } => Some(-self.value(&position.after_step(from, to))?),
            Move::Flip(square) => {
                let reveals: Vec<(Piece, u8)> = position.reveals().collect();
                let mut sum = Fraction::ZERO;
                for (piece, count) in reveals {
                    sum -= self.value(&position.after_flip(square, piece))? * i64::from(count);
                }
                Some(sum / i64::from(position.hidden().len()))
            }
        }
    }

    /// The value of the best action; who has none has lost.
    fn best_action(&mut self, position: &Position) -> Option<Fraction> {
        let mut best = -Fraction::ONE;
        for mv in position.moves() {
            best = best.max(self.action(position, mv)?);
        }
        Some(best)
    }

    /// Whether the value of a position follows from conversions and from `grounded` positions.
    fn has_ground(&mut self, position: &Position, grounded: impl Fn(&Position) -> bool) -> bool {
        let Some(value) = self.value(position) else { return false };
        let quiet = |mv: &Move| match *mv {
            Move::Step { from, to } if position.piece_at(to).is_none() => Some(position.after_step(from, to)),
            _ => None,
        };
        let moves = position.moves();
        if value < Fraction::ZERO {
            return moves.iter().filter_map(quiet).all(|after| grounded(&after));
        }
        moves
            .iter()
            .any(|mv| self.action(position, *mv) == Some(value) && quiet(mv).is_none_or(|after| grounded(&after)))
    }
}
