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
use crate::self_play_journal::{GamesJournal, Kept};

/// Let an engine of chess, Go or shogi play itself, for records to judge search methods by
///
/// Games begin with random moves so that they differ; every game depends on its number and the seed alone. What the engine
/// says of each position is written into the record.
///
/// Finished games are kept in FILE.journal until all are there: interrupted or killed, the same command goes on.
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
    /// Write PGN, SGF or CSA here; the file appears whole when all games are there
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
    let mut journal = GamesJournal::open(&args.output, &journal_head(&plan))?;
    let missing: Vec<usize> = (0..args.games).filter(|number| !journal.games().contains_key(number)).collect();
    if missing.len() < args.games {
        eprintln!("{} of {} games were played before", grouped((args.games - missing.len()) as u64), args.games);
    }
    let bar = ProgressBar::new(missing.len() as u64);
    let mut lost = Ok(());
    let ran = plan.run(&missing, workers, &stop, |number, played| {
        bar.inc(1);
        lost = journal.add(number, kept(played));
        lost.is_ok()
    });
    bar.finish_and_clear();
    lost?;
    if let Err(error) = ran {
        if journal.games().is_empty() {
            journal.remove()?;
        }
        return Err(error).with_context(|| args.engine.to_string());
    }
    if stop.is_raised() && (0..args.games).any(|number| !journal.games().contains_key(&number)) {
        eprintln!("interrupted: {} of {} games are kept; the same command goes on", journal.games().len(), args.games);
        return Ok(Exit::Interrupted);
    }
    let (schema, engine) = ("anqi-self-play-1", args.engine.to_string());
    let skipped = Skipped::default();
    let mut summary = Summary { schema, engine, games: 0, first_wins: 0, draws: 0, second_wins: 0, plies: 0, skipped };
    journal.games().range(..args.games).for_each(|(number, kept)| summary.add(number + 1, kept));
    write_whole(&args.output, |file| {
        let records = journal.games().range(..args.games).filter_map(|(_, kept)| kept.record());
        records.into_iter().try_for_each(|record| Ok(file.write_all(record.as_bytes())?))
    })?;
    journal.remove()?;
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

/// Everything that a game depends on but its number.
fn journal_head(plan: &SelfPlay) -> String {
    let SelfPlay { engine, start, opening, longest, seed } = plan;
    format!("{engine} start={start:?} opening={opening} longest={longest} seed={seed}")
}

/// What is worth keeping of a game.
fn kept(played: Played) -> Kept {
    let skipped = |reason: &str, text: String| Kept::Skipped { reason: reason.to_owned(), text };
    match played {
        Played::Unfinished { plies } => skipped("unfinished game", format!("{plies} plies")),
        Played::Failed { plies, twice } => skipped("engine failed twice", format!("ply {plies}: {twice}")),
        Played::Illegal { plies, answer } => skipped("illegal move", format!("ply {plies}: {answer:?}")),
        Played::Finished(record) => {
            let mut text = Vec::new();
            match write_record(&mut text, &record) {
                Err(error) => skipped("record that cannot be written", error.to_string()),
                Ok(()) => Kept::Finished {
                    plies: record.moves.len() as u64,
                    winner: match record.outcome {
                        Outcome::Win(seat) => Some(seat.name().to_owned()),
                        Outcome::Draw => None,
                    },
                    record: String::from_utf8_lossy(&text).into_owned(),
                },
            }
        }
    }
}

impl Summary {
    fn add(&mut self, number: usize, kept: &Kept) {
        match kept {
            Kept::Skipped { reason, text } => self.skipped.add(reason, || format!("game {number}, {text}")),
            Kept::Finished { plies, winner, .. } => {
                self.games += 1;
                self.plies += plies;
                *match winner.as_deref() {
                    None => &mut self.draws,
                    Some(winner) if winner == Seat::First.name() => &mut self.first_wins,
                    Some(_) => &mut self.second_wins,
                } += 1;
            }
        }
    }
}
