//! `anqi endgame count`: results of classes that are too many to keep.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::PathBuf;

use anqi_endgame::{Class, Ending, Flavour, Index, TableTally, count};
use anqi_rules::{ByColor, Color};
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use super::build::HowArgs;
use crate::Exit;
use crate::output::{Output, grouped};

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

const HEADER: &str =
    "class,positions,red_win,red_draw,red_loss,red_longest,black_win,black_draw,black_loss,black_longest";

#[derive(Serialize)]
struct Counted {
    schema: &'static str,
    classes: usize,
    missing: usize,
}

pub(crate) fn run(args: &CountArgs, out: &mut Output) -> Result<Exit> {
    let stop = args.how.stop()?;
    let name = || format!("cannot write {}", args.csv.display());
    let known = known(args).with_context(name)?;
    let mut file = OpenOptions::new().create(true).append(true).open(&args.csv).with_context(name)?;
    if known.is_empty() && file.metadata().with_context(name)?.len() == 0 {
        writeln!(file, "{HEADER}").with_context(name)?;
    }
    let all = Class::all(args.pieces);
    let missing: Vec<Ending> = all.values().copied().filter(|ending| !known.contains(&ending.to_string())).collect();
    let (mut left, mut written) = (missing.len(), Ok(()));
    let complete = count(&args.dir, args.flavour, &missing, args.how.threads()?, &stop, |ending, tally| {
        left -= 1;
        written = std::mem::replace(&mut written, Ok(())).and_then(|()| write(&mut file, ending, tally));
        if left.is_multiple_of(10) {
            eprintln!("{} classes left", grouped(left as u64));
        }
    })?;
    written.with_context(name)?;
    let counted = Counted { schema: "anqi-endgame-count-1", classes: all.len(), missing: left };
    out.print(&counted, |text| writeln!(text, "{} of {} classes", counted.classes - left, counted.classes))?;
    Ok(if complete { Exit::Done } else { Exit::Interrupted })
}

/// The classes that have a whole line. What was written of another one is cut off.
fn known(args: &CountArgs) -> io::Result<BTreeSet<String>> {
    let text = match fs::read_to_string(&args.csv) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(BTreeSet::new()),
        text => text?,
    };
    let whole = text.rfind('\n').map_or(0, |end| end + 1);
    if whole < text.len() {
        OpenOptions::new().write(true).open(&args.csv)?.set_len(whole as u64)?;
    }
    let class = |line: &str| line.split_once(',').map(|(class, _)| class.to_owned());
    Ok(text[..whole].lines().skip(1).filter_map(class).collect())
}

fn write(file: &mut File, ending: Ending, tally: &ByColor<TableTally>) -> io::Result<()> {
    let positions = Index::new(&Class::of(&ending).class).map_or(0, |index| index.positions());
    let side = |color: Color| {
        let TableTally { win, draw, loss, longest } = tally[color];
        format!("{win},{draw},{loss},{}", longest.map_or_else(String::new, |plies| plies.0.to_string()))
    };
    let line = format!("{ending},{positions},{},{}\n", side(Color::Red), side(Color::Black));
    file.write_all(line.as_bytes())
}
