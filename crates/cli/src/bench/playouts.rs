//! Playouts by policy, limit and path.

use std::str::FromStr;
use std::time::{Duration, Instant};

use anqi_playout::{Path, PlayoutOptions, PlayoutStart, PlayoutSummary, Policy, playouts};
use anqi_rules::{Position, Rules};
use anyhow::{Context, Result};
use serde::Serialize;

use super::best_rate;
use crate::Exit;
use crate::output::{Output, grouped};

/// The paths to measure, slowest first.
#[derive(Clone)]
pub(super) struct Paths(Vec<Path>);

impl FromStr for Paths {
    type Err = anyhow::Error;

    fn from_str(text: &str) -> Result<Paths> {
        Ok(Paths(match text {
            "best" => vec![Path::best()],
            "all" => Path::available().collect(),
            _ => vec![text.parse().context("neither best nor all")?],
        }))
    }
}

#[derive(Serialize)]
struct PlayoutRate {
    schema: &'static str,
    policy: String,
    draw: u32,
    path: String,
    lanes: usize,
    per_second: f64,
    plies_per_second: f64,
    plies_mean: f64,
    draw_rate: f64,
    left_mean: f64,
    published_per_second: Option<f64>,
}

/// Seconds for 2,000 playouts from the initial position at limits 40 (Table 1), 160 and 640 (Table 2, where it
/// has the policy) of Jouandeau & Cazenave.
fn published_seconds(policy: Policy, draw: u32) -> Option<f64> {
    let (at_40, at_160, at_640) = match policy {
        Policy::Random => (0.660, Some(1.067), Some(1.801)),
        Policy::Capture => (0.375, Some(0.522), Some(0.802)),
        Policy::Avoid => (5.973, None, None),
        Policy::CaptureAvoid => (0.598, Some(0.953), Some(2.139)),
        Policy::AvoidCapture => (1.049, Some(1.707), Some(4.353)),
        Policy::Trap => (140.457, None, None),
        Policy::CaptureTrap => (99.753, None, None),
        Policy::CaptureAvoidTrap => (39.799, None, None),
        Policy::AvoidTrap | Policy::AvoidCaptureTrap => return None,
    };
    match draw {
        40 => Some(at_40),
        160 => at_160,
        640 => at_640,
        _ => None,
    }
}

pub(super) fn run(time: Duration, Paths(paths): &Paths, out: &mut Output) -> Result<Exit> {
    /// Seconds for a batch: so short that some batch is left alone by everybody else on the machine.
    const BATCH: f64 = 0.003;
    let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
    let mut rows = Vec::new();
    for policy in Policy::ALL {
        for draw in [40, 160, 640] {
            for &path in paths {
                let options = PlayoutOptions { policy, draw, ..PlayoutOptions::default() };
                let mut batch = 500;
                let mut summary = PlayoutSummary::default();
                let per_second = best_rate(time, || {
                    let (played, begin) = (summary.count(), Instant::now());
                    let more = playouts(&start, &options, 1, played..played + batch, path);
                    let fitting = batch as f64 * BATCH / begin.elapsed().as_secs_f64();
                    summary += more;
                    batch = (fitting as u64).clamp(500, 10_000);
                    more.count()
                });
                rows.push(PlayoutRate {
                    schema: "anqi-bench-playouts-1",
                    policy: policy.to_string(),
                    draw,
                    path: path.to_string(),
                    lanes: path.width(),
                    per_second,
                    plies_per_second: per_second * summary.plies.mean(),
                    plies_mean: summary.plies.mean(),
                    draw_rate: summary.draws as f64 / summary.count() as f64,
                    left_mean: summary.left.mean(),
                    published_per_second: published_seconds(policy, draw).map(|seconds| 2000.0 / seconds),
                });
            }
        }
    }
    out.print(&rows, |text| {
        writeln!(
            text,
            "{:<18} {:>4} {:<9} {:>5} {:>12} {:>9} {:>8} {:>8} {:>7} {:>6}",
            "policy", "draw", "path", "lanes", "playouts/s", "published", "ns/ply", "plies", "drawn", "left"
        )?;
        for row in &rows {
            writeln!(
                text,
                "{:<18} {:>4} {:<9} {:>5} {:>12} {:>9} {:>8.2} {:>8.2} {:>7.3} {:>6.2}",
                row.policy,
                row.draw,
                row.path,
                row.lanes,
                grouped(row.per_second as u64),
                row.published_per_second.map_or("-".to_owned(), |rate| grouped(rate as u64)),
                1e9 / row.plies_per_second,
                row.plies_mean,
                row.draw_rate,
                row.left_mean
            )?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use anqi_playout::Policy;

    use super::published_seconds;

    /// The times are those of the papers' tables, kept by the experiments that repeat them.
    #[test]
    fn published_times_are_as_printed() {
        let table_1 = include_str!("../../../../experiments/jouandeau-table1/published.csv");
        let table_2 = include_str!("../../../../experiments/jouandeau-table2/published.csv");
        let mut found = 0;
        for policy in Policy::ALL {
            let seconds = |draw| published_seconds(policy, draw).map(|seconds| format!("{seconds:.3}"));
            for line in table_1.lines().filter(|line| line.starts_with(&format!("beginning,{policy},40,"))) {
                assert_eq!(line.split(',').nth(3), seconds(40).as_deref(), "{policy}");
                found += 1;
            }
            for draw in [160, 640] {
                let printed = table_2.lines().find(|line| line.starts_with(&format!("beginning,{policy},{draw},")));
                assert_eq!(
                    printed.and_then(|line| line.split(',').nth(3)),
                    seconds(draw).as_deref(),
                    "{policy} {draw}"
                );
                found += usize::from(printed.is_some());
            }
        }
        assert_eq!(found, 16);
    }
}
