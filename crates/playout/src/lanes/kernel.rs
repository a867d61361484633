//! The playout kernel over any [`Lanes`]: who plays in which lane, and since when.
//!
//! All lanes play a ply at the same time. A game that has ended is found out by then; its lane
//! plays nonsense for this one ply and is given the next game, so that no lane waits for others.

use std::marker::PhantomData;
use std::ops::Range;

use crate::lanes::games::{FOE, Games, OWN, ROWS, Rows};
use crate::lanes::xoshiro::Xoshiro;
use crate::lanes::{Lanes, MOST, Row};
use crate::policy::Narrow;
use crate::run::{Job, Sink};
use crate::seed;
use crate::summary::{Outcome, Playout};

/// How many groups of lanes take turns. A ply is one long chain of instructions, each waiting for
/// the one before; with a second group the processor has something to do meanwhile.
const GROUPS: usize = 2;

/// Plays all games of the job.
#[inline(always)]
pub(super) fn run<V: Lanes, P: Narrow, const JUMPS: bool>(job: Job<'_>, sink: &mut Sink<'_>) {
    let Job { start, draw, .. } = job;
    let limit = draw.min(i32::MAX as u32);
    let mut dealer = Dealer::<V>::new(job);
    let mut groups = [Group::EMPTY; GROUPS];
    for group in &mut groups {
        for lane in 0..V::WIDTH {
            group.seat(lane, 0, &mut dealer);
        }
    }
    let mut time = 0u32;
    while groups.iter().any(|group| group.busy != 0) {
        for group in &mut groups {
            let mut games = Games::<V>::load(&group.rows);
            let end = games.ply::<P, JUMPS>(start.squares, limit);
            let ended = V::bits(end.ended) & group.busy;
            if ended == 0 {
                games.store(&mut group.rows);
                continue;
            }
            group.report(ended, V::bits(end.lost), time, sink);
            games.store(&mut group.rows);
            for lane in lanes(ended) {
                group.seat(lane, time.wrapping_add(1), &mut dealer);
            }
        }
        time = time.wrapping_add(1);
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
    /// The number of the playout in each lane.
    index: [u64; MOST],
    /// The time of its ply number 0.
    born: [u32; MOST],
    /// The lanes that have a game to play.
    busy: u32,
}

impl Group {
    const EMPTY: Group = Group { rows: [Row([0; MOST]); ROWS], index: [0; MOST], born: [0; MOST], busy: 0 };

    /// Hands out the results of the `ended` lanes, from their boards as of `time`.
    #[inline(always)]
    fn report(&self, ended: u32, lost: u32, time: u32, sink: &mut Sink<'_>) {
        for lane in lanes(ended) {
            let plies = time.wrapping_sub(self.born[lane]);
            let outcome = Outcome::of(lost >> lane & 1 == 1, plies);
            let left = (self.rows[OWN].0[lane] | self.rows[FOE].0[lane]).count_ones();
            sink(self.index[lane], Playout { outcome, plies, left });
        }
    }

    /// Gives a lane the next game, to be played from `time` on, or none if there is none.
    #[inline(always)]
    fn seat<V: Lanes>(&mut self, lane: usize, time: u32, dealer: &mut Dealer<'_, V>) {
        self.busy &= !(1 << lane);
        if let Some((index, slot)) = dealer.next() {
            self.busy |= 1 << lane;
            self.index[lane] = index;
            self.born[lane] = time.wrapping_sub(dealer.plies);
            for (row, dealt) in self.rows.iter_mut().zip(&dealer.rows) {
                row.0[lane] = dealt.0[slot];
            }
        }
    }
}

/// Deals games in advance, a vector of them at a time.
struct Dealer<'a, V> {
    job: Job<'a>,
    rows: Rows,
    /// Those in `rows` that nobody has taken yet.
    ready: Range<usize>,
    /// How many plies a dealt game has behind it.
    plies: u32,
    lanes: PhantomData<V>,
}

impl<'a, V: Lanes> Dealer<'a, V> {
    fn new(job: Job<'a>) -> Dealer<'a, V> {
        let plies = u32::from(job.start.turn.is_none());
        Dealer { job, rows: Group::EMPTY.rows, ready: 0..0, plies, lanes: PhantomData }
    }

    /// The number of the next playout, and where its game lies in `rows`.
    #[inline(always)]
    fn next(&mut self) -> Option<(u64, usize)> {
        let index = self.job.indices.next()?;
        if self.ready.is_empty() {
            let rng = self.generators(index);
            Games::deal(self.job.start, rng).store(&mut self.rows);
            self.ready = 0..V::WIDTH;
        }
        self.ready.next().map(|slot| (index, slot))
    }

    /// The generators of the playouts from number `index` on.
    #[inline(always)]
    fn generators(&self, index: u64) -> Xoshiro<V> {
        let mut rows = [Row::default(); 4];
        for lane in 0..V::WIDTH {
            let state = seed::state(self.job.seed, index.wrapping_add(lane as u64));
            for (row, word) in rows.iter_mut().zip(state) {
                row.0[lane] = word;
            }
        }
        let [s0, s1, s2, s3] = &rows;
        Xoshiro([V::load(s0), V::load(s1), V::load(s2), V::load(s3)])
    }
}
