//! `anqi bench`: rates of this machine, one core.

use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, PlayerSpec, Stop};
use anqi_lab::{Journal, Plan, PlanFile, PlayedPair, play_pair};
use anqi_playout::{Options, Path, Policy, Reading, Start, Summary, playouts};
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
    /// Seconds for each row
    #[arg(long, default_value_t = 2.0, global = true)]
    seconds: f64,
}

#[derive(Subcommand)]
enum What {
    /// Random games from the initial position, by every path of this machine
    Playouts,
    /// Leaves of the game tree, every one visited
    Perft,
    /// Nodes of the players' searches at fixed depths, and one number that changes when play changes
    Search,
    /// Games of `random` against itself through the referee: in process, with a journal, as an outside program
    Referee,
}

pub(crate) fn run(args: &BenchArgs, out: &mut Output) -> Result<Exit> {
    let time = Duration::try_from_secs_f64(args.seconds).context("bad --seconds")?;
    match args.what {
        What::Playouts => bench_playouts(time, out),
        What::Perft => bench_perft(time, out),
        What::Search => bench_search(out),
        What::Referee => bench_referee(time, out),
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
}

fn bench_playouts(time: Duration, out: &mut Output) -> Result<Exit> {
    const BATCH: u64 = 50_000;
    let start = Start::from(&Position::initial(&Rules::chen()));
    let mut rows = Vec::new();
    for policy in [Policy::Random, Policy::Capture] {
        for draw in [40, 160, 640] {
            for path in Path::available() {
                let options = Options { policy, draw, reading: Reading::Rules };
                let mut played = 0;
                let mut summary = Summary::default();
                let per_second = best_rate(time, || {
                    summary += playouts(&start, &options, 1, played..played + BATCH, path);
                    played += BATCH;
                    BATCH
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
                });
            }
        }
    }
    out.print(&rows, |text| {
        writeln!(
            text,
            "{:<8} {:>4} {:<9} {:>5} {:>12} {:>8} {:>8} {:>7} {:>6}",
            "policy", "draw", "path", "lanes", "playouts/s", "ns/ply", "plies", "drawn", "left"
        )?;
        for row in &rows {
            writeln!(
                text,
                "{:<8} {:>4} {:<9} {:>5} {:>12} {:>8.2} {:>8.2} {:>7.3} {:>6.2}",
                row.policy,
                row.draw,
                row.path,
                row.lanes,
                grouped(row.per_second as u64),
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

#[derive(Serialize)]
struct RefereeRate {
    schema: &'static str,
    how: &'static str,
    games: u64,
    plies: u64,
    /// Games of average length at the rate of the best batch: others on the machine can only make it slower.
    games_per_second: f64,
    /// Of all games.
    ms_per_ply: f64,
}

/// What goes through an outside program, whatever time it takes.
const OUTSIDE_PAIRS: u64 = 500;

fn bench_referee(time: Duration, out: &mut Output) -> Result<Exit> {
    let stop = Stop::default();
    let plan = |player: &str| {
        let players = vec![player.to_owned(), "random".to_owned()];
        Plan::new(&PlanFile { pairs: Some(1_000_000), players, ..PlanFile::default() })
    };
    let anqi = std::env::current_exe()?;
    let inside = plan("random")?;
    let outside = plan(&format!("cmd=\"'{}' engine --player random --seed {{seed}}\" name=outside", anqi.display()))?;
    let dir = tempfile::tempdir()?;
    let mut journal = Journal::open_or_create(dir.path(), &inside)?;
    let rows = [
        pair_rate("in process", time, 0, &mut |number| Ok(play_pair(&inside, number, &stop)?))?,
        pair_rate("and written down", time, 0, &mut |number| {
            let pair = play_pair(&inside, number, &stop)?;
            journal.append(&pair)?;
            Ok(pair)
        })?,
        pair_rate("outside, protocol A", Duration::ZERO, OUTSIDE_PAIRS, &mut |number| {
            Ok(play_pair(&outside, number, &stop)?)
        })?,
    ];
    out.print(&rows, |text| {
        for row in &rows {
            let (games, rate) = (grouped(row.games), grouped(row.games_per_second as u64));
            let more = row.ms_per_ply - rows[0].ms_per_ply;
            writeln!(text, "{:<20} {games:>8} games {rate:>8} games/s  {more:+.4} ms a ply", row.how)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}

/// Plays pairs for a time, and at least so many.
fn pair_rate(
    how: &'static str,
    time: Duration,
    least: u64,
    play: &mut dyn FnMut(u64) -> Result<PlayedPair>,
) -> Result<RefereeRate> {
    // Short enough for one turn on a busy core.
    const BATCH: u64 = 5;
    let started = Instant::now();
    let (mut pairs, mut plies, mut best) = (0, 0, 0.0_f64);
    while started.elapsed() < time || pairs < least {
        let (begun, before) = (Instant::now(), plies);
        for number in pairs..pairs + BATCH {
            plies += play(number)?.games.iter().map(|game| game.plies().len() as u64).sum::<u64>();
        }
        pairs += BATCH;
        // In plies: the best batch must not be the one with the shortest games.
        best = best.max((plies - before) as f64 / begun.elapsed().as_secs_f64());
    }
    Ok(RefereeRate {
        schema: "anqi-bench-referee-1",
        how,
        games: 2 * pairs,
        plies,
        games_per_second: best / (plies as f64 / (2 * pairs) as f64),
        ms_per_ply: started.elapsed().as_secs_f64() * 1e3 / plies as f64,
    })
}
