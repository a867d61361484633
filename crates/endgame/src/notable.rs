//! What stands out in a table: its longest wins and its mutual zugzwangs.

use anqi_rules::{ByColor, Color};

use crate::{Placement, Table, Wdl};

/// A placement in which each side does better if the other one is to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Zugzwang {
    /// The placement; its side to move means nothing.
    pub placement: Placement,
    /// What it is worth to each side if it is to move.
    pub outcomes: ByColor<Wdl>,
}

impl Table {
    /// For each side to move the first placement whose win takes longest; `None` if it never wins.
    #[must_use]
    pub fn longest_wins(&self) -> ByColor<Option<Placement>> {
        let mut found: ByColor<Option<Placement>> = ByColor::default();
        for placement in (0..self.index().places()).filter_map(|place| self.index().placement(place)) {
            let value = self.value(&placement);
            if found[placement.turn].is_none()
                && value.wdl() == Wdl::Win
                && value.distance() == self.tally()[placement.turn].longest
            {
                found[placement.turn] = Some(placement);
            }
        }
        found
    }

    /// All mutual zugzwangs, one of each four that are reflections.
    ///
    /// ```
    /// use anqi_endgame::Tables;
    ///
    /// let mut tables = Tables::default();
    /// tables.build(["N-pp".parse()?], std::num::NonZeroUsize::MIN)?;
    /// let (table, _) = tables.table(&"N-pp".parse()?).ok_or("not built")?;
    /// assert_eq!(table.mutual_zugzwangs().count(), 2);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn mutual_zugzwangs(&self) -> impl Iterator<Item = Zugzwang> {
        // Places of one side to move: those of the other are the same.
        (0..self.index().places() / 2).filter_map(|place| self.zugzwang(place))
    }

    fn zugzwang(&self, place: usize) -> Option<Zugzwang> {
        let placement = self.index().placement(place)?;
        let outcomes = self.outcomes(&placement);
        // Of the places of a placement, its reflections and its copies with equal pieces exchanged, the first counts.
        let is_zugzwang = outcomes[Color::Red] < outcomes[Color::Black].reversed();
        let first = || placement.reflections().map(|reflection| self.index().place(&reflection)).min();
        (is_zugzwang && first() == Some(place)).then_some(Zugzwang { placement, outcomes })
    }

    /// What a placement is worth to each side if it is to move.
    fn outcomes(&self, placement: &Placement) -> ByColor<Wdl> {
        ByColor(Color::ALL.map(|turn| self.value(&Placement { turn, ..*placement }).wdl()))
    }
}
