//! Experiments on the branching factor: how many choices positions of real games have, by face-down pieces.

use anqi_lab::{MatchJournal, MatchJournalError};
use anqi_rules::Position;
use serde::{Deserialize, Serialize};

use crate::number::Number;
use crate::{ExperimentError, RAW, Run, read_table};

/// What was counted: a row of `raw.csv`. Errors are those of a mean over games, not over positions: positions of one
/// game are alike.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BranchingRow {
    /// How many pieces are face down, or `all`.
    pub hidden: String,
    /// How many positions, each with a player to move.
    pub positions: u64,
    /// Mean of the revealed pieces on the board.
    pub revealed: f64,
    /// Mean of the kinds that are face down.
    pub kinds: f64,
    /// Mean of the moves of revealed pieces.
    pub moves: f64,
    /// Its standard error.
    pub moves_error: f64,
    /// Mean of moves and face-down squares.
    pub squares: f64,
    /// Its standard error.
    pub squares_error: f64,
    /// Mean of moves and, for each face-down square, the kinds that may lie there.
    pub branching: f64,
    /// Its standard error.
    pub branching_error: f64,
}

impl BranchingRow {
    /// Moves of revealed pieces.
    #[must_use]
    pub const fn moves(&self) -> Number {
        Number::new(self.moves, self.moves_error)
    }

    /// Moves and face-down squares.
    #[must_use]
    pub const fn squares(&self) -> Number {
        Number::new(self.squares, self.squares_error)
    }

    /// Moves and outcomes of flips.
    #[must_use]
    pub const fn branching(&self) -> Number {
        Number::new(self.branching, self.branching_error)
    }

    /// Everything that a journal has: one row for each number of face-down pieces, the last for all.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn all(journal: &MatchJournal) -> Result<Vec<BranchingRow>, MatchJournalError> {
        let squares = journal.plan().rules().board().squares().len() as usize;
        let mut counts = vec![PositionCount::default(); squares + 2];
        for number in (0..journal.plan().count()).filter(|&number| journal.has(number)) {
            for record in journal.pair(number)?.games {
                let Ok(replay) = anqi_records::replay(&record, None) else { continue };
                let positions = replay.game.positions();
                let decided = &positions[..positions.len() - 1];
                for (place, count) in counts.iter_mut().enumerate() {
                    let of = |position: &&Position| place > squares || position.hidden().len() as usize == place;
                    count.add_game(decided.iter().filter(of));
                }
            }
        }
        let name = |place: usize| if place > squares { "all".to_owned() } else { place.to_string() };
        let rows = counts.iter().enumerate().filter(|(_, count)| count.positions > 0.0);
        Ok(rows.map(|(place, count)| count.row(name(place))).collect())
    }
}

/// Sums over games of what positions have: revealed pieces, kinds, moves, squares, branching.
#[derive(Clone, Default)]
struct PositionCount {
    positions: f64,
    /// Over games, of the number of positions squared.
    squared: f64,
    sums: [Sums; 5],
}

/// What a ratio of sums needs for its error.
#[derive(Clone, Copy, Default)]
struct Sums {
    sum: f64,
    squared: f64,
    with_positions: f64,
}

impl PositionCount {
    fn add_game<'a>(&mut self, positions: impl Iterator<Item = &'a Position>) {
        let (mut count, mut sums) = (0.0, [0.0; 5]);
        for position in positions {
            count += 1.0;
            let (hidden, kinds, moves) = (position.hidden().len(), position.pool().kinds(), position.count_steps());
            let revealed = position.occupied().len() - hidden;
            for (sum, value) in sums.iter_mut().zip([revealed, kinds, moves, moves + hidden, moves + hidden * kinds]) {
                *sum += f64::from(value);
            }
        }
        self.positions += count;
        self.squared += count * count;
        for (sums, sum) in self.sums.iter_mut().zip(sums) {
            sums.sum += sum;
            sums.squared += sum * sum;
            sums.with_positions += sum * count;
        }
    }

    /// Mean over positions, and its error over games (the linearised variance of a ratio).
    fn ratio(&self, sums: &Sums) -> (f64, f64) {
        let mean = sums.sum / self.positions;
        let variance = sums.squared - 2.0 * mean * sums.with_positions + mean * mean * self.squared;
        // Four places are more than the numbers have, and keep the table readable.
        let round = |value: f64| (value * 1e4).round() / 1e4;
        (round(mean), round(variance.max(0.0).sqrt() / self.positions))
    }

    fn row(&self, hidden: String) -> BranchingRow {
        let [revealed, kinds, moves, squares, branching] = std::array::from_fn(|place| self.ratio(&self.sums[place]));
        BranchingRow {
            hidden,
            positions: self.positions as u64,
            revealed: revealed.0,
            kinds: kinds.0,
            moves: moves.0,
            moves_error: moves.1,
            squares: squares.0,
            squares_error: squares.1,
            branching: branching.0,
            branching_error: branching.1,
        }
    }
}

impl Run {
    /// The rows of a finished run.
    ///
    /// # Errors
    /// If the table is not there or cannot be read.
    pub fn branching_rows(&self) -> Result<Vec<BranchingRow>, ExperimentError> {
        read_table(&self.dir.join(RAW))
    }

    /// Writes the rows down: the run is finished.
    ///
    /// # Errors
    /// If that fails.
    pub fn write_branching_rows(&self, rows: &[BranchingRow]) -> Result<(), ExperimentError> {
        self.write_raw(rows)
    }
}
