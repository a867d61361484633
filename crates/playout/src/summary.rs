//! What came out: one `Playout`, or the `PlayoutSummary` of many.

use std::ops::AddAssign;

use anqi_rules::SquareSet;

/// How a playout ended for the player to move at its start.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PlayoutResult {
    /// The opponent had nothing left, or no action.
    Win,
    /// Too many quiet plies.
    Draw,
    /// The player had nothing left, or no action.
    Loss,
    /// The game was not over, but had reached [`PlayoutOptions::cut`](crate::PlayoutOptions::cut).
    Cut,
}

impl PlayoutResult {
    /// The outcome of a game that ended before ply number `plies`, counted from 0, because the side to
    /// move had `lost`, or else was `drawn`, or else was cut. Both sides move in turn, so even plies are
    /// the first player's.
    #[inline(always)]
    pub(crate) fn of(lost: bool, drawn: bool, plies: u32) -> PlayoutResult {
        match (lost, drawn, plies % 2) {
            (true, _, 0) => PlayoutResult::Loss,
            (true, _, _) => PlayoutResult::Win,
            (false, true, _) => PlayoutResult::Draw,
            (false, false, _) => PlayoutResult::Cut,
        }
    }
}

/// One finished playout.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Playout {
    /// How it ended for the player to move at its start.
    pub outcome: PlayoutResult,
    /// Actions played.
    pub plies: u32,
    /// The board at its end.
    pub end: End,
}

impl Playout {
    /// Pieces on the board at the end, face-down ones included.
    #[must_use]
    #[inline]
    pub fn left(&self) -> u32 {
        (self.end.first | self.end.second).len()
    }
}

/// The board at the end of a playout. A playout knows what lies face down.
///
/// ```
/// use anqi_playout::{PlayoutOptions, PlayoutStart, playout};
/// use anqi_rules::{Kind, Position};
///
/// let position: Position = "4/4/4/4/4/4/4/Kg1P r -".parse()?;
/// let options = PlayoutOptions { draw: 1, ..PlayoutOptions::default() };
/// let end = playout(&PlayoutStart::from(&position), &options, 1, 0).end;
/// let kings = end.by_rung()[usize::from(position.ladder().rung(Kind::King)) - 1];
/// assert_eq!((kings & end.first).len(), 1);
/// # Ok::<(), anqi_rules::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct End {
    /// Bit `i` of the rung of every piece, 0 on empty squares; see [`Ladder::rung`](anqi_rules::Ladder::rung).
    pub planes: [u32; 3],
    /// The pieces of the player to move at the start, face-down ones included.
    pub first: SquareSet,
    /// The pieces of the other player, face-down ones included.
    pub second: SquareSet,
    /// The face-down pieces of both.
    pub hidden: SquareSet,
}

impl End {
    /// The board after so many plies, as the side to move sees it.
    #[inline(always)]
    pub(crate) fn new(planes: [u32; 3], own: u32, foe: u32, dark: u32, plies: u32) -> End {
        let (first, second) = if plies.is_multiple_of(2) { (own, foe) } else { (foe, own) };
        End {
            planes: planes.map(|plane| plane & (own | foe)),
            first: SquareSet(first),
            second: SquareSet(second),
            hidden: SquareSet(dark),
        }
    }

    /// The pieces of both players by rung, the pawns of rung 1 first.
    #[must_use]
    #[inline]
    pub fn by_rung(&self) -> [SquareSet; 7] {
        let [p0, p1, p2] = self.planes;
        let rungs = [p0 & !p1 & !p2, !p0 & p1 & !p2, p0 & p1 & !p2, !p0 & !p1 & p2, p0 & !p1 & p2, !p0 & p1 & p2];
        let [pawns, r2, r3, r4, r5, r6] = rungs.map(SquareSet);
        [pawns, r2, r3, r4, r5, r6, SquareSet(p0 & p1 & p2)]
    }
}

/// Many finished playouts, as exact sums: neither order nor grouping changes the result.
///
/// ```
/// use anqi_playout::{End, PlayoutResult, Playout, PlayoutSummary};
///
/// let mut summary = PlayoutSummary::default();
/// summary.add(Playout { outcome: PlayoutResult::Win, plies: 3, end: End::default() });
/// summary.add(Playout { outcome: PlayoutResult::Draw, plies: 5, end: End::default() });
/// assert_eq!((summary.wins, summary.draws, summary.losses), (1, 1, 0));
/// assert_eq!((summary.plies.mean(), summary.plies.sd()), (4.0, 2f64.sqrt()));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PlayoutSummary {
    /// Playouts won by the player to move at the start.
    pub wins: u64,
    /// Playouts drawn.
    pub draws: u64,
    /// Playouts lost.
    pub losses: u64,
    /// Playouts cut short.
    pub cuts: u64,
    /// [`Playout::plies`].
    pub plies: Moments,
    /// [`Playout::left`].
    pub left: Moments,
}

impl PlayoutSummary {
    /// How many playouts there are.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.wins + self.draws + self.losses + self.cuts
    }

    /// Adds one playout.
    #[inline]
    pub fn add(&mut self, playout: Playout) {
        match playout.outcome {
            PlayoutResult::Win => self.wins += 1,
            PlayoutResult::Draw => self.draws += 1,
            PlayoutResult::Loss => self.losses += 1,
            PlayoutResult::Cut => self.cuts += 1,
        }
        self.plies.add(playout.plies);
        self.left.add(playout.left());
    }
}

impl AddAssign for PlayoutSummary {
    fn add_assign(&mut self, other: PlayoutSummary) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        self.cuts += other.cuts;
        self.plies += other.plies;
        self.left += other.left;
    }
}

/// Count, sum and sum of squares of whole numbers: what mean and standard deviation need.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moments {
    /// How many numbers.
    pub count: u64,
    /// Their sum.
    pub sum: u64,
    /// The sum of their squares.
    pub squares: u64,
}

impl Moments {
    #[inline]
    fn add(&mut self, number: u32) {
        let number = u64::from(number);
        self.count += 1;
        self.sum += number;
        self.squares += number * number;
    }

    /// The mean; 0 of nothing.
    #[must_use]
    pub fn mean(&self) -> f64 {
        self.sum as f64 / self.count.max(1) as f64
    }

    /// The standard deviation, with `count - 1` as divisor; 0 of less than two numbers.
    #[must_use]
    pub fn sd(&self) -> f64 {
        // Subtract in whole numbers: the two products are large and nearly equal.
        let [count, sum, squares] = [self.count, self.sum, self.squares].map(u128::from);
        let spread = count * squares - sum * sum;
        (spread as f64 / (count * count.saturating_sub(1)).max(1) as f64).sqrt()
    }

    /// The standard error of the mean.
    #[must_use]
    pub fn standard_error(&self) -> f64 {
        self.sd() / (self.count.max(1) as f64).sqrt()
    }
}

impl AddAssign for Moments {
    fn add_assign(&mut self, other: Moments) {
        self.count += other.count;
        self.sum += other.sum;
        self.squares += other.squares;
    }
}

#[cfg(test)]
mod tests {
    use super::Moments;

    fn series(numbers: &[u32]) -> Moments {
        let mut series = Moments::default();
        numbers.iter().for_each(|&number| series.add(number));
        series
    }

    #[test]
    fn moments() {
        let eight = series(&[2, 4, 4, 4, 5, 5, 7, 9]);
        assert_eq!(eight.mean(), 5.0);
        assert!((eight.sd() - (32.0f64 / 7.0).sqrt()).abs() < 1e-12);
        let mut joined = series(&[2, 4, 4]);
        joined += series(&[4, 5, 5, 7, 9]);
        assert_eq!(joined, eight);
    }

    #[test]
    fn few_numbers() {
        assert_eq!((series(&[]).mean(), series(&[]).sd()), (0.0, 0.0));
        assert_eq!((series(&[3]).mean(), series(&[3]).sd()), (3.0, 0.0));
    }

    /// Sums beyond 2^53 lose digits in floating point; the spread must not.
    #[test]
    fn large_numbers_keep_a_small_spread() {
        let big = series(&[1_000_000_000, 1_000_000_002]);
        assert_eq!(big.sd(), 2f64.sqrt());
    }
}
