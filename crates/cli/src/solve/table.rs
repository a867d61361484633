//! `anqi solve table`: tables of endings with face-down pieces in a folder.

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Instant;

use anqi_rules::{Color, Ladder, Position};
use anqi_solve::{MOST_PIECES, TableFolder, ValueTally, Veiled};
use anqi_task::Stop;
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::arena::raise_after;
use crate::output::{Output, grouped};
use crate::progress::Bar;

/// Exact values of endings on the 4x8 board with up to two face-down pieces
#[derive(Args)]
pub(crate) struct TableArgs {
    #[command(subcommand)]
    command: TableCommand,
}

#[derive(Subcommand)]
enum TableCommand {
    Build(BuildArgs),
    Stats(StatsArgs),
    Verify(VerifyArgs),
    Probe(ProbeArgs),
}

#[derive(Args)]
struct Folder {
    /// The folder of the tables
    #[arg(long, value_name = "DIR")]
    dir: PathBuf,
}

/// Build the tables that are not there yet; stop and go on at will
#[derive(Args)]
struct BuildArgs {
    #[command(flatten)]
    folder: Folder,
    /// The most pieces, face-down ones among them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=i64::from(MOST_PIECES)))]
    pieces: u32,
    /// Begin nothing new after so many seconds
    #[arg(long, value_name = "SECONDS")]
    limit: Option<u64>,
}

/// Count how many placements are worth what, by the side to move
#[derive(Args)]
struct StatsArgs {
    /// Endings such as Kn+Pp (shown + face down); all tables of the folder if not given
    #[arg(value_name = "ENDING")]
    endings: Vec<Veiled>,
    #[command(flatten)]
    folder: Folder,
    /// Print comma-separated values
    #[arg(long)]
    csv: bool,
}

/// Check tables against the rules of the game, position by position; exit 1 if one is wrong
#[derive(Args)]
struct VerifyArgs {
    /// Endings such as Kn+Pp (shown + face down); all tables of the folder if not given
    #[arg(value_name = "ENDING")]
    endings: Vec<Veiled>,
    #[command(flatten)]
    folder: Folder,
}

/// Show what every action of a position is worth
#[derive(Args)]
struct ProbeArgs {
    /// `BOARD SIDE POOL` in one argument
    #[arg(value_name = "POSITION")]
    position: String,
    #[command(flatten)]
    folder: Folder,
}

pub(super) fn run(args: &TableArgs, threads: NonZeroUsize, out: &mut Output) -> Result<Exit> {
    match &args.command {
        TableCommand::Build(args) => build(args, threads, out),
        TableCommand::Stats(args) => stats(args, out),
        TableCommand::Verify(args) => verify(args, out),
        TableCommand::Probe(args) => probe(args, out),
    }
}

#[derive(Serialize)]
struct Made {
    schema: &'static str,
    pieces: u32,
    tables: u64,
    of: u64,
    made: u64,
    positions: u64,
    #[serde(skip)]
    missing: u64,
    #[serde(skip)]
    seconds: f64,
}

fn build(args: &BuildArgs, threads: NonZeroUsize, out: &mut Output) -> Result<Exit> {
    let dir = &args.folder.dir;
    std::fs::create_dir_all(dir).with_context(|| format!("cannot make folder {}", dir.display()))?;
    let started = Instant::now();
    let stop = Stop::default();
    raise_after(&stop, args.limit);
    let mut bar = Bar::of("tables");
    TableFolder::new(dir).build(args.pieces, threads, &stop, &mut bar)?;
    let status = *bar.status();
    drop(bar);
    let made = Made {
        schema: "anqi-solve-build-1",
        pieces: args.pieces,
        tables: status.done.items,
        of: status.all.items,
        made: status.made().items,
        positions: status.made().units,
        missing: status.left().units,
        seconds: started.elapsed().as_secs_f64(),
    };
    out.print(&made, |text| {
        writeln!(
            text,
            "{} of {} tables are there, {} positions are missing",
            made.tables,
            made.of,
            grouped(made.missing)
        )?;
        if made.made == 0 {
            return Ok(());
        }
        let rate = made.positions as f64 / made.seconds;
        let (positions, rate) = (grouped(made.positions), grouped(rate as u64));
        writeln!(text, "{} made now: {positions} positions in {:.1} s, {rate} a second", made.made, made.seconds)
    })?;
    Ok(Exit::Done)
}

/// The endings asked for, or those whose tables are there.
fn endings(asked: &[Veiled], tables: &mut TableFolder) -> Vec<Veiled> {
    if asked.is_empty() { tables.present() } else { asked.to_vec() }
}

#[derive(Serialize)]
struct Stats {
    schema: &'static str,
    endings: Vec<Counted>,
}

#[derive(Serialize)]
struct Counted {
    ending: String,
    pieces: u32,
    hidden: u32,
    /// How many endings are the same game.
    members: u32,
    red_to_move: ValueCounts,
    black_to_move: ValueCounts,
}

#[derive(Serialize)]
struct ValueCounts {
    win: u64,
    half_win: u64,
    draw: u64,
    half_loss: u64,
    loss: u64,
}

impl From<ValueTally> for ValueCounts {
    fn from(tally: ValueTally) -> ValueCounts {
        let [win, half_win, draw, half_loss, loss] = tally.counts();
        ValueCounts { win, half_win, draw, half_loss, loss }
    }
}

impl ValueCounts {
    fn all(&self) -> [u64; 5] {
        [self.win, self.half_win, self.draw, self.half_loss, self.loss]
    }
}

fn stats(args: &StatsArgs, out: &mut Output) -> Result<Exit> {
    let mut tables = TableFolder::new(&args.folder.dir);
    let mut stats = Stats { schema: "anqi-solve-stats-1", endings: Vec::new() };
    for veiled in endings(&args.endings, &mut tables) {
        let [red, black] = tables.tally(&veiled)?;
        tables.clear();
        stats.endings.push(Counted {
            ending: veiled.to_string(),
            pieces: veiled.pieces().len(),
            hidden: veiled.pool().len(),
            members: tables.members(&veiled),
            red_to_move: red.into(),
            black_to_move: black.into(),
        });
    }
    out.print(&stats, |text| {
        if args.csv {
            writeln!(text, "ending,pieces,hidden,members,turn,win,half_win,draw,half_loss,loss")?;
        }
        for counted in &stats.endings {
            if !args.csv {
                writeln!(text, "{} (and {} more like it)", counted.ending, counted.members - 1)?;
            }
            for (turn, counts) in Color::ALL.into_iter().zip([&counted.red_to_move, &counted.black_to_move]) {
                if args.csv {
                    let Counted { ending, pieces, hidden, members, .. } = counted;
                    let counts = counts.all().map(|count| count.to_string()).join(",");
                    writeln!(text, "{ending},{pieces},{hidden},{members},{},{counts}", turn.name())?;
                } else {
                    let [win, half_win, draw, half_loss, loss] = counts.all().map(grouped);
                    let turn = format!("{} to move", turn.name());
                    writeln!(
                        text,
                        "  {turn:13}  +1: {win}  +1/2: {half_win}  0: {draw}  -1/2: {half_loss}  -1: {loss}"
                    )?;
                }
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Verified {
    schema: &'static str,
    tables: usize,
    positions: u64,
    wrong: Vec<Wrong>,
}

#[derive(Serialize)]
struct Wrong {
    ending: String,
    position: String,
}

fn verify(args: &VerifyArgs, out: &mut Output) -> Result<Exit> {
    let mut tables = TableFolder::new(&args.folder.dir);
    let mut verified = Verified { schema: "anqi-solve-verify-1", tables: 0, positions: 0, wrong: Vec::new() };
    let endings = endings(&args.endings, &mut tables);
    let (mut bar, all) = (Bar::of("tables"), endings.len());
    for veiled in endings {
        verified.tables += 1;
        match tables.verify(&veiled)? {
            Ok(positions) => verified.positions += positions,
            Err(at) => verified.wrong.push(Wrong { ending: veiled.to_string(), position: at.to_string() }),
        }
        tables.clear();
        bar.show("", verified.tables, all);
    }
    drop(bar);
    out.print(&verified, |text| {
        for wrong in &verified.wrong {
            writeln!(text, "{}: wrong at {}", wrong.ending, wrong.position)?;
        }
        let verdict =
            if verified.wrong.is_empty() { "all right".to_owned() } else { format!("{} wrong", verified.wrong.len()) };
        writeln!(text, "{} tables, {} positions: {verdict}", verified.tables, grouped(verified.positions))
    })?;
    Ok(if verified.wrong.is_empty() { Exit::Done } else { Exit::Failed })
}

fn probe(args: &ProbeArgs, out: &mut Output) -> Result<Exit> {
    let position = Position::parse(&args.position, Ladder::Taiwan).context("bad POSITION")?;
    let veiled = Veiled::try_from(&position).context("bad POSITION")?;
    let mut tables = TableFolder::new(&args.folder.dir);
    tables.load(&veiled)?;
    let worth = tables.probe(&position).context("bad POSITION: tables are of the 4x8 board")?;
    let actions = tables.actions(&position).context("a table is missing")?;
    super::print_probed(&position, &worth, actions, out)
}
