//! `Stats`: what games look like, over many of them.

use std::collections::BTreeMap;

use anqi_rules::{Ply, Rules, Seat};
use serde::Serialize;

use crate::replay::Replay;
use crate::result::GameResult;

/// Sums over replayed games; [`summary`](Stats::summary) divides them.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Stats {
    plies: Moments,
    flips: u64,
    captures: u64,
    steps: u64,
    flip_squares: u64,
    flip_outcomes: u64,
    endings: BTreeMap<String, u64>,
    /// Half points of the first player.
    score: Moments,
    wins: u64,
    draws: u64,
    losses: u64,
    /// The rules with the largest state space.
    largest: Option<Rules>,
}

impl Stats {
    /// Counts a game, as far as it was played.
    pub fn add(&mut self, replay: &Replay) {
        let game = &replay.game;
        self.plies.add(game.plies().len() as u64);
        let size = Rules::state_space_log10;
        if self.largest.is_none_or(|largest| size(&largest) < size(game.rules())) {
            self.largest = Some(*game.rules());
        }
        for ((ply, before), after) in game.plies().iter().zip(game.positions()).zip(&game.positions()[1..]) {
            match ply {
                Ply::Flip(..) => self.flips += 1,
                Ply::Step { .. } => self.captures += u64::from(after.quiet() == 0),
            }
            let hidden = before.hidden().len();
            self.steps += u64::from(before.count_steps());
            self.flip_squares += u64::from(hidden);
            self.flip_outcomes += u64::from(hidden * before.pool().kinds());
        }
        let ending = match (game.outcome(), replay.result) {
            (Some(outcome), _) => outcome.termination.to_string(),
            (None, GameResult::Unfinished) => "unfinished".to_owned(),
            (None, _) => "unstated".to_owned(),
        };
        *self.endings.entry(ending).or_default() += 1;
        let (points, count) = match game.outcome().map_or(replay.result, |outcome| Some(outcome).into()) {
            GameResult::Won(Seat::First) => (2, &mut self.wins),
            GameResult::Drawn => (1, &mut self.draws),
            GameResult::Won(Seat::Second) => (0, &mut self.losses),
            GameResult::Unfinished => return,
        };
        *count += 1;
        self.score.add(points);
    }

    /// The averages.
    #[must_use]
    pub fn summary(&self) -> GamesSummary {
        let games = self.plies.count;
        let per_position = |sum: u64| ratio(sum, self.plies.sum);
        let choices = per_position(self.steps + self.flip_squares);
        let game_tree = ratio(self.plies.sum, games).zip(choices).map(|(plies, choices)| plies * choices.log10());
        GamesSummary {
            games,
            length: self.plies.spread(),
            flips: ratio(self.flips, games),
            captures: ratio(self.captures, games),
            branching: Branching {
                moves: per_position(self.steps),
                with_flip_squares: choices,
                with_flip_outcomes: per_position(self.steps + self.flip_outcomes),
            },
            endings: self.endings.clone(),
            first_player: FirstPlayer {
                wins: self.wins,
                draws: self.draws,
                losses: self.losses,
                score: self.score.interval().map(|interval| interval.scaled(0.5)),
            },
            complexity: Complexity {
                state_space_log10: self.largest.map(|rules| tenths(rules.state_space_log10())),
                game_tree_log10: game_tree.map(tenths),
            },
        }
    }
}

/// What many games look like. Averages over nothing are `None`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct GamesSummary {
    /// How many games.
    pub games: u64,
    /// Plies a game.
    pub length: Option<Spread>,
    /// Flips a game.
    pub flips: Option<f64>,
    /// Captures a game.
    pub captures: Option<f64>,
    /// How many choices there were, over all positions in which a ply was made.
    pub branching: Branching,
    /// Games by the reason for their end; `unstated` if the record gives a result that the board
    /// does not show and no reason, `unfinished` if it gives none.
    pub endings: BTreeMap<String, u64>,
    /// How the first player did.
    pub first_player: FirstPlayer,
    /// How large the game is.
    pub complexity: Complexity,
}

/// How large a game is, in powers of ten, as the literature estimates it (Chen et al., section 1).
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Complexity {
    /// Of the rules with the most states: [`Rules::state_space_log10`].
    pub state_space_log10: Option<f64>,
    /// The choices of a position, a flip counted by its square, to the power of the plies of a game.
    pub game_tree_log10: Option<f64>,
}

/// Logarithms are not the same to the last digit on every machine.
fn tenths(value: f64) -> f64 {
    (value * 10.0).round() / 10.0
}

/// How numbers lie.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Spread {
    /// Average.
    pub mean: f64,
    /// Standard deviation of the sample, if it has more than one member.
    pub sd: Option<f64>,
    /// Smallest.
    pub min: u64,
    /// Largest.
    pub max: u64,
}

/// Choices a position, by three ways of counting.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Branching {
    /// Moves of revealed pieces.
    pub moves: Option<f64>,
    /// And one for each face-down square.
    pub with_flip_squares: Option<f64>,
    /// Or rather one for each face-down square and each different piece that may lie there.
    pub with_flip_outcomes: Option<f64>,
}

/// How the first player did, in games with a result.
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct FirstPlayer {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// Points a game; a draw is half a point.
    pub score: Option<Interval>,
}

/// An average with its 95 % confidence interval (normal approximation).
#[derive(Clone, Copy, PartialEq, Debug, Serialize)]
pub struct Interval {
    /// The average.
    pub mean: f64,
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    fn scaled(self, factor: f64) -> Interval {
        Interval { mean: self.mean * factor, low: self.low * factor, high: self.high * factor }
    }
}

fn ratio(sum: u64, count: u64) -> Option<f64> {
    (count > 0).then(|| sum as f64 / count as f64)
}

/// Whole numbers, exact until the last division.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
struct Moments {
    count: u64,
    sum: u64,
    squares: u128,
    min: u64,
    max: u64,
}

impl Moments {
    fn add(&mut self, value: u64) {
        self.min = if self.count == 0 { value } else { self.min.min(value) };
        self.max = self.max.max(value);
        self.count += 1;
        self.sum += value;
        self.squares += u128::from(value) * u128::from(value);
    }

    /// Variance of the sample, with n − 1.
    fn variance(&self) -> Option<f64> {
        let (n, sum) = (u128::from(self.count), u128::from(self.sum));
        (n > 1).then(|| (n * self.squares - sum * sum) as f64 / (n * (n - 1)) as f64)
    }

    fn spread(&self) -> Option<Spread> {
        let mean = ratio(self.sum, self.count)?;
        Some(Spread { mean, sd: self.variance().map(f64::sqrt), min: self.min, max: self.max })
    }

    fn interval(&self) -> Option<Interval> {
        const TWO_SIDED_95: f64 = 1.959_963_984_540_054;
        let mean = ratio(self.sum, self.count)?;
        let margin = TWO_SIDED_95 * (self.variance()? / self.count as f64).sqrt();
        Some(Interval { mean, low: mean - margin, high: mean + margin })
    }
}

#[cfg(test)]
mod tests {
    use super::Moments;

    #[test]
    fn known_values() {
        let mut sample = Moments::default();
        assert!(sample.spread().is_none() && sample.interval().is_none());
        [2, 4, 4, 4, 5, 5, 7, 9].into_iter().for_each(|value| sample.add(value));
        let spread = sample.spread().unwrap();
        assert_eq!((spread.mean, spread.min, spread.max), (5.0, 2, 9));
        assert!((spread.sd.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
        let interval = sample.interval().unwrap();
        assert!((interval.high - interval.mean - 1.959_964 * (32.0_f64 / 56.0).sqrt()).abs() < 1e-5);
    }
}
