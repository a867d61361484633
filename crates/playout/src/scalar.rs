//! One game at a time, in plain Rust: the reference that every vector kernel has to match.

use std::{hint, mem};

use anqi_rules::Color;
use rand_core::Rng;

use crate::bits::{highest, nth};
use crate::board::Board;
use crate::policy::Narrow;
use crate::run::{Job, Sink};
use crate::seed;
use crate::start::Start;
use crate::summary::{Outcome, Playout};

/// Plays one game after the other.
pub(crate) fn run<P: Narrow, const JUMPS: bool>(job: Job<'_>, sink: &mut Sink<'_>) {
    for index in job.indices {
        sink(index, play::<P, JUMPS>(job.start, job.draw, seed::generator(job.seed, index)));
    }
}

/// Plays one game to its end.
pub(crate) fn play<P: Narrow, const JUMPS: bool>(start: &Start, limit: u32, mut rng: impl Rng) -> Playout {
    let mut game = Game::deal(start, &mut rng);
    loop {
        let [north, south, east, west] = P::narrow(&game.board.actions::<JUMPS>(start.squares));
        let vertical = north.count_ones() + south.count_ones();
        let total = vertical + east.count_ones() + west.count_ones();
        if let Some(playout) = game.ended(total, limit) {
            return playout;
        }
        let n = below(&mut rng, total);
        let sideways = n >= vertical;
        let (n, up, down) = if sideways { (n - vertical, east, west) } else { (n, north, south) };
        let backward = n >= up.count_ones();
        let (n, names) = if backward { (n - up.count_ones(), down) } else { (n, up) };
        let action = game.action(sideways, backward, nth(names, n));
        game.apply(action);
    }
}

/// A number below `n`, drawn at random. All are equally likely but for 1 part in 2^25, as `n` is
/// less than 128 here.
#[inline(always)]
pub(crate) fn below(rng: &mut impl Rng, n: u32) -> u32 {
    ((u64::from(rng.next_u32()) * u64::from(n)) >> 32) as u32
}

/// A game in progress.
pub(crate) struct Game {
    pub(crate) board: Board<u32>,
    pub(crate) quiet: u32,
    plies: u32,
}

/// An action taken apart: a flip has `flipped` and no `ends`, a move the other way round.
#[derive(Clone, Copy)]
pub(crate) struct Action {
    /// The square to turn face up.
    pub(crate) flipped: u32,
    /// The two squares a piece goes between, from the mover's own one to the other.
    pub(crate) ends: u32,
}

impl Game {
    /// Deals the pool onto the face-down squares: piece by piece, each on a random free one.
    /// Where nobody has a colour yet there is nothing but to flip, so the first flip comes along.
    #[inline(always)]
    pub(crate) fn deal(start: &Start, rng: &mut impl Rng) -> Game {
        let Start { mut planes, mut colors, .. } = *start;
        let mut free = start.hidden;
        let mut lots = start.lots().peekable();
        while let Some(lot) = lots.next() {
            let mut placed = free;
            if lots.peek().is_some() {
                for _ in 0..lot.count {
                    free ^= nth(free, below(rng, free.count_ones()));
                }
                placed ^= free;
            }
            colors[lot.color as usize] |= placed;
            for (i, plane) in planes.iter_mut().enumerate() {
                *plane |= if lot.rung >> i & 1 == 1 { placed } else { 0 };
            }
        }
        let [red, black] = colors;
        let board = |own, foe, dark| Board { planes, own, foe, dark };
        match start.turn {
            Some(Color::Red) => Game { board: board(red, black, start.hidden), quiet: start.quiet, plies: 0 },
            Some(Color::Black) => Game { board: board(black, red, start.hidden), quiet: start.quiet, plies: 0 },
            None => {
                let flipped = nth(start.hidden, below(rng, start.hidden.count_ones()));
                let (first, second) = if flipped & red != 0 { (red, black) } else { (black, red) };
                Game { board: board(second, first, start.hidden ^ flipped), quiet: 0, plies: 1 }
            }
        }
    }

    /// The result, if the side to move has no piece or no action (it has lost), or if there were
    /// too many quiet plies.
    #[inline(always)]
    pub(crate) fn ended(&self, actions: u32, limit: u32) -> Option<Playout> {
        let lost = self.board.own == 0 || actions == 0;
        if !lost && self.quiet < limit {
            return None;
        }
        let left = (self.board.own | self.board.foe).count_ones();
        Some(Playout { outcome: Outcome::of(lost, self.plies), plies: self.plies, left })
    }

    /// What `name` stands for in one of the directions: see [`Actions`](crate::board::Actions).
    #[inline(always)]
    pub(crate) fn action(&self, sideways: bool, backward: bool, name: u32) -> Action {
        let Board { own, foe, dark, .. } = self.board;
        let flipped = name & dark;
        let upper_ends_of_jumps = if backward { own } else { foe & !dark };
        let other = if name & upper_ends_of_jumps == 0 {
            name << if sideways { 8 } else { 1 }
        } else {
            // The lower end is the second piece below the upper one.
            let below = if sideways { name >> 8 | name >> 16 | name >> 24 } else { name - 1 };
            let pieces = (own | foe) & below;
            highest(pieces ^ highest(pieces))
        };
        // Whether to flip or to move is as random as can be: no business of the branch predictor.
        let ends = hint::select_unpredictable(flipped == 0, name | other, 0);
        Action { flipped, ends }
    }

    /// Plays an action.
    #[inline(always)]
    pub(crate) fn apply(&mut self, Action { flipped, ends }: Action) {
        let Board { planes, own, foe, dark } = &mut self.board;
        let from = ends & *own;
        let to = ends ^ from;
        for plane in planes {
            let arrives = if *plane & from != 0 { to } else { 0 };
            *plane = *plane & !ends | arrives;
        }
        let progress = flipped | to & *foe;
        *dark ^= flipped;
        *own ^= ends;
        *foe &= !ends;
        mem::swap(own, foe);
        self.quiet = if progress == 0 { self.quiet + 1 } else { 0 };
        self.plies += 1;
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Position, Rules};

    use super::{Game, below};
    use crate::{Start, seed};

    /// Pearson's statistic of equally likely cells, as so many standard deviations from its mean.
    fn excess(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        let square = |count: u32| (f64::from(count) - expected).powi(2) / expected;
        let freedom = counts.len() as f64 - 1.0;
        (counts.iter().map(|&count| square(count)).sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn draws_are_fair() {
        let mut rng = seed::generator(1, 2);
        for n in [2, 3, 7, 31, 127] {
            let mut counts = vec![0; n];
            (0..200_000).for_each(|_| counts[below(&mut rng, n as u32) as usize] += 1);
            assert!(excess(&counts).abs() < 4.0, "{n}: {counts:?}");
        }
    }

    /// Every kind is equally likely on every square, and so is every *pair* of squares for the two
    /// guards of a colour: a deal could be fair square by square and still shuffle badly.
    #[test]
    fn deals_are_fair() {
        let start = Start::from(&Position::initial(&Rules::chen()));
        let mut kinds = vec![[0u32; 32]; 16];
        let mut pairs = vec![0u32; 32 * 32];
        for index in 0..100_000 {
            let board = Game::deal(&start, &mut seed::generator(9, index)).board;
            let [p0, p1, p2] = board.planes;
            (0..32usize).for_each(|at| {
                let bit = |set: u32| (set >> at & 1) as usize;
                kinds[bit(p0) | bit(p1) << 1 | bit(p2) << 2 | bit(board.own) << 3][at] += 1;
            });
            let guards = p2 & p1 & !p0 & board.own;
            let (low, high) = (guards.trailing_zeros(), guards.ilog2());
            pairs[(low * 32 + high) as usize] += 1;
        }
        for kind in kinds.iter().filter(|kind| kind[0] > 0) {
            assert!(excess(kind).abs() < 4.0, "{kind:?}");
        }
        let pairs: Vec<u32> = (0..32 * 32).filter(|i| i / 32 < i % 32).map(|i| pairs[i]).collect();
        assert!(excess(&pairs).abs() < 4.0);
    }

    #[test]
    fn the_first_flip_is_fair() {
        let start = Start::from(&Position::initial(&Rules::chen()));
        let mut squares = vec![0; 32];
        for index in 0..100_000 {
            let board = Game::deal(&start, &mut seed::generator(10, index)).board;
            assert_eq!(board.dark.count_zeros(), 1);
            assert_eq!(board.dark | board.foe, !0, "the flipped piece is the first player's");
            squares[(!board.dark).trailing_zeros() as usize] += 1;
        }
        assert!(excess(&squares).abs() < 4.0);
    }
}
