//! Leaves of the game tree, every one visited.

use std::time::Duration;

use anqi_rules::{Position, perft_visiting};
use anyhow::Result;
use serde::Serialize;

use super::best_rate;
use crate::Exit;
use crate::output::{Output, grouped};

#[derive(Serialize)]
struct PerftRate {
    schema: &'static str,
    position: &'static str,
    depth: u32,
    leaves: u64,
    per_second: f64,
}

/// A start, a middle game with pieces face down, and two without.
const PERFT_POSITIONS: [(&str, u32); 4] = [
    ("xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx - KGGMMRRNNCCPPPPPkggmmrrnnccppppp", 3),
    ("xcRx/g1kx/MGPx/x1xx/Pmxx/pmrp/xxxx/CxRC r KGMNPPPgrncppp", 3),
    ("mgpk/PPp1/RrMn/Mp1P/mcrC/RNKg/GGpN/Pcpn r -", 5),
    ("3G/1ck1/P1M1/3G/1r2/4/RK1N/2pR r -", 5),
];

pub(super) fn run(time: Duration, out: &mut Output) -> Result<Exit> {
    let mut rows = Vec::new();
    for (text, depth) in PERFT_POSITIONS {
        let position: Position = text.parse()?;
        let mut leaves = 0;
        let per_second = best_rate(time, || {
            leaves = perft_visiting(&position, depth);
            leaves
        });
        rows.push(PerftRate { schema: "anqi-bench-perft-1", position: text, depth, leaves, per_second });
    }
    out.print(&rows, |text| {
        for row in &rows {
            writeln!(text, "{:>12} leaves/s  depth {}  {}", grouped(row.per_second as u64), row.depth, row.position)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
