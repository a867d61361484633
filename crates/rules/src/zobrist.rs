//! Keys of the 64-bit position hash, made at compile time from SplitMix64.

use crate::piece::{Color, Piece};
use crate::square::Square;

/// A pool holds at most 32 pieces, so a count is 0 to 32.
const COUNTS: usize = 33;
/// 0 is no rung, but keeps the index a shift.
const RUNGS: usize = 8;

struct Keys {
    /// By colour and rung: a position knows rungs, and never meets one of another ladder.
    piece: [[[u64; Square::COUNT]; RUNGS]; 2],
    hidden: [u64; Square::COUNT],
    pool: [[u64; COUNTS]; Piece::COUNT],
    turn: [u64; 2],
}

static KEYS: Keys = {
    let mut keys = Keys {
        piece: [[[0; Square::COUNT]; RUNGS]; 2],
        hidden: [0; Square::COUNT],
        pool: [[0; COUNTS]; Piece::COUNT],
        turn: [0; 2],
    };
    let mut state = 0x616e_7169; // "anqi"
    let mut i = 0;
    while i < 2 * RUNGS {
        let mut square = 0;
        while square < Square::COUNT {
            keys.piece[i / RUNGS][i % RUNGS][square] = split_mix(&mut state);
            square += 1;
        }
        i += 1;
    }
    i = 0;
    while i < Piece::COUNT {
        let mut count = 1; // an empty pool contributes nothing
        while count < COUNTS {
            keys.pool[i][count] = split_mix(&mut state);
            count += 1;
        }
        i += 1;
    }
    let mut square = 0;
    while square < Square::COUNT {
        keys.hidden[square] = split_mix(&mut state);
        square += 1;
    }
    keys.turn = [split_mix(&mut state), split_mix(&mut state)];
    keys
};

const fn split_mix(state: &mut u64) -> u64 {
    *state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let mut z = *state;
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[inline]
pub(crate) fn piece(color: Color, rung: u8, square: Square) -> u64 {
    KEYS.piece[color as usize][usize::from(rung) % RUNGS][square.index()]
}

#[inline]
pub(crate) fn hidden(square: Square) -> u64 {
    KEYS.hidden[square.index()]
}

#[inline]
pub(crate) fn pool(piece: Piece, count: u8) -> u64 {
    KEYS.pool[piece.index()][usize::from(count)]
}

/// Before the first flip nobody has a colour, and the side adds nothing.
#[inline]
pub(crate) fn turn(turn: Option<Color>) -> u64 {
    turn.map_or(0, |color| KEYS.turn[color as usize])
}
