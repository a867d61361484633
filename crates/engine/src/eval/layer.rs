//! The layer behind the views of the network, in the best instructions that the machine has. All give the same numbers.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::network::{INNER, VIEW, VIEW_ONE};

/// One side's view of a position: sums of what it is made of.
pub(super) type View = [i16; VIEW];

/// Inputs that are multiplied and added up in one step.
const FOUR: usize = 4;
const FOURS: usize = 2 * VIEW / FOUR;

/// From two views, cut off below zero and above one, to a few numbers.
#[derive(Debug)]
pub(super) struct Layer {
    /// Four inputs after the other; for each the weights of all outputs.
    weights: Box<[[i8; FOUR * INNER]; FOURS]>,
    bias: [i32; INNER],
}

/// Instructions for a layer that this machine has: only [`Path::available`] makes one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Path(Inner);

#[derive(Clone, Copy, Debug)]
enum Inner {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    /// AVX-512 with the instructions made for networks (Ice Lake, Zen 4).
    #[cfg(target_arch = "x86_64")]
    Vnni,
}

impl Path {
    /// The paths of this machine, slowest first.
    pub(super) fn available() -> impl Iterator<Item = Path> {
        #[cfg(target_arch = "x86_64")]
        let vectors = [
            is_x86_feature_detected!("avx2").then_some(Inner::Avx2),
            (is_x86_feature_detected!("avx512bw") && is_x86_feature_detected!("avx512vnni")).then_some(Inner::Vnni),
        ];
        #[cfg(not(target_arch = "x86_64"))]
        let vectors = [None; 0];
        std::iter::once(Inner::Portable).chain(vectors.into_iter().flatten()).map(Path)
    }

    /// The fastest path of this machine.
    pub(super) fn best() -> Path {
        Path::available().last().unwrap_or(Path(Inner::Portable))
    }
}

impl Layer {
    /// A layer of so many weights for each output, the own view's first.
    pub(super) fn new(rows: &[[i8; 2 * VIEW]; INNER], bias: [i32; INNER]) -> Layer {
        let mut weights = Box::new([[0; FOUR * INNER]; FOURS]);
        for (output, row) in rows.iter().enumerate() {
            for (input, weight) in row.iter().enumerate() {
                weights[input / FOUR][output * FOUR + input % FOUR] = *weight;
            }
        }
        Layer { weights, bias }
    }

    #[cfg(test)]
    pub(super) fn weight(&self, input: usize, output: usize) -> i32 {
        self.weights[input / FOUR][output * FOUR + input % FOUR].into()
    }

    #[cfg(test)]
    pub(super) fn bias(&self, output: usize) -> i32 {
        self.bias[output]
    }

    /// What comes out, before anything is cut off.
    #[inline]
    pub(super) fn outputs(&self, path: Path, own: &View, foe: &View) -> [i32; INNER] {
        let sums = match path.0 {
            Inner::Portable => self.portable(own, foe),
            // SAFETY, here and below: there is no such path but where the instructions were detected.
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2 => unsafe { self.avx2(own, foe) },
            #[cfg(target_arch = "x86_64")]
            Inner::Vnni => unsafe { self.vnni(own, foe) },
        };
        let mut outputs = self.bias;
        for i in 0..INNER {
            outputs[i] = outputs[i].saturating_add(sums[i]); // a file may hold any bias
        }
        outputs
    }

    fn portable(&self, own: &View, foe: &View) -> [i32; INNER] {
        let inputs = cut_off::<i16>(own, foe);
        let mut sums = [0; FOUR * INNER];
        for (weights, inputs) in self.weights.iter().zip(inputs.chunks_exact(FOUR)) {
            for (i, (sum, weight)) in sums.iter_mut().zip(weights).enumerate() {
                *sum += i32::from(*weight) * i32::from(inputs[i % FOUR]);
            }
        }
        std::array::from_fn(|output| sums[output * FOUR..][..FOUR].iter().sum())
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[expect(clippy::needless_range_loop, reason = "iterators are not always compiled for the instructions chosen")]
    fn avx2(&self, own: &View, foe: &View) -> [i32; INNER] {
        let inputs: [i64; FOURS] = bytemuck::cast(cut_off::<i16>(own, foe));
        let mut sums = [_mm256_setzero_si256(); INNER / 4]; // of four outputs each, in two parts
        for i in 0..FOURS {
            let four = _mm256_set1_epi64x(inputs[i]);
            for j in 0..INNER / 4 {
                // SAFETY: there are sixteen.
                let weights = unsafe { _mm_loadu_si128(self.weights[i][j * 16..][..16].as_ptr().cast()) };
                sums[j] = _mm256_add_epi32(sums[j], _mm256_madd_epi16(_mm256_cvtepi8_epi16(weights), four));
            }
        }
        let parts: [[i32; 2]; INNER] = bytemuck::cast(sums);
        parts.map(|[a, b]| a + b)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    fn vnni(&self, own: &View, foe: &View) -> [i32; INNER] {
        let inputs: [i32; FOURS] = bytemuck::cast(cut_off::<u8>(own, foe));
        let mut sums = [_mm512_setzero_si512(); 4]; // so that no step waits for the one before
        for i in 0..FOURS / 4 {
            for j in 0..4 {
                // SAFETY: there are sixty-four.
                let weights = unsafe { _mm512_loadu_si512(self.weights[4 * i + j].as_ptr().cast()) };
                sums[j] = _mm512_dpbusd_epi32(sums[j], _mm512_set1_epi32(inputs[4 * i + j]), weights);
            }
        }
        let [a, b, c, d] = sums;
        bytemuck::cast(_mm512_add_epi32(_mm512_add_epi32(a, b), _mm512_add_epi32(c, d)))
    }
}

/// Both views, nothing below zero or above one.
#[inline(always)]
fn cut_off<T: Copy + Default + From<u8>>(own: &View, foe: &View) -> [T; 2 * VIEW] {
    let mut inputs = [T::default(); 2 * VIEW];
    for i in 0..VIEW {
        inputs[i] = T::from(own[i].clamp(0, VIEW_ONE) as u8);
        inputs[VIEW + i] = T::from(foe[i].clamp(0, VIEW_ONE) as u8);
    }
    inputs
}

#[cfg(test)]
mod tests {
    use anqi_rules::Seed;
    use rand_core::Rng;

    use super::*;

    #[test]
    fn all_paths_give_what_the_obvious_way_gives() {
        let mut rng = Seed::from(1).rng();
        let mut byte = || rng.next_u32() as i8;
        for extreme in [None, Some(i8::MIN), Some(i8::MAX)] {
            let rows: [[i8; 2 * VIEW]; INNER] =
                std::array::from_fn(|_| std::array::from_fn(|_| extreme.unwrap_or(byte())));
            let bias = std::array::from_fn(|_| i32::from(byte()));
            let layer = Layer::new(&rows, bias);
            let views: [View; 2] =
                std::array::from_fn(|_| std::array::from_fn(|_| extreme.map_or(i16::from(byte()) * 4, |_| i16::MAX)));
            let inputs: Vec<i32> = views.iter().flatten().map(|sum| i32::from(*sum).clamp(0, 255)).collect();
            let obvious: [i32; INNER] = std::array::from_fn(|output| {
                rows[output].iter().zip(&inputs).map(|(weight, input)| i32::from(*weight) * input).sum::<i32>()
                    + bias[output]
            });
            for path in Path::available() {
                assert_eq!(layer.outputs(path, &views[0], &views[1]), obvious, "{path:?}");
            }
        }
    }
}
