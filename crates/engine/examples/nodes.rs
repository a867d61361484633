//! What a player spends on each choice of a few games against itself, by how many pieces are face down, and how fast it is.
//!
//! `cargo run --release -p anqi-engine --example nodes -- negascout 20000 6`: player, nodes a move, games.

use std::error::Error;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_rules::{Deal, Game, Rules, Seed};

fn main() -> Result<(), Box<dyn Error>> {
    let mut words = std::env::args().skip(1);
    let mut word = |what: &str| words.next().ok_or(format!("{what} is missing: PLAYER NODES GAMES"));
    let spec: PlayerSpec = word("the player")?.parse()?;
    let limits = Limits::nodes(word("the budget of nodes")?.parse()?);
    let games: u64 = word("the number of games")?.parse()?;

    let (resources, rules) = (Resources::default(), Rules::server());
    let (mut all, mut time) = (0, Duration::ZERO);
    let mut spent: Vec<(u32, u64)> = Vec::new();
    for number in 0..games {
        let seed = Seed::from(number);
        let deal = Deal::new(&rules, &seed);
        let mut game = Game::new(rules);
        let mut player = spec.build(seed, &resources)?;
        while game.outcome().is_none() {
            let started = Instant::now();
            let choice = player.choose(&game, &limits, &Stop::default()).ok_or("no move")?;
            time += started.elapsed();
            all += choice.stats.nodes;
            spent.push((game.position().hidden().len(), choice.stats.nodes));
            game.play(deal.resolve(choice.mv)?)?;
        }
    }
    for (least, most) in [(0, 0), (1, 4), (5, 8), (9, 12), (13, 16), (17, 20), (21, 24), (25, 28), (29, 32), (1, 32)] {
        let of = spent.iter().filter(|(hidden, _)| (least..=most).contains(hidden));
        let mut nodes: Vec<u64> = of.map(|&(_, nodes)| nodes).collect();
        nodes.sort_unstable();
        let Some(largest) = nodes.last() else { continue };
        let (median, mean) = (nodes[nodes.len() / 2], nodes.iter().sum::<u64>() / nodes.len() as u64);
        println!(
            "{least:2} to {most:2} face down: {:5} choices, nodes: median {median}, mean {mean}, most {largest}",
            nodes.len()
        );
    }
    println!("{all} nodes, {:.2} M a second", all as f64 / time.as_secs_f64() / 1e6);
    Ok(())
}
