//! Playing playouts: one, or all of a range, by any path.

use std::ops::Range;

use crate::path::Path;
use crate::policy::{Capture, Narrow, Policy, Random, Reading};
use crate::start::Start;
use crate::summary::{Playout, Summary};
use crate::{paper, scalar, seed};

/// How to play.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Options {
    /// Among which actions to draw.
    pub policy: Policy,
    /// The game is a draw after so many quiet plies, at least 1.
    pub draw: u32,
    /// How the rules are read.
    pub reading: Reading,
}

/// Plays playout number `index` of `seed`.
#[must_use]
pub fn playout(start: &Start, options: &Options, seed: u64, index: u64) -> Playout {
    One { start, options, seed, index }.dispatch(start, options)
}

/// Plays the playouts `indices` of `seed` and adds them up.
///
/// The path is a matter of speed only. [`Reading::Paper`] has no vector kernel and is played one
/// game at a time on every path.
///
/// ```
/// # use anqi_playout::{Options, Path, Policy, Reading, Start, playouts};
/// # use anqi_rules::{Position, Rules};
/// # let start = Start::from(&Position::initial(&Rules::chen()));
/// # let options = Options { policy: Policy::Random, draw: 40, reading: Reading::Rules };
/// let mut parts = playouts(&start, &options, 7, 0..300, Path::best());
/// parts += playouts(&start, &options, 7, 300..1000, Path::PORTABLE);
/// assert_eq!(parts, playouts(&start, &options, 7, 0..1000, Path::SCALAR));
/// ```
#[must_use]
pub fn playouts(start: &Start, options: &Options, seed: u64, indices: Range<u64>, path: Path) -> Summary {
    let mut summary = Summary::default();
    for_each(start, options, seed, indices, path, |_, playout| summary.add(playout));
    summary
}

/// Plays the playouts `indices` of `seed` and hands each to `sink` with its index, in the order in
/// which they end.
pub fn for_each(
    start: &Start,
    options: &Options,
    seed: u64,
    indices: Range<u64>,
    path: Path,
    mut sink: impl FnMut(u64, Playout),
) {
    let job = Job { start, draw: options.draw, seed, indices };
    match options.reading {
        Reading::Rules => Many { job, path, sink: &mut sink }.dispatch(start, options),
        Reading::Paper => job.indices.for_each(|index| sink(index, playout(start, options, seed, index))),
    }
}

/// Many playouts to play by the rules.
pub(crate) struct Job<'a> {
    pub(crate) start: &'a Start,
    pub(crate) draw: u32,
    pub(crate) seed: u64,
    pub(crate) indices: Range<u64>,
}

/// Receives every playout as it ends. Not generic: a call costs nothing beside a game, and the
/// kernels are compiled once.
pub(crate) type Sink<'a> = dyn FnMut(u64, Playout) + 'a;

/// Something to do with a policy and a ladder that are known at compile time.
trait Kernel: Sized {
    type Output;

    fn run<P: Narrow, const JUMPS: bool>(self) -> Self::Output;

    fn dispatch(self, start: &Start, options: &Options) -> Self::Output {
        match (options.policy, start.jumps) {
            (Policy::Random, true) => self.run::<Random, true>(),
            (Policy::Random, false) => self.run::<Random, false>(),
            (Policy::Capture, true) => self.run::<Capture, true>(),
            (Policy::Capture, false) => self.run::<Capture, false>(),
        }
    }
}

struct One<'a> {
    start: &'a Start,
    options: &'a Options,
    seed: u64,
    index: u64,
}

impl Kernel for One<'_> {
    type Output = Playout;

    fn run<P: Narrow, const JUMPS: bool>(self) -> Playout {
        let rng = seed::generator(self.seed, self.index);
        match self.options.reading {
            Reading::Rules => scalar::play::<P, JUMPS>(self.start, self.options.draw, rng),
            Reading::Paper => paper::play::<P, JUMPS>(self.start, self.options.draw, rng),
        }
    }
}

struct Many<'a, 'b> {
    job: Job<'a>,
    path: Path,
    sink: &'a mut Sink<'b>,
}

impl Kernel for Many<'_, '_> {
    type Output = ();

    fn run<P: Narrow, const JUMPS: bool>(self) {
        self.path.run::<P, JUMPS>(self.job, self.sink);
    }
}
