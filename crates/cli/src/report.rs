//! `anqi report`: a match on one page.

use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

use anqi_lab::Journal;
use anqi_report::Report;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

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
    pairs: u64,
    file: String,
}

pub(crate) fn run(args: &ReportArgs, out: &mut Output) -> Result<Exit> {
    let journal = Journal::open(&args.dir)?;
    let pairs = journal.len();
    let file = write(&journal, args.output.as_deref(), args.games)?;
    let written = Written { schema: "anqi-report-1", pairs, file: file.display().to_string() };
    out.print(&written, |text| writeln!(text, "{} pairs in {}", written.pairs, written.file))?;
    Ok(Exit::Done)
}

/// Writes the page of everything in the journal, by default beside it, whole or not at all.
pub(crate) fn write(journal: &Journal, output: Option<&Path>, games: usize) -> Result<PathBuf> {
    let mut report = Report::new(journal.plan(), games);
    for number in (0..journal.plan().count()).filter(|number| journal.has(*number)) {
        report.add(&journal.pair(number)?)?;
    }
    let path = output.map_or_else(|| journal.dir().join("report.html"), Path::to_owned);
    let dir = path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let cannot = || format!("cannot write {}", path.display());
    let mut file = tempfile::NamedTempFile::new_in(dir).with_context(cannot)?;
    file.write_all(report.to_html().as_bytes()).with_context(cannot)?;
    let kept: File = file.persist(&path).with_context(cannot)?;
    kept.sync_all().with_context(cannot)?;
    Ok(path)
}
