//! The referee's side: an outside program as an opponent.

mod fault;
mod numbered;
mod packets;
mod peer;
mod process;
mod spec;
mod supervisor;
mod talk;
mod uci;

use std::fmt::Debug;
use std::time::{Duration, Instant};

use anqi_engine::Limits;
use anqi_rules::{Game, Move, Outcome, Ply, Seat, excerpt};

pub use fault::{Fault, Illegality};
pub use spec::{OutsideSpec, OutsideSpecError, Protocol};
pub use supervisor::{supervise_if_asked, supervise_with};
pub use talk::Talk;

use crate::squares::EngineAnswer;
use anqi_play::{Clock, Left};
pub(crate) use process::Process;

/// One outside program.
///
/// It is given `&Game` alone, so nothing that it is sent can depend on what lies face down. Every wait has a deadline,
/// and nothing that the program starts survives this value.
///
/// ```no_run
/// use anqi_engine::Limits;
/// use anqi_protocol::{Clock, Left, Outside, OutsideSpec};
/// use anqi_rules::{Game, Rules, Seat};
///
/// let spec: OutsideSpec = "cmd=./engine name=Gold".parse()?;
/// let mut program = Outside::launch(&spec)?;
/// let game = Game::new(Rules::server());
/// let clock = Clock::default();
/// program.start(&game, Seat::First, Some(clock))?;
/// let left = Left { own: clock.base, other: clock.base };
/// let (mv, time) = program.choose(&game, Some(left), &Limits::default())?;
/// println!("{mv} after {time:?}");
/// program.close();
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Outside {
    spec: OutsideSpec,
    name: Option<String>,
    /// Nobody after a fault, and between games where each gets a process of its own.
    running: Option<Running>,
    /// The last lines of standard error of a process that is gone.
    last_words: Vec<String>,
}

#[derive(Debug)]
struct Running {
    process: Process,
    dialect: Box<dyn Dialect>,
    seat: Seat,
    clock: Option<Clock>,
}

/// What a protocol has to know. The process brings the deadlines, the caller the rules.
trait Dialect: Debug + Send {
    /// The first words; the name the program gives, if it does.
    fn greet(&mut self, to: &mut Process, spec: &OutsideSpec) -> Result<Option<String>, Fault>;

    /// A game begins, or is taken up where it stands.
    fn start(&mut self, to: &mut Process, game: &Game, seat: Seat, clock: Option<Clock>) -> Result<(), Fault>;

    /// Asks for a move; gives the answer as a value and as it was written.
    fn choose(&mut self, to: &mut Process, question: &Question<'_>) -> Result<(EngineAnswer, String), Fault>;

    /// `ply` was played, by either side.
    fn played(&mut self, to: &mut Process, game: &Game, ply: Ply, left: Option<Duration>) -> Result<(), Fault>;

    /// Says goodbye.
    fn quit(&mut self, to: &mut Process);

    /// Whether the process can play another game.
    fn outlives_a_game(&self) -> bool {
        true
    }
}

/// A move is wanted.
struct Question<'a> {
    game: &'a Game,
    seat: Seat,
    left: Option<Left>,
    clock: Option<Clock>,
    limits: Limits,
    deadline: Instant,
    /// What the deadline is in time to think, with the margin.
    limit: Duration,
}

/// How long a program that was told to quit may take.
const GOODBYE: Duration = Duration::from_millis(500);

impl Outside {
    /// Starts the program and shakes hands with it.
    ///
    /// # Errors
    /// If it does not start or misbehaves; nothing of it is left running then.
    pub fn launch(spec: &OutsideSpec) -> Result<Outside, Fault> {
        let mut outside = Outside { spec: spec.clone(), name: None, running: None, last_words: Vec::new() };
        outside.run()?;
        Ok(outside)
    }

    fn run(&mut self) -> Result<(), Fault> {
        let (process, dialect): (_, Box<dyn Dialect>) = match self.spec.protocol {
            Protocol::Numbered => (Process::start(&self.spec)?, Box::new(numbered::Numbered)),
            Protocol::Packets => (Process::start_connecting(&self.spec)?, Box::new(packets::Packets)),
            Protocol::Uci => (Process::start(&self.spec)?, Box::new(uci::Uci::default())),
        };
        self.running = Some(Running { process, dialect, seat: Seat::First, clock: None });
        let spec = self.spec.clone();
        self.name = self.talk(|running| running.dialect.greet(&mut running.process, &spec))?;
        Ok(())
    }

    /// Talks to the program; whatever it does wrong is the end of the process.
    fn talk<T>(&mut self, talk: impl FnOnce(&mut Running) -> Result<T, Fault>) -> Result<T, Fault> {
        let running = self.running.as_mut().ok_or_else(|| Fault::Crashed {
            status: "ended earlier".to_owned(),
            asked: "play".to_owned(),
            stderr: self.last_words.clone(),
        })?;
        let result = talk(running);
        if result.is_err() {
            self.end();
        }
        result
    }

    fn end(&mut self) {
        if let Some(running) = self.running.take() {
            self.last_words = running.process.last_words();
        }
    }

    /// What the program calls itself, if it says so.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        self.name.as_deref()
    }

    /// The description it was launched from.
    #[must_use]
    pub const fn spec(&self) -> &OutsideSpec {
        &self.spec
    }

    /// The last lines that it wrote to standard error.
    #[must_use]
    pub fn last_words(&self) -> Vec<String> {
        self.running.as_ref().map_or_else(|| self.last_words.clone(), |running| running.process.last_words())
    }

    /// A new game, in which the program plays `seat`. `game` may have begun; the program is told the plies.
    /// After a fault, or where every game has its own process, this starts a fresh one.
    ///
    /// # Errors
    /// Whatever it did wrong.
    pub fn start(&mut self, game: &Game, seat: Seat, clock: Option<Clock>) -> Result<(), Fault> {
        if self.running.is_none() {
            self.run()?;
        }
        self.talk(|running| {
            (running.seat, running.clock) = (seat, clock);
            running.dialect.start(&mut running.process, game, seat, clock)
        })
    }

    /// Asks for a move, and checks it. The time is what the program took, by our clock.
    ///
    /// It may take what is left on its clock or the time in `limits`, and the margin of its description; without either,
    /// the patience of its description.
    ///
    /// # Errors
    /// Whatever it did wrong; the game is lost for it by [`Fault::termination`].
    pub fn choose(&mut self, game: &Game, left: Option<Left>, limits: &Limits) -> Result<(Move, Duration), Fault> {
        let allowed = [left.map(|left| left.own), limits.time].into_iter().flatten().min();
        let limit = allowed.map_or(self.spec.patience, |time| time + self.spec.margin);
        self.talk(|running| {
            let started = Instant::now();
            let deadline = started + limit;
            let Running { process, dialect, seat, clock } = running;
            let question = Question { game, seat: *seat, left, clock: *clock, limits: *limits, deadline, limit };
            let (answer, text) = dialect.choose(process, &question).map_err(|fault| match fault {
                // By the clock if it has one; without one it is just silent.
                Fault::Silent { limit, .. } if allowed.is_some() => Fault::Late { limit },
                fault => fault,
            })?;
            let time = started.elapsed();
            let mv = judge(game, answer, &text)?;
            if time > limit { Err(Fault::Late { limit }) } else { Ok((mv, time)) }
        })
    }

    /// Tells the program what was played, by either side. `game` is the game after `ply`; `left` is what the side
    /// that played it has left.
    ///
    /// # Errors
    /// Whatever it did wrong.
    pub fn played(&mut self, game: &Game, ply: Ply, left: Option<Duration>) -> Result<(), Fault> {
        self.talk(|running| running.dialect.played(&mut running.process, game, ply, left))
    }

    /// The game is over. The process stays for the next one where protocol and description allow it; none of the
    /// protocols has a word that every program understands for how the game ended.
    pub fn finish(&mut self, _outcome: Option<&Outcome>) {
        let stays = self.running.as_ref().is_some_and(|running| running.dialect.outlives_a_game());
        if !stays || self.spec.restart {
            self.quit();
        }
    }

    /// Asks the program to quit, then ends it and everything it started.
    pub fn close(mut self) {
        self.quit();
    }

    fn quit(&mut self) {
        if let Some(Running { process, dialect, .. }) = &mut self.running {
            dialect.quit(process);
            process.wait_for_end(GOODBYE);
        }
        self.end();
    }
}

/// The move in an answer, if it is legal.
pub(crate) fn judge(game: &Game, answer: EngineAnswer, text: &str) -> Result<Move, Fault> {
    let illegal = |reason| Fault::Illegal { answer: excerpt(text), reason, position: *game.position() };
    match answer {
        EngineAnswer::Move(mv) => Illegality::of(game, mv).map_or(Ok(mv), |reason| Err(illegal(reason))),
        EngineAnswer::Resigns => Err(Fault::Resigned),
        EngineAnswer::OffBoard => Err(illegal(Illegality::OffBoard)),
        EngineAnswer::Nonsense => Err(Fault::Malformed {
            asked: "a move".to_owned(),
            answer: excerpt(text),
            expected: "two squares, the same twice for a flip",
        }),
    }
}
