//! `anqi endgame count`: results of classes that are too many to keep.

use std::path::PathBuf;

use anqi_endgame::{Class, CountsFile, Ending, Flavour, count};
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::build::HowArgs;
use crate::Exit;
use crate::output::Output;
use crate::progress::Bar;

/// Solve all classes of some number of pieces and write down their results, not their tables
///
/// One line for each class, as soon as it is solved: how many placements are won, drawn and lost with each side to move,
/// and the longest win. Classes that have a line are not solved again.
#[derive(Args)]
pub(crate) struct CountArgs {
    /// How many pieces, 2 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=6))]
    pieces: u32,
    /// The folder of the smaller tables; those that are missing are built
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// The file, as comma-separated values
    #[arg(long, value_name = "FILE")]
    csv: PathBuf,
    /// What distances count and under which draw rule: end, conversion, outcome, conversion-60, outcome-60
    #[arg(long, default_value = "end")]
    flavour: Flavour,
    #[command(flatten)]
    how: HowArgs,
}

#[derive(Serialize)]
struct Counted {
    schema: &'static str,
    classes: usize,
    missing: usize,
}

pub(crate) fn run(args: &CountArgs, out: &mut Output) -> Result<Exit> {
    let stop = args.how.stop()?;
    let mut file = CountsFile::open(&args.csv).with_context(|| format!("cannot read {}", args.csv.display()))?;
    let all = Class::all(args.pieces);
    let missing: Vec<Ending> = all.values().copied().filter(|ending| !file.has(ending)).collect();
    let (mut bar, mut left, mut written) = (Bar::of("classes"), missing.len(), Ok(()));
    let complete = count(&args.dir, args.flavour, &missing, args.how.threads.count(), &stop, |ending, tally| {
        if written.is_err() {
            return;
        }
        written = file.add(ending, tally);
        if written.is_err() {
            stop.raise();
        }
        left -= 1;
        bar.show("", missing.len() - left, missing.len());
    })?;
    drop(bar);
    written.with_context(|| format!("cannot write {}", args.csv.display()))?;
    let counted = Counted { schema: "anqi-endgame-count-1", classes: all.len(), missing: left };
    out.print(&counted, |text| writeln!(text, "{} of {} classes", counted.classes - left, counted.classes))?;
    Ok(if complete { Exit::Done } else { Exit::Interrupted })
}
