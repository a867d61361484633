//! Intervals against a known truth: how often do they hold it?
//!
//! A game is a random walk of so many steps; the player wins if it ends above 0. The value of a position is the exact
//! chance of that, so values are calibrated, and positions of one game are as dependent as they are in real games.
#![allow(clippy::unwrap_used)]

use anqi_assess::{Assessment, METRICS, Sample, Samples, Scale, Settings};
use anqi_stats::Points;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use rayon::prelude::*;
use statrs::distribution::{ContinuousCDF, Normal};

const STEPS: u32 = 20;

/// A normal number, by the inverse of its distribution.
fn normal(rng: &mut impl Rng, of: &Normal) -> f64 {
    of.inverse_cdf(((rng.next_u64() >> 12) as f64 + 0.5) / (1_u64 << 52) as f64)
}

/// Games between players of different strength: the walk drifts. With `apart`, every position is a game of its own, as
/// those believe who count positions.
fn games(count: usize, seed: u64, apart: bool) -> Samples {
    let (mut rng, standard) = (Xoshiro256PlusPlus::seed_from_u64(seed), Normal::new(0.0, 1.0).unwrap());
    let mut samples = Samples::default();
    for game in 0..count {
        let steps: Vec<f64> = (0..STEPS).map(|_| normal(&mut rng, &standard)).collect();
        let result = if steps.iter().sum::<f64>() > 0.0 { Points::Win } else { Points::Loss };
        let mut place = 0.0;
        for (ply, step) in (0..).zip(&steps) {
            if ply > 0 {
                let value = standard.cdf(place / f64::from(STEPS - ply).sqrt());
                let game = if apart { format!("{game} {ply}") } else { game.to_string() };
                samples.push(Sample { game, ply, value, result, tags: Vec::new() }).unwrap();
            }
            place += step;
        }
    }
    samples
}

fn settings(resamples: u32, seed: u64) -> Settings {
    Settings { resamples, seed, scale: Some(Scale::Probability), delta: Some(0.1), thin: 1, ..Settings::default() }
}

/// Numbers that a sample of a calibrated search overestimates by nature, so that no interval around them holds the
/// truth, which is at or next to the end of their range.
const BIASED: [&str; 4] = ["reliability", "resolution", "uncertainty", "ECE"];

/// All metrics, then the points of the total curve.
fn estimates(samples: &Samples, settings: &Settings) -> Vec<(String, anqi_stats::Estimate)> {
    let assessment = Assessment::new("x", samples, settings).unwrap();
    let metrics = assessment.metrics.iter().map(|measured| (measured.metric.name.to_owned(), measured.value));
    let points = assessment.curves[0].points.iter().map(|point| (format!("curve at {:.1}", point.value), point.score));
    metrics.chain(points).collect()
}

#[test]
fn naive_intervals_are_too_narrow() {
    let (by_game, by_position) = (games(200, 7, false), games(200, 7, true));
    let width = |samples: &Samples, name: &str| {
        let found = estimates(samples, &settings(300, 1));
        found.into_iter().find(|(known, _)| known == name).unwrap().1.margin()
    };
    for name in ["ACC", "ROC", "tau (tables)", "E(v)", "Brier", "log loss"] {
        let (honest, naive) = (width(&by_game, name), width(&by_position, name));
        assert!(honest > 1.5 * naive, "{name}: {honest} and {naive}");
    }
}

/// `cargo test --release -p anqi-assess --test coverage -- --ignored --nocapture`
#[test]
#[ignore = "a thousand data sets: five minutes of one core"]
fn intervals_hold_the_truth() {
    let number = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    // Other data sets for who has changed something after looking at these.
    let (first, repetitions) = (number("ANQI_FIRST", 1), number("ANQI_REPETITIONS", 1000));
    let truth: Vec<(String, f64)> = estimates(&games(300_000, 0, false), &settings(1, 1))
        .into_iter()
        .map(|(name, estimate)| (name, estimate.value))
        .collect();
    let held = |apart: bool| -> Vec<f64> {
        let hits: Vec<Vec<bool>> = (first..first + repetitions)
            .into_par_iter()
            .map(|seed| {
                let found = estimates(&games(400, seed, apart), &settings(1000, seed));
                let holds = |(name, truth): &(String, f64)| {
                    let found = found.iter().find(|(known, _)| known == name);
                    found.is_some_and(|(_, estimate)| estimate.low <= *truth && *truth <= estimate.high)
                };
                truth.iter().map(holds).collect()
            })
            .collect();
        let share = |k: usize| hits.iter().filter(|hits| hits[k]).count() as f64 / repetitions as f64;
        (0..truth.len()).map(share).collect()
    };
    let (honest, naive) = (held(false), held(true));
    println!(
        "{repetitions} data sets from {first} on, of 400 games with 19 positions each, 1,000 resamples: share of 95 % intervals that hold the truth"
    );
    println!("{:<16} {:>9} {:>9} {:>13}", "", "truth", "by games", "by positions");
    let mut outside = Vec::new();
    for (k, (name, truth)) in truth.iter().enumerate() {
        let biased = BIASED.contains(&name.as_str());
        println!(
            "{name:<16} {truth:>9.4} {:>9.3} {:>13.3}{}",
            honest[k],
            naive[k],
            if biased { "  biased" } else { "" }
        );
        // At the ends of a curve nearly all games end alike; intervals there may be wide, but not too narrow.
        let most = if truth.min(1.0 - truth) < 0.15 && name.starts_with("curve") { 1.0 } else { 0.97 };
        if !biased && !(0.93..=most).contains(&honest[k]) {
            outside.push(name.clone());
        }
    }
    assert!(METRICS.len() < truth.len());
    assert!(outside.is_empty(), "outside 93 to 97 %: {outside:?}");
    let naive_of = |wanted: &str| naive[truth.iter().position(|(name, _)| name == wanted).unwrap()];
    for name in ["ACC", "ROC", "tau (tables)", "E(v)", "Brier", "curve at 0.3"] {
        assert!(naive_of(name) < 0.9, "{name}: positions alone hold it in {}", naive_of(name));
    }
}
