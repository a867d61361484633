//! The evaluation of the champion, by hand: what a piece is worth against those that can take it, and where pieces stand.

use anqi_rules::{Color, Direction, Ladder, Position, SquareSet};

use super::Evaluate;
use super::course::RungCounts;
use crate::score::Score;

/// A sum of weights. A piece is worth what is left of the enemy above it: a value for each kind and each number of enemy
/// kinds that could take it by a step, and a pawn has two of them, with and without an enemy king. Then what quiescence does not see:
/// pieces that are attacked, enemies two steps away that could be taken, face-down neighbours, moves, and the turn.
#[derive(Clone, Copy, Debug)]
pub struct Hand(pub [i32; Hand::COUNT]);

/// Where the values of a rung begin, the pawns of rung 1 first, and how many there are; pawns that threaten a king come last.
const VALUES: [(usize, usize); 8] = [(0, 5), (5, 6), (11, 5), (16, 4), (20, 3), (23, 2), (25, 2), (27, 5)];
const HUNTING_PAWN: usize = 7;
const ATTACKED: usize = 32;
const NEAR: usize = ATTACKED + 7;
const BESIDE: usize = NEAR + 7;
const MOBILITY: usize = BESIDE + 7;
const FACE_DOWN: usize = MOBILITY + 1;
const TURN: usize = FACE_DOWN + 1;

impl Hand {
    /// How many weights there are.
    pub const COUNT: usize = TURN + 1;

    /// What they are called: pieces by the number of enemy kinds that could take them, the others by kind.
    #[rustfmt::skip]
    pub const NAMES: [&str; Hand::COUNT] = [
        "pawn-0", "pawn-1", "pawn-2", "pawn-3", "pawn-4",
        "cannon-0", "cannon-1", "cannon-2", "cannon-3", "cannon-4", "cannon-5",
        "knight-0", "knight-1", "knight-2", "knight-3", "knight-4",
        "rook-0", "rook-1", "rook-2", "rook-3",
        "minister-0", "minister-1", "minister-2",
        "guard-0", "guard-1",
        "king-0", "king-1",
        "hunting-pawn-0", "hunting-pawn-1", "hunting-pawn-2", "hunting-pawn-3", "hunting-pawn-4",
        "attacked-pawn", "attacked-cannon", "attacked-knight", "attacked-rook", "attacked-minister", "attacked-guard",
        "attacked-king",
        "near-pawn", "near-cannon", "near-knight", "near-rook", "near-minister", "near-guard", "near-king",
        "beside-pawn", "beside-cannon", "beside-knight", "beside-rook", "beside-minister", "beside-guard", "beside-king",
        "mobility", "face-down", "turn",
    ];

    /// Calls `add` with every weight that counts for the side to move, and how often it counts, less how often for the other.
    #[inline]
    pub(super) fn count(position: &Position, mut add: impl FnMut(usize, i32)) {
        let Some(turn) = position.turn() else { return };
        let ladder = position.ladder();
        let rungs = position.by_rung();
        let counts = [RungCounts::new(position, turn), RungCounts::new(position, turn.other())];
        let beside = around(position.hidden());
        let mobility = position.survey().mobility;
        for (side, color, sign) in [(0, turn, 1), (1, turn.other(), -1)] {
            let (own, foe) = (position.pieces(color), position.pieces(color.other()));
            let enemies = counts[1 - side].present();
            for (rung, &set) in rungs.iter().enumerate() {
                let pieces = i32::from(counts[side].0[rung]);
                if pieces > 0 {
                    let hunts = rung == 0 && enemies >> 6 & 1 == 1;
                    let (place, places) = VALUES[if hunts { HUNTING_PAWN } else { rung }];
                    let takers = (enemies & TAKEN_BY[ladder as usize][rung]).count_ones() as usize;
                    add(place + takers.min(places - 1), sign * pieces);
                    add(BESIDE + rung, sign * (set & own & beside).len() as i32);
                }
                let prey = set & foe;
                if !prey.is_empty() {
                    let takers = TAKEN_BY[ladder as usize][rung] | 1 << rung;
                    let hunters: SquareSet = (0..7)
                        .filter(|taker| takers >> taker & 1 == 1)
                        .fold(SquareSet::EMPTY, |all, taker| all | rungs[taker]);
                    let near = around(around(prey) & position.empty()) & hunters & own;
                    add(NEAR + rung, sign * near.len() as i32);
                }
            }
            add(MOBILITY, sign * mobility[color] as i32);
            add(FACE_DOWN, sign * position.pool().of(color) as i32);
        }
        let attacked = position.attacked_by(turn.other());
        for (rung, &set) in rungs.iter().enumerate() {
            add(ATTACKED + rung, (attacked & set).len() as i32);
        }
        add(TURN, 1);
    }
}

/// By ladder and rung, the other rungs that can take it by a step, a bit each.
const TAKEN_BY: [[u8; 7]; 2] = {
    let mut taken = [[0; 7]; 2];
    let mut ladder = 0;
    while ladder < 2 {
        let rungs = Ladder::ALL[ladder];
        let mut victim = 0;
        while victim < 7 {
            let mut taker = 0;
            while taker < 7 {
                if taker != victim && rungs.takes(rungs.kind(taker as u8 + 1), rungs.kind(victim as u8 + 1)) {
                    taken[ladder][victim] |= 1 << taker;
                }
                taker += 1;
            }
            victim += 1;
        }
        ladder += 1;
    }
    taken
};

/// The squares one step away from any of `set`.
#[inline]
fn around(set: SquareSet) -> SquareSet {
    Direction::ALL.into_iter().fold(SquareSet::EMPTY, |all, direction| all | direction.shift(set))
}

impl Default for Hand {
    #[rustfmt::skip]
    fn default() -> Hand {
        Hand([
            150, 80, 60, 90, 140,
            1500, 1100, 774, 584, 450, 470,
            1500, 500, 243, 150, 220,
            1500, 500, 220, 180,
            1500, 480, 260,
            1478, 813,
            1455, 871,
            400, 272, 220, 250, 234,
            -102, -269, -73, -56, -142, -263, -757,
            74, 138, 73, 103, 140, 136, 351,
            0, 45, 24, 5, 28, -45, -110,
            41, 20, 57,
        ])
    }
}

impl Evaluate for Hand {
    #[inline]
    fn evaluate(&self, position: &Position) -> Score {
        let mut score = 0;
        Hand::count(position, |place, times| score += self.0[place] * times);
        Score(score)
    }

    fn bound(&self, position: &Position) -> i32 {
        let most =
            |places: std::ops::Range<usize>| self.0[places].iter().fold(0, |most, weight| weight.abs().max(most));
        let a_piece = most(0..ATTACKED)
            + most(ATTACKED..NEAR)
            + 4 * most(NEAR..BESIDE)
            + most(BESIDE..MOBILITY)
            + 8 * self.0[MOBILITY].abs()
            + self.0[FACE_DOWN].abs();
        let pieces: u32 = Color::ALL.into_iter().map(|color| position.remaining(color)).sum();
        a_piece * pieces as i32 + self.0[TURN].abs()
    }
}
