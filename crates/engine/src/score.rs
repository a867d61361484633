//! `Score`: how good a position is for the side to move.

use std::fmt;
use std::ops::Neg;

/// How good a position is for the side to move. Whole numbers, so that sums over what a flip may
/// show are exact; the mean is rounded once.
///
/// A win is [`Score::WIN`] plus the depth that was left when it was found: sooner is better, and the
/// score of a position searched to a depth does not depend on the way to it.
///
/// ```
/// use anqi_engine::Score;
///
/// let score = Score::win(3);
/// assert!(score > Score::win(2) && -score < Score::DRAW);
/// assert_eq!(Score::mean([(Score(10), 1), (Score(-2), 3)]), Score(1));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Score(pub i32);

impl Score {
    /// Nobody is better.
    pub const DRAW: Score = Score(0);
    /// A game won. 32 of them can be added up without overflow.
    pub const WIN: Score = Score(1 << 24);
    /// Better than everything.
    pub const INFINITE: Score = Score(1 << 25);

    /// Won with `depth_left` plies of the search to spare.
    #[must_use]
    pub const fn win(depth_left: u32) -> Score {
        Score(Score::WIN.0 + depth_left as i32)
    }

    /// Lost with `depth_left` plies of the search to spare.
    #[must_use]
    pub const fn loss(depth_left: u32) -> Score {
        Score(-Score::win(depth_left).0)
    }

    /// Whether it is a certain win or loss.
    #[must_use]
    pub const fn is_decided(self) -> bool {
        self.0.unsigned_abs() >= Score::WIN.0 as u32
    }

    /// The mean of scores with their weights, rounded to the nearest (halves away from zero).
    #[must_use]
    pub fn mean(weighted: impl IntoIterator<Item = (Score, u8)>) -> Score {
        let (mut sum, mut weight) = (0, 0);
        for (score, n) in weighted {
            sum += score.0 * i32::from(n);
            weight += i32::from(n);
        }
        Score::quotient(sum, weight)
    }

    /// `sum / weight`, rounded to the nearest. Monotone in `sum`, so bounds of sums are bounds of means.
    #[must_use]
    #[inline]
    pub(crate) fn quotient(sum: i32, weight: i32) -> Score {
        let half = if sum < 0 { -(weight / 2) } else { weight / 2 };
        Score((sum + half) / weight.max(1))
    }
}

impl Neg for Score {
    type Output = Score;
    #[inline]
    fn neg(self) -> Score {
        Score(-self.0)
    }
}

impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            n if self.is_decided() && n > 0 => f.write_str("win"),
            _ if self.is_decided() => f.write_str("loss"),
            n => write!(f, "{n:+}"),
        }
    }
}
