//! `Ratings`: many players on one scale, by the model of Bradley, Terry and Davidson.
//!
//! R. R. Davidson, "On extending the Bradley–Terry model to accommodate ties in paired comparison
//! experiments", JASA 65, 1970. With strengths π, a win, a draw and a loss of the first player
//! against the second are in the proportion
//!
//! ```text
//! √(γ π₁ / π₂)  :  ν  :  √(π₂ / γ π₁)
//! ```
//!
//! where ν says how often games are drawn and γ what it is worth to move first. The likelihood has one
//! maximum; Newton's method finds it.

use serde::Serialize;

use crate::bootstrap::{below, generator};
use crate::cholesky;
use crate::estimate::Estimate;

/// All games between two players. Results are half points of player `a`: 0, 1, 2.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Meeting {
    /// One player, by number.
    pub a: usize,
    /// The other.
    pub b: usize,
    /// Pairs by the result of the game that `a` began, then of the game that `b` began.
    pub pairs: [[u64; 3]; 3],
    /// Games without a partner, by their result: those that `a` began, those that `b` began.
    pub singles: [[u64; 3]; 2],
}

impl Meeting {
    /// No games yet.
    #[must_use]
    pub const fn new(a: usize, b: usize) -> Meeting {
        Meeting { a, b, pairs: [[0; 3]; 3], singles: [[0; 3]; 2] }
    }

    /// Results by who began: those that `a` began, those that `b` began.
    fn by_order(&self) -> [[u64; 3]; 2] {
        let mut games = self.singles;
        for (first, row) in self.pairs.iter().enumerate() {
            for (second, count) in row.iter().enumerate() {
                games[0][first] += count;
                games[1][second] += count;
            }
        }
        games
    }

    /// As many pairs and single games as here, each drawn from those that are here.
    fn resampled(&self, rng: &mut impl rand_core::Rng) -> Meeting {
        let mut meeting = Meeting::new(self.a, self.b);
        resample(self.pairs.as_flattened(), meeting.pairs.as_flattened_mut(), rng);
        for (from, to) in self.singles.iter().zip(&mut meeting.singles) {
            resample(from, to, rng);
        }
        meeting
    }
}

fn resample(from: &[u64], to: &mut [u64], rng: &mut impl rand_core::Rng) {
    let total = from.iter().sum();
    for _ in 0..total {
        let mut drawn = below(rng, total);
        for (count, target) in from.iter().zip(to.iter_mut()) {
            if drawn < *count {
                *target += 1;
                break;
            }
            drawn -= count;
        }
    }
}

/// What is estimated, and what is assumed.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct RatingModel {
    /// Whether moving first may be worth something.
    pub first_advantage: bool,
    /// So many wins and as many losses are added to each meeting: 0 is maximum likelihood; ½ keeps
    /// ratings finite for players who won or lost everything.
    pub prior: f64,
}

impl Default for RatingModel {
    fn default() -> RatingModel {
        RatingModel { first_advantage: true, prior: 0.5 }
    }
}

/// Ratings on the Elo scale, with mean 0. Near equality a difference means the same expected score as
/// in Elo; further apart it depends on the draws, as in `BayesElo`.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Ratings<T = f64> {
    /// By player's number.
    pub players: Vec<T>,
    /// What moving first is worth, in Elo, if it was asked.
    pub first_advantage: Option<T>,
    /// ν: 0 without draws; at ν = 2 half the games of equal players are drawn.
    pub draw: T,
}

/// Why there are no ratings.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum RatingError {
    /// A meeting of a player with itself or with nobody.
    #[error("a meeting of players {a} and {b}, expected two different ones below {players}")]
    NoSuchMeeting {
        /// One.
        a: usize,
        /// The other.
        b: usize,
        /// How many there are.
        players: usize,
    },
    /// Two groups never met: nothing compares them.
    #[error("players {0} and {1} are not connected by games")]
    NotConnected(usize, usize),
    /// Somebody won or lost everything, or all games were drawn.
    #[error("the results have no finite ratings: somebody won or lost everything, or every game was drawn")]
    NoMaximum,
}

impl Ratings {
    /// The most likely ratings of players `0..players`.
    ///
    /// # Errors
    /// If a meeting is impossible, players are not connected by games, or no finite ratings are the
    /// most likely.
    pub fn fit(players: usize, meetings: &[Meeting], model: RatingModel) -> Result<Ratings, RatingError> {
        check_connected(players, meetings)?;
        let likelihood = Likelihood::new(players, meetings, model);
        likelihood.maximum().map(|point| likelihood.ratings(&point))
    }

    /// The chances of the first player against the second: to lose, to draw, to win.
    #[must_use]
    pub fn chances(&self, first: usize, second: usize) -> [f64; 3] {
        let ahead = self.players[first] - self.players[second] + self.first_advantage.unwrap_or(0.0);
        chances(ahead / elo_scale(self.draw), self.draw)
    }
}

impl Ratings<Estimate> {
    /// [`Ratings::fit`] with intervals from `samples` resamplings of the pairs of each meeting.
    ///
    /// # Errors
    /// As [`Ratings::fit`]; with `prior` 0 also if a resampling has no finite ratings.
    pub fn fit_with_intervals(
        players: usize,
        meetings: &[Meeting],
        model: RatingModel,
        samples: usize,
        seed: u64,
    ) -> Result<Ratings<Estimate>, RatingError> {
        let fit = Ratings::fit(players, meetings, model)?;
        let mut rng = generator(seed);
        let mut resampled = Vec::with_capacity(samples);
        for _ in 0..samples {
            let meetings: Vec<Meeting> = meetings.iter().map(|meeting| meeting.resampled(&mut rng)).collect();
            resampled.push(Ratings::fit(players, &meetings, model)?);
        }
        let estimate = |value: &dyn Fn(&Ratings) -> f64| {
            Estimate::percentile(value(&fit), &mut resampled.iter().map(value).collect::<Vec<_>>())
        };
        Ok(Ratings {
            players: (0..players).map(|player| estimate(&|ratings| ratings.players[player])).collect(),
            first_advantage: fit.first_advantage.map(|_| estimate(&|ratings| ratings.first_advantage.unwrap_or(0.0))),
            draw: estimate(&|ratings| ratings.draw),
        })
    }
}

/// Chances to lose, draw and win at this distance in log strength.
fn chances(ahead: f64, draw: f64) -> [f64; 3] {
    let (win, loss) = ((ahead / 2.0).exp(), (-ahead / 2.0).exp());
    let sum = win + draw + loss;
    [loss / sum, draw / sum, win / sum]
}

/// Elo points in one unit of log strength: the expected score rises by 1 / (4 + 2ν) at equality, Elo's
/// by 1/4.
fn elo_scale(draw: f64) -> f64 {
    2.0 / (2.0 + draw) * 400.0 / std::f64::consts::LN_10
}

fn check_connected(players: usize, meetings: &[Meeting]) -> Result<(), RatingError> {
    let mut group: Vec<usize> = (0..players).collect();
    for &Meeting { a, b, .. } in meetings {
        if a >= players || b >= players || a == b {
            return Err(RatingError::NoSuchMeeting { a, b, players });
        }
    }
    for meeting in meetings.iter().filter(|meeting| meeting.by_order() != [[0; 3]; 2]) {
        let (keep, join) = (group[meeting.a], group[meeting.b]);
        group.iter_mut().filter(|group| **group == join).for_each(|group| *group = keep);
    }
    match group.iter().position(|&other| other != group[0]) {
        Some(other) => Err(RatingError::NotConnected(0, other)),
        None => Ok(()),
    }
}

/// The logarithm of the likelihood, as a function of a point: log strengths of the players, then if
/// they are free ln γ, then ln ν.
struct Likelihood {
    players: usize,
    /// First player, second player, results in half points of the first.
    games: Vec<(usize, usize, [f64; 3])>,
    advantage: Option<usize>,
    draw: Option<usize>,
    size: usize,
}

impl Likelihood {
    fn new(players: usize, meetings: &[Meeting], model: RatingModel) -> Likelihood {
        let mut games = Vec::new();
        for meeting in meetings {
            let [begun_by_a, begun_by_b] = meeting.by_order();
            if [begun_by_a, begun_by_b] == [[0; 3]; 2] {
                continue;
            }
            let half = model.prior / 2.0;
            let with_prior = |[lost, drawn, won]: [u64; 3]| [lost as f64 + half, drawn as f64, won as f64 + half];
            let [lost, drawn, won] = begun_by_b;
            games.push((meeting.a, meeting.b, with_prior(begun_by_a)));
            games.push((meeting.b, meeting.a, with_prior([won, drawn, lost])));
        }
        // Without draws the likelihood still rises as ν falls to 0.
        let drawn = games.iter().any(|(_, _, results)| results[1] > 0.0);
        let advantage = model.first_advantage.then_some(players);
        let draw = drawn.then_some(players + usize::from(model.first_advantage));
        let size = players + usize::from(model.first_advantage) + usize::from(drawn);
        Likelihood { players, games, advantage, draw, size }
    }

    fn nu(&self, point: &[f64]) -> f64 {
        self.draw.map_or(0.0, |index| point[index].exp())
    }

    fn ahead(&self, point: &[f64], first: usize, second: usize) -> f64 {
        point[first] - point[second] + self.advantage.map_or(0.0, |index| point[index])
    }

    fn value(&self, point: &[f64]) -> f64 {
        let nu = self.nu(point);
        let of_games = |&(first, second, results): &(usize, usize, [f64; 3])| -> f64 {
            let chances = chances(self.ahead(point, first, second), nu);
            results.iter().zip(chances).filter(|(count, _)| **count > 0.0).map(|(count, p)| count * p.ln()).sum()
        };
        self.games.iter().map(of_games).sum()
    }

    /// Slope, and the negative of the curvature.
    fn slope_and_curvature(&self, point: &[f64]) -> (Vec<f64>, Vec<Vec<f64>>) {
        let nu = self.nu(point);
        let mut slope = vec![0.0; self.size];
        let mut curvature = vec![vec![0.0; self.size]; self.size];
        for &(first, second, [lost, drawn, won]) in &self.games {
            let [loss, draw, win] = chances(self.ahead(point, first, second), nu);
            let count = lost + drawn + won;
            let by_ahead = (won - lost - count * (win - loss)) / 2.0;
            let ahead_ahead = count * (win + loss - (win - loss).powi(2)) / 4.0;
            let ahead = [(Some(first), 1.0), (Some(second), -1.0), (self.advantage, 1.0)];
            let ahead = || ahead.into_iter().filter_map(|(index, sign)| Some((index?, sign)));
            for (row, sign) in ahead() {
                slope[row] += sign * by_ahead;
                for (column, other) in ahead() {
                    curvature[row][column] += sign * other * ahead_ahead;
                }
            }
            if let Some(nu) = self.draw {
                slope[nu] += drawn - count * draw;
                curvature[nu][nu] += count * draw * (1.0 - draw);
                for (row, sign) in ahead() {
                    let mixed = -sign * count * draw * (win - loss) / 2.0;
                    curvature[row][nu] += mixed;
                    curvature[nu][row] += mixed;
                }
            }
        }
        // Only differences of strengths count. This holds their sum at 0 and changes nothing else.
        for row in &mut curvature[..self.players] {
            row[..self.players].iter_mut().for_each(|entry| *entry += 1.0);
        }
        (slope, curvature)
    }

    fn maximum(&self) -> Result<Vec<f64>, RatingError> {
        const ROUNDS: usize = 200;
        // A strength e^40 times another's is a maximum at infinity.
        const INFINITE: f64 = 40.0;
        let mut point = vec![0.0; self.size];
        let mut value = self.value(&point);
        for _ in 0..ROUNDS {
            let (slope, curvature) = self.slope_and_curvature(&point);
            let mut step = cholesky::solve(&curvature, &slope).ok_or(RatingError::NoMaximum)?;
            let longest = step.iter().fold(0.0_f64, |longest, part| longest.max(part.abs()));
            if longest < 1e-9 {
                return Ok(point);
            }
            if longest > 2.0 {
                step.iter_mut().for_each(|part| *part *= 2.0 / longest);
            }
            loop {
                let next: Vec<f64> = point.iter().zip(&step).map(|(at, part)| at + part).collect();
                let risen = self.value(&next);
                // Rounding: close to the top steps no longer rise.
                if risen >= value - 1e-12 * value.abs() {
                    (point, value) = (next, risen);
                    break;
                }
                step.iter_mut().for_each(|part| *part /= 2.0);
            }
            if point.iter().any(|at| at.abs() > INFINITE) {
                return Err(RatingError::NoMaximum);
            }
        }
        Err(RatingError::NoMaximum)
    }

    fn ratings(&self, point: &[f64]) -> Ratings {
        let draw = self.nu(point);
        let elo = |strength: &f64| strength * elo_scale(draw);
        Ratings {
            players: point[..self.players].iter().map(elo).collect(),
            first_advantage: self.advantage.map(|index| elo(&point[index])),
            draw,
        }
    }
}
