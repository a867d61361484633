//! The tree: nodes of 32 bytes in blocks of siblings, within a bounded memory that threads share.
//!
//! Every number is atomic and nothing is ever locked: a block is filled before its parent points to
//! it, and a thread that comes second drops its own. A tree that is full stops growing; whoever wants
//! a block gets none and searches on with what there is.

use std::collections::{HashMap, VecDeque};
use std::sync::OnceLock;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicI16, AtomicI32, AtomicU8, AtomicU16, AtomicU32};

use anqi_rules::{Color, Kind, Move, Piece, Ply, Square};

use crate::player::ResultCounts;

/// The place of a node in its tree.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct NodeId(pub(super) u32);

/// Where every search begins. It is no node's child, so its number also stands for "none".
pub(super) const ROOT: NodeId = NodeId(0);

/// What leads to a node.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Label {
    /// A decision.
    Move(Move),
    /// What a flip showed: the child of a chance-node.
    Reveal(Piece),
}

/// Added to the number of a piece, it makes a label that no move has.
const REVEAL: u16 = 1 << 15;

impl Label {
    fn pack(self) -> u16 {
        match self {
            Label::Move(Move::Flip(square)) => (square.index() * Square::COUNT + square.index()) as u16,
            Label::Move(Move::Step { from, to }) => (from.index() * Square::COUNT + to.index()) as u16,
            Label::Reveal(piece) => REVEAL + piece.index() as u16,
        }
    }

    fn unpack(packed: u16) -> Label {
        let number = usize::from(packed & !REVEAL);
        if packed >= REVEAL {
            return Label::Reveal(Piece { color: Color::ALL[number / 7 % 2], kind: Kind::ALL[number % 7] });
        }
        let [from, to] = [number / Square::COUNT, number].map(Square::from_low_bits);
        Label::Move(if from == to { Move::Flip(from) } else { Move::Step { from, to } })
    }
}

/// How a game ends for one of the players.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum EndResult {
    Loss,
    Draw,
    Win,
}

impl EndResult {
    /// The same seen by the other player.
    pub(super) fn reversed(self) -> EndResult {
        match self {
            EndResult::Win => EndResult::Loss,
            EndResult::Draw => EndResult::Draw,
            EndResult::Loss => EndResult::Win,
        }
    }
}

/// A move, or what a flip showed, and how the games went that led through it.
///
/// Results are those of the player who moved here.
#[derive(Default, Debug)]
pub(super) struct Node {
    wins: AtomicU32,
    draws: AtomicU32,
    losses: AtomicU32,
    /// The first child of the last block of children; 0 for none.
    children: AtomicU32,
    /// On the first node of a block: the next block of siblings; 0 for none.
    next: AtomicU32,
    /// The sum of what is added to results and taken from them, in the parts of `Rewards`.
    bonus: AtomicI32,
    /// What a look at the board says, in parts of [`WORTH`] from a loss (-1) to a win (1).
    worth: AtomicI16,
    label: AtomicU16,
    /// Simulations under way below this node.
    flight: AtomicU16,
    /// What is proven, as a [`EndResult`] counted from 1; 0 for nothing. The paper's `winning_color`.
    proof: AtomicU8,
    /// On the first node of a block: how many siblings it has there, and [`COMPLETE`] or not.
    siblings: AtomicU8,
}

/// With this block a node has all its children.
const COMPLETE: u8 = 1 << 7;

/// No block has more nodes.
pub(super) const MOST_SIBLINGS: usize = COMPLETE as usize;

/// One, as [`Node::worth`] counts.
const WORTH: f32 = i16::MAX as f32;

impl Node {
    fn reset(&self, label: u16) {
        for counter in [&self.wins, &self.draws, &self.losses, &self.children, &self.next] {
            counter.store(0, Relaxed);
        }
        self.bonus.store(0, Relaxed);
        self.worth.store(0, Relaxed);
        self.label.store(label, Relaxed);
        self.flight.store(0, Relaxed);
        self.proof.store(0, Relaxed);
        self.siblings.store(0, Relaxed);
    }

    /// What leads here.
    pub(super) fn label(&self) -> Label {
        Label::unpack(self.label.load(Relaxed))
    }

    /// The move that leads here; none to what a flip showed.
    pub(super) fn mv(&self) -> Option<Move> {
        match self.label() {
            Label::Move(mv) => Some(mv),
            Label::Reveal(_) => None,
        }
    }

    /// Games won, drawn and lost.
    #[inline]
    pub(super) fn counts(&self) -> [u32; 3] {
        [&self.wins, &self.draws, &self.losses].map(|counter| counter.load(Relaxed))
    }

    /// How the games went.
    #[inline]
    pub(super) fn results(&self) -> ResultCounts {
        let [wins, draws, losses] = self.counts().map(u64::from);
        ResultCounts { wins, draws, losses, leads: 0 }
    }

    /// Counts a result and what is added to it. A thread that is `alone` needs no locked addition, which takes many times
    /// as long.
    #[inline]
    pub(super) fn count(&self, result: EndResult, bonus: i32, alone: bool) {
        let counter = match result {
            EndResult::Win => &self.wins,
            EndResult::Draw => &self.draws,
            EndResult::Loss => &self.losses,
        };
        if alone {
            counter.store(counter.load(Relaxed).wrapping_add(1), Relaxed);
        } else {
            counter.fetch_add(1, Relaxed);
        }
        if bonus != 0 {
            self.bonus.fetch_add(bonus, Relaxed);
        }
    }

    pub(super) fn bonus(&self) -> i32 {
        self.bonus.load(Relaxed)
    }

    pub(super) fn worth(&self) -> f32 {
        f32::from(self.worth.load(Relaxed)) / WORTH
    }

    pub(super) fn set_worth(&self, worth: f32) {
        self.worth.store((worth.clamp(-1.0, 1.0) * WORTH) as i16, Relaxed);
    }

    pub(super) fn flight(&self) -> u32 {
        self.flight.load(Relaxed).into()
    }

    /// A simulation below has begun.
    pub(super) fn depart(&self, alone: bool) {
        if alone {
            self.flight.store(self.flight.load(Relaxed).wrapping_add(1), Relaxed);
        } else {
            self.flight.fetch_add(1, Relaxed);
        }
    }

    /// A simulation below has come to its end.
    pub(super) fn arrive(&self, alone: bool) {
        if alone {
            self.flight.store(self.flight.load(Relaxed).wrapping_sub(1), Relaxed);
        } else {
            self.flight.fetch_sub(1, Relaxed);
        }
    }

    /// What is proven. Nothing is searched below a node with a proof.
    #[inline]
    pub(super) fn proof(&self) -> Option<EndResult> {
        match self.proof.load(Relaxed) {
            0 => None,
            1 => Some(EndResult::Loss),
            2 => Some(EndResult::Draw),
            _ => Some(EndResult::Win),
        }
    }

    pub(super) fn prove(&self, proof: EndResult) {
        self.proof.store(proof as u8 + 1, Relaxed);
    }
}

/// Nodes are made so many at a time; a block of siblings lies within one chunk.
const CHUNK: u32 = 1 << 14;

/// Of a size that is known, so that a place in it needs no check.
type Chunk = [Node; CHUNK as usize];

/// All nodes of a search.
#[derive(Debug)]
pub(super) struct Tree {
    chunks: Box<[OnceLock<Box<Chunk>>]>,
    used: AtomicU32,
}

impl Tree {
    /// An empty tree of at most so many bytes, or of one chunk; they are taken as it grows.
    pub(super) fn with_bytes(bytes: u64) -> Tree {
        let chunks = (bytes / (u64::from(CHUNK) * size_of::<Node>() as u64)).clamp(1, u64::from(u32::MAX / CHUNK));
        let tree = Tree { chunks: (0..chunks).map(|_| OnceLock::new()).collect(), used: AtomicU32::new(0) };
        tree.clear();
        tree
    }

    /// Another tree of the same size, empty.
    pub(super) fn another(&self) -> Tree {
        let chunks = self.chunks.iter().map(|_| OnceLock::new()).collect();
        let tree = Tree { chunks, used: AtomicU32::new(0) };
        tree.clear();
        tree
    }

    /// Throws everything away but the memory, and sets a root.
    pub(super) fn clear(&self) {
        self.used.store(1, Relaxed);
        self.node(ROOT).reset(0);
    }

    #[inline]
    fn chunk(&self, index: u32) -> &Chunk {
        let chunk = &self.chunks[(index / CHUNK) as usize];
        chunk.get().map_or_else(|| Tree::make(chunk), Box::as_ref)
    }

    #[cold]
    fn make(chunk: &OnceLock<Box<Chunk>>) -> &Chunk {
        chunk.get_or_init(|| {
            let nodes: Box<[Node]> = (0..CHUNK).map(|_| Node::default()).collect();
            nodes.try_into().unwrap_or_else(|_| unreachable!("so many are made"))
        })
    }

    #[inline]
    pub(super) fn node(&self, NodeId(index): NodeId) -> &Node {
        &self.chunk(index)[(index % CHUNK) as usize]
    }

    /// The children of a node, block by block, the youngest first.
    #[inline]
    pub(super) fn blocks(&self, parent: &Node) -> Blocks<'_> {
        Blocks { tree: self, next: parent.children.load(Acquire) }
    }

    /// All children of a node.
    pub(super) fn children(&self, parent: &Node) -> impl Iterator<Item = (NodeId, &Node)> {
        self.blocks(parent).flatten()
    }

    /// The child that `label` leads to.
    pub(super) fn child(&self, parent: &Node, label: Label) -> Option<(NodeId, &Node)> {
        let label = label.pack();
        self.children(parent).find(|(_, node)| node.label.load(Relaxed) == label)
    }

    /// Takes nodes for the labels; none if the memory is full.
    fn take(&self, labels: impl ExactSizeIterator<Item = Label>) -> Option<Block<'_>> {
        let count = labels.len() as u32;
        let start = |used: u32| if used % CHUNK + count > CHUNK { used.next_multiple_of(CHUNK) } else { used };
        let end = |used| Some(start(used) + count).filter(|&end| end <= self.chunks.len() as u32 * CHUNK);
        let first = start(self.used.fetch_update(Relaxed, Relaxed, end).ok()?);
        let block = self.block(first, count);
        for (node, label) in block.nodes.iter().zip(labels) {
            node.reset(label.pack());
        }
        Some(block)
    }

    fn block(&self, first: u32, count: u32) -> Block<'_> {
        let start = (first % CHUNK) as usize;
        Block { first, nodes: &self.chunk(first)[start..start + count as usize], taken: 0 }
    }

    /// Lets a node without children have those of another.
    pub(super) fn adopt(&self, parent: &Node, Seen(first): Seen) {
        // A faster thread has adopted the same, or has begun with children of its own.
        let _ = parent.children.compare_exchange(0, first, Release, Acquire);
    }

    /// Gives a node one more block of children, at most [`MOST_SIBLINGS`] of them, provided that it
    /// still has those that were `seen`. `complete` says that there will be no more.
    pub(super) fn extend(
        &self,
        parent: &Node,
        seen: Seen,
        labels: impl ExactSizeIterator<Item = Label>,
        complete: bool,
    ) -> Result<Block<'_>, Refused> {
        debug_assert!((1..=MOST_SIBLINGS).contains(&labels.len()));
        let block = self.take(labels).ok_or(Refused::Full)?;
        let head = &block.nodes[0];
        head.next.store(seen.0, Relaxed);
        head.siblings.store((block.nodes.len() - 1) as u8 | if complete { COMPLETE } else { 0 }, Relaxed);
        parent.children.compare_exchange(seen.0, block.first, Release, Acquire).map_err(|_| Refused::Late)?;
        Ok(block)
    }

    /// Whether a node has all its children.
    pub(super) fn is_complete(&self, parent: &Node) -> bool {
        let first = parent.children.load(Acquire);
        first != 0 && self.node(NodeId(first)).siblings.load(Relaxed) & COMPLETE != 0
    }

    /// The children that a node has now: what [`extend`](Tree::extend) needs.
    pub(super) fn seen(&self, parent: &Node) -> Seen {
        Seen(parent.children.load(Acquire))
    }

    /// The node that the plies lead to from the root, if the tree has it.
    pub(super) fn descend(&self, plies: &[Ply]) -> Option<NodeId> {
        plies.iter().try_fold(ROOT, |id, &ply| {
            let (id, node) = self.child(self.node(id), Label::Move(ply.to_move()))?;
            let outcome = ply.revealed().and_then(|piece| self.child(node, Label::Reveal(piece)));
            match (ply.revealed(), outcome) {
                (Some(_), Some((outcome, _))) => Some(outcome),
                // A chance-node that has seen other pieces only; a group-node has no such children.
                (Some(_), None) if self.children(node).any(|(_, child)| child.mv().is_none()) => None,
                _ => Some(id),
            }
        })
    }

    /// Makes a copy of everything below `from` the content of `other`, which must be large enough or
    /// else loses the parts that lie deepest. Children that nodes share are copied once.
    pub(super) fn transplant(&self, from: NodeId, other: &Tree) {
        other.clear();
        self.node(from).copy_to(other.node(ROOT));
        other.node(ROOT).proof.store(0, Relaxed); // a draw that the search foresaw need not be one yet
        let mut copied = HashMap::new();
        let mut open = VecDeque::from([(from, ROOT)]);
        while let Some((old, new)) = open.pop_front() {
            let (old, new) = (self.node(old), other.node(new));
            if let Some(&first) = copied.get(&old.children.load(Acquire)) {
                new.children.store(first, Release);
                continue;
            }
            let mut blocks: Vec<Block<'_>> = self.blocks(old).collect();
            while let Some(block) = blocks.pop() {
                let labels = block.nodes.iter().map(Node::label);
                let complete = blocks.is_empty() && self.is_complete(old);
                let Ok(copies) = other.extend(new, other.seen(new), labels, complete) else { return };
                for ((old_id, old), (new_id, new)) in block.zip(copies) {
                    old.copy_to(new);
                    open.push_back((old_id, new_id));
                }
            }
            copied.insert(old.children.load(Acquire), new.children.load(Acquire));
        }
    }
}

impl Node {
    fn copy_to(&self, other: &Node) {
        other.wins.store(self.wins.load(Relaxed), Relaxed);
        other.draws.store(self.draws.load(Relaxed), Relaxed);
        other.losses.store(self.losses.load(Relaxed), Relaxed);
        other.bonus.store(self.bonus.load(Relaxed), Relaxed);
        other.worth.store(self.worth.load(Relaxed), Relaxed);
        other.proof.store(self.proof.load(Relaxed), Relaxed);
    }
}

/// Why a node gets no more children.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Refused {
    /// The memory is full.
    Full,
    /// Another thread was faster.
    Late,
}

/// The children that a node had at one moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Seen(pub(super) u32);

impl Seen {
    pub(super) const NONE: Seen = Seen(0);
}

/// Siblings that were made together.
#[derive(Clone, Debug)]
pub(super) struct Block<'a> {
    first: u32,
    nodes: &'a [Node],
    taken: usize,
}

impl<'a> Block<'a> {
    /// All nodes of the block.
    pub(super) fn nodes(&self) -> &'a [Node] {
        self.nodes
    }

    /// The place of a node of the block.
    pub(super) fn id(&self, index: usize) -> NodeId {
        NodeId(self.first + index as u32)
    }
}

impl<'a> Iterator for Block<'a> {
    type Item = (NodeId, &'a Node);

    fn next(&mut self) -> Option<Self::Item> {
        let node = self.nodes.get(self.taken)?;
        let id = self.id(self.taken);
        self.taken += 1;
        Some((id, node))
    }
}

/// The blocks of a node's children.
#[derive(Clone, Debug)]
pub(super) struct Blocks<'a> {
    tree: &'a Tree,
    next: u32,
}

impl<'a> Iterator for Blocks<'a> {
    type Item = Block<'a>;

    #[inline(always)]
    fn next(&mut self) -> Option<Block<'a>> {
        let first = self.next;
        if first == 0 {
            return None;
        }
        let (chunk, start) = (self.tree.chunk(first), (first % CHUNK) as usize);
        let head = &chunk[start];
        let last = start + usize::from(head.siblings.load(Relaxed) & !COMPLETE);
        self.next = head.next.load(Relaxed);
        Some(Block { first, nodes: &chunk[start..=last], taken: 0 })
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Piece, Square};

    use super::*;

    #[test]
    fn nodes_are_compact() {
        assert_eq!(size_of::<Node>(), 32);
    }

    #[test]
    fn labels_go_round() {
        let squares = || Square::all();
        let steps = squares().flat_map(|from| squares().map(move |to| (from, to)));
        let moves = steps
            .map(|(from, to)| if from == to { Move::Flip(from) } else { Move::Step { from, to } })
            .map(Label::Move);
        for label in moves.chain(Piece::all().map(Label::Reveal)) {
            assert_eq!(Label::unpack(label.pack()), label);
        }
    }

    /// Fills a tree to the last block: it says no, and what it holds stays whole.
    #[test]
    fn a_full_tree_stops_growing() {
        let tree = Tree::with_bytes(1 << 20);
        let reveals = || Piece::all().map(Label::Reveal);
        let mut open = vec![ROOT];
        let mut grown = 0;
        while let Some(parent) = open.pop() {
            let node = tree.node(parent);
            let Ok(block) = tree.extend(node, tree.seen(node), reveals(), true) else { break };
            grown += block.nodes().len() as u32;
            open.extend(block.map(|(id, _)| id));
        }
        assert!(grown * 32 <= 1 << 20 && grown * 32 > (1 << 20) - 32 * 1024, "{grown} nodes");
        let mut counted = 0;
        let mut open = vec![ROOT];
        while let Some(parent) = open.pop() {
            let children: Vec<NodeId> = tree.children(tree.node(parent)).map(|(id, _)| id).collect();
            assert!(children.is_empty() || children.len() == Piece::COUNT);
            counted += children.len() as u32;
            open.extend(children);
        }
        assert_eq!(counted, grown);
    }

    #[test]
    fn a_second_block_keeps_the_first() {
        let tree = Tree::with_bytes(1 << 20);
        let root = tree.node(ROOT);
        for piece in Piece::all() {
            assert!(tree.extend(root, tree.seen(root), std::iter::once(Label::Reveal(piece)), false).is_ok());
        }
        assert_eq!(tree.children(root).count(), Piece::COUNT);
        for piece in Piece::all() {
            let (_, child) = tree.child(root, Label::Reveal(piece)).expect("was added");
            assert_eq!(child.label(), Label::Reveal(piece));
        }
        let late = tree.extend(root, Seen::NONE, Piece::all().map(Label::Reveal), true);
        assert_eq!(late.err(), Some(Refused::Late));
        assert_eq!(tree.children(root).count(), Piece::COUNT);
    }
}
