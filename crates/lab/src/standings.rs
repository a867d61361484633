//! `Standings`: what the games so far say, counted.

use std::collections::BTreeMap;

use anqi_records::Record;
use anqi_stats::{Block, ChenScores, CrossTable, Estimate, Games, Meeting, Points, RatingModel, Ratings, Tally};
use serde::Serialize;

use crate::journal::{MatchJournal, MatchJournalError};
use crate::luck::{Adjusted, LuckSums};
use crate::pair::PlayedPair;
use crate::plan::Plan;

/// How often pairs are drawn again for the intervals of ratings.
const RESAMPLINGS: usize = 200;

/// Counts over the pairs of a plan.
#[derive(Clone, Debug)]
pub struct Standings {
    plan: Plan,
    tallies: Vec<Tally>,
    meetings: Vec<Meeting>,
    luck: Vec<LuckSums>,
    table: CrossTable,
    /// By the first player's points.
    first: Games,
    endings: BTreeMap<String, u64>,
    failures: Vec<u64>,
    plies: u64,
}

/// One pairing, from the point of view of the contender named first.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct PairingResult {
    /// The two names.
    pub players: [String; 2],
    /// The result block.
    pub block: Block,
    /// The score without the luck.
    pub luck: Option<Adjusted>,
}

/// One contender.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// Its name.
    pub name: String,
    /// Its games.
    pub games: Games,
    /// Chen's scores.
    pub chen: ChenScores,
    /// Its games against each of the others; none against itself.
    pub against: Vec<Option<Games>>,
    /// How many games it lost on time or by misbehaving.
    pub failures: u64,
}

/// Everything that is known, for programs.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct StandingsSummary {
    /// The event.
    pub event: String,
    /// The rules.
    pub rules: String,
    /// The seed.
    pub seed: String,
    /// How many pairs were counted.
    pub pairs: u64,
    /// How many plies the games had on average.
    pub plies: f64,
    /// The first players' losses, draws and wins.
    pub first: Games,
    /// How many games ended why.
    pub endings: BTreeMap<String, u64>,
    /// Every pairing.
    pub pairings: Vec<PairingResult>,
    /// Every contender, in the order of the plan.
    pub players: Vec<Row>,
    /// Bradley–Terry–Davidson ratings of all of them on one scale, if there are more than two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ratings: Option<Ratings<Estimate>>,
}

impl Standings {
    /// Nothing was played yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Standings {
        let (players, pairings) = (plan.contenders().len(), plan.pairings().len());
        let meetings = plan.pairings().iter().map(|&[one, two]| Meeting::new(one, two)).collect();
        Standings {
            plan: plan.clone(),
            tallies: vec![Tally::default(); pairings],
            meetings,
            luck: vec![LuckSums::default(); pairings],
            table: CrossTable::new(players),
            first: Games::default(),
            endings: BTreeMap::new(),
            failures: vec![0; players],
            plies: 0,
        }
    }

    /// Counts the first `count` pairs of a journal in the order of the plan, so that every digit is the same however
    /// they were played.
    ///
    /// # Errors
    /// If one is not there.
    pub fn of(journal: &MatchJournal, count: u64) -> Result<Standings, MatchJournalError> {
        let mut standings = Standings::new(journal.plan());
        for number in 0..count {
            standings.add(&journal.pair(number)?);
        }
        Ok(standings)
    }

    /// Counts a pair.
    pub fn add(&mut self, played: &PlayedPair) {
        let Some(pair) = self.plan.pair(played.number) else { return };
        let pairing = (pair.number % self.tallies.len() as u64) as usize;
        let points = played.points();
        self.tallies[pairing].add_pair(points);
        self.meetings[pairing].pairs[points[0].half_points()][points[1].half_points()] += 1;
        if let Some(luck) = played.luck() {
            let share = (points[0].half_points() + points[1].half_points()) as f64 / 4.0;
            self.luck[pairing].add(share, luck);
        }
        let [one, two] = pair.contenders;
        for ((game, [first, second]), points) in
            played.games.iter().zip([[one, two], [two, one]]).zip([points[0], points[1].inverted()])
        {
            self.table.add(first, second, points);
            self.first.0[points.half_points()] += 1;
            self.plies += game.plies().len() as u64;
            let ending = GameEnding::of(game);
            if ending.failure && points != Points::Draw {
                self.failures[if points == Points::Win { second } else { first }] += 1;
            }
            *self.endings.entry(ending.name).or_default() += 1;
        }
    }

    /// The plan.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many pairs were counted.
    #[must_use]
    pub fn pairs(&self) -> u64 {
        self.first.0.iter().sum::<u64>() / 2
    }

    /// One pairing, by its place in the plan.
    #[must_use]
    pub fn tally(&self, pairing: usize) -> Tally {
        self.tallies[pairing]
    }

    /// How many games were lost on time or by misbehaviour.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Every contender, in the order of the plan.
    pub fn rows(&self) -> impl Iterator<Item = Row> {
        (0..self.table.players()).map(|player| self.row(player))
    }

    /// Everything that is known.
    #[must_use]
    pub fn summary(&self) -> StandingsSummary {
        let names: Vec<&str> = self.plan.contenders().iter().map(|contender| contender.name.as_str()).collect();
        let result = |(index, pairing): (usize, &[usize; 2])| PairingResult {
            players: pairing.map(|player| names[player].to_owned()),
            block: Block::of(&self.tallies[index], self.plan.sprt()),
            luck: self.luck[index].adjusted(),
        };
        let games = 2 * self.pairs();
        StandingsSummary {
            event: self.plan.event().to_owned(),
            rules: self.plan.rules().to_string(),
            seed: self.plan.seed().to_string(),
            pairs: self.pairs(),
            plies: if games > 0 { self.plies as f64 / games as f64 } else { 0.0 },
            first: self.first,
            endings: self.endings.clone(),
            pairings: self.plan.pairings().iter().enumerate().map(result).collect(),
            players: self.rows().collect(),
            ratings: if names.len() > 2 { self.ratings() } else { None },
        }
    }

    fn ratings(&self) -> Option<Ratings<Estimate>> {
        let players = self.plan.contenders().len();
        Ratings::fit_with_intervals(players, &self.meetings, RatingModel::default(), RESAMPLINGS, 1).ok()
    }

    fn row(&self, player: usize) -> Row {
        let met = |other: &usize| {
            let met = |pairing: &[usize; 2]| pairing.contains(&player) && pairing.contains(other);
            *other != player && self.plan.pairings().iter().any(met)
        };
        let against: Vec<Option<Games>> = (0..self.table.players())
            .map(|other| Some(other).filter(met).map(|other| self.table.between(player, other)))
            .collect();
        let sum = |index: usize| against.iter().flatten().map(|games| games.0[index]).sum();
        Row {
            name: self.plan.contenders()[player].name.clone(),
            games: Games(std::array::from_fn(sum)),
            chen: self.table.scores(player),
            against,
            failures: self.failures[player],
        }
    }
}

/// Why a game ended, as tables say it: `repetition 3x4` is a repetition, `forfeit` is told apart by its fault.
struct GameEnding {
    name: String,
    failure: bool,
}

impl GameEnding {
    fn of(record: &Record) -> GameEnding {
        let tag = record.tags().get("Termination").unwrap_or("unknown");
        let fault = record.tags().get("Fault").and_then(|fault| fault.split(": ").nth(1));
        let name = match (tag, fault) {
            (tag, _) if tag.starts_with("repetition") => "repetition".to_owned(),
            ("forfeit", Some(fault)) => format!("forfeit: {fault}"),
            (tag, _) => tag.to_owned(),
        };
        GameEnding { failure: matches!(tag, "forfeit" | "time"), name }
    }
}
