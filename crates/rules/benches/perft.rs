//! Leaves a second: `cargo bench -p anqi-rules`.

use std::hint::black_box;

use anqi_rules::{Position, perft, perft_visiting};
use criterion::{Criterion, Throughput, criterion_group, criterion_main};

/// Name, position, depth.
const POSITIONS: [(&str, &str, u32); 3] = [
    ("initial", "xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx - KGGMMRRNNCCPPPPPkggmmrrnnccppppp", 2),
    ("middle", "xcRx/g1kx/MGPx/x1xx/Pmxx/pmrp/xxxx/CxRC r KGMNPPPgrncppp", 2),
    ("revealed", "mgpk/PPp1/RrMn/Mp1P/mcrC/RNKg/GGpN/Pcpn r -", 4),
];

fn leaves(criterion: &mut Criterion) {
    for (how, count) in [("visiting", perft_visiting as fn(&Position, u32) -> u64), ("bulk", perft)] {
        let mut group = criterion.benchmark_group(how);
        for (name, text, depth) in POSITIONS {
            let position: Position = text.parse().expect("a position");
            group.throughput(Throughput::Elements(perft(&position, depth)));
            group.bench_function(name, |bencher| bencher.iter(|| count(black_box(&position), depth)));
        }
    }
}

criterion_group!(benches, leaves);
criterion_main!(benches);
