//! Self-play: records where there are none.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread;

use anqi_engine::Stop;
use anqi_protocol::Fault;
use anqi_rules::{Seat, Seed};
use rand_core::Rng;

use crate::board::{Board, GameEnd, WinOrDraw};
use crate::engine::{Asked, EngineMove, EngineSpec, Standby, Twice};
use crate::record::{BadStart, GameRecord, GameStart, Recorder};

/// An engine that plays against itself, from random openings so that games differ.
#[derive(Clone, Debug)]
pub struct SelfPlay {
    /// Who plays.
    pub engine: EngineSpec,
    /// Where games start.
    pub start: GameStart,
    /// How many plies at the beginning are drawn from all legal moves.
    pub opening: usize,
    /// After how many plies a game is given up.
    pub longest: usize,
    /// Of all that is random.
    pub seed: Seed,
}

/// What became of a game.
#[derive(Clone, PartialEq, Debug)]
pub enum SelfPlayed {
    /// It has a result.
    Finished(Box<GameRecord>),
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
    /// Everything that a game depends on but its number.
    #[must_use]
    pub fn head(&self) -> String {
        let SelfPlay { engine, start, opening, longest, seed } = self;
        format!("{engine} start={start:?} opening={opening} longest={longest} seed={seed}")
    }

    /// Plays the games with these numbers with `workers` processes and calls `each` as they come to an end, until it says
    /// `false`. A game depends on its number, the seed and the engine alone; one that was stopped under way is dropped.
    ///
    /// # Errors
    /// If the start is none, or the engine cannot be started.
    pub fn run(
        &self,
        numbers: &[usize],
        workers: usize,
        stop: &Stop,
        mut each: impl FnMut(usize, SelfPlayed) -> bool,
    ) -> Result<(), SelfPlayError> {
        Recorder::begin(self.start.clone())?;
        let (next, ended) = (AtomicUsize::new(0), AtomicBool::new(false));
        let halted = || stop.is_raised() || ended.load(Ordering::Relaxed);
        let (sender, games) = mpsc::channel();
        thread::scope(|scope| {
            for _ in 0..workers.clamp(1, numbers.len().max(1)) {
                let (sender, next, halted) = (sender.clone(), &next, &halted);
                scope.spawn(move || {
                    let mut engine = Standby::new(&self.engine);
                    while let Some(&number) = numbers.get(next.fetch_add(1, Ordering::Relaxed)) {
                        let Some(played) = self.play(&mut engine, number, halted).transpose() else { return };
                        // An engine that dies with us has not failed.
                        if halted() || sender.send((number, played)).is_err() {
                            return;
                        }
                    }
                });
            }
            drop(sender);
            for (number, played) in games {
                let go_on = played.map(|played| each(number, played));
                if !matches!(go_on, Ok(true)) {
                    ended.store(true, Ordering::Relaxed);
                    return go_on.map(|_| ()).map_err(SelfPlayError::Engine);
                }
            }
            Ok(())
        })
    }

    /// A game, or nothing if it was stopped.
    fn play(
        &self,
        engine: &mut Standby<'_>,
        number: usize,
        halted: &impl Fn() -> bool,
    ) -> Result<Option<SelfPlayed>, Fault> {
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
            if halted() {
                return Ok(None);
            }
            let plies = game.plies();
            match game.board().end() {
                Some(GameEnd::Decided(outcome)) => return Ok(Some(self.finished(game, outcome))),
                Some(GameEnd::Counting) => {
                    return Ok(Some(match engine.ask(|engine| engine.count(&game.position()))? {
                        Asked::Answer { answer: Some(outcome), .. } => self.finished(game, outcome),
                        Asked::Answer { answer: None, .. } => SelfPlayed::Unfinished { plies },
                        Asked::Failed(twice) => SelfPlayed::Failed { plies, twice },
                    }));
                }
                None if plies >= self.longest => return Ok(Some(SelfPlayed::Unfinished { plies })),
                None => {}
            }
            let position_seed = engine_seed.wrapping_add(plies as u64);
            let (choice, evaluation) = match engine.ask(|engine| engine.choose(&game.position(), position_seed))? {
                Asked::Answer { answer, .. } => answer,
                Asked::Failed(twice) => return Ok(Some(SelfPlayed::Failed { plies, twice })),
            };
            if let Some(evaluation) = evaluation {
                game.comment(plies, evaluation);
            }
            let turn = game.board().turn();
            match choice {
                EngineMove::Resign => return Ok(Some(self.finished(game, WinOrDraw::Win(turn.other())))),
                EngineMove::Win => return Ok(Some(self.finished(game, WinOrDraw::Win(turn)))),
                EngineMove::Move(mv) => {
                    if game.play(&mv).is_err() {
                        return Ok(Some(SelfPlayed::Illegal { plies, answer: anqi_rules::excerpt(&mv) }));
                    }
                }
            }
        }
    }

    fn finished(&self, game: Recorder<Box<dyn Board>>, outcome: WinOrDraw) -> SelfPlayed {
        let name = Some(self.engine.program.display_name().to_owned());
        SelfPlayed::Finished(Box::new(game.finish(outcome, Seat::ALL.map(|_| name.clone()))))
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
