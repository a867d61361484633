//! A million values and results: all metrics, ten curves, a thousand resamples of games.

use std::hint::black_box;

use anqi_assess::{Assessment, Sample, Samples, Settings};
use anqi_stats::Points;
use criterion::{Criterion, criterion_group, criterion_main};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// A hundred positions a game, no two values equal, and a tag with nine words.
fn samples(count: usize) -> Samples {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    let mut samples = Samples::default();
    let mut share = || (rng.next_u64() >> 11) as f64 / (1_u64 << 53) as f64;
    for number in 0..count {
        let (game, ply) = (number / 100, (number % 100) as u32);
        let value = share();
        // Games differ in who is better.
        let won = (game * 7919 % 1000) as f64 / 1000.0 + value > 1.0;
        let tags = vec![("tag".to_owned(), (share() * 9.0).floor().to_string().into())];
        let result = if won { Points::Win } else { Points::Loss };
        // Shares are numbers.
        let _ = samples.push(Sample { game: game.to_string(), ply, value, result, tags });
    }
    samples
}

fn million(criterion: &mut Criterion) {
    let samples = samples(1_000_000);
    let by = "tag".parse().into_iter().collect();
    let settings = Settings { by, resamples: 1000, ..Settings::default() };
    let mut group = criterion.benchmark_group("assess");
    group.sample_size(10);
    group.bench_function("a million pairs, all metrics, 10 curves, 1,000 resamples", |bencher| {
        bencher.iter(|| black_box(Assessment::new("million", &samples, &settings)));
    });
    group.finish();
}

criterion_group!(benches, million);
criterion_main!(benches);
