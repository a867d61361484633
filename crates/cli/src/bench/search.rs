//! The players' searches: how fast, how soon they stop, and a number that changes when play changes.

use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, Player, PlayerSpec, Resources, Stop};
use anqi_rules::{Game, Rules, Seed};
use anyhow::{Context, Result};
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped};

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

/// The playouts of players that search by them.
const PLAYOUTS: u64 = 50_000;

/// How long a search without limits goes on after its flag is raised.
fn time_to_stop(mut player: Box<dyn Player>, game: &Game) -> Duration {
    let stop = Stop::default();
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

pub(super) fn run(out: &mut Output) -> Result<Exit> {
    let resources = Resources::default();
    let mut players = Vec::new();
    let mut won = 0;
    for preset in PlayerSpec::presets().iter().filter(|preset| preset.name != "random") {
        let spec: PlayerSpec = preset.name.parse()?;
        let player = || spec.build(Seed::from(1), &resources);
        let (mut nodes, mut time, mut stopped) = (0, Duration::ZERO, Duration::ZERO);
        for (text, depth) in SEARCH_POSITIONS {
            let game = Game::from_position(Rules::server(), text.parse()?)?;
            let limits = if spec.plays_out() { Limits::playouts(PLAYOUTS) } else { Limits::depth(depth) };
            let choice = player()?.choose(&game, &limits, &Stop::default());
            let choice = choice.context("a bench position is over")?;
            // A budget of playouts is always spent: what changes with play is how they went.
            won += choice
                .candidates
                .iter()
                .filter_map(|candidate| candidate.results)
                .map(|results| results.wins)
                .sum::<u64>();
            let stats = choice.stats;
            nodes += stats.nodes;
            time += stats.time;
            stopped = stopped.max(time_to_stop(player()?, &game));
        }
        players.push(SearchRate {
            player: preset.name,
            nodes,
            per_second: nodes as f64 / time.as_secs_f64(),
            stop_ms: stopped.as_secs_f64() * 1e3,
        });
    }
    let signature = players.iter().map(|row| row.nodes).sum::<u64>() + won;
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
