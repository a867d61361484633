//! How the threads of a search share the work.

use std::sync::atomic::{AtomicU64, Ordering};

use anqi_rules::Move;
use arrayvec::ArrayVec;

use crate::score::Score;

/// Threads that search one position together.
///
/// A thread leaves a move that another is at for later (ABDADA; Weill 1996, simplified by Kerrigan): by then the table mostly
/// answers for it, and if not, both go into it and share what lies below. So does it with what a flip may show.
///
/// What one thread leaves in the table of the outcomes of a flip does not always settle them for another, because the window
/// of an outcome follows from those before it. Of a flip at the root as a whole it does; therefore they also tell each other what
/// every move of the root is worth at most.
pub(super) struct Together {
    moves: Vec<Move>,
    most: Box<[AtomicU64]>,
    /// What threads search now, by hash, four places for each; empty if there is one thread.
    busy: Box<[AtomicU64]>,
}

/// Places for one hash.
const WAYS: usize = 4;
/// Enough that threads seldom meet by chance.
const BUSY: usize = 4096;

impl Together {
    pub(super) fn new(moves: &[Move], threads: u32) -> Together {
        let empty = |count| (0..count).map(|_| AtomicU64::new(0)).collect();
        Together { moves: moves.to_vec(), most: empty(moves.len()), busy: empty(if threads > 1 { BUSY } else { 0 }) }
    }

    /// Whether there are other threads.
    #[inline]
    pub(super) fn is_shared(&self) -> bool {
        !self.busy.is_empty()
    }

    /// Whether a thread searches this now.
    pub(super) fn is_busy(&self, key: u64) -> bool {
        self.places(key).iter().any(|place| place.load(Ordering::Relaxed) == key)
    }

    /// Marked busy until the guard is dropped.
    pub(super) fn at(&self, key: u64) -> At<'_> {
        let places = self.places(key);
        // If all are taken, one is forgotten: it only says what to leave for later.
        if let Some(place) = places.iter().find(|place| place.load(Ordering::Relaxed) == 0).or(places.first()) {
            place.store(key, Ordering::Relaxed);
        }
        At { together: self, key }
    }

    fn places(&self, key: u64) -> &[AtomicU64] {
        if !self.is_shared() {
            return &[];
        }
        let first = (key >> 40) as usize % (BUSY / WAYS) * WAYS;
        &self.busy[first..first + WAYS]
    }

    /// A move was found to be worth so much at most.
    pub(super) fn at_most(&self, mv: Move, depth: u32, score: Score) {
        if let Some(index) = self.moves.iter().position(|known| *known == mv) {
            self.most[index].fetch_max(pack(depth, score), Ordering::Relaxed);
        }
    }

    /// What a move is worth at most, if it was searched to this depth.
    pub(super) fn most(&self, mv: Move, depth: u32) -> Option<Score> {
        let index = self.moves.iter().position(|known| *known == mv)?;
        let (searched, score) = unpack(self.most[index].load(Ordering::Relaxed))?;
        (searched >= depth).then_some(score)
    }
}

/// A mark that is removed when it is dropped.
pub(super) struct At<'a> {
    together: &'a Together,
    key: u64,
}

impl Drop for At<'_> {
    fn drop(&mut self) {
        let places = self.together.places(self.key).iter();
        for place in places.filter(|place| place.load(Ordering::Relaxed) == self.key) {
            place.store(0, Ordering::Relaxed);
        }
    }
}

/// Things to search in their order; what another thread is at comes once more at the end.
pub(super) struct Queue<T, const N: usize> {
    items: ArrayVec<T, N>,
    next: usize,
    /// So many were there at first.
    count: usize,
}

impl<T: Copy, const N: usize> Queue<T, N> {
    #[inline]
    pub(super) fn new(items: impl IntoIterator<Item = T>) -> Queue<T, N> {
        let items: ArrayVec<T, N> = items.into_iter().collect();
        Queue { next: 0, count: items.len(), items }
    }

    /// The next; the first is never left for later, all threads go into it together.
    #[inline]
    pub(super) fn next(&mut self, is_busy: impl Fn(T) -> bool) -> Option<T> {
        loop {
            let item = *self.items.get(self.next)?;
            let is_new = (1..self.count).contains(&self.next) && !self.items.is_full();
            self.next += 1;
            if !is_new || !is_busy(item) {
                return Some(item);
            }
            self.items.push(item);
        }
    }
}

/// One word, the deeper the greater, then the higher the greater.
fn pack(depth: u32, score: Score) -> u64 {
    u64::from(depth) << 32 | u64::from(score.0.cast_unsigned() ^ 1 << 31)
}

/// Nothing from nothing: no depth is 0.
fn unpack(word: u64) -> Option<(u32, Score)> {
    let (depth, score) = ((word >> 32) as u32, Score((word as u32 ^ 1 << 31).cast_signed()));
    (depth > 0).then_some((depth, score))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_keep_their_order() {
        let mut last = 0;
        for depth in [1, 2, 120] {
            for score in [-Score::INFINITE, Score(-1), Score::DRAW, Score(1), Score::INFINITE] {
                let word = pack(depth, score);
                assert_eq!(unpack(word), Some((depth, score)));
                assert!(word > last);
                last = word;
            }
        }
        assert_eq!(unpack(0), None);
    }

    #[test]
    fn what_is_known_of_a_move_is_known_to_its_depth() {
        let moves = ["a1-a2", "b2"].map(|text| text.parse::<Move>().unwrap());
        let together = Together::new(&moves, 2);
        assert_eq!(together.most(moves[0], 1), None);
        together.at_most(moves[1], 3, Score(7));
        together.at_most(moves[1], 2, Score(9));
        assert_eq!([2, 3, 4].map(|depth| together.most(moves[1], depth)), [Some(Score(7)), Some(Score(7)), None]);
        assert_eq!(together.most(moves[0], 1), None);
    }

    #[test]
    fn who_is_at_something_is_known_until_the_end() {
        let (together, alone) = (Together::new(&[], 2), Together::new(&[], 1));
        let keys: Vec<u64> = (1..=WAYS as u64).collect(); // all of one place
        assert!(keys.iter().all(|key| !together.is_busy(*key)));
        let at: Vec<At<'_>> = keys.iter().map(|key| together.at(*key)).collect();
        let alone_at = alone.at(1);
        assert!(keys.iter().all(|key| together.is_busy(*key)) && !alone.is_busy(1));
        drop((at, alone_at));
        assert!(keys.iter().all(|key| !together.is_busy(*key)));
    }

    #[test]
    fn what_another_is_at_comes_once_more_at_the_end() {
        let mut queue: Queue<u32, 6> = Queue::new([1, 2, 3, 4]);
        let order: Vec<u32> = std::iter::from_fn(|| queue.next(|item| item != 3)).collect();
        assert_eq!(order, [1, 3, 2, 4]); // the first is not left, and no thread waits
        let mut full: Queue<u32, 2> = Queue::new([1, 2]);
        assert_eq!([full.next(|_| true), full.next(|_| true), full.next(|_| true)], [Some(1), Some(2), None]);
    }
}
