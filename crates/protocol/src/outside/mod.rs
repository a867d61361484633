//! The referee's side: an outside program as somebody to play with.

mod fault;
mod spec;

use std::time::Duration;

use anqi_engine::Limits;
use anqi_rules::{Game, Move, Outcome, Ply, Seat};

pub use fault::{Fault, Illegality};
pub use spec::{OutsideSpec, OutsideSpecError, Protocol};

use crate::clock::{Clock, Left};

/// One outside program, running.
///
/// It is given `&Game` alone, so nothing that it is sent can depend on what lies face down.
#[derive(Debug)]
pub struct Outside {
    spec: OutsideSpec,
}

impl Outside {
    /// Starts the program and shakes hands with it.
    ///
    /// # Errors
    /// If it does not start or misbehaves; nothing of it is left running then.
    pub fn launch(spec: &OutsideSpec) -> Result<Outside, Fault> {
        Ok(Outside { spec: spec.clone() })
    }

    /// What the program calls itself, if it says so.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        None
    }

    /// The description it was launched from.
    #[must_use]
    pub const fn spec(&self) -> &OutsideSpec {
        &self.spec
    }

    /// A new game, in which the program plays `seat`. `game` may have begun; the program is told the plies.
    /// After a fault, or where the protocol knows one game only, this starts a fresh process.
    ///
    /// # Errors
    /// Whatever it did wrong.
    pub fn start(&mut self, _game: &Game, _seat: Seat, _clock: Option<Clock>) -> Result<(), Fault> {
        todo!()
    }

    /// Asks for a move, and checks it. The time is what the program took, by our clock.
    ///
    /// # Errors
    /// Whatever it did wrong; the game is lost for it by [`Fault::termination`].
    pub fn choose(&mut self, _game: &Game, _left: Option<Left>, _limits: &Limits) -> Result<(Move, Duration), Fault> {
        todo!()
    }

    /// Tells the program what was played, by either side. `game` is the game after `ply`; `left` is what the side
    /// that played it has left.
    ///
    /// # Errors
    /// Whatever it did wrong.
    pub fn played(&mut self, _game: &Game, _ply: Ply, _left: Option<Duration>) -> Result<(), Fault> {
        todo!()
    }

    /// The game is over. The process stays for the next one where the protocol allows it.
    pub fn finish(&mut self, _outcome: Option<&Outcome>) {
        todo!()
    }

    /// Asks the program to quit, then ends it and everything it started.
    pub fn close(self) {}
}
