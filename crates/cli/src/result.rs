//! How results of matches and tournaments are shown.

use std::path::Path;

use anqi_lab::{Standings, StandingsSummary};
use anqi_report::match_text;
use anyhow::Result;
use serde::Serialize;

use crate::output::Output;

#[derive(Serialize)]
struct Json<'a> {
    schema: &'static str,
    #[serde(flatten)]
    summary: &'a StandingsSummary,
    plan: String,
    records: &'a Path,
}

/// Prints what the games say.
pub(crate) fn print(command: &str, standings: &Standings, records: &Path, out: &mut Output) -> Result<()> {
    let summary = standings.summary();
    let schema = if command == "match" { "anqi-match-1" } else { "anqi-tournament-1" };
    let json = Json { schema, summary: &summary, plan: standings.plan().to_string(), records };
    out.print(&json, |text| writeln!(text, "{}Records: {}", match_text(&summary), records.display()))?;
    Ok(())
}
