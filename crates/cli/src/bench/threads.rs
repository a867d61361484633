//! What a second thread is worth to the champion: how much longer one alone would have to think.

use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, Player, PlayerSpec, Resources, Stop};
use anqi_rules::{Deal, Game, Rules, Seed};
use anyhow::{Context, Result, ensure};
use serde::Serialize;

use crate::Exit;
use crate::output::Output;

#[derive(Serialize)]
struct SecondThread {
    schema: &'static str,
    milliseconds: u64,
    positions: u64,
    /// Mean depths that were searched to the end: by one thread, by one with twice the time, by two.
    one: f64,
    one_twice: f64,
    two: f64,
    /// One thread would reach the depth of two in so many times the time.
    factor: f64,
}

/// Times for a move, in milliseconds.
const TIMES: [u64; 5] = [1, 2, 5, 20, 100];
/// Deeper searches end with a proof: they say nothing about time.
const DEEPEST: u32 = 30;

pub(super) fn run(time: Duration, out: &mut Output) -> Result<Exit> {
    let resources = &Resources::default();
    let games = positions(resources)?;
    let mut one = "champion".parse::<PlayerSpec>()?.build(Seed::from(1), resources)?;
    let mut two = "champion,threads=2".parse::<PlayerSpec>()?.build(Seed::from(1), resources)?;
    let mut rows = Vec::new();
    for milliseconds in TIMES {
        let limit = Duration::from_millis(milliseconds);
        let (mut sums, mut positions) = ([0; 3], 0);
        let start = Instant::now();
        let in_time = |_: &&Game| start.elapsed() < time;
        for game in games.iter().cycle().take_while(in_time) {
            let depths =
                [depth(&mut *one, game, limit)?, depth(&mut *one, game, 2 * limit)?, depth(&mut *two, game, limit)?];
            if depths.iter().all(|depth| *depth < DEEPEST) {
                sums.iter_mut().zip(depths).for_each(|(sum, depth)| *sum += u64::from(depth));
                positions += 1;
            }
        }
        ensure!(positions > 0, "no position was searched at {milliseconds} ms: give more --seconds");
        let [one, one_twice, two] = sums.map(|sum| sum as f64 / positions as f64);
        let factor = ((two - one) / (one_twice - one)).exp2();
        let schema = "anqi-bench-threads-1";
        rows.push(SecondThread { schema, milliseconds, positions, one, one_twice, two, factor });
    }
    out.print(&rows, |text| {
        rows.iter().try_for_each(|row| {
            let SecondThread { milliseconds, positions, one, one_twice, two, factor, .. } = row;
            writeln!(
                text,
                "{milliseconds:>4} ms  depth {one:.3} by one thread, {one_twice:.3} in twice the time, {two:.3} by two: \
                 worth {factor:.2} times the time ({positions} positions)"
            )
        })
    })?;
    Ok(Exit::Done)
}

/// Every seventh position of a few games of the champion.
fn positions(resources: &Resources) -> Result<Vec<Game>> {
    let mut positions = Vec::new();
    for seed in 0..16 {
        let rules = Rules::server();
        let (deal, mut game) = (Deal::new(&rules, &Seed::from(seed)), Game::new(rules));
        let mut player = "champion".parse::<PlayerSpec>()?.build(Seed::from(1), resources)?;
        while game.outcome().is_none() {
            if game.plies().len() % 7 == 6 {
                positions.push(game.clone());
            }
            let choice = player.choose(&game, &Limits::nodes(1000), &Stop::default());
            game.play(deal.resolve(choice.context("a game without moves goes on")?.mv)?)?;
        }
    }
    // Openings and endings alternate, wherever time runs out.
    positions.sort_by_key(|game| game.position().hash());
    Ok(positions)
}

/// The depth that a player reaches after a rest: while the other side thinks, its threads sleep.
fn depth(player: &mut dyn Player, game: &Game, limit: Duration) -> Result<u32> {
    thread::sleep(limit);
    let choice = player.choose(game, &Limits::time(limit), &Stop::default());
    Ok(choice.context("a bench position is over")?.stats.depth)
}
