//! `anqi check-engine`: what a referee would find wrong with somebody's engine.

use anqi_protocol::{CheckPlan, CheckResult, Clock, Conformance, Finding, OutsideSpec, OutsideSpecError, check_engine};
use anqi_rules::Seed;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

/// Check that an engine speaks its protocol, plays legally and keeps its time
///
/// For example: anqi check-engine cmd=./my-engine, or with arguments and in another protocol:
/// anqi check-engine cmd="./my-engine --fast" proto=uci. Exits with 1 if a check fails.
#[derive(Args)]
pub(crate) struct CheckEngineArgs {
    /// The engine: cmd=PROGRAM, and if need be name= proto=a|b|uci tc= dir= patience= option.NAME=
    #[arg(value_name = "KEY=VALUE", required = true)]
    engine: Vec<String>,
    /// Games to play against somebody who plays anything
    #[arg(long, default_value_t = 100)]
    games: u32,
    /// The clock of these games, unless the engine's description has one
    #[arg(long, value_name = "CLOCK", default_value = "0:10")]
    tc: Clock,
    /// Where deals and the opponent's moves come from
    #[arg(long, default_value = "1")]
    seed: Seed,
}

#[derive(Serialize)]
struct ReportInfo<'a> {
    schema: &'static str,
    program: &'a str,
    protocol: &'static str,
    name: Option<&'a str>,
    passed: usize,
    warnings: usize,
    failures: usize,
    findings: Vec<FindingInfo<'a>>,
}

#[derive(Serialize)]
struct FindingInfo<'a> {
    verdict: &'static str,
    check: &'static str,
    text: &'a str,
    times: Option<&'a str>,
    sent: &'a [String],
    received: &'a [String],
    expected: &'a str,
}

impl<'a> From<&'a Finding> for FindingInfo<'a> {
    fn from(finding: &'a Finding) -> FindingInfo<'a> {
        FindingInfo {
            verdict: finding.verdict.name(),
            check: finding.check,
            text: &finding.text,
            times: finding.times.as_deref(),
            sent: &finding.sent,
            received: &finding.received,
            expected: &finding.expected,
        }
    }
}

pub(crate) fn run(args: &CheckEngineArgs, out: &mut Output) -> Result<Exit> {
    let spec = description(&args.engine).context("bad engine")?;
    let plan = CheckPlan { games: args.games, clock: args.tc, seed: args.seed.clone() };
    let report = check_engine(&spec, &plan);
    let failures = report.count(CheckResult::Fail);
    out.print(&info(&report), |text| write!(text, "{report}"))?;
    Ok(if failures == 0 { Exit::Done } else { Exit::Failed })
}

/// One argument may be a whole description, or a command with its arguments in one piece.
fn description(words: &[String]) -> Result<OutsideSpec, OutsideSpecError> {
    match words {
        [one] => one.parse().or_else(|error| OutsideSpec::from_words(words).map_err(|_| error)),
        _ => OutsideSpec::from_words(words),
    }
}

fn info(report: &Conformance) -> ReportInfo<'_> {
    ReportInfo {
        schema: "anqi-check-engine-1",
        program: &report.program,
        protocol: report.protocol.name(),
        name: report.name.as_deref(),
        passed: report.count(CheckResult::Pass),
        warnings: report.count(CheckResult::Warn),
        failures: report.count(CheckResult::Fail),
        findings: report.findings.iter().map(FindingInfo::from).collect(),
    }
}
