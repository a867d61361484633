//! `anqi endgame probe` and `anqi endgame line`: what tables say about one position.

use anqi_endgame::{Action, Ending, MOST_PIECES, Tablebase};
use anqi_rules::{BoardSize, Ladder, Position};
use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde::Serialize;

use super::{TablesArgs, plies};
use crate::Exit;
use crate::arena::shell;
use crate::output::Output;
use crate::position::PositionArgs;

/// Show the verdict on a position and on every action, the best first
#[derive(Args)]
pub(crate) struct ProbeArgs {
    #[command(flatten)]
    position: PositionArgs,
    #[command(flatten)]
    tables: TablesArgs,
}

#[derive(Serialize)]
struct Probed {
    schema: &'static str,
    position: String,
    flavour: String,
    verdict: &'static str,
    plies: Option<u16>,
    actions: Vec<Judged>,
}

#[derive(Serialize)]
struct Judged {
    action: String,
    verdict: &'static str,
    plies: Option<u16>,
}

pub(crate) fn probe(args: &ProbeArgs, out: &mut Output) -> Result<Exit> {
    let position = args.position.position()?;
    let tablebase = args.tables.tablebase()?;
    let flavour = args.tables.flavour;
    let Some(value) = tablebase.judge(&position)? else { bail!(missing(&position, &tablebase)) };
    let actions = tablebase.actions(&position)?.with_context(|| missing(&position, &tablebase))?;
    let judged = |action: &Action| Judged {
        action: action.mv.to_string(),
        verdict: action.value.wdl().name(),
        plies: plies(action.value, flavour),
    };
    let probed = Probed {
        schema: "anqi-endgame-probe-1",
        position: position.to_string(),
        flavour: flavour.to_string(),
        verdict: value.wdl().name(),
        plies: plies(value, flavour),
        actions: actions.iter().map(judged).collect(),
    };
    out.print(&probed, |text| {
        writeln!(text, "{} ({flavour})", flavour.describe(value))?;
        actions.iter().try_for_each(|action| writeln!(text, "{:<6} {}", action.mv, flavour.describe(action.value)))
    })?;
    Ok(Exit::Done)
}

/// Show perfect play from a position: the winner hurries, the loser delays
#[derive(Args)]
pub(crate) struct LineArgs {
    #[command(flatten)]
    position: PositionArgs,
    #[command(flatten)]
    tables: TablesArgs,
}

#[derive(Serialize)]
struct PlayedLine {
    schema: &'static str,
    position: String,
    flavour: String,
    verdict: &'static str,
    plies: Option<u16>,
    line: Vec<String>,
    end: String,
}

pub(crate) fn line(args: &LineArgs, out: &mut Output) -> Result<Exit> {
    let start = args.position.position()?;
    let tablebase = args.tables.tablebase()?;
    let flavour = args.tables.flavour;
    if flavour.measure() == anqi_endgame::Measure::Outcome {
        bail!("tables of outcomes know no distances; perfect play needs end or conversion");
    }
    let Some(value) = tablebase.judge(&start)? else { bail!(missing(&start, &tablebase)) };
    let played = tablebase.line(&start)?.map_err(|unknown| anyhow!(missing(&unknown, &tablebase)))?;
    let line = PlayedLine {
        schema: "anqi-endgame-line-1",
        position: start.to_string(),
        flavour: flavour.to_string(),
        verdict: value.wdl().name(),
        plies: plies(value, flavour),
        line: played.moves.iter().map(ToString::to_string).collect(),
        end: played.end.to_string(),
    };
    out.print(&line, |text| {
        writeln!(text, "{} ({flavour})", flavour.describe(value))?;
        for moves in line.line.chunks(10) {
            writeln!(text, "{}", moves.join(" "))?;
        }
        writeln!(text, "{}", line.end)
    })?;
    Ok(Exit::Done)
}

/// Why there is no verdict on a position, or on one of its moves.
fn missing(position: &Position, tablebase: &Tablebase) -> String {
    let fits = position.board() == BoardSize::FourByEight && position.ladder() == Ladder::Taiwan;
    let ending = Ending::try_from(position.revealed()).ok().filter(|_| fits && position.hidden().is_empty());
    match (tablebase.dir(), ending.filter(|ending| ending.len() as usize <= MOST_PIECES)) {
        (Some(dir), Some(ending)) => {
            let (flavour, dir) = (tablebase.flavour(), shell(dir));
            format!(
                "{position}: the table of {ending}, or one that a capture leads to, is not there; build them with\n  \
                 anqi endgame build {ending} --flavour {flavour} --dir {dir}"
            )
        }
        _ => format!("{position}: tables have 2 to 6 pieces of both colours, all revealed, on the usual board"),
    }
}
