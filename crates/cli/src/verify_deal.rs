//! `anqi verify-deal`: whether the deal of a game is what was promised before its first flip.

use std::fs::File;
use std::io::BufReader;
use std::path::PathBuf;

use anqi_play::{Verified, verify};
use anqi_records::Reader;
use anqi_rules::Seat;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

/// Deal games again from their seeds, and compare with what was promised and shown
#[derive(Args)]
pub(crate) struct VerifyDealArgs {
    /// Files of records, as the page exports them
    #[arg(required = true, value_name = "FILE")]
    files: Vec<PathBuf>,
}

#[derive(Serialize)]
struct DealReport {
    schema: &'static str,
    games: Vec<GameReport>,
}

#[derive(Serialize)]
struct GameReport {
    file: String,
    line: u64,
    verified: bool,
    committed: bool,
    flips: usize,
    /// The players who have contributed to the deal.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    contributors: Vec<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    problem: Option<String>,
}

pub(crate) fn run(args: &VerifyDealArgs, out: &mut Output) -> Result<Exit> {
    let mut report = DealReport { schema: "anqi-verify-deal-1", games: Vec::new() };
    for path in &args.files {
        let file = path.display().to_string();
        let input = File::open(path).with_context(|| format!("cannot read {file}"))?;
        for entry in Reader::new(BufReader::new(input)).with_context(|| format!("cannot read {file}"))? {
            let entry = entry.with_context(|| format!("in {file}"))?;
            let found = verify(&entry.record);
            let nothing = Verified { flips: 0, committed: false, contributed: [false; 2] };
            let Verified { flips, committed, contributed } = found.clone().unwrap_or(nothing);
            let contributors =
                Seat::ALL.into_iter().filter(|&seat| contributed[seat as usize]).map(Seat::name).collect();
            let problem = found.err().map(|error| error.to_string());
            let verified = problem.is_none();
            let (file, line) = (file.clone(), entry.line);
            report.games.push(GameReport { file, line, verified, committed, flips, contributors, problem });
        }
    }
    out.print(&report, |text| {
        for game in &report.games {
            write!(text, "{}, line {}: ", game.file, game.line)?;
            match &game.problem {
                Some(problem) => writeln!(text, "{problem}")?,
                None if game.committed && !game.contributors.is_empty() => {
                    let players = game.contributors.join(" and the ");
                    writeln!(text, "as promised and with what the {players} player contributed, {} flips", game.flips)?;
                }
                None if game.committed => writeln!(text, "as promised, {} flips", game.flips)?,
                None => writeln!(text, "as the seed says, {} flips, but nothing was promised", game.flips)?,
            }
        }
        Ok(())
    })?;
    let sound = !report.games.is_empty() && report.games.iter().all(|game| game.verified);
    Ok(if sound { Exit::Done } else { Exit::Failed })
}
