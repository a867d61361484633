//! Monte Carlo tree search from the initial position: iterations a second.

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
    playouts: u64,
    per_second: f64,
}

/// The player of the paper's best results, alone and with company, and what simulations in flight add.
const PLAYERS: [&str; 5] = [
    "mcts:chance,policy=capture,playout=640",
    "mcts:chance,policy=capture,playout=640,threads=2",
    "mcts:chance,policy=capture,playout=640,flight=64",
    "mcts:chance,policy=capture,playout=640,share=on",
    "mcts:group,policy=capture,playout=640",
];

/// Long enough for a tree that does not fit into the caches.
const PLAYOUTS: u64 = 500_000;

pub(super) fn run(time: Duration, out: &mut Output) -> Result<Exit> {
    let game = Game::new(Rules::chen());
    let (resources, mut rows) = (Resources::default(), Vec::new());
    for text in PLAYERS {
        let spec: PlayerSpec = text.parse()?;
        let mut player = spec.build(Seed::from(1), &resources)?;
        let per_second = best_rate(time, || {
            let choice = player.choose(&game, &Limits::playouts(PLAYOUTS), &Stop::default());
            choice.map_or(0, |choice| choice.stats.playouts)
        });
        rows.push(IterationRate {
            schema: "anqi-bench-iterations-1",
            player: spec.to_string(),
            playouts: PLAYOUTS,
            per_second,
        });
    }
    out.print(&rows, |text| {
        rows.iter()
            .try_for_each(|row| writeln!(text, "{:>10} iterations/s  {}", grouped(row.per_second as u64), row.player))
    })?;
    Ok(Exit::Done)
}
