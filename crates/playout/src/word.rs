//! `Word`: sets of squares, seen along the files and along the ranks at the same time.

use std::ops::{BitAnd, BitOr, BitXor, Not};

/// A set of squares in each of one or more games, with two *views* of it: one has the files as its
/// lines, the other the ranks.
///
/// Everything that finds actions is written once over this trait: for both views, and for the
/// scalar kernel and every vector backend, which so agree on what is legal by construction. *Up* a
/// line is to the north in a file, and to the east in a rank.
pub(crate) trait Word:
    Copy + BitAnd<Output = Self> + BitOr<Output = Self> + BitXor<Output = Self> + Not<Output = Self>
{
    /// No square.
    fn empty() -> Self;

    /// Every square with what the set has on the next one up its line. At the upper end of a line
    /// there is no next one: anything.
    fn upper(self) -> Self;

    /// Every square with what the set has on the next one down its line; nothing at its lower end.
    fn lower(self) -> Self;

    /// Each view with what the other one has.
    fn across(self) -> Self;

    /// The squares that have one of the set as the first piece below. `self` must be occupied.
    fn above(self, empty: Self) -> Self;

    /// The squares that have one of the set as the first piece above. `self` must be occupied.
    fn below(self, empty: Self) -> Self;

    /// Only the squares below the upper end of their line.
    fn inside(self) -> Self;

    /// Only the view along the files.
    fn in_files(self) -> Self;

    /// The squares reached by jumping up a line over exactly one piece. `self` must be occupied.
    fn jump(self, occupied: Self) -> Self;

    /// Whether all sets are empty, if that is quickly known: a hint to skip work. Among many games
    /// one will have a square, so vectors need not look.
    fn surely_empty(self) -> bool;

    /// Whether every set has a square, if that is quickly known; a hint like
    /// [`surely_empty`](Word::surely_empty).
    fn surely_some(self) -> bool;

    /// `nonempty` in the games where `self` has a square, `empty` in the others.
    fn select(self, nonempty: Self, empty: Self) -> Self;
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

/// The view along the ranks from that along the files, or back.
///
/// In the view along the files bit `8 * file + rank` is a square: a byte is a file. Bits 0 and 3 of
/// this number change places, and bits 1 and 4: then a nibble is a rank. The ranks follow each other
/// in disorder, which does no harm.
#[inline(always)]
pub(crate) const fn transposed(set: u32) -> u32 {
    both_transposed(set as u64) as u32
}

/// [`transposed`] for the two halves of a word.
#[inline(always)]
const fn both_transposed(set: u64) -> u64 {
    const fn halves(half: u64) -> u64 {
        half | half << 32
    }
    let set = set & halves(0xAA55_AA55) | (set & halves(0x00AA_00AA)) << 7 | set >> 7 & halves(0x00AA_00AA);
    set & halves(0xCCCC_3333) | (set & halves(0x0000_CCCC)) << 14 | set >> 14 & halves(0x0000_CCCC)
}

/// Both views of a set: along the files in the lower half, along the ranks in the upper.
#[inline(always)]
pub(crate) const fn both(set: u32) -> u64 {
    set as u64 | (transposed(set) as u64) << 32
}

/// Both views of one game; see [`both`].
impl Word for u64 {
    #[inline(always)]
    fn empty() -> u64 {
        0
    }

    #[inline(always)]
    fn upper(self) -> u64 {
        self >> 1
    }

    #[inline(always)]
    fn lower(self) -> u64 {
        (self & !TOP) << 1
    }

    #[inline(always)]
    fn across(self) -> u64 {
        both_transposed(self).rotate_left(32)
    }

    /// Adding the squares above carries through the empty squares to the first piece, or at last to the
    /// upper end of the line, and changes all of them.
    #[inline(always)]
    fn above(self, empty: u64) -> u64 {
        let empty = empty.inside();
        empty ^ (empty + self.lower())
    }

    #[inline(always)]
    fn below(self, empty: u64) -> u64 {
        let (mut seers, mut runs) = (self, empty.inside());
        for length in [1, 2, 4] {
            seers |= runs & seers >> length;
            runs &= runs >> length;
        }
        seers.upper().inside()
    }

    #[inline(always)]
    fn inside(self) -> u64 {
        self & !TOP
    }

    #[inline(always)]
    fn in_files(self) -> u64 {
        u64::from(self as u32)
    }

    #[inline(always)]
    fn jump(self, occupied: u64) -> u64 {
        next_above(next_above(self, occupied), occupied)
    }

    #[inline(always)]
    fn surely_empty(self) -> bool {
        self == 0
    }

    #[inline(always)]
    fn surely_some(self) -> bool {
        self != 0
    }

    #[inline(always)]
    fn select(self, nonempty: u64, empty: u64) -> u64 {
        if self != 0 { nonempty } else { empty }
    }
}

/// The upper ends of the lines.
const TOP: u64 = 0x8888_8888_8080_8080;

/// The first occupied square above each square of `lookers` in its line.
///
/// `lookers` must be occupied too: then every square finds a different one, and any number of them
/// can look at the same time. Adding the square above the looker carries through the empty squares
/// to the first occupied one, or at last to the upper end of the line.
#[inline(always)]
pub(crate) fn next_above(lookers: u64, occupied: u64) -> u64 {
    occupied & ((!occupied).inside() + (lookers.inside() << 1))
}

#[cfg(test)]
mod tests {
    use super::{next_above, transposed};

    #[test]
    fn a_nibble_of_the_other_view_is_a_rank() {
        for rank in 0..8 {
            let [a, b, c, d] = [0, 1, 2, 3].map(|file| transposed(1 << (8 * file + rank)));
            assert_eq!([b, c, d], [a << 1, a << 2, a << 3]);
            assert_eq!(a.trailing_zeros() % 4, 0);
        }
        for set in (0..1000).map(|i: u32| i.wrapping_mul(0x9E37_79B9)) {
            let squares = (0..32).map(|i| set & 1 << i).filter(|&square| square != 0);
            assert_eq!(squares.map(transposed).sum::<u32>(), transposed(set));
            assert_eq!(transposed(transposed(set)), set);
        }
    }

    #[test]
    fn next_above_in_every_line() {
        for line in 0..=u8::MAX {
            for lookers in (0..=u8::MAX).filter(|lookers| lookers & !line == 0) {
                let expected = |line: u8| {
                    (0..8).filter(|&i| lookers >> i & 1 == 1).fold(0, |found, i| {
                        let above = u64::from(line) >> (i + 1) << (i + 1);
                        found | above & above.wrapping_neg()
                    })
                };
                let files = |byte: u64| byte * 0x0101_0101;
                let ranks = |nibble: u64| ((nibble & 0xF) * 0x1111_1111) << 32;
                let set = |byte: u8| files(byte.into()) | ranks(byte.into());
                assert_eq!(next_above(set(lookers), set(line)), files(expected(line)) | ranks(expected(line & 0xF)));
            }
        }
    }
}
