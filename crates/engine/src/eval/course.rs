//! The evaluation of the NegaScout course program, 2.3: material and mobility.

use anqi_rules::{Color, Direction, Kind, Ladder, Position};

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

impl Course {
    /// What `color` has, and what it is worth against what the enemy has.
    #[inline]
    fn material(&self, position: &Position, own: &RungCounts, foe: &RungCounts) -> i32 {
        let takes = &TAKES[position.ladder() as usize];
        let prey = foe.present();
        let worth = |(rung, &count): (usize, &u32)| {
            let useful = !self.useless || takes[rung] & prey != 0;
            if useful { self.weights.of(position.ladder().kind(rung as u8 + 1)) * count as i32 } else { 0 }
        };
        own.0.iter().enumerate().map(worth).sum()
    }
}

/// How many pieces a side has left by rung, the pawns of rung 1 first.
pub(super) struct RungCounts(pub(super) [u32; 7]);

impl RungCounts {
    #[inline]
    pub(super) fn new(position: &Position, color: Color) -> RungCounts {
        let mut counts = position.by_rung().map(|set| (set & position.pieces(color)).len());
        if !position.hidden().is_empty() {
            for (piece, count) in position.reveals().filter(|(piece, _)| piece.color == color) {
                counts[usize::from(position.ladder().rung(piece.kind)) - 1] += u32::from(count);
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

/// How many moves the pieces of `color` have.
pub(super) fn mobility(position: &Position, color: Color) -> i32 {
    let steps: u32 = Direction::ALL
        .into_iter()
        .map(|direction| (position.steps(direction, color) | position.step_captures(direction, color)).len())
        .sum();
    let jumps: u32 = position.jumpers(color).iter().map(|cannon| position.jumps(cannon, color).len()).sum();
    (steps + jumps) as i32
}

impl Evaluate for Course {
    fn evaluate(&self, position: &Position) -> Score {
        let Some(turn) = position.turn() else { return Score::DRAW };
        let (own, foe) = (RungCounts::new(position, turn), RungCounts::new(position, turn.other()));
        let material = self.material(position, &own, &foe) - self.material(position, &foe, &own);
        let mobility = mobility(position, turn) - mobility(position, turn.other());
        Score(material + self.mobility * mobility)
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
