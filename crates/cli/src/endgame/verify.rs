//! `anqi endgame verify`: does every value follow from its successors?

use std::path::PathBuf;
use std::time::Instant;

use anqi_endgame::{Ending, Flavour, Measure, WrongTable, present, verify_files};
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use super::build::ThreadsArgs;
use crate::Exit;
use crate::output::{Output, grouped};
use crate::progress::Bar;

/// Check tables of distances by looking forward: every value must follow from those of the positions after each move
///
/// This uses nothing of the builder. If all values follow from each other, they are right.
#[derive(Args)]
pub(crate) struct VerifyArgs {
    /// Only the classes of these endings
    #[arg(required_unless_present = "all")]
    endings: Vec<Ending>,
    /// Every table of the folder
    #[arg(long, conflicts_with = "endings")]
    all: bool,
    /// The folder
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// The flavour: end, conversion, conversion-60
    #[arg(long, default_value = "end")]
    flavour: Flavour,
    #[command(flatten)]
    threads: ThreadsArgs,
}

#[derive(Serialize)]
struct Verified {
    schema: &'static str,
    dir: String,
    flavour: String,
    classes: u64,
    positions: u64,
    wrong: Vec<String>,
    seconds: f64,
}

pub(crate) fn run(args: &VerifyArgs, out: &mut Output) -> Result<Exit> {
    if args.flavour.measure() == Measure::Outcome {
        bail!("outcomes alone prove nothing: a circle of wins would follow from itself; verify conversion or end");
    }
    let start = Instant::now();
    let endings = if args.all { present(&args.dir, args.flavour) } else { args.endings.clone() };
    if endings.is_empty() {
        bail!("there is no table of flavour {} in {}", args.flavour, args.dir.display());
    }
    let mut bar = Bar::of("classes");
    let found = verify_files(&args.dir, args.flavour, &endings, args.threads.count(), &mut bar)?;
    drop(bar);
    let verified = Verified {
        schema: "anqi-endgame-verify-1",
        dir: args.dir.display().to_string(),
        flavour: args.flavour.to_string(),
        classes: found.classes,
        positions: found.positions,
        wrong: found.wrong.iter().map(|wrong| described(wrong, args.flavour)).collect(),
        seconds: start.elapsed().as_secs_f64(),
    };
    out.print(&verified, |text| {
        verified.wrong.iter().try_for_each(|wrong| writeln!(text, "{wrong}"))?;
        let Verified { classes, seconds, wrong, .. } = &verified;
        writeln!(text, "{classes} classes, {} positions: {} wrong", grouped(verified.positions), wrong.len())?;
        writeln!(text, "{seconds:.1} s")
    })?;
    Ok(if verified.wrong.is_empty() { Exit::Done } else { Exit::Failed })
}

fn described(wrong: &WrongTable, flavour: Flavour) -> String {
    let WrongTable { ending, position, disagreement } = wrong;
    let [found, expected] = [disagreement.found, disagreement.expected].map(|value| flavour.describe(value));
    format!("{ending}: {position} is said to be a {found}, but its moves make it a {expected}")
}
