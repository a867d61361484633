//! The evaluation of the NegaScout course program, 2.3: material and mobility.

use anqi_rules::{ByColor, Color, Kind, Ladder, Position, Square};

use super::{Evaluate, Weights, larger_side};
use crate::score::Score;

/// Material, where a kind that can capture nothing that the enemy has left counts nothing (so that it
/// can be given away in the endgame), and how many moves each side's pieces have.
#[derive(Clone, Copy, Debug)]
pub struct Course {
    /// The values of the text.
    pub weights: Weights,
    /// The value of one move. The text names mobility and gives no weight.
    pub mobility: i32,
    /// Whether a kind that can capture nothing counts nothing.
    pub useless: bool,
}

impl Default for Course {
    fn default() -> Course {
        Course { weights: Weights([12863, 6431, 3215, 1607, 803, 805, 200]), mobility: 10, useless: true }
    }
}

/// What both sides have left, on the board and face down, and what it is worth. Only captures change it, so a search takes it along.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Armies {
    counts: ByColor<RungCounts>,
    /// A bit for each rung that has prey left, or for all where that does not matter.
    useful: ByColor<u8>,
    /// Red less black.
    worth: i32,
}

impl Armies {
    /// Whether `color` has lost everything.
    #[inline]
    pub(crate) fn has_lost(&self, color: Color) -> bool {
        self.counts[color].0 == [0; 7]
    }
}

impl Course {
    /// What both sides have.
    pub(crate) fn armies(&self, position: &Position) -> Armies {
        let counts = ByColor(Color::ALL.map(|color| RungCounts::new(position, color)));
        self.weighed(position.ladder(), counts)
    }

    /// The armies after the step of the side to move to `to`, which may be a capture.
    #[inline]
    pub(crate) fn after_step(&self, armies: &Armies, position: &Position, to: Square) -> Armies {
        let rung = usize::from(position.rung_at(to));
        let Some((victim, rung)) = position.turn().map(Color::other).zip(rung.checked_sub(1)) else { return *armies };
        let mut after = *armies;
        after.counts[victim].0[rung] -= 1;
        if after.counts[victim].0[rung] == 0 {
            // Something may have lost its last prey.
            return self.weighed(position.ladder(), after.counts);
        }
        if after.useful[victim] >> rung & 1 == 1 {
            let value = self.weights.of(position.ladder().kind(rung as u8 + 1));
            after.worth -= if victim == Color::Red { value } else { -value };
        }
        after
    }

    fn weighed(&self, ladder: Ladder, counts: ByColor<RungCounts>) -> Armies {
        let useful =
            |color: Color| if self.useless { hunters(ladder, counts[color.other()].present()) } else { u8::MAX };
        let useful = ByColor(Color::ALL.map(useful));
        let worth = |color| {
            let value = |(rung, &count): (usize, &u8)| {
                let counted = useful[color] >> rung & 1 == 1;
                if counted { self.weights.of(ladder.kind(rung as u8 + 1)) * i32::from(count) } else { 0 }
            };
            counts[color].0.iter().enumerate().map(value).sum::<i32>()
        };
        Armies { counts, useful, worth: worth(Color::Red) - worth(Color::Black) }
    }

    /// The score of a position with these armies and so many moves of each side.
    #[inline]
    pub(crate) fn score(&self, position: &Position, armies: &Armies, mobility: ByColor<u32>) -> Score {
        let Some(turn) = position.turn() else { return Score::DRAW };
        let ByColor([red, black]) = mobility;
        let red = armies.worth + self.mobility * (red as i32 - black as i32);
        Score(if turn == Color::Red { red } else { -red })
    }
}

/// How many pieces a side has left by rung, the pawns of rung 1 first.
#[derive(Clone, Copy, Debug)]
pub(super) struct RungCounts(pub(super) [u8; 7]);

impl RungCounts {
    #[inline]
    pub(super) fn new(position: &Position, color: Color) -> RungCounts {
        let mut counts = position.by_rung().map(|set| (set & position.pieces(color)).len() as u8);
        if !position.hidden().is_empty() {
            for (piece, count) in position.reveals().filter(|(piece, _)| piece.color == color) {
                counts[usize::from(position.ladder().rung(piece.kind)) - 1] += count;
            }
        }
        RungCounts(counts)
    }

    /// A bit for each rung that has a piece.
    #[inline]
    pub(super) fn present(&self) -> u8 {
        self.0.iter().enumerate().fold(0, |set, (rung, &count)| set | u8::from(count > 0) << rung)
    }
}

/// By ladder and rung, the rungs that it can take, a bit each. A cannon that jumps can take anything.
const TAKES: [[u8; 7]; 2] = {
    let mut takes = [[0; 7]; 2];
    let mut ladder = 0;
    while ladder < 2 {
        let rungs = Ladder::ALL[ladder];
        let mut attacker = 0;
        while attacker < 7 {
            let mut victim = 0;
            while victim < 7 {
                let (kind, prey) = (rungs.kind(attacker as u8 + 1), rungs.kind(victim as u8 + 1));
                if rungs.takes(kind, prey) || rungs.cannons_jump() && matches!(kind, Kind::Cannon) {
                    takes[ladder][attacker] |= 1 << victim;
                }
                victim += 1;
            }
            attacker += 1;
        }
        ladder += 1;
    }
    takes
};

/// The rungs, a bit each, that can take one of `prey`.
#[inline]
fn hunters(ladder: Ladder, prey: u8) -> u8 {
    let takes = &TAKES[ladder as usize];
    takes.iter().enumerate().fold(0, |set, (rung, &taken)| set | u8::from(taken & prey != 0) << rung)
}

impl Evaluate for Course {
    fn evaluate(&self, position: &Position) -> Score {
        self.score(position, &self.armies(position), position.survey().mobility)
    }

    fn bound(&self, position: &Position) -> i32 {
        // A piece has at most four steps and four jumps.
        let moves = |color| 8 * self.mobility.abs() * position.remaining(color) as i32;
        if self.weights.0.iter().all(|weight| *weight >= 0) && self.mobility >= 0 {
            return larger_side(|color| self.weights.material(position, color) + moves(color));
        }
        self.weights.bound(position) + moves(Color::Red) + moves(Color::Black)
    }
}
