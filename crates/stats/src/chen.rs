//! Chen's scores: how a program did as first player, as second player, and over all.
//!
//! B.-N. Chen, B.-J. Shen and T.-S. Hsu, "Chinese Dark Chess", ICGA Journal 33(2), 2010, section 5.
//! The printed formula sums over the opponents; the printed values are these sums divided by their
//! number, which is what we do.

use serde::Serialize;

use crate::tally::{Games, Outcomes, Points};

/// Who did how against whom, by who moved first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrossTable {
    players: usize,
    /// The first player's results, at `first * players + second`.
    games: Vec<Games>,
}

/// Scores from 0 to 1; none where nothing was played.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct ChenScores {
    /// As first player, averaged over the opponents.
    pub gs_first: Option<f64>,
    /// As second player.
    pub gs_second: Option<f64>,
    /// The mean of both.
    pub ts: Option<f64>,
}

impl CrossTable {
    /// An empty table.
    #[must_use]
    pub fn new(players: usize) -> CrossTable {
        CrossTable { players, games: vec![Games::default(); players * players] }
    }

    /// How many players.
    #[must_use]
    pub const fn players(&self) -> usize {
        self.players
    }

    /// Counts one game by the first player's points.
    pub fn add(&mut self, first: usize, second: usize, points: Points) {
        self.games_mut(first, second).0[points.half_points()] += 1;
    }

    /// The first player's results.
    #[must_use]
    pub fn games(&self, first: usize, second: usize) -> Games {
        self.games[first * self.players + second]
    }

    /// The same, to be filled in.
    pub fn games_mut(&mut self, first: usize, second: usize) -> &mut Games {
        &mut self.games[first * self.players + second]
    }

    /// All games between two players, in both orders, from the point of view of `player`.
    #[must_use]
    pub fn between(&self, player: usize, opponent: usize) -> Games {
        let (first, second) = (self.games(player, opponent), self.games(opponent, player).inverted());
        Games(std::array::from_fn(|index| first.0[index] + second.0[index]))
    }

    /// GS_first, GS_second and TS of a player.
    #[must_use]
    pub fn scores(&self, player: usize) -> ChenScores {
        let opponents = || (0..self.players).filter(move |&opponent| opponent != player);
        let gs_first = average(opponents().map(|opponent| self.games(player, opponent)));
        let gs_second = average(opponents().map(|opponent| self.games(opponent, player).inverted()));
        let ts = gs_first.zip(gs_second).map(|(first, second)| f64::midpoint(first, second));
        ChenScores { gs_first, gs_second, ts }
    }
}

/// The average share of the points over the opponents that were met.
fn average(meetings: impl Iterator<Item = Games>) -> Option<f64> {
    let shares = meetings.filter_map(|games| Some(games.moments()?.0));
    let (sum, count) = shares.fold((0.0, 0), |(sum, count), share| (sum + share, count + 1));
    (count > 0).then(|| sum / f64::from(count))
}
