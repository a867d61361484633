//! Lanes in plain Rust: whatever vectors the compiler makes of them, on any machine.

use std::ops::Not;

use crate::bits;
use crate::lanes::{Lanes, Row, kernel, operator};
use crate::narrow::Narrow;
use crate::run::PlayoutBatch;
use crate::word::each;

/// How many lanes there are: enough to fill the registers of any machine.
pub(crate) const WIDTH: usize = 16;

/// Plays all games of the job.
pub(crate) fn run<P: Narrow, const JUMPS: bool>(job: PlayoutBatch<'_>, squares: u32) {
    kernel::run::<Array, P, JUMPS>(job, squares);
}

/// A vector; as a mask, all ones where it holds.
#[derive(Clone, Copy)]
struct Array([u32; WIDTH]);

impl Array {
    #[inline(always)]
    fn map(self, f: impl Fn(u32) -> u32) -> Array {
        Array(each(self.0, f))
    }

    #[inline(always)]
    fn zip(mut self, other: Array, f: impl Fn(u32, u32) -> u32) -> Array {
        for (a, b) in self.0.iter_mut().zip(other.0) {
            *a = f(*a, b);
        }
        self
    }
}

operator!(Array, Add, add, Array, |a, b| a.zip(b, u32::wrapping_add));
operator!(Array, Sub, sub, Array, |a, b| a.zip(b, u32::wrapping_sub));
operator!(Array, BitAnd, bitand, Array, |a, b| a.zip(b, |a, b| a & b));
operator!(Array, BitOr, bitor, Array, |a, b| a.zip(b, |a, b| a | b));
operator!(Array, BitXor, bitxor, Array, |a, b| a.zip(b, |a, b| a ^ b));
operator!(Array, Shl, shl, u32, |a, n| a.map(|a| a << n));
operator!(Array, Shr, shr, u32, |a, n| a.map(|a| a >> n));

impl Not for Array {
    type Output = Array;

    #[inline(always)]
    fn not(self) -> Array {
        self.map(|a| !a)
    }
}

impl Lanes for Array {
    const WIDTH: usize = WIDTH;

    type Mask = Array;

    #[inline(always)]
    fn splat(number: u32) -> Array {
        Array([number; WIDTH])
    }

    #[inline(always)]
    fn load(row: &Row) -> Array {
        Array(row.0)
    }

    #[inline(always)]
    fn store(self, row: &mut Row) {
        row.0 = self.0;
    }

    #[inline(always)]
    fn count(self) -> Array {
        self.map(u32::count_ones)
    }

    #[inline(always)]
    fn nth(self, n: Array) -> Array {
        self.zip(n, bits::nth)
    }

    #[inline(always)]
    fn square(self) -> Array {
        self.map(|number| 1 << (number & 31))
    }

    #[inline(always)]
    fn times_high(self, n: Array) -> Array {
        self.zip(n, |a, b| ((u64::from(a) * u64::from(b)) >> 32) as u32)
    }

    #[inline(always)]
    fn is_empty(self) -> Array {
        self.map(|a| if a == 0 { !0 } else { 0 })
    }

    #[inline(always)]
    fn less(self, other: Array) -> Array {
        self.zip(other, |a, b| if a < b { !0 } else { 0 })
    }

    #[inline(always)]
    fn pick(mask: Array, yes: Array, no: Array) -> Array {
        (yes & mask) | (no & !mask)
    }

    #[inline(always)]
    fn bits(mask: Array) -> u32 {
        mask.0.iter().rev().fold(0, |bits, &lane| bits << 1 | lane & 1)
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn vectors_do_what_numbers_do() {
        crate::lanes::check::check::<super::Array>();
    }
}
