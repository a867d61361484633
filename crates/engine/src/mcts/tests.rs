//! What must hold of any tree after any number of iterations.

use std::collections::HashMap;

use anqi_playout::{Path, Policy};
use anqi_rules::{Color, Deal, Game, Move, Piece, Position, Rules, Seed};
use anqi_task::Stop;
use rand_core::Rng;

use super::tree::{EndResult, Label, Node, ROOT, Tree};
use super::{Mcts, MctsOptions, Nodes};
use crate::limits::Limits;
use crate::player::Player;
use crate::resources::Resources;

/// The tree that a player has after one search.
fn searched(options: &MctsOptions, game: &Game, playouts: u64) -> Mcts {
    let mut player = Mcts::new(options, Seed::from(7), &Resources::default());
    player.choose(game, &Limits::playouts(playouts), &Stop::default());
    player
}

/// Games in progress, from the first ply to the last, on several boards.
fn games() -> Vec<Game> {
    let rules = [
        "server",
        "chen,board=2x4,army=KPPP,repeat=off",
        "chen,board=3x4,army=KGRNCP,repeat=off",
        "server,ladder=hongkong",
    ];
    let mut games = Vec::new();
    for (number, rules) in (0..).zip(rules) {
        let rules: Rules = rules.parse().unwrap();
        let seed = Seed::from(number);
        let deal = Deal::new(&rules, &seed);
        let mut rng = seed.child("moves").rng();
        let mut game = Game::new(rules);
        while game.outcome().is_none() {
            if game.plies().len().is_multiple_of(9) {
                games.push(game.clone());
            }
            let moves = game.legal_moves();
            let mv = moves[rng.next_u32() as usize % moves.len()];
            game.play(deal.resolve(mv).unwrap()).unwrap();
        }
    }
    games
}

/// Looks at every node below `node`, whose board is `board`.
struct Walk<'a> {
    tree: &'a Tree,
    chances: Vec<(Position, HashMap<Piece, u64>)>,
    nodes: u64,
}

impl Walk<'_> {
    fn decision(&mut self, node: &Node, board: &Position, root: bool) {
        self.nodes += 1;
        let children: Vec<&Node> = self.tree.children(node).map(|(_, child)| child).collect();
        let visits: u64 = children.iter().map(|child| child.results().count()).sum();
        let own = u64::from(!root); // the simulation with which a node begins
        if node.proof().is_none() && !children.is_empty() {
            assert_eq!(visits + own, node.results().count(), "{board}");
        }
        for child in &children {
            let mv = child.mv().expect("below a board there are moves");
            assert!(board.is_legal(mv), "{mv} in {board}");
            assert_eq!(children.iter().filter(|other| other.mv() == Some(mv)).count(), 1);
            match mv {
                Move::Step { from, to } => self.decision_or_leaf(child, &board.after_step(from, to)),
                Move::Flip(_) => self.chance(child, board, mv),
            }
        }
        self.check_proof(node, board, &children);
    }

    fn decision_or_leaf(&mut self, node: &Node, board: &Position) {
        self.decision(node, board, false);
    }

    fn chance(&mut self, node: &Node, board: &Position, mv: Move) {
        let Move::Flip(square) = mv else { return };
        let mut drawn = HashMap::new();
        for (_, outcome) in self.tree.children(node) {
            let Label::Reveal(piece) = outcome.label() else { panic!("below a flip there are pieces") };
            assert!(board.pool().count(piece) > 0, "{piece:?} is not in the pool of {board}");
            drawn.insert(piece, outcome.results().count());
            if outcome.results().count() > 0 {
                self.decision(outcome, &board.after_flip(square, piece), false);
            }
        }
        assert_eq!(drawn.values().sum::<u64>(), node.results().count(), "{mv} in {board}");
        self.chances.push((*board, drawn));
    }

    /// A proof is what the replies prove, and nothing grows below it.
    fn check_proof(&self, node: &Node, board: &Position, children: &[&Node]) {
        let best = children.iter().map(|child| child.proof()).max().flatten();
        match node.proof() {
            Some(EndResult::Win) if children.is_empty() => {
                let turn = board.turn().unwrap_or(Color::Red);
                assert!(!board.has_moves() || board.remaining(turn) == 0, "{board}");
            }
            Some(EndResult::Win) => assert!(children.iter().all(|child| child.proof() == Some(EndResult::Loss))),
            Some(EndResult::Loss) => assert_eq!(best, Some(EndResult::Win), "{board}"),
            Some(EndResult::Draw) | None => assert_ne!(best, Some(EndResult::Win), "{board}"),
        }
    }
}

fn walk<'a>(player: &'a Mcts, game: &Game) -> Walk<'a> {
    let mut walk = Walk { tree: &player.tree, chances: Vec::new(), nodes: 0 };
    walk.decision(player.tree.node(ROOT), game.position(), true);
    walk
}

#[test]
fn chance_trees_add_up() {
    for (flight, lanes) in [(1, 1), (16, 1), (1, 32)] {
        let options = MctsOptions { flight, lanes, ..MctsOptions::default() };
        for game in games() {
            let player = searched(&options, &game, 3_000);
            let walk = walk(&player, &game);
            assert!(walk.nodes > 1);
        }
    }
}

/// Pearson's statistic over all chance-nodes with enough visits, as standard deviations from its mean.
#[test]
fn chance_draws_in_proportion_to_the_pool() {
    let (mut statistic, mut freedom) = (0.0, 0.0);
    for game in games().into_iter().filter(|game| !game.position().hidden().is_empty()) {
        let player = searched(&MctsOptions::default(), &game, 20_000);
        for (board, drawn) in walk(&player, &game).chances {
            let visits: u64 = drawn.values().sum();
            let all = f64::from(board.pool().len());
            let pieces: Vec<(Piece, u8)> = board.reveals().collect();
            if pieces.len() < 2 || (visits as f64) < 10.0 * all {
                continue;
            }
            // The search stops by what it finds, not by what is drawn: but proven outcomes end visits.
            for (piece, count) in &pieces {
                let expected = visits as f64 * f64::from(*count) / all;
                statistic += (drawn.get(piece).copied().unwrap_or(0) as f64 - expected).powi(2) / expected;
            }
            freedom += pieces.len() as f64 - 1.0;
        }
    }
    assert!(freedom > 1000.0, "{freedom}");
    let excess = (statistic - freedom) / f64::sqrt(2.0 * freedom);
    assert!(excess.abs() < 5.0, "{excess}");
}

/// Visits below every decided node, by the way to it.
fn below_proofs(tree: &Tree, node: &Node, way: &str, found: &mut HashMap<String, u64>) {
    let visits = |node: &Node| tree.children(node).map(|(_, child)| child.results().count()).sum();
    for (_, child) in tree.children(node) {
        let way = format!("{way} {:?}", child.label());
        if child.proof().is_some() {
            found.insert(way.clone(), visits(child));
        }
        below_proofs(tree, child, &way, found);
    }
}

/// A kept tree is searched on, and what was decided before has not one visit more below it.
#[test]
fn nothing_is_searched_below_a_proof() {
    let options = MctsOptions { keep: true, ..MctsOptions::default() };
    let mut decided = 0;
    for game in games() {
        let mut player = Mcts::new(&options, Seed::from(7), &Resources::default());
        let mut search = |playouts| {
            player.choose(&game, &Limits::playouts(playouts), &Stop::default());
            let mut found = HashMap::new();
            below_proofs(&player.tree, player.tree.node(ROOT), "", &mut found);
            found
        };
        let (before, after) = (search(3_000), search(6_000));
        decided += before.len();
        for (way, visits) in before {
            assert_eq!(after.get(&way), Some(&visits), "{way}");
        }
    }
    assert!(decided > 1000, "{decided}");
}

#[test]
fn a_decided_root_ends_the_search() {
    let position = "4/4/4/4/4/p3/4/KG2 r -".parse().unwrap();
    let game = Game::from_position(Rules::chen(), position).unwrap();
    let mut player = Mcts::new(&MctsOptions::default(), Seed::from(1), &Resources::default());
    let choice = player.choose(&game, &Limits::playouts(1_000_000), &Stop::default()).unwrap();
    assert!(choice.score.is_decided(), "{:?}", choice.score);
    assert!(choice.stats.playouts < 1_000_000, "an early stop");
}

#[test]
fn group_trees_hold_legal_moves_only() {
    let options = MctsOptions { nodes: Nodes::Group, ..MctsOptions::default() };
    for game in games() {
        let player = searched(&options, &game, 3_000);
        let root = player.tree.node(ROOT);
        let visits: u64 = player.tree.children(root).map(|(_, child)| child.results().count()).sum();
        assert_eq!(visits, root.results().count());
        check_group(&player.tree, root, Some(game.position()));
    }
}

/// Visits add up everywhere; moves are legal where no flip has made the board uncertain, and no move is
/// there twice.
fn check_group(tree: &Tree, node: &Node, board: Option<&Position>) {
    let children: Vec<&Node> = tree.children(node).map(|(_, child)| child).collect();
    let visits: u64 = children.iter().map(|child| child.results().count()).sum();
    assert!(visits <= node.results().count());
    for child in &children {
        let mv = child.mv().unwrap();
        assert_eq!(children.iter().filter(|other| other.mv() == Some(mv)).count(), 1);
        assert!(board.is_none_or(|board| board.is_legal(mv)));
        let next = match (mv, board) {
            (Move::Step { from, to }, Some(board)) => Some(board.after_step(from, to)),
            _ => None,
        };
        check_group(tree, child, next.as_ref());
    }
}

/// A tree of one megabyte is full after some ten thousand visits, and the search goes on.
#[test]
fn a_full_tree_is_searched_on() {
    for nodes in [Nodes::Chance, Nodes::Group] {
        let options = MctsOptions { nodes, memory: 1, ..MctsOptions::default() };
        let game = Game::new(Rules::chen());
        let mut player = Mcts::new(&options, Seed::from(3), &Resources::default());
        let choice = player.choose(&game, &Limits::playouts(100_000), &Stop::default()).unwrap();
        assert_eq!(choice.stats.playouts, 100_000);
        let visits: u64 = choice.candidates.iter().map(|c| c.results.unwrap().count()).sum();
        assert_eq!(visits, 100_000, "{nodes:?}");
    }
}

/// With `keep` the tree of the next move begins with what was found below the moves played.
#[test]
fn a_kept_tree_goes_on() {
    for nodes in [Nodes::Chance, Nodes::Group] {
        let options = MctsOptions { nodes, keep: true, ..MctsOptions::default() };
        let rules: Rules = "chen,board=2x4,army=KCPP,repeat=off".parse().unwrap();
        let deal = Deal::new(&rules, &Seed::from(5));
        let mut game = Game::new(rules);
        let mut player = Mcts::new(&options, Seed::from(3), &Resources::default());
        let mut kept = 0;
        while game.outcome().is_none() {
            let choice = player.choose(&game, &Limits::playouts(2_000), &Stop::default()).unwrap();
            assert!(game.legal_moves().contains(&choice.mv));
            let visits: u64 = choice.candidates.iter().map(|c| c.results.unwrap().count()).sum();
            kept += visits.saturating_sub(choice.stats.playouts);
            game.play(deal.resolve(choice.mv).unwrap()).unwrap();
        }
        assert!(kept > 0, "{nodes:?}");
        let other = Game::new(Rules::chen());
        assert!(player.choose(&other, &Limits::playouts(100), &Stop::default()).is_some(), "another game");
    }
}

/// One thread is repeatable; more threads share the work and the budget.
#[test]
fn threads_share_the_budget() {
    let game = Game::new(Rules::chen());
    for (threads, share, lanes) in [(1, false, 1), (3, false, 1), (3, true, 1), (3, false, 20)] {
        let options = MctsOptions { threads, share, lanes, ..MctsOptions::default() };
        let player = searched(&options, &game, 20_000);
        let root = player.tree.node(ROOT);
        assert_eq!(root.results().count(), 20_000);
        let visits: u64 = player.tree.children(root).map(|(_, child)| child.results().count()).sum();
        assert_eq!(visits, 20_000);
        assert!(player.tree.children(root).all(|(_, child)| child.flight() == 0), "no thread is below");
    }
    let once = searched(&MctsOptions::default(), &game, 5_000);
    let twice = searched(&MctsOptions::default(), &game, 5_000);
    let results = |player: &Mcts| -> Vec<_> {
        player.tree.children(player.tree.node(ROOT)).map(|(_, child)| child.results()).collect()
    };
    assert_eq!(results(&once), results(&twice));
}

/// Everything that a tree holds below a node.
fn content(tree: &Tree, node: &Node, found: &mut Vec<(Label, [u32; 3], Option<EndResult>)>) {
    for (_, child) in tree.children(node) {
        found.push((child.label(), child.counts(), child.proof()));
        content(tree, child, found);
    }
}

/// The tree of a search in lanes is the same for vectors of every width and without any.
#[test]
fn lanes_are_the_same_on_every_path() {
    let policies = [Policy::Capture, Policy::Random, Policy::CaptureAvoid, Policy::Trap];
    for (game, number) in games().iter().zip(0..) {
        let nodes = if number % 3 == 0 { Nodes::Group } else { Nodes::Chance };
        let (policy, lanes) = (policies[number % 4], [2, 7, 16, 32, 33, 64][number % 6]);
        let quality = if number % 5 == 0 { 0.5 } else { 0.0 };
        let options = MctsOptions { nodes, policy, lanes, quality, playout: 60, ..MctsOptions::default() };
        let tree = |path| {
            let mut player = Mcts::new(&options, Seed::from(7), &Resources::default());
            player.path = path;
            player.choose(game, &Limits::playouts(700), &Stop::default());
            let mut found = Vec::new();
            content(&player.tree, player.tree.node(ROOT), &mut found);
            found
        };
        let expected = tree(Path::SCALAR);
        for path in Path::available() {
            assert!(tree(path) == expected, "{path} {lanes} {policy} {}", game.position());
        }
    }
}

/// A search plays as many playouts as it may, however many lanes it has, and leaves nothing under way.
#[test]
fn lanes_keep_to_the_budget() {
    let game = Game::new(Rules::chen());
    for nodes in [Nodes::Chance, Nodes::Group] {
        for lanes in [1, 2, 7, 32, 64] {
            for budget in [1, 6, 31, 32, 33, 100, 1001] {
                let options = MctsOptions { nodes, lanes, ..MctsOptions::default() };
                let mut player = Mcts::new(&options, Seed::from(7), &Resources::default());
                let choice = player.choose(&game, &Limits::playouts(budget), &Stop::default()).unwrap();
                assert_eq!(choice.stats.playouts, budget, "{lanes}");
                let root = player.tree.node(ROOT);
                assert_eq!(root.results().count(), budget, "{lanes}");
                assert!(player.tree.children(root).all(|(_, child)| child.flight() == 0), "no simulation is below");
            }
        }
    }
}

/// On small boards a search in lanes proves what one without proves.
#[test]
fn lanes_prove_the_same() {
    let searched = |lanes, game: &Game, playouts| {
        let options = MctsOptions { lanes, ..MctsOptions::default() };
        let mut player = Mcts::new(&options, Seed::from(7), &Resources::default());
        player.choose(game, &Limits::playouts(playouts), &Stop::default()).unwrap()
    };
    let (mut proven, mut by_one) = (0, 0);
    for game in games().iter().filter(|game| game.position().board().squares().len() <= 12) {
        let [one, many] = [1, 32].map(|lanes| searched(lanes, game, 40_000).score);
        match (one.is_decided(), many.is_decided()) {
            (true, true) => {
                assert_eq!(one, many, "{}", game.position());
                proven += 1;
            }
            (false, false) => {}
            _ => by_one += 1, // near the end of the budget
        }
    }
    assert!(proven > 3 && proven > 4 * by_one, "{proven} {by_one}");
}
