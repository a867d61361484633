//! `anqi serve-match`: the match server's part for two programs.

use std::io::Write;
use std::path::PathBuf;

use anqi_engine::Stop;
use anqi_lab::{Budget, Cast, Contender, Plan, PlanFile, SeedText, play_pair};
use anqi_play::Clock;
use anqi_records::{Format, Record, Writer};
use anyhow::Result;
use clap::Args;

use crate::Exit;
use crate::output::{Output, write_file};
use crate::resources::resources;

/// Be the match server for two programs: its rules, its clock, its records
///
/// Each program is started and spoken to in the protocol that it knows: proto=a (numbered lines on standard input and
/// output) or proto=b (packets; it gets an address and a port on its command line and connects). A program that answers
/// illegally, late or not at all loses the game. Records go out in the server's own format as games end.
#[derive(Args)]
pub(crate) struct ServeMatchArgs {
    /// A program: 'cmd=./engine name=Gold proto=a'; or a player of ours
    #[arg(value_name = "A")]
    a: Contender,
    /// Its opponent
    #[arg(value_name = "B")]
    b: Contender,
    /// Pairs of games: each deal is played twice, the second time with B first
    #[arg(long, default_value_t = 1)]
    pairs: u64,
    /// The clock of each side and game
    #[arg(long, default_value = "15:00", value_name = "CLOCK")]
    tc: Clock,
    /// Where the deals come from: a number or 64 hexadecimal digits
    #[arg(long, default_value = "1")]
    seed: String,
    /// Write here instead of standard output; the file appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

pub(crate) fn run(args: &ServeMatchArgs, out: &mut Output) -> Result<Exit> {
    let clock = Budget { clock: Some(args.tc), ..Budget::default() };
    let plan = Plan::new(&PlanFile {
        pairs: Some(args.pairs),
        seed: Some(SeedText::Text(args.seed.clone())),
        budget: Some(clock.to_string()),
        players: vec![args.a.to_string(), args.b.to_string()],
        ..PlanFile::default()
    })?;
    let cast = Cast::new(&plan, &resources())?;
    match &args.output {
        None => serve(&plan, &cast, out.raw())?,
        Some(path) => write_file(path, |file| serve(&plan, &cast, file))?,
    }
    Ok(Exit::Done)
}

fn serve(plan: &Plan, cast: &Cast, out: impl Write) -> Result<()> {
    let mut writer = Writer::new(out, Format::Server);
    for number in 0..plan.count() {
        for game in play_pair(plan, number, cast, &Stop::default())?.games {
            let tag = |name| game.tags().get(name).unwrap_or_default();
            eprintln!(
                "{}: {} vs {}: {} ({})",
                tag("Round"),
                tag("First"),
                tag("Second"),
                game.result(),
                tag("Termination")
            );
            writer.write(&server_time(plan, game)?)?;
            writer.flush()?;
        }
    }
    Ok(())
}

/// The server gives times in seconds a side.
fn server_time(plan: &Plan, game: Record) -> Result<Record> {
    let seconds = plan.budget_of(0).clock.map_or(0, |clock| clock.base.as_secs());
    let (mut tags, plies, result) = game.into_parts();
    tags.set("TimeControl", &seconds.to_string())?;
    Ok(Record::new(tags, plies, result)?)
}
