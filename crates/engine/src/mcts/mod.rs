//! The Monte Carlo family: tree search with chance-nodes and with group-nodes, and without a tree.
//!
//! `chance` and `group` are the algorithms of Jouandeau & Cazenave; `search` is what they share, `tree`
//! holds the nodes, `ucb` chooses among them, `simulate` plays games to their end. `flat` plays
//! without a tree.

mod chance;
pub(crate) mod flat;
mod group;
mod search;
mod share;
mod simulate;
#[cfg(test)]
mod tests;
mod tree;
mod ucb;
mod worth;

use std::cmp::Reverse;

use anqi_playout::{Path, Policy, Reading};
use anqi_rules::{Game, Move, Ply, Seed};
use anqi_task::{Stop, together};

use self::search::{Search, Worker};
use self::share::Shared;
use self::tree::{EndResult, Label, Node, ROOT, Tree};
use crate::limits::{Limits, SharedMeter};
use crate::options::{Names, OnOff, OptionError, OptionValue, choices, options};
use crate::player::{Candidate, Choice, FlipOutcome, Player, ResultCounts, SearchStats};
use crate::resources::Resources;
use crate::score::Score;
use crate::tables::{AnyTables, TablesOption};

pub(crate) use self::flat::Flat;
pub use self::flat::{Average, FlatOptions};
pub use self::simulate::Draws;
pub use self::ucb::Ucb;

choices! {
    /// What stands for a flip in the tree.
    pub enum Nodes {
        Chance = "chance", "a chance-node, with a child for each piece that may come up (algorithms 3 and 4)";
        Group = "group", "one node for everything that may come up (algorithms 1 and 2)";
    }
}

choices! {
    /// What a node is worth to the tree.
    pub enum Backup {
        Mean = "mean", "the mean of its results";
        Best = "best", "what its most visited reply is worth";
    }
}

choices! {
    /// What a search makes of a board on which the game is over.
    pub enum Proofs {
        Propagate = "propagate", "it decides the nodes above where that follows, and the search ends when the root is decided";
        Leaf = "leaf", "one more result, no more";
        Interrupt = "interrupt", "as printed: the search ends when a won or lost board is selected again (algorithms 1 and 3, line 3)";
    }
}

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0x541b_d8c3_bd04_b8da;

options! {
    /// What Monte Carlo tree search can be told.
    pub struct MctsOptions {
        nodes: Nodes = Nodes::Chance, Names(Nodes::NAMES), "what stands for a flip in the tree";
        policy: Policy = Policy::Capture, Policies, "how playouts choose their moves";
        playout: u32 = 640, 1..=1_000_000, "quiet plies after which a playout is drawn";
        rule: bool = true, OnOff, "the quiet plies that the game has behind it end a playout by the game's own limit";
        reading: Reading = Reading::Rules, Readings, "how playouts read the rules; paper: captures do not reset the quiet plies, a unit is drawn before its move";
        draws: Draws = Draws::Off, Names(Draws::NAMES), "what a drawn playout counts for: a draw, a win of the side with a lead in material, or a draw and half the lead";
        draw: f64 = 0.5, 0.0..=1.0, "what a draw is worth, between a loss (0) and a win (1)";
        ucb: Ucb = Ucb::Ucb1, Names(Ucb::NAMES), "the bound by which the tree is descended";
        explore: f64 = 1.0, 0.0..=100.0, "factor of the bound's exploration term; 1 is the printed formula";
        backup: Backup = Backup::Mean, Names(Backup::NAMES), "what a node is worth to the tree";
        threads: u32 = 1, 1..=256, "threads that share the tree";
        lanes: u32 = 1, 1..=64, "simulations that one thread has under way, in vector lanes; a lane goes on as soon as its game has ended";
        flight: u32 = 1, 1..=64, "the same in batches, which wait for the longest game: for games that were played so; not with lanes";
        share: bool = false, OnOff, "let equal positions share what lies below them";
        keep: bool = false, OnOff, "go on with what is left of the last move's tree";
        memory: u32 = 256, 1..=65_536, "megabytes for the tree; a full tree stops growing";
        cut: u32 = 0, 0..=1_000_000, "end playouts after so many plies and judge them by material; 0 for never";
        minimax: f64 = 0.0, 0.0..=1.0, "weight of implicit minimax backups (Lanctot et al. 2014); only with backup=mean";
        bias: f64 = 0.0, 0.0..=1000.0, "weight of progressive bias towards moves that look good (Chaslot et al. 2008)";
        quality: f64 = 0.0, 0.0..=1.0, "weight of quality-based rewards (Pepels et al. 2014); not with draws=graded";
        proofs: Proofs = Proofs::Propagate, Names(Proofs::NAMES), "what won and lost boards are to the nodes above: they decide them, are one result more, or end the search as printed";
        tables: TablesOption = TablesOption::Off, AnyTables, "endgame tables";
    }
}

/// The range of a playout policy.
struct Policies;

impl crate::options::Range<Policy> for Policies {
    fn holds(&self, _: &Policy) -> bool {
        true
    }

    fn describe(&self) -> String {
        Policy::ALL.map(|policy| policy.to_string()).join(", ")
    }
}

impl OptionValue for Policy {
    fn read(text: &str) -> Option<Policy> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

/// The range of a reading.
struct Readings;

impl crate::options::Range<Reading> for Readings {
    fn holds(&self, _: &Reading) -> bool {
        true
    }

    fn describe(&self) -> String {
        Reading::ALL.map(|reading| reading.to_string()).join(", ")
    }
}

impl OptionValue for Reading {
    fn read(text: &str) -> Option<Reading> {
        text.parse().ok()
    }

    fn write(&self) -> String {
        self.to_string()
    }
}

impl MctsOptions {
    /// Both add to results, and a node keeps one sum of what is added.
    pub(crate) fn check(&self) -> Result<(), OptionError> {
        let both = self.draws == Draws::Graded && self.quality != 0.0;
        if both { Err(OptionError::Apart("draws=graded", "quality")) } else { Ok(()) }
    }

    /// How the games went, with what graded draws were worth.
    fn results(&self, node: &Node) -> ResultCounts {
        let leads = if self.draws == Draws::Graded { node.bonus().into() } else { 0 };
        ResultCounts { leads, ..node.results() }
    }

    /// What is proven of a node, as far as it matters for more than the visits of this node.
    fn proof(&self, node: &Node) -> Option<EndResult> {
        node.proof().filter(|_| self.proofs != Proofs::Leaf)
    }

    /// `bestNext`: how good a child is to play. Proven wins first, proven losses last, and what was visited
    /// most.
    fn preference(&self, node: &Node) -> (i32, u64, i64) {
        let proof = match self.proof(node) {
            Some(EndResult::Win) => 1,
            Some(EndResult::Loss) => -1,
            Some(EndResult::Draw) | None => 0,
        };
        let results = self.results(node);
        let balance = (results.wins as i64 - results.losses as i64) * ResultCounts::LEAD + results.leads;
        (proof, results.count(), balance)
    }

    /// Thousandths of `P(win) − P(loss)`, or what is proven.
    fn score(&self, node: &Node) -> Score {
        let value = match (self.proof(node), self.backup) {
            (Some(EndResult::Win), _) => return Score::win(0),
            (Some(EndResult::Loss), _) => return Score::loss(0),
            (Some(EndResult::Draw), _) => return Score::DRAW,
            (None, Backup::Mean) => self.results(node).balance(),
            (None, Backup::Best) => f64::from(node.worth()),
        };
        Score((value * 1000.0).round() as i32)
    }
}

/// A Monte Carlo tree search at play.
#[derive(Debug)]
pub(crate) struct Mcts {
    options: MctsOptions,
    seed: Seed,
    tree: Tree,
    shared: Option<Shared>,
    /// The game whose position is the root of the tree, and another tree to move it to.
    kept: Option<(Game, Tree)>,
    resources: Resources,
    path: Path,
}

impl Mcts {
    pub(crate) fn new(options: &MctsOptions, seed: Seed, resources: &Resources) -> Mcts {
        // A tree that is kept moves from one half of the memory to the other.
        let memory = (u64::from(options.memory) << 20) / if options.keep { 2 } else { 1 };
        let for_table = if options.share { memory / 16 } else { 0 };
        Mcts {
            options: options.clone(),
            seed,
            tree: Tree::with_bytes(memory - for_table),
            shared: options.share.then(|| Shared::with_bytes(for_table)),
            kept: None,
            resources: resources.clone(),
            path: Path::best(),
        }
    }

    /// Makes the position of `game` the root: of what is left of the last tree, or of a new one.
    fn plant(&mut self, game: &Game) {
        let Some((last, spare)) = &mut self.kept else {
            self.tree.clear();
            return;
        };
        match since(last, game).and_then(|plies| self.tree.descend(plies)) {
            Some(node) => self.tree.transplant(node, spare),
            None => spare.clear(),
        }
        std::mem::swap(&mut self.tree, spare);
        let legal = game.legal_moves();
        if self.tree.children(self.tree.node(ROOT)).any(|(_, node)| node.mv().is_none_or(|mv| !legal.contains(&mv))) {
            self.tree.clear(); // a move of a long chase that only the game forbids
        }
    }
}

/// The plies of `game` after those of `earlier`, if it is the same game.
fn since<'a>(earlier: &Game, game: &'a Game) -> Option<&'a [Ply]> {
    let same = earlier.rules() == game.rules() && earlier.positions().first() == game.positions().first();
    game.plies().strip_prefix(earlier.plies()).filter(|_| same)
}

impl Player for Mcts {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        let moves = game.legal_moves();
        let &first = moves.first()?;
        let resources = self.resources.clone();
        let meter = SharedMeter::of_playouts(limits, stop, resources.time());
        self.plant(game);
        if let Some(shared) = &mut self.shared {
            shared.renew();
        }

        let depth = limits.depth.unwrap_or(u32::MAX);
        let (tree, shared, options) = (&self.tree, self.shared.as_ref(), &self.options);
        let search = Search {
            tree,
            shared,
            options,
            game,
            moves: &moves,
            meter: &meter,
            resources: &resources,
            depth,
            path: self.path,
        };
        let seed = self.seed.child(format!("ply {}", game.plies().len()));
        let work = |number: usize| {
            let mut worker = Worker::new(&search, &seed.child(format!("thread {number}")));
            match options.nodes {
                Nodes::Chance => chance::mcts(&mut worker),
                Nodes::Group => group::mcts(&mut worker),
            }
            worker.deepest()
        };
        let depth = together(options.threads as usize, work).into_iter().max().unwrap_or_default();

        let candidates = candidates(tree, game, options);
        let best = candidates.first();
        let choice = Choice {
            mv: best.map_or(first, |best| best.mv),
            score: best.map_or(Score::DRAW, |best| best.score),
            pv: if best.is_some() { pv(tree, options) } else { vec![first] },
            stats: SearchStats { nodes: meter.taken(), depth, playouts: meter.taken(), time: meter.elapsed() },
            candidates,
        };
        if self.options.keep {
            let spare = self.kept.take().map_or_else(|| self.tree.another(), |(_, spare)| spare);
            self.kept = Some((game.clone(), spare));
        }
        Some(choice)
    }

    fn reseed(&mut self, seed: Seed) {
        self.seed = seed;
    }
}

/// The moves at the root, the best first.
fn candidates(tree: &Tree, game: &Game, options: &MctsOptions) -> Vec<Candidate> {
    let mut children: Vec<&Node> = tree.children(tree.node(ROOT)).map(|(_, node)| node).collect();
    children.sort_by_key(|node| Reverse(options.preference(node)));
    let candidate = |node: &Node| {
        let outcomes = game.position().reveals().filter_map(|(piece, count)| {
            let (_, outcome) = tree.child(node, Label::Reveal(piece))?;
            Some(FlipOutcome { piece, count, score: options.score(outcome) })
        });
        let mv = node.mv()?;
        let outcomes = if matches!(mv, Move::Flip(_)) { outcomes.collect() } else { Vec::new() };
        Some(Candidate { mv, score: options.score(node), outcomes, results: Some(options.results(node)) })
    };
    children.into_iter().filter_map(candidate).collect()
}

/// The moves that were visited most, up to the first flip.
fn pv(tree: &Tree, options: &MctsOptions) -> Vec<Move> {
    let mut moves = Vec::new();
    let mut node = tree.node(ROOT);
    loop {
        let children = tree.children(node).map(|(_, child)| child);
        // The first of equals, like that of the candidates.
        let moves_of = children.filter_map(|child| Some((child, child.mv()?)));
        let best = moves_of.min_by_key(|(child, _)| Reverse(options.preference(child)));
        let Some((child, mv)) = best.filter(|(child, _)| moves.is_empty() || child.results().count() > 0) else {
            return moves;
        };
        moves.push(mv);
        if matches!(mv, Move::Flip(_)) {
            return moves;
        }
        node = child;
    }
}
