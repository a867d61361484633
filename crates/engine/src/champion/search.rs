//! Principal-variation search with chance nodes.

use anqi_rules::{BoardSize, Game, Move, Piece, Position, Square, SquareSet, neighbours};
use arrayvec::ArrayVec;

use super::ChampionOptions;
use super::evaluator::Evaluator;
use super::expectation::{ONE, of_proof};
use super::small::SMALL_BOARD;
use super::together::{Queue, Together};
use crate::limits::{Limits, Meter};
use crate::line::SearchLine;
use crate::minimax::ordering::{History, Picker, Quiet};
use crate::minimax::pv::principal_variation;
use crate::minimax::transposition::{Bound, Transposition, TranspositionTable};
use crate::player::{Candidate, Choice, FlipOutcome, Purpose, SearchStats};
use crate::score::Score;

/// No search goes deeper.
const MOST_DEPTH: u32 = 120;
/// Threads share what is left to search from this depth on.
const SHARED: u32 = 4;
/// No line is longer.
const MOST_PLIES: usize = 128;

/// One thread's search.
pub(super) struct Search<'a> {
    options: &'a ChampionOptions,
    evaluator: Evaluator<'a>,
    table: &'a TranspositionTable,
    together: &'a Together,
    line: SearchLine,
    meter: Meter<'a>,
    /// With so few pieces face down every flip is searched; on small boards always.
    few: u32,
    history: History,
    /// By distance from the root, quiet steps that refuted a sibling.
    killers: Box<[[Option<Move>; 2]; MOST_PLIES]>,
    /// By the square that the move before went to and by the piece there, what refuted it.
    counters: Box<[[Option<Move>; Square::COUNT]; 8]>,
}

/// What came before a node.
#[derive(Clone, Copy)]
struct Before {
    /// Plies from the root.
    ply: usize,
    mv: Option<Move>,
    /// Whether it was a null move.
    passed: bool,
}

impl Before {
    fn then(self, mv: Option<Move>) -> Before {
        Before { ply: (self.ply + 1).min(MOST_PLIES - 1), mv, passed: mv.is_none() }
    }
}

impl<'a> Search<'a> {
    pub(super) fn new(
        options: &'a ChampionOptions,
        evaluator: Evaluator<'a>,
        table: &'a TranspositionTable,
        together: &'a Together,
        line: SearchLine,
        meter: Meter<'a>,
        board: BoardSize,
    ) -> Search<'a> {
        let few = if board.squares().len() <= SMALL_BOARD { SMALL_BOARD } else { options.few };
        Search {
            options,
            evaluator,
            table,
            together,
            line,
            meter,
            few,
            history: History::new(),
            killers: Box::new([[None; 2]; MOST_PLIES]),
            counters: Box::new([[None; Square::COUNT]; 8]),
        }
    }

    /// Iterative deepening over `moves` of the root, each depth in the order of the last. Every other pair of threads begins a ply
    /// deeper.
    pub(super) fn best(
        &mut self,
        game: &Game,
        mut moves: Vec<Move>,
        limits: &Limits,
        purpose: Purpose,
        helper: u32,
    ) -> Option<Choice> {
        let root = game.position();
        let first = *moves.first()?;
        let mut choice = Choice {
            mv: first,
            score: self.evaluate(root),
            pv: vec![first],
            candidates: Vec::new(),
            stats: SearchStats::default(),
        };
        let deepest = limits.depth.unwrap_or(MOST_DEPTH).min(MOST_DEPTH);
        let every_move = purpose == Purpose::Analysis;
        for depth in 1 + helper / 2 % 2..=deepest {
            let candidates = self.root(root, &moves, depth, every_move);
            let Some(best) = best_of(&candidates) else { break };
            let complete = candidates.len() == moves.len();
            if every_move && !complete && !choice.candidates.is_empty() {
                break; // scores of different depths do not compare
            }
            (choice.mv, choice.score) = (best.mv, best.score);
            let score = |mv: &Move| candidates.iter().find(|c| c.mv == *mv).map_or(-Score::INFINITE, |c| c.score);
            moves.sort_by_key(|mv| (*mv != choice.mv, std::cmp::Reverse(score(mv))));
            // Moves that the budget did not reach keep what they had.
            let reached = candidates.len();
            let older = std::mem::replace(&mut choice.candidates, candidates);
            let missing = |old: &Candidate| choice.candidates[..reached].iter().all(|new| new.mv != old.mv);
            let older: Vec<Candidate> = older.into_iter().filter(missing).collect();
            choice.candidates.extend(older);
            if !complete {
                break;
            }
            choice.stats.depth = depth;
            if limits.depth.is_none() && (choice.score.is_decided() || moves.len() == 1) && !every_move {
                break;
            }
        }
        choice.candidates.sort_by_key(|candidate| (candidate.mv != choice.mv, std::cmp::Reverse(candidate.score)));
        for candidate in &mut choice.candidates {
            candidate.score = self.evaluator.told(candidate.score);
            candidate.outcomes.iter_mut().for_each(|outcome| outcome.score = self.evaluator.told(outcome.score));
        }
        choice.score = self.evaluator.told(choice.score);
        choice.pv = principal_variation(Some(self.table), &self.line, root, choice.mv, choice.stats.depth);
        // A node or two are begun after the last that counts, on the way out.
        choice.stats.nodes = self.meter.nodes().min(limits.nodes.unwrap_or(u64::MAX));
        choice.stats.time = self.meter.elapsed();
        Some(choice)
    }

    /// All moves at one depth, as far as the budget goes. Those that are worse than the best have upper bounds only, unless every move
    /// is to be scored.
    fn root(&mut self, root: &Position, moves: &[Move], depth: u32, every_move: bool) -> Vec<Candidate> {
        let mut candidates: Vec<Candidate> = Vec::with_capacity(moves.len());
        let mut s = -Score::INFINITE;
        let before = Before { ply: 0, mv: None, passed: false };
        let together = self.together;
        let task = |mv| task(root.hash(), depth, mv);
        let mut queue: Queue<Move, 512> = Queue::new(moves.iter().copied());
        while let Some(mv) = queue.next(|mv| together.is_busy(task(mv))) {
            let floor = if every_move { -Score::INFINITE } else { s };
            if let Some(score) = together.most(mv, depth).filter(|score| *score <= floor) {
                candidates.push(Candidate { mv, score, outcomes: Vec::new(), results: None });
                continue;
            }
            let at = together.at(task(mv));
            let mut outcomes = Vec::new();
            let score = match mv {
                Move::Step { from, to } => {
                    self.line.push(root);
                    let child = root.after_step(from, to);
                    let whole = every_move || s == -Score::INFINITE;
                    let v = self.scout(&child, depth - 1, 0, floor, Score::INFINITE, before.then(Some(mv)), whole);
                    self.line.pop();
                    v
                }
                Move::Flip(square) => {
                    let saved = if root.hidden().len() <= self.few { 0 } else { self.options.flip };
                    let depth = (depth - 1).saturating_sub(saved);
                    self.flip(root, square, depth, floor, Score::INFINITE, before, Some(&mut outcomes))
                }
            };
            drop(at);
            if self.meter.is_spent() {
                break;
            }
            together.at_most(mv, depth, score);
            s = s.max(score);
            candidates.push(Candidate { mv, score, outcomes, results: None });
        }
        candidates
    }

    /// A null window and a smaller depth first; the real ones only if the move turns out better.
    #[inline]
    #[expect(clippy::too_many_arguments, reason = "a window, a depth, and where we are")]
    fn scout(
        &mut self,
        child: &Position,
        depth: u32,
        reduction: u32,
        alpha: Score,
        beta: Score,
        before: Before,
        whole: bool,
    ) -> Score {
        if !whole {
            let above = Score(alpha.0 + 1);
            let mut v = -self.value(child, depth.saturating_sub(reduction), -above, -alpha, before);
            if v > alpha && reduction > 0 {
                v = -self.value(child, depth, -above, -alpha, before);
            }
            if v <= alpha || v >= beta || above >= beta {
                return v;
            }
        }
        -self.value(child, depth, -beta, -alpha, before)
    }

    fn value(&mut self, position: &Position, depth: u32, alpha: Score, beta: Score, before: Before) -> Score {
        // Step 1. The horizon.
        if depth == 0 {
            return self.quiesce(position, alpha, beta);
        }
        // Step 2. The budget. A search that ran out returns anything; its result is not used.
        if self.meter.count() {
            return Score::DRAW;
        }
        // Step 3. The end of the game.
        if let Some(score) = self.line.ended(position, depth) {
            return score;
        }
        if self.line.is_repetition(position) {
            return Score::DRAW;
        }
        // Step 4. The table.
        let key = self.line.key(position, depth);
        let remembered = self.table.get(key);
        let answer = remembered.filter(|entry| u32::from(entry.depth) >= depth);
        if let Some(score) = answer.and_then(|entry| entry.settles(alpha, beta)) {
            return score;
        }

        // Step 5. A null move stands for a flip somewhere else. It needs something to flip.
        let hidden = position.hidden();
        let mut s = -Score::INFINITE;
        let mut best = None;
        self.line.push(position);
        let all_flips = hidden.len() <= self.few;
        let passes = !all_flips && !before.passed;
        if passes {
            let depth = (depth - 1).saturating_sub(self.options.pass);
            s = -self.value(&position.after_pass(), depth, -beta, -alpha, before.then(None));
            if s >= beta {
                self.line.pop();
                return s;
            }
        }

        // Step 6. Steps: the first with the whole window, late quiet ones to less depth at first.
        let together = self.together;
        let shared = together.is_shared() && depth >= SHARED;
        let mut later = ArrayVec::<(Move, u32), 64>::new();
        let mut steps = 0;
        let mut picker = Picker::new(remembered.and_then(|entry| entry.best));
        loop {
            let (mv, place) = match picker.step(position, (depth > 1).then(|| self.quiet(position, before))) {
                Some(mv) => {
                    steps += 1;
                    if shared && steps > 1 && !later.is_full() && together.is_busy(task(key, depth, mv)) {
                        later.push((mv, steps - 1));
                        continue;
                    }
                    (mv, steps - 1)
                }
                None if later.is_empty() => break,
                None => later.remove(0),
            };
            let Move::Step { from, to } = mv else { continue };
            let child = position.after_step(from, to);
            let late = depth >= 3 && place >= self.options.lmr && child.quiet() > 0;
            let reduction = if late { 1 + u32::from(place >= 2 * self.options.lmr + 2) } else { 0 };
            let floor = s.max(alpha);
            let at = shared.then(|| together.at(task(key, depth, mv)));
            let v = self.scout(&child, depth - 1, reduction, floor, beta, before.then(Some(mv)), place == 0);
            drop(at);
            if v > s {
                (s, best) = (v, Some(mv));
            }
            if s >= beta || self.meter.is_spent() {
                break;
            }
        }
        // Step 7. Flips where they matter: beside revealed pieces, or all when few are left.
        let flips = if all_flips {
            hidden
        } else if depth >= self.options.inner {
            hidden & touched(position)
        } else {
            SquareSet::EMPTY
        };
        if s < beta && !self.meter.is_spent() {
            let task = |square| task(key, depth, Move::Flip(square));
            let mut queue: Queue<Square, { 2 * Square::COUNT }> = Queue::new(flips);
            while let Some(square) = queue.next(|square| shared && together.is_busy(task(square))) {
                let saved = if all_flips { 0 } else { self.options.flip };
                let depth = (depth - 1).saturating_sub(saved);
                let at = shared.then(|| together.at(task(square)));
                let v = self.flip(position, square, depth, s.max(alpha), beta, before, None);
                drop(at);
                if v > s {
                    (s, best) = (v, Some(Move::Flip(square)));
                }
                if s >= beta || self.meter.is_spent() {
                    break;
                }
            }
        }
        self.line.pop();

        // Step 8. No legal action.
        if s == -Score::INFINITE {
            return if hidden.is_empty() { Score::loss(depth) } else { self.evaluate(position) };
        }
        if self.meter.is_spent() {
            return s;
        }
        // Step 9. Remember.
        if let Some(mv @ Move::Step { to, .. }) = best.filter(|_| s > alpha)
            && position.rung_at(to) == 0
        {
            self.refuted(position, mv, depth, before);
        }
        let bound = if s >= beta {
            Bound::Lower
        } else if s > alpha {
            Bound::Exact
        } else {
            Bound::Upper
        };
        let best = best.or(remembered.and_then(|entry| entry.best));
        self.table.put(key, Transposition { score: s, depth: depth as u8, bound, best });
        s
    }

    /// The mean over what a flip may show; exact between `alpha` and `beta`, otherwise a bound.
    ///
    /// Star1 stops as soon as the outcomes that are left cannot bring the mean back between `alpha` and `beta`. It knows of them
    /// only that they are between a loss and a win, so Star2 first lets the other side answer each outcome with one move that
    /// looks good: the outcome is worth no more than that. Most flips are worse than the best move, and this often shows it.
    #[expect(clippy::too_many_arguments, reason = "a window, a depth, and where we are")]
    fn flip(
        &mut self,
        position: &Position,
        square: Square,
        depth: u32,
        alpha: Score,
        beta: Score,
        before: Before,
        mut outcomes: Option<&mut Vec<FlipOutcome>>,
    ) -> Score {
        let mut pieces: ArrayVec<(Piece, u8), { Piece::COUNT }> = position.reveals().collect();
        pieces.sort_by_key(|&(_, count)| std::cmp::Reverse(count)); // the most likely first: they decide most
        let weight: i32 = pieces.iter().map(|&(_, count)| i32::from(count)).sum();
        let (alpha, beta) = (of_proof(alpha).0 * weight, of_proof(beta).0 * weight);
        let before = before.then(Some(Move::Flip(square)));
        // What each is worth at most, and all that are left together, weighted.
        let mut most = [ONE; Piece::COUNT];
        let mut rest = weight * ONE;
        self.line.push(position);
        if alpha > -weight * ONE && depth >= self.options.probe {
            for (i, &(piece, count)) in pieces.iter().enumerate() {
                let n = i32::from(count);
                // The mean is ≤ alpha if this outcome is ≤ low and the others are as good as can be.
                let low = Score((alpha - (rest - n * ONE)).div_euclid(n).max(-ONE - 1));
                let child = position.after_flip(square, piece);
                most[i] = of_proof(-self.probe(&child, depth, -Score(ONE), -low, before)).0;
                rest -= n * (ONE - most[i]);
                if rest <= alpha || self.meter.is_spent() {
                    break;
                }
            }
        }
        let mut sum = 0;
        let mut left = weight;
        let together = self.together;
        let shared = together.is_shared() && depth >= SHARED;
        let task = |i: usize| task(position.hash() ^ (pieces[i].0.index() as u64) << 20, depth, Move::Flip(square));
        let mut queue: Queue<usize, { 2 * Piece::COUNT }> = Queue::new(0..pieces.len());
        while let Some(i) = queue.next(|i| shared && together.is_busy(task(i))) {
            let (piece, count) = pieces[i];
            if sum + rest <= alpha || self.meter.is_spent() {
                sum += rest;
                break;
            }
            let n = i32::from(count);
            left -= n;
            rest -= n * most[i];
            // Likewise the mean is ≥ beta if this outcome is ≥ high and the others are lost.
            let low = Score((alpha - sum - rest).div_euclid(n).max(-ONE - 1));
            let high = Score((-(-beta + sum - left * ONE).div_euclid(n)).min(ONE + 1));
            let child = position.after_flip(square, piece);
            let at = shared.then(|| together.at(task(i)));
            let v = of_proof(-self.value(&child, depth, -high, -low, before));
            drop(at);
            if self.meter.is_spent() {
                break;
            }
            sum += n * v.0;
            if let Some(outcomes) = &mut outcomes {
                outcomes.push(FlipOutcome { piece, count, score: v });
            }
            if left > 0 && v >= high {
                sum -= left * ONE;
                break;
            }
        }
        self.line.pop();
        Score::quotient(sum, weight)
    }

    /// What the side to move gets at least: by the table, or by the one move that looks best. Above the horizon only: there
    /// quiescence answers at once.
    fn probe(&mut self, position: &Position, depth: u32, alpha: Score, beta: Score, before: Before) -> Score {
        if self.meter.count() {
            return Score::DRAW;
        }
        if let Some(score) = self.line.ended(position, depth) {
            return score;
        }
        let remembered = self.table.get(self.line.key(position, depth));
        if let Some(entry) = remembered
            && u32::from(entry.depth) >= depth
            && entry.bound != Bound::Upper
        {
            return entry.score;
        }
        let best = remembered.and_then(|entry| entry.best);
        // Where no step was best, a null move was: it stands for a flip somewhere else.
        if !matches!(best, Some(Move::Step { .. })) && position.hidden().len() > self.few {
            let depth = (depth - 1).saturating_sub(self.options.pass);
            self.line.push(position);
            let v = -self.value(&position.after_pass(), depth, -beta, -alpha, before.then(None));
            self.line.pop();
            return v;
        }
        let mut picker = Picker::new(best);
        let Some(mv @ Move::Step { from, to }) = picker.step(position, Some(self.quiet(position, before))) else {
            return -Score::INFINITE;
        };
        self.line.push(position);
        let v = -self.value(&position.after_step(from, to), depth - 1, -beta, -alpha, before.then(Some(mv)));
        self.line.pop();
        v
    }

    /// Captures only; standing still is always allowed.
    fn quiesce(&mut self, position: &Position, alpha: Score, beta: Score) -> Score {
        if self.meter.count() {
            return Score::DRAW;
        }
        if let Some(score) = self.line.ended(position, 0) {
            return score;
        }
        let mut s = self.evaluate(position);
        if s >= beta {
            return s;
        }
        let mut picker = Picker::new(None);
        while let Some(mv) = picker.capture(position) {
            let Move::Step { from, to } = mv else { continue };
            let child = position.after_step(from, to);
            // Takes a smaller piece and may be taken back.
            if self.options.exchange
                && VALUE[usize::from(position.rung_at(from))] > VALUE[usize::from(position.rung_at(to))]
                && !child.attackers_of(to).is_empty()
            {
                continue;
            }
            let v = -self.quiesce(&child, -beta, -s.max(alpha));
            s = s.max(v);
            if s >= beta || self.meter.is_spent() {
                break;
            }
        }
        s
    }

    #[inline]
    fn evaluate(&mut self, position: &Position) -> Score {
        self.evaluator.expectation(position)
    }

    /// What quiet steps are sorted by here.
    #[inline]
    fn quiet(&self, position: &Position, before: Before) -> Quiet<'_> {
        let [first, second] = self.killers[before.ply];
        let counter = match before.mv {
            Some(Move::Step { to, .. }) => self.counters[usize::from(position.rung_at(to))][to.index()],
            _ => None,
        };
        Quiet::new(&self.history, [first, second, counter])
    }

    fn refuted(&mut self, position: &Position, mv: Move, depth: u32, before: Before) {
        self.history.reward(mv, depth);
        let killers = &mut self.killers[before.ply];
        if killers[0] != Some(mv) {
            *killers = [Some(mv), killers[0]];
        }
        if let Some(Move::Step { to, .. }) = before.mv {
            self.counters[usize::from(position.rung_at(to))][to.index()] = Some(mv);
        }
    }
}

/// What threads tell each other that they are at.
#[inline]
fn task(key: u64, depth: u32, mv: Move) -> u64 {
    let code = match mv {
        Move::Step { from, to } => from.index() << 5 | to.index(),
        Move::Flip(square) => 1 << 10 | square.index(),
    };
    (key ^ (code as u64) << 8 ^ u64::from(depth)).wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1
}

/// What a piece is worth in an exchange, by rung.
const VALUE: [i32; 8] = [0, 200, 450, 200, 250, 350, 800, 1000];

/// The first of the best.
fn best_of(candidates: &[Candidate]) -> Option<&Candidate> {
    candidates.iter().rev().max_by_key(|candidate| candidate.score)
}

/// Squares beside a revealed piece.
fn touched(position: &Position) -> SquareSet {
    position
        .hidden()
        .iter()
        .filter(|&square| {
            let revealed = position.occupied() & !position.hidden();
            !(neighbours(square) & revealed).is_empty()
        })
        .collect()
}
