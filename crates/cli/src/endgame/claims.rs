//! `anqi endgame claims`: what a paper says about endings, held against the tables.

use std::io::{self, Write};

use anqi_endgame::{Examination, Exceptions, Finding, Shown, Statement, Unit};
use anyhow::Result;
use clap::Args;
use clap::builder::PossibleValuesParser;
use serde::Serialize;

use super::build::ThreadsArgs;
use crate::Exit;
use crate::output::{Output, grouped};

/// Test what Chen, Shen & Hsu say about endings (section 2.5, Figure 7) over all placements
///
/// Each sentence is read exactly, ambiguous ones in more than one way, and tested with no draw rule and with one. What is
/// counted: in how many cases the statement holds, and what happens in the others.
#[derive(Args)]
pub(crate) struct ClaimsArgs {
    /// Only these statements [default: all]
    #[arg(value_name = "NAME", value_parser = PossibleValuesParser::new(Examination::names()), hide_possible_values = true)]
    names: Vec<String>,
    /// Compare endings of the same order of strength up to so many pieces, 2 to 4; four take minutes
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(2..=i64::from(Examination::MOST_PIECES)))]
    pieces: u32,
    /// The draw rule: so many plies without capture
    #[arg(long, value_name = "PLIES", default_value_t = 40, value_parser = clap::value_parser!(u16).range(1..))]
    draw: u16,
    /// Show so many examples, and so many exceptions of each kind, one of each four that are reflections
    #[arg(long, value_name = "N", default_value_t = 1)]
    show: usize,
    /// Show all exceptions, and one example
    #[arg(long, conflicts_with = "show")]
    all: bool,
    #[command(flatten)]
    threads: ThreadsArgs,
}

#[derive(Serialize)]
struct Claims {
    schema: &'static str,
    pieces: u32,
    statements: Vec<ShownStatement>,
}

#[derive(Serialize)]
struct ShownStatement {
    name: &'static str,
    source: &'static str,
    sentence: &'static str,
    exactly: &'static str,
    /// What one case is: `position` or `placement`.
    case: &'static str,
    endings: Vec<String>,
    findings: Vec<ShownFinding>,
}

#[derive(PartialEq, Eq, Serialize)]
struct ShownFinding {
    /// Quiet plies after which the game is drawn; null for no rule.
    draw: Option<u16>,
    cases: u64,
    holds: u64,
    exceptions: Vec<ShownExceptions>,
    examples: Vec<ShownCase>,
}

#[derive(PartialEq, Eq, Serialize)]
struct ShownExceptions {
    what: String,
    count: u64,
    positions: Vec<ShownCase>,
}

#[derive(PartialEq, Eq, Serialize)]
struct ShownCase {
    position: String,
    verdict: String,
}

pub(crate) fn run(args: &ClaimsArgs, out: &mut Output) -> Result<Exit> {
    let examination = Examination {
        pieces: args.pieces,
        draw: args.draw,
        show: if args.all { usize::MAX } else { args.show },
        threads: args.threads.count(),
    };
    let statements = examination.run(|name| args.names.is_empty() || args.names.iter().any(|wanted| wanted == name))?;
    let claims = Claims {
        schema: "anqi-endgame-claims-1",
        pieces: args.pieces,
        statements: statements.iter().map(|statement| shown(statement, args.show)).collect(),
    };
    out.print(&claims, |text| claims.statements.iter().try_for_each(|statement| statement.write(text)))?;
    Ok(Exit::Done)
}

/// With so many examples at most.
fn shown(statement: &Statement, examples: usize) -> ShownStatement {
    ShownStatement {
        name: statement.name,
        source: statement.source,
        sentence: statement.sentence,
        exactly: statement.exactly,
        case: match statement.unit {
            Unit::Positions => "position",
            Unit::Placements => "placement",
        },
        endings: statement.endings.iter().map(ToString::to_string).collect(),
        findings: statement.findings.iter().map(|finding| shown_finding(finding, examples)).collect(),
    }
}

fn shown_finding(finding: &Finding, examples: usize) -> ShownFinding {
    let cases = |cases: &[Shown]| cases.iter().map(shown_case).collect();
    let exceptions = |(what, exceptions): (&String, &Exceptions)| ShownExceptions {
        what: what.clone(),
        count: exceptions.count,
        positions: cases(&exceptions.positions),
    };
    ShownFinding {
        draw: finding.flavour.draw(),
        cases: finding.cases,
        holds: finding.holds,
        exceptions: finding.exceptions.iter().map(exceptions).collect(),
        examples: finding.examples.iter().take(examples).map(shown_case).collect(),
    }
}

fn shown_case(case: &Shown) -> ShownCase {
    ShownCase { position: case.position.to_string(), verdict: case.verdict.clone() }
}

/// As many endings are named in text.
const NAMED: usize = 24;

impl ShownStatement {
    fn write(&self, text: &mut dyn Write) -> io::Result<()> {
        writeln!(text, "{} ({})", self.name, self.source)?;
        writeln!(text, "  \"{}\"", self.sentence)?;
        writeln!(text, "  {}", self.exactly)?;
        match self.endings.len() {
            0..=NAMED => writeln!(text, "  {}", self.endings.join(" "))?,
            endings => writeln!(text, "  {endings} endings")?,
        }
        for (number, finding) in self.findings.iter().enumerate() {
            let rule =
                finding.draw.map_or_else(|| "no draw rule".to_owned(), |draw| format!("draw after {draw} plies"));
            let counts = format!("{} of {} {}s", grouped(finding.holds), grouped(finding.cases), self.case);
            writeln!(text, "  {rule:<19} {counts}")?;
            let is_new = self.findings[..number].iter().all(|before| !before.counts_like(finding));
            if is_new {
                finding.write(text)?;
            }
        }
        writeln!(text)
    }
}

impl ShownFinding {
    fn counts_like(&self, other: &ShownFinding) -> bool {
        let counts = |finding: &ShownFinding| -> Vec<(String, u64)> {
            finding.exceptions.iter().map(|exceptions| (exceptions.what.clone(), exceptions.count)).collect()
        };
        (self.cases, self.holds, counts(self)) == (other.cases, other.holds, counts(other))
    }

    fn write(&self, text: &mut dyn Write) -> io::Result<()> {
        let write = |text: &mut dyn Write, cases: &[ShownCase]| {
            cases.iter().try_for_each(|ShownCase { position, verdict }| writeln!(text, "      {position}  {verdict}"))
        };
        if !self.examples.is_empty() {
            writeln!(text, "    holds")?;
            write(text, &self.examples)?;
        }
        for ShownExceptions { what, count, positions } in &self.exceptions {
            writeln!(text, "    {} {what}", grouped(*count))?;
            write(text, positions)?;
        }
        Ok(())
    }
}
