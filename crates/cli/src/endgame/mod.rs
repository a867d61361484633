//! `anqi endgame`: tables of endings, and what they say.

mod build;
mod claims;
mod count;
mod look;
mod mutual;
mod stats;
mod verify;

use std::path::PathBuf;

use anqi_endgame::{Class, Ending, Flavour, MOST_PIECES, Table, TableFile, Tablebase, Tables, Value};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};

use crate::Exit;
use crate::output::Output;

/// Build tables of endings, check them and ask them
///
/// A table knows every placement of some revealed pieces, up to six: who wins with perfect play, and in how many plies.
/// Without --dir small endings are solved on the spot.
#[derive(Args)]
pub(crate) struct EndgameArgs {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    Build(Box<build::BuildArgs>),
    Plan(build::PlanArgs),
    Count(count::CountArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    Probe(look::ProbeArgs),
    Line(look::LineArgs),
    Mutual(mutual::MutualArgs),
    Claims(claims::ClaimsArgs),
}

pub(crate) fn run(args: &EndgameArgs, out: &mut Output) -> Result<Exit> {
    match &args.what {
        What::Build(args) => build::build(args, out),
        What::Plan(args) => build::plan(args, out),
        What::Count(args) => count::run(args, out),
        What::Verify(args) => verify::run(args, out),
        What::Stats(args) => stats::run(args, out),
        What::Probe(args) => look::probe(args, out),
        What::Line(args) => look::line(args, out),
        What::Mutual(args) => mutual::run(args, out),
        What::Claims(args) => claims::run(args, out),
    }
}

/// Which tables.
#[derive(Args)]
struct TablesArgs {
    /// The folder of the tables [default: none, what is asked for is solved]
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// What distances count and under which draw rule: end, conversion, outcome, conversion-60, outcome-60
    #[arg(long, default_value = "end")]
    flavour: Flavour,
}

impl TablesArgs {
    /// Tables to be asked about positions.
    fn tablebase(&self) -> Result<Tablebase> {
        Ok(match &self.dir {
            Some(dir) => Tablebase::open(dir, self.flavour)?,
            None => Tablebase::solving(self.flavour, MOST_PIECES as u32),
        })
    }

    /// The whole table of an ending.
    fn table(&self, ending: &Ending) -> Result<Table> {
        let class = Class::of(ending).class;
        let Some(name) = class.name() else { bail!("{ending} has more than {MOST_PIECES} pieces") };
        if let Some(dir) = &self.dir {
            return Ok(TableFile::need(dir, &name, self.flavour)?.load()?);
        }
        let mut tables = Tables::new(self.flavour);
        tables
            .build([*ending], std::thread::available_parallelism().context("how many cores there are is unknown")?)?;
        let (table, _) = tables.table(ending).context("it was just built")?;
        Ok(table.clone())
    }
}

/// Plies as JSON has them: null for draws and for tables without distances.
fn plies(value: Value, flavour: Flavour) -> Option<u16> {
    flavour.distance(value).map(|plies| plies.0)
}
