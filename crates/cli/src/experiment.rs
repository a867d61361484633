//! `anqi experiment`: published tables, asked again.

use std::env;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anqi_engine::{Resources, Stop};
use anqi_experiment::{Experiment, Host, Inputs, Pattern, Run, Sheet, Slice, Work, with_own_stop};
use anqi_lab::{Ended, MatchJournal};
use anqi_task::Status;
use anyhow::{Result, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::arena::{Elsewhere, ElsewhereArgs, advance, cast, raise_after, stop_on_signals};
use crate::concurrency::Concurrency;
use crate::output::Output;
use crate::progress::Bar;
use crate::resources::resources;

/// Rerun published tables, and print our numbers beside theirs
///
/// An experiment is a folder with a `plan.toml`, a `published.csv` and a README. Runs are kept in its folder `runs`.
#[derive(Args)]
pub(crate) struct ExperimentArgs {
    #[command(subcommand)]
    command: ExperimentCommand,
    /// The folder of all experiments
    #[arg(long, global = true, value_name = "DIR", default_value = "experiments")]
    root: PathBuf,
}

#[derive(Subcommand)]
enum ExperimentCommand {
    /// List all experiments, what they ask and what was run
    List,
    /// Run an experiment, or go on with its last run; ends with the report
    ///
    /// Everything that was measured is kept, so a run can be interrupted at any moment; the same command goes on.
    Run(Box<RunArgs>),
    /// Write the report of a run anew, finished or not, as Markdown and as a page, and print it
    Report(ReportArgs),
}

#[derive(Args)]
struct RunArgs {
    /// Which experiment: the name of its folder
    name: String,
    /// Another number of playouts, of pairs of games for each pairing, or of what else the kind counts, than the plan says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// What to call the run [default: an unfinished run of the same plan, or the date and the commit]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// How many pairs at a time [default: one for each core, but one if time counts]
    #[arg(long, value_name = "N", conflicts_with = "nats")]
    concurrency: Option<Concurrency>,
    /// A file that the plan names and does not hold [default: for input server-games, the path in ANQI_SERVER_GAMES]
    #[arg(long, value_name = "NAME=PATH", value_parser = input)]
    input: Vec<(String, PathBuf)>,
    /// Of a multiverse, only the universes whose names match, as in `below=moves,nodes=10000,*`
    #[arg(long, value_name = "PATTERN", value_parser = Pattern::new)]
    only: Option<Pattern>,
    /// Stop after so long; of a multiverse, no pair of games is begun that would not be over by then
    #[arg(long, value_name = "N")]
    seconds: Option<u64>,
    #[command(flatten)]
    elsewhere: ElsewhereArgs,
}

fn input(text: &str) -> Result<(String, PathBuf), String> {
    match text.split_once('=') {
        Some((name, path)) if !name.is_empty() && !path.is_empty() => Ok((name.to_owned(), path.into())),
        _ => Err("expected NAME=PATH".to_owned()),
    }
}

#[derive(Args)]
struct ReportArgs {
    /// Which experiment: the name of its folder
    name: String,
    /// Which run [default: the last one]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
}

pub(crate) fn run(args: &ExperimentArgs, out: &mut Output) -> Result<Exit> {
    match &args.command {
        ExperimentCommand::List => list(&args.root, out),
        ExperimentCommand::Run(run) => measure(&args.root, run, out),
        ExperimentCommand::Report(report) => report_of(&args.root, report, out),
    }
}

#[derive(Serialize)]
struct Listed {
    schema: &'static str,
    experiments: Vec<ListedExperiment>,
}

#[derive(Serialize)]
struct ListedExperiment {
    name: String,
    kind: &'static str,
    question: String,
    size: String,
    runs: Vec<ListedRun>,
}

#[derive(Serialize)]
struct ListedRun {
    name: String,
    finished: bool,
    /// By which readings it was made, where its plan does not say it.
    #[serde(skip_serializing_if = "Option::is_none")]
    readings: Option<String>,
}

fn list(root: &Path, out: &mut Output) -> Result<Exit> {
    let entry = |name: String| -> Result<ListedExperiment> {
        let experiment = Experiment::open(&root.join(name))?;
        let state = |run: Run| -> Result<ListedRun> {
            // What is older than plans of its kind is not gone on with.
            let finished = !run.has_plan() || run.sheet().is_ok_and(|sheet| sheet.is_finished(&run));
            Ok(ListedRun { name: run.name(), finished, readings: run.readings()? })
        };
        let runs = experiment.runs()?.into_iter().map(state).collect::<Result<_>>()?;
        let (kind, size) = (experiment.sheet.kind(), experiment.sheet.size());
        Ok(ListedExperiment { name: experiment.name, kind, question: experiment.question, size, runs })
    };
    let experiments = Experiment::names(root)?.into_iter().map(entry).collect::<Result<_>>()?;
    let listed = Listed { schema: "anqi-experiments-1", experiments };
    out.print(&listed, |text| {
        for entry in &listed.experiments {
            writeln!(text, "{:<23} {}", entry.name, entry.question)?;
            writeln!(text, "{:<23} {}: {}", "", entry.kind, entry.size)?;
            for run in &entry.runs {
                writeln!(text, "{:<23} run {}{}", "", run.name, if run.finished { "" } else { " (unfinished)" })?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

fn measure(root: &Path, args: &RunArgs, out: &mut Output) -> Result<Exit> {
    let experiment = Experiment::named(root, &args.name)?;
    let sheet = match args.count {
        Some(count) => experiment.sheet.with_count(count)?,
        None => experiment.sheet.clone(),
    };
    let is_multiverse = sheet.kind() == "multiverse";
    if args.only.is_some() && !is_multiverse {
        bail!("--only chooses universes, and {} has none", experiment.name);
    }
    if args.elsewhere.nats.is_some() && is_multiverse {
        bail!("a multiverse is played on this machine alone, without --nats");
    }
    // What is missing leaves no run behind.
    let inputs = inputs(&args.input);
    sheet.check_inputs(&inputs)?;
    let run = match &args.run {
        Some(name) => experiment.begin(&sheet, name)?,
        None => experiment.continue_or_begin(&sheet, &usual_name(&experiment.dir))?,
    };
    let (resources, stop) = (resources(), stop_on_signals()?);
    let elsewhere = args.elsewhere.open()?;
    let mut host = Here { concurrency: args.concurrency, elsewhere, resources: &resources, stop: &stop, bar: None };
    let threads = Concurrency::or_cores(args.concurrency);
    raise_after(&stop, args.seconds);
    let until = args.seconds.and_then(|seconds| Instant::now().checked_add(Duration::from_secs(seconds)));
    let slice = Slice { only: args.only.clone(), until };
    let mut work = Work { resources: &resources, stop: &stop, threads, inputs, slice, host: &mut host };
    let finished = sheet.measure(&run, &mut work)?;
    drop(host);
    if !finished {
        eprintln!("interrupted: {} is saved; the same command goes on", run.dir.display());
        return Ok(Exit::Interrupted);
    }
    print_report(&experiment, &run, &sheet, out)
}

/// Files that were given, and those that the environment names.
fn inputs(given: &[(String, PathBuf)]) -> Inputs {
    let named = |(variable, path): (std::ffi::OsString, std::ffi::OsString)| {
        let name = variable.to_str()?.strip_prefix("ANQI_")?.to_lowercase().replace('_', "-");
        Some((name, PathBuf::from(path)))
    };
    Inputs::new(env::vars_os().filter_map(named).chain(given.iter().cloned()))
}

/// Plays games on this machine or elsewhere, behind a bar.
struct Here<'a> {
    concurrency: Option<Concurrency>,
    elsewhere: Option<Elsewhere>,
    resources: &'a Resources,
    stop: &'a Stop,
    bar: Option<(&'static str, Bar)>,
}

impl Host for Here<'_> {
    fn play(&mut self, journal: &mut MatchJournal) -> Result<Ended, Box<dyn Error + Send + Sync>> {
        // One bar at a time.
        self.bar = None;
        let cast = cast(journal.plan(), self.elsewhere.as_ref(), self.resources)?;
        let (concurrency, elsewhere) = (self.concurrency, self.elsewhere.as_ref());
        Ok(with_own_stop(self.stop, |stop| advance(journal, concurrency, elsewhere, &cast, stop))?)
    }

    fn show(&mut self, what: &'static str, status: &Status, now: &str) {
        if self.bar.as_ref().is_none_or(|(shown, _)| *shown != what) {
            self.bar = Some((what, Bar::of(what)));
        }
        if let Some((_, bar)) = &mut self.bar {
            bar.set(*status);
            bar.say(|| now.to_owned());
        }
    }
}

fn report_of(root: &Path, args: &ReportArgs, out: &mut Output) -> Result<Exit> {
    let experiment = Experiment::named(root, &args.name)?;
    let run = experiment.run(args.run.as_deref())?;
    let sheet = run.sheet()?;
    print_report(&experiment, &run, &sheet, out)
}

#[derive(Serialize)]
struct RenderedReport {
    schema: &'static str,
    experiment: String,
    run: String,
    finished: bool,
    markdown: String,
}

fn print_report(experiment: &Experiment, run: &Run, sheet: &Sheet, out: &mut Output) -> Result<Exit> {
    let markdown = anqi_report::write_experiment(run, &experiment.findings(run, sheet)?)?;
    let report = RenderedReport {
        schema: "anqi-experiment-report-1",
        experiment: experiment.name.clone(),
        run: run.name(),
        finished: sheet.is_finished(run),
        markdown,
    };
    out.print(&report, |text| write!(text, "{}", report.markdown))?;
    Ok(Exit::Done)
}

/// `2026-11-15-95a20ed`: the day, and the commit of the checkout that holds the experiment. Elsewhere, our version.
fn usual_name(dir: &Path) -> String {
    let git = Command::new("git").args(["rev-parse", "--short=7", "HEAD"]).current_dir(dir).output();
    let commit = git.ok().filter(|output| output.status.success());
    let commit = commit.and_then(|output| String::from_utf8(output.stdout).ok()).map(|text| text.trim().to_owned());
    let commit = commit.unwrap_or_else(|| concat!("v", env!("CARGO_PKG_VERSION")).to_owned());
    format!("{}-{commit}", time::OffsetDateTime::now_utc().date())
}
