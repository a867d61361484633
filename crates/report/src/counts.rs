//! What the page shows beyond the standings: lengths, draws, seats, ratings.

use std::collections::BTreeMap;

use anqi_lab::{Pair, Plan, PlayedPair};
use anqi_stats::{Estimate, Games, Meeting, Outcomes, Points, RatingModel, Ratings};

/// Sums over the games of a plan.
#[derive(Clone, Debug)]
pub(crate) struct Counts {
    /// Plies of each game.
    pub(crate) lengths: Vec<u64>,
    /// Drawn games by the reason.
    pub(crate) draws: BTreeMap<String, u64>,
    /// Each contender's games as first and as second player.
    pub(crate) seats: Vec<[Games; 2]>,
    meetings: Vec<Meeting>,
}

impl Counts {
    pub(crate) fn new(plan: &Plan) -> Counts {
        Counts {
            lengths: Vec::new(),
            draws: BTreeMap::new(),
            seats: vec![[Games::default(); 2]; plan.contenders().len()],
            meetings: plan.pairings().iter().map(|&[a, b]| Meeting::new(a, b)).collect(),
        }
    }

    pub(crate) fn add(&mut self, pair: &Pair, played: &PlayedPair) {
        let points = played.points();
        let meeting = self.meetings.iter_mut().find(|meeting| [meeting.a, meeting.b] == pair.contenders);
        if let Some(meeting) = meeting {
            meeting.pairs[points[0].half_points()][points[1].half_points()] += 1;
        }
        let [one, two] = pair.contenders;
        for (game, (points, record)) in points.into_iter().zip(&played.games).enumerate() {
            self.lengths.push(record.plies().len() as u64);
            if points == Points::Draw {
                let reason = record.tags().get("Termination").unwrap_or("unknown");
                // `repetition 3x4` tells more than a table wants.
                let reason = if reason.starts_with("repetition") { "repetition" } else { reason };
                *self.draws.entry(reason.to_owned()).or_default() += 1;
            }
            self.seats[one][game].0[points.half_points()] += 1;
            self.seats[two][1 - game].0[points.inverted().half_points()] += 1;
        }
    }

    /// Ratings of all contenders, if their games connect them.
    pub(crate) fn ratings(&self) -> Option<Ratings<Estimate>> {
        const SAMPLES: usize = 1000;
        const SEED: u64 = 1;
        let played = self.seats.iter().all(|[first, second]| first.total() + second.total() > 0);
        let fit = || {
            let players = self.seats.len();
            Ratings::fit_with_intervals(players, &self.meetings, RatingModel::default(), SAMPLES, SEED).ok()
        };
        played.then(fit).flatten()
    }
}
