//! What lies face down stays hidden: nothing that a player receives depends on it.
//!
//! A game is played to a random ply. Two deals agree with everything it has shown and differ in what lies face down.
//! From there the game goes on once with each, up to the first flip at which they differ. Until then everything that
//! players and engine processes receive must be the same, to the byte.
//!
//! `ANQI_DEALS=100000 cargo test --release -p anqi --test hidden -- --ignored --nocapture` does it with that many pairs of
//! deals.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fmt::Write as _;
use std::fs;
use std::time::Duration;

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_lab::{Answer, Budget, Insider, Side, referee};
use anqi_protocol::{Clock, Fault, Left, Outside, OutsideSpec, supervise_with};
use anqi_rules::{Deal, Game, Outcome, Ply, Rules, Seat, Seed};
use rand_core::Rng;

const ANQI: &str = env!("CARGO_BIN_EXE_anqi");

/// Two deals for one public game.
struct Twins {
    game: Game,
    deals: [Deal; 2],
}

impl Twins {
    fn new(rules: Rules, seed: &Seed) -> Twins {
        let mut rng = seed.child("where").rng();
        let deal = Deal::new(&rules, seed);
        let mut player =
            "random".parse::<PlayerSpec>().unwrap().build(seed.child("beginning"), &Resources::default()).unwrap();
        let mut game = Game::new(rules);
        for _ in 0..rng.next_u32() % 60 {
            let choice = player.choose(&game, &Limits::default(), &Stop::default());
            game.play(deal.resolve(choice.unwrap().mv).unwrap()).unwrap();
            if game.outcome().is_some() || game.position().hidden().len() < 2 {
                game.take_back();
                break;
            }
        }
        let deals = ["one", "other"].map(|name| Deal::of(game.position(), &seed.child(name)));
        Twins { game, deals }
    }

    /// Plays on with one of the deals until they differ; `beyond` lets that flip happen. Gives whether it came.
    fn play(&self, deal: usize, sides: [&mut dyn Side; 2], beyond: bool) -> bool {
        let stop = Stop::default();
        let [first, second] = sides;
        let mut sides = [first, second].map(|side| Guard { side, deals: &self.deals, stop: &stop, beyond });
        let [first, second] = &mut sides;
        let budget = Budget::nodes(30);
        referee(self.game.clone(), &self.deals[deal], [first, second], [budget, budget], &stop).is_err()
    }
}

/// Breaks the game off where the deals differ.
struct Guard<'a> {
    side: &'a mut dyn Side,
    deals: &'a [Deal; 2],
    stop: &'a Stop,
    beyond: bool,
}

impl Side for Guard<'_> {
    fn begin(&mut self, game: &Game, seat: Seat, clock: Option<Clock>, stop: &Stop) -> Result<(), Fault> {
        self.side.begin(game, seat, clock, stop)
    }

    fn choose(&mut self, game: &Game, budget: &Budget, left: Option<Left>, stop: &Stop) -> Result<Answer, Fault> {
        let answer = self.side.choose(game, budget, left, stop)?;
        let [one, other] = self.deals.each_ref().map(|deal| deal.resolve(answer.mv).unwrap());
        if one != other && !self.beyond {
            self.stop.raise();
        }
        Ok(answer)
    }

    fn played(&mut self, game: &Game, ply: Ply, left: Option<Duration>, stop: &Stop) -> Result<(), Fault> {
        self.side.played(game, ply, left, stop)
    }

    fn end(&mut self, outcome: Option<&Outcome>) {
        self.side.end(outcome);
    }
}

/// A player of ours whose every input is written down: all that can be read off a game, down to its last field.
struct Watched {
    player: Insider,
    received: String,
}

impl Watched {
    fn new(spec: &str, seed: &Seed) -> Watched {
        Watched {
            player: Insider(spec.parse::<PlayerSpec>().unwrap().build(seed.clone(), &Resources::default()).unwrap()),
            received: String::new(),
        }
    }
}

impl Side for Watched {
    fn begin(&mut self, game: &Game, seat: Seat, clock: Option<Clock>, stop: &Stop) -> Result<(), Fault> {
        writeln!(self.received, "begin {game:?} {seat:?} {clock:?}").unwrap();
        self.player.begin(game, seat, clock, stop)
    }

    fn choose(&mut self, game: &Game, budget: &Budget, left: Option<Left>, stop: &Stop) -> Result<Answer, Fault> {
        writeln!(self.received, "choose {game:?} {budget:?} {left:?}").unwrap();
        self.player.choose(game, budget, left, stop)
    }

    fn played(&mut self, game: &Game, ply: Ply, left: Option<Duration>, stop: &Stop) -> Result<(), Fault> {
        writeln!(self.received, "played {} {ply:?} {left:?}", game.position()).unwrap();
        self.player.played(game, ply, left, stop)
    }

    fn end(&mut self, outcome: Option<&Outcome>) {
        writeln!(self.received, "end {outcome:?}").unwrap();
    }
}

fn received(twins: &Twins, deal: usize, specs: [&str; 2], seed: &Seed, beyond: bool) -> (bool, String) {
    let [mut first, mut second] = specs.map(|spec| Watched::new(spec, seed));
    let differs = twins.play(deal, [&mut first, &mut second], beyond);
    (differs, first.received + &second.received)
}

fn players(pairs: u64) {
    let rules = ["server,board=4x4", "server", "chen,board=2x4"].map(|text| text.parse::<Rules>().unwrap());
    let (mut bytes, mut reached) = (0, 0);
    for number in 0..pairs {
        let seed = Seed::from(2026).child(format!("twins {number}"));
        let twins = Twins::new(rules[number as usize % rules.len()], &seed);
        let specs = if number % 8 == 0 { ["chen:var1", "chen:basic"] } else { ["random", "random"] };
        let [one, other] = [0, 1].map(|deal| received(&twins, deal, specs, &seed, false));
        assert!(one == other, "pair {number}: {:?}", twins.game);
        bytes += one.1.len();
        if one.0 {
            reached += 1;
            if number % 64 == 0 {
                // The check can fail: beyond the flip the two are told different things.
                let [one, other] = [0, 1].map(|deal| received(&twins, deal, specs, &seed, true).1);
                assert!(one != other, "pair {number}");
            }
        }
    }
    println!(
        "players of ours: {pairs} pairs of deals, {reached} reached a flip that differs; {bytes} bytes, all the same"
    );
    assert!(reached * 2 > pairs);
}

/// Two engine processes, one for each deal, with every byte of their input written down.
fn programs(pairs: u64, proto: &str) {
    supervise_with(ANQI);
    let dir = tempfile::tempdir().unwrap();
    let logs = ["one", "other"].map(|name| dir.path().join(name));
    let mut programs = logs.each_ref().map(|log| {
        let command = format!("tee '{}' | '{ANQI}' engine --player random --seed 7", log.display());
        let mut spec = OutsideSpec::new(["sh", "-c", &command].map(str::to_owned).to_vec());
        spec.protocol = anqi_protocol::Protocol::ALL.into_iter().find(|protocol| protocol.name() == proto).unwrap();
        Outside::launch(&spec).unwrap()
    });
    for number in 0..pairs {
        let seed = Seed::from(2027).child(format!("twins {number}"));
        let twins = Twins::new(Rules::server(), &seed);
        for (deal, program) in programs.iter_mut().enumerate() {
            let mut opponent =
                Insider("random".parse::<PlayerSpec>().unwrap().build(seed.clone(), &Resources::default()).unwrap());
            if number % 2 == 0 {
                twins.play(deal, [program, &mut opponent], false);
            } else {
                twins.play(deal, [&mut opponent, program], false);
            }
        }
    }
    programs.into_iter().for_each(Outside::close);
    let [one, other] = logs.map(|log| fs::read(log).unwrap());
    assert!(one == other && !one.is_empty());
    println!("engine processes by {proto}: {pairs} pairs of deals, {} bytes, all the same", one.len());
}

#[test]
fn players_learn_nothing() {
    players(500);
}

#[test]
fn programs_learn_nothing() {
    programs(100, "a");
    programs(100, "uci");
}

#[test]
#[ignore = "long: 100,000 pairs of deals by default"]
fn nobody_ever_learns_anything() {
    let pairs = std::env::var("ANQI_DEALS").map_or(100_000, |pairs| pairs.parse().unwrap());
    players(pairs);
    programs(pairs, "a");
    programs(pairs / 10, "uci");
}
