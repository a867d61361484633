//! Positions a second of retrograde analysis, one thread.

use std::hint::black_box;
use std::num::NonZeroUsize;

use anqi_endgame::{Class, Ending, Tables};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn built(endings: impl IntoIterator<Item = Ending>) -> Tables {
    let mut tables = Tables::default();
    tables.build(endings, NonZeroUsize::MIN).expect("small endings");
    tables
}

fn size(tables: &Tables, pieces: u32) -> u64 {
    tables.iter().filter(|table| table.class().pieces() == pieces).map(|table| u64::from(table.index().len())).sum()
}

fn retrograde(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("retrograde");
    group.sample_size(10);
    let three: Vec<Ending> = Class::all(3).into_values().collect();
    let two = built(Ending::all(2));
    group.throughput(Throughput::Elements(size(&built(three.iter().copied()), 3)));
    group.bench_function("all of three pieces", |bencher| {
        let build = |mut tables: Tables| tables.build(three.iter().copied(), NonZeroUsize::MIN);
        bencher.iter_batched(|| two.clone(), build, BatchSize::LargeInput);
    });

    let smaller = built(three.iter().copied());
    for name in ["NC-rc", "GM-rn", "PPP-n"] {
        let ending: Ending = name.parse().expect(name);
        group.throughput(Throughput::Elements(size(&built([ending]), 4)));
        group.bench_function(name, |bencher| {
            let build = |mut tables: Tables| tables.build([black_box(ending)], NonZeroUsize::MIN);
            bencher.iter_batched(|| smaller.clone(), build, BatchSize::LargeInput);
        });
    }
    group.finish();
}

criterion_group!(benches, retrograde);
criterion_main!(benches);
