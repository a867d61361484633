//! `kind = "branching"`: how many choices positions of games between players have, by face-down pieces. The other keys are
//! those of a [`PlanFile`](anqi_lab::PlanFile).

use anqi_lab::{MatchJournal, MatchJournalError, Plan};
use anqi_rules::Position;
use serde::{Deserialize, Serialize};

use super::games;
use crate::facts::{Facts, Quantity};
use crate::kind::{ExperimentKind, Told, Work};
use crate::number::{Number, show};
use crate::section::Section;
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// Games whose choices are counted.
#[derive(Debug)]
struct Branching(Plan);

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    Ok(Box::new(Branching(games::read_plan(table)?)))
}

impl ExperimentKind for Branching {
    fn text(&self) -> Result<String, toml::ser::Error> {
        games::text(&self.0)
    }

    fn size(&self) -> String {
        games::size(&self.0)
    }

    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        Ok(Box::new(Branching(games::with_pairs(&self.0, count)?)))
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.dir.join(RAW).is_file()
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let Some(journal) = games::play(&self.0, &run.dir, work)? else { return Ok(false) };
        games::write_records(&journal, &run.dir.join(games::GAMES))?;
        run.write_raw(&BranchingRow::all(&journal)?)?;
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let finished = self.is_finished(run);
        let rows = if finished {
            run.branching_rows()?
        } else {
            games::played(&run.dir)?.as_ref().map(BranchingRow::all).transpose()?.unwrap_or_default()
        };
        let printed = experiment.published::<PrintedBranching>()?;
        Ok(Told {
            measured: (usize::from(finished), 1, "tables"),
            printed: printed_facts(&printed),
            facts: measured_facts(&rows),
            sections: vec![choices(&self.0, &rows, &printed)],
            ..Told::default()
        })
    }

    fn games(&self) -> Option<&Plan> {
        Some(&self.0)
    }
}

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
}

/// A printed line about the branching factor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedBranching {
    /// How many pieces are face down, or `all`.
    pub hidden: String,
    /// Revealed pieces on the board.
    pub revealed: Option<f64>,
    /// Kinds that are face down.
    pub kinds: Option<f64>,
    /// Moves of revealed pieces.
    pub moves: f64,
    /// With flips.
    pub branching: f64,
}

/// Branching goes by the number of face-down pieces, or `all`.
fn measured_facts(rows: &[BranchingRow]) -> Facts {
    let mut facts = Facts::default();
    for row in rows {
        for (measure, number) in
            [(Quantity::Moves, row.moves()), (Quantity::Squares, row.squares()), (Quantity::Branching, row.branching())]
        {
            facts.add(measure, row.hidden.clone(), number);
        }
    }
    facts
}

fn printed_facts(rows: &[PrintedBranching]) -> Facts {
    let mut facts = Facts::default();
    for row in rows {
        for (measure, value) in [(Quantity::Moves, row.moves), (Quantity::Branching, row.branching)] {
            facts.add(measure, row.hidden.clone(), Number::new(value, 0.0));
        }
    }
    facts
}

/// What was counted beside the paper's formula and what it prints.
fn choices(plan: &Plan, rows: &[BranchingRow], printed: &[PrintedBranching]) -> Section {
    const COLUMNS: [&str; 13] = [
        "face down",
        "positions",
        "revealed",
        "printed",
        "kinds",
        "printed",
        "moves",
        "formula",
        "printed",
        "with squares",
        "with outcomes",
        "formula",
        "printed",
    ];
    let players: Vec<&str> = plan.contenders().iter().map(|contender| contender.name.as_str()).collect();
    let before = format!(
        "{} games between {}, rules {}, seed {}. Intervals are 95 %, over games. By \
         the formula of the paper, 2n + 4 moves for n revealed pieces, from the means of each line.",
        2 * plan.count(),
        players.join(", "),
        plan.rules(),
        plan.seed(),
    );
    let line = |row: &BranchingRow| {
        let there = printed.iter().find(|printed| printed.hidden == row.hidden);
        let dash = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value}"));
        let hidden: Option<f64> = row.hidden.parse().ok();
        let formula = hidden.map(|hidden| (2.0 * row.revealed + 4.0, 2.0 * row.revealed + 4.0 + hidden * row.kinds));
        let tenth = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
        vec![
            row.hidden.clone(),
            row.positions.to_string(),
            format!("{:.2}", row.revealed),
            dash(there.and_then(|there| there.revealed)),
            format!("{:.2}", row.kinds),
            dash(there.and_then(|there| there.kinds)),
            show(Some(row.moves()), 2),
            tenth(formula.map(|formula| formula.0)),
            dash(there.map(|there| there.moves)),
            show(Some(row.squares()), 2),
            show(Some(row.branching()), 2),
            tenth(formula.map(|formula| formula.1)),
            dash(there.map(|there| there.branching)),
        ]
    };
    Section { before, ..Section::table("Branching by face-down pieces", &COLUMNS, rows.iter().map(line).collect()) }
}
