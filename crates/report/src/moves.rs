//! Games as the page replays them: what changes on the board at each ply.

use anqi_records::{Record, replay};
use serde::Serialize;

/// A record that the rules refuse has nothing to show.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("game {round} cannot be replayed: {reason}")]
pub struct UnplayableGame {
    /// Which game.
    pub round: String,
    /// Why not.
    pub reason: String,
}

/// A game for the page.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Moves {
    pub(crate) round: String,
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) result: String,
    pub(crate) ending: String,
    /// Files and ranks.
    size: [u8; 2],
    /// The board at the start, rank by rank from the top: letters are pieces, `x` is face down, `.` is empty.
    start: String,
    plies: Vec<ReplayStep>,
}

/// A ply, what it changes, and what the record says about it.
type ReplayStep = (String, Vec<SquareChange>, String);

/// A place in `start`, and what is there afterwards.
type SquareChange = (usize, char);

impl Moves {
    pub(crate) fn of(record: &Record) -> Result<Moves, UnplayableGame> {
        let tag = |name: &str| record.tags().get(name).unwrap_or("?").to_owned();
        let bad = |reason: String| UnplayableGame { round: tag("Round"), reason };
        let replay = replay(record, None).map_err(|error| bad(error.to_string()))?;
        if let Some(illegal) = replay.illegal {
            return Err(bad(format!("ply {}: {}", illegal.ply, illegal.error)));
        }
        let positions = replay.game.positions();
        let size = positions[0].board();
        let boards: Vec<Vec<char>> = positions.iter().map(|position| position.letters().collect()).collect();
        let plies = replay.game.plies().iter().zip(boards.windows(2)).zip(record.plies());
        let plies = plies.map(|((ply, boards), played)| {
            let changed = boards[0].iter().zip(&boards[1]).enumerate().filter(|(_, (before, after))| before != after);
            let changes = changed.map(|(place, (_, after))| (place, *after)).collect();
            (ply.to_string(), changes, played.comment.to_string())
        });
        Ok(Moves {
            round: tag("Round"),
            first: tag("First"),
            second: tag("Second"),
            result: record.result().to_string(),
            ending: tag("Termination"),
            size: [size.files(), size.ranks()],
            start: boards[0].iter().collect(),
            plies: plies.collect(),
        })
    }
}
