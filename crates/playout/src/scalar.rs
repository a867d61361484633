//! One game at a time, in plain Rust: the reference that every vector kernel has to match.

use std::hint;

use anqi_rules::Color;

use crate::bits::{Halvings, Nth};
use crate::board::DealtBoard;
use crate::narrow::{Choose, Names};
#[cfg(target_arch = "x86_64")]
use crate::pdep::Pdep;
use crate::run::{PlayoutBatch, PlyLimits};
use crate::seed::Generator;
use crate::start::PlayoutStart;
use crate::summary::{End, Playout, PlayoutResult};
use crate::word::{Word, both, transposed};

/// Plays one game after the other.
pub(crate) fn run<C: Choose, const JUMPS: bool>(job: PlayoutBatch<'_>) {
    let PlayoutBatch { limits, seed, mut source, lanes } = job;
    source.play_in_turn(lanes, |start, index| play::<C, ByAction, JUMPS>(start, limits, Generator::new(seed, index)));
}

/// How an action is drawn and played: a [`Reading`](crate::Reading) that is known at compile time.
pub(crate) trait PlyReading {
    /// Draws one of the names, of which there must be one, and plays its action.
    fn play<N: Nth>(game: &mut PlayoutGame, names: &Names<u64>, rng: &mut Generator);
}

/// By the rules, every action as likely as another.
pub(crate) struct ByAction;

impl PlyReading for ByAction {
    #[inline(always)]
    fn play<N: Nth>(game: &mut PlayoutGame, names: &Names<u64>, rng: &mut Generator) {
        game.apply(game.action::<N>(names, rng.below(names.count())));
    }
}

/// Plays one game to its end, by the quickest way this machine has.
#[inline]
pub(crate) fn play<C: Choose, R: PlyReading, const JUMPS: bool>(
    start: &PlayoutStart,
    limits: PlyLimits,
    rng: Generator,
) -> Playout {
    #[cfg(target_arch = "x86_64")]
    if let Some(pdep) = Pdep::detect() {
        return pdep.play::<C, R, JUMPS>(start, limits, rng);
    }
    play_anywhere::<C, R, JUMPS>(start, limits, rng)
}

/// Deals a game to be played elsewhere, by the quickest way this machine has.
#[inline(never)]
pub(crate) fn deal(start: &PlayoutStart, rng: &mut Generator) -> Dealt {
    #[cfg(target_arch = "x86_64")]
    if let Some(pdep) = Pdep::detect() {
        return pdep.deal(start, rng);
    }
    Dealt::new::<Halvings>(start, rng)
}

/// Plays one game to its end on any machine.
pub(crate) fn play_anywhere<C: Choose, R: PlyReading, const JUMPS: bool>(
    start: &PlayoutStart,
    limits: PlyLimits,
    mut rng: Generator,
) -> Playout {
    let game = PlayoutGame::deal(start, &mut rng);
    game.play_on::<C, R, Halvings, JUMPS>(start.arena.squares, limits, rng)
}

/// A game in progress.
pub(crate) struct PlayoutGame {
    pub(crate) board: DealtBoard<u64>,
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

/// A game as it is dealt, and how many plies it has behind it.
pub(crate) struct Dealt {
    pub(crate) board: DealtBoard<u32>,
    pub(crate) quiet: u32,
    pub(crate) plies: u32,
}

impl Dealt {
    /// Deals the pool onto the face-down squares: piece by piece, each on a random free one.
    /// Where nobody has a colour yet there is nothing but to flip, so the first flip comes along.
    #[inline(always)]
    pub(crate) fn new<N: Nth>(start: &PlayoutStart, rng: &mut Generator) -> Dealt {
        let PlayoutStart { mut planes, mut colors, hidden, .. } = *start;
        let mut free = hidden;
        let mut count = free.count_ones();
        for lot in start.lots() {
            let mut placed = free;
            if lot.count < count {
                for _ in 0..lot.count {
                    free ^= 1 << N::nth(free, rng.below(count));
                    count -= 1;
                }
                placed ^= free;
            }
            colors[lot.color as usize] |= placed;
            for (i, plane) in planes.iter_mut().enumerate() {
                *plane |= if lot.rung >> i & 1 == 1 { placed } else { 0 };
            }
        }
        let ([red, black], plies) = (colors, start.dealt_plies());
        let board = |own, foe, dark| DealtBoard { planes, own, foe, dark };
        match start.turn {
            Some(Color::Red) => Dealt { board: board(red, black, hidden), quiet: start.quiet, plies },
            Some(Color::Black) => Dealt { board: board(black, red, hidden), quiet: start.quiet, plies },
            None => {
                let flipped = 1 << N::nth(hidden, rng.below(hidden.count_ones()));
                let (first, second) = if flipped & red != 0 { (red, black) } else { (black, red) };
                Dealt { board: board(second, first, hidden ^ flipped), quiet: 0, plies }
            }
        }
    }
}

impl From<Dealt> for PlayoutGame {
    #[inline(always)]
    fn from(Dealt { board, quiet, plies }: Dealt) -> PlayoutGame {
        let DealtBoard { planes, own, foe, dark } = board;
        let board = DealtBoard { planes: planes.map(both), own: both(own), foe: both(foe), dark: both(dark) };
        PlayoutGame { board, quiet, plies }
    }
}

impl Names<u64> {
    /// How many there are.
    #[inline(always)]
    pub(crate) fn count(&self) -> u32 {
        self.steps.count_ones() + self.jumps.count_ones()
    }
}

impl PlayoutGame {
    /// Deals a game.
    ///
    /// Not inlined: a compiler that sees how the boards begin keeps them in vector registers, and
    /// loses a fifth of the speed by moving them to and fro in every ply.
    #[inline(never)]
    pub(crate) fn deal(start: &PlayoutStart, rng: &mut Generator) -> PlayoutGame {
        PlayoutGame::from(Dealt::new::<Halvings>(start, rng))
    }

    /// Plays to the end.
    #[inline(always)]
    pub(crate) fn play_on<C: Choose, R: PlyReading, N: Nth, const JUMPS: bool>(
        mut self,
        squares: u32,
        limits: PlyLimits,
        mut rng: Generator,
    ) -> Playout {
        let squares = both(squares);
        loop {
            let names = C::choose::<JUMPS>(&self.board, squares);
            let total = names.count();
            if self.is_over(total, limits) {
                return self.result(total, limits);
            }
            R::play::<N>(&mut self, &names, &mut rng);
        }
    }

    /// Whether the side to move has no piece or no action (it has lost), or there were too many
    /// quiet plies, or enough plies.
    #[inline(always)]
    pub(crate) fn is_over(&self, actions: u32, limits: PlyLimits) -> bool {
        self.board.own == 0 || actions == 0 || self.quiet >= limits.draw || self.plies >= limits.cut
    }

    /// The result of a game that is over.
    #[inline(always)]
    pub(crate) fn result(&self, actions: u32, limits: PlyLimits) -> Playout {
        let DealtBoard { planes, own, foe, dark } = self.board;
        let lost = own == 0 || actions == 0;
        Playout {
            outcome: PlayoutResult::of(lost, self.quiet >= limits.draw, self.plies),
            plies: self.plies,
            end: End::new(planes.map(|plane| plane as u32), own as u32, foe as u32, dark as u32, self.plies),
        }
    }

    /// What the `n`-th name stands for. There must be so many.
    #[inline(always)]
    pub(crate) fn action<N: Nth>(&self, names: &Names<u64>, n: u32) -> Action {
        let DealtBoard { own, foe, dark, .. } = self.board;
        let steps = names.steps.count_ones();
        if n >= steps {
            return jump::<N>(names.jumps, n - steps, own | foe);
        }
        let lower = N::nth_of_64(names.steps, n) as usize;
        let flipped = SQUARES[lower] & dark;
        // Whether to flip or to move is as random as can be: no business of the branch predictor.
        let ends = hint::select_unpredictable(dark >> lower & 1 == 0, STEPS[lower], 0);
        Action { flipped, ends }
    }

    /// Plays an action.
    #[inline(always)]
    pub(crate) fn apply(&mut self, Action { flipped, ends }: Action) {
        let progress = flipped | ends & self.board.foe;
        self.board = self.board.after(Action { flipped, ends });
        self.quiet = if progress == 0 { self.quiet + 1 } else { 0 };
        self.plies += 1;
    }
}

impl DealtBoard<u64> {
    /// The board after an action, seen by the other side.
    #[inline(always)]
    pub(crate) fn after(&self, Action { flipped, ends }: Action) -> DealtBoard<u64> {
        let DealtBoard { planes, own, foe, dark } = *self;
        let from = ends & own;
        let planes = planes.map(|plane| {
            let arrives = if plane & from == 0 { 0 } else { ends };
            plane & !ends | arrives
        });
        DealtBoard { planes, own: foe & !ends, foe: own ^ ends, dark: dark ^ flipped }
    }

    /// The same board seen by the other side.
    #[inline(always)]
    pub(crate) fn turned(&self) -> DealtBoard<u64> {
        DealtBoard { own: self.foe, foe: self.own, ..*self }
    }
}

/// The step with this name.
#[inline(always)]
pub(crate) fn step_named(number: u32) -> Action {
    Action { flipped: 0, ends: STEPS[number as usize] }
}

/// What the `n`-th name of a jump stands for. Jumps are rare: one can take the time to number them
/// in a way that is easy for the lanes.
#[inline(always)]
fn jump<N: Nth>(names: u64, n: u32, occupied: u64) -> Action {
    let along_ranks = transposed((names >> 32) as u32);
    let number = N::nth_of_64(names.in_files() | u64::from(along_ranks) << 32, n);
    let square = both(1 << (number % 32));
    jump_named(if number < 32 { number } else { square.ilog2() }, occupied)
}

/// The jump with this name.
#[inline(always)]
pub(crate) fn jump_named(number: u32, occupied: u64) -> Action {
    // The lower end is the second piece below the upper one.
    let pieces = occupied & ((1 << number) - 1);
    let lower = (pieces ^ 1 << pieces.ilog2()).ilog2();
    Action { flipped: 0, ends: SQUARES[number as usize] | SQUARES[lower as usize] }
}

/// The square that a bit of either view stands for, in both views.
#[inline(always)]
pub(crate) fn square_named(number: u32) -> u64 {
    SQUARES[number as usize]
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

    use super::PlayoutGame;
    use crate::PlayoutStart;
    use crate::seed::Generator;
    use crate::word::Word;

    /// Pearson's statistic of equally likely cells, as so many standard deviations from its mean.
    fn excess(counts: &[u32]) -> f64 {
        let expected = f64::from(counts.iter().sum::<u32>()) / counts.len() as f64;
        let square = |count: u32| (f64::from(count) - expected).powi(2) / expected;
        let freedom = counts.len() as f64 - 1.0;
        (counts.iter().map(|&count| square(count)).sum::<f64>() - freedom) / (2.0 * freedom).sqrt()
    }

    #[test]
    fn draws_are_fair() {
        let mut rng = Generator::new(1, 2);
        for n in [2, 3, 7, 31, 127] {
            let mut counts = vec![0; n];
            (0..200_000).for_each(|_| counts[rng.below(n as u32) as usize] += 1);
            assert!(excess(&counts).abs() < 4.0, "{n}: {counts:?}");
        }
    }

    /// Every kind is equally likely on every square, and so is every *pair* of squares for the two
    /// guards of a colour: a deal could be fair square by square and still shuffle badly.
    #[test]
    fn deals_are_fair() {
        let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
        let mut kinds = vec![[0u32; 32]; 16];
        let mut pairs = vec![0u32; 32 * 32];
        for index in 0..100_000 {
            let board = PlayoutGame::deal(&start, &mut Generator::new(9, index)).board;
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
        let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
        let mut squares = vec![0; 32];
        for index in 0..100_000 {
            let board = PlayoutGame::deal(&start, &mut Generator::new(10, index)).board;
            assert_eq!(board.dark.count_zeros(), 2, "one square in two views");
            assert_eq!(board.dark | board.foe, !0, "the flipped piece is the first player's");
            squares[(!board.dark).trailing_zeros() as usize] += 1;
        }
        assert!(excess(&squares).abs() < 4.0);
    }
}
