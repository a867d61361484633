//! Positions a second of retrograde analysis, and probes a second, one thread.

use std::hint::black_box;
use std::num::NonZeroUsize;

use anqi_endgame::{Class, Ending, Flavour, Index, Tablebase, Tables, classes_up_to};
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};

fn retrograde(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("retrograde");
    group.sample_size(10);
    for flavour in [Flavour::outcome(None), Flavour::conversion(None), Flavour::END] {
        for name in ["NC-rc", "GM-rn", "GR-mnc"] {
            let ending: Ending = name.parse().expect(name);
            let class = Class::of(&ending).class;
            let mut smaller = Tables::new(flavour);
            smaller.build(class.smaller().filter_map(|class| class.name()), NonZeroUsize::MIN).expect("small endings");
            group.throughput(Throughput::Elements(Index::new(&class).expect("small").positions()));
            group.bench_function(format!("{flavour} {name}"), |bencher| {
                let build = |mut tables: Tables| tables.build([black_box(ending)], NonZeroUsize::MIN);
                bencher.iter_batched(|| smaller.clone(), build, BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

fn probes(criterion: &mut Criterion) {
    let tablebase = Tablebase::solving(Flavour::END, 4);
    let positions = ["4/4/1c2/4/1N2/2C1/3r/4 r -", "4/4/4/1c2/4/2N1/C3/3r b -", "r3/4/2c1/4/4/4/1NC1/4 r -"]
        .map(|text| text.parse().expect(text));
    criterion.bench_function("probe", |bencher| {
        bencher.iter(|| positions.iter().filter(|at| matches!(tablebase.probe(black_box(at)), Ok(Some(_)))).count());
    });
}

/// What tables that are solved when they are first asked cost a player: one look at an ending, and all that there are.
fn at_first(criterion: &mut Criterion) {
    let flavour = Flavour::conversion(Some(60));
    let mut group = criterion.benchmark_group("at first");
    group.sample_size(10);
    for text in ["4/4/1c2/4/1N2/2C1/3r/4 r -", "4/4/1g2/4/1M2/2R1/3n/4 r -", "4/4/1p2/4/1K2/2C1/3n/4 r -"] {
        let position = text.parse().expect(text);
        group.bench_function(format!("probe {text}"), |bencher| {
            bencher.iter(|| matches!(Tablebase::solving(flavour, 4).probe(black_box(&position)), Ok(Some(_))));
        });
    }
    let endings: Vec<Ending> = classes_up_to(4).into_values().collect();
    group.bench_function("all of up to four pieces", |bencher| {
        bencher.iter(|| Tables::new(flavour).build(black_box(&endings).iter().copied(), NonZeroUsize::MIN));
    });
    group.finish();
}

criterion_group!(benches, retrograde, probes, at_first);
criterion_main!(benches);
