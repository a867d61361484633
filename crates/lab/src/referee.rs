//! The referee: plays one game, and is the only one who holds its deal.

use std::time::{Duration, Instant};

use anqi_engine::Stop;
use anqi_play::{Allowance, Budget, Command, Entry, Left, LiveGame, Occupant};
use anqi_protocol::{Fault, Illegality};
use anqi_rules::{Deal, Game, Seat};

use crate::side::{Answer, Side, Thought};

/// A game that was played to its end.
#[derive(Debug)]
pub struct PlayedGame {
    /// The game; it is over.
    pub game: Game,
    /// What was thought about each ply.
    pub thoughts: Vec<Thought>,
    /// What the loser did, if the game ended by something other than the board or the clock.
    pub fault: Option<(Seat, Fault)>,
}

/// Why a game was broken off; nothing of it counts.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BrokenOff {
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
pub(crate) const MOVE_MARGIN: Duration = Duration::from_millis(100);

/// Plays a game to its end between two sides, the first player first. It may have begun; `deal` must agree with what it
/// has shown.
///
/// A side that answers illegally, late or not at all loses that game. If `stop` is raised the game is broken off: a
/// search that was told to stop would have played something else.
///
/// # Errors
/// If the game was broken off.
pub fn referee<'a>(
    game: Game,
    deal: &'a Deal,
    sides: [&'a mut (dyn Side + 'a); 2],
    budgets: [Budget; 2],
    stop: &Stop,
) -> Result<PlayedGame, BrokenOff> {
    let allowance =
        |budget: Budget| Allowance { clock: budget.clock, per_move: budget.limits.time.map(|time| time + MOVE_MARGIN) };
    let seats = [Occupant::Remote, Occupant::Remote];
    let live = LiveGame::with_deal(game, deal, seats, budgets.map(allowance), Duration::ZERO);
    RefereedGame { live, sides, budgets, started: Instant::now(), thoughts: Vec::new(), fault: None }.play(stop)
}

/// A live game between two sides.
struct RefereedGame<'a> {
    live: LiveGame<&'a Deal>,
    sides: [&'a mut (dyn Side + 'a); 2],
    budgets: [Budget; 2],
    started: Instant,
    thoughts: Vec<Thought>,
    fault: Option<(Seat, Fault)>,
}

impl RefereedGame<'_> {
    fn play(mut self, stop: &Stop) -> Result<PlayedGame, BrokenOff> {
        for seat in Seat::ALL {
            let clock = self.budgets[seat as usize].clock;
            if let Err(fault) = self.sides[seat as usize].begin(self.live.game(), seat, clock, stop) {
                self.lose(seat, fault)?;
            }
        }
        while self.live.game().outcome().is_none() {
            if stop.is_raised() {
                return Err(BrokenOff::Stopped);
            }
            let seat = self.live.game().seat();
            let asked = self.started.elapsed();
            let answer = self.ask(seat, asked, stop);
            let answered = self.started.elapsed();
            // Whatever a side says when everything is told to stop is not its play.
            if stop.is_raised() {
                return Err(BrokenOff::Stopped);
            }
            match answer {
                Err(fault) => self.lose(seat, fault)?,
                Ok(answer) => {
                    let used = answer.used.unwrap_or(answered - asked);
                    self.make(seat, answer, used, answered, stop)?;
                }
            }
        }
        let outcome = self.live.game().outcome();
        self.sides.iter_mut().for_each(|side| side.end(outcome.as_ref()));
        // A process that was killed with us has not crashed.
        if stop.is_raised() {
            return Err(BrokenOff::Stopped);
        }
        Ok(PlayedGame { game: self.live.into_game(), thoughts: self.thoughts, fault: self.fault })
    }

    fn ask(&mut self, seat: Seat, now: Duration, stop: &Stop) -> Result<Answer, Fault> {
        // The time that it took to tell both sides of the last ply is not charged.
        self.live.start_clock(now);
        let (own, other) = (self.live.left(seat), self.live.left(seat.other()));
        let left = own.map(|own| Left { own, other: other.unwrap_or(own) });
        self.sides[seat as usize].choose(self.live.game(), &self.budgets[seat as usize], left, stop)
    }

    /// Makes a move and tells both sides, unless it is illegal or came too late.
    fn make(
        &mut self,
        seat: Seat,
        Answer { mv, thought, used: judged }: Answer,
        used: Duration,
        now: Duration,
        stop: &Stop,
    ) -> Result<(), BrokenOff> {
        let command = Command::Play { mv, ply: self.live.game().plies().len(), used: judged };
        match self.live.apply(seat, &command, now) {
            Ok(Some(Entry::Ply { ply, clock })) => {
                let timed = !self.budgets[seat as usize].is_reproducible();
                self.thoughts.push(Thought { clock, used: timed.then_some(used), ..thought });
                for seat in Seat::ALL {
                    if let Err(fault) = self.sides[seat as usize].played(self.live.game(), ply, clock, stop) {
                        self.lose(seat, fault)?;
                    }
                }
                Ok(())
            }
            Ok(_) => {
                self.fault = Some((seat, Fault::Late { limit: used }));
                Ok(())
            }
            Err(_) => {
                let game = self.live.game();
                let reason = Illegality::of(game, mv).unwrap_or(Illegality::NotFaceDown);
                self.lose(seat, Fault::Illegal { answer: mv.to_string(), reason, position: *game.position() })
            }
        }
    }

    /// The first fault decides; a game that is over stays as it ended.
    fn lose(&mut self, seat: Seat, fault: Fault) -> Result<(), BrokenOff> {
        if fault.kind().termination().is_none() {
            return Err(BrokenOff::Unplayable { seat, fault });
        }
        let fail = Command::Fail { kind: fault.kind(), text: fault.to_string() };
        if self.live.apply(seat, &fail, self.started.elapsed()).is_ok() {
            self.fault = Some((seat, fault));
        }
        Ok(())
    }
}
