//! `Standings`: what the games so far say, counted.

use std::collections::BTreeMap;

use anqi_records::Record;
use anqi_rules::Seat;
use anqi_stats::{Block, ChenScores, CrossTable, Games, Points, Tally};
use serde::Serialize;

use crate::journal::{Journal, JournalError};
use crate::luck::{Adjusted, LuckSums};
use crate::pair::PlayedPair;
use crate::plan::Plan;

/// Counts over the pairs of a plan.
#[derive(Clone, Debug)]
pub struct Standings {
    plan: Plan,
    tallies: Vec<Tally>,
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
pub struct Meeting {
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
pub struct Summary {
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
    pub meetings: Vec<Meeting>,
    /// Every contender, in the order of the plan.
    pub players: Vec<Row>,
}

impl Standings {
    /// Nothing was played yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Standings {
        let (players, pairings) = (plan.contenders().len(), plan.pairings().len());
        Standings {
            plan: plan.clone(),
            tallies: vec![Tally::default(); pairings],
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
    pub fn of(journal: &Journal, count: u64) -> Result<Standings, JournalError> {
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
            let ending = Ending::of(game);
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

    /// How many games somebody lost on time or by misbehaving.
    #[must_use]
    pub fn failures(&self) -> u64 {
        self.failures.iter().sum()
    }

    /// Everything that is known.
    #[must_use]
    pub fn summary(&self) -> Summary {
        let names: Vec<&str> = self.plan.contenders().iter().map(|contender| contender.name.as_str()).collect();
        let meeting = |(index, pairing): (usize, &[usize; 2])| Meeting {
            players: pairing.map(|player| names[player].to_owned()),
            block: Block::of(&self.tallies[index], self.plan.sprt()),
            luck: self.luck[index].adjusted(),
        };
        let games = 2 * self.pairs();
        Summary {
            event: self.plan.event().to_owned(),
            rules: self.plan.rules().to_string(),
            seed: self.plan.seed().to_string(),
            pairs: self.pairs(),
            plies: if games > 0 { self.plies as f64 / games as f64 } else { 0.0 },
            first: self.first,
            endings: self.endings.clone(),
            meetings: self.plan.pairings().iter().enumerate().map(meeting).collect(),
            players: (0..names.len()).map(|player| self.row(player)).collect(),
        }
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
struct Ending {
    name: String,
    failure: bool,
}

impl Ending {
    fn of(record: &Record) -> Ending {
        let tag = record.tags().get("Termination").unwrap_or("unknown");
        let fault = record.tags().get("Fault").and_then(|fault| fault.split(": ").nth(1));
        let name = match (tag, fault) {
            (tag, _) if tag.starts_with("repetition") => "repetition".to_owned(),
            ("forfeit", Some(fault)) => format!("forfeit: {fault}"),
            (tag, _) => tag.to_owned(),
        };
        Ending { failure: matches!(tag, "forfeit" | "time"), name }
    }
}

/// The first or second player's share of the points, for tables.
#[must_use]
pub fn share(first: &Games, seat: Seat) -> Option<f64> {
    let total: u64 = first.0.iter().sum();
    let share = first.half_points() as f64 / (2 * total) as f64;
    (total > 0).then_some(match seat {
        Seat::First => share,
        Seat::Second => 1.0 - share,
    })
}
