//! One game at a time, in plain Rust: the reference that every vector kernel has to match.

use std::{hint, mem};

use anqi_rules::Color;
use rand_core::Rng;

use crate::bits::{nth, nth_of_64};
use crate::board::Board;
use crate::policy::{Names, Narrow};
use crate::run::{Job, Sink};
use crate::seed;
use crate::start::Start;
use crate::summary::{Outcome, Playout};
use crate::word::{Word, both, transposed};

/// Plays one game after the other.
pub(crate) fn run<P: Narrow, const JUMPS: bool>(job: Job<'_>, sink: &mut Sink<'_>) {
    for index in job.indices {
        sink(index, play::<P, JUMPS>(job.start, job.draw, seed::generator(job.seed, index)));
    }
}

/// Plays one game to its end.
pub(crate) fn play<P: Narrow, const JUMPS: bool>(start: &Start, limit: u32, mut rng: impl Rng) -> Playout {
    let squares = both(start.squares);
    let mut game = Game::deal(start, &mut rng);
    loop {
        let names = P::narrow(&game.board.actions::<JUMPS>(squares));
        let total = names.count();
        if let Some(playout) = game.ended(total, limit) {
            return playout;
        }
        let n = below(&mut rng, total);
        game.apply(game.action(&names, n));
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
    pub(crate) board: Board<u64>,
    pub(crate) quiet: u32,
    plies: u32,
}

/// An action taken apart: a flip has `flipped` and no `ends`, a move the other way round. Like the
/// board it is seen along the files and along the ranks.
#[derive(Clone, Copy)]
pub(crate) struct Action {
    /// The square to turn face up.
    pub(crate) flipped: u64,
    /// The two squares a piece goes between, from the mover's own one to the other.
    pub(crate) ends: u64,
}

impl Names<u64> {
    /// How many there are.
    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        self.steps.count_ones() + self.jumps.count_ones()
    }
}

impl Game {
    /// Deals the pool onto the face-down squares: piece by piece, each on a random free one.
    /// Where nobody has a colour yet there is nothing but to flip, so the first flip comes along.
    ///
    /// Not inlined: a compiler that sees how the boards begin keeps them in vector registers, and
    /// loses a fifth of the speed by moving them to and fro in every ply.
    #[inline(never)]
    pub(crate) fn deal(start: &Start, rng: &mut impl Rng) -> Game {
        let Start { mut planes, mut colors, .. } = *start;
        let mut free = start.hidden;
        let mut lots = start.lots().peekable();
        while let Some(lot) = lots.next() {
            let mut placed = free;
            if lots.peek().is_some() {
                for _ in 0..lot.count {
                    free ^= 1 << nth(free, below(rng, free.count_ones()));
                }
                placed ^= free;
            }
            colors[lot.color as usize] |= placed;
            for (i, plane) in planes.iter_mut().enumerate() {
                *plane |= if lot.rung >> i & 1 == 1 { placed } else { 0 };
            }
        }
        let [red, black] = colors;
        let board =
            |own, foe, dark| Board { planes: planes.map(both), own: both(own), foe: both(foe), dark: both(dark) };
        match start.turn {
            Some(Color::Red) => Game { board: board(red, black, start.hidden), quiet: start.quiet, plies: 0 },
            Some(Color::Black) => Game { board: board(black, red, start.hidden), quiet: start.quiet, plies: 0 },
            None => {
                let flipped = 1 << nth(start.hidden, below(rng, start.hidden.count_ones()));
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
        let left = (self.board.own | self.board.foe).in_files().count_ones();
        Some(Playout { outcome: Outcome::of(lost, self.plies), plies: self.plies, left })
    }

    /// What the `n`-th name stands for. There must be so many.
    #[inline(always)]
    pub(crate) fn action(&self, names: &Names<u64>, n: u32) -> Action {
        let Board { own, foe, dark, .. } = self.board;
        let steps = names.steps.count_ones();
        if n >= steps {
            return jump(names.jumps, n - steps, own | foe);
        }
        let lower = nth_of_64(names.steps, n) as usize;
        let flipped = SQUARES[lower] & dark;
        // Whether to flip or to move is as random as can be: no business of the branch predictor.
        let ends = hint::select_unpredictable(dark >> lower & 1 == 0, STEPS[lower], 0);
        Action { flipped, ends }
    }

    /// Plays an action.
    #[inline(always)]
    pub(crate) fn apply(&mut self, Action { flipped, ends }: Action) {
        let Board { planes, own, foe, dark } = &mut self.board;
        let from = ends & *own;
        for plane in planes {
            let arrives = if *plane & from == 0 { 0 } else { ends };
            *plane = *plane & !ends | arrives;
        }
        let progress = flipped | ends & *foe;
        *dark ^= flipped;
        *own ^= ends;
        *foe &= !ends;
        mem::swap(own, foe);
        self.quiet = if progress == 0 { self.quiet + 1 } else { 0 };
        self.plies += 1;
    }
}

/// What the `n`-th name of a jump stands for. Jumps are rare: one can take the time to number them
/// in a way that is easy for the lanes.
#[inline(always)]
fn jump(names: u64, n: u32, occupied: u64) -> Action {
    let along_ranks = transposed((names >> 32) as u32);
    let number = nth_of_64(names.in_files() | u64::from(along_ranks) << 32, n);
    let square = both(1 << (number % 32));
    let upper = if number < 32 { square.in_files() } else { square ^ square.in_files() };
    // The lower end is the second piece below the upper one.
    let pieces = occupied & (upper - 1);
    let lower = (pieces ^ 1 << pieces.ilog2()).ilog2();
    Action { flipped: 0, ends: square | SQUARES[lower as usize] }
}

/// The square that each bit of either view stands for, in both views.
const SQUARES: [u64; 64] = {
    let mut squares = [0; 64];
    let mut number = 0;
    while number < 32 {
        let square = both(1 << number);
        squares[number] = square;
        squares[square.ilog2() as usize] = square;
        number += 1;
    }
    squares
};

/// The same together with the next square up the line. (From the upper end nobody steps further.)
const STEPS: [u64; 64] = {
    let mut steps = SQUARES;
    let mut lower = 0;
    while lower < 63 {
        steps[lower] |= SQUARES[lower + 1];
        lower += 1;
    }
    steps
};

#[cfg(test)]
mod tests {
    use anqi_rules::{Position, Rules};

    use super::{Game, below};
    use crate::word::Word;
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
                let bit = |set: u64| (set >> at & 1) as usize;
                kinds[bit(p0) | bit(p1) << 1 | bit(p2) << 2 | bit(board.own) << 3][at] += 1;
            });
            let guards = (p2 & p1 & !p0 & board.own).in_files();
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
            assert_eq!(board.dark.count_zeros(), 2, "one square in two views");
            assert_eq!(board.dark | board.foe, !0, "the flipped piece is the first player's");
            squares[(!board.dark).trailing_zeros() as usize] += 1;
        }
        assert!(excess(&squares).abs() < 4.0);
    }
}
