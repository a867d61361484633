//! The programs of Chen, Shen & Hsu, "Chinese Dark Chess" (ICGA Journal 33(2), 2010): BASIC, ENHANCE,
//! VAR1, VAR2 and VAR3, as one search with options.
//!
//! Algorithm 3.2 searches moving actions first, by "normal alpha-beta … by considering only moving actions", and turns to
//! flips only if no move improves on the immediate evaluation (`s ≤ c`). So flips are searched at the root and after flips,
//! not below moves (`below=moves`); the other reading searches them there, too (`below=flips`). The programs differ in where
//! flips are searched and in how many of the pieces that may come up they look at. Pruning here never changes a value: a
//! test holds it against [`printed`](crate::printed).

use anqi_rules::{Game, Kind, Move, Piece, Position, Seed, Square, SquareSet, neighbours};
use anqi_task::{Stop, together};
use arrayvec::ArrayVec;
use rand_core::Rng;

use super::ordering::{History, Picker};
use super::pv::principal_variation;
use super::transposition::{Bound, Transposition, TranspositionTable};
use crate::eval::{Evaluate, Evaluation, quiesce, with_evaluation};
use crate::limits::{Limits, Meter};
use crate::line::SearchLine;
use crate::options::{Names, OnOff, WeightList, WeightRange, choices, options};
use crate::player::{Candidate, Choice, FlipOutcome, Player, Purpose, SearchStats};
use crate::resources::Resources;
use crate::score::Score;
use crate::tables::{AnyTables, TablesOption};

choices! {
    /// Where in the tree flips are searched.
    pub enum Flips {
        Never = "never", "nowhere; the flipping policy decides at the root (BASIC)";
        Root = "root", "at the root only: initial-depth flipping (VAR1)";
        Everywhere = "everywhere", "by Algorithm 3.2, at the root and after flips; below moves as `below` says (ENHANCE, VAR2, VAR3)";
    }
}

choices! {
    /// What Algorithm 3.2 searches below a move, where flips are searched everywhere.
    pub enum Below {
        Moves = "moves", "only moves, as Algorithm 3.2 is printed: its first search is a normal alpha-beta";
        Flips = "flips", "moves and flips: the first search is Algorithm 3.2 again";
    }
}

impl Below {
    /// The other reading.
    pub(crate) const fn other(self) -> Below {
        match self {
            Below::Moves => Below::Flips,
            Below::Flips => Below::Moves,
        }
    }
}

choices! {
    /// When a program that does not search flips makes one (section 3.1.1).
    pub enum FlipPolicy {
        MoveFirst = "move-first", "only when no move is left";
        Comparing = "comparing", "when passing is not worse than the best move";
        TakeAdvantageOrFlip = "take-advantage-or-flip", "when no move improves on the position and passing is better";
    }
}

choices! {
    /// Which piece a player should flip (section 2.3). Where a heuristic names no square, all are taken.
    pub enum FlipPlace {
        Anywhere = "anywhere", "any";
        King = "king", "beside the enemy king while a pawn of ours is face down";
        Carriage = "carriage", "where a cannon of ours that is face down would have a target behind its carriage";
        Both = "both", "by either";
    }
}

choices! {
    /// In which order k-type expansion takes the pieces that may come up (section 4.1).
    pub enum TypeOrder {
        Fixed = "fixed", "always the same, the most numerous first (VAR2)";
        Random = "random", "drawn anew for each move (VAR3)";
    }
}

/// How the family plays: see `behaviour.rs`.
pub(crate) const BEHAVIOUR: u64 = 0x4de5_5781_ff1e_318c;

options! {
    /// What the programs of Chen et al. can be told. Each preset is a setting of these.
    pub struct ChenOptions {
        flips: Flips = Flips::Everywhere, Names(Flips::NAMES), "where flips are searched";
        below: Below = Below::Moves, Names(Below::NAMES), "where flips are searched everywhere: what is searched below a move";
        condition: bool = true, OnOff, "search flips only where no move improves on the evaluation (s <= c)";
        policy: FlipPolicy = FlipPolicy::TakeAdvantageOrFlip, Names(FlipPolicy::NAMES), "when to flip if flips are not searched";
        place: FlipPlace = FlipPlace::Anywhere, Names(FlipPlace::NAMES), "which pieces are flipped: drawn by a policy, or searched at the root";
        k: u32 = 14, 1..=14, "how many of the pieces that may come up a flip looks at";
        order: TypeOrder = TypeOrder::Fixed, Names(TypeOrder::NAMES), "which of them";
        eval: Evaluation = Evaluation::Static, Names(Evaluation::NAMES), "evaluation function";
        weights: WeightList = WeightList::default(), WeightRange, "weights of the evaluation function, or a file that holds them";
        risk: f64 = 0.0, -10.0..=10.0, "standard deviations of a flip's outcome to subtract from its mean";
        worse: f64 = 1.0, 0.0..=1.0, "largest probability that a flip turns out worse than the best action before it";
        quiescence: bool = false, OnOff, "search captures beyond the horizon";
        clip: bool = false, OnOff, "search what a flip shows with the printed window: outcomes worse than the best move count like it";
        sort: bool = true, OnOff, "try moves first that were good elsewhere";
        star1: bool = true, OnOff, "prune flips by the bounds of their sum (Ballard 1983)";
        table: u32 = 16, 0..=4096, "transposition table in MB, 0 for none";
        threads: u32 = 1, 1..=256, "threads that share the table";
        tables: TablesOption = TablesOption::Off, AnyTables, "endgame tables";
    }
}

/// The most numerous first, kings last: with k = 6 it covers more than half of the pool at the start.
const FIXED_ORDER: &str = "PpCcGgMmRrNnKk";

/// No search goes deeper.
const MOST_DEPTH: u32 = 200;

/// A program of Chen et al. at play.
#[derive(Debug)]
pub(crate) struct Chen {
    options: ChenOptions,
    seed: Seed,
    table: Option<TranspositionTable>,
    resources: Resources,
}

impl Chen {
    pub(crate) fn new(options: &ChenOptions, seed: Seed, resources: &Resources) -> Chen {
        let table = (options.table > 0).then(|| TranspositionTable::with_megabytes(options.table));
        Chen { options: options.clone(), seed, table, resources: resources.clone() }
    }

    /// The pieces in the order in which k-type expansion takes them.
    fn type_order(&self, rng: &mut impl Rng) -> Vec<Piece> {
        let mut order: Vec<Piece> = FIXED_ORDER.chars().filter_map(Piece::from_char).collect();
        if self.options.order == TypeOrder::Random {
            for last in (1..order.len()).rev() {
                order.swap(last, rng.next_u32() as usize % (last + 1));
            }
        }
        order
    }

    pub(crate) fn think(&mut self, game: &Game, limits: &Limits, stop: &Stop, purpose: Purpose) -> Option<Choice> {
        let mut rng = self.seed.child(format!("ply {}", game.plies().len())).rng();
        let types = self.type_order(&mut rng);
        let flip_draw = rng.next_u32();
        if let Some(table) = &mut self.table {
            table.renew(); // so that a choice depends on the game alone
        }
        let (options, table, resources) = (&self.options, self.table.as_ref(), &self.resources);
        with_evaluation!(options.eval, &options.weights.0, |eval| {
            let done = Stop::default();
            let think = |limits: &Limits, stop: &Stop, purpose: Purpose| {
                Search {
                    eval: &eval,
                    options,
                    types: &types,
                    table,
                    line: SearchLine::new(game, &options.tables, resources),
                    limits: *limits,
                    purpose,
                    meter: Meter::new(limits, stop, resources.time()),
                    history: History::new(),
                }
                .deepen(game, flip_draw)
            };
            let choices = together(options.threads as usize, |number| {
                if number > 0 {
                    // Helpers only fill the table; they end with the one that answers.
                    return think(&Limits { depth: limits.depth, ..Limits::default() }, &done, Purpose::Choice);
                }
                let choice = think(limits, stop, purpose);
                done.raise();
                choice
            });
            choices.into_iter().next().flatten()
        })
    }
}

impl Player for Chen {
    fn choose(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Choice)
    }

    fn analyse(&mut self, game: &Game, limits: &Limits, stop: &Stop) -> Option<Choice> {
        self.think(game, limits, stop, Purpose::Analysis)
    }

    fn reseed(&mut self, seed: Seed) {
        self.seed = seed;
    }
}

/// The squares that a heuristic of section 2.3 names, or all that are face down.
fn flip_places(position: &Position, place: FlipPlace) -> SquareSet {
    let hidden = position.hidden();
    let Some(own) = position.turn() else { return hidden };
    let foe = own.other();
    let waits = |kind| position.pool().count(Piece { color: own, kind }) > 0;
    // "When the opponent king is alive and our pawns are not yet revealed, we can try to flip the unknown pieces adjacent to
    // the opponent king."
    let beside_king = || -> SquareSet {
        let kings = position.of_kind(Kind::King) & position.pieces(foe);
        let is_beside = |square: &Square| !(neighbours(*square) & kings).is_empty();
        hidden.iter().filter(|square| waits(Kind::Pawn) && is_beside(square)).collect()
    };
    // "When at least one of our cannons are not revealed, we can flip a piece that is behind the carriage in the same row or
    // column of an opponent's piece to increase the chance of capturing pieces."
    let behind_carriage = || -> SquareSet {
        let jumps = position.ladder().cannons_jump() && waits(Kind::Cannon);
        hidden.iter().filter(|square| jumps && !position.jumps(*square, own).is_empty()).collect()
    };
    let named = match place {
        FlipPlace::Anywhere => SquareSet::EMPTY,
        FlipPlace::King => beside_king(),
        FlipPlace::Carriage => behind_carriage(),
        FlipPlace::Both => beside_king() | behind_carriage(),
    };
    if named.is_empty() { hidden } else { named }
}

/// Which of the two functions of Algorithm 3.2 searches a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Actions {
    /// `alpha_beta`: "only moving actions".
    Moves,
    /// `exhaustive`: moves, then flips.
    All,
}

/// What the keys of nodes have in common that [`Actions::All`] searches beside others of the same position.
const EXHAUSTIVE: u64 = 0xA076_1D64_78BD_642F;

struct Search<'a, E> {
    eval: &'a E,
    options: &'a ChenOptions,
    types: &'a [Piece],
    table: Option<&'a TranspositionTable>,
    line: SearchLine,
    limits: Limits,
    purpose: Purpose,
    meter: Meter<'a>,
    history: History,
}

/// What one depth of the search says about the root.
struct Iteration {
    best: Move,
    score: Score,
    candidates: Vec<Candidate>,
    complete: bool,
}

impl<E: Evaluate> Search<'_, E> {
    /// Iterative deepening: depth after depth until the budget is spent.
    fn deepen(&mut self, game: &Game, flip_draw: u32) -> Option<Choice> {
        let moves = game.legal_moves();
        let root = game.position();
        let first = *moves.first()?;
        let mut steps: Vec<Move> = moves.iter().copied().filter(|mv| matches!(mv, Move::Step { .. })).collect();
        let places = flip_places(root, self.options.place);
        let random_flip = places.iter().nth(flip_draw as usize % places.len().max(1) as usize);
        let mut best = Choice {
            mv: first,
            score: Score::DRAW,
            pv: vec![first],
            candidates: Vec::new(),
            stats: SearchStats::default(),
        };
        for depth in 1..=self.limits.depth.unwrap_or(MOST_DEPTH).min(MOST_DEPTH) {
            let Some(iteration) = self.root(root, &steps, random_flip.map(Move::Flip), depth) else { break };
            // Half a depth counts only if what was best before is in it: flips come last, and a move that
            // is better than other moves need not be better than the flip that was found before.
            if !iteration.complete && depth > 1 && !iteration.candidates.iter().any(|candidate| candidate.mv == best.mv)
            {
                break;
            }
            best.mv = iteration.best;
            best.score = iteration.score;
            best.candidates = iteration.candidates;
            // Try what was good first at the next depth.
            let score = |mv: &Move| best.candidates.iter().find(|c| c.mv == *mv).map_or(-Score::INFINITE, |c| c.score);
            steps.sort_by_key(|mv| std::cmp::Reverse(score(mv)));
            if !iteration.complete {
                break;
            }
            best.stats.depth = depth;
            if iteration.score.is_decided() && self.limits.depth.is_none() {
                break; // nothing is left to find out
            }
        }
        best.candidates.sort_by_key(|candidate| std::cmp::Reverse(candidate.score));
        best.pv = principal_variation(self.table, &self.line, root, best.mv, best.stats.depth);
        best.stats.nodes = self.meter.nodes();
        best.stats.time = self.meter.elapsed();
        Some(best)
    }

    /// One depth at the root. `None` if the budget was spent before anything was found out.
    fn root(&mut self, root: &Position, steps: &[Move], random_flip: Option<Move>, depth: u32) -> Option<Iteration> {
        let c = self.eval.evaluate(root);
        let mut s = -Score::INFINITE;
        let mut candidates: Vec<Candidate> = Vec::new();
        let mut best = None;
        let spent = |search: &Self| search.meter.is_spent();

        // Moving actions.
        for &mv in steps {
            let Move::Step { from, to } = mv else { continue };
            let alpha = if self.purpose == Purpose::Analysis { -Score::INFINITE } else { s };
            self.line.push(root);
            let v = -self.value(&root.after_step(from, to), depth - 1, -Score::INFINITE, -alpha, self.below_moves());
            self.line.pop();
            if spent(self) {
                return best.map(|best| Iteration { best, score: s, candidates, complete: false });
            }
            candidates.push(Candidate { mv, score: v, outcomes: Vec::new(), results: None });
            if v > s {
                (s, best) = (v, Some(mv));
            }
        }

        // Flipping actions, if no move takes an advantage.
        if self.options.flips == Flips::Never {
            if self.prefers_flip(root, depth, s, c) {
                best = random_flip;
                s = if s == -Score::INFINITE { c } else { s };
            }
            let complete = !spent(self);
            return best.map(|best| Iteration { best, score: s, candidates, complete });
        }
        if s <= c || !self.options.condition {
            let mut most = f64::from(s.0);
            for square in flip_places(root, self.options.place) {
                let weighs_risk = self.options.risk != 0.0 || self.options.worse < 1.0;
                let keep_all = self.purpose == Purpose::Analysis || weighs_risk;
                let alpha = if keep_all && !self.options.clip { -Score::INFINITE } else { s };
                let mut outcomes = Vec::new();
                let score = self.flip(root, square, depth, (alpha, Score::INFINITE), Some(&mut outcomes));
                if spent(self) {
                    return best.map(|best| Iteration { best, score: s, candidates, complete: false });
                }
                let candidate = Candidate { mv: Move::Flip(square), score, outcomes, results: None };
                let worth = f64::from(score.0) - self.options.risk * candidate.spread();
                let is_safe = best.is_none() || candidate.chance_below(s) <= self.options.worse;
                if worth > most && is_safe {
                    (most, s, best) = (worth, score, Some(candidate.mv));
                }
                candidates.push(candidate);
            }
        }
        best.map(|best| Iteration { best, score: s, candidates, complete: true })
    }

    /// The flipping policies of section 3.1.1 for a program that does not search flips.
    fn prefers_flip(&mut self, root: &Position, depth: u32, s: Score, c: Score) -> bool {
        if root.hidden().is_empty() {
            return false;
        }
        if s == -Score::INFINITE {
            return true;
        }
        match self.options.policy {
            FlipPolicy::MoveFirst => false,
            FlipPolicy::Comparing => self.pass(root, depth) >= s,
            FlipPolicy::TakeAdvantageOrFlip => s <= c && self.pass(root, depth) > s,
        }
    }

    /// The null-move search that stands for a flip.
    fn pass(&mut self, root: &Position, depth: u32) -> Score {
        self.line.push(root);
        let v = -self.value(&root.after_pass(), depth - 1, -Score::INFINITE, Score::INFINITE, Actions::Moves);
        self.line.pop();
        v
    }

    /// What is searched below a move of a node that searches all actions.
    fn below_moves(&self) -> Actions {
        match (self.options.flips, self.options.below) {
            (Flips::Everywhere, Below::Flips) => Actions::All,
            _ => Actions::Moves,
        }
    }

    /// What is searched below a flip.
    fn below_flips(&self) -> Actions {
        if self.options.flips == Flips::Everywhere { Actions::All } else { Actions::Moves }
    }

    /// Algorithm 3.2 with pruning: the value of a node, exact between `alpha` and `beta`, otherwise a
    /// bound on the side where it lies.
    fn value(&mut self, position: &Position, depth: u32, alpha: Score, beta: Score, actions: Actions) -> Score {
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
            return if self.options.quiescence { quiesce(self.eval, position) } else { self.eval.evaluate(position) };
        }
        if self.line.is_repetition(position) {
            return Score::DRAW;
        }
        // Step 4. The table answers only for the depth that it was asked: it never changes a value.
        let searches_flips = actions == Actions::All && !position.hidden().is_empty();
        let tells_apart = searches_flips && self.options.below == Below::Moves;
        let key = self.line.key(position, depth) ^ if tells_apart { EXHAUSTIVE } else { 0 };
        let remembered = if depth > 1 { self.table.and_then(|table| table.get(key)) } else { None };
        let answer = remembered.filter(|entry| u32::from(entry.depth) == depth);
        if let Some(score) = answer.and_then(|entry| entry.settles(alpha, beta)) {
            return score;
        }

        // Step 5. Moving actions. Whether flips are searched depends on s ≤ c, so s must be known up to c.
        let c = match (searches_flips, self.options.condition) {
            (true, true) => self.eval.evaluate(position),
            (true, false) => Score::INFINITE,
            (false, _) => -Score::INFINITE,
        };
        let floor = if searches_flips { alpha.min(c) } else { alpha };
        let below = if searches_flips { self.below_moves() } else { Actions::Moves };
        let mut s = -Score::INFINITE;
        let mut best = None;
        self.line.push(position);
        let first = remembered.and_then(|entry| entry.best).filter(|_| self.options.sort);
        let mut picker = Picker::new(first);
        // Just before the horizon sorting costs more than it saves.
        while let Some(mv) = picker.step(position, (self.options.sort && depth > 1).then(|| (&self.history).into())) {
            let Move::Step { from, to } = mv else { continue };
            let v = -self.value(&position.after_step(from, to), depth - 1, -beta, -s.max(floor), below);
            if v > s {
                (s, best) = (v, Some(mv));
            }
            if s >= beta || self.meter.is_spent() {
                break;
            }
        }

        // Step 6. Flipping actions, if no move takes an advantage. Without a move the printed first search is the evaluation.
        if searches_flips && s == -Score::INFINITE && self.options.below == Below::Moves {
            s = self.eval.evaluate(position);
        }
        if searches_flips && s <= c && s < beta {
            for square in position.hidden() {
                let v = self.flip(position, square, depth, (s.max(alpha), beta), None);
                if v > s {
                    (s, best) = (v, Some(Move::Flip(square)));
                }
                if s >= beta || self.meter.is_spent() {
                    break;
                }
            }
        }
        self.line.pop();

        // Step 7. Nobody can move: lost, or with pieces face down the *no-move cut*.
        if s == -Score::INFINITE {
            return if position.hidden().is_empty() { Score::loss(depth) } else { self.eval.evaluate(position) };
        }
        // Step 8. Remember.
        if self.meter.is_spent() {
            return s;
        }
        if let Some(mv @ Move::Step { .. }) = best.filter(|_| s > alpha) {
            self.history.reward(mv, depth);
        }
        if let Some(table) = self.table.filter(|_| depth > 1) {
            let bound = if s >= beta {
                Bound::Lower
            } else if s > alpha {
                Bound::Exact
            } else {
                Bound::Upper
            };
            table.put(key, Transposition { score: s, depth: depth as u8, bound, best });
        }
        s
    }

    /// The mean over what a flip may show, each weighted by how many are left; exact between `alpha` and
    /// `beta`, otherwise a bound. `outcomes` takes in what each is worth, as far as they are searched.
    fn flip(
        &mut self,
        position: &Position,
        square: Square,
        depth: u32,
        (alpha, beta): (Score, Score),
        mut outcomes: Option<&mut Vec<FlipOutcome>>,
    ) -> Score {
        let pool = position.pool();
        let types = self.types.iter().map(|&piece| (piece, pool.count(piece))).filter(|&(_, count)| count > 0);
        let types: ArrayVec<(Piece, u8), { Piece::COUNT }> = types.take(self.options.k as usize).collect();
        let weight: i32 = types.iter().map(|&(_, count)| i32::from(count)).sum();

        let whole = (-Score::INFINITE, Score::INFINITE);
        let prunes = self.options.star1 && !self.options.clip && (alpha, beta) != whole;
        // No score below this node is larger: sums over what is not yet searched are bounded by it.
        let most = match self.options.quiescence {
            true => Score::win(depth).0, // captures beyond the horizon may win the game
            false => self.eval.most(position, depth),
        };
        let mut sum = 0;
        let mut left = weight;
        self.line.push(position);
        for (piece, count) in types {
            let n = i32::from(count);
            left -= n;
            let (low, high) = if prunes {
                // The mean is ≤ alpha if this outcome is ≤ low and the rest is as good as can be; likewise high.
                let low = (alpha.0.max(-most) * weight - sum - left * most).div_euclid(n);
                let high = -(-(beta.0.min(most) * weight) + sum - left * most).div_euclid(n);
                (Score(low.max(-most - 1)), Score(high.min(most + 1)))
            } else if self.options.clip {
                (alpha, beta)
            } else {
                whole
            };
            let v = -self.value(&position.after_flip(square, piece), depth - 1, -high, -low, self.below_flips());
            if self.meter.is_spent() {
                break;
            }
            let v = if self.options.clip { v.max(low).min(high) } else { v };
            sum += n * v.0;
            if let Some(outcomes) = &mut outcomes {
                outcomes.push(FlipOutcome { piece, count, score: v });
            }
            if prunes && (v <= low || v >= high) {
                sum += if v <= low { left * most } else { -left * most };
                break;
            }
        }
        self.line.pop();
        Score::quotient(sum, weight)
    }
}
