//! Sixteen lanes in the registers of AVX-512, as Ice Lake and Zen 4 brought it.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Not;

use crate::lanes::{Lanes, Row, kernel, operator};
use crate::narrow::Narrow;
use crate::run::PlayoutBatch;

/// The proof that this machine has the instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Avx512(());

impl Avx512 {
    /// How many lanes there are.
    pub(crate) const WIDTH: usize = Vector::WIDTH;

    /// The proof, if it can be given.
    pub(crate) fn detect() -> Option<Avx512> {
        let detected = is_x86_feature_detected!("avx512f")
            && is_x86_feature_detected!("avx512bw")
            && is_x86_feature_detected!("avx512cd")
            && is_x86_feature_detected!("avx512dq")
            && is_x86_feature_detected!("avx512vl")
            && is_x86_feature_detected!("avx512vbmi")
            && is_x86_feature_detected!("avx512vpopcntdq")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        detected.then_some(Avx512(()))
    }

    /// Plays all games of the job.
    pub(crate) fn run<P: Narrow, const JUMPS: bool>(self, job: PlayoutBatch<'_>, squares: u32) {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe { entry::<P, JUMPS>(job, squares) }
    }
}

/// The kernel, compiled for AVX-512.
#[target_feature(enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi1,bmi2,popcnt")]
fn entry<P: Narrow, const JUMPS: bool>(job: PlayoutBatch<'_>, squares: u32) {
    kernel::run::<Vector, P, JUMPS>(job, squares);
}

/// Sixteen numbers.
#[derive(Clone, Copy)]
struct Vector(__m512i);

/// Runs an intrinsic.
macro_rules! avx512 {
    ($intrinsic:expr) => {
        // SAFETY: nothing but `entry` uses vectors, and `entry` runs only where the instructions exist.
        unsafe { $intrinsic }
    };
}

operator!(Vector, Add, add, Vector, |a, b| Vector(avx512!(_mm512_add_epi32(a.0, b.0))));
operator!(Vector, Sub, sub, Vector, |a, b| Vector(avx512!(_mm512_sub_epi32(a.0, b.0))));
operator!(Vector, BitAnd, bitand, Vector, |a, b| Vector(avx512!(_mm512_and_si512(a.0, b.0))));
operator!(Vector, BitOr, bitor, Vector, |a, b| Vector(avx512!(_mm512_or_si512(a.0, b.0))));
operator!(Vector, BitXor, bitxor, Vector, |a, b| Vector(avx512!(_mm512_xor_si512(a.0, b.0))));
operator!(Vector, Shl, shl, u32, |a, n| Vector(avx512!(_mm512_sll_epi32(a.0, _mm_cvtsi32_si128(n as i32)))));
operator!(Vector, Shr, shr, u32, |a, n| Vector(avx512!(_mm512_srl_epi32(a.0, _mm_cvtsi32_si128(n as i32)))));

impl Not for Vector {
    type Output = Vector;

    #[inline(always)]
    fn not(self) -> Vector {
        self ^ Vector::splat(!0)
    }
}

impl Lanes for Vector {
    const WIDTH: usize = 16;

    type Mask = __mmask16;

    #[inline(always)]
    fn splat(number: u32) -> Vector {
        Vector(avx512!(_mm512_set1_epi32(number as i32)))
    }

    #[inline(always)]
    fn load(row: &Row) -> Vector {
        // A row is aligned and as long as a vector.
        Vector(avx512!(_mm512_load_si512(row.0.as_ptr().cast())))
    }

    #[inline(always)]
    fn store(self, row: &mut Row) {
        avx512!(_mm512_store_si512(row.0.as_mut_ptr().cast(), self.0));
    }

    #[inline(always)]
    fn count(self) -> Vector {
        Vector(avx512!(_mm512_popcnt_epi32(self.0)))
    }

    /// Three halvings by population count find the nibble, a table finds the square in it.
    #[inline(always)]
    fn nth(self, n: Vector) -> Vector {
        let (mut set, mut n, mut at) = (self, n, Vector::splat(0));
        for width in [16, 8, 4] {
            let lower = (set & Vector::splat((1 << width) - 1)).count();
            let lower_half = n.less(lower);
            set = Vector::pick(lower_half, set, set >> width);
            n = Vector::pick(lower_half, n, n - lower);
            at = Vector::pick(lower_half, at, at + Vector::splat(width));
        }
        let key = n << 4 | set & Vector::splat(15);
        let table = avx512!(_mm512_load_si512(NTH_OF_NIBBLE.0.as_ptr().cast()));
        at + (Vector(avx512!(_mm512_permutexvar_epi8(key.0, table))) & Vector::splat(3))
    }

    #[inline(always)]
    fn square(self) -> Vector {
        Vector(avx512!(_mm512_sllv_epi32(_mm512_set1_epi32(1), self.0)))
    }

    #[inline(always)]
    fn highest(self) -> Vector {
        Vector(avx512!(_mm512_rorv_epi32(_mm512_set1_epi32(i32::MIN), _mm512_lzcnt_epi32(self.0))))
    }

    /// Subtracting the square above borrows through the empty squares and clears the first
    /// occupied one.
    #[inline(always)]
    fn next_above(self, occupied: Vector) -> Vector {
        let above = avx512!(_mm512_add_epi8(self.0, self.0));
        occupied & !Vector(avx512!(_mm512_sub_epi8(occupied.0, above)))
    }

    #[inline(always)]
    fn times_high(self, n: Vector) -> Vector {
        let odd = |vector: Vector| avx512!(_mm512_srli_epi64::<32>(vector.0));
        let evens = odd(Vector(avx512!(_mm512_mul_epu32(self.0, n.0))));
        let odds = avx512!(_mm512_mul_epu32(odd(self), odd(n)));
        Vector(avx512!(_mm512_mask_blend_epi32(0b1010_1010_1010_1010, evens, odds)))
    }

    #[inline(always)]
    fn is_empty(self) -> __mmask16 {
        avx512!(_mm512_testn_epi32_mask(self.0, self.0))
    }

    #[inline(always)]
    fn less(self, other: Vector) -> __mmask16 {
        avx512!(_mm512_cmplt_epu32_mask(self.0, other.0))
    }

    #[inline(always)]
    fn pick(mask: __mmask16, yes: Vector, no: Vector) -> Vector {
        Vector(avx512!(_mm512_mask_blend_epi32(mask, no.0, yes.0)))
    }

    #[inline(always)]
    fn bits(mask: __mmask16) -> u32 {
        mask.into()
    }
}

#[repr(C, align(64))]
struct AlignedBytes([u8; 64]);

/// Entry `16 * n + nibble` is the number of the `n`-th lowest bit of `nibble`, 0 if it has fewer.
static NTH_OF_NIBBLE: AlignedBytes = {
    let mut table = [0; 64];
    let mut nibble = 0usize;
    while nibble < 16 {
        let (mut rest, mut n) = (nibble, 0);
        while rest != 0 {
            table[16 * n + nibble] = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            n += 1;
        }
        nibble += 1;
    }
    AlignedBytes(table)
};

#[cfg(test)]
mod tests {
    use super::{Avx512, Vector};

    #[target_feature(
        enable = "avx512f,avx512bw,avx512cd,avx512dq,avx512vl,avx512vbmi,avx512vpopcntdq,bmi1,bmi2,popcnt"
    )]
    fn check() {
        crate::lanes::check::check::<Vector>();
    }

    #[test]
    fn vectors_do_what_numbers_do() {
        if Avx512::detect().is_some() {
            // SAFETY: just detected.
            unsafe { check() }
        }
    }
}
