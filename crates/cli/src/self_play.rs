//! `anqi self-play`: records of chess, Go and shogi where there are none.

use std::path::PathBuf;

use anqi_games::{EngineSpec, GameProtocol, GameStart, GamesJournal, Results, SelfPlay};
use anqi_rules::{Seat, Seed};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::concurrency::Concurrency;
use crate::output::{Output, grouped, write_file};
use crate::progress::Bar;

/// Let an engine of chess, Go or shogi (not Chinese Dark Chess) play itself, for records to judge search methods by
///
/// Games begin with random moves so that they differ; every game depends on its number and the seed alone. What the engine
/// says of each position is written into the record.
///
/// For these games only. `anqi match PLAYER PLAYER` lets players of Chinese Dark Chess play.
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
    concurrency: Option<Concurrency>,
    /// Write PGN, SGF or CSA here; the file appears whole when all games are there
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

#[derive(Serialize)]
struct Summary {
    schema: &'static str,
    engine: String,
    #[serde(flatten)]
    results: Results,
}

pub(crate) fn run(args: &SelfPlayArgs, out: &mut Output) -> Result<Exit> {
    let plan = SelfPlay {
        engine: args.engine.clone(),
        start: start(args)?,
        opening: args.opening,
        longest: args.longest,
        seed: args.seed.clone(),
    };
    let stop = stop_on_signals()?;
    let mut journal = GamesJournal::open(&args.output, &plan)?;
    if !journal.damages().is_empty() {
        eprintln!("{}: {}; played again", journal.path().display(), journal.damages());
    }
    let missing: Vec<usize> = (0..args.games).filter(|number| !journal.games().contains_key(number)).collect();
    if missing.len() < args.games {
        eprintln!("{} of {} games were played before", grouped((args.games - missing.len()) as u64), args.games);
    }
    let mut bar = Bar::of("games");
    let (mut kept, mut done) = (Ok(()), 0);
    let ran = plan.run(&missing, Concurrency::or_cores(args.concurrency).get(), &stop, |number, played| {
        done += 1;
        bar.show("", done, missing.len());
        kept = journal.add(number, played.into());
        kept.is_ok()
    });
    drop(bar);
    kept?;
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
    let mut results = Results::default();
    journal.games().range(..args.games).for_each(|(number, kept)| results.add(number + 1, kept));
    write_file(&args.output, |file| {
        let records = journal.games().range(..args.games).filter_map(|(_, kept)| kept.record());
        records.into_iter().try_for_each(|record| Ok(file.write_all(record.as_bytes())?))
    })?;
    journal.remove()?;
    let summary = Summary { schema: "anqi-self-play-1", engine: args.engine.to_string(), results };
    out.print(&summary, |text| {
        let Results { games, first_wins, draws, second_wins, plies, skipped } = &summary.results;
        write!(text, "{skipped}")?;
        writeln!(text, "{games} games of {} plies written: +{first_wins} ={draws} -{second_wins}", grouped(*plies))
    })?;
    Ok(if summary.results.games == 0 && args.games > 0 { Exit::Failed } else { Exit::Done })
}

fn start(args: &SelfPlayArgs) -> Result<GameStart> {
    let is_go = args.engine.protocol == GameProtocol::Gtp;
    if !is_go && (args.size.is_some() || args.komi.is_some()) {
        bail!(
            "--size and --komi are for Go, and an engine that speaks {} does not play it",
            args.engine.protocol.name()
        );
    }
    Ok(match args.engine.protocol {
        GameProtocol::Uci => GameStart::Chess(None),
        GameProtocol::Usi => GameStart::Shogi(None),
        GameProtocol::Gtp => {
            let komi = args.komi.unwrap_or(6.5);
            if !komi.is_finite() {
                bail!("bad --komi {komi}, expected a number");
            }
            GameStart::Go { size: args.size.unwrap_or(19), komi, stones: Vec::new(), turn: Seat::First }
        }
    })
}
