//! `TableTally`: how many placements are won, drawn and lost.

use std::ops::{AddAssign, Mul};

use crate::{Distance, Value, Wdl};

/// Results over all placements of an ending with one side to move.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct TableTally {
    /// Placements won by the side to move.
    pub win: u64,
    /// Drawn ones.
    pub draw: u64,
    /// Lost ones.
    pub loss: u64,
    /// The longest win, if there is one.
    pub longest: Option<Distance>,
}

impl TableTally {
    /// Takes so many placements from the draws: they have this value.
    pub(crate) fn decide(&mut self, value: Value, placements: u64) {
        self.draw -= placements;
        match value.wdl() {
            Wdl::Win => {
                self.win += placements;
                self.longest = self.longest.max(value.distance());
            }
            Wdl::Draw => self.draw += placements,
            Wdl::Loss => self.loss += placements,
        }
    }
}

impl AddAssign for TableTally {
    fn add_assign(&mut self, other: TableTally) {
        self.win += other.win;
        self.draw += other.draw;
        self.loss += other.loss;
        self.longest = self.longest.max(other.longest);
    }
}

/// Every placement counted so many times.
impl Mul<u64> for TableTally {
    type Output = TableTally;

    fn mul(self, times: u64) -> TableTally {
        TableTally { win: self.win * times, draw: self.draw * times, loss: self.loss * times, ..self }
    }
}
