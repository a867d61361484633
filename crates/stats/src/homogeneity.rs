//! Whether two groups of results come from the same distribution.

use statrs::distribution::{ChiSquared, ContinuousCDF};

/// Pearson's test of homogeneity of two groups.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Homogeneity {
    /// The statistic.
    pub chi_square: f64,
    /// The probability of one as large or larger if both groups come from the same distribution.
    pub p: f64,
}

impl Homogeneity {
    /// Compares two groups of counts by category. Categories that are empty in both are left out. `None` where the
    /// approximation would not hold: fewer than two categories, or one with an expected count below five.
    ///
    /// ```
    /// use anqi_stats::Homogeneity;
    ///
    /// let same = Homogeneity::of([10, 20, 10], [50, 100, 50]).unwrap();
    /// assert_eq!((same.chi_square, same.p), (0.0, 1.0));
    /// let other = Homogeneity::of([40, 5, 5], [50, 100, 50]).unwrap();
    /// assert!((other.chi_square - 52.94).abs() < 0.01 && other.p < 1e-10);
    /// assert_eq!(Homogeneity::of([1, 2, 0], [50, 100, 50]), None);
    /// ```
    #[must_use]
    pub fn of<const N: usize>(one: [u64; N], other: [u64; N]) -> Option<Homogeneity> {
        let groups = [one, other];
        let [first, second] = groups.map(|group| group.iter().sum::<u64>() as f64);
        let all = first + second;
        let mut chi_square = 0.0;
        let mut categories = 0;
        for category in 0..N {
            let column = (one[category] + other[category]) as f64;
            if column == 0.0 {
                continue;
            }
            categories += 1;
            for (group, size) in groups.iter().zip([first, second]) {
                let expected = column * size / all;
                if expected < LEAST {
                    return None;
                }
                chi_square += (group[category] as f64 - expected).powi(2) / expected;
            }
        }
        let distribution = ChiSquared::new(f64::from(u32::checked_sub(categories, 1)?)).ok()?;
        Some(Homogeneity { chi_square, p: distribution.sf(chi_square) })
    }
}

/// The usual limit of the approximation.
const LEAST: f64 = 5.0;
