//! The strongest player: principal-variation search over steps and flips, on all threads, with endgame tables.
//!
//! Scores are expectations: an evaluation becomes `P(win) − P(loss)` before it is searched, because only expectations may be
//! averaged over what a flip shows.

mod chances;
mod evaluator;
pub(crate) mod expectation;
mod helpers;
mod net;
mod search;
mod small;
mod together;

use std::sync::Arc;

use anqi_rules::{Game, Move, Seed};
use anqi_task::Stop;

use crate::eval::{Hand, Linear, Network};
use crate::limits::{Limits, Meter};
use crate::line::SearchLine;
use crate::minimax::transposition::TranspositionTable;
use crate::options::{OnOff, WeightList, WeightRange, options};
use crate::player::{Candidate, Choice, Player, Purpose};
use crate::resources::Resources;
use crate::score::Score;
use crate::tables::{AnyTables, TablesOption};
pub use chances::{Chances, chances, chances_in_tables, expected};
use evaluator::Evaluator;
use helpers::Helpers;
use net::AnyNet;
pub use net::NetOption;
use search::Search;
pub(crate) use small::SmallBoards;
use together::Together;

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0xbae7_21a6_5457_76c0;

options! {
    /// What the champion can be told.
    pub struct ChampionOptions {
        threads: u32 = 1, 1..=256, "threads that search together";
        hash: u32 = 16, 1..=65536, "transposition table in MB";
        weights: WeightList = WeightList::default(), WeightRange, "weights of evaluation hand, or a file that holds them";
        net: NetOption = NetOption::default(), AnyNet, "learned evaluation";
        tables: TablesOption = TablesOption::On, AnyTables, "endgame tables, and small boards as a whole";
        scale: u32 = 1000, 1..=100_000, "the evaluation that is worth an expectation of 0.71";
        lmr: u32 = 3, 0..=255, "moves that are searched to the whole depth";
        pass: u32 = 2, 0..=20, "plies that a null move saves";
        flip: u32 = 2, 0..=20, "plies that a flip saves at the root";
        exchange: bool = true, OnOff, "leave out captures that lose more than they win in quiescence";
        inner: u32 = 6, 0..=200, "depth from which flips beside revealed pieces are searched inside the tree";
        probe: u32 = 1, 1..=200, "depth from which the outcomes of a flip are answered with one move first (Star2)";
        few: u32 = 2, 0..=32, "with so few pieces face down every flip is searched";
        edge: u32 = 500, 0..=999, "what a level position is worth when it plays, in thousandths of a win: others are weaker";
        fitted: bool = true, OnOff, "values for assessment are what games of the match server made of them";
    }
}

/// The champion at play.
#[derive(Debug)]
pub(crate) struct Champion {
    options: ChampionOptions,
    table: TranspositionTable,
    /// The table holds what was found while the other side thought.
    pondered: bool,
    network: Option<Arc<Network>>,
    helpers: Option<Helpers>,
    resources: Resources,
}

impl Champion {
    pub(crate) fn new(options: &ChampionOptions, resources: &Resources) -> Champion {
        Champion {
            options: options.clone(),
            table: TranspositionTable::with_megabytes(options.hash),
            pondered: false,
            network: resources.network(&options.net),
            helpers: Helpers::new(options.threads as usize - 1),
            resources: resources.clone(),
        }
    }
}

impl Player for Champion {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Choice)
    }

    fn analyse(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Analysis)
    }

    fn ponder(&mut self, game: &Game, stop: &Stop) {
        self.table.renew();
        self.pondered = true;
        self.search(game, &Limits::default(), stop, Purpose::Choice, -self.edge()); // it is the other side's move
    }

    fn reseed(&mut self, _: Seed) {} // it makes no random choices
}

impl Champion {
    fn think(&mut self, game: &Game, limits: &Limits, stop: &Stop, purpose: Purpose) -> Option<Choice> {
        if !std::mem::take(&mut self.pondered) {
            self.table.renew(); // so that a choice depends on the game alone
        }
        self.search(game, limits, stop, purpose, self.edge())
    }

    /// What a level position is worth to the champion: most players are weaker. Therefore it would rather keep a small lead than
    /// gamble for a large one with a flip, and does not like draws.
    fn edge(&self) -> f32 {
        self.options.edge as f32 / 1000.0
    }

    /// All threads think about one position, for a side to move that has this edge over the other.
    fn search(&self, game: &Game, limits: &Limits, stop: &Stop, purpose: Purpose, edge: f32) -> Option<Choice> {
        let network = self.network.as_deref().filter(|_| Network::knows(game.position()));
        let hand = Hand::with_weights(&self.options.weights.0);
        let line = SearchLine::new(game, &self.options.tables, &self.resources);
        let (options, table, tables) = (&self.options, &self.table, &self.options.tables);
        let worth = if *tables == TablesOption::Off { None } else { self.resources.boards().actions(game) };
        let moves = worth.as_deref().map_or_else(|| game.legal_moves().to_vec(), lossless);
        let together = &Together::new(&moves, options.threads);
        let think = |limits: &Limits, stop: &Stop, purpose: Purpose, helper: u32| {
            let meter = Meter::new(limits, stop, self.resources.time());
            let evaluator = Evaluator::new(hand, options.scale, network, game, edge);
            let mut search =
                Search::new(options, evaluator, table, together, line.clone(), meter, game.rules().board());
            search.best(game, moves.clone(), limits, purpose, helper)
        };
        let finished = Stop::default();
        let choice = match &self.helpers {
            None => think(limits, stop, purpose, 0),
            // They only fill the table, until the first thread is done.
            Some(helpers) => {
                let unlimited = Limits { depth: limits.depth, ..Limits::default() };
                let help = |helper| drop(think(&unlimited, &finished, Purpose::Choice, helper));
                helpers.beside(1..options.threads, &help, || {
                    let choice = think(limits, stop, purpose, 0);
                    finished.raise();
                    choice
                })
            }
        };
        match worth {
            Some(worth) => choice.map(|choice| as_solved(choice, &worth)),
            None => choice,
        }
    }
}

/// The moves that are worth most.
fn lossless(worth: &[(Move, Score)]) -> Vec<Move> {
    let best = worth.iter().map(|&(_, score)| score).max();
    worth.iter().filter(|&&(_, score)| Some(score) == best).map(|&(mv, _)| mv).collect()
}

/// A choice among moves that lose nothing, with what all of them are worth in truth.
fn as_solved(mut choice: Choice, worth: &[(Move, Score)]) -> Choice {
    let searched = std::mem::take(&mut choice.candidates);
    let candidate = |&(mv, score): &(Move, Score)| {
        let known = searched.iter().find(|candidate| candidate.mv == mv);
        Candidate { mv, score, outcomes: known.map_or_else(Vec::new, |known| known.outcomes.clone()), results: None }
    };
    choice.candidates = worth.iter().map(candidate).collect();
    choice.candidates.sort_by_key(|candidate| (candidate.mv != choice.mv, std::cmp::Reverse(candidate.score)));
    choice.score = choice.candidates.first().map_or(choice.score, |best| best.score);
    choice
}

#[cfg(test)]
mod tests {
    use std::thread;
    use std::time::Duration;

    use anqi_rules::{Deal, Rules};

    use super::*;

    /// The edge stays with the champion while the other side thinks: after all of its moves a level game looks won.
    #[test]
    fn an_edge_is_kept_while_pondering() {
        let (rules, seed) = (Rules::server(), Seed::from(3));
        let (deal, mut game) = (Deal::new(&rules, &seed), Game::new(rules));
        let options = ChampionOptions { edge: 990, tables: TablesOption::Off, ..ChampionOptions::default() };
        let (mut champion, stop) = (Champion::new(&options, &Resources::default()), Stop::default());
        for _ in 0..20 {
            let choice = champion.choose(&game, &Limits::nodes(1000), &stop).unwrap();
            game.play(deal.resolve(choice.mv).unwrap()).unwrap();
        }
        thread::scope(|scope| {
            scope.spawn(|| champion.ponder(&game, &stop));
            thread::sleep(Duration::from_millis(200));
            stop.raise();
        });
        let line = SearchLine::new(&game, &options.tables, &Resources::default());
        let answers = game.legal_moves().into_iter().filter_map(|mv| match mv {
            Move::Step { from, to } => champion.table.get(line.key(&game.position().after_step(from, to), 1)),
            Move::Flip(_) => None,
        });
        let scores: Vec<i32> = answers.map(|entry| entry.score.0).collect();
        assert!(!scores.is_empty() && scores.iter().all(|score| *score > 0), "{scores:?}");
    }
}
