//! `anqi report`: a match on one page.

use std::path::{Path, PathBuf};

use anqi_lab::{MatchJournal, complete};
use anqi_report::MatchReport;
use anyhow::Result;
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, write_file};

/// Write a self-contained page about a match: cross table, plots, games to replay
#[derive(Args)]
pub(crate) struct ReportArgs {
    /// The folder of the match or tournament
    dir: PathBuf,
    /// Where to write the page [default: report.html in the folder]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// How many games, the first ones, can be replayed on the page
    #[arg(long, value_name = "N", default_value_t = USUAL_GAMES)]
    games: usize,
}

/// Enough to look around in, and about a megabyte.
const USUAL_GAMES: usize = 200;

#[derive(Serialize)]
struct Written {
    schema: &'static str,
    pairs: usize,
    file: String,
}

pub(crate) fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit> {
    let journal = MatchJournal::read(&args.dir)?;
    let pairs: Vec<u64> = match complete(&journal)? {
        Some(count) => (0..count).collect(),
        None => (0..journal.plan().count()).filter(|number| journal.has(*number)).collect(),
    };
    let (file, _) = write(&journal, &pairs, args.output.as_deref(), args.games)?;
    let pairs = pairs.len();
    let written = Written { schema: "anqi-report-1", pairs, file: file.display().to_string() };
    out.print(&written, |text| writeln!(text, "{} pairs in {}", written.pairs, written.file))?;
    Ok(Exit::Done)
}

/// Writes the page of these pairs, by default beside the journal, whole or not at all.
fn write(journal: &MatchJournal, pairs: &[u64], output: Option<&Path>, games: usize) -> Result<(PathBuf, MatchReport)> {
    let mut report = MatchReport::new(journal.plan(), games);
    for number in pairs {
        report.add(&journal.pair(*number)?)?;
    }
    let path = output.map_or_else(|| journal.dir().join("report.html"), Path::to_owned);
    write_file(&path, |file| Ok(file.write_all(report.to_html().as_bytes())?))?;
    Ok((path, report))
}

/// Writes the page of a match that is complete beside its journal. What was counted for it comes back.
pub(crate) fn write_complete(journal: &MatchJournal, count: u64) -> Result<MatchReport> {
    Ok(write(journal, &(0..count).collect::<Vec<_>>(), None, USUAL_GAMES)?.1)
}
