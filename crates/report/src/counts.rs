//! What the page shows beyond the standings: lengths, draws, seats.

use std::collections::BTreeMap;

use anqi_lab::{Pair, Plan, PlayedPair};
use anqi_stats::{Games, Points};

/// Sums over the games of a plan.
#[derive(Clone, Debug)]
pub(crate) struct PlanCounts {
    /// Plies of each game.
    pub(crate) lengths: Vec<u64>,
    /// Drawn games by the reason.
    pub(crate) draws: BTreeMap<String, u64>,
    /// Each contender's games as first and as second player.
    pub(crate) seats: Vec<[Games; 2]>,
}

impl PlanCounts {
    pub(crate) fn new(plan: &Plan) -> PlanCounts {
        PlanCounts {
            lengths: Vec::new(),
            draws: BTreeMap::new(),
            seats: vec![[Games::default(); 2]; plan.contenders().len()],
        }
    }

    pub(crate) fn add(&mut self, pair: &Pair, played: &PlayedPair) {
        let points = played.points();
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
}
