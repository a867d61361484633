//! `Tally`: how many games and pairs ended how, from one player's point of view.

use std::ops::{Add, AddAssign};

use serde::{Deserialize, Serialize};

/// What one game brought a player.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Points {
    /// 0.
    Loss,
    /// ½.
    Draw,
    /// 1.
    Win,
}

impl Points {
    /// Twice the points: 0, 1 or 2.
    #[must_use]
    pub const fn half_points(self) -> usize {
        self as usize
    }

    /// What the opponent got.
    #[must_use]
    pub const fn inverted(self) -> Points {
        match self {
            Points::Loss => Points::Win,
            Points::Draw => Points::Draw,
            Points::Win => Points::Loss,
        }
    }
}

/// Counts of observations that are each worth a known share of the points: single games (three
/// outcomes) or pairs of games (five).
pub trait Outcomes {
    /// How many games one observation has.
    const GAMES: u32;

    /// Counts from no points to all points, in equal steps.
    fn counts(&self) -> &[u64];

    /// How many observations.
    fn total(&self) -> u64 {
        self.counts().iter().sum()
    }

    /// The shares of the points: 0 to 1 in equal steps.
    fn shares(&self) -> impl Iterator<Item = f64> {
        let last = self.counts().len() - 1;
        (0..=last).map(move |index| index as f64 / last as f64)
    }

    /// Average share of the points and the variance of one observation (divided by n, as fishtest
    /// and fastchess do), if there is one.
    fn moments(&self) -> Option<(f64, f64)> {
        let total = self.total() as f64;
        if total == 0.0 {
            return None;
        }
        let weighted = |value: &dyn Fn(f64) -> f64| -> f64 {
            self.shares().zip(self.counts()).map(|(share, &count)| value(share) * count as f64).sum::<f64>() / total
        };
        let mean = weighted(&|share| share);
        Some((mean, weighted(&|share| (share - mean).powi(2))))
    }
}

/// Games without regard to pairs: losses, draws, wins.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
#[serde(from = "NamedGames", into = "NamedGames")]
pub struct Games(pub [u64; 3]);

/// The same, in files and messages.
#[derive(Serialize, Deserialize)]
struct NamedGames {
    wins: u64,
    losses: u64,
    draws: u64,
}

impl From<NamedGames> for Games {
    fn from(NamedGames { wins, losses, draws }: NamedGames) -> Games {
        Games([losses, draws, wins])
    }
}

impl From<Games> for NamedGames {
    fn from(Games([losses, draws, wins]): Games) -> NamedGames {
        NamedGames { wins, losses, draws }
    }
}

impl Games {
    /// Games lost.
    #[must_use]
    pub const fn losses(&self) -> u64 {
        self.0[0]
    }

    /// Games drawn.
    #[must_use]
    pub const fn draws(&self) -> u64 {
        self.0[1]
    }

    /// Games won.
    #[must_use]
    pub const fn wins(&self) -> u64 {
        self.0[2]
    }

    /// Twice the points.
    #[must_use]
    pub const fn half_points(&self) -> u64 {
        2 * self.wins() + self.draws()
    }

    /// The opponent's view.
    #[must_use]
    pub fn inverted(mut self) -> Games {
        self.0.reverse();
        self
    }
}

impl Outcomes for Games {
    const GAMES: u32 = 1;

    fn counts(&self) -> &[u64] {
        &self.0
    }
}

/// Why counts of pairs and of games are not those of one match.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum CountsError {
    /// There are fewer games than the pairs have.
    #[error("{pairs} pairs are {} games, but wins, losses and draws are {games}", 2 * pairs)]
    TooFewGames {
        /// How many pairs.
        pairs: u64,
        /// How many games.
        games: u64,
    },
    /// They brought other points.
    #[error("the pairs are worth {of_pairs} points, but wins and draws {of_games}")]
    OtherPoints {
        /// The points of the pairs.
        of_pairs: f64,
        /// The points of the games.
        of_games: f64,
    },
}

/// Pairs of games by the points they brought: 0, ½, 1, 1½, 2. Engine authors know this as `Ptnml(0-2)`.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Pairs(pub [u64; 5]);

impl Pairs {
    /// Twice the points.
    #[must_use]
    pub fn half_points(&self) -> u64 {
        (0..).zip(self.0).map(|(half_points, count)| half_points * count).sum()
    }

    /// Pairs that gave more than half the points over those that gave less; infinite or NaN if there
    /// are none of these.
    #[must_use]
    pub fn ratio(&self) -> f64 {
        (self.0[3] + self.0[4]) as f64 / (self.0[0] + self.0[1]) as f64
    }

    /// Whether these pairs can be counted of `games` too; games whose partner is missing may come on top.
    ///
    /// ```
    /// use anqi_stats::{Games, Pairs};
    ///
    /// let pairs = Pairs([0, 0, 1, 1, 0]); // 2½ of 4 points
    /// assert!(pairs.agree_with(&Games([1, 1, 2])).is_ok());
    /// assert!(pairs.agree_with(&Games([1, 1, 3])).is_ok(), "a fifth game");
    /// assert!(pairs.agree_with(&Games([0, 1, 3])).is_err() && pairs.agree_with(&Games([1, 1, 1])).is_err());
    /// ```
    ///
    /// # Errors
    /// If they cannot.
    pub fn agree_with(&self, games: &Games) -> Result<(), CountsError> {
        let (pairs, games_counted) = (self.total(), games.total());
        let Some(alone) = games_counted.checked_sub(2 * pairs) else {
            return Err(CountsError::TooFewGames { pairs, games: games_counted });
        };
        let (of_pairs, of_games) = (self.half_points(), games.half_points());
        if of_games < of_pairs || of_games > of_pairs + 2 * alone {
            let points = |half_points: u64| half_points as f64 / 2.0;
            return Err(CountsError::OtherPoints { of_pairs: points(of_pairs), of_games: points(of_games) });
        }
        Ok(())
    }

    /// The opponent's view.
    #[must_use]
    pub fn inverted(mut self) -> Pairs {
        self.0.reverse();
        self
    }
}

impl Outcomes for Pairs {
    const GAMES: u32 = 2;

    fn counts(&self) -> &[u64] {
        &self.0
    }
}

/// Games, and the pairs that are complete.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug, Serialize, Deserialize)]
pub struct Tally {
    /// All games.
    pub games: Games,
    /// Those of them that came in pairs.
    pub pairs: Pairs,
}

impl Tally {
    /// Counts a game that has no partner.
    pub fn add_game(&mut self, points: Points) {
        self.games.0[points.half_points()] += 1;
    }

    /// Counts two games of one deal.
    pub fn add_pair(&mut self, points: [Points; 2]) {
        points.into_iter().for_each(|points| self.add_game(points));
        self.pairs.0[points[0].half_points() + points[1].half_points()] += 1;
    }

    /// The opponent's view.
    #[must_use]
    pub fn inverted(self) -> Tally {
        Tally { games: self.games.inverted(), pairs: self.pairs.inverted() }
    }
}

impl AddAssign for Tally {
    fn add_assign(&mut self, other: Tally) {
        let add =
            |counts: &mut [u64], more: &[u64]| counts.iter_mut().zip(more).for_each(|(count, more)| *count += more);
        add(&mut self.games.0, &other.games.0);
        add(&mut self.pairs.0, &other.pairs.0);
    }
}

impl Add for Tally {
    type Output = Tally;

    fn add(mut self, other: Tally) -> Tally {
        self += other;
        self
    }
}

impl std::iter::Sum for Tally {
    fn sum<I: Iterator<Item = Tally>>(tallies: I) -> Tally {
        tallies.fold(Tally::default(), Add::add)
    }
}
