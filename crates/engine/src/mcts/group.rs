//! MCTS with group-nodes: algorithms 1 and 2 of Jouandeau & Cazenave, "Small and large MCTS playouts
//! applied to Chinese Dark Chess stochastic game".
//!
//! All boards that a flip may lead to share one node. What comes up is drawn anew at every visit, and
//! the children of the node are the moves of all these boards: which of them are there depends on the
//! draw. Their results are mixed: below a flip the tree says how good a move is *on average over what
//! may have come up*, not how good it is for what did. So the root value does not approach that of the
//! game but that of players who forget what the last flips in the tree have shown.

use anqi_rules::{Move, MoveList, Position, Square, SquareSet};

use super::search::Worker;
use super::tree::{EndResult, Label, MOST_SIBLINGS, Node, NodeId, ROOT, Seen};
use super::ucb::Arm;

/// What `select` finds.
#[expect(clippy::large_enum_variant, reason = "it is taken apart at once, and never kept")]
enum Selected {
    /// A node whose result is known: that of the player who moved there.
    Known(EndResult),
    /// A won or lost node, which ends the search as printed.
    Interrupt,
    /// `(q, board, L)`: a node, its board, and the moves to expand.
    Expand(NodeId, Position, Unconsidered),
}

/// Algorithm 1: the main loop. The paper stops as soon as a decided node is selected, wherever it is (line 3:
/// `proofs=interrupt`); by default the result is counted, and the search ends when it decides the root.
pub(super) fn mcts(worker: &mut Worker<'_>) {
    worker.run(|worker| match select(worker) {
        Selected::Known(proof) => worker.backpropagate(proof),
        Selected::Interrupt => worker.interrupt(),
        Selected::Expand(q, board, moves) => expand_all(worker, q, &board, moves),
    });
}

/// Algorithm 2: `select()`, in the four cases of the text. (As printed, line 7 leaves the loop at a new
/// node before line 8 has found its moves.)
fn select(worker: &mut Worker<'_>) -> Selected {
    let (mut q, mut board) = (ROOT, worker.begin());
    loop {
        // Case 1. q is known as winning position.
        let node = worker.tree().node(q);
        if let Some(proof) = node.proof() {
            return decided(worker, proof);
        }

        // Case 2. q leads a player to a new winning position: `size(M) = 0`, or the rules say so.
        let moves = worker.moves(&board);
        if worker.repeats(&board) && q != ROOT {
            return Selected::Known(EndResult::Draw);
        }
        let lost = moves.is_empty().then_some(EndResult::Win); // for who moved here
        let ended = if q == ROOT { None } else { worker.decided(&board) };
        if let Some(proof) = lost.or(ended) {
            prove(worker, proof);
            return decided(worker, proof);
        }

        // Cases 3 and 4. q is new, or what came up this time allows moves that q does not have yet.
        let seen = worker.tree().seen(node);
        let mut legal = Legal::of(&moves);
        let next = best_next(worker, node, &mut legal);
        let moves: MoveList = moves.into_iter().filter(|&mv| legal.contains(mv)).collect();
        if !moves.is_empty() {
            return Selected::Expand(q, board, Unconsidered { moves, seen });
        }

        // All moves of the board are children of q: the best of them.
        let Some((child, mv)) = next else {
            prove(worker, EndResult::Win);
            return decided(worker, EndResult::Win);
        };
        worker.follow(child, &board);
        (q, board) = (child, apply_move(worker, mv, &board));
    }
}

/// A node whose `winning_color` is set, or a draw.
fn decided(worker: &Worker<'_>, proof: EndResult) -> Selected {
    if worker.ends_at(proof) { Selected::Interrupt } else { Selected::Known(proof) }
}

/// `M − (M ∩ N)`: moves of the board that are not among the children of the node.
struct Unconsidered {
    moves: MoveList,
    seen: Seen,
}

/// Lines 4 to 9 of algorithm 1: `expandAll`, and a simulation from each of the new nodes.
fn expand_all(worker: &mut Worker<'_>, q: NodeId, board: &Position, Unconsidered { moves, seen }: Unconsidered) {
    let tree = worker.tree();
    let labels = moves.iter().take(MOST_SIBLINGS).copied().map(Label::Move);
    let complete = labels.len() == moves.len(); // as far as this board goes
    let Ok(block) = tree.extend(tree.node(q), seen, labels, complete) else {
        return worker.simulate(board); // the memory is full, or another thread was faster
    };
    worker.look_at(&block, board);
    for ((e, _), (first, mv)) in block.zip(std::iter::once(true).chain(std::iter::repeat(false)).zip(moves)) {
        if !first && worker.interrupted() {
            return;
        }
        worker.follow(e, board);
        let next = apply_move(worker, mv, board);
        match worker.decided(&next) {
            Some(proof) => {
                prove(worker, proof);
                worker.backpropagate(proof);
            }
            None => worker.simulate(&next),
        }
        worker.back();
    }
}

/// `applyMove`: a flip shows what is drawn.
fn apply_move(worker: &mut Worker<'_>, mv: Move, board: &Position) -> Position {
    match mv {
        Move::Step { from, to } => board.after_step(from, to),
        Move::Flip(square) => board.after_flip(square, worker.draw(board)),
    }
}

/// Sets `winning_color`, unless a flip lies between the root and the node: then the node stands for
/// many boards, and what is true of one is not proven for the others.
fn prove(worker: &Worker<'_>, proof: EndResult) {
    if !worker.has_flipped() {
        worker.prove(proof);
    }
}

/// `best_next(q, M)`: the best of the children that are legal on this board. They are taken out of
/// `legal`; what is left is `M − N`.
fn best_next(worker: &mut Worker<'_>, node: &Node, legal: &mut Legal) -> Option<(NodeId, Move)> {
    let tree = worker.tree();
    let (bounds, arms) = worker.bounds();
    let mut new = None;
    for (id, child) in tree.children(node) {
        if !child.mv().is_some_and(|mv| legal.take(mv)) {
            continue;
        }
        match bounds.arm(child) {
            Arm::Take => new = new.or(Some(id)),
            Arm::Leave => {}
            Arm::Weigh { sum, of, s, bias } => arms.weigh(id, sum, of, s, bias),
        }
    }
    let best = new.or_else(|| arms.best(bounds))?;
    Some((best, tree.node(best).mv()?))
}

/// A set of moves: for each square, where its piece may go; its own square for a flip.
struct Legal([SquareSet; Square::COUNT]);

impl Legal {
    fn of(moves: &MoveList) -> Legal {
        let mut legal = Legal([SquareSet::EMPTY; Square::COUNT]);
        for &mv in moves {
            let (from, to) = Legal::ends(mv);
            legal.0[from.index()] |= to.set();
        }
        legal
    }

    fn ends(mv: Move) -> (Square, Square) {
        match mv {
            Move::Flip(square) => (square, square),
            Move::Step { from, to } => (from, to),
        }
    }

    fn contains(&self, mv: Move) -> bool {
        let (from, to) = Legal::ends(mv);
        self.0[from.index()].contains(to)
    }

    /// Takes a move out; whether it was there.
    fn take(&mut self, mv: Move) -> bool {
        let (from, to) = Legal::ends(mv);
        let contained = self.contains(mv);
        self.0[from.index()] &= !to.set();
        contained
    }
}
