//! Playing playouts: one, or all of a range, or those that somebody feeds in, by any path.

use std::ops::Range;

use crate::feed::{Feed, FeedGame};
use crate::narrow::{
    Avoid, AvoidCapture, Capture, CaptureAvoid, Captures, Choose, ElseTrap, Escapes, Narrow, Random, Then, Trap,
};
use crate::paper::ByUnit;
use crate::path::Path;
use crate::policy::{Policy, Reading};
use crate::scalar::{self, ByAction};
use crate::seed::Generator;
use crate::start::{Arena, PlayoutStart};
use crate::summary::{Playout, PlayoutSummary};

/// How to play.
///
/// ```
/// use anqi_playout::{PlayoutOptions, Policy, Reading};
///
/// let usual = PlayoutOptions { policy: Policy::Random, draw: 40, cut: None, reading: Reading::Rules };
/// assert_eq!(PlayoutOptions::default(), usual);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct PlayoutOptions {
    /// Among which actions to draw.
    pub policy: Policy,
    /// The game is a draw after so many quiet plies, at least 1.
    pub draw: u32,
    /// The game is cut short after so many plies, at least 1.
    pub cut: Option<u32>,
    /// How the rules are read.
    pub reading: Reading,
}

impl Default for PlayoutOptions {
    fn default() -> PlayoutOptions {
        PlayoutOptions { policy: Policy::Random, draw: 40, cut: None, reading: Reading::Rules }
    }
}

impl PlayoutOptions {
    fn limits(&self) -> PlyLimits {
        // Lanes compare numbers below 2^31.
        PlyLimits { draw: self.draw.min(i32::MAX as u32), cut: self.cut.unwrap_or(u32::MAX) }
    }
}

/// Plays playout number `index` of `seed`.
#[must_use]
#[inline]
pub fn playout(start: &PlayoutStart, options: &PlayoutOptions, seed: u64, index: u64) -> Playout {
    One { start, options, seed, index }.dispatch(options.policy, start.arena)
}

/// Plays the playouts `indices` of `seed` and adds them up.
///
/// The path is a matter of speed only. [`Reading::Paper`] and the policies with a trap have no vector
/// kernel and are played one game at a time on every path; so are those that avoid on
/// [`Path::PORTABLE`].
///
/// ```
/// # use anqi_playout::{PlayoutOptions, Path, PlayoutStart, playouts};
/// # use anqi_rules::{Position, Rules};
/// # let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
/// # let options = PlayoutOptions::default();
/// let mut parts = playouts(&start, &options, 7, 0..300, Path::best());
/// parts += playouts(&start, &options, 7, 300..1000, Path::PORTABLE);
/// assert_eq!(parts, playouts(&start, &options, 7, 0..1000, Path::SCALAR));
/// ```
#[must_use]
pub fn playouts(
    start: &PlayoutStart,
    options: &PlayoutOptions,
    seed: u64,
    indices: Range<u64>,
    path: Path,
) -> PlayoutSummary {
    let mut summary = PlayoutSummary::default();
    for_each(start, options, seed, indices, path, |_, playout| summary.add(playout));
    summary
}

/// Plays the playouts `indices` of `seed` and hands each to `sink` with its index, in the order in
/// which they end.
pub fn for_each(
    start: &PlayoutStart,
    options: &PlayoutOptions,
    seed: u64,
    indices: Range<u64>,
    path: Path,
    mut sink: impl FnMut(u64, Playout),
) {
    let source = BatchSource::Range { start, indices, sink: &mut sink };
    run(source, path.lanes(), start.arena, options, seed, path);
}

/// Plays playout number `index` of `seed` from each start, and hands it to `sink` with its place in
/// the list, in the order in which they end.
///
/// ```
/// use anqi_playout::{PlayoutOptions, Path, PlayoutStart, each, playout};
/// use anqi_rules::{Color, Kind, Piece, Position, Rules};
///
/// let position = Position::initial(&Rules::chen());
/// let next = position.after_flip("c4".parse()?, Piece { color: Color::Black, kind: Kind::King });
/// let games = [(PlayoutStart::from(&position), 0), (PlayoutStart::from(&next), 1)];
/// let options = PlayoutOptions::default();
/// each(&games, &options, 7, Path::best(), |place, found| {
///     let (start, index) = &games[place];
///     assert_eq!(found, playout(start, &options, 7, *index));
/// });
/// # Ok::<(), anqi_rules::ParseError>(())
/// ```
pub fn each(
    games: &[(PlayoutStart, u64)],
    options: &PlayoutOptions,
    seed: u64,
    path: Path,
    sink: impl FnMut(usize, Playout),
) {
    feed(&mut List { games: games.iter().enumerate(), sink }, path.lanes(), options, seed, path);
}

/// The most lanes that a [`feed`] can have.
pub const MOST_LANES: usize = 64;

/// Plays the games of `feed` in so many `lanes` (at least 1 and at most [`MOST_LANES`]) until it gives no more.
///
/// Every lane plays a ply at a time, all of them together. When a game ends its lane hands over the result and asks for the
/// next game, which it begins one ply later; of lanes whose games end at the same time the first comes first. So
/// what the feed is told and asked, and in which order, depends on its games and on the number of lanes, but not on the
/// path: where vectors have other widths, or games are played one by one, results wait for their turn.
pub fn feed(feed: &mut dyn Feed, lanes: usize, options: &PlayoutOptions, seed: u64, path: Path) {
    let lanes = lanes.clamp(1, MOST_LANES);
    let mut next = feed.next();
    while let Some(FeedGame { start: PlayoutStart { arena, .. }, .. }) = next {
        // Comes back when the games are over, or with one in `next` that needs another board.
        run(BatchSource::Feed { feed, arena, next: &mut next }, lanes, arena, options, seed, path);
    }
}

fn run(mut source: BatchSource<'_>, lanes: usize, arena: Arena, options: &PlayoutOptions, seed: u64, path: Path) {
    match options.reading {
        Reading::Rules => {
            let job = PlayoutBatch { limits: options.limits(), seed, source, lanes };
            Many { job, squares: arena.squares, path }.dispatch(options.policy, arena);
        }
        Reading::Paper => source.play_in_turn(lanes, |start, index| playout(start, options, seed, index)),
    }
}

struct List<'a, F> {
    games: std::iter::Enumerate<std::slice::Iter<'a, (PlayoutStart, u64)>>,
    sink: F,
}

impl<F: FnMut(usize, Playout)> Feed for List<'_, F> {
    fn next(&mut self) -> Option<FeedGame> {
        self.games.next().map(|(place, &(start, index))| FeedGame { tag: place as u64, start, index })
    }

    fn done(&mut self, place: u64, playout: Playout) {
        (self.sink)(place as usize, playout);
    }
}

/// When a game ends at the latest.
#[derive(Clone, Copy)]
pub(crate) struct PlyLimits {
    /// So many quiet plies.
    pub(crate) draw: u32,
    /// So many plies.
    pub(crate) cut: u32,
}

/// Many playouts to play by the rules.
pub(crate) struct PlayoutBatch<'a> {
    pub(crate) limits: PlyLimits,
    pub(crate) seed: u64,
    pub(crate) source: BatchSource<'a>,
    /// How many games are under way at a time; see [`feed`].
    pub(crate) lanes: usize,
}

/// Where games come from, and where results go. Not generic: a call costs nothing beside a game, and
/// the kernels are compiled once.
pub(crate) enum BatchSource<'a> {
    /// A range of playouts from one start.
    Range { start: &'a PlayoutStart, indices: Range<u64>, sink: &'a mut dyn FnMut(u64, Playout) },
    /// Single playouts, all in the same arena. `next` has been taken out already.
    Feed { feed: &'a mut dyn Feed, arena: Arena, next: &'a mut Option<FeedGame> },
}

/// A game that was played before its time.
#[derive(Clone, Copy)]
struct EarlyGame {
    tag: u64,
    /// When its lane would find out that it is over.
    end: u64,
    playout: Playout,
}

impl BatchSource<'_> {
    /// Plays one game after the other, and hands over each result when it would come out of its lane.
    pub(crate) fn play_in_turn(&mut self, lanes: usize, mut play: impl FnMut(&PlayoutStart, u64) -> Playout) {
        let mut begin = |source: &mut Self, time: u64| {
            let (tag, start, index) = source.next()?;
            let playout = play(&start, index);
            Some(EarlyGame { tag, end: time + u64::from(playout.plies - start.dealt_plies()), playout })
        };
        let mut games: Vec<Option<EarlyGame>> = (0..lanes).map(|_| begin(self, 0)).collect();
        // The first of those that end first.
        while let Some(first) =
            games.iter_mut().filter(|game| game.is_some()).min_by_key(|game| game.map(|game| game.end))
            && let Some(EarlyGame { tag, end, playout }) = first.take()
        {
            self.done(tag, playout);
            *first = begin(self, end + 1);
        }
    }

    /// The next game: its tag, where it starts and which playout it is.
    #[inline]
    pub(crate) fn next(&mut self) -> Option<(u64, PlayoutStart, u64)> {
        match self {
            BatchSource::Range { start, indices, .. } => indices.next().map(|index| (index, **start, index)),
            BatchSource::Feed { feed, arena, next } => {
                if next.is_none() {
                    **next = feed.next();
                }
                next.take_if(|game| game.start.arena == *arena).map(|game| (game.tag, game.start, game.index))
            }
        }
    }

    /// Hands a result over.
    #[inline]
    pub(crate) fn done(&mut self, tag: u64, playout: Playout) {
        match self {
            BatchSource::Range { sink, .. } => sink(tag, playout),
            BatchSource::Feed { feed, .. } => feed.done(tag, playout),
        }
    }
}

/// Something to do with a policy and a ladder that are known at compile time.
trait Kernel: Sized {
    type Output;

    /// By a policy that the lanes know.
    fn run<P: Narrow, const JUMPS: bool>(self) -> Self::Output;

    /// By a policy that is worth the lanes where they are vector registers.
    fn run_heavy<P: Narrow, const JUMPS: bool>(self) -> Self::Output;

    /// By a policy for one game at a time.
    fn run_alone<C: Choose, const JUMPS: bool>(self) -> Self::Output;

    #[inline]
    fn dispatch(self, policy: Policy, arena: Arena) -> Self::Output {
        if arena.ladder.cannons_jump() { self.policy::<true>(policy) } else { self.policy::<false>(policy) }
    }

    #[inline]
    fn policy<const JUMPS: bool>(self, policy: Policy) -> Self::Output {
        match policy {
            Policy::Random => self.run::<Random, JUMPS>(),
            Policy::Capture => self.run::<Capture, JUMPS>(),
            Policy::Avoid => self.run_heavy::<Avoid, JUMPS>(),
            Policy::CaptureAvoid => self.run_heavy::<CaptureAvoid, JUMPS>(),
            Policy::AvoidCapture => self.run_heavy::<AvoidCapture, JUMPS>(),
            Policy::Trap => self.run_alone::<Trap, JUMPS>(),
            Policy::CaptureTrap => self.run_alone::<ElseTrap<Captures>, JUMPS>(),
            Policy::AvoidTrap => self.run_alone::<ElseTrap<Escapes>, JUMPS>(),
            Policy::CaptureAvoidTrap => self.run_alone::<ElseTrap<Then<Captures, Escapes>>, JUMPS>(),
            Policy::AvoidCaptureTrap => self.run_alone::<ElseTrap<Then<Escapes, Captures>>, JUMPS>(),
        }
    }
}

struct One<'a> {
    start: &'a PlayoutStart,
    options: &'a PlayoutOptions,
    seed: u64,
    index: u64,
}

impl Kernel for One<'_> {
    type Output = Playout;

    #[inline]
    fn run<P: Narrow, const JUMPS: bool>(self) -> Playout {
        self.run_alone::<P, JUMPS>()
    }

    #[inline]
    fn run_heavy<P: Narrow, const JUMPS: bool>(self) -> Playout {
        self.run_alone::<P, JUMPS>()
    }

    #[inline]
    fn run_alone<C: Choose, const JUMPS: bool>(self) -> Playout {
        let rng = Generator::new(self.seed, self.index);
        match self.options.reading {
            Reading::Rules => scalar::play::<C, ByAction, JUMPS>(self.start, self.options.limits(), rng),
            Reading::Paper => scalar::play::<C, ByUnit, JUMPS>(self.start, self.options.limits(), rng),
        }
    }
}

struct Many<'a> {
    job: PlayoutBatch<'a>,
    squares: u32,
    path: Path,
}

impl Kernel for Many<'_> {
    type Output = ();

    fn run<P: Narrow, const JUMPS: bool>(self) {
        self.path.run::<P, JUMPS>(self.job, self.squares);
    }

    fn run_heavy<P: Narrow, const JUMPS: bool>(self) {
        self.path.run_heavy::<P, JUMPS>(self.job, self.squares);
    }

    fn run_alone<C: Choose, const JUMPS: bool>(self) {
        scalar::run::<C, JUMPS>(self.job);
    }
}
