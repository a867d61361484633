//! The Dirichlet-multinomial distribution and Holm's method against slower ways to the same numbers, and against numbers that
//! were computed outside of this project by exact fractions.

use anqi_stats::{Games, Outcomes, Predictive, holm, posterior, saturated};
use proptest::prelude::*;

fn close(found: f64, expected: f64, tolerance: f64) {
    assert!((found - expected).abs() <= tolerance, "{found} is not {expected}");
}

/// The chance of these counts by drawing from an urn, game after game.
fn by_urn(measured: &Games, games: &Games) -> f64 {
    let mut urn = measured.0.map(|count| count as f64 + 0.5);
    let (mut chance, mut drawn) = (1.0, 0.0);
    for (outcome, &count) in games.0.iter().enumerate() {
        for number in 1..=count {
            drawn += 1.0;
            // The order of the outcomes does not matter: drawn over number builds the multinomial coefficient.
            chance *= urn[outcome] / urn.iter().sum::<f64>() * drawn / number as f64;
            urn[outcome] += 1.0;
        }
    }
    chance
}

fn all_of(total: u64) -> impl Iterator<Item = Games> {
    (0..=total).flat_map(move |lost| (0..=total - lost).map(move |drawn| Games([lost, drawn, total - lost - drawn])))
}

/// ENHANCE against BASIC in Chen's Table 3, given counts that differ much and little; by exact fractions.
#[test]
fn known_values() {
    for (measured, printed, log, p) in [
        ([18, 59, 23], [7, 46, 47], -12.5615980766, 5.582597762593e-04),
        ([31, 120, 49], [7, 46, 47], -13.0724292105, 2.552176118591e-04),
        ([0, 200, 0], [34, 57, 9], -59.1073987212, 7.823700447657e-25),
        ([13, 103, 84], [7, 46, 47], -5.17217581437, 6.305448743966e-01),
    ] {
        let predictive = Predictive::of(&Games(measured));
        close(predictive.log_likelihood(&Games(printed)), log, 1e-9);
        close(predictive.p(&Games(printed)) / p, 1.0, 1e-8);
    }
}

#[test]
fn saturated_is_the_best_multinomial() {
    let games = Games([7, 46, 47]);
    let multinomial = |shares: [f64; 3]| -> f64 {
        let logs = |count: u64| (1..=count).map(|number| (number as f64).ln()).sum::<f64>();
        let parts = games.0.iter().zip(shares).map(|(&count, share)| count as f64 * share.ln() - logs(count));
        logs(100) + parts.sum::<f64>()
    };
    close(saturated(&games), multinomial([0.07, 0.46, 0.47]), 1e-10);
    for shares in [[0.08, 0.45, 0.47], [0.06, 0.46, 0.48], [0.07, 0.47, 0.46]] {
        assert!(saturated(&games) > multinomial(shares));
    }
    // With ever more measured games of the same shares the prediction comes near.
    close(
        Predictive::of(&Games([7, 46, 47].map(|count| count * 1_000_000))).log_likelihood(&games),
        saturated(&games),
        1e-4,
    );
}

proptest! {
    #[test]
    fn predictions_are_those_of_an_urn(measured: [u8; 3], printed: [u8; 3]) {
        let [measured, printed] = [measured, printed].map(|counts| Games(counts.map(u64::from)));
        let urn = by_urn(&measured, &printed);
        // What is too small for a number has a logarithm.
        prop_assume!(urn > 1e-250);
        close(Predictive::of(&measured).log_likelihood(&printed), urn.ln(), 1e-8);
    }

    #[test]
    fn chances_of_all_counts_add_up(measured: [u8; 3], total in 0_u64..25, place: prop::sample::Index) {
        let measured = Games(measured.map(u64::from));
        let chances: Vec<f64> = all_of(total).map(|games| by_urn(&measured, &games)).collect();
        close(chances.iter().sum(), 1.0, 1e-9);
        let place = place.index(chances.len());
        let as_rare: f64 = chances.iter().filter(|&&chance| chance <= chances[place] * (1.0 + 1e-9)).sum();
        let games = all_of(total).nth(place).unwrap_or_default();
        prop_assert_eq!(games.total(), total);
        close(Predictive::of(&measured).p(&games), as_rare, 1e-8);
        let gaps = all_of(total).zip(&chances).map(|(games, chance)| chance * (chance.ln() - saturated(&games)));
        close(Predictive::of(&measured).expected(total), gaps.sum(), 1e-7);
    }

    /// Holm's method as it is told: reject the smallest while it is small enough.
    #[test]
    fn holm_rejects_step_by_step(p_values in prop::collection::vec(0.0_f64..0.2, 0..12), level in 0.001_f64..0.3) {
        let adjusted = holm(&p_values);
        let mut order: Vec<usize> = (0..p_values.len()).collect();
        order.sort_by(|&a, &b| p_values[a].total_cmp(&p_values[b]));
        let mut rejected = vec![false; p_values.len()];
        for (rank, &place) in order.iter().enumerate() {
            if p_values[place] * (p_values.len() - rank) as f64 > level {
                break;
            }
            rejected[place] = true;
        }
        let by_adjusted: Vec<bool> = adjusted.iter().map(|&p| p <= level).collect();
        prop_assert_eq!(by_adjusted, rejected);
        prop_assert!(adjusted.iter().zip(&p_values).all(|(adjusted, p)| (p..=&1.0).contains(&adjusted)));
    }

    #[test]
    fn posteriors_are_shares_of_likelihoods(logs in prop::collection::vec(-5.0_f64..0.0, 1..9), shift in -5000.0_f64..0.0) {
        let sum: f64 = logs.iter().map(|log| log.exp()).sum();
        let shifted: Vec<f64> = logs.iter().map(|log| log + shift).collect();
        for (share, log) in posterior(&shifted).iter().zip(&logs) {
            close(*share, log.exp() / sum, 1e-9);
        }
    }
}
