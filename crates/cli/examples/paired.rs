//! A plain match over paired deals, to compare two players until there is an arena: every deal is played
//! twice, each player moving first once, with the same limit a move.
//!
//! `cargo run --release --example paired -- A B PAIRS nodes=100000|depth=2 SEED RULES > games.anqi`
//!
//! Records go to standard output in the order of the deals, the score to standard error. The games depend on
//! nothing but the arguments.

use std::io::{self, Write};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use anqi_engine::{Limits, PlayerSpec, Stop};
use anqi_records::{Format, Record, Tags, Writer};
use anqi_rules::{Deal, Game, Rules, Seat, Seed};
use anyhow::{Context, Result, bail};

struct Match {
    players: [PlayerSpec; 2],
    limits: Limits,
    seed: Seed,
    rules: Rules,
}

fn main() -> Result<()> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [a, b, pairs, limit, seed, rules] = &args[..] else { bail!("expected A B PAIRS LIMIT SEED RULES") };
    let pairs: usize = pairs.parse().context("PAIRS")?;
    let this = Match {
        players: [a.parse()?, b.parse()?],
        limits: parse_limit(limit)?,
        seed: seed.parse()?,
        rules: rules.parse()?,
    };

    let played: Vec<Mutex<Option<Result<[Record; 2]>>>> = (0..pairs).map(|_| Mutex::new(None)).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(|| {
                loop {
                    let pair = next.fetch_add(1, Ordering::Relaxed);
                    let Some(slot) = played.get(pair) else { break };
                    let [one, two] = [0, 1].map(|first| this.play(pair, first));
                    let both = one.and_then(|one| Ok([one, two?]));
                    if let Ok(mut slot) = slot.lock() {
                        *slot = Some(both);
                    }
                }
            });
        }
    });

    let mut out = Writer::new(io::stdout().lock(), Format::Anqi);
    let mut scores = Vec::new();
    for slot in played {
        let games = slot.into_inner().ok().flatten().context("a pair was not played")??;
        for game in &games {
            out.write(game)?;
        }
        let [one, two] = games.each_ref().map(points);
        scores.push((one + (1.0 - two)) / 2.0);
    }
    out.flush()?;
    let mean = scores.iter().sum::<f64>() / scores.len() as f64;
    let variance = scores.iter().map(|score| (score - mean).powi(2)).sum::<f64>() / (scores.len() as f64 - 1.0);
    let error = 1.96 * (variance / scores.len() as f64).sqrt();
    writeln!(io::stderr(), "{a} against {b}: {mean:.3} ± {error:.3} over {pairs} pairs")?;
    Ok(())
}

fn parse_limit(text: &str) -> Result<Limits> {
    match text.split_once('=') {
        Some(("nodes", nodes)) => Ok(Limits::nodes(nodes.parse().context("LIMIT")?)),
        Some(("depth", depth)) => Ok(Limits::depth(depth.parse().context("LIMIT")?)),
        _ => bail!("bad LIMIT {text:?}, expected nodes=N or depth=N"),
    }
}

/// The first player's points.
fn points(record: &Record) -> f64 {
    match record.result().name() {
        "1-0" => 1.0,
        "0-1" => 0.0,
        _ => 0.5,
    }
}

impl Match {
    fn play(&self, pair: usize, first: usize) -> Result<Record> {
        let seed = self.seed.child(format!("pair {pair}"));
        let deal = Deal::new(&self.rules, &seed);
        let order = [first, 1 - first];
        let mut players = order.map(|player| self.players[player].build(seed.child(format!("player {player}"))));
        let mut game = Game::new(self.rules);
        while game.outcome().is_none() {
            let player = &mut players[usize::from(game.seat() == Seat::Second)];
            let choice = player.choose(&game, &self.limits, &Stop::default()).context("no move")?;
            game.play(deal.resolve(choice.mv)?)?;
        }
        let mut tags = Tags::default();
        for (name, value) in [
            ("Event", format!("{} against {}", self.players[0], self.players[1])),
            ("Round", (pair + 1).to_string()),
            ("First", self.players[order[0]].to_string()),
            ("Second", self.players[order[1]].to_string()),
            ("Seed", seed.to_string()),
        ] {
            tags.set(name, &value)?;
        }
        Ok(Record::from_game(&game, tags))
    }
}
