//! `Table`: the values of a class in memory.

use anqi_rules::{ByColor, SquareSet};

use crate::index::{BLOCK_PLACES, Block, Placement};
use crate::{Class, Flavour, Index, TableTally, Value};

/// A class with the value of each of its placements.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Table {
    class: Class,
    index: Index,
    flavour: Flavour,
    values: Values,
    tally: ByColor<TableTally>,
}

/// Values by place, gaps included: in bytes as long as they fit.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Values {
    Narrow(Vec<u8>),
    Wide(Vec<u16>),
}

impl Values {
    /// All drawn.
    pub(crate) fn new(places: usize) -> Values {
        Values::Narrow(vec![0; places])
    }

    #[inline]
    pub(crate) fn get(&self, place: usize) -> Value {
        Value::from_code(match self {
            Values::Narrow(codes) => u16::from(codes[place]),
            Values::Wide(codes) => codes[place],
        })
    }

    /// Enters a value for some placements of a block.
    pub(crate) fn set(&mut self, block: usize, bits: &Block, value: Value) {
        let places = block * BLOCK_PLACES..(block + 1) * BLOCK_PLACES;
        if let Values::Narrow(codes) = self {
            if let Ok(code) = u8::try_from(value.code()) {
                return enter(&mut codes[places], bits, code);
            }
            *self = Values::Wide(codes.iter().copied().map(u16::from).collect());
        }
        if let Values::Wide(codes) = self {
            enter(&mut codes[places], bits, value.code());
        }
    }
}

impl Values {
    /// Enters wins and losses without distances for a whole block, which was drawn.
    pub(crate) fn set_outcomes(&mut self, block: usize, won: &Block, lost: &Block) {
        let Values::Narrow(codes) = self else { unreachable!("outcomes fit into bytes") };
        let places = block * BLOCK_PLACES..(block + 1) * BLOCK_PLACES;
        for ((codes, won), lost) in codes[places].chunks_exact_mut(32).zip(won).zip(lost) {
            for (square, code) in codes.iter_mut().enumerate() {
                // A loss is 1, a win 2: see `Value`.
                *code = (lost >> square & 1 | (won >> square & 1) << 1) as u8;
            }
        }
    }
}

fn enter<T: Copy>(codes: &mut [T], bits: &Block, code: T) {
    for (row, &bits) in codes.chunks_exact_mut(32).zip(bits) {
        for square in SquareSet(bits) {
            row[square.index()] = code;
        }
    }
}

impl Table {
    /// `tally` is over all placements, each as often as it is in the table.
    pub(crate) fn new(
        class: Class,
        index: Index,
        flavour: Flavour,
        values: Values,
        tally: ByColor<TableTally>,
    ) -> Table {
        let copies = index.copies();
        let each = |TableTally { win, draw, loss, longest }: TableTally| TableTally {
            win: win / copies,
            draw: draw / copies,
            loss: loss / copies,
            longest,
        };
        Table { class, index, flavour, values, tally: ByColor(tally.0.map(each)) }
    }

    /// The class.
    #[must_use]
    pub const fn class(&self) -> &Class {
        &self.class
    }

    /// The places.
    #[must_use]
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// What it says, and under which rule.
    #[must_use]
    pub const fn flavour(&self) -> Flavour {
        self.flavour
    }

    #[cfg(feature = "files")]
    pub(crate) const fn values(&self) -> &Values {
        &self.values
    }

    /// The results by the side to move, over all placements.
    #[must_use]
    pub const fn tally(&self) -> &ByColor<TableTally> {
        &self.tally
    }

    /// The value of a placement for the side to move.
    #[must_use]
    #[inline]
    pub fn value(&self, placement: &Placement) -> Value {
        self.values.get(self.index.place(placement))
    }
}
