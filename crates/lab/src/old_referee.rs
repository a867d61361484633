//! The referee: plays one game, and is the only one who holds its deal.

use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_protocol::{Fault, Illegality, Left};
use anqi_rules::{Deal, Game, Move, Ply, Seat};

use crate::side::{Answer, Side, Thought};
use anqi_play::Budget;

/// A game that was played to its end.
#[derive(Debug)]
pub(crate) struct Played {
    /// The game; it is over.
    pub(crate) game: Game,
    /// What was thought about each ply.
    pub(crate) thoughts: Vec<Thought>,
    /// What the loser did, if the game ended by something other than the board or the clock.
    pub(crate) fault: Option<(Seat, Fault)>,
}

/// Why a game was broken off; nothing of it counts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub(crate) enum BrokenOff {
    /// Everything was told to stop.
    #[error("the game was broken off")]
    Stopped,
    /// A side cannot play at all: its program does not start, or its protocol has no words for this game. That is no
    /// reason to lose.
    #[error("the {} player cannot play: {fault}", seat.name())]
    Unplayable {
        /// Which side.
        seat: Seat,
        /// What is wrong.
        fault: Fault,
    },
}

/// How much longer than its `movetime` a move may take: time to notice that it is over.
const MOVE_MARGIN: Duration = Duration::from_millis(100);

/// Plays a game to its end between two sides, the first player first. It may have begun; `deal` must agree with what it
/// has shown.
///
/// A side that answers illegally, late or not at all loses that game. If `stop` is raised the game is broken off: a
/// search that was told to stop would have played something else.
///
/// # Errors
/// If the game was broken off.
pub(crate) fn referee<'a>(
    game: Game,
    deal: &'a Deal,
    sides: [&'a mut (dyn Side + 'a); 2],
    budgets: [Budget; 2],
    stop: &Stop,
) -> Result<Played, BrokenOff> {
    Table { game, deal, sides, clocks: budgets.map(Clocked::new), thoughts: Vec::new(), fault: None }.play(stop)
}

struct Table<'a> {
    game: Game,
    deal: &'a Deal,
    sides: [&'a mut (dyn Side + 'a); 2],
    clocks: [Clocked; 2],
    thoughts: Vec<Thought>,
    fault: Option<(Seat, Fault)>,
}

/// A budget that is being spent.
#[derive(Clone, Copy)]
struct Clocked {
    budget: Budget,
    left: Option<Duration>,
    moves: u32,
}

impl Clocked {
    fn new(budget: Budget) -> Clocked {
        Clocked { budget, left: budget.clock.map(|clock| clock.base), moves: 0 }
    }

    /// Whether a move that took so long comes too late.
    fn is_late(&self, used: Duration) -> bool {
        self.left.is_some_and(|left| used > left)
            || self.budget.limits.time.is_some_and(|time| used > time + MOVE_MARGIN)
    }

    fn spend(&mut self, used: Duration) {
        self.moves += 1;
        if let (Some(clock), Some(left)) = (self.budget.clock, self.left) {
            self.left = Some(clock.after_move(left, used, self.moves));
        }
    }
}

impl Table<'_> {
    fn play(mut self, stop: &Stop) -> Result<Played, BrokenOff> {
        for seat in Seat::ALL {
            let clock = self.clocks[seat as usize].budget.clock;
            if let Err(fault) = self.sides[seat as usize].begin(&self.game, seat, clock, stop) {
                self.lose(seat, fault)?;
            }
        }
        while self.game.outcome().is_none() {
            if stop.is_raised() {
                return Err(BrokenOff::Stopped);
            }
            let (seat, answer, used) = self.ask(stop);
            // Whatever a side says when everything is told to stop is not its play.
            if stop.is_raised() {
                return Err(BrokenOff::Stopped);
            }
            match answer {
                Err(fault) => self.lose(seat, fault)?,
                // A side that measures its time has judged it, too.
                Ok(Answer { used: None, .. }) if self.clocks[seat as usize].is_late(used) => {
                    self.lose(seat, Fault::Late { limit: used })?;
                }
                Ok(answer) => match self.make(answer.mv) {
                    Err(fault) => self.lose(seat, fault)?,
                    Ok(ply) => {
                        self.clocks[seat as usize].spend(used);
                        self.tell(seat, ply, answer.thought, used, stop)?;
                    }
                },
            }
        }
        let outcome = self.game.outcome();
        self.sides.iter_mut().for_each(|side| side.end(outcome.as_ref()));
        // A process that was killed with us has not crashed.
        if stop.is_raised() {
            return Err(BrokenOff::Stopped);
        }
        Ok(Played { game: self.game, thoughts: self.thoughts, fault: self.fault })
    }

    fn ask(&mut self, stop: &Stop) -> (Seat, Result<Answer, Fault>, Duration) {
        let seat = self.game.seat();
        let (own, other) = (self.clocks[seat as usize], self.clocks[seat.other() as usize]);
        let left = own.left.map(|left| Left { own: left, other: other.left.unwrap_or(left) });
        let started = Instant::now();
        let answer = self.sides[seat as usize].choose(&self.game, &own.budget, left, stop);
        let used = answer.as_ref().ok().and_then(|answer| answer.used).unwrap_or_else(|| started.elapsed());
        (seat, answer, used)
    }

    /// Makes a move, if it is legal; the deal says what a flip shows.
    fn make(&mut self, mv: Move) -> Result<Ply, Fault> {
        let played = self.deal.resolve(mv).ok().filter(|&ply| self.game.play(ply).is_ok());
        played.ok_or_else(|| Fault::Illegal {
            answer: mv.to_string(),
            reason: Illegality::of(&self.game, mv).unwrap_or(Illegality::NotFaceDown),
            position: *self.game.position(),
        })
    }

    /// Tells both sides what was played.
    fn tell(&mut self, mover: Seat, ply: Ply, thought: Thought, used: Duration, stop: &Stop) -> Result<(), BrokenOff> {
        let Clocked { left, budget, .. } = self.clocks[mover as usize];
        let timed = !budget.is_reproducible();
        self.thoughts.push(Thought { clock: left, used: timed.then_some(used), ..thought });
        for seat in Seat::ALL {
            if let Err(fault) = self.sides[seat as usize].played(&self.game, ply, left, stop) {
                self.lose(seat, fault)?;
            }
        }
        Ok(())
    }

    /// The first fault decides; a game that is over stays as it ended.
    fn lose(&mut self, seat: Seat, fault: Fault) -> Result<(), BrokenOff> {
        if matches!(fault, Fault::Launch { .. } | Fault::Unsupported(_)) {
            return Err(BrokenOff::Unplayable { seat, fault });
        }
        if self.game.outcome().is_none() {
            self.game.lose(seat, fault.termination());
            self.fault = Some((seat, fault));
        }
        Ok(())
    }
}
