//! Both views of the board in lanes: two vectors.

use std::ops::Not;

use crate::lanes::Lanes;
use crate::word::Word;

/// A set of squares in every lane, seen along the files and along the ranks.
///
/// In both a square is bit `8 * file + rank`, as vectors have no bits to spare for a second order: up
/// a file is the next bit, up a rank the eighth. Where the two are the same the compiler computes
/// them once.
#[derive(Clone, Copy)]
pub(super) struct Views<V> {
    pub(super) files: V,
    pub(super) ranks: V,
}

impl<V: Copy> From<V> for Views<V> {
    #[inline(always)]
    fn from(set: V) -> Views<V> {
        Views { files: set, ranks: set }
    }
}

impl<V: Copy> Views<V> {
    #[inline(always)]
    fn zip(self, other: Views<V>, f: impl Fn(V, V) -> V) -> Views<V> {
        Views { files: f(self.files, other.files), ranks: f(self.ranks, other.ranks) }
    }
}

/// `operator!(BitAnd, bitand)` applies an operator to each view.
macro_rules! operator {
    ($trait:ident, $method:ident) => {
        impl<V: Lanes> std::ops::$trait for Views<V> {
            type Output = Views<V>;

            #[inline(always)]
            fn $method(self, other: Views<V>) -> Views<V> {
                self.zip(other, |a, b| a.$method(b))
            }
        }
    };
}
operator!(BitAnd, bitand);
operator!(BitOr, bitor);
operator!(BitXor, bitxor);

impl<V: Lanes> Not for Views<V> {
    type Output = Views<V>;

    #[inline(always)]
    fn not(self) -> Views<V> {
        Views { files: !self.files, ranks: !self.ranks }
    }
}

impl<V: Lanes> Word for Views<V> {
    #[inline(always)]
    fn empty() -> Views<V> {
        V::splat(0).into()
    }

    #[inline(always)]
    fn upper(self) -> Views<V> {
        Views { files: self.files >> 1, ranks: self.ranks >> 8 }
    }

    #[inline(always)]
    fn lower(self) -> Views<V> {
        Views { files: (self.files & V::splat(0x7F7F_7F7F)) << 1, ranks: self.ranks << 8 }
    }

    #[inline(always)]
    fn across(self) -> Views<V> {
        Views { files: self.ranks, ranks: self.files }
    }

    #[inline(always)]
    fn above(self, empty: Views<V>) -> Views<V> {
        let run = empty.files & V::splat(0x7F7F_7F7F);
        let files = run ^ (run + self.lower().files);
        let first = self.ranks << 8;
        let second = (first & empty.ranks) << 8;
        Views { files, ranks: first | second | (second & empty.ranks) << 8 }
    }

    #[inline(always)]
    fn below(self, empty: Views<V>) -> Views<V> {
        let (mut seers, mut runs) = (self.files, empty.files & V::splat(0x7F7F_7F7F));
        for length in [1, 2, 4] {
            seers = seers | runs & seers >> length;
            runs = runs & runs >> length;
        }
        let first = self.ranks >> 8;
        let second = (first & empty.ranks) >> 8;
        let ranks = first | second | (second & empty.ranks) >> 8;
        Views { files: seers >> 1 & V::splat(0x7F7F_7F7F), ranks }
    }

    #[inline(always)]
    fn inside(self) -> Views<V> {
        Views { files: self.files & V::splat(0x7F7F_7F7F), ranks: self.ranks & V::splat(0x00FF_FFFF) }
    }

    #[inline(always)]
    fn in_files(self) -> Views<V> {
        Views { files: self.files, ranks: V::splat(0) }
    }

    /// A rank has four squares, so a jump along it goes two files far, over a piece on the first, or
    /// three, over a piece on one of the two.
    #[inline(always)]
    fn jump(self, occupied: Views<V>) -> Views<V> {
        let files = self.files.next_above(occupied.files).next_above(occupied.files);
        let (second, first_occupied) = (self.ranks << 16, occupied.ranks << 8);
        let ranks = (second & first_occupied) | ((second & (first_occupied ^ occupied.ranks)) << 8);
        Views { files, ranks }
    }

    #[inline(always)]
    fn surely_empty(self) -> bool {
        false
    }

    #[inline(always)]
    fn surely_some(self) -> bool {
        false
    }

    #[inline(always)]
    fn select(self, nonempty: Views<V>, empty: Views<V>) -> Views<V> {
        let none = (self.files | self.ranks).is_empty();
        nonempty.zip(empty, |nonempty, empty| V::pick(none, empty, nonempty))
    }
}
