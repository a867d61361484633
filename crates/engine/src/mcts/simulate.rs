//! `simulate`: games played to their end by a policy, and what counts as their result.

use anqi_playout::{End, Path, Playout, PlayoutOptions, PlayoutResult, PlayoutStart, each, playout};
use anqi_rules::Ladder;

use super::MctsOptions;
use super::tree::EndResult;
use crate::eval::{DrawJudge, Weights};
use crate::options::choices;
use crate::player::ResultCounts;

choices! {
    /// What a playout counts for that ends without a winner. A lead is that by the values of the paper's section 4.1,
    /// which add up to 1 for a whole army.
    pub enum Draws {
        Off = "off", "a draw";
        Lead = "lead", "a win of the side with any lead, a draw if there is none";
        Graded = "graded", "a draw and half the lead: between a loss and a win";
    }
}

/// What a simulation brings to the player to move where it began.
#[derive(Clone, Copy, Debug)]
pub(super) struct Simulated {
    pub(super) result: EndResult,
    /// What is added to the result, in the parts of [`Rewards::parts`].
    pub(super) bonus: i32,
}

/// Plays and judges playouts, each with its own random numbers.
#[derive(Debug)]
pub(super) struct Simulator {
    options: PlayoutOptions,
    rewards: Rewards,
    seed: u64,
    played: u64,
    /// The playouts of a batch, in its order.
    batch: Vec<Option<Playout>>,
}

impl Simulator {
    pub(super) fn new(options: &MctsOptions, ladder: Ladder, seed: u64) -> Simulator {
        let cut = (options.cut > 0).then_some(options.cut);
        Simulator {
            options: PlayoutOptions { policy: options.policy, draw: options.playout, cut, reading: options.reading },
            rewards: Rewards::new(ladder, options.draws, options.quality as f32),
            seed,
            played: 0,
            batch: Vec::new(),
        }
    }

    /// Plays one game.
    pub(super) fn play(&mut self, start: &PlayoutStart) -> Simulated {
        let playout = playout(start, &self.options, self.seed, self.played);
        self.played += 1;
        self.rewards.of(&playout)
    }

    /// How it plays.
    pub(super) fn options(&self) -> &PlayoutOptions {
        &self.options
    }

    /// The seed of its playouts.
    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// What a playout of its own counts for.
    pub(super) fn judge(&mut self, playout: &Playout) -> Simulated {
        self.rewards.of(playout)
    }

    /// The number of the next playout.
    pub(super) fn number(&mut self) -> u64 {
        self.played += 1;
        self.played - 1
    }

    /// Plays numbered games side by side, and gives the results in their order.
    pub(super) fn play_all(&mut self, games: &[(PlayoutStart, u64)], mut sink: impl FnMut(usize, Simulated)) {
        let Simulator { options, rewards, seed, batch, .. } = self;
        batch.clear();
        batch.resize(games.len(), None);
        each(games, options, *seed, Path::best(), |place, playout| batch[place] = Some(playout));
        for (place, playout) in batch.iter().enumerate() {
            if let Some(playout) = playout {
                sink(place, rewards.of(playout));
            }
        }
    }
}

/// Says what a playout counts for.
#[derive(Debug)]
pub(super) struct Rewards {
    ladder: Ladder,
    draws: Draws,
    quality: f32,
    /// What the winners had more than the losers.
    leads: Spread,
}

impl Rewards {
    pub(super) fn new(ladder: Ladder, draws: Draws, quality: f32) -> Rewards {
        Rewards { ladder, draws, quality, leads: Spread::default() }
    }

    /// One, as bonuses count: graded draws are whole halves of [`ResultCounts::LEAD`].
    pub(super) const fn parts(draws: Draws) -> f32 {
        match draws {
            Draws::Off | Draws::Lead => 256.0,
            Draws::Graded => 2.0 * ResultCounts::LEAD as f32,
        }
    }

    pub(super) fn of(&mut self, playout: &Playout) -> Simulated {
        let result = match playout.outcome {
            PlayoutResult::Win => EndResult::Win,
            PlayoutResult::Loss => EndResult::Loss,
            PlayoutResult::Draw if self.draws == Draws::Off => EndResult::Draw,
            PlayoutResult::Draw | PlayoutResult::Cut if self.draws == Draws::Graded => {
                return Simulated { result: EndResult::Draw, bonus: self.grade(&playout.end) };
            }
            PlayoutResult::Draw | PlayoutResult::Cut => by_material(self.lead(&playout.end)),
        };
        let quality = self.quality(result, playout);
        Simulated { result, bonus: (quality * Rewards::parts(self.draws)) as i32 }
    }

    fn lead(&self, end: &End) -> i32 {
        lead(&DrawJudge::VALUES, self.ladder, end)
    }

    /// The lead in parts of [`ResultCounts::LEAD`]: of armies that are worth more than the usual one, at most all of it.
    fn grade(&self, end: &End) -> i32 {
        const ALL: i32 = ResultCounts::LEAD as i32;
        (self.lead(end) * ALL / DrawJudge::ARMY).clamp(-ALL, ALL)
    }

    /// Quality-based rewards (Pepels, Tak, Lanctot & Winands 2014): a win counts more the more it leaves
    /// on the board, compared with the wins before; a loss counts less.
    fn quality(&mut self, result: EndResult, playout: &Playout) -> f32 {
        if self.quality == 0.0 || result == EndResult::Draw {
            return 0.0;
        }
        let lead = self.lead(&playout.end) as f32;
        let (sign, margin) = if result == EndResult::Win { (1.0, lead) } else { (-1.0, -lead) };
        let bonus = self.leads.standing(margin);
        self.leads.add(margin);
        sign * self.quality * bonus / 2.0 // as results go from 0 to 1, not from -1 to 1
    }
}

/// A game that did not end goes to the side with more material.
fn by_material(lead: i32) -> EndResult {
    match lead {
        1.. => EndResult::Win,
        0 => EndResult::Draw,
        ..0 => EndResult::Loss,
    }
}

/// What the player to move at the start has more than the other at the end.
pub(super) fn lead(weights: &Weights, ladder: Ladder, end: &End) -> i32 {
    let more = |(rung, set): (u8, anqi_rules::SquareSet)| {
        weights.of(ladder.kind(rung)) * ((set & end.first).len() as i32 - (set & end.second).len() as i32)
    };
    (1..).zip(end.by_rung()).map(more).sum()
}

/// Mean and spread of numbers that come one by one (Welford 1962).
#[derive(Debug, Default)]
struct Spread {
    count: f32,
    mean: f32,
    squares: f32,
}

impl Spread {
    fn add(&mut self, number: f32) {
        self.count += 1.0;
        let off = number - self.mean;
        self.mean += off / self.count;
        self.squares += off * (number - self.mean);
    }

    /// Where a number stands among those before it: from -1, far below, to 1, far above.
    fn standing(&self, number: f32) -> f32 {
        /// How steeply it rises: the paper's k for playouts of other games is between 1.4 and 8.
        const STEEPNESS: f32 = 2.0;
        let deviation = (self.squares / self.count.max(1.0)).sqrt();
        if deviation == 0.0 {
            return 0.0;
        }
        2.0 / (1.0 + libm::expf(-STEEPNESS * (number - self.mean) / deviation)) - 1.0
    }
}
