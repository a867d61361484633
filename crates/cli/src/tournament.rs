//! `anqi tournament`: many players by a plan.

use std::path::PathBuf;

use anqi_lab::PlanFile;
use anyhow::Result;
use clap::Args;

use crate::Exit;
use crate::arena::{PlanArgs, RunArgs, play, read_plan_file};
use crate::output::Output;

/// Play a tournament: everybody against everybody, or the first against all others
///
/// The plan is a TOML file:
///
///   version = 2                 # short texts mean what they mean on a command line
///   players = ["chen:var1", "chen:basic nodes=5000", "cmd=./engine name=Gold tc=15:00"]
///   format = "round-robin"      # or "gauntlet": the first against all others
///   pairs = 100                 # for each pairing
///   budget = "nodes=20000"      # for everybody without a budget of its own
///   rules = "chen"
///   seed = 2026
///
/// Flags override it. Interrupting, continuing and exit codes are as in `anqi match`.
#[derive(Args)]
#[command(verbatim_doc_comment)]
pub(crate) struct TournamentArgs {
    /// The plan
    #[arg(value_name = "PLAN", required_unless_present = "resume")]
    file: Option<PathBuf>,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &TournamentArgs, out: &mut Output) -> Result<Exit> {
    let file = match &args.file {
        None => PlanFile::default(),
        Some(path) => read_plan_file(path)?,
    };
    play("tournament", &args.plan.over(file), &args.run, out)
}
