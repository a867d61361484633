//! The evaluation of the NegaScout course program, 2.3: material and mobility.

use anqi_rules::{Color, Direction, Kind, Position};

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
    #[inline]
    fn material(&self, position: &Position, color: Color) -> i32 {
        let foe = color.other();
        // The kinds the enemy has left, a bit each.
        let prey = Kind::ALL
            .into_iter()
            .filter(|&kind| position.left(foe, kind) > 0)
            .fold(0, |set, kind| set | 1 << kind as u32);
        let value = |kind: Kind| self.weights.of(kind) * position.left(color, kind) as i32;
        let useful = |kind: &Kind| !self.useless || TAKES[position.ladder() as usize][*kind as usize] & prey != 0;
        Kind::ALL.into_iter().filter(useful).map(value).sum()
    }
}

/// The kinds that each kind can take, a bit each, by ladder. A cannon can take anything.
const TAKES: [[u8; 7]; 2] = {
    let mut takes = [[0; 7]; 2];
    let mut ladder = 0;
    while ladder < 2 {
        let mut attacker = 0;
        while attacker < 7 {
            let mut victim = 0;
            while victim < 7 {
                let rungs = anqi_rules::Ladder::ALL[ladder];
                let jumps = rungs.cannons_jump() && attacker == Kind::Cannon as usize;
                if jumps || rungs.takes(Kind::ALL[attacker], Kind::ALL[victim]) {
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

fn mobility(position: &Position, color: Color) -> i32 {
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
        let value = |color| self.material(position, color) + self.mobility * mobility(position, color);
        Score(value(turn) - value(turn.other()))
    }

    fn bound(&self, position: &Position) -> i32 {
        // A piece has at most four steps and four jumps.
        let most =
            |color| self.weights.material(position, color) + 8 * self.mobility * position.remaining(color) as i32;
        larger_side(most)
    }
}
