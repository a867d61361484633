//! Eight lanes in the registers of AVX2.
#![allow(unsafe_code)]

use std::arch::x86_64::*;
use std::ops::Not;

use crate::lanes::{Lanes, Row, kernel, operator};
use crate::narrow::Narrow;
use crate::run::PlayoutBatch;

/// The proof that this machine has the instructions.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Avx2(());

impl Avx2 {
    /// How many lanes there are.
    pub(crate) const WIDTH: usize = Vector::WIDTH;

    /// The proof, if it can be given.
    pub(crate) fn detect() -> Option<Avx2> {
        let detected = is_x86_feature_detected!("avx2")
            && is_x86_feature_detected!("bmi1")
            && is_x86_feature_detected!("bmi2")
            && is_x86_feature_detected!("popcnt");
        detected.then_some(Avx2(()))
    }

    /// Plays all games of the job.
    pub(crate) fn run<P: Narrow, const JUMPS: bool>(self, job: PlayoutBatch<'_>, squares: u32) {
        // SAFETY: `self` proves that the machine has the instructions.
        unsafe { entry::<P, JUMPS>(job, squares) }
    }
}

/// The kernel, compiled for AVX2.
#[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
fn entry<P: Narrow, const JUMPS: bool>(job: PlayoutBatch<'_>, squares: u32) {
    kernel::run::<Vector, P, JUMPS>(job, squares);
}

/// Eight numbers; as a mask, all ones where it holds.
#[derive(Clone, Copy)]
struct Vector(__m256i);

/// Runs an intrinsic.
macro_rules! avx2 {
    ($intrinsic:expr) => {
        // SAFETY: nothing but `entry` uses vectors, and `entry` runs only where the instructions exist.
        unsafe { $intrinsic }
    };
}

operator!(Vector, Add, add, Vector, |a, b| Vector(avx2!(_mm256_add_epi32(a.0, b.0))));
operator!(Vector, Sub, sub, Vector, |a, b| Vector(avx2!(_mm256_sub_epi32(a.0, b.0))));
operator!(Vector, BitAnd, bitand, Vector, |a, b| Vector(avx2!(_mm256_and_si256(a.0, b.0))));
operator!(Vector, BitOr, bitor, Vector, |a, b| Vector(avx2!(_mm256_or_si256(a.0, b.0))));
operator!(Vector, BitXor, bitxor, Vector, |a, b| Vector(avx2!(_mm256_xor_si256(a.0, b.0))));
operator!(Vector, Shl, shl, u32, |a, n| Vector(avx2!(_mm256_sll_epi32(a.0, _mm_cvtsi32_si128(n as i32)))));
operator!(Vector, Shr, shr, u32, |a, n| Vector(avx2!(_mm256_srl_epi32(a.0, _mm_cvtsi32_si128(n as i32)))));

impl Not for Vector {
    type Output = Vector;

    #[inline(always)]
    fn not(self) -> Vector {
        self ^ Vector::splat(!0)
    }
}

impl Lanes for Vector {
    const WIDTH: usize = 8;

    type Mask = Vector;

    #[inline(always)]
    fn splat(number: u32) -> Vector {
        Vector(avx2!(_mm256_set1_epi32(number as i32)))
    }

    #[inline(always)]
    fn load(row: &Row) -> Vector {
        // A row is aligned and longer than a vector.
        Vector(avx2!(_mm256_load_si256(row.0.as_ptr().cast())))
    }

    #[inline(always)]
    fn store(self, row: &mut Row) {
        avx2!(_mm256_store_si256(row.0.as_mut_ptr().cast(), self.0));
    }

    /// By a table of nibbles (Muła), then summed up.
    #[inline(always)]
    fn count(self) -> Vector {
        let ones = avx2!(_mm_setr_epi8(0, 1, 1, 2, 1, 2, 2, 3, 1, 2, 2, 3, 2, 3, 3, 4));
        let table = avx2!(_mm256_broadcastsi128_si256(ones));
        let nibbles = |set: Vector| avx2!(_mm256_shuffle_epi8(table, (set & Vector::splat(0x0F0F_0F0F)).0));
        let bytes = avx2!(_mm256_add_epi8(nibbles(self), nibbles(self >> 4)));
        let words = avx2!(_mm256_maddubs_epi16(bytes, _mm256_set1_epi8(1)));
        Vector(avx2!(_mm256_madd_epi16(words, _mm256_set1_epi16(1))))
    }

    /// Counts the squares of ever larger fields, then goes down from the halves to the square.
    #[inline(always)]
    fn nth(self, n: Vector) -> Vector {
        let splat = Vector::splat;
        let pairs = self - (self >> 1 & splat(0x5555_5555));
        let nibbles = (pairs & splat(0x3333_3333)) + (pairs >> 2 & splat(0x3333_3333));
        let bytes = (nibbles + (nibbles >> 4)) & splat(0x0F0F_0F0F);
        let halves = bytes + (bytes >> 8);

        let (mut n, mut at) = (n, splat(0));
        // A loop, for a closure might stay a function of its own; see `each`.
        for (counts, width, ones) in
            [(halves, 16, 0xFF), (bytes, 8, 0xFF), (nibbles, 4, 0xF), (pairs, 2, 0x3), (self, 1, 0x1)]
        {
            let lower = Vector(avx2!(_mm256_srlv_epi32(counts.0, at.0))) & splat(ones);
            let upper_half = !n.less(lower);
            n = n - (lower & upper_half);
            at = at | splat(width) & upper_half;
        }
        at
    }

    #[inline(always)]
    fn square(self) -> Vector {
        Vector(avx2!(_mm256_sllv_epi32(_mm256_set1_epi32(1), self.0)))
    }

    /// The exponent of a floating-point number is what is left of it. The second highest square must
    /// not be next to the highest, or the number might be rounded up to the next power of two.
    #[inline(always)]
    fn highest(self) -> Vector {
        let number = avx2!(_mm256_cvtepi32_ps((self & !(self >> 1)).0));
        let power = avx2!(_mm256_and_ps(number, _mm256_set1_ps(f32::INFINITY)));
        Vector(avx2!(_mm256_cvttps_epi32(power)))
    }

    /// Subtracting the square above borrows through the empty squares and clears the first
    /// occupied one.
    #[inline(always)]
    fn next_above(self, occupied: Vector) -> Vector {
        let above = avx2!(_mm256_add_epi8(self.0, self.0));
        occupied & !Vector(avx2!(_mm256_sub_epi8(occupied.0, above)))
    }

    #[inline(always)]
    fn times_high(self, n: Vector) -> Vector {
        let odd = |vector: Vector| avx2!(_mm256_srli_epi64::<32>(vector.0));
        let evens = odd(Vector(avx2!(_mm256_mul_epu32(self.0, n.0))));
        let odds = avx2!(_mm256_mul_epu32(odd(self), odd(n)));
        Vector(avx2!(_mm256_blend_epi32::<0b1010_1010>(evens, odds)))
    }

    #[inline(always)]
    fn is_empty(self) -> Vector {
        Vector(avx2!(_mm256_cmpeq_epi32(self.0, _mm256_setzero_si256())))
    }

    #[inline(always)]
    fn less(self, other: Vector) -> Vector {
        Vector(avx2!(_mm256_cmpgt_epi32(other.0, self.0)))
    }

    #[inline(always)]
    fn pick(mask: Vector, yes: Vector, no: Vector) -> Vector {
        Vector(avx2!(_mm256_blendv_epi8(no.0, yes.0, mask.0)))
    }

    #[inline(always)]
    fn bits(mask: Vector) -> u32 {
        avx2!(_mm256_movemask_ps(_mm256_castsi256_ps(mask.0))) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::{Avx2, Vector};

    #[target_feature(enable = "avx2,bmi1,bmi2,popcnt")]
    fn check() {
        crate::lanes::check::check::<Vector>();
    }

    #[test]
    fn vectors_do_what_numbers_do() {
        if Avx2::detect().is_some() {
            // SAFETY: just detected.
            unsafe { check() }
        }
    }
}
