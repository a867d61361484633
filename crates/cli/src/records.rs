//! `anqi records`: checking, converting and counting games.

use std::io::{self, Write};
use std::path::PathBuf;

use anqi_assess::TrainingRow;
use anqi_records::{
    EndingCheck, Format, GamesSummary, Record, RecordDamage, Replay, ReplayTotals, Source, Stats, WriteError, Writer,
    read_files, replay, write_json_line,
};
use anqi_rules::Rules;
use anyhow::{Context, Result, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped, write_file};

/// Read, check, convert and count game records
#[derive(Args)]
pub(crate) struct RecordsArgs {
    #[command(subcommand)]
    command: RecordsCommand,
}

#[derive(Subcommand)]
enum RecordsCommand {
    /// Replay every game and compare its ending with the recorded one; exit 1 if anything is wrong
    Check(Input),
    /// Write the games in another format
    Convert(ConvertArgs),
    /// Write positions as numbers, for training (see training/README.md)
    Samples(SamplesArgs),
    /// Lengths, flips, captures, branching, endings, first-player score
    Stats(Input),
}

#[derive(Args)]
struct Input {
    /// Files of our format or the match server's; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Judge by these rules, whatever the records say
    #[arg(long, value_name = "RULES")]
    rules: Option<Rules>,
}

#[derive(Args)]
struct ConvertArgs {
    /// The format to write
    #[arg(long, value_enum)]
    to: Target,
    /// Write here instead of standard output; the file appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Files of our format or the match server's; `-` is standard input
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
}

#[derive(Args)]
struct SamplesArgs {
    /// The file, which appears whole or not at all
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
    #[command(flatten)]
    input: Input,
}

#[derive(Clone, Copy, ValueEnum)]
enum Target {
    /// Our PGN-like format
    Anqi,
    /// The match server's
    Server,
    /// JSON Lines, one object a game
    Jsonl,
}

pub(crate) fn run(args: &RecordsArgs, out: &mut Output) -> Result<Exit> {
    match &args.command {
        RecordsCommand::Check(input) => check(input, out),
        RecordsCommand::Convert(args) => convert(args, out),
        RecordsCommand::Samples(args) => samples(args, out),
        RecordsCommand::Stats(input) => stats(input, out),
    }
}

/// Something that is wrong with a record.
#[derive(Serialize)]
struct Problem {
    file: String,
    line: u64,
    problem: String,
}

/// A record and what the rules make of it.
fn replayed(record: Result<Record, RecordDamage>, rules: Option<Rules>) -> Result<(Record, Replay)> {
    let record = record?;
    let replay = replay(&record, rules)?;
    Ok((record, replay))
}

#[derive(Serialize)]
struct Checked {
    schema: &'static str,
    #[serde(flatten)]
    totals: ReplayTotals,
    problems: Vec<Problem>,
}

fn check(input: &Input, out: &mut Output) -> Result<Exit> {
    let mut checked = Checked { schema: "anqi-records-check-1", totals: ReplayTotals::default(), problems: Vec::new() };
    for found in read_files(&input.files) {
        let (Source { file, line }, record) = found?;
        match replayed(record, input.rules) {
            Ok((_, replay)) => {
                checked.totals.add(&replay);
                let problems = problems(&replay).map(|problem| Problem { file: file.clone(), line, problem });
                checked.problems.extend(problems);
            }
            Err(error) => {
                checked.totals.add_damaged();
                checked.problems.push(Problem { file, line, problem: format!("{error:#}") });
            }
        }
    }
    out.print(&checked, |text| {
        for Problem { file, line, problem } in &checked.problems {
            writeln!(text, "{file}:{line}: {problem}")?;
        }
        let totals = &checked.totals;
        writeln!(text, "games           {}", grouped(totals.games))?;
        writeln!(text, "plies           {}", grouped(totals.plies))?;
        writeln!(text, "illegal plies   {}", grouped(totals.illegal))?;
        writeln!(text, "endings equal   {}", grouped(totals.endings_equal))?;
        writeln!(text, "endings differ  {}", grouped(totals.endings_differ))?;
        writeln!(text, "damaged         {}", grouped(totals.damaged))
    })?;
    Ok(if checked.totals.is_clean() { Exit::Done } else { Exit::Failed })
}

fn problems(replay: &Replay) -> impl Iterator<Item = String> {
    let illegal = replay.illegal.as_ref().map(|illegal| format!("ply {}: {}", illegal.ply, illegal.error));
    let ending =
        matches!(replay.ending, EndingCheck::Differs { .. }).then(|| format!("ending differs: {}", replay.ending));
    illegal.into_iter().chain(ending)
}

#[derive(Serialize)]
struct Converted {
    schema: &'static str,
    written: u64,
    problems: Vec<Problem>,
}

fn convert(args: &ConvertArgs, out: &mut Output) -> Result<Exit> {
    let converted = match &args.output {
        Some(path) => {
            let mut converted = None;
            write_file(path, |mut file| {
                converted = Some(convert_into(args, &mut file)?);
                Ok(())
            })?;
            converted.context("nothing was converted")?
        }
        None => convert_into(args, out.raw())?,
    };
    for Problem { file, line, problem } in &converted.problems {
        eprintln!("{file}:{line}: {problem}");
    }
    let clean = converted.problems.is_empty();
    if args.output.is_some() {
        out.print(&converted, |text| writeln!(text, "{} games written", grouped(converted.written)))?;
    }
    Ok(if clean { Exit::Done } else { Exit::Failed })
}

fn convert_into(args: &ConvertArgs, out: &mut impl Write) -> Result<Converted> {
    let mut converted = Converted { schema: "anqi-records-convert-1", written: 0, problems: Vec::new() };
    let mut sink = match args.to {
        Target::Anqi => Sink::Text(Writer::new(&mut *out, Format::Anqi)),
        Target::Server => Sink::Text(Writer::new(&mut *out, Format::Server)),
        Target::Jsonl => Sink::Json(&mut *out),
    };
    for found in read_files(&args.files) {
        let (Source { file, line }, record) = found?;
        let problem = match record.map(|record| sink.write(&record)) {
            Ok(Ok(())) => {
                converted.written += 1;
                continue;
            }
            Ok(Err(WriteError::Io(error))) => return Err(error.into()),
            Ok(Err(error)) => anyhow!(error),
            Err(error) => error.into(),
        };
        converted.problems.push(Problem { file, line, problem: format!("{problem:#}") });
    }
    out.flush()?;
    Ok(converted)
}

enum Sink<W: Write> {
    Text(Writer<W>),
    Json(W),
}

impl<W: Write> Sink<W> {
    fn write(&mut self, record: &Record) -> Result<(), WriteError> {
        match self {
            Sink::Text(writer) => writer.write(record),
            Sink::Json(out) => write_json_line(out, record),
        }
    }
}

#[derive(Serialize)]
struct Sampled {
    schema: &'static str,
    games: u64,
    positions: u64,
    problems: Vec<Problem>,
}

fn samples(args: &SamplesArgs, out: &mut Output) -> Result<Exit> {
    let mut sampled = Sampled { schema: "anqi-records-samples-1", games: 0, positions: 0, problems: Vec::new() };
    write_file(&args.output, |file| {
        for found in read_files(&args.input.files) {
            let (Source { file: name, line }, record) = found?;
            match replayed(record, args.input.rules) {
                Ok((record, replay)) => {
                    sampled.games += 1;
                    for row in TrainingRow::of(&replay, &record) {
                        file.write_all(&row.to_bytes())?;
                        sampled.positions += 1;
                    }
                }
                Err(error) => {
                    sampled.problems.push(Problem { file: name, line, problem: format!("{error:#}") });
                }
            }
        }
        Ok(())
    })?;
    for Problem { file, line, problem } in &sampled.problems {
        eprintln!("{file}:{line}: {problem}");
    }
    out.print(&sampled, |text| {
        writeln!(text, "{} positions of {} games written", grouped(sampled.positions), grouped(sampled.games))
    })?;
    Ok(if sampled.problems.is_empty() { Exit::Done } else { Exit::Failed })
}

#[derive(Serialize)]
struct Counted {
    schema: &'static str,
    #[serde(flatten)]
    summary: GamesSummary,
    damaged: u64,
}

fn stats(input: &Input, out: &mut Output) -> Result<Exit> {
    let mut stats = Stats::default();
    let mut damaged = 0;
    for found in read_files(&input.files) {
        let (Source { file, line }, record) = found?;
        match replayed(record, input.rules) {
            Ok((_, replay)) => stats.add(&replay),
            Err(error) => {
                damaged += 1;
                eprintln!("{file}:{line}: {error:#}");
            }
        }
    }
    let counted = Counted { schema: "anqi-records-stats-1", summary: stats.summary(), damaged };
    out.print(&counted, |text| print_stats(&counted.summary, text))?;
    Ok(if damaged == 0 { Exit::Done } else { Exit::Failed })
}

fn print_stats(summary: &GamesSummary, text: &mut dyn Write) -> io::Result<()> {
    let number = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.2}"));
    writeln!(text, "games        {}", grouped(summary.games))?;
    if let Some(length) = &summary.length {
        let sd = number(length.sd);
        writeln!(text, "plies        {:.2} a game (sd {sd}, {} to {})", length.mean, length.min, length.max)?;
    }
    writeln!(text, "flips        {} a game", number(summary.flips))?;
    writeln!(text, "captures     {} a game", number(summary.captures))?;
    let branching = &summary.branching;
    writeln!(
        text,
        "branching    {} moves, {} with flip squares, {} with flip outcomes",
        number(branching.moves),
        number(branching.with_flip_squares),
        number(branching.with_flip_outcomes)
    )?;
    let first = &summary.first_player;
    write!(text, "first player {} won, {} drawn, {} lost", first.wins, first.draws, first.losses)?;
    if let Some(score) = &first.score {
        write!(text, ": score {:.3} (95 % {:.3} to {:.3})", score.mean, score.low, score.high)?;
    }
    writeln!(text)?;
    summary.endings.iter().try_for_each(|(ending, games)| writeln!(text, "{ending:<16} {}", grouped(*games)))
}
