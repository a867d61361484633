//! `anqi endgame verify`: does every value follow from its successors?

use std::collections::HashMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Instant;

use anqi_endgame::{Class, Ending, Flavour, Measure, Table, TableFile, classes_up_to, table_path, verify};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use super::described;
use crate::Exit;
use crate::output::{Output, grouped};

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
    /// How many threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<NonZeroUsize>,
}

#[derive(Serialize)]
struct Verified {
    schema: &'static str,
    dir: String,
    flavour: String,
    classes: usize,
    positions: u64,
    wrong: Vec<String>,
    seconds: f64,
}

pub(crate) fn run(args: &VerifyArgs, out: &mut Output) -> Result<Exit> {
    if args.flavour.measure() == Measure::Outcome {
        bail!("outcomes alone prove nothing: a circle of wins would follow from itself; verify conversion or end");
    }
    let start = Instant::now();
    let endings: Vec<Ending> = if args.all {
        let there = |ending: &Ending| table_path(&args.dir, ending, args.flavour).exists();
        classes_up_to(anqi_endgame::MOST_PIECES as u32).into_values().filter(there).collect()
    } else {
        args.endings.clone()
    };
    if endings.is_empty() {
        bail!("there is no table of flavour {} in {}", args.flavour, args.dir.display());
    }
    let threads = args.threads.or_else(|| thread::available_parallelism().ok()).map_or(1, usize::from);
    let mut verified = Verified {
        schema: "anqi-endgame-verify-1",
        dir: args.dir.display().to_string(),
        flavour: args.flavour.to_string(),
        classes: 0,
        positions: 0,
        wrong: Vec::new(),
        seconds: 0.0,
    };
    for pieces in 2..=anqi_endgame::MOST_PIECES as u32 {
        let level: Vec<Class> =
            endings.iter().filter(|ending| ending.len() == pieces).map(|ending| Class::of(ending).class).collect();
        let smaller = load(args, level.iter().flat_map(Class::smaller))?;
        let (next, results) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        thread::scope(|scope| {
            let work = || {
                while let Some(class) = level.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = check(args, class, &smaller);
                    results.lock().unwrap_or_else(std::sync::PoisonError::into_inner).push(result);
                }
            };
            (1..threads.min(level.len())).for_each(|_| drop(scope.spawn(work)));
            work();
        });
        for result in results.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner) {
            verified.classes += 1;
            match result? {
                Ok(positions) => verified.positions += positions,
                Err(wrong) => verified.wrong.push(wrong),
            }
        }
        if !level.is_empty() {
            eprintln!("{pieces} pieces: {} classes after {:.0} s", level.len(), start.elapsed().as_secs_f64());
        }
    }
    verified.wrong.sort();
    verified.seconds = start.elapsed().as_secs_f64();
    out.print(&verified, |text| {
        verified.wrong.iter().try_for_each(|wrong| writeln!(text, "{wrong}"))?;
        let Verified { classes, seconds, wrong, .. } = &verified;
        writeln!(text, "{classes} classes, {} positions: {} wrong", grouped(verified.positions), wrong.len())?;
        writeln!(text, "{seconds:.1} s")
    })?;
    Ok(if verified.wrong.is_empty() { Exit::Done } else { Exit::Failed })
}

/// Loads whole tables.
fn load(args: &VerifyArgs, classes: impl Iterator<Item = Class>) -> Result<HashMap<Class, Table>> {
    let mut tables = HashMap::new();
    for class in classes {
        if !tables.contains_key(&class) {
            tables.insert(class.clone(), open(args, &class)?);
        }
    }
    Ok(tables)
}

fn open(args: &VerifyArgs, class: &Class) -> Result<Table> {
    let name = class.name().context("a class with too many pieces")?;
    Ok(TableFile::need(&args.dir, &name, args.flavour)?.load()?)
}

/// How many positions are right, or one that is wrong.
fn check(args: &VerifyArgs, class: &Class, smaller: &HashMap<Class, Table>) -> Result<Result<u64, String>> {
    let table = open(args, class)?;
    let checked = verify(&table, |class| smaller.get(class)).context("a smaller table is missing")?;
    let Err(wrong) = checked else { return Ok(checked.map_err(|_| String::new())) };
    let ending = class.name().context("a class with too many pieces")?;
    let position = super::position(&ending, &wrong.placement)?;
    let [found, expected] = [wrong.found, wrong.expected].map(|value| described(value, args.flavour));
    Ok(Err(format!("{ending}: {position} is said to be a {found}, but its moves make it a {expected}")))
}
