//! `Tables`: solved classes, how they are built on each other, and what they say.

use std::collections::{BTreeMap, BTreeSet};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use anqi_rules::{BoardSize, ByColor, Ladder, Position};
use anqi_task::together;

use crate::index::{MOST_PIECES, Placement};
use crate::retrograde::solve;
use crate::{Class, Ending, Flavour, Grouping, Index, Table, TableTally, Value};

/// Solved classes, with every class that a capture leads to.
///
/// ```
/// use anqi_endgame::{Distance, Tables, Wdl};
///
/// let mut tables = Tables::default();
/// tables.build(["N-pp".parse()?], 1.try_into()?)?;
/// let value = tables.probe(&"4/4/4/4/4/4/p2p/N3 b -".parse()?).ok_or("not built")?;
/// assert_eq!(value.wdl(), Wdl::Draw);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Tables {
    flavour: Flavour,
    tables: BTreeMap<Class, Arc<Table>>,
}

/// Why tables cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableBuildError {
    /// The ending is too large.
    #[error("{0} has more than {MOST_PIECES} pieces")]
    TooManyPieces(Ending),
}

/// Distances to the end of the game.
impl Default for Tables {
    fn default() -> Tables {
        Tables::new(Flavour::END)
    }
}

impl Tables {
    /// No tables yet, of a flavour.
    #[must_use]
    pub const fn new(flavour: Flavour) -> Tables {
        Tables { flavour, tables: BTreeMap::new() }
    }

    /// What they say, and under which rule.
    #[must_use]
    pub const fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// Solves the classes of `endings` and all that captures lead to, as far as they are not solved yet. Classes of
    /// one size do not need each other, so `threads` share them; the tables are the same for any number of threads.
    ///
    /// # Errors
    /// If an ending has more than [`MOST_PIECES`] pieces; nothing is built then.
    pub fn build(
        &mut self,
        endings: impl IntoIterator<Item = Ending>,
        threads: NonZeroUsize,
    ) -> Result<(), TableBuildError> {
        let levels = Class::levels(endings).map_err(TableBuildError::TooManyPieces)?;
        for level in levels {
            self.build_level(level, threads);
        }
        Ok(())
    }

    fn build_level(&mut self, mut level: BTreeSet<Class>, threads: NonZeroUsize) {
        level.retain(|class| !self.tables.contains_key(class));
        // The largest first, so that no thread is left alone with one of them at the end.
        let mut classes: Vec<Class> = level.into_iter().collect();
        classes.sort_by_cached_key(|class| std::cmp::Reverse(Index::new(class).map(|index| index.places())));
        let (next, solved) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        together(threads.get().min(classes.len()), |_| {
            while let Some(class) = classes.get(next.fetch_add(1, Ordering::Relaxed)) {
                let table = solve(class, self.flavour, |smaller| self.tables.get(smaller).map(|table| &**table));
                solved.lock().unwrap_or_else(PoisonError::into_inner).extend(table);
            }
        });
        let solved = solved.into_inner().unwrap_or_else(PoisonError::into_inner);
        self.tables.extend(solved.into_iter().map(|table| (table.class().clone(), Arc::new(table))));
    }

    /// The solved tables.
    pub fn iter(&self) -> impl Iterator<Item = &Table> {
        self.tables.values().map(|table| &**table)
    }

    /// The table of an ending and how to read it.
    #[must_use]
    pub fn table(&self, ending: &Ending) -> Option<(&Table, Grouping)> {
        let grouping = Class::of(ending);
        Some((self.tables.get(&grouping.class)?, grouping))
    }

    /// The table of an ending, to be kept.
    pub(crate) fn shared(&self, ending: &Ending) -> Option<Arc<Table>> {
        self.tables.get(&Class::of(ending).class).cloned()
    }

    /// The value of a position for the side to move. `None` if a piece is face down, a side has nothing left, the
    /// board or the ladder is another one, or the class is not built.
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Value> {
        let usual = position.board() == BoardSize::FourByEight && position.ladder() == Ladder::Taiwan;
        if !usual || !position.hidden().is_empty() {
            return None;
        }
        let ending = Ending::try_from(position.revealed()).ok()?;
        let (table, grouping) = self.table(&ending)?;
        let mut placement = Placement { sets: [0; MOST_PIECES], turn: grouping.color(position.turn()?) };
        for square in position.occupied() {
            placement.sets[grouping.part(position.piece_at(square)?.index())] |= square.set().0;
        }
        Some(table.value(&placement))
    }

    /// The results over all placements of an ending, by the side to move.
    #[must_use]
    pub fn tally(&self, ending: &Ending) -> Option<ByColor<TableTally>> {
        let (table, grouping) = self.table(ending)?;
        Some(grouping.tally(ending, table.tally()))
    }
}
