//! Single bits of one 32-bit set.

/// The `n`-th lowest bit of `set`, counted from 0; `set` must have that many.
///
/// Two halvings by population count find the byte, a table finds the bit in it. (`pdep` would do
/// it in one instruction, but not every x86-64 machine has it.)
#[inline(always)]
pub(crate) fn nth(set: u32, n: u32) -> u32 {
    let low = (set & 0xFFFF).count_ones();
    let (mut rest, mut n, mut shift) = if n < low { (set, n, 0) } else { (set >> 16, n - low, 16) };
    let low = (rest & 0xFF).count_ones();
    if n >= low {
        (rest, n, shift) = (rest >> 8, n - low, shift + 8);
    }
    u32::from(NTH_OF_BYTE[(rest & 0xFF) as usize][(n & 7) as usize]) << shift
}

/// The highest bit of `set`, which must not be empty.
#[inline(always)]
pub(crate) fn highest(set: u32) -> u32 {
    1 << set.ilog2()
}

/// `NTH_OF_BYTE[byte][n]` is the `n`-th lowest bit of `byte`, 0 if it has fewer.
static NTH_OF_BYTE: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut rest, mut n) = (byte, 0);
        while rest != 0 {
            table[byte][n] = 1 << rest.trailing_zeros();
            rest &= rest - 1;
            n += 1;
        }
        byte += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use super::{highest, nth};

    #[test]
    fn nth_visits_every_bit_in_order() {
        for set in (0..1000).map(|i: u32| i.wrapping_mul(0x9E37_79B9)).chain([1, 1 << 31, !0]) {
            let bits: Vec<u32> = (0..32).map(|i| 1 << i).filter(|bit| set & bit != 0).collect();
            let found: Vec<u32> = (0..set.count_ones()).map(|n| nth(set, n)).collect();
            assert_eq!(found, bits);
            assert_eq!(bits.last().copied(), (set != 0).then(|| highest(set)));
        }
    }
}
