//! Playouts per second from the start, by path and policy: `cargo bench -p anqi-playout`.

use anqi_playout::{Path, PlayoutOptions, PlayoutStart, Policy, Reading, playout, playouts};
use anqi_rules::{Position, Rules};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Enough games to fill the lanes many times over.
const GAMES: u64 = 4096;

/// Slowest path first: on Zen 4 narrower vectors run at three quarters of their speed in a process
/// that has used AVX-512 before.
fn many(criterion: &mut Criterion) {
    let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
    for path in Path::available() {
        let mut group = criterion.benchmark_group(path.to_string());
        group.throughput(Throughput::Elements(GAMES));
        for (policy, draw) in [(Policy::Random, 40), (Policy::Capture, 40), (Policy::Capture, 640)] {
            let options = PlayoutOptions { policy, draw, ..PlayoutOptions::default() };
            let mut from = 0;
            group.bench_function(format!("{policy} {draw}"), |bencher| {
                bencher.iter(|| {
                    from += GAMES;
                    playouts(&start, &options, 1, from..from + GAMES, path)
                });
            });
        }
        group.finish();
    }
}

fn one(criterion: &mut Criterion) {
    let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
    let mut group = criterion.benchmark_group("one");
    group.throughput(Throughput::Elements(1));
    for reading in Reading::ALL {
        let options = PlayoutOptions { reading, ..PlayoutOptions::default() };
        let mut index = 0;
        group.bench_function(format!("random 40 {reading}"), |bencher| {
            bencher.iter(|| {
                index += 1;
                playout(&start, &options, 1, index)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, one, many);
criterion_main!(benches);
