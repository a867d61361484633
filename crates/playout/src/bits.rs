//! Single bits of a set.

use std::hint::select_unpredictable;

/// A way to find the `n`-th bit.
pub(crate) trait Nth {
    /// The number of the `n`-th lowest bit of `set`, both counted from 0; `set` must have that many.
    fn nth(set: u32, n: u32) -> u32;

    /// [`nth`](Nth::nth) of 64 bits.
    fn nth_of_64(set: u64, n: u32) -> u32;
}

/// The way that every machine can go; see [`nth`].
pub(crate) struct Halvings;

impl Nth for Halvings {
    #[inline(always)]
    fn nth(set: u32, n: u32) -> u32 {
        nth(set, n)
    }

    #[inline(always)]
    fn nth_of_64(set: u64, n: u32) -> u32 {
        nth_of_64(set, n)
    }
}

/// The number of the `n`-th lowest bit of `set`, both counted from 0; `set` must have that many.
///
/// Halvings by population count find the byte, a table finds the bit in it.
#[inline(always)]
pub(crate) fn nth(set: u32, n: u32) -> u32 {
    let half = (set & 0xFFFF).count_ones();
    let upper = n >= half;
    let rest = select_unpredictable(upper, set >> 16, set);
    let below = select_unpredictable(upper, half, 0);
    u32::from(upper) << 4 | nth_of_16(rest, n - below)
}

/// [`nth`] of 64 bits. Every ply waits for it, so the counts for either outcome of the first
/// halving are taken before `n` is there.
#[inline(always)]
pub(crate) fn nth_of_64(set: u64, n: u32) -> u32 {
    let [quarter, half, three_quarters] = [48, 32, 16].map(|others| (set << others).count_ones());
    let upper = n >= half;
    let rest = select_unpredictable(upper, set >> 32, set);
    let below = select_unpredictable(upper, half, 0);
    let middle = select_unpredictable(upper, three_quarters, quarter);
    let at = u32::from(upper) << 5;

    let upper = n >= middle;
    let rest = select_unpredictable(upper, rest >> 16, rest);
    let below = select_unpredictable(upper, middle, below);
    at | u32::from(upper) << 4 | nth_of_16(rest as u32, n - below)
}

/// [`nth`] of the lower 16 bits of a set.
#[inline(always)]
fn nth_of_16(set: u32, n: u32) -> u32 {
    let half = (set & 0xFF).count_ones();
    let upper = n >= half;
    let rest = select_unpredictable(upper, set >> 8, set);
    let below = select_unpredictable(upper, half, 0);
    u32::from(upper) << 3 | u32::from(NTH_OF_BYTE[(rest & 0xFF) as usize][((n - below) & 7) as usize])
}

/// `NTH_OF_BYTE[byte][n]` is the number of the `n`-th lowest bit of `byte`, 0 if it has fewer.
const NTH_OF_BYTE: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0u32;
    while byte < 256 {
        let (mut rest, mut n) = (byte, 0);
        while rest != 0 {
            table[byte as usize][n] = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            n += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::{nth, nth_of_64};

    #[test]
    fn nth_visits_every_bit_in_order() {
        for set in (0..1000).map(|i: u64| i.wrapping_mul(0x9E37_79B9_7F4A_7C15)).chain([1, 1 << 31, 1 << 63, !0]) {
            let bits: Vec<u32> = (0..64).filter(|bit| set >> bit & 1 == 1).collect();
            let found: Vec<u32> = (0..set.count_ones()).map(|n| nth_of_64(set, n)).collect();
            assert_eq!(found, bits);
            let low = set as u32;
            let found: Vec<u32> = (0..low.count_ones()).map(|n| nth(low, n)).collect();
            assert_eq!(found, bits[..found.len()]);
        }
    }
}
