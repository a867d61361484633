//! `anqi games series`: the games of people against programs that folders and files of records hold, as two tables.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use anqi_play::{ProgramScores, SeriesResult, SeriesScores};
use anqi_records::{Record, read_files};
use anqi_stats::Games;
use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, write_file};

#[derive(Args)]
pub(super) struct SeriesArgs {
    /// Folders of games and files of records, of one page or of many [default: the games of the page]
    #[arg(value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// Print CSV: the table of the programs, or a line for each game
    #[arg(long, value_enum)]
    csv: Option<CsvName>,
    /// Write the records of all games that count into one file, which appears whole or not at all
    #[arg(long, value_name = "FILE")]
    records: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum CsvName {
    /// Table 5
    Table,
    /// Every game with its person and rank
    Games,
}

#[derive(Serialize)]
struct Told<'a> {
    schema: &'static str,
    #[serde(flatten)]
    scores: &'a SeriesScores,
    problems: &'a [String],
}

pub(super) fn run(args: &SeriesArgs, games: &Path, out: &mut Output) -> Result<Exit> {
    let usual = [games.to_owned()];
    let paths = if args.paths.is_empty() { &usual[..] } else { &args.paths };
    let (found, problems) = read(paths)?;
    let (results, records): (Vec<SeriesResult>, Vec<Record>) = found.into_values().unzip();
    let scores = SeriesScores::of(results)?;
    if let Some(path) = &args.records {
        let texts: Vec<String> = records.iter().map(Record::to_string).collect();
        write_file(path, |file| Ok(file.write_all(texts.join("\n").as_bytes())?))?;
    }
    problems.iter().for_each(|problem| eprintln!("anqi: {problem}"));
    match args.csv {
        Some(CsvName::Table) => out.raw().write_all(scores.table_csv().as_bytes())?,
        Some(CsvName::Games) => out.raw().write_all(scores.games_csv().as_bytes())?,
        None => {
            let told = Told { schema: "anqi-games-series-1", scores: &scores, problems: &problems };
            out.print(&told, |text| print(&scores, text))?;
        }
    }
    Ok(if problems.is_empty() { Exit::Done } else { Exit::Failed })
}

/// The finished games of series with their records, by series and number, and what cannot be counted.
type Found = (BTreeMap<(String, u32), (SeriesResult, Record)>, Vec<String>);

fn read(paths: &[PathBuf]) -> Result<Found> {
    let mut files = Vec::new();
    for path in paths {
        if !path.is_dir() {
            files.push(path.clone());
            continue;
        }
        let read = || -> io::Result<Vec<PathBuf>> {
            let entries = std::fs::read_dir(path)?.map(|entry| entry.map(|entry| entry.path()));
            let mut inside = entries.collect::<io::Result<Vec<_>>>()?;
            inside.retain(|file| {
                file.extension() == Some(OsStr::new("anqi")) || file.to_string_lossy().ends_with(".anqi.zst")
            });
            inside.sort();
            Ok(inside)
        };
        files.extend(read().with_context(|| format!("cannot read {}", path.display()))?);
    }
    let (mut found, mut problems) = (BTreeMap::new(), Vec::new());
    for entry in read_files(&files) {
        let (source, record) = entry?;
        let counted = record.map_err(|damage| format!("{}: {damage}", source.file)).and_then(|record| {
            let result = SeriesResult::of_record(&record).map_err(|error| format!("{source}: {error}"))?;
            Ok(result.map(|result| (result, record)))
        });
        let (result, record) = match counted {
            Ok(Some(counted)) => counted,
            Ok(None) => continue,
            Err(problem) => {
                problems.push(problem);
                continue;
            }
        };
        let place = (result.game.series.clone(), result.game.number);
        match found.get(&place) {
            None => drop(found.insert(place, (result, record))),
            // A copy counts once.
            Some((known, _)) if *known == result => {}
            Some(_) => problems.push(format!(
                "{source}: game {} of series {} is there twice, and the two differ: the first counts",
                place.1, place.0
            )),
        }
    }
    Ok((found, problems))
}

fn print(scores: &SeriesScores, text: &mut dyn Write) -> io::Result<()> {
    if scores.programs.is_empty() {
        return writeln!(text, "no game of a series is over here");
    }
    let mut ranks: BTreeMap<(bool, u32), Vec<&str>> = BTreeMap::new();
    for row in &scores.people {
        // Those without a rank come last.
        let given = row.ranks.iter().map(|&rank| (false, rank));
        let none = row.ranks.is_empty().then_some((true, 0));
        given.chain(none).for_each(|rank| ranks.entry(rank).or_default().push(&row.person));
    }
    writeln!(text, "rank  people")?;
    for ((is_none, rank), people) in &ranks {
        let rank = if *is_none { "–".to_owned() } else { rank.to_string() };
        writeln!(text, "{rank:<4}  {}", people.join(", "))?;
    }
    writeln!(text)?;
    let head = ["program", "computer first", "human first", "GS_f", "GS_s", "TS", "people", "rules"].map(str::to_owned);
    let rows = scores.programs.iter().map(|row| {
        let score = |score: Option<f64>| score.map_or_else(|| "–".to_owned(), |score| format!("{score:.4}"));
        [
            label(row, &scores.programs),
            counts(row.computer_first),
            counts(row.human_first),
            score(row.scores.gs_first),
            score(row.scores.gs_second),
            score(row.scores.ts),
            row.people.to_string(),
            row.rules.clone(),
        ]
    });
    columns(&[head].into_iter().chain(rows).collect::<Vec<_>>(), text)?;
    writeln!(text, "\n(wins, losses, draws) of the first player; GS_f, GS_s and TS are those of the program\n")?;
    let head = ["person", "program", "games"].map(str::to_owned);
    let rows = scores.series.iter();
    let rows = rows.map(|row| [row.person.clone(), row.program.clone(), format!("{} of {}", row.over, row.of)]);
    columns(&[head].into_iter().chain(rows).collect::<Vec<_>>(), text)
}

fn counts(games: Games) -> String {
    format!("({}, {}, {})", games.wins(), games.losses(), games.draws())
}

/// The name of a program, with the beginning of its fingerprint where two versions of it have played by the same rules.
fn label(row: &ProgramScores, all: &[ProgramScores]) -> String {
    let same = all.iter().filter(|other| (&other.program, &other.rules) == (&row.program, &row.rules));
    match &row.engine {
        Some(engine) if same.count() > 1 => {
            format!("{} ({}…)", row.program, engine.chars().take(11).collect::<String>())
        }
        _ => row.program.clone(),
    }
}

/// Rows whose columns are as wide as their widest text.
fn columns<const N: usize>(rows: &[[String; N]], text: &mut dyn Write) -> io::Result<()> {
    let width = |column: usize| rows.iter().map(|row| row[column].chars().count()).max().unwrap_or(0);
    let widths: Vec<usize> = (0..N).map(width).collect();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, &width)| format!("{cell:<width$}")).collect();
        writeln!(text, "{}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
