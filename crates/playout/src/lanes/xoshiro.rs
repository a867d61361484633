//! The generator xoshiro128++ of Blackman & Vigna, one in every lane.

use crate::lanes::Lanes;

/// The state of the generators.
#[derive(Clone, Copy)]
pub(super) struct Xoshiro<V>(pub(super) [V; 4]);

impl<V: Lanes> Xoshiro<V> {
    /// The next 32 bits.
    #[inline(always)]
    pub(super) fn next(&mut self) -> V {
        let [s0, s1, s2, s3] = self.0;
        let (t2, t3) = (s2 ^ s0, s3 ^ s1);
        self.0 = [s0 ^ t3, s1 ^ t2, t2 ^ s1 << 9, t3.rotate(11)];
        (s0 + s3).rotate(7) + s0
    }

    /// A number below `n`; see [`Generator::below`](crate::seed::Generator::below).
    #[inline(always)]
    pub(super) fn below(&mut self, n: V) -> V {
        self.next().times_high(n)
    }
}
