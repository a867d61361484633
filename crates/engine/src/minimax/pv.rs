//! The principal variation, read back from the table.

use anqi_rules::{Move, Position};

use super::transposition::TranspositionTable;
use crate::line::SearchLine;

/// How the search thinks the game goes on after `first`, until a flip (nobody knows what comes up) or
/// until the table has forgotten.
pub(crate) fn principal_variation(
    table: Option<&TranspositionTable>,
    line: &SearchLine,
    root: &Position,
    first: Move,
    depth: u32,
) -> Vec<Move> {
    let mut pv = vec![first];
    let mut position = *root;
    let mut mv = first;
    for left in (1..depth).rev() {
        let Move::Step { from, to } = mv else { break };
        position = position.after_step(from, to);
        let entry = table.and_then(|table| table.get(line.key(&position, left)));
        match entry.and_then(|entry| entry.best) {
            Some(next) if position.is_legal(next) => mv = next,
            _ => break,
        }
        pv.push(mv);
    }
    pv
}
