//! `anqi perft`: counting leaves, and checking a file of counts.

use std::path::{Path, PathBuf};

use anqi_rules::{PerftCase, Position, divide, excerpt, perft};
use anqi_store::read_text;
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped};
use crate::position::RulesArgs;

/// The most that a file of counts may have: some 600,000 positions.
const MOST_SUITE_BYTES: usize = 64 << 20;
/// And each of its lines.
const LONGEST_LINE: usize = 64 << 10;

/// Count the leaves of the game tree
#[derive(Args)]
pub(crate) struct PerftArgs {
    /// `BOARD SIDE POOL [QUIET]` in one argument, or `start`
    #[arg(value_name = "POSITION", required_unless_present = "suite")]
    position: Option<String>,
    /// Plies to look ahead
    #[arg(value_name = "DEPTH", required_unless_present = "suite")]
    depth: Option<u32>,
    /// Show the leaves below each first ply
    #[arg(long, conflicts_with = "suite")]
    divide: bool,
    /// Check every count of a file such as data/perft.txt; exit 1 on any difference
    #[arg(long, value_name = "FILE", conflicts_with_all = ["position", "depth"])]
    suite: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArgs,
}

#[derive(Serialize)]
struct PerftCount {
    schema: &'static str,
    position: String,
    depth: u32,
    nodes: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    divide: Option<Vec<Part>>,
}

#[derive(Serialize)]
struct Part {
    ply: String,
    nodes: u64,
}

#[derive(Serialize)]
struct Suite {
    schema: &'static str,
    file: String,
    positions: usize,
    counts: usize,
    different: Vec<Difference>,
}

#[derive(Serialize)]
struct Difference {
    line: usize,
    position: String,
    depth: u32,
    expected: u64,
    counted: u64,
}

pub(crate) fn run(args: &PerftArgs, out: &mut Output) -> Result<Exit> {
    match (&args.suite, &args.position, args.depth) {
        (Some(file), ..) => check(file, &args.rules, out),
        (None, Some(position), Some(depth)) => count(&args.rules.position(position)?, depth, args.divide, out),
        _ => bail!("POSITION and DEPTH are needed, or --suite FILE"),
    }
}

fn count(position: &Position, depth: u32, by_ply: bool, out: &mut Output) -> Result<Exit> {
    let parts = by_ply.then(|| {
        let parts = divide(position, depth).into_iter();
        parts.map(|(ply, nodes)| Part { ply: ply.to_string(), nodes }).collect::<Vec<_>>()
    });
    let nodes = match &parts {
        Some(parts) if depth > 0 => parts.iter().map(|part| part.nodes).sum(),
        _ => perft(position, depth),
    };
    let count = PerftCount { schema: "anqi-perft-1", position: position.to_string(), depth, nodes, divide: parts };
    out.print(&count, |text| {
        for part in count.divide.iter().flatten() {
            writeln!(text, "{} {}", part.ply, part.nodes)?;
        }
        writeln!(text, "{}", count.nodes)
    })?;
    Ok(Exit::Done)
}

fn check(file: &Path, rules: &RulesArgs, out: &mut Output) -> Result<Exit> {
    let name = file.display().to_string();
    let text = read_text(file, MOST_SUITE_BYTES).with_context(|| format!("cannot read {name}"))?;
    let mut suite = Suite { schema: "anqi-perft-suite-1", file: name, positions: 0, counts: 0, different: Vec::new() };
    for (line, content) in (1..).zip(text.lines()) {
        let content = content.trim();
        if content.is_empty() || content.starts_with('#') {
            continue;
        }
        if content.len() > LONGEST_LINE {
            bail!("{} line {line}: it has more than {LONGEST_LINE} bytes: {:?}", suite.file, excerpt(content));
        }
        let PerftCase { position, counts } = PerftCase::parse(content, &rules.rules)
            .with_context(|| format!("{} line {line}: {:?}", suite.file, excerpt(content)))?;
        suite.positions += 1;
        for (depth, expected) in counts {
            suite.counts += 1;
            let counted = perft(&position, depth);
            if counted != expected {
                suite.different.push(Difference { line, position: position.to_string(), depth, expected, counted });
            }
        }
    }
    out.print(&suite, |text| {
        for d in &suite.different {
            writeln!(
                text,
                "line {}: {} depth {}: expected {}, counted {}",
                d.line, d.position, d.depth, d.expected, d.counted
            )?;
        }
        let verdict = if suite.different.is_empty() {
            "all equal".to_owned()
        } else {
            format!("{} different", suite.different.len())
        };
        writeln!(
            text,
            "{} positions, {} counts: {verdict}",
            grouped(suite.positions as u64),
            grouped(suite.counts as u64)
        )
    })?;
    Ok(if suite.different.is_empty() { Exit::Done } else { Exit::Failed })
}
