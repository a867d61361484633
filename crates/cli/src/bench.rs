//! `anqi bench`: rates of this machine, one core.

use std::str::FromStr;
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, PlayerSpec, Stop};
use anqi_playout::{Options, Path, Policy, Start, Summary, playouts};
use anqi_rules::{Game, Position, Rules, Seed, perft_visiting};
use anyhow::{Context, Result};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped};

/// Measure how fast this machine is, on one core
#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
    /// Seconds for each row [default: 0.5 for playouts, else 2]
    #[arg(long, global = true)]
    seconds: Option<f64>,
}

#[derive(Subcommand)]
enum What {
    /// Games by each playout policy from the initial position, beside the rates that Jouandeau & Cazenave printed
    Playouts {
        /// Which paths: best, all, or one by its name
        #[arg(long, default_value = "best")]
        paths: Paths,
    },
    /// Leaves of the game tree, every one visited
    Perft,
    /// Nodes of the players' searches at fixed depths, and one number that changes when play changes
    Search,
}

/// The paths to measure, slowest first.
#[derive(Clone)]
struct Paths(Vec<Path>);

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

pub(crate) fn run(args: &BenchArgs, out: &mut Output) -> Result<Exit> {
    let time = |default| Duration::try_from_secs_f64(args.seconds.unwrap_or(default)).context("bad --seconds");
    match &args.what {
        What::Playouts { paths } => bench_playouts(time(0.5)?, &paths.0, out),
        What::Perft => bench_perft(time(2.0)?, out),
        What::Search => bench_search(out),
    }
}

/// Runs `batch` over and over for about `time` and gives the work a second of the best one: others on the
/// machine can only make it slower.
fn best_rate(time: Duration, mut batch: impl FnMut() -> u64) -> f64 {
    let start = Instant::now();
    let mut best: f64 = 0.0;
    loop {
        let begin = Instant::now();
        let work = batch();
        best = best.max(work as f64 / begin.elapsed().as_secs_f64());
        if start.elapsed() >= time {
            return best;
        }
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

fn bench_playouts(time: Duration, paths: &[Path], out: &mut Output) -> Result<Exit> {
    /// Seconds for a batch: so short that some batch is left alone by everybody else on the machine.
    const BATCH: f64 = 0.003;
    let start = Start::from(&Position::initial(&Rules::chen()));
    let mut rows = Vec::new();
    for policy in Policy::ALL {
        for draw in [40, 160, 640] {
            for &path in paths {
                let options = Options { policy, draw, ..Options::default() };
                let mut batch = 500;
                let mut summary = Summary::default();
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

fn bench_perft(time: Duration, out: &mut Output) -> Result<Exit> {
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

#[derive(Serialize)]
struct SearchRates {
    schema: &'static str,
    players: Vec<SearchRate>,
    signature: u64,
}

#[derive(Serialize)]
struct SearchRate {
    player: &'static str,
    nodes: u64,
    per_second: f64,
    /// The longest that a search went on after it was told to stop.
    stop_ms: f64,
}

/// Positions and the depth to which they are searched: with many, few and no pieces face down.
const SEARCH_POSITIONS: [(&str, u32); 5] = [
    ("xxxx/xrxx/xpxp/xx2/xxRx/xN1x/xNCx/pxxM b KGGMRCPPPPkggmrnnccp", 2),
    ("1P1p/M1C1/xGK1/xPcx/pPMx/g1nR/1xmx/GnPN b RNkmrp", 4),
    ("c2P/1M2/m1PR/2Gp/gm2/1rk1/2GR/2rP b -", 9),
    ("3G/1ck1/P1M1/3G/1r2/4/RK1N/2pR r -", 9),
    ("rm1p/2ng/2cP/Nm2/1PRp/1gnC/p1kP/3G b -", 9),
];

/// How long a search without limits goes on after its flag is raised.
fn time_to_stop(spec: &PlayerSpec, game: &Game) -> Duration {
    let stop = Stop::default();
    let mut player = spec.build(Seed::from(1));
    thread::scope(|scope| {
        let raiser = scope.spawn(|| {
            thread::sleep(Duration::from_millis(20));
            stop.raise();
            Instant::now()
        });
        player.choose(game, &Limits::default(), &stop);
        let ended = Instant::now();
        raiser.join().map_or(Duration::ZERO, |raised| ended.saturating_duration_since(raised))
    })
}

fn bench_search(out: &mut Output) -> Result<Exit> {
    let mut players = Vec::new();
    for preset in PlayerSpec::presets().iter().filter(|preset| preset.name != "random") {
        let spec: PlayerSpec = preset.name.parse()?;
        let (mut nodes, mut time, mut stopped) = (0, Duration::ZERO, Duration::ZERO);
        for (text, depth) in SEARCH_POSITIONS {
            let game = Game::from_position(Rules::server(), text.parse()?)?;
            let choice = spec.build(Seed::from(1)).choose(&game, &Limits::depth(depth), &Stop::default());
            let stats = choice.context("a bench position is over")?.stats;
            nodes += stats.nodes;
            time += stats.time;
            stopped = stopped.max(time_to_stop(&spec, &game));
        }
        players.push(SearchRate {
            player: preset.name,
            nodes,
            per_second: nodes as f64 / time.as_secs_f64(),
            stop_ms: stopped.as_secs_f64() * 1e3,
        });
    }
    let signature = players.iter().map(|row| row.nodes).sum();
    let rates = SearchRates { schema: "anqi-bench-search-1", players, signature };
    out.print(&rates, |text| {
        for row in &rates.players {
            let (nodes, rate) = (grouped(row.nodes), grouped(row.per_second as u64));
            writeln!(text, "{:<14} {nodes:>12} nodes {rate:>12} nodes/s  stops in {:.2} ms", row.player, row.stop_ms)?;
        }
        writeln!(text, "Bench: {}", rates.signature)
    })?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use anqi_playout::Policy;

    use super::published_seconds;

    /// The times are those of the papers' tables in `data/published`.
    #[test]
    fn published_times_are_as_printed() {
        let table_1 = include_str!("../../../data/published/jouandeau-table1.csv");
        let table_2 = include_str!("../../../data/published/jouandeau-table2.csv");
        let mut found = 0;
        for policy in Policy::ALL {
            let seconds = |draw| published_seconds(policy, draw).map(|seconds| format!("{seconds:.3}"));
            for line in table_1.lines().filter(|line| line.starts_with(&format!("beginning,{policy},"))) {
                assert_eq!(line.split(',').nth(2), seconds(40).as_deref(), "{policy}");
                found += 1;
            }
            for draw in [160, 640] {
                let printed = table_2.lines().find(|line| line.starts_with(&format!("{policy},{draw},")));
                assert_eq!(
                    printed.and_then(|line| line.split(',').nth(2)),
                    seconds(draw).as_deref(),
                    "{policy} {draw}"
                );
                found += usize::from(printed.is_some());
            }
        }
        assert_eq!(found, 16);
    }
}
