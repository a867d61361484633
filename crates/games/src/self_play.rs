//! Self-play: records where there are none.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anqi_protocol::Fault;
use anqi_rules::{Seat, Seed};
use rand_core::Rng;

use crate::board::{Board, End, Outcome};
use crate::engine::{Asked, Choice, EngineSpec, Standby, Twice};
use crate::record::{BadStart, Record, Recorder, Start};

/// An engine that plays against itself, from random openings so that games differ.
#[derive(Clone, Debug)]
pub struct SelfPlay {
    /// Who plays.
    pub engine: EngineSpec,
    /// Where games start.
    pub start: Start,
    /// How many games.
    pub games: usize,
    /// How many plies at the beginning are drawn from all legal moves.
    pub opening: usize,
    /// After how many plies a game is given up.
    pub longest: usize,
    /// Of all that is random.
    pub seed: Seed,
}

/// What became of a game.
#[derive(Clone, PartialEq, Debug)]
pub enum Played {
    /// It has a result.
    Finished(Box<Record>),
    /// It went on for too long.
    Unfinished {
        /// After so many plies.
        plies: usize,
    },
    /// The engine failed twice at one position.
    Failed {
        /// After so many plies.
        plies: usize,
        /// How.
        twice: Twice,
    },
    /// The engine wants to play what the rules do not allow.
    Illegal {
        /// After so many plies.
        plies: usize,
        /// What.
        answer: String,
    },
}

impl SelfPlay {
    /// Plays all games with `workers` processes and calls `each` with them, in the order of their numbers, until it says
    /// `false`. A game depends on its number, the seed and the engine alone.
    ///
    /// # Errors
    /// If the start is none, or the engine cannot be started.
    pub fn run(&self, workers: usize, mut each: impl FnMut(usize, Played) -> bool) -> Result<(), SelfPlayError> {
        Recorder::begin(self.start.clone())?;
        let (next, stopped) = (AtomicUsize::new(0), AtomicBool::new(false));
        let (sender, games) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..workers.clamp(1, self.games.max(1)) {
                let (sender, next, stopped) = (sender.clone(), &next, &stopped);
                scope.spawn(move || {
                    let mut engine = Standby::new(&self.engine);
                    while !stopped.load(Ordering::Relaxed) {
                        let number = next.fetch_add(1, Ordering::Relaxed);
                        if number >= self.games || sender.send((number, self.play(&mut engine, number))).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            // Games are held back until those before them are there.
            let (mut early, mut wanted) = (BTreeMap::new(), 0);
            for (number, played) in games {
                early.insert(number, played);
                while let Some(played) = early.remove(&wanted) {
                    let go_on = played.map(|played| each(wanted, played));
                    if !matches!(go_on, Ok(true)) {
                        stopped.store(true, Ordering::Relaxed);
                        return go_on.map(|_| ()).map_err(SelfPlayError::Engine);
                    }
                    wanted += 1;
                }
            }
            Ok(())
        })
    }

    fn play(&self, engine: &mut Standby<'_>, number: usize) -> Result<Played, Fault> {
        let seed = self.seed.child(format!("game {number}"));
        let mut game = match Recorder::begin(self.start.clone()) {
            Ok(game) => game,
            // `run` has looked at the start.
            Err(bad) => return Err(Fault::Unsupported(bad.to_string())),
        };
        let mut rng = seed.child("opening").rng();
        while game.plies() < self.opening && game.board().end().is_none() {
            let moves: Vec<String> = game.board().moves().into_iter().filter(|mv| mv != "pass").collect();
            let Some(count) = u32::try_from(moves.len()).ok().filter(|&count| count > 0) else { break };
            // A multiplication instead of a division: the bias is far below one in a million.
            let drawn = (u64::from(rng.next_u32()) * u64::from(count)) >> 32;
            let legal = game.play(&moves[drawn as usize]);
            debug_assert!(legal.is_ok());
        }
        let engine_seed = seed.child("engine").rng().next_u64();
        loop {
            let plies = game.plies();
            match game.board().end() {
                Some(End::Decided(outcome)) => return Ok(self.finished(game, outcome)),
                Some(End::Counting) => {
                    return Ok(match engine.ask(|engine| engine.count(&game.position()))? {
                        Asked::Answer { answer: Some(outcome), .. } => self.finished(game, outcome),
                        Asked::Answer { answer: None, .. } => Played::Unfinished { plies },
                        Asked::Failed(twice) => Played::Failed { plies, twice },
                    });
                }
                None if plies >= self.longest => return Ok(Played::Unfinished { plies }),
                None => {}
            }
            let position_seed = engine_seed.wrapping_add(plies as u64);
            let (choice, evaluation) = match engine.ask(|engine| engine.choose(&game.position(), position_seed))? {
                Asked::Answer { answer, .. } => answer,
                Asked::Failed(twice) => return Ok(Played::Failed { plies, twice }),
            };
            if let Some(evaluation) = evaluation {
                game.comment(plies, evaluation);
            }
            let turn = game.board().turn();
            match choice {
                Choice::Resign => return Ok(self.finished(game, Outcome::Win(turn.other()))),
                Choice::Win => return Ok(self.finished(game, Outcome::Win(turn))),
                Choice::Move(mv) => {
                    if game.play(&mv).is_err() {
                        return Ok(Played::Illegal { plies, answer: anqi_rules::excerpt(&mv) });
                    }
                }
            }
        }
    }

    fn finished(&self, game: Recorder<Box<dyn Board>>, outcome: Outcome) -> Played {
        let name = Some(self.engine.program.display_name().to_owned());
        Played::Finished(Box::new(game.finish(outcome, Seat::ALL.map(|_| name.clone()))))
    }
}

/// Why there is no self-play at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SelfPlayError {
    /// A start that no game can have.
    #[error(transparent)]
    Start(#[from] BadStart),
    /// An engine that does not start.
    #[error(transparent)]
    Engine(#[from] Fault),
}
