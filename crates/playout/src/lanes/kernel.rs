//! The playout kernel over any [`Lanes`]: who plays in which lane, and since when.
//!
//! All lanes play a ply at the same time. A game that has ended is found out by then; its lane
//! plays nonsense for this one ply and is given the next game, so that no lane waits for others.

use std::marker::PhantomData;
use std::ops::Range;

use crate::board::DealtBoard;
use crate::lanes::games::{LaneGames, ROWS, Rows};
use crate::lanes::xoshiro::Xoshiro;
use crate::lanes::{Lanes, MOST, Row};
use crate::narrow::Narrow;
use crate::run::{BatchSource, PlayoutBatch};
use crate::seed::Generator;
use crate::summary::{End, Playout, PlayoutResult};
use crate::{scalar, seed};

/// Plays all games of the job, on a board of these squares.
#[inline(always)]
pub(super) fn run<V: Lanes, P: Narrow, const JUMPS: bool>(job: PlayoutBatch<'_>, squares: u32) {
    let PlayoutBatch { limits, seed, source, lanes: count } = job;
    let mut dealer = Dealer::<V>::new(seed, source);
    let mut groups = vec![Group::EMPTY; count.div_ceil(V::WIDTH)];
    for (group, first) in groups.iter_mut().zip((0..).step_by(V::WIDTH)) {
        for lane in 0..V::WIDTH.min(count - first) {
            group.seat(lane, 0, limits.cut, &mut dealer);
        }
    }
    let mut time = 0;
    let mut busy = true;
    while busy {
        busy = false;
        for group in &mut groups {
            if group.busy == 0 {
                continue;
            }
            busy = true;
            let mut games = LaneGames::<V>::load(&group.rows);
            let over = games.ply::<P, JUMPS>(squares, limits.draw);
            let mut ended = V::bits(over.lost | over.drawn) & group.busy;
            if time >= group.cut {
                ended |= group.cut(time, limits.cut);
            }
            if ended == 0 {
                games.store(&mut group.rows);
                continue;
            }
            let boards = group.rows;
            games.store(&mut group.rows);
            // One after the other: the next game may depend on the result.
            for lane in lanes(ended) {
                let over = (V::bits(over.lost) >> lane & 1 == 1, V::bits(over.drawn) >> lane & 1 == 1);
                dealer.source.done(group.tags[lane], group.result(&boards, lane, over, time));
                group.seat(lane, time + 1, limits.cut, &mut dealer);
            }
        }
        time += 1;
    }
}

/// The lanes of a bit set.
#[inline(always)]
fn lanes(mut bits: u32) -> impl Iterator<Item = usize> {
    std::iter::from_fn(move || {
        let lane = (bits != 0).then(|| bits.trailing_zeros() as usize);
        bits &= bits.wrapping_sub(1);
        lane
    })
}

/// Lanes that advance together, and who sits in them.
#[derive(Clone, Copy)]
struct Group {
    rows: Rows,
    /// The tag of the game in each lane.
    tags: [u64; MOST],
    /// The time of its ply number 0, later by one so that no first flip comes before all time.
    born: [u64; MOST],
    /// The lanes that have a game to play.
    busy: u32,
    /// No game has to be cut short before this time.
    cut: u64,
}

impl Group {
    const EMPTY: Group =
        Group { rows: [Row([0; MOST]); ROWS], tags: [0; MOST], born: [0; MOST], busy: 0, cut: u64::MAX };

    /// Plies of the game in a lane.
    #[inline(always)]
    fn plies(&self, lane: usize, time: u64) -> u32 {
        (time + 1 - self.born[lane]) as u32
    }

    /// The lanes whose games have gone on for `cut` plies. Looks out for the next ones.
    #[cold]
    fn cut(&mut self, time: u64, cut: u32) -> u32 {
        self.cut = u64::MAX;
        let mut ended = 0;
        for lane in lanes(self.busy) {
            let left = cut.saturating_sub(self.plies(lane, time));
            if left == 0 {
                ended |= 1 << lane;
            } else {
                self.cut = self.cut.min(time + u64::from(left));
            }
        }
        ended
    }

    /// The result of the game in a lane, from the board as of `time`.
    #[inline(always)]
    fn result(&self, boards: &Rows, lane: usize, (lost, drawn): (bool, bool), time: u64) -> Playout {
        let plies = self.plies(lane, time);
        let [p0, p1, p2, own, foe, dark] = [0, 1, 2, 3, 4, 5].map(|row| boards[row].0[lane]);
        let outcome = PlayoutResult::of(lost, drawn, plies);
        Playout { outcome, plies, end: End::new([p0, p1, p2], own, foe, dark, plies) }
    }

    /// Gives a lane the next game, to be played from `time` on, or none if there is none.
    #[inline(always)]
    fn seat<V: Lanes>(&mut self, lane: usize, time: u64, cut: u32, dealer: &mut Dealer<'_, V>) {
        self.busy &= !(1 << lane);
        if let Some(DealtGame { tag, slot, plies }) = dealer.next() {
            self.busy |= 1 << lane;
            self.tags[lane] = tag;
            self.born[lane] = time + 1 - u64::from(plies);
            self.cut = self.cut.min(time + u64::from(cut.saturating_sub(plies)));
            for (row, dealt) in self.rows.iter_mut().zip(&dealer.rows) {
                row.0[lane] = dealt.0[slot];
            }
        }
    }
}

/// A dealt game: its tag, where it lies in the dealer's rows, and how many plies it has behind it.
struct DealtGame {
    tag: u64,
    slot: usize,
    plies: u32,
}

/// Deals games: from one start in advance, a vector of them at a time, else one by one.
struct Dealer<'a, V> {
    seed: u64,
    source: BatchSource<'a>,
    rows: Rows,
    /// Those in `rows` that nobody has taken yet.
    ready: Range<usize>,
    lanes: PhantomData<V>,
}

impl<'a, V: Lanes> Dealer<'a, V> {
    fn new(seed: u64, source: BatchSource<'a>) -> Dealer<'a, V> {
        Dealer { seed, source, rows: Group::EMPTY.rows, ready: 0..0, lanes: PhantomData }
    }

    /// Deals the next game.
    #[inline(always)]
    fn next(&mut self) -> Option<DealtGame> {
        if let BatchSource::Range { start, indices, .. } = &mut self.source {
            let (start, index) = (*start, indices.next()?);
            if self.ready.is_empty() {
                LaneGames::deal(start, self.generators(index)).store(&mut self.rows);
                self.ready = 0..V::WIDTH;
            }
            return self.ready.next().map(|slot| DealtGame { tag: index, slot, plies: start.dealt_plies() });
        }
        let (tag, start, index) = self.source.next()?;
        let mut rng = Generator::new(self.seed, index);
        let dealt = scalar::deal(&start, &mut rng);
        let Generator([s0, s1, s2, s3]) = rng;
        let DealtBoard { planes: [p0, p1, p2], own, foe, dark } = dealt.board;
        for (row, word) in self.rows.iter_mut().zip([p0, p1, p2, own, foe, dark, dealt.quiet, s0, s1, s2, s3]) {
            row.0[0] = word;
        }
        Some(DealtGame { tag, slot: 0, plies: dealt.plies })
    }

    /// The generators of the playouts from number `index` on.
    #[inline(always)]
    fn generators(&self, index: u64) -> Xoshiro<V> {
        let mut rows = [Row::default(); 4];
        for lane in 0..V::WIDTH {
            let state = seed::state(self.seed, index.wrapping_add(lane as u64));
            for (row, word) in rows.iter_mut().zip(state) {
                row.0[lane] = word;
            }
        }
        let [s0, s1, s2, s3] = &rows;
        Xoshiro([V::load(s0), V::load(s1), V::load(s2), V::load(s3)])
    }
}
