//! Experiments of matches: one row for each pairing.

use anqi_lab::{MatchJournal, MatchJournalError};
use anqi_stats::{Games, Pairs, Points};
use serde::{Deserialize, Serialize};

use crate::{ExperimentError, RAW, Run, read_table};

/// What was played: a row of `raw.csv`, from the point of view of `player`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchRow {
    /// Its name.
    pub player: String,
    /// The other's name.
    pub opponent: String,
    /// Games won when it moved first.
    pub first_wins: u64,
    /// Lost.
    pub first_losses: u64,
    /// Drawn.
    pub first_draws: u64,
    /// Games won when it moved second.
    pub second_wins: u64,
    /// Lost.
    pub second_losses: u64,
    /// Drawn.
    pub second_draws: u64,
    /// Pairs of games that brought no point.
    pub pairs_0: u64,
    /// Half a point.
    pub pairs_half: u64,
    /// One point.
    pub pairs_1: u64,
    /// One and a half.
    pub pairs_1_half: u64,
    /// Both points.
    pub pairs_2: u64,
}

impl MatchRow {
    /// The pairings of a journal, as far as they were played, in the order of the plan.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn all(journal: &MatchJournal) -> Result<Vec<MatchRow>, MatchJournalError> {
        let plan = journal.plan();
        let name = |player: usize| plan.contenders()[player].name.clone();
        let row = |&[one, two]: &[usize; 2]| MatchRow { player: name(one), opponent: name(two), ..MatchRow::default() };
        let mut rows: Vec<MatchRow> = plan.pairings().iter().map(row).collect();
        for number in (0..plan.count()).filter(|&number| journal.has(number)) {
            let pairing = (number % rows.len() as u64) as usize;
            rows[pairing].add(journal.pair(number)?.points());
        }
        Ok(rows)
    }

    /// Counts a pair: the game in which `player` moved first, and the other.
    pub fn add(&mut self, [first, second]: [Points; 2]) {
        *match first {
            Points::Win => &mut self.first_wins,
            Points::Loss => &mut self.first_losses,
            Points::Draw => &mut self.first_draws,
        } += 1;
        *match second {
            Points::Win => &mut self.second_wins,
            Points::Loss => &mut self.second_losses,
            Points::Draw => &mut self.second_draws,
        } += 1;
        *match first.half_points() + second.half_points() {
            0 => &mut self.pairs_0,
            1 => &mut self.pairs_half,
            2 => &mut self.pairs_1,
            3 => &mut self.pairs_1_half,
            _ => &mut self.pairs_2,
        } += 1;
    }

    /// The games in which `player` moved first.
    #[must_use]
    pub const fn first(&self) -> Games {
        Games([self.first_losses, self.first_draws, self.first_wins])
    }

    /// The games in which `player` moved second.
    #[must_use]
    pub const fn second(&self) -> Games {
        Games([self.second_losses, self.second_draws, self.second_wins])
    }

    /// All games.
    #[must_use]
    pub fn games(&self) -> Games {
        Games(std::array::from_fn(|index| self.first().0[index] + self.second().0[index]))
    }

    /// The pairs by their points.
    #[must_use]
    pub const fn pairs(&self) -> Pairs {
        Pairs([self.pairs_0, self.pairs_half, self.pairs_1, self.pairs_1_half, self.pairs_2])
    }

    /// The same from the point of view of `opponent`.
    #[must_use]
    pub fn inverted(self) -> MatchRow {
        MatchRow {
            player: self.opponent,
            opponent: self.player,
            first_wins: self.second_losses,
            first_losses: self.second_wins,
            first_draws: self.second_draws,
            second_wins: self.first_losses,
            second_losses: self.first_wins,
            second_draws: self.first_draws,
            pairs_0: self.pairs_2,
            pairs_half: self.pairs_1_half,
            pairs_1: self.pairs_1,
            pairs_1_half: self.pairs_half,
            pairs_2: self.pairs_0,
        }
    }
}

impl Run {
    /// The pairings of a finished run.
    ///
    /// # Errors
    /// If the table is not there or cannot be read.
    pub fn match_rows(&self) -> Result<Vec<MatchRow>, ExperimentError> {
        read_table(&self.dir.join(RAW))
    }

    /// Writes the pairings down: the run is finished.
    ///
    /// # Errors
    /// If that fails.
    pub fn write_match_rows(&self, rows: &[MatchRow]) -> Result<(), ExperimentError> {
        self.write_raw(rows)
    }
}
