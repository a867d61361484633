//! `Word`: sets of squares, of one game or of many games side by side.

use std::ops::{BitAnd, BitOr, BitXor, Not, Shl, Shr};

/// A set of squares in each of one or more games.
///
/// Everything that finds actions is written once over this trait, so the scalar kernel and every
/// vector backend agree on what is legal by construction. Bit `8 * file + rank` is a square: a file
/// is a byte, `>> 8` looks one file to the right, `>> 1` one rank up.
pub(crate) trait Word:
    Copy
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// The same set in every game.
    fn splat(squares: u32) -> Self;

    /// Whether all sets are empty, if that is quickly known: a hint to skip work. Among many games
    /// one will have a square, so vectors need not look.
    fn surely_empty(self) -> bool;

    /// `nonempty` in the games where `self` has a square, `empty` in the others.
    fn select(self, nonempty: Self, empty: Self) -> Self;

    /// The first occupied square above each square of `self` in its file.
    ///
    /// `self` must be occupied too: then every square finds a different one, and any number of
    /// them can look at the same time.
    fn next_above(self, occupied: Self) -> Self;
}

/// `words.map(f)` that is sure to be inlined: the library's version may stay a function of its own,
/// compiled without the vector instructions of its caller.
#[inline(always)]
pub(crate) fn each<W: Copy, const N: usize>(mut words: [W; N], f: impl Fn(W) -> W) -> [W; N] {
    for word in &mut words {
        *word = f(*word);
    }
    words
}

impl Word for u32 {
    #[inline(always)]
    fn splat(squares: u32) -> u32 {
        squares
    }

    #[inline(always)]
    fn surely_empty(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn select(self, nonempty: u32, empty: u32) -> u32 {
        if self != 0 { nonempty } else { empty }
    }

    /// Subtracting the square above the looker borrows through the empty squares and clears the
    /// first occupied one. There is no subtraction byte by byte, so the top rank is set beforehand:
    /// then no borrow leaves its file, but a looker just below the top rank has to be told apart.
    #[inline(always)]
    fn next_above(self, occupied: u32) -> u32 {
        const TOP: u32 = 0x8080_8080;
        let above = self << 1 & 0xFEFE_FEFE;
        let borrowed = (occupied | TOP) - (above & !TOP);
        occupied & (above | !borrowed)
    }
}

#[cfg(test)]
mod tests {
    use super::Word;

    #[test]
    fn next_above_in_every_file() {
        for file in 0..=u8::MAX {
            for lookers in (0..=u8::MAX).filter(|lookers| lookers & !file == 0) {
                let expected = (0..8).filter(|&i| lookers >> i & 1 == 1).fold(0, |found, i| {
                    let above = u32::from(file) >> (i + 1) << (i + 1);
                    found | above & above.wrapping_neg()
                });
                let four = |byte: u32| byte * 0x0101_0101;
                assert_eq!(four(lookers.into()).next_above(four(file.into())), four(expected));
            }
        }
    }
}
