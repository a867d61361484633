//! `anqi endgame stats`: how many placements are won, drawn and lost.

use anqi_endgame::{Class, Ending, Measure, TableTally};
use anqi_rules::Color;
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use super::TablesArgs;
use crate::Exit;
use crate::output::{Output, grouped};

/// Count the placements of an ending that are won, drawn and lost, and show the longest wins
#[derive(Args)]
pub(crate) struct StatsArgs {
    /// Red pieces, a hyphen, black pieces: N-pp
    ending: Ending,
    #[command(flatten)]
    tables: TablesArgs,
}

#[derive(Serialize)]
struct Stats {
    schema: &'static str,
    ending: String,
    class: String,
    flavour: String,
    red_to_move: SideStats,
    black_to_move: SideStats,
}

#[derive(Serialize)]
struct SideStats {
    win: u64,
    draw: u64,
    loss: u64,
    /// Plies of the longest win.
    longest: Option<u16>,
    /// A position that takes so long.
    position: Option<String>,
}

pub(crate) fn run(args: &StatsArgs, out: &mut Output) -> Result<Exit> {
    let ending = args.ending;
    let table = args.tables.table(&ending)?;
    let grouping = Class::of(&ending);
    let tally = grouping.tally(&ending, table.tally());
    let longest = table.longest_wins();
    let side = |color: Color| -> SideStats {
        let TableTally { win, draw, loss, longest: plies } = tally[color];
        let example = longest[grouping.color(color)].and_then(|placement| grouping.position(&ending, &placement));
        let plies = plies.filter(|_| args.tables.flavour.measure() != Measure::Outcome);
        SideStats {
            win,
            draw,
            loss,
            longest: plies.map(|plies| plies.0),
            position: example.filter(|_| plies.is_some()).map(|position| position.to_string()),
        }
    };
    let stats = Stats {
        schema: "anqi-endgame-stats-1",
        ending: ending.to_string(),
        class: grouping.class.name().map_or_else(String::new, |name| name.to_string()),
        flavour: args.tables.flavour.to_string(),
        red_to_move: side(Color::Red),
        black_to_move: side(Color::Black),
    };
    out.print(&stats, |text| {
        writeln!(text, "{} (class {}, {})", stats.ending, stats.class, stats.flavour)?;
        for (name, side) in [("red", &stats.red_to_move), ("black", &stats.black_to_move)] {
            let [win, draw, loss] = [side.win, side.draw, side.loss].map(grouped);
            writeln!(text, "{name:<5} to move  won {win}, drawn {draw}, lost {loss}")?;
            if let (Some(plies), Some(position)) = (side.longest, &side.position) {
                writeln!(text, "               longest win {plies} plies: {position}")?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
