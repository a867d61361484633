//! `anqi endgame build` and `anqi endgame plan`.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use anqi_endgame::{Ending, Flavour, build as build_tables, classes_up_to, table_path};
use anqi_fleet::build_elsewhere;
use anqi_task::Stop;
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::arena::{raise_after, shell, stop_on_signals};
use crate::concurrency::Concurrency;
use crate::fleet::FleetArgs;
use crate::output::{Output, grouped};
use crate::progress::Bar;

/// Which classes to build, and where
#[derive(Args)]
struct WhatArgs {
    /// All classes of up to so many pieces, 2 to 6
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=6), required_unless_present = "endings")]
    pieces: Option<u32>,
    /// Only the classes of these endings, such as N-pp, and those that captures lead to
    #[arg(conflicts_with = "pieces")]
    endings: Vec<Ending>,
    /// The folder
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
    /// What distances count and under which draw rule: end, conversion, outcome, conversion-60, outcome-60
    #[arg(long, default_value = "end")]
    flavour: Flavour,
}

impl WhatArgs {
    fn endings(&self) -> Vec<Ending> {
        match self.pieces {
            Some(pieces) => classes_up_to(pieces).into_values().collect(),
            None => self.endings.clone(),
        }
    }
}

/// Build tables into a folder
///
/// One file for each class of endings in which the same pieces take each other. What is there is not built again, so the
/// same command goes on after an interruption. Several of them, on machines that share the folder, share the work; with
/// --nats, machines that share nothing do.
#[derive(Args)]
pub(crate) struct BuildArgs {
    #[command(flatten)]
    what: WhatArgs,
    #[command(flatten)]
    how: HowArgs,
    /// Let the workers of a NATS server build (see `anqi worker`)
    #[arg(long, value_name = "URL", conflicts_with = "threads")]
    nats: Option<String>,
    #[command(flatten)]
    fleet: FleetArgs,
}

/// How fast
#[derive(Args)]
pub(super) struct ThreadsArgs {
    /// How many threads [default: as many as there are cores]
    #[arg(long, value_name = "N")]
    threads: Option<Concurrency>,
}

impl ThreadsArgs {
    pub(super) fn count(&self) -> NonZeroUsize {
        Concurrency::or_cores(self.threads)
    }
}

/// How fast, and how long
#[derive(Args)]
pub(super) struct HowArgs {
    #[command(flatten)]
    pub(super) threads: ThreadsArgs,
    /// Stop after so many seconds; the same command goes on with what was not finished
    #[arg(long, value_name = "SECONDS")]
    budget: Option<u64>,
}

impl HowArgs {
    /// Raised by a signal, or when the time is over.
    pub(super) fn stop(&self) -> Result<Stop> {
        let stop = stop_on_signals()?;
        raise_after(&stop, self.budget);
        Ok(stop)
    }
}

#[derive(Serialize)]
struct Built {
    schema: &'static str,
    dir: String,
    flavour: String,
    classes: u64,
    positions: u64,
    built: u64,
    seconds: f64,
    bytes: u64,
}

pub(crate) fn build(args: &BuildArgs, out: &mut Output) -> Result<Exit> {
    let stop = args.how.stop()?;
    let what = &args.what;
    let start = Instant::now();
    let mut bar = Bar::of("classes");
    let endings = what.endings();
    let all = endings.iter().copied();
    let complete = match &args.nats {
        None => {
            build_tables(&what.dir, what.flavour, all, args.how.threads.count(), &stop, &mut bar).map_err(Into::into)
        }
        Some(url) => args.fleet.member(url).and_then(|member| {
            build_elsewhere(&member, &what.dir, what.flavour, all, &stop, &mut bar).map_err(anyhow::Error::from)
        }),
    };
    let status = *bar.status();
    drop(bar);
    if !complete? {
        eprintln!("interrupted: finished tables are in {}; the same command goes on", shell(&what.dir));
        return Ok(Exit::Interrupted);
    }
    let names = endings.iter().filter_map(|ending| anqi_endgame::Class::of(ending).class.name());
    let paths = names.map(|name| table_path(&what.dir, &name, what.flavour));
    let built = Built {
        schema: "anqi-endgame-build-1",
        dir: what.dir.display().to_string(),
        flavour: what.flavour.to_string(),
        classes: status.all.items,
        positions: status.all.units,
        built: status.made().units,
        seconds: start.elapsed().as_secs_f64(),
        bytes: paths.filter_map(|path| path.metadata().ok()).map(|file| file.len()).sum(),
    };
    out.print(&built, |text| {
        let Built { classes, seconds, .. } = built;
        writeln!(text, "{classes} classes, {} positions ({})", grouped(built.positions), built.flavour)?;
        writeln!(text, "built {} in {seconds:.1} s", grouped(built.built))
    })?;
    Ok(Exit::Done)
}

/// Print a build as command lines that can run anywhere, in any order, more than once
///
/// Each line builds one class, and what it needs, into a folder. With GNU parallel: `anqi endgame plan --pieces 5 --dir D |
/// parallel`. Folders of machines that share nothing can simply be copied together: a class has the same bytes wherever
/// it was built.
#[derive(Args)]
pub(crate) struct PlanArgs {
    #[command(flatten)]
    what: WhatArgs,
}

#[derive(Serialize)]
struct Planned {
    schema: &'static str,
    commands: Vec<String>,
}

pub(crate) fn plan(args: &PlanArgs, out: &mut Output) -> Result<Exit> {
    let WhatArgs { dir, flavour, .. } = &args.what;
    let missing = |ending: &Ending| !table_path(dir, ending, *flavour).exists();
    let names = args.what.endings().into_iter().filter_map(|ending| anqi_endgame::Class::of(&ending).class.name());
    let mut endings: Vec<Ending> = names.filter(missing).collect();
    endings.sort_by_key(Ending::len);
    let command =
        |ending: &Ending| format!("anqi endgame build {ending} --flavour {flavour} --threads 1 --dir {}", shell(dir));
    let planned = Planned { schema: "anqi-endgame-plan-1", commands: endings.iter().map(command).collect() };
    out.print(&planned, |text| planned.commands.iter().try_for_each(|command| writeln!(text, "{command}")))?;
    Ok(Exit::Done)
}
