//! The randomness of playout number `index`: its own generator, whoever plays it and when.

use rand_core::SeedableRng;
use rand_xoshiro::Xoshiro128PlusPlus;

/// The odd constant of SplitMix64: the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The state of the xoshiro128++ generator of one playout.
///
/// Two outputs of a SplitMix64 whose key is the mixed seed. The mixing is one-to-one and its two
/// arguments differ, so the state is never all zero, which xoshiro could not leave.
#[inline]
pub(crate) fn state(seed: u64, index: u64) -> [u32; 4] {
    let key = mix(seed.wrapping_add(GAMMA)).wrapping_add(index.wrapping_mul(GAMMA.wrapping_mul(2)));
    let [low, high] = [mix(key), mix(key.wrapping_add(GAMMA))];
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}

/// The generator of one playout.
pub(crate) fn generator(seed: u64, index: u64) -> Xoshiro128PlusPlus {
    let mut bytes = [0; 16];
    for (chunk, word) in bytes.chunks_exact_mut(4).zip(state(seed, index)) {
        chunk.copy_from_slice(&word.to_le_bytes());
    }
    Xoshiro128PlusPlus::from_seed(bytes)
}

/// The finalizer of SplitMix64 (Stafford's variant 13).
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}
