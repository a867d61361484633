//! What it costs to talk: whole games of `random` against itself, one side an outside process.

use std::time::Duration;

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_protocol::{Clock, Left, Outside, OutsideSpec, supervise_with};
use anqi_rules::{Deal, Game, Rules, Seat, Seed};
use criterion::{Criterion, Throughput};

const PROGRAM: &str = env!("CARGO_BIN_EXE_faulty-engine");
const TIME: Duration = Duration::from_secs(900);

/// Plays one game; the outside program sits where `program` says.
fn play(program: Option<&mut Outside>, seed: &Seed, spec: &PlayerSpec) -> usize {
    let rules = Rules::server();
    let (deal, mut game) = (Deal::new(&rules, seed), Game::new(rules));
    let mut player = spec.build(Seed::from(1), &Resources::default()).expect("no files");
    let mut program = program;
    if let Some(program) = &mut program {
        program.start(&game, Seat::First, Some(Clock::default())).expect("it plays");
    }
    while game.outcome().is_none() {
        let mv = match &mut program {
            Some(program) if game.seat() == Seat::First => {
                program.choose(&game, Some(Left { own: TIME, other: TIME }), &Limits::default()).expect("it plays").0
            }
            _ => player.choose(&game, &Limits::default(), &Stop::default()).expect("there is a move").mv,
        };
        let ply = deal.resolve(mv).expect("it was legal");
        game.play(ply).expect("it was legal");
        if let Some(program) = &mut program {
            program.played(&game, ply, Some(TIME)).expect("it plays");
        }
    }
    game.plies().len()
}

fn main() {
    supervise_with(PROGRAM);
    let random: PlayerSpec = "random".parse().expect("there is one");
    let seed = Seed::from(1);
    let plies = play(None, &seed, &random) as u64;
    let mut criterion = Criterion::default().configure_from_args();
    let mut group = criterion.benchmark_group("random against itself, a ply");
    group.throughput(Throughput::Elements(plies));
    group.bench_function("in process", |bencher| bencher.iter(|| play(None, &seed, &random)));
    for (name, mode, protocol) in [("A", "good", "a"), ("UCI", "uci-good", "uci")] {
        let spec: OutsideSpec = format!("cmd=\"{PROGRAM} {mode}\" proto={protocol}").parse().expect("right");
        let mut program = Outside::launch(&spec).expect("it starts");
        group.bench_function(name, |bencher| bencher.iter(|| play(Some(&mut program), &seed, &random)));
        program.close();
    }
    group.finish();
    criterion.final_summary();
}
