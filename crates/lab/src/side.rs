//! `Side`: one side of a game as the referee sees it.

use std::time::Duration;

use anqi_engine::{Choice, Player, Stop};
use anqi_protocol::{Fault, Outside};
use anqi_rules::{Game, Move, Outcome, Ply, Seat};

use anqi_play::{Budget, Clock, Left};

/// One side of a game. It is given the public game and never the deal, so nothing it does can depend on what lies
/// face down.
pub trait Side {
    /// A game begins, in which it plays `seat`.
    ///
    /// # Errors
    /// Whatever it did wrong.
    fn begin(&mut self, game: &Game, seat: Seat, clock: Option<Clock>, stop: &Stop) -> Result<(), Fault>;

    /// It is to move.
    ///
    /// # Errors
    /// Whatever it did wrong.
    fn choose(&mut self, game: &Game, budget: &Budget, left: Option<Left>, stop: &Stop) -> Result<Answer, Fault>;

    /// A ply was made; `game` is the game after it, `left` the clock of the side that made it.
    ///
    /// # Errors
    /// Whatever it did wrong.
    fn played(&mut self, game: &Game, ply: Ply, left: Option<Duration>, stop: &Stop) -> Result<(), Fault>;

    /// The game is over.
    fn end(&mut self, outcome: Option<&Outcome>);
}

/// A move, unchecked, and what went into it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Answer {
    /// The move.
    pub mv: Move,
    /// What is known of the reasons.
    pub thought: Thought,
    /// What it took, if the side measured that and judged it by its clock itself.
    pub used: Option<Duration>,
}

/// What is known about the thinking behind a ply.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Thought {
    /// What the mover thinks of it.
    pub eval: Option<f64>,
    /// How deep it looked.
    pub depth: Option<u32>,
    /// At how many positions.
    pub nodes: Option<u64>,
    /// Over how many random games.
    pub playouts: Option<u64>,
    /// What the mover's clock shows afterwards.
    pub clock: Option<Duration>,
    /// What the ply took; only where time is part of the game.
    pub used: Option<Duration>,
}

impl From<&Choice> for Thought {
    fn from(choice: &Choice) -> Thought {
        let some = |number: u64| (number > 0).then_some(number);
        let (nodes, playouts) = (some(choice.stats.nodes), some(choice.stats.playouts));
        Thought {
            // Who looked at nothing thinks nothing.
            eval: (nodes.is_some() || playouts.is_some()).then_some(f64::from(choice.score.0)),
            depth: (choice.stats.depth > 0).then_some(choice.stats.depth),
            nodes,
            playouts,
            ..Thought::default()
        }
    }
}

/// A player of ours.
#[expect(missing_debug_implementations, reason = "players have none")]
pub struct Insider(pub Box<dyn Player>);

impl Side for Insider {
    fn begin(&mut self, _: &Game, _: Seat, _: Option<Clock>, _: &Stop) -> Result<(), Fault> {
        Ok(())
    }

    fn choose(&mut self, game: &Game, budget: &Budget, left: Option<Left>, stop: &Stop) -> Result<Answer, Fault> {
        let limits = budget.limits_now(game, left.map(|left| left.own));
        let choice = self.0.choose(game, &limits, stop).ok_or(Fault::Resigned)?;
        Ok(Answer { mv: choice.mv, thought: Thought::from(&choice), used: None })
    }

    fn played(&mut self, _: &Game, _: Ply, _: Option<Duration>, _: &Stop) -> Result<(), Fault> {
        Ok(())
    }

    fn end(&mut self, _: Option<&Outcome>) {}
}

/// An outside program.
impl Side for Outside {
    fn begin(&mut self, game: &Game, seat: Seat, clock: Option<Clock>, _: &Stop) -> Result<(), Fault> {
        self.start(game, seat, clock)
    }

    fn choose(&mut self, game: &Game, budget: &Budget, left: Option<Left>, _: &Stop) -> Result<Answer, Fault> {
        let (mv, used) = Outside::choose(self, game, left, &budget.limits)?;
        Ok(Answer { mv, thought: Thought::default(), used: Some(used) })
    }

    fn played(&mut self, game: &Game, ply: Ply, left: Option<Duration>, _: &Stop) -> Result<(), Fault> {
        Outside::played(self, game, ply, left)
    }

    fn end(&mut self, outcome: Option<&Outcome>) {
        self.finish(outcome);
    }
}
