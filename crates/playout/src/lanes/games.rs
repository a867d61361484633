//! A ply, and a deal, in every lane at once: what `scalar.rs` does, draw by draw, without branches.

use anqi_rules::Color;

use crate::board::DealtBoard;
use crate::lanes::views::Views;
use crate::lanes::xoshiro::Xoshiro;
use crate::lanes::{Lanes, Row};
use crate::narrow::{Names, Narrow};
use crate::start::PlayoutStart;
use crate::word::each;

/// A game in every lane.
pub(super) struct LaneGames<V> {
    board: DealtBoard<V>,
    quiet: V,
    rng: Xoshiro<V>,
}

/// Where the side to move had lost before a ply, and where there were too many quiet plies.
pub(super) struct Over<M> {
    pub(super) lost: M,
    pub(super) drawn: M,
}

impl<V: Lanes> LaneGames<V> {
    /// Plays one ply in every lane.
    #[inline(always)]
    pub(super) fn ply<P: Narrow, const JUMPS: bool>(&mut self, squares: u32, limit: u32) -> Over<V::Mask> {
        let DealtBoard { planes, own, foe, dark } = self.board;
        let zero = V::splat(0);

        // Step 1. Find the actions, and the games that have ended.
        let (board, squares) = (views(&self.board), V::splat(squares).into());
        let Names { steps, jumps } = P::narrow::<_, JUMPS>(&board, squares, &board.actions::<JUMPS>(squares));
        let [steps_in_files, jumps_in_files] = [steps.files.count(), jumps.files.count()];
        let all_steps = steps_in_files + steps.ranks.count();
        let total = all_steps + jumps_in_files + jumps.ranks.count();
        let lost = own.is_empty() | total.is_empty();
        let drawn = !self.quiet.less(V::splat(limit));

        // Step 2. Draw one: a set, a view of it, a name. The steps along the ranks are numbered by
        // the other view: bits 0 and 1 of a number and bits 3 and 4 change places.
        let n = self.rng.below(total);
        let step = n.less(all_steps);
        let n = n - V::pick(step, zero, all_steps);
        let in_files = V::pick(step, steps_in_files, jumps_in_files);
        let upright = n.less(in_files);
        let n = n - V::pick(upright, zero, in_files);
        let files = V::pick(step, steps.files, jumps.files);
        let ranks = V::pick(step, steps.ranks.transposed(), jumps.ranks);
        let number = V::pick(upright, files, ranks).nth(n);
        let transposed = (number << 3 | number >> 3) & V::splat(0b11011) | number & V::splat(0b00100);
        let name = V::pick(upright | !step, number, transposed).square();

        // Step 3. Take it apart: the square that is flipped, or the two ends of a move.
        let flipped = name & dark;
        let mut other = V::pick(upright, name << 1, name << 8);
        if JUMPS {
            let below = V::pick(upright, name - V::splat(1), name >> 8 | name >> 16 | name >> 24);
            let pieces = (own | foe) & below;
            let lower_end = (pieces ^ pieces.highest()).highest();
            other = V::pick(step, other, lower_end);
        }
        let ends = V::pick(flipped.is_empty(), name | other, zero);

        // Step 4. Play it, and let the other side move.
        let from = ends & own;
        let progress = flipped | ends & foe;
        self.quiet = V::pick(progress.is_empty(), self.quiet + V::splat(1), zero);
        self.board = DealtBoard {
            planes: each(planes, |plane| V::pick((plane & from).is_empty(), plane & !ends, plane | ends)),
            own: foe & !ends,
            foe: own ^ ends,
            dark: dark & !flipped,
        };
        Over { lost, drawn }
    }

    /// Deals a game to every lane; see [`Dealt`](crate::scalar::Dealt).
    #[inline(always)]
    pub(super) fn deal(start: &PlayoutStart, mut rng: Xoshiro<V>) -> LaneGames<V> {
        let ([p0, p1, p2], [red, black]) = (start.planes, start.colors);
        let mut planes = [V::splat(p0), V::splat(p1), V::splat(p2)];
        let mut colors = [V::splat(red), V::splat(black)];
        let hidden = V::splat(start.hidden);
        let mut free = hidden;
        let mut count = start.hidden.count_ones();
        for lot in start.lots() {
            let mut placed = free;
            if lot.count < count {
                for _ in 0..lot.count {
                    free = free ^ free.nth(rng.below(V::splat(count))).square();
                    count -= 1;
                }
                placed = placed ^ free;
            }
            let color = &mut colors[lot.color as usize];
            *color = *color | placed;
            for (i, plane) in planes.iter_mut().enumerate() {
                if lot.rung >> i & 1 == 1 {
                    *plane = *plane | placed;
                }
            }
        }
        let [red, black] = colors;
        let (own, foe, dark, quiet) = match start.turn {
            Some(Color::Red) => (red, black, hidden, start.quiet),
            Some(Color::Black) => (black, red, hidden, start.quiet),
            None => {
                let flipped = hidden.nth(rng.below(V::splat(start.hidden.count_ones()))).square();
                let black_first = (flipped & red).is_empty();
                let pick = |a, b| V::pick(black_first, a, b);
                (pick(red, black), pick(black, red), hidden ^ flipped, 0)
            }
        };
        LaneGames { board: DealtBoard { planes, own, foe, dark }, quiet: V::splat(quiet), rng }
    }
}

/// The same board in both views.
#[inline(always)]
fn views<V: Lanes>(board: &DealtBoard<V>) -> DealtBoard<Views<V>> {
    let DealtBoard { planes: [p0, p1, p2], own, foe, dark } = *board;
    let planes = [p0.into(), p1.into(), p2.into()];
    DealtBoard { planes, own: own.into(), foe: foe.into(), dark: dark.into() }
}

/// [`LaneGames`] in memory.
pub(super) type Rows = [Row; ROWS];

pub(super) const ROWS: usize = 11;

impl<V: Lanes> LaneGames<V> {
    #[inline(always)]
    pub(super) fn load(rows: &Rows) -> LaneGames<V> {
        let at = |i: usize| V::load(&rows[i]);
        LaneGames {
            board: DealtBoard { planes: [at(0), at(1), at(2)], own: at(3), foe: at(4), dark: at(5) },
            quiet: at(6),
            rng: Xoshiro([at(7), at(8), at(9), at(10)]),
        }
    }

    #[inline(always)]
    pub(super) fn store(&self, rows: &mut Rows) {
        let DealtBoard { planes: [p0, p1, p2], own, foe, dark } = self.board;
        let Xoshiro([s0, s1, s2, s3]) = self.rng;
        let vectors = [p0, p1, p2, own, foe, dark, self.quiet, s0, s1, s2, s3];
        for (row, vector) in rows.iter_mut().zip(vectors) {
            vector.store(row);
        }
    }
}
