//! `anqi endgame`: tables of endings, and what they say.

mod build;
mod count;
mod look;
mod mutual;
mod stats;
mod verify;

use std::path::PathBuf;

use anqi_endgame::{Ending, Flavour, Table, TableFile, Tablebase, Tables, Value, Wdl};
use anqi_rules::{Color, Piece, Position, Setup, SquareSet};
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
    Build(build::BuildArgs),
    Plan(build::PlanArgs),
    Count(count::CountArgs),
    Verify(verify::VerifyArgs),
    Stats(stats::StatsArgs),
    Probe(look::ProbeArgs),
    Line(look::LineArgs),
    Mutual(mutual::MutualArgs),
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
            None => Tablebase::solving(self.flavour, anqi_endgame::MOST_PIECES as u32),
        })
    }

    /// The whole table of an ending.
    fn table(&self, ending: &Ending) -> Result<Table> {
        let class = anqi_endgame::Class::of(ending).class;
        let Some(name) = class.name() else { bail!("{ending} has more than {} pieces", anqi_endgame::MOST_PIECES) };
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

/// `win in 13`, `draw`, `loss in 16`; without plies where the table has none.
fn described(value: Value, flavour: Flavour) -> String {
    let name = name(value.wdl());
    match value.distance() {
        Some(plies) if flavour.measure() != anqi_endgame::Measure::Outcome => format!("{name} in {}", plies.0),
        _ => name.to_owned(),
    }
}

const fn name(wdl: Wdl) -> &'static str {
    match wdl {
        Wdl::Win => "win",
        Wdl::Draw => "draw",
        Wdl::Loss => "loss",
    }
}

/// Plies as JSON has them: null for draws and for tables without distances.
fn plies(value: Value, flavour: Flavour) -> Option<u16> {
    let counted = flavour.measure() != anqi_endgame::Measure::Outcome;
    value.distance().filter(|_| counted).map(|plies| plies.0)
}

/// A placement of a class as a position of one of its endings.
fn position(ending: &Ending, placement: &anqi_endgame::Placement) -> Result<Position> {
    let reading = anqi_endgame::Class::of(ending);
    let mut setup = Setup::empty(anqi_rules::BoardSize::FourByEight, anqi_rules::Ladder::Taiwan);
    let mut sets = placement.sets;
    let pieces: Vec<Piece> = ending.material().pieces().collect();
    for piece in pieces {
        let set = &mut sets[reading.part(piece.index())];
        let square = SquareSet(*set).first().context("a placement has a square for each piece")?;
        *set ^= square.set().0;
        setup.pieces[square.index()] = Some(piece);
    }
    setup.turn = Color::ALL.into_iter().find(|&color| reading.color(color) == placement.turn);
    Ok(Position::try_from(setup)?)
}
