//! What tables say about the moves of a position.

use std::cmp::Reverse;

use anqi_rules::{Move, Position};

use crate::{Distance, Measure, TableError, Tablebase, Value, Wdl};

/// A move and what it leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Action {
    /// The move.
    pub mv: Move,
    /// What it is worth to the mover; the distance counts from before the move.
    pub value: Value,
}

/// How a position is played to its end.
#[derive(Clone, PartialEq, Debug)]
pub struct PerfectLine {
    /// The moves.
    pub moves: Vec<Move>,
    /// Where they lead.
    pub end: Position,
}

impl Tablebase {
    /// The value of a position with the quiet plies that it has behind it. A table of conversions under a draw rule
    /// knows it for any number of them, one of outcomes only for none.
    ///
    /// # Errors
    /// If the file of a table cannot be read or is damaged.
    pub fn judge(&self, position: &Position) -> Result<Option<Value>, TableError> {
        Ok(self.probe(position)?.map(|value| self.in_time(value, position.quiet())))
    }

    fn in_time(&self, value: Value, quiet: u16) -> Value {
        match (self.flavour().draw(), value.distance()) {
            (Some(draw), Some(Distance(plies))) if plies > 0 && plies > draw.saturating_sub(quiet) => Value::DRAW,
            _ => value,
        }
    }

    /// Every move of a position with its value, the best first: the shortest win, draws, the longest loss. `None` if a
    /// move leads to where there is no table, or if there are none because a piece is face down.
    ///
    /// # Errors
    /// If the file of a table cannot be read or is damaged.
    pub fn actions(&self, position: &Position) -> Result<Option<Vec<Action>>, TableError> {
        let mut actions = Vec::new();
        for &mv in &position.moves() {
            let Move::Step { from, to } = mv else { return Ok(None) };
            let after = position.after_step(from, to);
            let value = if after.turn().is_some_and(|turn| after.remaining(turn) == 0) {
                Value::loss(Distance(0))
            } else {
                let Some(value) = self.judge(&after)? else { return Ok(None) };
                value
            };
            actions.push(Action { mv, value: self.before(value, after.quiet() == 0) });
        }
        actions.sort_by_key(|action| action.value.preference());
        Ok(Some(actions))
    }

    /// Perfect play from a position to its end, or to where it is drawn: the winner hurries, the loser delays. If no table
    /// says something about a position on the way, that is given instead.
    ///
    /// # Errors
    /// If the file of a table cannot be read or is damaged.
    pub fn line(&self, start: &Position) -> Result<Result<PerfectLine, Position>, TableError> {
        let mut line = PerfectLine { moves: Vec::new(), end: *start };
        loop {
            let Some(value) = self.judge(&line.end)? else {
                return Ok(if line.moves.is_empty() { Err(line.end) } else { Ok(line) });
            };
            if value.distance().is_none() {
                return Ok(Ok(line)); // a draw has no end
            }
            let Some(actions) = self.actions(&line.end)? else { return Ok(Err(line.end)) };
            let Some(&Action { mv: mv @ Move::Step { from, to }, .. }) = actions.first() else { return Ok(Ok(line)) };
            line.moves.push(mv);
            line.end = line.end.after_step(from, to);
        }
    }

    /// What a move is worth after which the enemy faces `value`.
    fn before(&self, value: Value, capture: bool) -> Value {
        let Some(Distance(plies)) = value.distance() else { return Value::DRAW };
        let distance = Distance(match self.flavour().measure() {
            Measure::Outcome => 0,
            Measure::Conversion if capture => 1,
            _ => plies + 1,
        });
        if value.wdl() == Wdl::Loss { Value::win(distance) } else { Value::loss(distance) }
    }
}

impl Value {
    /// Sorts values as a player likes them: the shortest win first, the longest loss before shorter ones.
    fn preference(self) -> (Reverse<Wdl>, i32) {
        let plies = self.distance().map_or(0, |Distance(plies)| i32::from(plies));
        (Reverse(self.wdl()), if self.wdl() == Wdl::Loss { -plies } else { plies })
    }
}
