//! `anqi experiment`: published tables, asked again.

use std::path::{Path, PathBuf};
use std::process::Command;

use anqi_experiment::{Cell, Experiment, PlayoutPlan, Run, Sheet};
use anqi_lab::{Ended, MatchJournal, Plan};
use anqi_task::Status;
use anyhow::Result;
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::arena::{ElsewhereArgs, advance, cast, stop_on_signals};
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
    /// Another number of playouts, or of pairs of games for each pairing, than the plan says
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// What to call the run [default: an unfinished run of the same plan, or the date and the commit]
    #[arg(long, value_name = "NAME")]
    run: Option<String>,
    /// How many pairs at a time [default: one for each core, but one if time counts]
    #[arg(long, value_name = "N", conflicts_with = "nats")]
    concurrency: Option<Concurrency>,
    #[command(flatten)]
    elsewhere: ElsewhereArgs,
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
}

fn list(root: &Path, out: &mut Output) -> Result<Exit> {
    let entry = |name: String| -> Result<ListedExperiment> {
        let experiment = Experiment::open(&root.join(name))?;
        let state =
            |run: Run| ListedRun { name: run.name(), finished: run.sheet().is_ok_and(|sheet| run.is_finished(&sheet)) };
        let runs = experiment.runs()?.into_iter().map(state).collect();
        let (kind, size) = (experiment.sheet.kind(), experiment.sheet.size());
        Ok(ListedExperiment { name: experiment.name, kind, question: experiment.question, size, runs })
    };
    let experiments = Experiment::names(root)?.into_iter().map(entry).collect::<Result<_>>()?;
    let listed = Listed { schema: "anqi-experiments-1", experiments };
    out.print(&listed, |text| {
        for entry in &listed.experiments {
            writeln!(text, "{:<20} {}", entry.name, entry.question)?;
            writeln!(text, "{:<20} {}: {}", "", entry.kind, entry.size)?;
            for run in &entry.runs {
                writeln!(text, "{:<20} run {}{}", "", run.name, if run.finished { "" } else { " (unfinished)" })?;
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
    let run = match &args.run {
        Some(name) => experiment.begin(&sheet, name)?,
        None => experiment.continue_or_begin(&sheet, &usual_name(&experiment.dir))?,
    };
    let finished = match (&sheet, sheet.plan()) {
        (Sheet::Playouts(plan), _) => playouts(&run, plan)?,
        (_, Some(plan)) => games(&run, &sheet, plan, args)?,
        (_, None) => unreachable!("only playouts have no games"),
    };
    if !finished {
        eprintln!("interrupted: {} is saved; the same command goes on", run.dir.display());
        return Ok(Exit::Interrupted);
    }
    print_report(&experiment, &run, &sheet, out)
}

/// Measures the rows that are missing; false if interrupted.
fn playouts(run: &Run, plan: &PlayoutPlan) -> Result<bool> {
    let stop = stop_on_signals()?;
    let mut bar = Bar::of("rows");
    let watch = |status: &Status, cell: &Cell| {
        bar.set(*status);
        bar.say(|| format!("{} {} {} {}", cell.name, cell.policy, cell.limit, cell.reading));
    };
    Ok(run.measure(plan, &resources(), &stop, watch)?)
}

/// Plays the games that are missing; false if interrupted.
fn games(run: &Run, sheet: &Sheet, plan: &Plan, args: &RunArgs) -> Result<bool> {
    if run.is_finished(sheet) {
        return Ok(true);
    }
    let resources = resources();
    let elsewhere = args.elsewhere.open()?;
    let cast = cast(plan, elsewhere.as_ref(), &resources)?;
    let mut journal = MatchJournal::open_or_create(&run.dir, plan)?;
    match advance(&mut journal, args.concurrency, elsewhere.as_ref(), &cast)? {
        Ended::Stopped => Ok(false),
        Ended::Complete(_) => run.finish(sheet, &journal).map(|()| true).map_err(Into::into),
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
        finished: run.is_finished(sheet),
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
