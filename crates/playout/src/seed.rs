//! The randomness of playout number `index`: its own generator, whoever plays it and when.

/// The odd constant of SplitMix64: the golden ratio.
const GAMMA: u64 = 0x9E37_79B9_7F4A_7C15;

/// The generator xoshiro128++ of Blackman & Vigna.
///
/// By hand, for a game that was dealt by itself can go on in a lane: its generator has to move
/// there, and the library's keeps its state to itself.
pub(crate) struct Generator(pub(crate) [u32; 4]);

impl Generator {
    /// The generator of one playout.
    #[inline(always)]
    pub(crate) fn new(seed: u64, index: u64) -> Generator {
        Generator(state(seed, index))
    }

    /// The next 32 bits.
    #[inline(always)]
    pub(crate) fn next(&mut self) -> u32 {
        let [s0, s1, s2, s3] = self.0;
        let (t2, t3) = (s2 ^ s0, s3 ^ s1);
        self.0 = [s0 ^ t3, s1 ^ t2, t2 ^ s1 << 9, t3.rotate_left(11)];
        s0.wrapping_add(s3).rotate_left(7).wrapping_add(s0)
    }

    /// A number below `n`, drawn at random. All are equally likely but for 1 part in 2^25, as `n` is
    /// less than 128 here.
    #[inline(always)]
    pub(crate) fn below(&mut self, n: u32) -> u32 {
        ((u64::from(self.next()) * u64::from(n)) >> 32) as u32
    }
}

/// The state of the generator of one playout.
///
/// Two outputs of a SplitMix64 whose key is the mixed seed. The mixing is one-to-one and its two
/// arguments differ, so the state is never all zero, which xoshiro could not leave.
#[inline]
pub(crate) fn state(seed: u64, index: u64) -> [u32; 4] {
    let key = mix(seed.wrapping_add(GAMMA)).wrapping_add(index.wrapping_mul(GAMMA.wrapping_mul(2)));
    let [low, high] = [mix(key), mix(key.wrapping_add(GAMMA))];
    [low as u32, (low >> 32) as u32, high as u32, (high >> 32) as u32]
}

/// The finalizer of SplitMix64 (Stafford's variant 13).
#[inline]
fn mix(mut z: u64) -> u64 {
    z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    z ^ (z >> 31)
}

#[cfg(test)]
mod tests {
    use rand_core::{Rng, SeedableRng};
    use rand_xoshiro::Xoshiro128PlusPlus;

    use super::Generator;

    #[test]
    fn the_generator_is_that_of_the_library() {
        for index in 0..100 {
            let mut ours = Generator::new(11, index);
            let bytes: Vec<u8> = ours.0.iter().flat_map(|word| word.to_le_bytes()).collect();
            let mut library = Xoshiro128PlusPlus::from_seed(bytes.try_into().unwrap());
            (0..100).for_each(|_| assert_eq!(ours.next(), library.next_u32()));
        }
    }
}
