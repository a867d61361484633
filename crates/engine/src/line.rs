//! The line from the start of the game to the node: what draws depend on.

use std::sync::Arc;

use anqi_rules::{Game, Position, Repeat};

use crate::resources::Resources;
use crate::score::Score;
use crate::tables::{GameTables, TablesOption};

/// The hashes of all positions before the node, and the draw rules.
///
/// Inside a search one repetition counts as a draw, whatever the rules demand: if a line can be
/// repeated once it can be repeated until the rules are satisfied, and the side that gains by it will.
#[derive(Clone, Debug)]
pub(crate) struct SearchLine {
    hashes: Vec<u64>,
    draw: u16,
    repeats: bool,
    tables: Option<Arc<GameTables>>,
}

impl SearchLine {
    pub(crate) fn new(game: &Game, tables: &TablesOption, resources: &Resources) -> SearchLine {
        let before = &game.positions()[..game.plies().len()];
        SearchLine {
            hashes: before.iter().map(Position::hash).collect(),
            draw: game.rules().draw().unwrap_or(u16::MAX),
            // Where nothing else ends it, endless quiet play is a draw.
            repeats: game.rules().repeat() != Repeat::Off || game.rules().draw().is_none(),
            tables: resources.tables(tables, game),
        }
    }

    #[inline]
    pub(crate) fn push(&mut self, position: &Position) {
        self.hashes.push(position.hash());
    }

    #[inline]
    pub(crate) fn pop(&mut self) {
        self.hashes.pop();
    }

    /// How many positions there are before the node.
    pub(crate) fn len(&self) -> usize {
        self.hashes.len()
    }

    /// Goes back to where there were so many positions before the node.
    #[inline]
    pub(crate) fn truncate(&mut self, len: usize) {
        self.hashes.truncate(len);
    }

    /// How the game ends here without looking at moves, if that is known: the side to move has nothing left,
    /// there were too many quiet plies, or a table says so.
    #[inline]
    pub(crate) fn ended(&self, position: &Position, depth: u32) -> Option<Score> {
        if position.turn().is_some_and(|turn| position.remaining(turn) == 0) {
            return Some(Score::loss(depth));
        }
        if position.quiet() >= self.draw {
            return Some(Score::DRAW);
        }
        self.tables.as_ref().and_then(|tables| tables.score(position))
    }

    /// Whether this position was there before, with nothing but quiet plies between.
    #[inline]
    pub(crate) fn is_repetition(&self, position: &Position) -> bool {
        // Neither side can be back where it was in less than four plies.
        let back = self.hashes.len().min(usize::from(position.quiet()));
        self.repeats
            && back >= 4
            && (4..=back).step_by(2).any(|ago| self.hashes[self.hashes.len() - ago] == position.hash())
    }

    /// The key of a position and of how many quiet plies are left to it.
    #[inline]
    pub(crate) fn full_key(&self, position: &Position) -> u64 {
        let quiet = if self.draw == u16::MAX { 0 } else { u64::from(position.quiet()) };
        position.hash() ^ quiet.wrapping_mul(0x9E37_79B9_7F4A_7C15)
    }

    /// The key of a position in the table. Near the limit the quiet plies are part of it, and wherever an endgame table
    /// may be asked, which looks as far ahead as the limit.
    #[inline]
    pub(crate) fn key(&self, position: &Position, depth: u32) -> u64 {
        if self.tables.is_some() && position.hidden().is_empty() {
            return self.full_key(position);
        }
        let quiet = u32::from(position.quiet());
        if quiet + depth >= u32::from(self.draw) {
            position.hash() ^ u64::from(quiet + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        } else {
            position.hash()
        }
    }
}
