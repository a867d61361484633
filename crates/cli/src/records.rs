//! `anqi records`: checking, converting and counting games.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anqi_records::{
    Check, Ending, Format, GameResult, Reader, Record, RecordError, Replay, Stats, Summary, WriteError, Writer, replay,
    write_json_line,
};
use anqi_rules::{Ply, Position, Rules, Seat};
use anyhow::{Context, Result, anyhow};
use clap::{Args, Subcommand, ValueEnum};
use serde::Serialize;

use crate::Exit;
use crate::assess::write_whole;
use crate::output::{Output, grouped};

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

/// Where a record or a piece of one comes from.
pub(crate) struct Source {
    pub(crate) file: String,
    pub(crate) line: u64,
}

/// A file, unpacked if zstd packed it.
fn open(path: &Path) -> io::Result<Box<dyn io::Read>> {
    const MAGIC: [u8; 4] = [0x28, 0xb5, 0x2f, 0xfd];
    let mut file = BufReader::new(File::open(path)?);
    if file.fill_buf()?.starts_with(&MAGIC) {
        return Ok(Box::new(zstd::Decoder::with_buffer(file)?));
    }
    Ok(Box::new(file))
}

/// Calls `each` with every record of `files`, or with what is wrong with it.
pub(crate) fn for_each_record(
    files: &[PathBuf],
    mut each: impl FnMut(Source, Result<Record>) -> Result<()>,
) -> Result<()> {
    for path in files {
        let file = path.display().to_string();
        let input: Box<dyn io::Read> = if path == Path::new("-") {
            Box::new(io::stdin().lock())
        } else {
            open(path).with_context(|| format!("cannot open {file}"))?
        };
        let reader = Reader::new(BufReader::new(input)).with_context(|| format!("cannot read {file}"))?;
        for entry in reader {
            match entry {
                Ok(entry) => each(Source { file: file.clone(), line: entry.line }, Ok(entry.record))?,
                Err(RecordError::Damaged(damage)) => {
                    each(Source { file: file.clone(), line: damage.line }, Err(damage.into()))?;
                }
                Err(error) => return Err(error).with_context(|| format!("cannot read {file}")),
            }
        }
    }
    Ok(())
}

/// Something that is wrong with a record.
#[derive(Serialize)]
struct Problem {
    file: String,
    line: u64,
    problem: String,
}

#[derive(Serialize)]
struct Checked {
    schema: &'static str,
    #[serde(flatten)]
    totals: Check,
    problems: Vec<Problem>,
}

fn check(input: &Input, out: &mut Output) -> Result<Exit> {
    let mut checked = Checked { schema: "anqi-records-check-1", totals: Check::default(), problems: Vec::new() };
    for_each_record(&input.files, |Source { file, line }, record| {
        match record.and_then(|record| Ok(replay(&record, input.rules)?)) {
            Ok(replay) => {
                checked.totals.add(&replay);
                let problems = problems(&replay).map(|problem| Problem { file: file.clone(), line, problem });
                checked.problems.extend(problems);
            }
            Err(error) => {
                checked.totals.add_damaged();
                checked.problems.push(Problem { file, line, problem: format!("{error:#}") });
            }
        }
        Ok(())
    })?;
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
    let ending = matches!(replay.ending, Ending::Differs { .. }).then(|| format!("ending differs: {}", replay.ending));
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
            write_whole(path, |file| {
                converted = Some(convert_into(args, file)?);
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
    for_each_record(&args.files, |Source { file, line }, record| {
        let problem = match record.map(|record| sink.write(&record)) {
            Ok(Ok(())) => {
                converted.written += 1;
                return Ok(());
            }
            Ok(Err(WriteError::Io(error))) => return Err(error.into()),
            Ok(Err(error)) => anyhow!(error),
            Err(error) => error,
        };
        converted.problems.push(Problem { file, line, problem: format!("{problem:#}") });
        Ok(())
    })?;
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
    write_whole(&args.output, |file| {
        for_each_record(&args.input.files, |Source { file: name, line }, record| {
            match record.and_then(|record| Ok((replay(&record, args.input.rules)?, record))) {
                Ok((replay, record)) => {
                    sampled.games += 1;
                    for sample in samples_of(&replay, &record) {
                        file.write_all(&sample)?;
                        sampled.positions += 1;
                    }
                }
                Err(error) => {
                    sampled.problems.push(Problem { file: name, line, problem: format!("{error:#}") });
                }
            }
            Ok(())
        })
    })?;
    for Problem { file, line, problem } in &sampled.problems {
        eprintln!("{file}:{line}: {problem}");
    }
    out.print(&sampled, |text| {
        writeln!(text, "{} positions of {} games written", grouped(sampled.positions), grouped(sampled.games))
    })?;
    Ok(if sampled.problems.is_empty() { Exit::Done } else { Exit::Failed })
}

/// A position as `training/train.py` reads it.
type Sample = [u8; 56];

/// The quiet positions of a game with a result: what a capture is worth is for the search to say.
fn samples_of(replay: &Replay, record: &Record) -> Vec<Sample> {
    let mut samples = Vec::new();
    if replay.result == GameResult::Unfinished {
        return samples;
    }
    let draw = replay.game.rules().draw();
    let left = |position: &Position| draw.map_or(u16::MAX, |draw| draw.saturating_sub(position.quiet()));
    let played = replay.game.positions().iter().zip(record.plies()).take(replay.game.plies().len());
    for ((number, (position, played)), seat) in played.enumerate().zip(Seat::ALL.into_iter().cycle()) {
        let captures = matches!(played.ply, Ply::Step { to, .. } if position.occupied().contains(to));
        if position.turn().is_none() || captures {
            continue;
        }
        let result: i8 = match replay.result {
            GameResult::Won(winner) if winner == seat => 1,
            GameResult::Won(_) => -1,
            _ => 0,
        };
        let score = played.comment.eval.map(|eval| eval.get() as i32);
        let mut sample = [0; 56];
        sample[..46].copy_from_slice(&anqi_engine::view(position));
        sample[46..48].copy_from_slice(&left(position).to_le_bytes());
        sample[48..50].copy_from_slice(&u16::try_from(number).unwrap_or(u16::MAX).to_le_bytes());
        sample[50] = result.to_le_bytes()[0];
        sample[51] = u8::from(score.is_some());
        sample[52..].copy_from_slice(&score.unwrap_or(0).to_le_bytes());
        samples.push(sample);
    }
    samples
}

#[derive(Serialize)]
struct Counted {
    schema: &'static str,
    #[serde(flatten)]
    summary: Summary,
    damaged: u64,
}

fn stats(input: &Input, out: &mut Output) -> Result<Exit> {
    let mut stats = Stats::default();
    let mut damaged = 0;
    for_each_record(&input.files, |Source { file, line }, record| {
        match record.and_then(|record| Ok(replay(&record, input.rules)?)) {
            Ok(replay) => stats.add(&replay),
            Err(error) => {
                damaged += 1;
                eprintln!("{file}:{line}: {error:#}");
            }
        }
        Ok(())
    })?;
    let counted = Counted { schema: "anqi-records-stats-1", summary: stats.summary(), damaged };
    out.print(&counted, |text| print_stats(&counted.summary, text))?;
    Ok(if damaged == 0 { Exit::Done } else { Exit::Failed })
}

fn print_stats(summary: &Summary, text: &mut dyn Write) -> io::Result<()> {
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
