//! `anqi endgame mutual`: placements in which nobody wants to move.

use anqi_endgame::{Class, Ending, Placement};
use anqi_rules::Color;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::TablesArgs;
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
    positions: Vec<ShownZugzwang>,
}

#[derive(Serialize)]
struct ShownZugzwang {
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
    let grouping = Class::of(&args.ending);
    for zugzwang in table.mutual_zugzwangs() {
        mutual.count += 1;
        if mutual.positions.len() < args.show {
            let placement = Placement { turn: grouping.color(Color::Red), ..zugzwang.placement };
            let position = grouping.position(&args.ending, &placement).context("a placement is a position")?;
            let outcome = |color| zugzwang.outcomes[grouping.color(color)].name();
            mutual.positions.push(ShownZugzwang {
                position: position.to_string(),
                red_to_move: outcome(Color::Red),
                black_to_move: outcome(Color::Black),
            });
        }
    }
    out.print(&mutual, |text| {
        writeln!(text, "{}: {} mutual zugzwangs up to symmetry", mutual.ending, grouped(mutual.count))?;
        for ShownZugzwang { position, red_to_move, black_to_move } in &mutual.positions {
            writeln!(text, "{position}  red to move: {red_to_move}, black to move: {black_to_move}")?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
