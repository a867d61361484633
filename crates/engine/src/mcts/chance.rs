//! MCTS with chance-nodes: algorithms 3 and 4 of Jouandeau & Cazenave, "Small and large MCTS playouts
//! applied to Chinese Dark Chess stochastic game".
//!
//! A flip is a chance-node, and each piece that may come up is a child of it. Every other move is a
//! classical node.

use anqi_rules::Move;

use super::search::{Added, Leaf, Worker};
use super::tree::{EndResult, Node, NodeId, ROOT};

/// Algorithm 3: the main loop. The paper stops as soon as a decided node is selected, wherever it is (line 3:
/// `proofs=interrupt`); by default the result is counted, and the search ends when it decides the root.
pub(super) fn mcts(worker: &mut Worker<'_>) {
    worker.run(|worker| match select(worker) {
        Leaf::Known(proof) => worker.backpropagate(proof),
        Leaf::Open(board) => worker.simulate(&board),
        Leaf::Interrupt => worker.interrupt(),
    });
}

/// Algorithm 4: `select()` goes down to a node that is new, or whose result is known. The way there
/// stays in the worker.
fn select(worker: &mut Worker<'_>) -> Leaf {
    let (mut q, mut board) = (ROOT, worker.begin());
    loop {
        // `M ← moves(board)`: they become children of q as they are needed. `newMove(q, board, M)` if
        // there is one, else `best(q, board, M)`.
        let node = worker.tree().node(q);
        let (next, child) = match best(worker, node) {
            Some(next) if worker.tree().is_complete(node) || is_new(next.1) => next,
            known => match (worker.add_moves(node, &board), known) {
                (Added::Moves, _) => continue,
                (Added::Full, Some(next)) => next,
                (Added::Full, None) => return Leaf::Open(board),
                (Added::Nothing, _) => {
                    worker.prove(EndResult::Win); // `q.winning_color ← opponent(board.turn)`
                    return decided(worker, EndResult::Win);
                }
            },
        };
        let Some(mv) = child.mv() else { return Leaf::Open(board) };
        q = next;
        let mut new = is_new(child);
        worker.follow(q, &board);
        board = match mv {
            Move::Step { from, to } => board.after_step(from, to),
            Move::Flip(square) => {
                let piece = worker.draw(&board);
                let revealed = worker.reveal(child, &board, piece); // `addChanceNode`, `addNode`
                let board = board.after_flip(square, piece);
                let Some((outcome, added)) = revealed else { return Leaf::Open(board) };
                (q, new) = (outcome, added);
                board
            }
        };

        // `q.winning_color ≠ UNSET`, known before or seen now.
        if worker.repeats(&board) {
            return Leaf::Known(EndResult::Draw);
        }
        if let Some(proof) = worker.tree().node(q).proof() {
            return decided(worker, proof);
        }
        if new {
            let Some(proof) = worker.decided(&board) else { return Leaf::Open(board) };
            worker.prove(proof);
            return Leaf::Known(proof);
        }
    }
}

/// A node whose `winning_color` is set, or a draw.
fn decided(worker: &Worker<'_>, proof: EndResult) -> Leaf {
    if worker.ends_at(proof) { Leaf::Interrupt } else { Leaf::Known(proof) }
}

fn is_new(node: &Node) -> bool {
    node.results().count() == 0 && node.flight() == 0
}

/// The child to follow: a new one, else the one with the highest bound; none if all are proven losses.
fn best<'a>(worker: &mut Worker<'a>, node: &Node) -> Option<(NodeId, &'a Node)> {
    let tree = worker.tree();
    let (bounds, arms) = worker.bounds();
    arms.choose(bounds, tree.blocks(node)).map(|id| (id, tree.node(id)))
}
