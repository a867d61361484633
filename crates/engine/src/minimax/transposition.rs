//! The transposition table: what earlier searches found out about a position.

use std::sync::atomic::{AtomicU64, Ordering};

use anqi_rules::{Move, Square};

use crate::score::Score;

/// What a score says about the true value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Bound {
    /// It is the value.
    Exact,
    /// The value is at least this.
    Lower,
    /// The value is at most this.
    Upper,
}

/// What the table keeps of a position.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transposition {
    pub(crate) score: Score,
    pub(crate) depth: u8,
    pub(crate) bound: Bound,
    pub(crate) best: Option<Move>,
}

impl Transposition {
    /// The score, if it settles a search with this window.
    #[inline]
    pub(crate) fn settles(&self, alpha: Score, beta: Score) -> Option<Score> {
        let settled = match self.bound {
            Bound::Exact => true,
            Bound::Lower => self.score >= beta,
            Bound::Upper => self.score <= alpha,
        };
        settled.then_some(self.score)
    }
}

/// A table of fixed size, shared by threads without locks.
///
/// A slot is two words, the data and the key mixed with it: if two threads write at once, the words
/// do not fit and the slot reads as empty (Hyatt & Mann 2002).
#[derive(Debug)]
pub(crate) struct TranspositionTable {
    slots: Box<[Slot]>,
    /// How many bits of the key are kept: 64, or 32 as in the course program.
    key_mask: u64,
    /// Mixed into every key, and changed for every search: what earlier ones left is never found, and
    /// nothing needs to be cleared.
    salt: u64,
}

/// The mixed key, then the data.
type Slot = [AtomicU64; 2];

impl TranspositionTable {
    /// A table of at most `megabytes`.
    pub(crate) fn with_megabytes(megabytes: u32) -> TranspositionTable {
        let slots = (megabytes as usize * 1024 * 1024 / size_of::<Slot>()).max(1);
        TranspositionTable::new(slots.next_power_of_two() / if slots.is_power_of_two() { 1 } else { 2 }, u64::MAX)
    }

    /// A table of `slots`, a power of two, that keeps the bits of `key_mask` of each key.
    pub(crate) fn new(slots: usize, key_mask: u64) -> TranspositionTable {
        // Pages that are never written cost nothing, and most searches are short.
        TranspositionTable { slots: bytemuck::zeroed_slice_box(slots), key_mask, salt: 0 }
    }

    #[inline]
    fn slot(&self, key: u64) -> &Slot {
        &self.slots[key as usize & (self.slots.len() - 1)]
    }

    #[inline]
    pub(crate) fn get(&self, key: u64) -> Option<Transposition> {
        let key = key ^ self.salt;
        let [mixed, data] = self.slot(key);
        let data = data.load(Ordering::Relaxed);
        let same = mixed.load(Ordering::Relaxed) ^ data == key & self.key_mask;
        if same && data != 0 { unpack(data) } else { None }
    }

    /// Remembers an entry; the newest always wins, so that a search depends on nothing but its own past.
    #[inline]
    pub(crate) fn put(&self, key: u64, entry: Transposition) {
        let key = key ^ self.salt;
        let [mixed, stored] = self.slot(key);
        let data = pack(entry);
        stored.store(data, Ordering::Relaxed);
        mixed.store(data ^ key & self.key_mask, Ordering::Relaxed);
    }

    /// Forgets everything, so that the next search depends on nothing but its own past.
    pub(crate) fn renew(&mut self) {
        self.salt = self.salt.wrapping_add(0x9E37_79B9_7F4A_7C15); // visits all 2^64 values
        if self.key_mask != u64::MAX {
            // Short keys meet again too soon.
            self.slots.fill_with(Slot::default);
        }
    }
}

/// Score in the low 32 bits, then depth, bound (never 0), and the two squares of the move.
fn pack(entry: Transposition) -> u64 {
    let bound = match entry.bound {
        Bound::Exact => 1,
        Bound::Lower => 2,
        Bound::Upper => 3,
    };
    let mv = match entry.best {
        None => 0,
        Some(Move::Flip(square)) => 1 << 10 | square.index() << 5 | square.index(),
        Some(Move::Step { from, to }) => 1 << 10 | from.index() << 5 | to.index(),
    };
    u64::from(entry.score.0 as u32) | u64::from(entry.depth) << 32 | bound << 40 | (mv as u64) << 42
}

fn unpack(data: u64) -> Option<Transposition> {
    let bound = match data >> 40 & 3 {
        1 => Bound::Exact,
        2 => Bound::Lower,
        3 => Bound::Upper,
        _ => return None,
    };
    let mv = (data >> 42) as usize;
    let best = match (mv >> 10 & 1, Square::from_index(mv >> 5 & 31), Square::from_index(mv & 31)) {
        (1, Some(from), Some(to)) if from == to => Some(Move::Flip(from)),
        (1, Some(from), Some(to)) => Some(Move::Step { from, to }),
        _ => None,
    };
    Some(Transposition { score: Score(data as u32 as i32), depth: (data >> 32) as u8, bound, best })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gives_back_what_was_put() {
        let table = TranspositionTable::with_megabytes(1);
        let moves = ["a1-b1", "d8", "c4-c8"].map(|text| text.parse().ok());
        for (key, best) in (1..).zip(moves.into_iter().chain([None])) {
            for bound in [Bound::Exact, Bound::Lower, Bound::Upper] {
                for score in [Score(0), Score(-5), Score::win(12), Score::loss(0)] {
                    let entry = Transposition { score, depth: 17, bound, best };
                    table.put(key, entry);
                    assert_eq!(table.get(key), Some(entry));
                    assert_eq!(table.get(key + (1 << 40)), None);
                }
            }
        }
    }

    #[test]
    fn a_renewed_table_is_empty() {
        for key_mask in [u64::MAX, u64::from(u32::MAX)] {
            let mut table = TranspositionTable::new(1 << 4, key_mask);
            let entry = Transposition { score: Score(1), depth: 3, bound: Bound::Exact, best: None };
            (0..64).for_each(|key| table.put(key, entry));
            assert!((0..64).any(|key| table.get(key).is_some()));
            table.renew();
            assert!((0..64).all(|key| table.get(key).is_none()));
        }
    }

    #[test]
    fn an_entry_settles_what_its_bound_allows() {
        let entry = |bound| Transposition { score: Score(5), depth: 1, bound, best: None };
        assert_eq!(entry(Bound::Exact).settles(Score(0), Score(9)), Some(Score(5)));
        assert_eq!(entry(Bound::Lower).settles(Score(0), Score(5)), Some(Score(5)));
        assert_eq!(entry(Bound::Lower).settles(Score(0), Score(6)), None);
        assert_eq!(entry(Bound::Upper).settles(Score(5), Score(9)), Some(Score(5)));
        assert_eq!(entry(Bound::Upper).settles(Score(4), Score(9)), None);
    }
}
