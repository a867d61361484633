//! `anqi self-play`: records of chess, Go and shogi where there are none.

use std::io::Write;
use std::path::PathBuf;
use std::thread;

use anqi_assess::Skipped;
use anqi_games::{EngineSpec, Outcome, Played, Protocol, SelfPlay, Start, write_record};
use anqi_rules::{Seat, Seed};
use anyhow::{Context, Result, bail};
use clap::Args;
use indicatif::ProgressBar;
use serde::Serialize;

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::assess::write_whole;
use crate::output::{Output, grouped};

/// Let an engine of chess, Go or shogi play itself, for records to judge search methods by
///
/// Games begin with random moves so that they differ; every game depends on its number and the seed alone. What the engine
/// says of each position is written into the record.
#[derive(Args)]
pub(crate) struct SelfPlayArgs {
    /// Who plays: proto=uci|gtp|usi cmd=…, and nodes=, depth=, movetime=, go= (UCI, USI), option.NAME=
    #[arg(long, value_name = "DESCRIPTION")]
    engine: EngineSpec,
    /// How many games
    #[arg(long, value_name = "N", default_value = "100")]
    games: usize,
    /// How many plies at the beginning are random
    #[arg(long, value_name = "N", default_value = "8")]
    opening: usize,
    /// Give a game up after so many plies; it is left out
    #[arg(long, value_name = "N", default_value = "400")]
    longest: usize,
    /// Lines of a board of Go [default: 19]
    #[arg(long, value_name = "N")]
    size: Option<usize>,
    /// What White gets in Go [default: 6.5]
    #[arg(long, value_name = "POINTS", allow_negative_numbers = true)]
    komi: Option<f64>,
    /// Where everything random comes from
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// How many games at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
    /// Write PGN, SGF or CSA here; the file appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Summary {
    schema: &'static str,
    engine: String,
    games: usize,
    first_wins: u64,
    draws: u64,
    second_wins: u64,
    plies: u64,
    skipped: Skipped,
}

pub(crate) fn run(args: &SelfPlayArgs, out: &mut Output) -> Result<Exit> {
    let plan = SelfPlay {
        engine: args.engine.clone(),
        start: start(args)?,
        games: args.games,
        opening: args.opening,
        longest: args.longest,
        seed: args.seed.clone(),
    };
    let workers = match args.concurrency {
        Some(0) => bail!("bad --concurrency 0, expected a number from 1 on"),
        Some(workers) => workers,
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let stop = stop_on_signals()?;
    let (schema, engine) = ("anqi-self-play-1", args.engine.to_string());
    let skipped = Skipped::default();
    let mut summary = Summary { schema, engine, games: 0, first_wins: 0, draws: 0, second_wins: 0, plies: 0, skipped };
    let mut records = Vec::new();
    let bar = ProgressBar::new(args.games as u64);
    plan.run(workers, |number, played| {
        bar.inc(1);
        summary.add(number + 1, played, &mut records);
        !stop.is_raised()
    })
    .with_context(|| args.engine.to_string())?;
    bar.finish_and_clear();
    if stop.is_raised() {
        eprintln!("interrupted: nothing is written");
        return Ok(Exit::Interrupted);
    }
    write_whole(&args.output, |file| Ok(file.write_all(&records)?))?;
    out.print(&summary, |text| {
        write!(text, "{}", summary.skipped)?;
        let Summary { games, first_wins, draws, second_wins, plies, .. } = &summary;
        writeln!(text, "{games} games of {} plies written: +{first_wins} ={draws} -{second_wins}", grouped(*plies))
    })?;
    Ok(if summary.games == 0 && args.games > 0 { Exit::Failed } else { Exit::Done })
}

fn start(args: &SelfPlayArgs) -> Result<Start> {
    let is_go = args.engine.protocol == Protocol::Gtp;
    if !is_go && (args.size.is_some() || args.komi.is_some()) {
        bail!(
            "--size and --komi are for Go, and an engine that speaks {} does not play it",
            args.engine.protocol.name()
        );
    }
    Ok(match args.engine.protocol {
        Protocol::Uci => Start::Chess(None),
        Protocol::Usi => Start::Shogi(None),
        Protocol::Gtp => {
            let komi = args.komi.unwrap_or(6.5);
            if !komi.is_finite() {
                bail!("bad --komi {komi}, expected a number");
            }
            Start::Go { size: args.size.unwrap_or(19), komi, stones: Vec::new(), turn: Seat::First }
        }
    })
}

impl Summary {
    fn add(&mut self, number: usize, played: Played, records: &mut Vec<u8>) {
        let mut skip = |reason, text: String| self.skipped.add(reason, || format!("game {number}, {text}"));
        match played {
            Played::Unfinished { plies } => skip("unfinished game", format!("{plies} plies")),
            Played::Failed { plies, twice } => skip("engine failed twice", format!("ply {plies}: {twice}")),
            Played::Illegal { plies, answer } => skip("illegal move", format!("ply {plies}: {answer:?}")),
            Played::Finished(record) => match write_record(records, &record) {
                Err(error) => skip("record that cannot be written", error.to_string()),
                Ok(()) => {
                    self.games += 1;
                    self.plies += record.moves.len() as u64;
                    *match record.outcome {
                        Outcome::Win(Seat::First) => &mut self.first_wins,
                        Outcome::Win(Seat::Second) => &mut self.second_wins,
                        Outcome::Draw => &mut self.draws,
                    } += 1;
                }
            },
        }
    }
}
