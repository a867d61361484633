//! `ValueTally`: how many placements are worth what.

use std::ops::AddAssign;

/// Placements by their value to the side to move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct ValueTally {
    /// Worth 1: won whatever comes up.
    pub one: u64,
    /// Worth 1/2.
    pub half: u64,
    /// Worth 0.
    pub zero: u64,
    /// Worth −1/2.
    pub minus_half: u64,
    /// Worth −1: lost whatever comes up.
    pub minus_one: u64,
}

impl ValueTally {
    /// Counts `count` placements worth `halves` times 1/2.
    ///
    /// # Panics
    /// If that is not one of the five values.
    pub(crate) fn add(&mut self, halves: i32, count: u64) {
        let place = match halves {
            2 => &mut self.one,
            1 => &mut self.half,
            0 => &mut self.zero,
            -1 => &mut self.minus_half,
            -2 => &mut self.minus_one,
            other => unreachable!("{other}/2 is no value of at most two face-down pieces"),
        };
        *place += count;
    }

    /// All counts, from worth 1 down.
    #[must_use]
    pub const fn counts(&self) -> [u64; 5] {
        [self.one, self.half, self.zero, self.minus_half, self.minus_one]
    }

    /// All placements.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.counts().iter().sum()
    }
}

impl AddAssign for ValueTally {
    fn add_assign(&mut self, other: ValueTally) {
        self.one += other.one;
        self.half += other.half;
        self.zero += other.zero;
        self.minus_half += other.minus_half;
        self.minus_one += other.minus_one;
    }
}
