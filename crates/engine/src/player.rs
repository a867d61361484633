//! What a player is, and what it answers.

use std::ops::AddAssign;
use std::time::Duration;

use anqi_rules::{Game, Move, Piece, Seed};
use anqi_task::Stop;

use crate::limits::Limits;
use crate::score::Score;

/// Anything that can choose a move. It sees the game as both sides do; never the deal.
pub trait Player: Send {
    /// Chooses a legal move. `None` only if the game is over.
    ///
    /// With a limit of nodes, depth or playouts and one thread the choice depends on nothing else
    /// than the game, the limit and the player's own seed.
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice>;

    /// Chooses like [`choose`](Player::choose), but scores every move exactly, not only the best one. Players that do so
    /// anyway just choose.
    fn analyse(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.choose(game, limits, stop)
    }

    /// Takes its random choices from `seed` from now on, as if it had been built with it.
    fn reseed(&mut self, seed: Seed);

    /// Thinks while the other side does, until it is told to stop. What it finds helps the next choice, which then
    /// depends on more than the game. Those who cannot use it do nothing.
    fn ponder(&mut self, _game: &Game, _stop: &Stop) {}
}

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Purpose {
    /// The best move; the others may have bounds only.
    Choice,
    /// A score of every move.
    Analysis,
}

/// A move and the reasons for it.
#[derive(Clone, PartialEq, Debug)]
pub struct Choice {
    /// The move.
    pub mv: Move,
    /// What it is worth to the mover.
    pub score: Score,
    /// How the player thinks the game goes on; it ends with a flip, because nobody knows what comes up.
    pub pv: Vec<Move>,
    /// Every move that was looked at, the best first.
    pub candidates: Vec<Candidate>,
    /// What it took.
    pub stats: SearchStats,
}

/// One of the moves a player could have chosen.
#[derive(Clone, PartialEq, Debug)]
pub struct Candidate {
    /// The move.
    pub mv: Move,
    /// What it is worth to the mover; for a flip the mean over what may come up.
    pub score: Score,
    /// For a flip: each piece that may come up, how many of it there are, and what it would be worth.
    /// Those that a search did not need are missing, unless it scores every move ([`Player::analyse`]).
    pub outcomes: Vec<FlipOutcome>,
    /// How the random games went that began with this move, if any were played.
    pub results: Option<ResultCounts>,
}

impl Candidate {
    /// The standard deviation of what a flip brings; 0 for a step.
    #[must_use]
    pub fn spread(&self) -> f64 {
        let weight: f64 = self.outcomes.iter().map(|o| f64::from(o.count)).sum();
        if weight == 0.0 {
            return 0.0;
        }
        let mean = |f: &dyn Fn(f64) -> f64| {
            self.outcomes.iter().map(|o| f64::from(o.count) * f(f64::from(o.score.0))).sum::<f64>() / weight
        };
        let centre = mean(&|score| score);
        mean(&|score| (score - centre).powi(2)).sqrt()
    }
}

impl Candidate {
    /// How likely a flip brings less than `score`; 0 or 1 for a step.
    ///
    /// Of the two choices of Chen et al., section 2.3, the flip has the better mean, 20, and is worse than 10 in two of three
    /// cases:
    ///
    /// ```
    /// use anqi_engine::{Candidate, FlipOutcome, Score};
    /// # let piece = anqi_rules::Piece::from_char('K').unwrap();
    /// let outcome = |score| FlipOutcome { piece, count: 1, score: Score(score) };
    /// let outcomes: Vec<_> = [-20, 0, 80].into_iter().map(outcome).collect();
    /// let score = Score::mean(outcomes.iter().map(|outcome| (outcome.score, outcome.count)));
    /// let flip = Candidate { mv: "a1".parse()?, score, outcomes, results: None };
    /// assert_eq!(flip.score, Score(20));
    /// assert_eq!(flip.chance_below(Score(10)), 2.0 / 3.0);
    /// # Ok::<(), anqi_rules::ParseError>(())
    /// ```
    #[must_use]
    pub fn chance_below(&self, score: Score) -> f64 {
        let weight =
            |outcomes: &mut dyn Iterator<Item = &FlipOutcome>| outcomes.map(|o| f64::from(o.count)).sum::<f64>();
        if self.outcomes.is_empty() {
            return f64::from(u8::from(self.score < score));
        }
        weight(&mut self.outcomes.iter().filter(|outcome| outcome.score < score)) / weight(&mut self.outcomes.iter())
    }
}

/// How many games were won, drawn and lost, and what drawn ones were worth where they were graded.
///
/// ```
/// use anqi_engine::ResultCounts;
///
/// let results = ResultCounts { wins: 3, draws: 2, losses: 1, leads: 0 };
/// assert_eq!(results.count(), 6);
/// assert_eq!(results.balance(), 2.0 / 6.0);
/// assert_eq!(results.shares(), [3.0 / 6.0, 2.0 / 6.0, 1.0 / 6.0]);
///
/// // Two draws with two pawns more, 0.1 of an army each.
/// assert_eq!(ResultCounts { leads: 20, ..results }.balance(), 2.2 / 6.0);
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ResultCounts {
    /// Games won.
    pub wins: u64,
    /// Games drawn.
    pub draws: u64,
    /// Games lost.
    pub losses: u64,
    /// The sum of what graded draws were worth (`draws=graded`), in parts of [`LEAD`](ResultCounts::LEAD).
    pub leads: i64,
}

impl ResultCounts {
    /// A lead of a whole army, which would make a draw a win.
    pub const LEAD: i64 = 100;

    /// How many games there were.
    #[must_use]
    pub fn count(self) -> u64 {
        self.wins + self.draws + self.losses
    }

    /// `P(win) − P(loss)`, and what graded draws add; 0 if there were no games.
    #[must_use]
    pub fn balance(self) -> f64 {
        let leads = self.leads as f64 / ResultCounts::LEAD as f64;
        (self.wins as f64 - self.losses as f64 + leads) / self.count().max(1) as f64
    }

    /// The shares that were won, drawn and lost; nothing if there were no games.
    #[must_use]
    pub fn shares(self) -> [f64; 3] {
        let all = self.count().max(1) as f64;
        [self.wins, self.draws, self.losses].map(|part| part as f64 / all)
    }
}

impl AddAssign for ResultCounts {
    fn add_assign(&mut self, other: ResultCounts) {
        self.wins += other.wins;
        self.draws += other.draws;
        self.losses += other.losses;
        self.leads += other.leads;
    }
}

/// What one reveal of a flip is worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FlipOutcome {
    /// What comes up.
    pub piece: Piece,
    /// How many of it are face down.
    pub count: u8,
    /// What that is worth to the player who flips.
    pub score: Score,
}

/// What a search took.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct SearchStats {
    /// Positions looked at.
    pub nodes: u64,
    /// The last depth searched to the end.
    pub depth: u32,
    /// Random games played.
    pub playouts: u64,
    /// Time by the clock.
    pub time: Duration,
}
