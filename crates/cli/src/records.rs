//! `anqi records`: checking, converting and counting games.

use std::io::{self, Write};
use std::path::PathBuf;

use anqi_assess::{RowsWritten, write_rows};
use anqi_records::{
    FileProblems, FilesCheck, FilesConverted, Format, GamesSummary, Target, check_files, convert_files, count_files,
};
use anqi_rules::Rules;
use anyhow::Result;
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
    to: TargetName,
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
enum TargetName {
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

#[derive(Serialize)]
struct Checked {
    schema: &'static str,
    #[serde(flatten)]
    check: FilesCheck,
}

fn check(input: &Input, out: &mut Output) -> Result<Exit> {
    let checked = Checked { schema: "anqi-records-check-1", check: check_files(&input.files, input.rules)? };
    let FilesCheck { totals, problems } = &checked.check;
    out.print(&checked, |text| {
        write!(text, "{problems}")?;
        writeln!(text, "games           {}", grouped(totals.games))?;
        writeln!(text, "plies           {}", grouped(totals.plies))?;
        writeln!(text, "illegal plies   {}", grouped(totals.illegal))?;
        writeln!(text, "endings equal   {}", grouped(totals.endings_equal))?;
        writeln!(text, "endings differ  {}", grouped(totals.endings_differ))?;
        writeln!(text, "damaged         {}", grouped(totals.damaged))
    })?;
    Ok(if totals.is_clean() { Exit::Done } else { Exit::Failed })
}

#[derive(Serialize)]
struct Converted {
    schema: &'static str,
    #[serde(flatten)]
    converted: FilesConverted,
}

fn convert(args: &ConvertArgs, out: &mut Output) -> Result<Exit> {
    let target = match args.to {
        TargetName::Anqi => Target::Text(Format::Anqi),
        TargetName::Server => Target::Text(Format::Server),
        TargetName::Jsonl => Target::JsonLines,
    };
    let converted = match &args.output {
        Some(path) => {
            let mut converted = FilesConverted::default();
            write_file(path, |mut file| {
                converted = convert_files::<anyhow::Error>(&args.files, target, &mut file)?;
                Ok(())
            })?;
            converted
        }
        None => convert_files::<anyhow::Error>(&args.files, target, out.raw())?,
    };
    let ended = told(&converted.problems);
    if args.output.is_some() {
        let converted = Converted { schema: "anqi-records-convert-1", converted };
        out.print(&converted, |text| writeln!(text, "{} games written", grouped(converted.converted.written)))?;
    }
    Ok(ended)
}

/// Tells what is wrong, where that is no part of the answer.
fn told(problems: &FileProblems) -> Exit {
    eprint!("{problems}");
    if problems.count() == 0 { Exit::Done } else { Exit::Failed }
}

#[derive(Serialize)]
struct Sampled {
    schema: &'static str,
    #[serde(flatten)]
    rows: RowsWritten,
}

fn samples(args: &SamplesArgs, out: &mut Output) -> Result<Exit> {
    let mut rows = RowsWritten::default();
    write_file(&args.output, |file| {
        rows = write_rows::<anyhow::Error>(&args.input.files, args.input.rules, file)?;
        Ok(())
    })?;
    let ended = told(&rows.problems);
    let sampled = Sampled { schema: "anqi-records-samples-1", rows };
    out.print(&sampled, |text| {
        let RowsWritten { games, positions, .. } = sampled.rows;
        writeln!(text, "{} positions of {} games written", grouped(positions), grouped(games))
    })?;
    Ok(ended)
}

#[derive(Serialize)]
struct Counted {
    schema: &'static str,
    #[serde(flatten)]
    summary: GamesSummary,
    damaged: u64,
}

fn stats(input: &Input, out: &mut Output) -> Result<Exit> {
    let (stats, problems) = count_files(&input.files, input.rules)?;
    let ended = told(&problems);
    let counted = Counted { schema: "anqi-records-stats-1", summary: stats.summary(), damaged: problems.count() };
    out.print(&counted, |text| print_stats(&counted.summary, text))?;
    Ok(ended)
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
    let complexity = &summary.complexity;
    if let (Some(states), Some(tree)) = (complexity.state_space_log10, complexity.game_tree_log10) {
        writeln!(text, "complexity   10^{states:.1} states, a game tree of 10^{tree:.1}")?;
    }
    let first = &summary.first_player;
    write!(text, "first player {} won, {} drawn, {} lost", first.wins, first.draws, first.losses)?;
    if let Some(score) = &first.score {
        write!(text, ": score {:.3} (95 % {:.3} to {:.3})", score.mean, score.low, score.high)?;
    }
    writeln!(text)?;
    summary.endings.iter().try_for_each(|(ending, games)| writeln!(text, "{ending:<16} {}", grouped(*games)))
}
