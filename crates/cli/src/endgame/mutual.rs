//! `anqi endgame mutual`: placements in which nobody wants to move.

use anqi_endgame::{Ending, Placement, Table, Wdl};
use anqi_rules::Color;
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::{TablesArgs, name, position};
use crate::Exit;
use crate::output::{Output, grouped};

/// List mutual zugzwangs: placements in which each side does better if the other one is to move
#[derive(Args)]
pub(crate) struct MutualArgs {
    /// Red pieces, a hyphen, black pieces: N-pp
    ending: Ending,
    #[command(flatten)]
    tables: TablesArgs,
    /// Show so many of them, one of each four that are reflections
    #[arg(long, value_name = "N", default_value_t = 20)]
    show: usize,
}

#[derive(Serialize)]
struct Mutual {
    schema: &'static str,
    ending: String,
    flavour: String,
    /// Up to symmetry.
    count: u64,
    positions: Vec<Zugzwang>,
}

#[derive(Serialize)]
struct Zugzwang {
    /// With red to move.
    position: String,
    red_to_move: &'static str,
    black_to_move: &'static str,
}

pub(crate) fn run(args: &MutualArgs, out: &mut Output) -> Result<Exit> {
    let table = args.tables.table(&args.ending)?;
    let mut mutual = Mutual {
        schema: "anqi-endgame-mutual-1",
        ending: args.ending.to_string(),
        flavour: args.tables.flavour.to_string(),
        count: 0,
        positions: Vec::new(),
    };
    let reading = anqi_endgame::Class::of(&args.ending);
    for place in 0..table.index().places() / 2 {
        let Some(placement) = table.index().placement(place) else { continue };
        // Pieces that can be exchanged, or reflected onto each other, have more than one place.
        if table.index().place(&placement) != place {
            continue;
        }
        let [red, black] = outcomes(&table, &placement);
        if red < black.reversed() {
            mutual.count += 1;
            if mutual.positions.len() < args.show {
                let turn = reading.color(Color::Red);
                let [red, black] = if reading.swapped { [black, red] } else { [red, black] };
                mutual.positions.push(Zugzwang {
                    position: position(&args.ending, &Placement { turn, ..placement })?.to_string(),
                    red_to_move: name(red),
                    black_to_move: name(black),
                });
            }
        }
    }
    out.print(&mutual, |text| {
        writeln!(text, "{}: {} mutual zugzwangs up to symmetry", mutual.ending, grouped(mutual.count))?;
        for Zugzwang { position, red_to_move, black_to_move } in &mutual.positions {
            writeln!(text, "{position}  red to move: {red_to_move}, black to move: {black_to_move}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// With red to move and with black to move, each for the mover.
fn outcomes(table: &Table, placement: &Placement) -> [Wdl; 2] {
    Color::ALL.map(|turn| table.value(&Placement { turn, ..*placement }).wdl())
}
