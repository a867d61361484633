//! Algorithms 1 to 4 of Jouandeau & Cazenave as they are printed, in a small tree of plain vectors: the played forms visit
//! the same nodes as often, with the same results, and choose the same moves.
//!
//! What the paper leaves open is as in the played forms: UCB1 with the options of a player, children in the order of moves, and the
//! rules of the game in the tree (draws, and a side without pieces).

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::HashMap;

use anqi_engine::{DrawJudge, Draws, Limits, PlayerSpec, Proofs, Resources, ResultCounts, Stop, Ucb};
use anqi_playout::{End, Playout, PlayoutOptions, PlayoutResult, PlayoutStart, Policy, Reading, playout};
use anqi_rules::{Deal, Game, Kind, Move, Piece, Position, Repeat, Rules, Seed};
use rand_core::{Rng, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

/// What leads from a node to its child: a move, or at a chance-node what came up.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Edge {
    Move(Move),
    Reveal(Piece),
}

/// How a game ends for the player who moved to a node.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum End3 {
    Loss,
    Draw,
    Win,
}

impl End3 {
    fn reversed(self) -> End3 {
        match self {
            End3::Loss => End3::Win,
            End3::Draw => End3::Draw,
            End3::Win => End3::Loss,
        }
    }
}

#[derive(Default, Debug)]
struct Node {
    /// Batches of children, in the order in which they were added.
    batches: Vec<Vec<(Edge, usize)>>,
    /// Whether nothing will be added any more.
    complete: bool,
    wins: u32,
    draws: u32,
    losses: u32,
    /// Hundredths of leads in graded draws.
    leads: i32,
    /// A draw has one here, too.
    winning_color: Option<End3>,
}

impl Node {
    fn visits(&self) -> u32 {
        self.wins + self.draws + self.losses
    }

    /// The latest batch first: so ties are broken.
    fn children(&self) -> impl Iterator<Item = (Edge, usize)> {
        self.batches.iter().rev().flatten().copied()
    }

    fn child(&self, edge: Edge) -> Option<usize> {
        self.children().find(|(found, _)| *found == edge).map(|(_, id)| id)
    }
}

/// The options of the player that are read here.
#[derive(Clone, Copy)]
struct Setting {
    policy: Policy,
    playout: u32,
    rule: bool,
    reading: Reading,
    draws: Draws,
    draw: f32,
    ucb: Ucb,
    explore: f32,
    proofs: Proofs,
}

const USUAL: Setting = Setting {
    policy: Policy::Capture,
    playout: 640,
    rule: true,
    reading: Reading::Rules,
    draws: Draws::Off,
    draw: 0.5,
    ucb: Ucb::Ucb1,
    explore: 1.0,
    proofs: Proofs::Propagate,
};

/// A step of the way: the node, how many plies from the root, and whether it is a chance-node.
type Way = Vec<(usize, u32, bool)>;

struct Search<'a> {
    game: &'a Game,
    setting: Setting,
    nodes: Vec<Node>,
    /// Where chance comes from: what flips show, and playouts.
    chance: Xoshiro256PlusPlus,
    playouts: u64,
    played: u64,
    left: u64,
    /// Line 3 of algorithms 1 and 3.
    broken: bool,
}

const ROOT: usize = 0;

impl<'a> Search<'a> {
    fn new(game: &'a Game, setting: Setting, seed: &Seed, left: u64) -> Search<'a> {
        let mut rng = seed.child(format!("ply {}", game.plies().len())).child("thread 0").rng();
        let playouts = rng.next_u64();
        let chance = Xoshiro256PlusPlus::from_rng(&mut rng);
        Search { game, setting, nodes: vec![Node::default()], chance, playouts, played: 0, left, broken: false }
    }

    /// `not-interrupted`, and takes one playout of the budget.
    fn goes_on(&mut self) -> bool {
        let decided = self.setting.proofs == Proofs::Propagate && self.nodes[ROOT].winning_color.is_some();
        if self.broken || decided || self.left == 0 {
            return false;
        }
        self.left -= 1;
        true
    }

    fn add(&mut self, parent: usize, batch: impl IntoIterator<Item = Edge>) -> Vec<usize> {
        let mut added = Vec::new();
        for edge in batch {
            self.nodes.push(Node::default());
            added.push((edge, self.nodes.len() - 1));
        }
        let ids = added.iter().map(|(_, id)| *id).collect();
        self.nodes[parent].batches.push(added);
        ids
    }

    fn draw(&mut self, board: &Position) -> Piece {
        let pool: Vec<Piece> = board.pool().pieces().collect();
        pool[((u64::from(self.chance.next_u32()) * pool.len() as u64) >> 32) as usize]
    }

    fn moves(&self, board: &Position, way: &Way) -> Vec<Move> {
        if way.len() == 1 { self.game.legal_moves().into_iter().collect() } else { board.moves().into_iter().collect() }
    }

    /// A board that was there before, with nothing but quiet plies between, is a draw on this way.
    fn repeats(&self, line: &[Position]) -> bool {
        let rules = self.game.rules();
        let judged = rules.repeat() != Repeat::Off || rules.draw().is_none();
        let (board, before) = line.split_last().unwrap();
        let start = before.len().saturating_sub(usize::from(board.quiet()));
        judged && before[start..].iter().any(|earlier| earlier.hash() == board.hash())
    }

    /// What the rules say without a look at the moves, for the player who moved here.
    fn judged(&self, board: &Position) -> Option<End3> {
        if board.turn().is_some_and(|turn| board.remaining(turn) == 0) {
            return Some(End3::Win);
        }
        (board.quiet() >= self.game.rules().draw().unwrap_or(u16::MAX)).then_some(End3::Draw)
    }

    /// Positions from the start of the game to the root.
    fn line(&self) -> Vec<Position> {
        self.game.positions().to_vec()
    }

    /// UCB1 of a child, or UCB1-tuned.
    fn bound(&self, id: usize, all: f32) -> f32 {
        let Setting { draw, explore, ucb, proofs, .. } = self.setting;
        let node = &self.nodes[id];
        let (mut s, ln) = (node.visits() as f32, libm::logf(all.max(1.0)));
        let p = match node.winning_color.filter(|_| proofs == Proofs::Propagate) {
            Some(_) => {
                s = s.max(1.0);
                draw
            }
            None => (node.wins as f32 + draw * node.draws as f32 + node.leads as f32 / 200.0) / s,
        };
        match ucb {
            Ucb::Ucb1 => p + explore * (2.0 * ln / s).sqrt(),
            Ucb::Ucb1Tuned => p + explore * (ln / s * (p - p * p + (2.0 * ln / s).sqrt()).min(0.25)).max(0.0).sqrt(),
        }
    }

    /// The child with the highest bound, the first of equals; proven wins before it, proven losses never.
    fn best(&self, children: &[(Edge, usize)]) -> Option<(Edge, usize)> {
        let proof = |id: usize| self.nodes[id].winning_color.filter(|_| self.setting.proofs == Proofs::Propagate);
        if let Some(&won) = children.iter().find(|(_, id)| proof(*id) == Some(End3::Win)) {
            return Some(won);
        }
        let open: Vec<(Edge, usize)> =
            children.iter().copied().filter(|(_, id)| proof(*id) != Some(End3::Loss)).collect();
        let all: f32 = open
            .iter()
            .map(|(_, id)| (self.nodes[*id].visits() as f32).max(if proof(*id).is_some() { 1.0 } else { 0.0 }))
            .sum();
        let mut best: Option<((Edge, usize), f32)> = None;
        for child in open {
            let bound = self.bound(child.1, all);
            if best.is_none_or(|(_, highest)| bound > highest) {
                best = Some((child, bound));
            }
        }
        best.map(|(child, _)| child)
    }

    /// Plays the game to its end; what it is to the player to move, and the lead of a graded draw.
    fn simulate(&mut self, board: &Position) -> (End3, i32) {
        let Setting { policy, playout: draw, rule, reading, draws, .. } = self.setting;
        let mut start = PlayoutStart::from(board);
        let limit = self.game.rules().draw().map_or(u32::MAX, u32::from);
        if rule && limit < draw {
            start = start.with_quiet(draw - limit + u32::from(board.quiet()));
        }
        let Playout { outcome, end, .. } =
            playout(&start, &PlayoutOptions { policy, draw, cut: None, reading }, self.playouts, self.played);
        self.played += 1;
        let lead = lead(board, &end);
        match (outcome, draws) {
            (PlayoutResult::Win, _) => (End3::Win, 0),
            (PlayoutResult::Loss, _) => (End3::Loss, 0),
            (_, Draws::Lead) if lead > 0 => (End3::Win, 0),
            (_, Draws::Lead) if lead < 0 => (End3::Loss, 0),
            (_, Draws::Graded) => (End3::Draw, lead),
            _ => (End3::Draw, 0),
        }
    }

    /// `result` is that of the player to move at the end of the way.
    fn backpropagate(&mut self, way: &Way, (result, lead): (End3, i32)) {
        let (_, end, _) = *way.last().unwrap();
        for &(id, ply, _) in way {
            let own = (end - ply) % 2 == 1;
            let node = &mut self.nodes[id];
            match if own { result } else { result.reversed() } {
                End3::Win => node.wins += 1,
                End3::Draw => node.draws += 1,
                End3::Loss => node.losses += 1,
            }
            node.leads += if own { lead } else { -lead };
        }
    }

    /// `q.winning_color ←`, and by `proofs=propagate` what follows above.
    fn set_winning_color(&mut self, way: &Way, color: End3) {
        self.nodes[way.last().unwrap().0].winning_color = Some(color);
        if self.setting.proofs != Proofs::Propagate {
            return;
        }
        for &(id, _, chance) in way.iter().rev().skip(1) {
            let node = &self.nodes[id];
            let children: Vec<Option<End3>> = node.children().map(|(_, id)| self.nodes[id].winning_color).collect();
            let every = node.complete && children.iter().all(Option::is_some);
            let color = if chance {
                children[0].filter(|color| node.complete && children.iter().all(|other| *other == Some(*color)))
            } else if children.contains(&Some(End3::Win)) {
                Some(End3::Loss)
            } else {
                children.into_iter().max().flatten().filter(|_| every).map(End3::reversed)
            };
            let Some(color) = color else { return };
            self.nodes[id].winning_color = Some(color);
        }
    }

    /// A selected node whose `winning_color` is known: line 3, or one more result.
    fn known(&mut self, way: &Way, color: End3) {
        if self.setting.proofs == Proofs::Interrupt && color != End3::Draw {
            self.broken = true;
            self.left += 1;
        } else {
            self.backpropagate(way, (color.reversed(), 0));
        }
    }

    /// Algorithm 3.
    fn with_chance_nodes(&mut self) {
        while self.goes_on() {
            self.select_and_simulate();
        }
    }

    /// One turn of algorithm 3, with algorithm 4.
    fn select_and_simulate(&mut self) {
        let (mut q, mut board, mut way, mut line) = (ROOT, *self.game.position(), vec![(ROOT, 0, false)], self.line());
        loop {
            // Algorithm 4, lines 4 to 9.
            if let Some(color) = self.nodes[q].winning_color {
                return self.known(&way, color);
            }
            let moves = self.moves(&board, &way);
            if moves.is_empty() {
                self.set_winning_color(&way, End3::Win);
                return self.known(&way, End3::Win);
            }
            // Line 10: `newMove`, or line 20: `best`. New moves come in batches, which decides ties.
            let node = &self.nodes[q];
            let new = moves
                .iter()
                .copied()
                .find(|mv| node.child(Edge::Move(*mv)).is_none_or(|id| self.nodes[id].visits() == 0));
            let (mv, child) = match new {
                Some(mv) => {
                    let had = node.children().count();
                    if node.child(Edge::Move(mv)).is_none() {
                        let more = 4.max(3 * had);
                        let batch: Vec<Edge> = moves.iter().skip(had).take(more).copied().map(Edge::Move).collect();
                        self.nodes[q].complete = had + batch.len() == moves.len();
                        self.add(q, batch);
                    }
                    (mv, self.nodes[q].child(Edge::Move(mv)).unwrap())
                }
                None => match self.best(&node.children().collect::<Vec<_>>()) {
                    Some((Edge::Move(mv), id)) => (mv, id),
                    other => panic!("{other:?} in {board}"),
                },
            };
            let ply = way.last().unwrap().1 + 1;
            let mut is_new = new.is_some();
            q = child;
            way.push((q, ply, false));
            board = match mv {
                Move::Step { from, to } => board.after_step(from, to),
                Move::Flip(square) => {
                    // Lines 12 and 13: `addChanceNode`, `addNode`; later what else comes up.
                    let piece = self.draw(&board);
                    way.last_mut().unwrap().2 = true;
                    let (outcome, added) = match self.nodes[q].child(Edge::Reveal(piece)) {
                        Some(outcome) => (outcome, self.nodes[outcome].visits() == 0),
                        None => (self.add_outcomes(q, &board, piece), true),
                    };
                    is_new = added;
                    q = outcome;
                    way.push((q, ply, false));
                    board.after_flip(square, piece)
                }
            };
            line.push(board);
            if self.repeats(&line) {
                return self.backpropagate(&way, (End3::Draw, 0));
            }
            if is_new {
                match self.judged(&board) {
                    Some(color) => {
                        self.set_winning_color(&way, color);
                        self.backpropagate(&way, (color.reversed(), 0));
                    }
                    None => {
                        let result = self.simulate(&board);
                        self.backpropagate(&way, result);
                    }
                }
                return;
            }
        }
    }

    /// The first piece that comes up at a chance-node gets a node of its own; with the second, all others get theirs.
    fn add_outcomes(&mut self, chance: usize, board: &Position, piece: Piece) -> usize {
        let there: Vec<Edge> = self.nodes[chance].children().map(|(edge, _)| edge).collect();
        let all = board.reveals().map(|(piece, _)| Edge::Reveal(piece)).filter(|edge| !there.contains(edge));
        let batch: Vec<Edge> = if there.is_empty() { vec![Edge::Reveal(piece)] } else { all.collect() };
        self.nodes[chance].complete = !there.is_empty() || board.pool().kinds() == 1;
        self.add(chance, batch);
        self.nodes[chance].child(Edge::Reveal(piece)).unwrap()
    }

    /// Algorithm 1.
    fn with_group_nodes(&mut self) {
        while self.goes_on() {
            self.select_and_expand();
        }
    }

    /// One turn of algorithm 1, with the four cases of algorithm 2.
    fn select_and_expand(&mut self) {
        let (mut q, mut board, mut way, mut line) = (ROOT, *self.game.position(), vec![(ROOT, 0, false)], self.line());
        let mut flipped = false;
        loop {
            // Case 1, line 5.
            if let Some(color) = self.nodes[q].winning_color {
                return self.known(&way, color);
            }
            // Case 2, lines 8 to 12; and the rules.
            if q != ROOT && self.repeats(&line) {
                return self.backpropagate(&way, (End3::Draw, 0));
            }
            let moves = self.moves(&board, &way);
            let judged = if q == ROOT { None } else { self.judged(&board) };
            if let Some(color) = moves.is_empty().then_some(End3::Win).or(judged) {
                if !flipped {
                    self.set_winning_color(&way, color);
                }
                return self.known(&way, color);
            }
            // Cases 3 and 4, lines 13 to 16: `M − (M ∩ N)`.
            let there: Vec<Edge> = self.nodes[q].children().map(|(edge, _)| edge).collect();
            let new: Vec<Move> = moves.iter().copied().filter(|mv| !there.contains(&Edge::Move(*mv))).collect();
            if !new.is_empty() {
                self.nodes[q].complete = true; // as far as this board goes
                return self.expand_all(q, &board, &way, flipped, &new);
            }
            // Line 17: `best_next(q, M)`.
            let legal: Vec<(Edge, usize)> =
                self.nodes[q].children().filter(|(edge, _)| moves.iter().any(|mv| Edge::Move(*mv) == *edge)).collect();
            let Some((Edge::Move(mv), child)) = self.best(&legal) else { panic!("no child of {board}") };
            let ply = way.last().unwrap().1 + 1;
            way.push((child, ply, false));
            q = child;
            board = self.apply(mv, &board);
            flipped |= matches!(mv, Move::Flip(_));
            line.push(board);
        }
    }

    /// Lines 4 to 9 of algorithm 1.
    fn expand_all(&mut self, q: usize, board: &Position, way: &Way, flipped: bool, moves: &[Move]) {
        let nodes = self.add(q, moves.iter().copied().map(Edge::Move));
        for (number, (e, &mv)) in nodes.into_iter().zip(moves).enumerate() {
            if number > 0 && !self.goes_on() {
                return;
            }
            let mut way = way.clone();
            way.push((e, way.last().unwrap().1 + 1, false));
            let board = self.apply(mv, board);
            match self.judged(&board) {
                Some(color) => {
                    if !flipped && !matches!(mv, Move::Flip(_)) {
                        self.set_winning_color(&way, color);
                    }
                    self.backpropagate(&way, (color.reversed(), 0));
                }
                None => {
                    let result = self.simulate(&board);
                    self.backpropagate(&way, result);
                }
            }
        }
    }

    fn apply(&mut self, mv: Move, board: &Position) -> Position {
        match mv {
            Move::Step { from, to } => board.after_step(from, to),
            Move::Flip(square) => {
                let piece = self.draw(board);
                board.after_flip(square, piece)
            }
        }
    }

    /// `bestNext(root_node)`: what is proven, then what was visited most, then the better results, then the first.
    fn best_next(&self) -> Option<Move> {
        let key = |id: usize| {
            let node = &self.nodes[id];
            let proof = match node.winning_color.filter(|_| self.setting.proofs != Proofs::Leaf) {
                Some(End3::Win) => 1,
                Some(End3::Loss) => -1,
                _ => 0,
            };
            let balance = (i64::from(node.wins) - i64::from(node.losses)) * 100 + i64::from(node.leads);
            (proof, node.visits(), balance)
        };
        let mut best: Option<(Move, usize)> = None;
        for (edge, id) in self.nodes[ROOT].children() {
            if let Edge::Move(mv) = edge
                && best.is_none_or(|(_, other)| key(id) > key(other))
            {
                best = Some((mv, id));
            }
        }
        best.map(|(mv, _)| mv)
    }
}

/// What the player to move at `board` has more than the other at the end, in hundredths, by the values of section 4.1.
fn lead(board: &Position, end: &End) -> i32 {
    let mut lead = 0;
    for (rung, set) in (1..).zip(end.by_rung()) {
        let kind: Kind = board.ladder().kind(rung);
        let [own, foe] = [end.first, end.second].map(|side| (set & side).len() as i32);
        lead += DrawJudge::VALUES.of(kind) / 10 * (own - foe);
    }
    lead.clamp(-100, 100)
}

/// Games in progress under several rules.
fn games(count: usize) -> Vec<Game> {
    let rules = [
        "chen",
        "chen,board=2x4,army=KPPP,repeat=off",
        "server",
        "chen,board=3x4,army=KGRNCP",
        "chen,board=4x4",
        "server,ladder=hongkong",
    ];
    let mut games = Vec::new();
    for number in 0u32.. {
        let rules: Rules = rules[number as usize % rules.len()].parse().unwrap();
        let seed = Seed::from(2026).child(number.to_le_bytes());
        let (deal, mut rng) = (Deal::new(&rules, &seed), seed.child("moves").rng());
        let mut game = Game::new(rules);
        while game.outcome().is_none() {
            if rng.next_u32().is_multiple_of(12) {
                games.push(game.clone());
                if games.len() == count {
                    return games;
                }
            }
            let moves = game.legal_moves();
            let drawn = moves[rng.next_u32() as usize % moves.len()];
            game.play(deal.resolve(drawn).unwrap()).unwrap();
        }
    }
    games
}

/// How often the printed program visits the moves of the root, with which results; and its move.
type Visits = (Option<Move>, HashMap<Move, ResultCounts>);

fn printed(game: &Game, group: bool, setting: Setting, playouts: u64) -> Visits {
    let mut search = Search::new(game, setting, &Seed::from(5), playouts);
    if group {
        search.with_group_nodes();
    } else {
        search.with_chance_nodes();
    }
    let results = |(edge, id): (Edge, usize)| {
        let Edge::Move(mv) = edge else { panic!("{edge:?} at the root") };
        let &Node { wins, draws, losses, leads, .. } = &search.nodes[id];
        let [wins, draws, losses] = [wins, draws, losses].map(u64::from);
        (mv, ResultCounts { wins, draws, losses, leads: leads.into() })
    };
    (search.best_next(), search.nodes[ROOT].children().map(results).collect())
}

fn played(game: &Game, text: &str, playouts: u64) -> Visits {
    let spec: PlayerSpec = text.parse().unwrap();
    let mut player = spec.build(Seed::from(5), &Resources::default()).unwrap();
    let choice = player.choose(game, &Limits::playouts(playouts), &Stop::default()).unwrap();
    (Some(choice.mv), choice.candidates.iter().map(|candidate| (candidate.mv, candidate.results.unwrap())).collect())
}

/// The readings that are compared: what a player string says, and the same for the printed program.
fn settings() -> Vec<(&'static str, Setting)> {
    vec![
        ("", USUAL),
        (",proofs=interrupt", Setting { proofs: Proofs::Interrupt, ..USUAL }),
        (",proofs=leaf,draws=graded", Setting { proofs: Proofs::Leaf, draws: Draws::Graded, ..USUAL }),
        (",reading=paper,playout=40", Setting { reading: Reading::Paper, playout: 40, ..USUAL }),
        (
            ",policy=random,reading=paper,playout=160,rule=off,draws=graded",
            Setting {
                policy: Policy::Random,
                reading: Reading::Paper,
                playout: 160,
                rule: false,
                draws: Draws::Graded,
                ..USUAL
            },
        ),
        (
            ",policy=capture+avoid,draws=lead,ucb=ucb1-tuned,explore=0.5",
            Setting { policy: Policy::CaptureAvoid, draws: Draws::Lead, ucb: Ucb::Ucb1Tuned, explore: 0.5, ..USUAL },
        ),
        (",draw=0.25,playout=80,rule=off", Setting { draw: 0.25, playout: 80, rule: false, ..USUAL }),
    ]
}

/// Compares all readings in turn, one a position and one after the other.
fn compare(count: usize, playouts: u64) {
    let settings = settings();
    let mut ended_early = 0;
    for (number, game) in games(count).iter().enumerate() {
        let (text, setting) = settings[number % settings.len()];
        for (name, group) in [("mcts:chance", false), ("mcts:group", true)] {
            let spec = format!("{name}{text}");
            let (slow, fast) = (printed(game, group, setting, playouts), played(game, &spec, playouts));
            assert_eq!(fast, slow, "{spec} in {} ({})", game.position(), game.rules());
            ended_early += usize::from(slow.1.values().map(|results| results.count()).sum::<u64>() < playouts);
        }
    }
    assert!(ended_early > count / 50, "{ended_early} searches came to an end");
    assert!(ended_early < count, "{ended_early} searches came to an end");
}

#[test]
fn the_trees_are_those_of_the_printed_algorithms() {
    compare(210, 400);
}

/// `cargo test --release -p anqi-engine --test mcts_printed -- --ignored`.
#[test]
#[ignore = "minutes; run with --release -- --ignored"]
fn the_trees_are_those_of_the_printed_algorithms_in_ten_thousand_positions() {
    compare(10_000, 1_500);
}
