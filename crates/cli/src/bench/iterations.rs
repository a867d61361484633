//! Monte Carlo tree search from the initial position and in middle games: iterations a second.

use std::time::Duration;

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_rules::{Game, Rules, Seed};
use anyhow::Result;
use serde::Serialize;

use super::best_rate;
use crate::Exit;
use crate::output::{Output, grouped};

#[derive(Serialize)]
struct IterationRate {
    schema: &'static str,
    player: String,
    position: &'static str,
    playouts: u64,
    per_second: f64,
}

/// The player of the paper's best results, alone and with company, and what lanes and older batches add.
const PLAYERS: [&str; 7] = [
    "mcts:chance,policy=capture,playout=640",
    "mcts:chance,policy=capture,playout=640,threads=2",
    "mcts:chance,policy=capture,playout=640,lanes=32",
    "mcts:chance,policy=capture,playout=640,lanes=32,threads=2",
    "mcts:chance,policy=capture,playout=640,flight=64",
    "mcts:chance,policy=capture,playout=640,share=on",
    "mcts:group,policy=capture,playout=640",
];

/// The start, and middle games with half of the pieces face down, with a few, and with none.
const POSITIONS: [&str; 4] = [
    "xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx/xxxx - KGGMMRRNNCCPPPPPkggmmrrnnccppppp",
    "xcRx/g1kx/MGPx/x1xx/Pmxx/pmrp/xxxx/CxRC r KGMNPPPgrncppp",
    "1P1p/M1C1/xGK1/xPcx/pPMx/g1nR/1xmx/GnPN b RNkmrp",
    "rm1p/2ng/2cP/Nm2/1PRp/1gnC/p1kP/3G b -",
];

/// Long enough for a tree that does not fit into the caches.
const PLAYOUTS: u64 = 500_000;

pub(super) fn run(time: Duration, out: &mut Output) -> Result<Exit> {
    let (resources, mut rows) = (Resources::default(), Vec::new());
    for position in POSITIONS {
        let game = Game::from_position(Rules::chen(), position.parse()?)?;
        for text in PLAYERS {
            let spec: PlayerSpec = text.parse()?;
            let mut player = spec.build(Seed::from(1), &resources)?;
            let per_second = best_rate(time, || {
                let choice = player.choose(&game, &Limits::playouts(PLAYOUTS), &Stop::default());
                choice.map_or(0, |choice| choice.stats.playouts)
            });
            rows.push(IterationRate {
                schema: "anqi-bench-iterations-2",
                player: spec.to_string(),
                position,
                playouts: PLAYOUTS,
                per_second,
            });
        }
    }
    out.print(&rows, |text| {
        for part in rows.chunks(PLAYERS.len()) {
            writeln!(text, "{}", part[0].position)?;
            for row in part {
                writeln!(text, "{:>10} iterations/s  {}", grouped(row.per_second as u64), row.player)?;
            }
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
