//! How fast tables in files are probed: `cargo run --release -p anqi-endgame --example probes [ROUNDS]`.
//!
//! Random positions of two endings, whose tables are built into a temporary folder first, are probed over and over.

use std::num::NonZeroUsize;
use std::time::Instant;

use anqi_endgame::{Ending, Flavour, Tablebase, build};
use anqi_rules::{BoardSize, Color, Ladder, Position, Seed, Setup, SquareSet};
use anqi_task::Stop;
use rand_core::Rng;

const POSITIONS: usize = 100_000;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let rounds: usize = arguments.next().map_or(Ok(20), |rounds| rounds.parse())?;
    let dir = tempfile::tempdir()?;
    let endings = ["NC-rc", "GR-mnc"].map(|name| name.parse::<Ending>().expect(name));
    build(dir.path(), Flavour::END, endings, NonZeroUsize::MIN, &Stop::default(), ())?;
    for ending in endings {
        let tablebase = Tablebase::open(dir.path(), Flavour::END)?;
        let positions = positions(&ending)?;
        let probe = || positions.iter().filter(|position| matches!(tablebase.probe(position), Ok(Some(_)))).count();
        assert_eq!(probe(), POSITIONS);
        let mut best = f64::INFINITY;
        for _ in 0..rounds {
            let started = Instant::now();
            probe();
            best = best.min(started.elapsed().as_secs_f64());
        }
        println!("{ending} {:.0} probes/s, the best of {rounds} rounds", POSITIONS as f64 / best);
    }
    Ok(())
}

/// Random placements of an ending.
fn positions(ending: &Ending) -> Result<Vec<Position>, Box<dyn std::error::Error>> {
    let mut rng = Seed::from(1).rng();
    let mut positions = Vec::with_capacity(POSITIONS);
    while positions.len() < POSITIONS {
        let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
        let mut used = SquareSet::EMPTY;
        for piece in ending.material().pieces() {
            let free: Vec<_> = (!used).iter().collect();
            let square = free[rng.next_u32() as usize % free.len()];
            used |= square.set();
            setup.pieces[square.index()] = Some(piece);
        }
        setup.turn = Some(Color::ALL[rng.next_u32() as usize % 2]);
        positions.push(Position::try_from(setup)?);
    }
    Ok(positions)
}
