//! Positions a second of retrograde analysis, and probes a second.

use std::num::NonZeroUsize;
use std::time::Duration;

use anqi_endgame::{Class, Ending, Flavour, Index, Tablebase, Tables};
use anqi_rules::{BoardSize, Color, Ladder, Position, Seed, Setup, SquareSet};
use anyhow::{Context, Result};
use rand_core::Rng;
use serde::Serialize;

use super::best_rate;
use crate::Exit;
use crate::output::{Output, grouped};

#[derive(Serialize)]
struct Rate {
    schema: &'static str,
    what: &'static str,
    flavour: String,
    ending: String,
    per_second: f64,
}

/// Three classes of five different pieces, with none, one and two cannons, and one with equal pieces.
const ENDINGS: [&str; 4] = ["GR-mnp", "GR-mnc", "KGC-rc", "GN-mpp"];

/// So many random positions are probed over and over.
const PROBES: usize = 100_000;

pub(super) fn run(time: Duration, out: &mut Output) -> Result<Exit> {
    let mut rates = Vec::new();
    for flavour in [Flavour::outcome(None), Flavour::conversion(None), Flavour::END] {
        for name in ENDINGS {
            let ending: Ending = name.parse()?;
            let class = Class::of(&ending).class;
            let positions = Index::new(&class).context("a small class")?.positions();
            let mut smaller = Tables::new(flavour);
            let captured = (0..class.groups().len()).filter_map(|group| class.without(group));
            smaller.build(captured.filter_map(|grouping| grouping.class.name()), NonZeroUsize::MIN)?;
            let per_second = best_rate(time, || {
                let mut tables = smaller.clone(); // shares what is built
                tables.build([ending], NonZeroUsize::MIN).map_or(0, |()| positions)
            });
            rates.push(rate("positions", flavour, name, per_second));
        }
    }
    for name in ["NC-rc", "GR-mnc"] {
        let ending: Ending = name.parse()?;
        let tablebase = Tablebase::solving(Flavour::END, ending.len());
        let positions = positions(&ending)?;
        let probe = || positions.iter().filter(|position| matches!(tablebase.probe(position), Ok(Some(_)))).count();
        probe(); // the table is solved when it is first asked
        rates.push(rate("probes", Flavour::END, name, best_rate(time, || probe() as u64)));
    }
    out.print(&rates, |text| {
        rates.iter().try_for_each(|rate| {
            let per_second = grouped(rate.per_second as u64);
            writeln!(text, "{per_second:>12} {}/s  {:<10}  {}", rate.what, rate.flavour, rate.ending)
        })
    })?;
    Ok(Exit::Done)
}

fn rate(what: &'static str, flavour: Flavour, ending: &str, per_second: f64) -> Rate {
    Rate { schema: "anqi-bench-endgame-1", what, flavour: flavour.to_string(), ending: ending.to_owned(), per_second }
}

/// Random placements of an ending.
fn positions(ending: &Ending) -> Result<Vec<Position>> {
    let mut rng = Seed::from(1).rng();
    let mut positions = Vec::with_capacity(PROBES);
    while positions.len() < PROBES {
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
