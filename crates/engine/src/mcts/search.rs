//! What both trees have in common: one search over a shared tree, and a worker on it for each thread.

use std::cmp::Ordering;
use std::collections::VecDeque;

use anqi_playout::{Feed, FeedGame, Path, Playout, PlayoutStart, feed};
use anqi_rules::{Game, MOST_MOVES, Move, MoveList, Piece, Position, Seed};
use arrayvec::ArrayVec;
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::share::Shared;
use super::simulate::{Simulated, Simulator};
use super::tree::{Block, EndResult, Label, MOST_SIBLINGS, Node, NodeId, ROOT, Refused, Seen, Tree};
use super::ucb::{Arms, Bounds};
use super::worth::worth;
use super::{Backup, MctsOptions, Proofs};
use crate::limits::SharedMeter;
use crate::line::SearchLine;
use crate::resources::Resources;
use crate::score::Score;

/// Little is known of a reply after few visits: the mean of all results counts like so many of them.
const CAUTION: f32 = 3.0;

/// A search under way.
#[derive(Debug)]
pub(super) struct Search<'a> {
    pub(super) tree: &'a Tree,
    pub(super) shared: Option<&'a Shared>,
    pub(super) options: &'a MctsOptions,
    pub(super) game: &'a Game,
    /// The legal moves at the root. Some are known to the [`Game`] only: those of a long chase.
    pub(super) moves: &'a [Move],
    pub(super) meter: &'a SharedMeter<'a>,
    pub(super) resources: &'a Resources,
    /// The search ends when it has looked so many plies ahead.
    pub(super) depth: u32,
    /// What plays the games of lanes: a matter of speed only.
    pub(super) path: Path,
}

/// One thread of a search.
pub(super) struct Worker<'a> {
    search: &'a Search<'a>,
    bounds: Bounds,
    arms: Arms,
    simulator: Simulator,
    rng: Xoshiro256PlusPlus,
    line: SearchLine,
    /// How long the line is at the root.
    played: usize,
    /// The nodes from the root to where the worker is.
    path: Vec<PathNode>,
    /// Simulations that wait to be played together.
    waiting: Vec<(PlayoutStart, u64)>,
    /// Simulations that wait for a lane.
    ready: VecDeque<FeedGame>,
    /// The ways to simulations that wait or are under way, and places for such ways.
    ways: Vec<Vec<PathNode>>,
    free: Vec<usize>,
    /// Playouts that are taken from the budget and not begun.
    credit: u64,
    /// The most plies it has looked ahead.
    deepest: u32,
}

/// A node on the way.
#[derive(Clone, Copy, Debug)]
struct PathNode {
    node: NodeId,
    /// Plies from the root.
    ply: u32,
    /// Whether it is a chance-node.
    chance: bool,
}

/// Where a selection ends.
pub(super) enum Leaf {
    /// Here the result is known: that of the player who moved here.
    Known(EndResult),
    /// From this board the game is to be simulated.
    Open(Position),
    /// Here the printed algorithms end the search.
    Interrupt,
}

/// What came of the wish for more moves below a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Added {
    Moves,
    /// There are no more.
    Nothing,
    /// The tree has no room for them.
    Full,
}

/// A node begins with so many moves, and gets three times as many when these were tried.
const FIRST_MOVES: usize = 4;

impl<'a> Worker<'a> {
    pub(super) fn new(search: &'a Search<'a>, seed: &Seed) -> Worker<'a> {
        let mut rng = seed.rng();
        let line = SearchLine::new(search.game, &search.options.tables, search.resources);
        Worker {
            search,
            bounds: Bounds::from(search.options),
            arms: Arms::default(),
            simulator: Simulator::new(search.options, search.game.position().ladder(), rng.next_u64()),
            rng: Xoshiro256PlusPlus::from_rng(&mut rng),
            played: line.len(),
            line,
            path: Vec::new(),
            waiting: Vec::new(),
            ready: VecDeque::new(),
            ways: Vec::new(),
            free: Vec::new(),
            credit: 0,
            deepest: 0,
        }
    }

    pub(super) fn tree(&self) -> &'a Tree {
        self.search.tree
    }

    fn options(&self) -> &'a MctsOptions {
        self.search.options
    }

    /// What weighs the children of a node, and what they are gathered in.
    pub(super) fn bounds(&mut self) -> (&Bounds, &mut Arms) {
        self.arms.clear();
        (&self.bounds, &mut self.arms)
    }

    /// The main loop: one `round` after the other until the search is over. A round selects a node and counts what is known
    /// of it, or has simulations played from there.
    pub(super) fn run(&mut self, round: fn(&mut Worker<'a>)) {
        let lanes = self.options().lanes as usize;
        if lanes == 1 {
            while !self.interrupted() {
                round(self);
            }
            self.land();
        } else {
            let (options, seed, path) = (*self.simulator.options(), self.simulator.seed(), self.search.path);
            feed(&mut InLanes { worker: self, round }, lanes, &options, seed, path);
        }
        self.search.meter.put_back(std::mem::take(&mut self.credit));
    }

    /// Whether the search is over: the root is decided, or the budget is spent. If not, one playout is
    /// taken from the budget.
    pub(super) fn interrupted(&mut self) -> bool {
        if self.tree().node(ROOT).proof().is_some() || self.search.meter.is_over() {
            return true;
        }
        if self.credit == 0 {
            self.credit = self.search.meter.take_batch();
        }
        let Some(left) = self.credit.checked_sub(1) else { return true };
        self.credit = left;
        false
    }

    /// Whether results may come in later than the next selection.
    fn overlaps(&self) -> bool {
        self.options().threads > 1 || self.options().flight > 1 || self.options().lanes > 1
    }

    /// Plies from the root to where the worker is.
    pub(super) fn ply(&self) -> u32 {
        self.path.last().map_or(0, |step| step.ply)
    }

    /// The most plies it has looked ahead.
    pub(super) fn deepest(&self) -> u32 {
        self.deepest
    }

    /// Whether there was a flip between the root and where the worker is.
    pub(super) fn has_flipped(&self) -> bool {
        let flip = |step: &PathNode| matches!(self.tree().node(step.node).mv(), Some(Move::Flip(_)));
        self.path.iter().skip(1).any(flip)
    }

    /// Begins a selection at the root.
    pub(super) fn begin(&mut self) -> Position {
        self.line.truncate(self.played);
        self.path.clear();
        self.path.push(PathNode { node: ROOT, ply: 0, chance: false });
        *self.search.game.position()
    }

    /// Goes on from `board` to a child.
    pub(super) fn follow(&mut self, child: NodeId, board: &Position) {
        self.line.push(board);
        let ply = self.ply() + 1;
        self.path.push(PathNode { node: child, ply, chance: false });
        self.deepest = self.deepest.max(ply);
        if ply >= self.search.depth {
            self.search.meter.end();
        }
    }

    /// Takes the step to a child back.
    pub(super) fn back(&mut self) {
        self.path.pop();
        self.line.pop();
    }

    /// What comes up: each piece of the pool is as likely as another.
    pub(super) fn draw(&mut self, board: &Position) -> Piece {
        let pool = board.pool();
        let n = (u64::from(self.rng.next_u32()) * u64::from(pool.len())) >> 32;
        pool.nth(n as u32).unwrap_or_else(|| unreachable!("a face-down square has a piece in the pool"))
    }

    /// Goes on from a chance-node to what came up. True if it was never there before; `None` if the tree
    /// has no room for it.
    ///
    /// The first piece gets a node of its own, the second one brings the nodes of all others along: most
    /// chance-nodes are visited once.
    pub(super) fn reveal(&mut self, chance: &Node, board: &Position, piece: Piece) -> Option<(NodeId, bool)> {
        let tree = self.tree();
        let (outcome, new) = loop {
            let seen = tree.seen(chance);
            if let Some((id, outcome)) = tree.child(chance, Label::Reveal(piece)) {
                break (id, outcome.results().count() == 0 && outcome.flight() == 0);
            }
            let first = tree.children(chance).next().map(|(_, outcome)| outcome.label());
            let others = board.reveals().map(|(piece, _)| Label::Reveal(piece)).filter(|&label| Some(label) != first);
            let labels: ArrayVec<Label, { Piece::COUNT }> =
                if first.is_none() { std::iter::once(Label::Reveal(piece)).collect() } else { others.collect() };
            let complete = first.is_some() || board.pool().kinds() == 1;
            match tree.extend(chance, seen, labels.into_iter(), complete) {
                Ok(_) | Err(Refused::Late) => {} // now it is there, or may be
                Err(Refused::Full) => return None,
            }
        };
        let ply = self.ply();
        if let Some(chance) = self.path.last_mut() {
            chance.chance = true;
        }
        self.path.push(PathNode { node: outcome, ply, chance: false });
        Some((outcome, new))
    }

    /// Makes the next moves of `board` children of its node.
    pub(super) fn add_moves(&self, node: &Node, board: &Position) -> Added {
        let tree = self.tree();
        let seen = tree.seen(node);
        let shared = self.search.shared.map(|shared| (shared, self.line.full_key(board)));
        let known = shared.and_then(|(shared, key)| shared.get(key)).filter(|_| seen == Seen::NONE);
        if let Some(children) = known {
            tree.adopt(node, children);
            return Added::Moves;
        }
        let mut moves = self.moves(board);
        if self.options().bias > 0.0 {
            self.sort(&mut moves, board);
        }
        let had = tree.children(node).count();
        let more = if shared.is_some() { MOST_SIBLINGS } else { FIRST_MOVES.max(3 * had) };
        let labels = moves.iter().skip(had).take(more.min(MOST_SIBLINGS)).copied().map(Label::Move);
        if labels.len() == 0 {
            return Added::Nothing;
        }
        let complete = had + labels.len() == moves.len();
        match tree.extend(node, seen, labels, complete) {
            Ok(block) => self.look_at(&block, board),
            Err(Refused::Late) => {} // others have added them
            Err(Refused::Full) => return Added::Full,
        }
        if let Some((shared, key)) = shared.filter(|_| complete) {
            shared.put(key, tree.seen(node));
        }
        Added::Moves
    }

    /// The moves of the board where the worker is.
    pub(super) fn moves(&self, board: &Position) -> MoveList {
        if self.path.len() == 1 { self.search.moves.iter().copied().collect() } else { board.moves() }
    }

    /// Puts moves first that look good: those are tried first.
    fn sort(&self, moves: &mut MoveList, board: &Position) {
        let mut keyed: ArrayVec<(i32, Move), MOST_MOVES> = ArrayVec::new();
        let flip = -worth(&board.after_pass());
        let key = |worth: f32| -(worth * 1e6) as i32;
        keyed.extend(moves.iter().map(|&mv| (key(look(board, mv, flip)), mv)));
        keyed.sort_by_key(|&(key, _)| key);
        moves.clear();
        moves.extend(keyed.into_iter().map(|(_, mv)| mv));
    }

    /// Notes what a look at the board says of each move, where an option asks for it.
    pub(super) fn look_at(&self, block: &Block<'_>, board: &Position) {
        let options = self.options();
        if options.bias == 0.0 && options.minimax == 0.0 {
            return;
        }
        let flip = -worth(&board.after_pass());
        for node in block.nodes() {
            node.set_worth(node.mv().map_or(flip, |mv| look(board, mv, flip)));
        }
    }

    /// How the game is decided by rules or tables on a board that the worker has just come to, for the side that moved there.
    pub(super) fn decided(&self, board: &Position) -> Option<EndResult> {
        let ended = self.line.ended(board, 0);
        ended.map(|score| match score.cmp(&Score::DRAW) {
            Ordering::Less => EndResult::Win,
            Ordering::Equal => EndResult::Draw,
            Ordering::Greater => EndResult::Loss,
        })
    }

    /// Whether the board was there before on the way to it: a draw, but only on this way.
    pub(super) fn repeats(&self, board: &Position) -> bool {
        self.line.is_repetition(board)
    }

    /// Whether a decided node that is selected ends the search (line 3 of algorithms 1 and 3). A draw has no
    /// `winning_color`.
    pub(super) fn ends_at(&self, proof: EndResult) -> bool {
        self.options().proofs == Proofs::Interrupt && proof != EndResult::Draw
    }

    /// Ends the search of all threads in the middle of an iteration, which does not count.
    pub(super) fn interrupt(&self) {
        self.search.meter.put_back(1);
        self.search.meter.end();
    }

    /// Marks the node where the worker is, and every node above it that follows.
    pub(super) fn prove(&self, proof: EndResult) {
        let mut steps = self.path.iter().rev();
        if let Some(step) = steps.next() {
            self.tree().node(step.node).prove(proof);
        }
        if self.options().proofs != Proofs::Propagate {
            return;
        }
        for step in steps {
            let node = self.tree().node(step.node);
            let children = self.tree().children(node).map(|(_, child)| child.proof());
            let complete = self.tree().is_complete(node);
            let follows = if step.chance { certain(children, complete) } else { best_reply(children, complete) };
            let Some(proof) = follows else { return };
            node.prove(proof);
        }
    }

    /// Plays the game to its end from `board`, now or together with others, and backpropagates the result.
    pub(super) fn simulate(&mut self, board: &Position) {
        let start = self.start(board);
        if self.overlaps() {
            let alone = self.search.is_alone();
            self.path.iter().for_each(|step| self.tree().node(step.node).depart(alone));
        }
        let (lanes, flight) = (self.options().lanes, self.options().flight as usize);
        if lanes == 1 && flight == 1 {
            let simulated = self.simulator.play(&start);
            self.search.backpropagate(&self.path, simulated, self.overlaps());
            return;
        }
        let index = self.simulator.number();
        let way = self.keep_way();
        if lanes > 1 {
            self.ready.push_back(FeedGame { tag: way as u64, start, index });
            return;
        }
        self.waiting.push((start, index));
        if self.waiting.len() == flight {
            self.land();
        }
    }

    /// Remembers the way to where the worker is.
    fn keep_way(&mut self) -> usize {
        let way = self.free.pop().unwrap_or(self.ways.len());
        if way == self.ways.len() {
            self.ways.push(Vec::new());
        }
        self.ways[way].clone_from(&self.path);
        way
    }

    /// The start of a playout. The limit of playouts may be far above that of the game; still, if nothing
    /// happens before the game's own limit, the game is drawn. So the count of quiet plies starts where the
    /// present stretch ends in time.
    fn start(&self, board: &Position) -> PlayoutStart {
        let (playout, rule) = (self.options().playout, self.search.game.rules().draw().map_or(u32::MAX, u32::from));
        let start = PlayoutStart::from(board);
        if self.options().rule && rule < playout {
            start.with_quiet(playout - rule + u32::from(board.quiet()))
        } else {
            start
        }
    }

    /// Plays all simulations in flight.
    pub(super) fn land(&mut self) {
        let Worker { search, simulator, waiting, ways, free, .. } = self;
        simulator.play_all(waiting, |place, simulated| search.backpropagate(&ways[place], simulated, true));
        free.extend((0..waiting.len()).rev()); // the first way is the next to be taken again
        waiting.clear();
    }

    /// Counts a known result.
    pub(super) fn backpropagate(&self, proof: EndResult) {
        let known = Simulated { result: proof.reversed(), bonus: 0 };
        self.search.backpropagate(&self.path, known, false);
    }
}

/// Simulations in lanes. Every lane plays a ply at a time; when a game ends its result is counted, and a new one selected.
/// In which order this happens depends on the games alone, so the tree is the same on every machine.
struct InLanes<'w, 'a> {
    worker: &'w mut Worker<'a>,
    round: fn(&mut Worker<'a>),
}

impl Feed for InLanes<'_, '_> {
    fn next(&mut self) -> Option<FeedGame> {
        // A round brings no simulation if its result is known, and may bring several.
        while self.worker.ready.is_empty() {
            if self.worker.interrupted() {
                return None;
            }
            (self.round)(self.worker);
        }
        self.worker.ready.pop_front()
    }

    fn done(&mut self, way: u64, playout: Playout) {
        let Worker { search, simulator, ways, free, .. } = &mut *self.worker;
        search.backpropagate(&ways[way as usize], simulator.judge(&playout), true);
        free.push(way as usize);
    }
}

impl Search<'_> {
    /// Whether no other thread works on the tree.
    fn is_alone(&self) -> bool {
        self.options.threads == 1
    }

    /// Counts a result in all nodes from the root to where it was found.
    fn backpropagate(&self, path: &[PathNode], Simulated { result, bonus }: Simulated, in_flight: bool) {
        let alone = self.is_alone();
        let last = path.last().map_or(0, |step| step.ply);
        for step in path.iter().rev() {
            let node = self.tree.node(step.node);
            // `result` is that of the player to move at the end; a node's is that of who moved there.
            if (last - step.ply).is_multiple_of(2) {
                node.count(result.reversed(), -bonus, alone);
            } else {
                node.count(result, bonus, alone);
            }
            if in_flight {
                node.arrive(alone);
            }
            match self.options.backup {
                Backup::Best => self.back_up_best(node, step.chance),
                Backup::Mean if self.options.minimax > 0.0 => self.back_up_worth(node, step.chance),
                Backup::Mean => {}
            }
        }
    }

    /// The worth of the most visited reply, or of what may come up; the results where there is none yet.
    fn back_up_best(&self, node: &Node, chance: bool) {
        let mean = self.options.results(node).balance() as f32;
        let worth = if chance {
            self.expectation(node)
        } else {
            let replies = self.tree.children(node).map(|(_, child)| child);
            replies.max_by_key(|reply| self.options.preference(reply)).and_then(|best| {
                let visits = best.results().count() as f32;
                (visits > 0.0).then(|| (CAUTION * mean - visits * self.proven_or_worth(best)) / (CAUTION + visits))
            })
        };
        node.set_worth(worth.unwrap_or(mean));
    }

    /// Implicit minimax backups (Lanctot, Winands, Pepels & Sturtevant 2014): what a look at the boards
    /// says of the best reply.
    fn back_up_worth(&self, node: &Node, chance: bool) {
        let worth = if chance {
            self.expectation(node)
        } else {
            self.tree.children(node).map(|(_, reply)| reply.worth()).reduce(f32::max).map(|best| -best)
        };
        if let Some(worth) = worth {
            node.set_worth(worth);
        }
    }

    /// The worth of what came up at a chance-node, as often as it did.
    fn expectation(&self, chance: &Node) -> Option<f32> {
        let (mut sum, mut weight) = (0.0, 0.0);
        for (_, outcome) in self.tree.children(chance) {
            let visits = outcome.results().count() as f32;
            sum += visits * self.proven_or_worth(outcome);
            weight += visits;
        }
        (weight > 0.0).then(|| sum / weight)
    }

    fn proven_or_worth(&self, node: &Node) -> f32 {
        match self.options.proof(node) {
            Some(EndResult::Win) => 1.0,
            Some(EndResult::Draw) => 0.0,
            Some(EndResult::Loss) => -1.0,
            None => node.worth(),
        }
    }
}

/// What a look at the board says of a move; of a flip no more than of a pass.
fn look(board: &Position, mv: Move, flip: f32) -> f32 {
    match mv {
        Move::Step { from, to } => -worth(&board.after_step(from, to)),
        Move::Flip(_) => flip,
    }
}

/// A chance-node is decided when everything that may come up is, in the same way.
fn certain(mut outcomes: impl Iterator<Item = Option<EndResult>>, complete: bool) -> Option<EndResult> {
    let first = outcomes.next()??;
    (complete && outcomes.all(|outcome| outcome == Some(first))).then_some(first)
}

/// A node is decided for who moved there when a reply wins, or when all replies are decided.
fn best_reply(replies: impl Iterator<Item = Option<EndResult>>, complete: bool) -> Option<EndResult> {
    let mut best = EndResult::Loss;
    let mut open = !complete;
    for reply in replies {
        match reply {
            Some(EndResult::Win) => return Some(EndResult::Loss),
            Some(proof) => best = best.max(proof),
            None => open = true,
        }
    }
    (!open).then_some(best.reversed())
}
