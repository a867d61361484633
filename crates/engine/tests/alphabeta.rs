//! Pruning, ordering, table, Star1 and threads change nothing: the played forms of Chen's programs give
//! the values of the printed algorithms.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod samples;

use anqi_engine::printed::Printed;
use anqi_engine::{Below, Evaluate, Fixed, Limits, OutcomeOnly, PlayerSpec, Resources, Score, Stop};
use anqi_rules::{Game, Move, Piece, Position, Rules, Seed};
use samples::positions;

fn printed<'a, E: Evaluate>(eval: &'a E, rules: &Rules, k: usize, below: Below) -> Printed<'a, E> {
    let types = "PpCcGgMmRrNnKk".chars().filter_map(Piece::from_char).collect();
    Printed { eval, types, k, below, draw: rules.draw().unwrap_or(u16::MAX) }
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
    for root in positions(&rules, &seed, count, |position| position.hidden().len() <= most_hidden) {
        for (name, eval) in [("static", &Fixed::default() as &dyn Dyn), ("outcome", &OutcomeOnly)] {
            let mut expected = vec![("chen:var1".to_owned(), eval.var1(&rules, &root, depth))];
            for below in [Below::Moves, Below::Flips] {
                // Without a move the printed value is that of the evaluation, but a program has to flip.
                if root.count_steps() > 0 || below == Below::Flips {
                    for (program, k) in [("enhance", 14), ("var2", 6)] {
                        let value = eval.exhaustive(&rules, &root, depth, k, below);
                        expected.push((format!("chen:{program},below={}", below.name()), value));
                    }
                }
            }
            for variant in VARIANTS {
                for (program, value) in &expected {
                    let spec = format!("{program},eval={name}{variant}");
                    assert_eq!(played(&spec, rules, &root, depth), *value, "{root} depth {depth} {spec}");
                }
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
    fn exhaustive(&self, rules: &Rules, root: &Position, depth: u32, k: usize, below: Below) -> Score;
    fn negamax(&self, rules: &Rules, root: &Position, depth: u32) -> Score;
    fn var1(&self, rules: &Rules, root: &Position, depth: u32) -> Score;
}

impl<E: Evaluate> Dyn for E {
    fn exhaustive(&self, rules: &Rules, root: &Position, depth: u32, k: usize, below: Below) -> Score {
        printed(self, rules, k, below).exhaustive(root, depth)
    }

    fn negamax(&self, rules: &Rules, root: &Position, depth: u32) -> Score {
        printed(self, rules, 14, Below::Moves).negamax(root, depth)
    }

    fn var1(&self, rules: &Rules, root: &Position, depth: u32) -> Score {
        var1(&printed(self, rules, 14, Below::Moves), root, depth)
    }
}

/// Rules, most pieces face down, depth, and how many positions are compared behind `--ignored`.
const SAMPLES: [(&str, u32, u32, usize); 10] = [
    // Nothing is face down.
    ("chen,draw=off,repeat=off", 0, 4, 200),
    ("chen,draw=off,repeat=off", 0, 3, 2_500),
    // A few.
    ("chen,draw=off,repeat=off", 3, 3, 200),
    ("chen,draw=off,repeat=off", 3, 2, 2_500),
    // Many.
    ("chen,draw=off,repeat=off", 31, 1, 2_000),
    ("chen,draw=off,repeat=off", 12, 2, 100),
    ("chen,board=2x4,draw=off,repeat=off", 7, 3, 1_000),
    ("chen,board=3x2,draw=off,repeat=off", 5, 4, 300),
    ("chen,board=3x4,draw=off,repeat=off,ladder=hongkong", 4, 3, 300),
    // The limit of quiet plies is seen.
    ("chen,draw=5,repeat=off", 2, 3, 1_500),
];

#[test]
fn programs_give_the_printed_values() {
    SAMPLES.into_iter().for_each(|(rules, hidden, depth, count)| check(rules, hidden, depth, count / 20));
}

#[test]
#[ignore = "10,600 positions"]
fn programs_give_the_printed_values_in_many_positions() {
    SAMPLES.into_iter().for_each(|(rules, hidden, depth, count)| check(rules, hidden, depth, count));
}

/// With captures beyond the horizon and with values that depend on where cannons stand, sums of flips have other bounds.
#[test]
fn pruning_changes_nothing_with_other_leaves() {
    let rules: Rules = "chen,repeat=off".parse().unwrap();
    for root in positions(&rules, &Seed::from(5), 40, |position| position.hidden().len() <= 8) {
        for leaf in ["quiescence=on", "eval=situated", "eval=situated,quiescence=on"] {
            let value = |variant: &str| played(&format!("chen:enhance,{leaf}{variant}"), rules, &root, 3);
            let plain = value(",table=0,star1=off,sort=off");
            for variant in VARIANTS {
                assert_eq!(value(variant), plain, "{root} {leaf}{variant}");
            }
        }
    }
}

/// Every step of the knight on a1 goes beside the rook. Where Black may wait by a flip, nothing is won.
///
/// ```text
/// 8 X . . X
/// 5 . . P .
/// 2 . R . .
/// 1 n . . .
/// ```
#[test]
fn below_decides_whether_the_other_side_may_flip() {
    let rules: Rules = "chen,repeat=off".parse().unwrap();
    let root: Position = "x2x/4/4/2P1/4/4/1R2/n3 r Pp".parse().unwrap();
    let value = |spec: &str, depth| played(spec, rules, &root, depth);
    let lead = Fixed::default().evaluate(&root);
    let knight = Score(Fixed::VALUES.0[4]);
    assert_eq!(value("chen:enhance", 3), Score(lead.0 + knight.0));
    assert_eq!(value("chen:enhance,below=flips", 3), lead);
    // With less depth no difference can be seen.
    assert_eq!(value("chen:enhance", 2), value("chen:enhance,below=flips", 2));
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
