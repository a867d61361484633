//! Many games side by side, one per lane of a vector.
//!
//! `kernel` is written once over the trait [`Lanes`]; each backend implements the trait for its
//! vectors and calls the kernel from a function that is compiled for its instructions.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(test)]
mod check;
mod games;
mod kernel;
pub(crate) mod portable;
mod views;
mod xoshiro;

use std::ops::{Add, BitAnd, BitOr, BitXor, Not, Shl, Shr, Sub};

#[cfg(target_arch = "x86_64")]
pub(crate) use avx2::Avx2;
#[cfg(target_arch = "x86_64")]
pub(crate) use avx512::Avx512;

/// The most lanes a backend has.
const MOST: usize = 16;

/// One number per lane, in memory.
#[derive(Clone, Copy, Default)]
#[repr(C, align(64))]
struct Row([u32; MOST]);

/// A vector of numbers or of sets of squares, one per game.
///
/// Every method is `#[inline(always)]`: it must end up in the backend's function, to be compiled
/// for the same instructions.
trait Lanes:
    Copy
    + Add<Output = Self>
    + Sub<Output = Self>
    + BitAnd<Output = Self>
    + BitOr<Output = Self>
    + BitXor<Output = Self>
    + Not<Output = Self>
    + Shl<u32, Output = Self>
    + Shr<u32, Output = Self>
{
    /// How many lanes there are.
    const WIDTH: usize;

    /// One truth value per lane.
    type Mask: Copy + BitOr<Output = Self::Mask> + Not<Output = Self::Mask>;

    /// The same number in every lane.
    fn splat(number: u32) -> Self;

    /// Reads the first `WIDTH` numbers of a row.
    fn load(row: &Row) -> Self;

    /// Writes the first `WIDTH` numbers of a row.
    fn store(self, row: &mut Row);

    /// How many squares there are.
    fn count(self) -> Self;

    /// The number of the `n`-th lowest square, both counted from 0. Anything if there are not so many.
    fn nth(self, n: Self) -> Self;

    /// The square of this number, which is less than 32.
    fn square(self) -> Self;

    /// The highest square. Anything if there is none, or if it is the last of all.
    #[inline(always)]
    fn highest(self) -> Self {
        let mut below = self;
        for shift in [1, 2, 4, 8, 16] {
            below = below | below >> shift;
        }
        below ^ below >> 1
    }

    /// The first occupied square above each square of `self` in its file, which is a byte. `self`
    /// must be occupied too. See [`next_above`](crate::word::next_above).
    #[inline(always)]
    fn next_above(self, occupied: Self) -> Self {
        let below_top = Self::splat(0x7F7F_7F7F);
        occupied & ((!occupied & below_top) + ((self & below_top) << 1))
    }

    /// The set as it is in the view along the ranks; see [`transposed`](crate::word::transposed).
    #[inline(always)]
    fn transposed(self) -> Self {
        let splat = Self::splat;
        let set = self & splat(0xAA55_AA55) | (self & splat(0x00AA_00AA)) << 7 | self >> 7 & splat(0x00AA_00AA);
        set & splat(0xCCCC_3333) | (set & splat(0x0000_CCCC)) << 14 | set >> 14 & splat(0x0000_CCCC)
    }

    /// The upper half of the 64-bit product.
    fn times_high(self, n: Self) -> Self;

    /// Rotates to the left.
    #[inline(always)]
    fn rotate(self, n: u32) -> Self {
        self << n | self >> (32 - n)
    }

    /// Where there is no square.
    fn is_empty(self) -> Self::Mask;

    /// Where `self` is less than `other`. Both must be below 2^31.
    fn less(self, other: Self) -> Self::Mask;

    /// `yes` where `mask` holds, else `no`.
    fn pick(mask: Self::Mask, yes: Self, no: Self) -> Self;

    /// Bit `i` for lane `i`.
    fn bits(mask: Self::Mask) -> u32;
}

/// `operator!(Vector, Add, add, Vector, |a, b| …)` implements an operator.
macro_rules! operator {
    ($vector:ty, $trait:ident, $method:ident, $rhs:ty, |$a:ident, $b:ident| $body:expr) => {
        impl std::ops::$trait<$rhs> for $vector {
            type Output = $vector;

            #[inline(always)]
            fn $method(self, other: $rhs) -> $vector {
                let ($a, $b) = (self, other);
                $body
            }
        }
    };
}
use operator;
