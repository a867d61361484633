//! The layer behind the views of the network, in the best instructions that the machine has. All give the same numbers.
#![allow(unsafe_code)]

#[cfg(target_arch = "x86_64")]
use std::arch::x86_64::*;

use super::network::{INNER, VIEW, VIEW_ONE};

/// One side's view of a position: sums of what it is made of.
pub(super) type Perspective = [i16; VIEW];

/// From two views, cut off below zero and above one, to a few numbers.
#[derive(Debug)]
pub(super) struct Layer {
    /// For each output the weights of all inputs, those of the own view first.
    rows: Box<Rows>,
    bias: [i32; INNER],
    /// Whether the products of two neighbouring inputs together always fit into 16 bits, where AVX2 adds them up.
    #[cfg_attr(not(target_arch = "x86_64"), allow(dead_code, reason = "only AVX2 asks"))]
    fits: bool,
}

pub(super) type Rows = [[i8; 2 * VIEW]; INNER];

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
    pub(super) fn new(rows: Box<Rows>, bias: [i32; INNER]) -> Layer {
        let fits = rows.as_flattened().chunks_exact(2).all(|pair| {
            let up: i32 = pair.iter().map(|weight| i32::from(*weight).max(0)).sum();
            let down: i32 = pair.iter().map(|weight| i32::from(*weight).min(0)).sum();
            i16::try_from(up * i32::from(VIEW_ONE)).is_ok() && i16::try_from(down * i32::from(VIEW_ONE)).is_ok()
        });
        Layer { rows, bias, fits }
    }

    #[cfg(test)]
    pub(super) fn weight(&self, input: usize, output: usize) -> i32 {
        self.rows[output][input].into()
    }

    #[cfg(test)]
    pub(super) fn bias(&self, output: usize) -> i32 {
        self.bias[output]
    }

    #[cfg(test)]
    pub(super) fn fits(&self) -> bool {
        self.fits
    }

    /// What comes out, before anything is cut off.
    #[inline]
    pub(super) fn outputs(&self, path: Path, own: &Perspective, foe: &Perspective) -> [i32; INNER] {
        let sums = match path.0 {
            Inner::Portable => self.portable(own, foe),
            // SAFETY, here and below: there is no such path but where the instructions were detected.
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2 if self.fits => unsafe { self.avx2(own, foe) },
            #[cfg(target_arch = "x86_64")]
            Inner::Avx2 => self.portable(own, foe),
            #[cfg(target_arch = "x86_64")]
            Inner::Vnni => unsafe { self.vnni(own, foe) },
        };
        let mut outputs = self.bias;
        for i in 0..INNER {
            outputs[i] = outputs[i].saturating_add(sums[i]); // a file may hold any bias
        }
        outputs
    }

    fn portable(&self, own: &Perspective, foe: &Perspective) -> [i32; INNER] {
        let inputs = cut_off(own, foe);
        let mut outputs = [0; INNER];
        for (output, row) in outputs.iter_mut().zip(&*self.rows) {
            *output = row.iter().zip(&inputs).map(|(weight, input)| i32::from(*weight) * i32::from(*input)).sum();
        }
        outputs
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx2")]
    #[expect(clippy::needless_range_loop, reason = "iterators are not always compiled for the instructions chosen")]
    fn avx2(&self, own: &Perspective, foe: &Perspective) -> [i32; INNER] {
        let mut inputs = [_mm256_setzero_si256(); 2 * VIEW / 32];
        for i in 0..inputs.len() {
            let view = if i < VIEW / 32 { own } else { foe };
            let sums = &view[32 * i % VIEW..][..32];
            // SAFETY: there are thirty-two.
            let [low, high] = unsafe { [sums.as_ptr(), sums[16..].as_ptr()].map(|at| _mm256_loadu_si256(at.cast())) };
            inputs[i] = _mm256_permute4x64_epi64::<IN_ORDER>(_mm256_packus_epi16(low, high));
        }
        let mut outputs = [[0; INNER / 2]; 2];
        for half in 0..2 {
            let mut sums = [_mm256_setzero_si256(); INNER / 2];
            for i in 0..inputs.len() {
                for j in 0..INNER / 2 {
                    let row = &self.rows[half * INNER / 2 + j];
                    // SAFETY: there are thirty-two.
                    let weights = unsafe { _mm256_loadu_si256(row[32 * i..][..32].as_ptr().cast()) };
                    let pairs = _mm256_maddubs_epi16(inputs[i], weights);
                    sums[j] = _mm256_add_epi32(sums[j], _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
                }
            }
            outputs[half] = bytemuck::cast(totals_of_eight(sums));
        }
        bytemuck::cast(outputs)
    }

    #[cfg(target_arch = "x86_64")]
    #[target_feature(enable = "avx512bw,avx512vnni")]
    #[expect(clippy::needless_range_loop, reason = "iterators are not always compiled for the instructions chosen")]
    fn vnni(&self, own: &Perspective, foe: &Perspective) -> [i32; INNER] {
        // Packing takes eight numbers of one register, then eight of the other.
        let in_order = _mm512_set_epi64(7, 5, 3, 1, 6, 4, 2, 0);
        let mut inputs = [_mm512_setzero_si512(); 2 * VIEW / 64];
        for i in 0..inputs.len() {
            let view = if i < VIEW / 64 { own } else { foe };
            let sums = &view[64 * i % VIEW..][..64];
            // SAFETY: there are sixty-four.
            let [low, high] = unsafe { [sums.as_ptr(), sums[32..].as_ptr()].map(|at| _mm512_loadu_si512(at.cast())) };
            inputs[i] = _mm512_permutexvar_epi64(in_order, _mm512_packus_epi16(low, high));
        }
        let mut sums = [_mm512_setzero_si512(); INNER];
        for i in 0..inputs.len() {
            for output in 0..INNER {
                // SAFETY: there are sixty-four.
                let weights = unsafe { _mm512_loadu_si512(self.rows[output][64 * i..][..64].as_ptr().cast()) };
                sums[output] = _mm512_dpbusd_epi32(sums[output], inputs[i], weights);
            }
        }
        bytemuck::cast(totals_of_sixteen(sums))
    }
}

// Packing numbers into bytes cuts them off there.
const _: () = assert!(VIEW_ONE == u8::MAX as i16);

/// What packing has taken in turns from two registers, in order.
#[cfg(target_arch = "x86_64")]
const IN_ORDER: i32 = 0b11_01_10_00;

/// The total of each register.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn totals_of_eight([a, b, c, d, e, f, g, h]: [__m256i; 8]) -> __m256i {
    let first = _mm256_hadd_epi32(_mm256_hadd_epi32(a, b), _mm256_hadd_epi32(c, d));
    let second = _mm256_hadd_epi32(_mm256_hadd_epi32(e, f), _mm256_hadd_epi32(g, h));
    let (low, high) =
        (_mm256_permute2x128_si256::<0x20>(first, second), _mm256_permute2x128_si256::<0x31>(first, second));
    _mm256_add_epi32(low, high)
}

/// The total of each register. In every step two become one that holds the halves of both, added up.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f")]
#[inline]
fn totals_of_sixteen(sums: [__m512i; 16]) -> __m512i {
    let mut pairs = [_mm512_setzero_si512(); 8];
    for i in 0..8 {
        let (a, b) = (sums[2 * i], sums[2 * i + 1]);
        pairs[i] = _mm512_add_epi32(_mm512_unpacklo_epi32(a, b), _mm512_unpackhi_epi32(a, b));
    }
    let mut fours = [_mm512_setzero_si512(); 4];
    for i in 0..4 {
        let (a, b) = (pairs[2 * i], pairs[2 * i + 1]);
        fours[i] = _mm512_add_epi32(_mm512_unpacklo_epi64(a, b), _mm512_unpackhi_epi64(a, b));
    }
    let [a, b, c, d] = fours;
    let ab = _mm512_add_epi32(_mm512_shuffle_i32x4::<EVEN>(a, b), _mm512_shuffle_i32x4::<ODD>(a, b));
    let cd = _mm512_add_epi32(_mm512_shuffle_i32x4::<EVEN>(c, d), _mm512_shuffle_i32x4::<ODD>(c, d));
    _mm512_add_epi32(_mm512_shuffle_i32x4::<EVEN>(ab, cd), _mm512_shuffle_i32x4::<ODD>(ab, cd))
}

/// Quarters 0 and 2, or 1 and 3, of two registers.
#[cfg(target_arch = "x86_64")]
const EVEN: i32 = 0b10_00_10_00;
#[cfg(target_arch = "x86_64")]
const ODD: i32 = 0b11_01_11_01;

/// Both views, nothing below zero or above one.
#[inline(always)]
fn cut_off(own: &Perspective, foe: &Perspective) -> [i16; 2 * VIEW] {
    let mut inputs = [0; 2 * VIEW];
    for i in 0..VIEW {
        inputs[i] = own[i].clamp(0, VIEW_ONE);
        inputs[VIEW + i] = foe[i].clamp(0, VIEW_ONE);
    }
    inputs
}

#[cfg(test)]
mod tests {
    use anqi_rules::Seed;
    use rand_core::Rng;

    use super::*;

    /// Whether pairs fit, and the weight if there is only one: any weights, small ones, the largest of which pairs fit, larger ones.
    const CASES: [(bool, Option<i8>); 8] = [
        (false, None),
        (true, None),
        (true, Some(64)),
        (true, Some(-64)),
        (false, Some(65)),
        (false, Some(-65)),
        (false, Some(i8::MAX)),
        (false, Some(i8::MIN)),
    ];

    #[test]
    fn all_paths_give_what_the_obvious_way_gives() {
        let mut rng = Seed::from(1).rng();
        let mut byte = || rng.next_u32() as i8;
        for (fits, extreme) in CASES {
            let any = |byte: i8| if fits { byte / 4 } else { byte };
            let rows: Rows = std::array::from_fn(|_| std::array::from_fn(|_| extreme.unwrap_or(any(byte()))));
            let bias = std::array::from_fn(|_| i32::from(byte()));
            let layer = Layer::new(Box::new(rows), bias);
            assert_eq!(layer.fits, fits);
            let views: [Perspective; 2] =
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
