//! The referee that drives a live game against the one before it: the same games, side by side.

use std::time::Duration;

use anqi_engine::{PlayerSpec, Stop};
use anqi_play::{Budget, Clock, Left};
use anqi_protocol::{Fault, Illegality};
use anqi_rules::{Deal, Game, Move, Outcome, Ply, Rules, Seat, Seed, Square};
use rand_core::Rng;

use crate::side::{Answer, Insider, Side, Thought};
use crate::{old_referee, referee};

/// A player that reports strange times and misbehaves now and then, always the same by its seed.
struct Scripted {
    player: Insider,
    rng: rand_chacha::ChaCha8Rng,
    /// Whether it judges its time itself.
    judges: bool,
    /// One in so many calls goes wrong; 0 for none.
    faulty: u32,
    /// Whether both sides do: then no clock depends on the machine.
    exact: bool,
    heard: String,
}

impl Scripted {
    fn new(spec: &str, seed: &Seed, judges: bool, exact: bool, faulty: u32) -> Scripted {
        let player = Insider(spec.parse::<PlayerSpec>().unwrap().build(seed.child("player")));
        Scripted { player, rng: seed.child("script").rng(), judges, faulty, exact, heard: String::new() }
    }

    fn fault(&mut self, here: u32) -> Result<(), Fault> {
        let drawn = self.rng.next_u32();
        if self.faulty == 0 || !drawn.is_multiple_of(self.faulty * here) {
            return Ok(());
        }
        let asked = || "play".to_owned();
        Err(match self.rng.next_u32() % 7 {
            0 => Fault::Crashed { status: "exit code 3".to_owned(), asked: asked(), stderr: Vec::new() },
            1 => Fault::Late { limit: Duration::from_secs(1) },
            2 => Fault::Silent { asked: asked(), limit: Duration::from_secs(2) },
            3 => Fault::Resigned,
            4 => Fault::Malformed { asked: asked(), answer: "?".to_owned(), expected: "a move" },
            5 => Fault::Unsupported("no words for it".to_owned()),
            _ => Fault::Illegal {
                answer: "a1-a1".to_owned(),
                reason: Illegality::OutOfReach,
                position: *Game::new(Rules::server()).position(),
            },
        })
    }
}

impl Side for Scripted {
    fn begin(&mut self, game: &Game, seat: Seat, clock: Option<Clock>, stop: &Stop) -> Result<(), Fault> {
        self.heard += &format!("begin {game:?} {seat:?} {clock:?}\n");
        self.player.begin(game, seat, clock, stop)?;
        self.fault(40)
    }

    fn choose(&mut self, game: &Game, budget: &Budget, left: Option<Left>, stop: &Stop) -> Result<Answer, Fault> {
        let told = left.filter(|_| self.exact);
        self.heard += &format!("choose {:?} {budget:?} {told:?}\n", game.plies());
        self.fault(1)?;
        let untimed = Budget { clock: None, ..*budget };
        let mut answer = self.player.choose(game, &untimed, None, stop)?;
        if self.faulty > 0 && self.rng.next_u32().is_multiple_of(self.faulty) {
            answer.mv = match self.rng.next_u32() % 2 {
                0 => Move::Flip(Square::from_index(self.rng.next_u32() as usize % 32).unwrap()),
                _ => Move::Step {
                    from: Square::from_index(self.rng.next_u32() as usize % 32).unwrap(),
                    to: Square::from_index(self.rng.next_u32() as usize % 32).unwrap(),
                },
            };
        }
        let nanos = u64::from(self.rng.next_u32());
        answer.used = self.judges.then(|| Duration::from_nanos(nanos));
        Ok(answer)
    }

    fn played(&mut self, game: &Game, ply: Ply, left: Option<Duration>, stop: &Stop) -> Result<(), Fault> {
        self.heard += &format!("played {} {ply:?} {:?}\n", game.position(), left.filter(|_| self.exact));
        self.player.played(game, ply, left, stop)?;
        self.fault(4)
    }

    fn end(&mut self, outcome: Option<&Outcome>) {
        self.heard += &format!("end {outcome:?}\n");
    }
}

const PLAYERS: [&str; 7] =
    ["random", "chen:basic", "chen:var1", "negascout", "mcts:chance,memory=16", "mc", "champion,hash=4"];
const RULES: [&str; 6] =
    ["server", "chen", "olympiad", "server,board=2x4", "chen,board=4x4,chase=on", "server,board=2x2"];
const BUDGETS: [&str; 6] = [
    "nodes=10",
    "nodes=30 depth=2",
    "nodes=8 tc=0:30",
    "nodes=8 tc=3/0:20+0.5",
    "nodes=8 tc=9:00 movetime=20",
    "nodes=20",
];

/// What a game came to, without what depends on the machine.
fn told(game: &Game, thoughts: &[Thought], fault: Option<&(Seat, Fault)>, judged: [bool; 2]) -> String {
    let thoughts = thoughts.iter().enumerate().map(|(ply, thought)| {
        let judged = judged[ply % 2];
        Thought { clock: thought.clock.filter(|_| judged), used: thought.used.filter(|_| judged), ..*thought }
    });
    let fault = fault.map(|(seat, fault)| match fault {
        Fault::Late { limit } if *limit != Duration::from_secs(1) => format!("{seat} late"),
        fault => format!("{seat} {fault:?}"),
    });
    format!(
        "{:?} {:?} {:?} {fault:?} {:?}",
        game.plies(),
        game.positions(),
        game.outcome(),
        thoughts.collect::<Vec<_>>()
    )
}

#[test]
#[ignore = "long: 10,000 games twice"]
fn both_referees_play_the_same_games() {
    let (mut unplayable, mut faults, mut endings) = (0, 0, std::collections::BTreeMap::<String, u32>::new());
    for number in 0..10_000_u32 {
        let seed = Seed::from(2028).child(format!("game {number}"));
        let mut rng = seed.child("what").rng();
        let mut draw = |most: usize| rng.next_u32() as usize % most;
        let rules: Rules = RULES[draw(RULES.len())].parse().unwrap();
        let specs = [PLAYERS[draw(7)], PLAYERS[draw(7)]];
        let mut budgets = [0, 1].map(|_| BUDGETS[draw(6)].parse::<Budget>().unwrap());
        // Now and then a clock that is up before the first answer.
        if draw(50) == 0 {
            let clock = Clock { base: Duration::from_nanos(1), increment: Duration::ZERO, moves: None };
            budgets[draw(2)].clock = Some(clock);
        }
        let judged = [draw(2) == 0, draw(2) == 0];
        let faulty = [0, 0, 60, 300][draw(4)];
        let (deal, mut game) = (Deal::new(&rules, &seed), Game::new(rules));
        for _ in 0..if draw(3) == 0 { draw(40) } else { 0 } {
            let moves = game.legal_moves();
            if moves.is_empty() {
                break;
            }
            game.play(deal.resolve(moves[draw(moves.len())]).unwrap()).unwrap();
        }
        if !game.plies().is_empty() {
            // The old referee counts the moves of a repeating clock from where it begins, the new one from the start.
            for clock in budgets.iter_mut().filter_map(|budget| budget.clock.as_mut()) {
                clock.moves = None;
            }
        }
        let sides = || {
            [0, 1].map(|side| {
                Scripted::new(specs[side], &seed.child([side as u8]), judged[side], judged == [true; 2], faulty)
            })
        };
        let ([mut a, mut b], [mut c, mut d]) = (sides(), sides());
        let stop = Stop::default();
        let old = old_referee::referee(game.clone(), &deal, [&mut a, &mut b], budgets, &stop);
        let new = referee::referee(game, &deal, [&mut c, &mut d], budgets, &stop);
        assert_eq!([a.heard, b.heard], [c.heard, d.heard], "game {number}");
        match (old, new) {
            (Ok(old), Ok(new)) => {
                let first = |thoughts: &[Thought]| new.game.plies().len() - thoughts.len();
                let judged = if first(&new.thoughts) % 2 == 0 { judged } else { [judged[1], judged[0]] };
                let new_told = told(&new.game, &new.thoughts, new.fault.as_ref(), judged);
                assert_eq!(told(&old.game, &old.thoughts, old.fault.as_ref(), judged), new_told, "game {number}");
                faults += u32::from(new.fault.is_some());
                let why = new.game.outcome().unwrap().termination.to_string();
                *endings.entry(why.split(' ').next().unwrap().to_owned()).or_default() += 1;
            }
            (Err(old), Err(new)) => {
                assert_eq!(old.to_string(), new.to_string(), "game {number}");
                unplayable += 1;
            }
            (old, new) => panic!("game {number}: {old:?} {new:?}"),
        }
    }
    println!("10,000 games equal, {faults} with a fault, {unplayable} unplayable; endings {endings:?}");
    assert!(faults > 500 && unplayable > 10 && endings.len() >= 6);
}
