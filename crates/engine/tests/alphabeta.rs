//! Pruning, ordering, table, Star1 and threads change nothing: the played forms of Chen's programs give
//! the values of the printed algorithms.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_engine::printed::Printed;
use anqi_engine::{Evaluate, Fixed, Limits, OutcomeOnly, PlayerSpec, Resources, Score, Stop};
use anqi_rules::{Deal, Game, Move, Piece, Position, Rules, Seed};
use rand_core::Rng;

/// The positions of random games, each with so few pieces face down that the plain search can end.
fn positions(rules: &Rules, seed: &Seed, most_hidden: u32, count: usize) -> Vec<Position> {
    let mut found = Vec::new();
    for number in 0u32.. {
        let seed = seed.child(number.to_le_bytes());
        let deal = Deal::new(rules, &seed);
        let mut rng = seed.child("moves").rng();
        let mut game = Game::new(*rules);
        while game.outcome().is_none() {
            let moves = game.legal_moves();
            let drawn = moves[rng.next_u32() as usize % moves.len()];
            game.play(deal.resolve(drawn).unwrap()).unwrap();
            if game.outcome().is_none()
                && game.position().hidden().len() <= most_hidden
                && rng.next_u32().is_multiple_of(8)
            {
                found.push(*game.position());
                if found.len() == count {
                    return found;
                }
            }
        }
    }
    found
}

fn printed<'a, E: Evaluate>(eval: &'a E, rules: &Rules, k: usize) -> Printed<'a, E> {
    let types = "PpCcGgMmRrNnKk".chars().filter_map(Piece::from_char).collect();
    Printed { eval, types, k, draw: rules.draw().unwrap_or(u16::MAX) }
}

/// VAR1: flips at the root, Algorithm 3.1 below.
fn var1<E: Evaluate>(plain: &Printed<'_, E>, root: &Position, depth: u32) -> Score {
    let step = |mv| match mv {
        Move::Step { from, to } => Some(-plain.negamax(&root.after_step(from, to), depth - 1)),
        Move::Flip(_) => None,
    };
    let s = root.moves().into_iter().filter_map(step).max().unwrap_or(-Score::INFINITE);
    let flip = |square| {
        Score::mean(root.reveals().map(|(piece, n)| (-plain.negamax(&root.after_flip(square, piece), depth - 1), n)))
    };
    let flips = root.hidden().iter().map(flip).filter(|_| s <= plain.eval.evaluate(root));
    flips.fold(s, Score::max)
}

fn played(spec: &str, rules: Rules, root: &Position, depth: u32) -> Score {
    let spec: PlayerSpec = spec.parse().unwrap();
    let game = Game::from_position(rules, *root).unwrap();
    let choice = spec
        .build(Seed::from(1), &Resources::default())
        .unwrap()
        .choose(&game, &Limits::depth(depth), &Stop::default())
        .unwrap();
    assert!(game.legal_moves().contains(&choice.mv));
    assert_eq!(choice.stats.depth, depth);
    choice.score
}

/// Everything that must not change a value: table, bounds of flips, order of moves, threads.
const VARIANTS: [&str; 6] =
    [",table=1", ",table=0", ",table=1,star1=off", ",table=0,star1=off", ",table=1,sort=off", ",table=1,threads=2"];

fn check(rules: &str, most_hidden: u32, depth: u32, count: usize) {
    let rules: Rules = rules.parse().unwrap();
    let seed = Seed::from(u64::from(most_hidden * 10 + depth));
    for root in positions(&rules, &seed, most_hidden, count) {
        for (name, eval) in [("static", &Fixed::default() as &dyn Dyn), ("outcome", &OutcomeOnly)] {
            let all = eval.exhaustive(&rules, &root, depth, 14);
            let six = eval.exhaustive(&rules, &root, depth, 6);
            let initial = eval.var1(&rules, &root, depth);
            for variant in VARIANTS {
                let with = |program: &str| format!("{program},eval={name}{variant}");
                assert_eq!(
                    played(&with("chen:enhance"), rules, &root, depth),
                    all,
                    "{root} depth {depth} {}",
                    with("enhance")
                );
                assert_eq!(
                    played(&with("chen:var2"), rules, &root, depth),
                    six,
                    "{root} depth {depth} {}",
                    with("var2")
                );
                assert_eq!(
                    played(&with("chen:var1"), rules, &root, depth),
                    initial,
                    "{root} depth {depth} {}",
                    with("var1")
                );
            }
            if root.count_steps() > 0 {
                let moves = eval.negamax(&rules, &root, depth);
                assert_eq!(
                    played(&format!("chen:basic,table=1,eval={name}"), rules, &root, depth),
                    moves,
                    "{root} depth {depth} basic"
                );
            }
        }
    }
}

/// The plain algorithms over any evaluation.
trait Dyn {
    fn exhaustive(&self, rules: &Rules, root: &Position, depth: u32, k: usize) -> Score;
    fn negamax(&self, rules: &Rules, root: &Position, depth: u32) -> Score;
    fn var1(&self, rules: &Rules, root: &Position, depth: u32) -> Score;
}

impl<E: Evaluate> Dyn for E {
    fn exhaustive(&self, rules: &Rules, root: &Position, depth: u32, k: usize) -> Score {
        printed(self, rules, k).exhaustive(root, depth)
    }

    fn negamax(&self, rules: &Rules, root: &Position, depth: u32) -> Score {
        printed(self, rules, 14).negamax(root, depth)
    }

    fn var1(&self, rules: &Rules, root: &Position, depth: u32) -> Score {
        var1(&printed(self, rules, 14), root, depth)
    }
}

#[test]
fn nothing_face_down() {
    check("chen,draw=off", 0, 4, 200);
    check("chen,draw=off", 0, 3, 2_500);
}

#[test]
fn a_few_face_down() {
    check("chen,draw=off", 3, 3, 200);
    check("chen,draw=off", 3, 2, 2_500);
}

#[test]
fn many_face_down() {
    check("chen,draw=off", 31, 1, 2_000);
    check("chen,draw=off", 12, 2, 100);
}

#[test]
fn small_boards() {
    check("chen,board=2x4,draw=off", 7, 3, 1_000);
    check("chen,board=3x2,draw=off", 5, 4, 300);
    check("chen,board=3x4,draw=off,ladder=hongkong", 4, 3, 300);
}

#[test]
fn the_quiet_ply_limit_is_seen() {
    check("chen,draw=5", 2, 3, 1_500);
}

#[test]
fn an_advantage_is_not_walked_into_a_draw_and_a_lost_side_seeks_one() {
    let choose = |position: &str| {
        let game = Game::from_position(Rules::chen(), position.parse().unwrap()).unwrap();
        let spec: PlayerSpec = "chen:enhance".parse().unwrap();
        spec.build(Seed::from(1), &Resources::default())
            .unwrap()
            .choose(&game, &Limits::depth(3), &Stop::default())
            .unwrap()
    };
    // One quiet ply is left. Red has to capture.
    assert_eq!(choose("4/4/4/4/4/4/1n2/1G2 r - 39").mv.to_string(), "b1-b2");
    // Black could take a pawn and would go on to lose; a quiet step is a draw.
    let lost = choose("4/4/4/4/4/3G/3G/nP1G b - 39");
    assert_ne!(lost.mv.to_string(), "a1-b1");
    assert_eq!(lost.score, Score::DRAW);
}
