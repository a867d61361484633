//! `anqi match`: two players over paired deals.

use anqi_lab::{Contender, PlanFile};
use anyhow::Result;
use clap::Args;

use crate::Exit;
use crate::arena::{PlanArgs, RunArgs, play};
use crate::output::Output;

/// Play a match: two players, every deal in both orders
///
/// Every pair that was played is kept in a folder, so a match can be interrupted at any moment and continued with
/// --resume; the same command again does the same. With budgets of nodes, playouts or depth the games depend on nothing
/// but the command.
///
/// Exit codes: 0 done, 1 failure, 2 usage, 3 somebody lost on time or by misbehaving (--strict), 4 H0 accepted (--gate),
/// 130 interrupted and saved.
#[derive(Args)]
pub(crate) struct MatchArgs {
    /// A player string (see `anqi players`) with its own budget if it has one: 'chen:var1 nodes=5000 name=fast'; or an
    /// outside program: 'cmd=./engine name=Gold proto=a tc=15:00'
    #[arg(value_name = "A", required_unless_present = "resume")]
    a: Option<Contender>,
    /// Its opponent
    #[arg(value_name = "B", required_unless_present = "resume", requires = "a")]
    b: Option<Contender>,
    #[command(flatten)]
    plan: PlanArgs,
    #[command(flatten)]
    run: RunArgs,
}

pub(crate) fn run(args: &MatchArgs, out: &mut Output) -> Result<Exit> {
    let players = [&args.a, &args.b].into_iter().flatten().map(ToString::to_string).collect();
    let file = args.plan.over(PlanFile { players, ..PlanFile::default() });
    play("match", &file, &args.run, out)
}
