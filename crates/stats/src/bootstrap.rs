//! Resampling with a named generator (Xoshiro256++), so that a seed gives the same interval everywhere.

use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::estimate::Estimate;

/// The generator of everything that is resampled.
pub(crate) fn generator(seed: u64) -> Xoshiro256PlusPlus {
    Xoshiro256PlusPlus::seed_from_u64(seed)
}

/// A number below `bound`, each equally likely (Lemire 2019). `bound` is not 0.
pub(crate) fn below(rng: &mut impl Rng, bound: u64) -> u64 {
    loop {
        let product = u128::from(rng.next_u64()) * u128::from(bound);
        let low = product as u64;
        // The lowest 2^64 mod bound values of each class are one too many; there are fewer of them than `bound`.
        if low >= bound || low >= bound.wrapping_neg() % bound {
            return (product >> 64) as u64;
        }
    }
}

/// The mean of values that come in groups (positions of one game, games of one deal), with an
/// interval from resampling whole groups: members of a group are not independent. None without
/// groups or values.
///
/// ```
/// let games = [vec![1.0, 1.0, 1.0], vec![0.0, 0.0], vec![1.0, 0.0]];
/// let mean = anqi_stats::mean_by_group(&games, 1000, 1).unwrap();
/// assert_eq!(mean.value, 4.0 / 7.0);
/// assert!(mean.low < 0.2 && mean.high > 0.9);
/// ```
#[must_use]
pub fn mean_by_group<G: AsRef<[f64]>>(groups: &[G], samples: usize, seed: u64) -> Option<Estimate> {
    let groups: Vec<(f64, f64)> =
        groups.iter().map(AsRef::as_ref).map(|group| (group.iter().sum(), group.len() as f64)).collect();
    let mean = |chosen: &mut dyn Iterator<Item = (f64, f64)>| {
        let (sum, count) = chosen.fold((0.0, 0.0), |(sum, count), group| (sum + group.0, count + group.1));
        sum / count
    };
    let value = mean(&mut groups.iter().copied());
    if value.is_nan() {
        return None;
    }
    let mut rng = generator(seed);
    let mut means: Vec<f64> = (0..samples)
        .map(|_| mean(&mut (0..groups.len()).map(|_| groups[below(&mut rng, groups.len() as u64) as usize])))
        // A sample of empty groups alone has no mean.
        .filter(|mean| !mean.is_nan())
        .collect();
    Some(Estimate::percentile(value, &mut means))
}

/// Draws as many groups as there are, with replacement, and counts how often each was drawn. Resample `number` of a
/// seed is the same whoever draws it, and whatever was drawn before.
///
/// ```
/// let mut counts = [0; 100];
/// anqi_stats::resample(1, 7, &mut counts);
/// assert_eq!(counts.iter().sum::<u16>(), 100);
/// ```
pub fn resample(seed: u64, number: u64, counts: &mut [u16]) {
    // An odd factor that is not the increment of the generator's own seeding, or neighbours would share their states.
    let mut rng = generator(seed.wrapping_add(number.wrapping_mul(0xd134_2543_de82_ef95)));
    counts.fill(0);
    for _ in 0..counts.len() {
        let drawn = &mut counts[below(&mut rng, counts.len() as u64) as usize];
        *drawn = drawn.saturating_add(1);
    }
}
