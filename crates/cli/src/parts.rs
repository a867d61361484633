//! `anqi plan`, `anqi part` and `anqi merge`: one plan on machines that share nothing but files.

use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anqi_lab::{Cast, MatchJournal, Plan, RunEvent, collect, complete, play_some};
use anqi_rules::excerpt;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::arena::{read_plan_file, shell, stop_on_signals};
use crate::concurrency::Concurrency;
use crate::output::Output;
use crate::resources::resources;
use crate::{report, result};

/// Print a plan as command lines that can run anywhere, in any order, more than once
///
/// Each line plays some pairs into a folder of its own; what is there already is not played again. `anqi merge` joins
/// them. With GNU parallel: `anqi plan plan.toml | parallel`. In a Slurm array job:
/// `anqi plan plan.toml | sed -n "${SLURM_ARRAY_TASK_ID}p" | sh`.
#[derive(Args)]
pub(crate) struct PlanArgs {
    /// A plan as for `anqi tournament`, or the folder of a match, of which only what is missing is printed
    plan: PathBuf,
    /// Pairs for each command
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u64).range(1..))]
    chunk: u64,
    /// Where the commands put their folders [default: `parts` beside the plan, or in the folder]
    #[arg(long, value_name = "DIR")]
    parts: Option<PathBuf>,
}

#[derive(Serialize)]
struct Planned {
    schema: &'static str,
    pairs: u64,
    commands: Vec<String>,
}

pub(crate) fn plan(args: &PlanArgs, out: &mut Output) -> Result<Exit> {
    let (count, journal) = if args.plan.is_dir() {
        MatchJournal::read(&args.plan).map(|journal| (journal.plan().count(), Some(journal)))?
    } else {
        (read_plan(&args.plan)?.count(), None)
    };
    let parts = args.parts.clone().unwrap_or_else(|| match &journal {
        Some(journal) => journal.dir().join("parts"),
        None => args.plan.with_file_name("parts"),
    });
    let wanted = |start: &u64| {
        let has = |number| journal.as_ref().is_some_and(|journal| journal.has(number));
        (*start..(start + args.chunk).min(count)).any(|number| !has(number))
    };
    let command = |start: u64| {
        let pairs = Pairs(start + 1..=(start + args.chunk).min(count));
        let dir = parts.join(pairs.to_string());
        format!("anqi part {} --pairs {pairs} --dir {}", shell(&args.plan), shell(&dir))
    };
    let commands = (0..count).step_by(usize::try_from(args.chunk)?).filter(wanted).map(command).collect();
    let planned = Planned { schema: "anqi-plan-1", pairs: count, commands };
    out.print(&planned, |text| planned.commands.iter().try_for_each(|command| writeln!(text, "{command}")))?;
    Ok(Exit::Done)
}

/// Play some pairs of a plan into a folder, for `anqi merge`
#[derive(Args)]
pub(crate) struct PartArgs {
    /// The plan, or the folder of a match that has it
    plan: PathBuf,
    /// Which pairs, counted from 1
    #[arg(long, value_name = "FROM-TO")]
    pairs: Pairs,
    /// The folder; pairs that it has are not played again
    #[arg(long)]
    dir: PathBuf,
    /// How many pairs at a time
    #[arg(long, value_name = "N", default_value = "1")]
    concurrency: Concurrency,
}

/// Numbers of pairs as people count them, from 1: `11-20`.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Pairs(RangeInclusive<u64>);

impl std::fmt::Display for Pairs {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}-{}", self.0.start(), self.0.end())
    }
}

impl FromStr for Pairs {
    type Err = String;

    fn from_str(text: &str) -> Result<Pairs, String> {
        let range = text.split_once('-').and_then(|(from, to)| Some(from.parse().ok()?..=to.parse().ok()?));
        let sound = |range: &RangeInclusive<u64>| *range.start() > 0 && !range.is_empty();
        range.filter(sound).map(Pairs).ok_or_else(|| format!("{:?} is not a range such as 11-20", excerpt(text)))
    }
}

#[derive(Serialize)]
struct Part {
    schema: &'static str,
    pairs: u64,
    dir: String,
}

pub(crate) fn part(args: &PartArgs, out: &mut Output) -> Result<Exit> {
    let plan = read_plan(&args.plan)?;
    if *args.pairs.0.end() > plan.count() {
        bail!("there is no pair {} in {}, it has {}", args.pairs.0.end(), args.plan.display(), plan.count());
    }
    let cast = Cast::new(&plan, &resources())?;
    let mut journal = MatchJournal::open_or_create(&args.dir, &plan)?;
    let stop = stop_on_signals()?;
    let ours = |number: &u64| args.pairs.0.contains(&(number + 1));
    collect(
        &mut journal,
        &cast,
        &stop,
        |event| {
            if let RunEvent::Note(text) = event {
                eprintln!("{text}");
            }
        },
        |plan, missing| {
            let missing = missing.into_iter().filter(ours).collect();
            play_some(plan, missing, Concurrency::or_one(Some(args.concurrency)).get(), &cast, &stop)
        },
    )?;
    if journal.missing().any(|number| ours(&number)) {
        eprintln!("interrupted: what was played is saved; the same command goes on");
        return Ok(Exit::Interrupted);
    }
    let pairs = args.pairs.0.end() - args.pairs.0.start() + 1;
    let part = Part { schema: "anqi-part-1", pairs, dir: args.dir.display().to_string() };
    out.print(&part, |text| writeln!(text, "{} pairs in {}", part.pairs, part.dir))?;
    Ok(Exit::Done)
}

/// Join the parts of a plan into one match, as if one machine had played it
#[derive(Args)]
pub(crate) struct MergeArgs {
    /// The folder of the whole match
    dir: PathBuf,
    /// Folders of parts
    #[arg(required = true)]
    parts: Vec<PathBuf>,
}

pub(crate) fn merge(args: &MergeArgs, out: &mut Output) -> Result<Exit> {
    let first = MatchJournal::read(&args.parts[0])?.plan().clone();
    let mut whole = MatchJournal::open_or_create(&args.dir, &first)?;
    for dir in &args.parts {
        let part = MatchJournal::read(dir)?;
        if !part.damages().is_empty() {
            eprintln!("{}: {}", part.file().display(), part.damages());
        }
        if let Some(note) = anqi_lab::merge(&mut whole, &part)? {
            eprintln!("{note}");
        }
    }
    whole.sync()?;
    match complete(&whole)? {
        Some(pairs) => {
            let games = whole.write_games(pairs)?;
            let report = report::write_complete(&whole, pairs)?;
            result::print("merge", report.standings(), &games, out)?;
            Ok(Exit::Done)
        }
        None => {
            let missing: Vec<String> = whole.missing().take(10).map(|number| (number + 1).to_string()).collect();
            let (there, all) = (whole.len(), whole.plan().count());
            let more = if all - there > 10 { " …" } else { "" };
            eprintln!("{there} of {all} pairs are there; missing {}{more}", missing.join(" "));
            Ok(Exit::Failed)
        }
    }
}

fn read_plan(path: &Path) -> Result<Plan> {
    if path.is_dir() {
        return Ok(MatchJournal::read(path)?.plan().clone());
    }
    Plan::new(&read_plan_file(path)?).with_context(|| path.display().to_string())
}
