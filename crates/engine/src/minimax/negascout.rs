//! The NegaScout course program (Theory of Computer Games, final project, 2016): null-window search,
//! capture-only quiescence, iterative deepening, null moves for flips, a transposition table with
//! lower and exact bounds, and a decision between moving and turning a piece up.

use anqi_rules::{Game, Move, Position, Seed, Square};
use anqi_task::Stop;

use super::decision::{Among, ChanceBy, Decision, Rule, SumOf};
use super::ordering::{History, Picker};
use super::pv::principal_variation;
use super::transposition::{Bound, Transposition, TranspositionTable};
use crate::eval::{Armies, Course, Evaluate, Linear};
use crate::limits::{Limits, Meter};
use crate::line::SearchLine;
use crate::options::{Names, OnOff, OptionValue, Range, WeightList, WeightRange, options};
use crate::player::{Candidate, Choice, FlipOutcome, Player, Purpose, SearchStats};
use crate::resources::Resources;
use crate::score::Score;
use crate::tables::{AnyTables, TablesOption};
use crate::time::Stopwatch;

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0xde2f_8639_f3e6_e365;

options! {
    /// What the course program can be told. Each part can be switched off by itself.
    pub struct NegaScoutOptions {
        quiescence: bool = true, OnOff, "search captures beyond the horizon";
        null: bool = true, OnOff, "allow null moves while pieces are face down";
        scout: bool = true, OnOff, "search with a null window first, all moves but the first";
        decide: bool = true, OnOff, "compare flips with the best move (section 2.2); otherwise flip only when nothing moves";
        plies: u32 = 4, 1..=20, "plies to look ahead after a flip";
        decision: Decision = Decision::Complete, Names(Decision::NAMES), "how many of these plies: all, whatever the budget of nodes (the moves get the rest, at least half), or those that half of the budget completes";
        sum: SumOf = SumOf::Kinds, Names(SumOf::NAMES), "the highest sum of scores: one score a kind, one a piece, or the latter as a rounded mean";
        chance: ChanceBy = ChanceBy::Pieces, Names(ChanceBy::NAMES), "what the probability of a better score counts";
        among: Among = Among::Promising, Names(Among::NAMES), "of which flips the highest sum is taken, if one has a good chance";
        useless: bool = true, OnOff, "pieces that can capture nothing count nothing";
        mobility: u32 = 10, 0..=1000, "value of one move";
        weights: WeightList = WeightList::default(), WeightRange, "weights of evaluation course, the value of one move last, or a file that holds them";
        table: TableSize = TableSize::Megabytes(16), AnyTable, "transposition table in MB, 0 for none, or paper: 2^16 entries with 32-bit keys";
        tables: TablesOption = TablesOption::Off, AnyTables, "endgame tables";
    }
}

/// How large the transposition table is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TableSize {
    /// 2^16 entries with 32-bit keys, as in the text.
    Paper,
    /// So many megabytes; 0 for no table.
    Megabytes(u32),
}

impl OptionValue for TableSize {
    fn read(text: &str) -> Option<TableSize> {
        match text {
            "paper" => Some(TableSize::Paper),
            _ => text.parse().ok().filter(|&megabytes| megabytes <= 4096).map(TableSize::Megabytes),
        }
    }

    fn write(&self) -> String {
        match self {
            TableSize::Paper => "paper".to_owned(),
            TableSize::Megabytes(megabytes) => megabytes.to_string(),
        }
    }
}

struct AnyTable;

impl Range<TableSize> for AnyTable {
    fn holds(&self, _: &TableSize) -> bool {
        true
    }

    fn describe(&self) -> String {
        "0 to 4096, or paper".to_owned()
    }
}

/// No search goes deeper.
const MOST_DEPTH: u32 = 200;

/// A decision with a smaller budget ends here. Four plies after every flip take some hundred thousand nodes at most, but more of them
/// can be asked for, and a budget of nodes has to end whatever is asked.
const MOST_TO_COMPLETE: u64 = 4_000_000;

/// The course program at play.
#[derive(Debug)]
pub(crate) struct NegaScout {
    options: NegaScoutOptions,
    table: Option<TranspositionTable>,
    resources: Resources,
}

impl NegaScout {
    pub(crate) fn new(options: &NegaScoutOptions, resources: &Resources) -> NegaScout {
        let table = match options.table {
            TableSize::Paper => Some(TranspositionTable::new(1 << 16, u64::from(u32::MAX))),
            TableSize::Megabytes(0) => None,
            TableSize::Megabytes(megabytes) => Some(TranspositionTable::with_megabytes(megabytes)),
        };
        NegaScout { options: options.clone(), table, resources: resources.clone() }
    }

    fn think(&mut self, game: &Game, limits: &Limits, stop: &Stop, purpose: Purpose) -> Option<Choice> {
        if let Some(table) = &mut self.table {
            table.renew(); // so that a choice depends on the game alone
        }
        let watch = Stopwatch::start(self.resources.time());
        let moves = game.legal_moves();
        let first = *moves.first()?;
        let steps: Vec<Move> = moves.iter().copied().filter(|mv| matches!(mv, Move::Step { .. })).collect();
        let may_flip = steps.len() < moves.len();
        let decides = may_flip && (self.options.decide || steps.is_empty());
        let root = game.position();
        let (mut moving, mut turning);
        let (choice, flips) = match self.options.decision {
            Decision::Complete => {
                // Four plies are what the rule compares, so a smaller budget of nodes does not end them. Time does.
                let time = if steps.is_empty() { limits.time } else { limits.half().time };
                let nodes = limits.nodes.map(|nodes| nodes.max(MOST_TO_COMPLETE));
                turning = self.search(game, &Limits { time, nodes, ..*limits }, stop);
                let flips = decides.then(|| turning.flips(root));
                let rest = limits.after(turning.meter.nodes(), turning.meter.elapsed());
                moving = self.search(game, &rest, stop);
                (moving.best_step(root, steps, limits, purpose), flips)
            }
            Decision::Shared => {
                // Whether flips are compared or not.
                let share = if steps.is_empty() || !may_flip { *limits } else { limits.half() };
                moving = self.search(game, &share, stop);
                let choice = moving.best_step(root, steps, limits, purpose);
                turning = self.search(game, &share, stop);
                (choice, decides.then(|| turning.flips(root)))
            }
        };
        let mut choice = self.decide(choice, flips, first);
        choice.stats.nodes = moving.meter.nodes() + turning.meter.nodes();
        choice.stats.time = watch.elapsed();
        Some(choice)
    }

    fn search<'a>(&'a self, game: &Game, limits: &Limits, stop: &'a Stop) -> Search<'a> {
        let own = Course { mobility: self.options.mobility as i32, ..Course::default() };
        let weights = &self.options.weights.0;
        let eval = if weights.is_empty() { own } else { Course::with_weights(weights) };
        Search {
            options: &self.options,
            eval: Course { useless: self.options.useless, ..eval },
            table: self.table.as_ref(),
            line: SearchLine::new(game, &self.options.tables, &self.resources),
            meter: Meter::new(limits, stop, self.resources.time()),
            history: History::new(),
        }
    }

    /// The best move, or the flip that the rule prefers to it; `first` if neither was found in time.
    fn decide(&self, moving: Option<Choice>, flips: Option<Vec<Candidate>>, first: Move) -> Choice {
        let NegaScoutOptions { sum, chance, among, .. } = self.options;
        let best_move = moving.as_ref().map(|choice| choice.score);
        let mut choice = moving.unwrap_or_else(|| Choice {
            mv: first,
            score: Score::DRAW,
            pv: vec![first],
            candidates: Vec::new(),
            stats: SearchStats::default(),
        });
        let Some(flips) = flips else { return choice };
        if let Some(flip) = (Rule { sum, chance, among }).flip(&flips, best_move) {
            choice.mv = flip.mv;
            choice.score = flip.score;
            choice.pv = vec![flip.mv];
        }
        choice.candidates.extend(flips);
        choice.candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
        choice
    }
}

impl Player for NegaScout {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Choice)
    }

    fn analyse(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Analysis)
    }

    fn reseed(&mut self, _: Seed) {} // it makes no random choices
}

/// A position with what both sides have left in it.
#[derive(Clone, Copy)]
struct Node {
    position: Position,
    armies: Armies,
}

struct Search<'a> {
    options: &'a NegaScoutOptions,
    eval: Course,
    table: Option<&'a TranspositionTable>,
    line: SearchLine,
    meter: Meter<'a>,
    history: History,
}

impl Search<'_> {
    #[inline]
    fn after_step(&self, node: &Node, from: Square, to: Square) -> Node {
        Node {
            position: node.position.after_step(from, to),
            armies: self.eval.after_step(&node.armies, &node.position, to),
        }
    }

    #[inline]
    fn evaluate(&self, node: &Node) -> Score {
        self.eval.score(&node.position, &node.armies, node.position.survey().mobility)
    }

    /// Iterative deepening over the steps of the root, each depth in the order of the last.
    fn best_step(
        &mut self,
        root: &Position,
        mut steps: Vec<Move>,
        limits: &Limits,
        purpose: Purpose,
    ) -> Option<Choice> {
        let mut best = *steps.first()?;
        let mut choice = Choice {
            mv: best,
            score: self.eval.evaluate(root),
            pv: vec![best],
            candidates: Vec::new(),
            stats: SearchStats::default(),
        };
        let node = Node { position: *root, armies: self.eval.armies(root) };
        for depth in 1..=limits.depth.unwrap_or(MOST_DEPTH).min(MOST_DEPTH) {
            let mut candidates: Vec<Candidate> = Vec::new();
            let mut s = -Score::INFINITE;
            for &mv in &steps {
                let Move::Step { from, to } = mv else { continue };
                let child = self.after_step(&node, from, to);
                let exact = purpose == Purpose::Analysis || candidates.is_empty();
                self.line.push(root);
                let v = if exact {
                    -self.scout(&child, depth - 1, -Score::INFINITE, Score::INFINITE)
                } else {
                    self.probe_then_search(&child, depth - 1, s, Score::INFINITE)
                };
                self.line.pop();
                if self.meter.is_spent() {
                    break;
                }
                if v > s {
                    (s, best) = (v, mv);
                }
                candidates.push(Candidate { mv, score: v, outcomes: Vec::new(), results: None });
            }
            if candidates.is_empty() {
                break;
            }
            choice.mv = best;
            choice.score = s;
            let complete = candidates.len() == steps.len();
            let score = |mv: &Move| candidates.iter().find(|c| c.mv == *mv).map_or(-Score::INFINITE, |c| c.score);
            steps.sort_by_key(|mv| std::cmp::Reverse(score(mv)));
            choice.candidates = candidates;
            if !complete {
                break;
            }
            choice.stats.depth = depth;
            if s.is_decided() && limits.depth.is_none() {
                break;
            }
        }
        choice.pv = principal_variation(self.table, &self.line, root, choice.mv, choice.stats.depth);
        Some(choice)
    }

    /// Every flip with what each piece that may come up is worth, as deep as the budget allows.
    fn flips(&mut self, root: &Position) -> Vec<Candidate> {
        let mut known = Vec::new();
        for plies in 0..=self.options.plies {
            let mut flips = Vec::new();
            for square in root.hidden() {
                flips.push(self.flip(root, square, plies));
                if self.meter.is_spent() {
                    return known;
                }
            }
            known = flips;
        }
        known
    }

    fn flip(&mut self, root: &Position, square: Square, plies: u32) -> Candidate {
        // What is face down counts as what it is, so a flip changes no army.
        let armies = self.eval.armies(root);
        self.line.push(root);
        let outcomes: Vec<FlipOutcome> = root
            .reveals()
            .map(|(piece, count)| {
                let child = Node { position: root.after_flip(square, piece), armies };
                let score = -self.scout(&child, plies, -Score::INFINITE, Score::INFINITE);
                FlipOutcome { piece, count, score }
            })
            .collect();
        self.line.pop();
        let score = Score::mean(outcomes.iter().map(|outcome| (outcome.score, outcome.count)));
        Candidate { mv: Move::Flip(square), score, outcomes, results: None }
    }

    /// A null window first; the real one only if the move turns out better.
    #[inline]
    fn probe_then_search(&mut self, child: &Node, depth: u32, alpha: Score, beta: Score) -> Score {
        if !self.options.scout {
            return -self.scout(child, depth, -beta, -alpha);
        }
        let above = Score(alpha.0 + 1);
        let v = -self.scout(child, depth, -above, -alpha);
        if alpha < v && v < beta && above < beta { -self.scout(child, depth, -beta, -v) } else { v }
    }

    fn scout(&mut self, node: &Node, depth: u32, mut alpha: Score, beta: Score) -> Score {
        let position = &node.position;
        // Step 1. The budget. A search that ran out returns anything; its result is not used.
        if self.meter.count() {
            return Score::DRAW;
        }
        // Step 2. The end of the game.
        if let Some(score) = self.line.ended(position, depth) {
            return score;
        }
        // Step 3. The horizon.
        if depth == 0 {
            return if self.options.quiescence { self.quiesce(node, alpha, beta) } else { self.evaluate(node) };
        }
        if self.line.is_repetition(position) {
            return Score::DRAW;
        }
        // Step 4. The table: an exact value is the result, a lower bound is where the search starts.
        let key = self.line.key(position, depth);
        let remembered = if depth > 1 { self.table.and_then(|table| table.get(key)) } else { None };
        let mut s = -Score::INFINITE;
        if let Some(entry) = remembered.filter(|entry| u32::from(entry.depth) >= depth) {
            if entry.bound == Bound::Exact || entry.score >= beta {
                return entry.score;
            }
            s = entry.score;
            alpha = alpha.max(s);
        }

        // Step 5. Steps, the first with the whole window.
        let entered = s;
        let mut best = None;
        let mut searched = 0;
        let mut picker = Picker::new(remembered.and_then(|entry| entry.best));
        self.line.push(position);
        while let Some(mv) = picker.step(position, (depth > 1).then(|| (&self.history).into())) {
            let Move::Step { from, to } = mv else { continue };
            let child = self.after_step(node, from, to);
            let floor = s.max(alpha);
            let v = if searched == 0 {
                -self.scout(&child, depth - 1, -beta, -floor)
            } else {
                self.probe_then_search(&child, depth - 1, floor, beta)
            };
            searched += 1;
            if v > s {
                (s, best) = (v, Some(mv));
            }
            if s >= beta || self.meter.is_spent() {
                break;
            }
        }
        // Step 6. A null move stands for turning something up.
        let passes = self.options.null && !position.hidden().is_empty();
        if passes && s < beta {
            let child = Node { position: position.after_pass(), ..*node };
            let v = self.probe_then_search(&child, depth - 1, s.max(alpha), beta);
            if v > s {
                (s, best) = (v, None);
            }
        }
        self.line.pop();

        // Step 7. Nobody can move.
        if searched == 0 && !passes {
            return if position.hidden().is_empty() { Score::loss(depth) } else { self.evaluate(node) };
        }
        // Step 8. Remember what is known: the value or a lower bound of it.
        if self.meter.is_spent() {
            return s;
        }
        if let Some(mv) = best.filter(|_| s > alpha) {
            self.history.reward(mv, depth);
        }
        if let Some(table) = self.table.filter(|_| depth > 1 && s > alpha && s > entered) {
            let bound = if s >= beta { Bound::Lower } else { Bound::Exact };
            table.put(key, Transposition { score: s, depth: depth as u8, bound, best });
        }
        s
    }

    /// Captures only; standing still is always allowed. The table is left alone.
    fn quiesce(&mut self, node: &Node, alpha: Score, beta: Score) -> Score {
        let survey = node.position.survey();
        let mut s = self.eval.score(&node.position, &node.armies, survey.mobility);
        if s >= beta || !survey.has_captures() {
            return s;
        }
        let mut picker = Picker::new(None);
        picker.fill_surveyed(&node.position, &survey);
        while let Some(mv) = picker.capture(&node.position) {
            let Move::Step { from, to } = mv else { continue };
            if self.meter.count() {
                return s;
            }
            let child = self.after_step(node, from, to);
            let v = if child.position.turn().is_some_and(|turn| child.armies.has_lost(turn)) {
                Score::win(0)
            } else {
                -self.quiesce(&child, -beta, -s.max(alpha))
            };
            s = s.max(v);
            if s >= beta {
                break;
            }
        }
        s
    }
}
