//! Values that follow the game: the *dynamic piece value strategy* of Chen, Shen & Hsu, 2.4.

use anqi_rules::{Color, Kind, Ladder, Position, neighbours};

use super::{Evaluate, larger_side};
use crate::score::Score;

/// What the section asks for, with numbers of ours:
///
/// - a piece is worth its place on what is left of the ladder: when every enemy above a minister is
///   gone, the minister is worth a king;
/// - a pawn is worth much while the enemy king lives, and little afterwards;
/// - a cannon is worth its base, more for each piece it can capture now over a carriage, and less
///   when an enemy that can take it stands next to it.
#[derive(Clone, Copy, Debug)]
pub struct Dynamic {
    /// By how many kinds of enemy are left above a piece.
    pub place: [i32; 5],
    /// A pawn while the enemy king lives.
    pub pawn: i32,
    /// A pawn afterwards.
    pub petty: i32,
    /// A cannon.
    pub cannon: i32,
    /// Each piece that a cannon can capture now.
    pub carriage: i32,
    /// A cannon that can be taken by a step.
    pub unsafe_cannon: i32,
}

impl Default for Dynamic {
    fn default() -> Dynamic {
        Dynamic {
            place: [1200, 800, 400, 200, 120],
            pawn: 200,
            petty: 40,
            cannon: 300,
            carriage: 40,
            unsafe_cannon: -80,
        }
    }
}

/// The kinds whose worth is their place, from the top.
fn ranked(ladder: Ladder) -> impl Iterator<Item = Kind> {
    (2..=7).rev().map(move |rung| ladder.kind(rung)).filter(|kind| *kind != Kind::Cannon)
}

impl Dynamic {
    fn value(&self, position: &Position, color: Color) -> i32 {
        let foe = color.other();
        let mut above = 0;
        let mut value = 0;
        for kind in ranked(position.ladder()) {
            value += self.place[above] * position.left(color, kind) as i32;
            above += usize::from(position.left(foe, kind) > 0);
        }
        let pawn = if position.left(foe, Kind::King) > 0 { self.pawn } else { self.petty };
        value + pawn * position.left(color, Kind::Pawn) as i32 + self.cannons(position, color)
    }

    fn cannons(&self, position: &Position, color: Color) -> i32 {
        let mut value = self.cannon * position.left(color, Kind::Cannon) as i32;
        for cannon in position.jumpers(color) {
            value += self.carriage * position.jumps(cannon, color).len() as i32;
            if !(position.attackers_of(cannon) & neighbours(cannon)).is_empty() {
                value += self.unsafe_cannon;
            }
        }
        value
    }
}

impl Evaluate for Dynamic {
    fn evaluate(&self, position: &Position) -> Score {
        let Some(turn) = position.turn() else { return Score::DRAW };
        Score(self.value(position, turn) - self.value(position, turn.other()))
    }

    fn bound(&self, position: &Position) -> i32 {
        let Dynamic { place, pawn, petty, cannon, carriage, unsafe_cannon } = *self;
        // A piece may come to be worth a king, a cannon to attack four pieces.
        let best = place.into_iter().chain([pawn, petty]).fold(cannon + 4 * carriage + unsafe_cannon.max(0), i32::max);
        if place.into_iter().chain([pawn, petty, cannon, carriage]).all(|weight| weight >= 0) {
            return larger_side(|color| best * position.remaining(color) as i32) - 4 * unsafe_cannon.min(0) * 8;
        }
        // A piece that is worth less than nothing counts for the other side.
        let a_cannon = cannon.abs() + 4 * carriage.abs() + unsafe_cannon.abs();
        let most = place.into_iter().chain([pawn, petty]).map(i32::abs).fold(a_cannon, i32::max);
        Color::ALL.into_iter().map(|color| most * position.remaining(color) as i32).sum()
    }
}
