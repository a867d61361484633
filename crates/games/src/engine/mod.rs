//! Engines: what a position is worth, and what to play in it.

mod gtp;
mod spec;
mod standby;
mod uci;

use std::fmt;

use anqi_protocol::Fault;

use crate::board::WinOrDraw;
use crate::record::{GameKind, PlayedPosition};
use crate::score::EngineValue;

pub use spec::{EngineSpec, EngineSpecError, GameProtocol};
pub use standby::{Asked, Standby, Twice};

/// A running engine of one game.
///
/// Every question stands for itself: what was asked before does not change an answer, as far as the engine can forget. So
/// an engine that is deterministic by itself gives the same answers in any order, and to any number of processes.
pub trait Engine: fmt::Debug + Send {
    /// What it calls itself.
    fn name(&self) -> &str;

    /// The game it plays.
    fn kind(&self) -> GameKind;

    /// What the position is worth to the side to move.
    ///
    /// # Errors
    /// Whatever the engine did wrong; it is to be dropped then.
    fn evaluate(&mut self, position: &PlayedPosition<'_>) -> Result<EngineValue, Fault>;

    /// What to play, and what the engine says of the position if it does. `seed` is for engines that have a seed.
    ///
    /// # Errors
    /// Whatever the engine did wrong; it is to be dropped then.
    fn choose(&mut self, position: &PlayedPosition<'_>, seed: u64) -> Result<(EngineMove, Option<EngineValue>), Fault>;

    /// Who has won a game that is to be counted; `None` if the engine cannot tell.
    ///
    /// # Errors
    /// Whatever the engine did wrong; it is to be dropped then.
    fn count(&mut self, position: &PlayedPosition<'_>) -> Result<Option<WinOrDraw>, Fault>;

    /// Says goodbye. An engine that is merely dropped is killed.
    fn quit(self: Box<Self>);
}

/// What an engine wants to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EngineMove {
    /// A move, as it wrote it.
    Move(String),
    /// To give up.
    Resign,
    /// To claim a win, as shogi allows who has entered the camp of the other.
    Win,
}
