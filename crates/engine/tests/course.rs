//! The course program against plain, slow search: the values of its NegaScout, and its decision between moving and turning a
//! piece up.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod samples;

use std::collections::BTreeSet;
use std::time::Duration;

use anqi_engine::printed::course::{FlipScores, PlainCourse, turned_up};
use anqi_engine::{
    Among, Candidate, ChanceBy, Choice, Course, Limits, Player, PlayerSpec, Resources, Score, Stop, SumOf,
};
use anqi_rules::{Game, Move, Position, Rules, Seed, Square};
use samples::positions;

fn built(spec: &str) -> Box<dyn Player> {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(Seed::from(1), &Resources::default()).unwrap()
}

fn choose(spec: &str, game: &Game, limits: &Limits) -> Choice {
    built(spec).choose(game, limits, &Stop::default()).unwrap()
}

const fn on_off(on: bool) -> &'static str {
    if on { "on" } else { "off" }
}

/// The score of every step, by plain search.
fn plain_steps(plain: &PlainCourse<'_, Course>, root: &Position, depth: u32) -> Vec<(Move, Score)> {
    let steps = root.moves().into_iter().filter_map(|mv| match mv {
        Move::Step { from, to } => Some((mv, -plain.negamax(&root.after_step(from, to), depth - 1))),
        Move::Flip(_) => None,
    });
    let mut steps: Vec<_> = steps.collect();
    steps.sort_unstable();
    steps
}

fn scores(choice: &Choice) -> Vec<(Move, Score)> {
    let mut scores: Vec<_> = choice.candidates.iter().map(|candidate| (candidate.mv, candidate.score)).collect();
    scores.sort_unstable();
    scores
}

/// What must not change a value: the table, and the null window that is tried first. A table answers with deeper searches, too
/// (section 2.4), so it changes nothing only where the same position cannot be met at two depths: up to four plies,
/// because the side to move alternates.
const VARIANTS: [&str; 4] = ["table=1,scout=on", "table=1,scout=off", "table=0,scout=on", "table=0,scout=off"];

/// With more revealed pieces a plain search of captures does not come to an end.
const MOST_REVEALED: u32 = 10;

fn roots(rules: &Rules, most_hidden: u32, depth: u32, count: usize, also: fn(&Position) -> bool) -> Vec<Position> {
    let seed = Seed::from(u64::from(most_hidden * 10 + depth));
    positions(rules, &seed, count, |position| {
        position.hidden().len() <= most_hidden && position.revealed().len() <= MOST_REVEALED && also(position)
    })
}

fn check_values(rules: &str, most_hidden: u32, depth: u32, count: usize) {
    let rules: Rules = rules.parse().unwrap();
    for root in roots(&rules, most_hidden, depth, count, |root| root.count_steps() > 0) {
        let game = Game::from_position(rules, root).unwrap();
        for (quiescence, null) in [(true, true), (true, false), (false, true), (false, false)] {
            let eval = Course::default();
            let plain = PlainCourse { eval: &eval, quiescence, null, draw: rules.draw().unwrap_or(u16::MAX) };
            let expected = plain_steps(&plain, &root, depth);
            let best = expected.iter().map(|&(_, score)| score).max();
            let parts = format!("decide=off,quiescence={},null={}", on_off(quiescence), on_off(null));
            for variant in VARIANTS.into_iter().filter(|variant| depth <= 4 || variant.starts_with("table=0")) {
                let spec = format!("negascout,{parts},{variant}");
                let chosen = choose(&spec, &game, &Limits::depth(depth));
                assert_eq!(Some(chosen.score), best, "{root} depth {depth} {spec}");
                assert!(expected.contains(&(chosen.mv, chosen.score)), "{root} depth {depth} {spec}: {}", chosen.mv);
                assert_eq!(chosen.stats.depth, depth);
                let analysed = built(&spec).analyse(&game, &Limits::depth(depth), &Stop::default()).unwrap();
                assert_eq!(scores(&analysed), expected, "{root} depth {depth} {spec}");
            }
        }
    }
}

/// Rules, most pieces face down, depth, and how many positions are compared behind `--ignored`.
const SAMPLES: [(&str, u32, u32, usize); 10] = [
    // Nothing is face down: no null moves.
    ("chen,repeat=off", 0, 4, 200),
    ("chen,repeat=off", 0, 3, 2_500),
    // A few, and many.
    ("chen,repeat=off", 3, 3, 2_500),
    ("chen,repeat=off", 12, 3, 300),
    ("chen,repeat=off", 31, 2, 2_500),
    // Small boards, deeper.
    ("chen,board=2x4,repeat=off", 6, 4, 600),
    ("chen,board=2x4,repeat=off", 6, 6, 200),
    ("chen,board=3x2,repeat=off", 4, 8, 200),
    // The other ladder, and the limit of quiet plies in sight.
    ("chen,board=3x4,repeat=off,ladder=hongkong", 6, 3, 500),
    ("chen,draw=5,repeat=off", 2, 3, 1_000),
];

#[test]
fn values_are_those_of_plain_search() {
    SAMPLES.into_iter().for_each(|(rules, hidden, depth, count)| check_values(rules, hidden, depth, count / 20));
}

#[test]
#[ignore = "10,500 positions"]
fn values_are_those_of_plain_search_in_many_positions() {
    SAMPLES.into_iter().for_each(|(rules, hidden, depth, count)| check_values(rules, hidden, depth, count));
}

const SUMS: [SumOf; 3] = [SumOf::Kinds, SumOf::Pieces, SumOf::Mean];
const CHANCES: [ChanceBy; 2] = [ChanceBy::Pieces, ChanceBy::Kinds];
const AMONG: [Among; 2] = [Among::Promising, Among::All];

/// The flips of a choice with their scores, by square.
fn flips(choice: &Choice) -> Vec<(Square, FlipScores)> {
    let scores = |candidate: &Candidate| candidate.outcomes.iter().map(|o| (o.piece, o.count, o.score)).collect();
    let flip = |candidate: &Candidate| match candidate.mv {
        Move::Flip(square) => Some((square, scores(candidate))),
        Move::Step { .. } => None,
    };
    let mut flips: Vec<_> = choice.candidates.iter().filter_map(flip).collect();
    flips.sort_unstable_by_key(|&(square, _)| square);
    flips
}

/// Compares decisions after so many plies, and returns the options in which readings differ from the default.
fn check_decisions(rules: &str, most_hidden: u32, plies: u32, count: usize) -> BTreeSet<String> {
    let rules: Rules = rules.parse().unwrap();
    let mut differ = BTreeSet::new();
    for root in roots(&rules, most_hidden, plies, count, |root| !root.hidden().is_empty()) {
        let game = Game::from_position(rules, root).unwrap();
        let eval = Course::default();
        let plain = PlainCourse { eval: &eval, quiescence: true, null: true, draw: rules.draw().unwrap_or(u16::MAX) };
        let best_move = plain.best_move(&root, 2);
        let expected = plain.flips(&root, plies);
        let usual = turned_up(&expected, best_move, SumOf::Kinds, ChanceBy::Pieces, Among::Promising);
        for sum in SUMS {
            for chance in CHANCES {
                for among in AMONG {
                    let reading = format!("sum={},chance={},among={}", sum.name(), chance.name(), among.name());
                    let turned = turned_up(&expected, best_move, sum, chance, among);
                    // With null moves the same position can be met at two depths from four plies on.
                    let table = if plies < 4 { 1 } else { 0 };
                    let spec = format!("negascout,plies={plies},table={table},{reading}");
                    let choice = choose(&spec, &game, &Limits::depth(2));
                    assert_eq!(flips(&choice), expected, "{root} {spec}");
                    match turned {
                        Some(square) => assert_eq!(choice.mv, Move::Flip(square), "{root} {spec}"),
                        None => assert_eq!(Some(choice.score), best_move, "{root} {spec}"),
                    }
                    if turned != usual {
                        differ.insert(reading);
                    }
                }
            }
        }
    }
    differ
}

#[test]
fn decisions_are_those_of_plain_search() {
    let mut differ = BTreeSet::new();
    for (rules, most_hidden, plies, count) in [
        ("server", 3, 3, 40),
        ("server", 12, 2, 40),
        ("server", 31, 1, 40),
        ("server", 2, 4, 4),
        ("server,board=2x4", 6, 4, 60),
        ("server,board=3x4,ladder=hongkong", 8, 3, 60),
    ] {
        let rules = format!("{rules},repeat=off");
        differ.append(&mut check_decisions(&rules, most_hidden, plies, count));
    }
    for alone in [
        "sum=pieces,chance=pieces,among=promising",
        "sum=kinds,chance=kinds,among=promising",
        "sum=kinds,chance=pieces,among=all",
    ] {
        assert!(differ.contains(alone), "no position shows what {alone} changes");
    }
}

/// Fig. 1 of the report is not legible; its text says what lies face down where. The other pieces are ours.
///
/// ```text
/// 7 . k . .
/// 5 . X . R
/// 4 . . p .
/// 2 X . . X
/// 1 N . c .
/// ```
const FIG_1: &str = "4/1k2/4/1x1R/2p1/4/x2x/N1c1 r GCm";

#[test]
fn each_piece_of_figure_1_has_three_scores() {
    let game = Game::from_position(Rules::server(), FIG_1.parse().unwrap()).unwrap();
    let choice = choose("negascout", &game, &Limits::depth(4));
    let flips = flips(&choice);
    let squares: Vec<String> = flips.iter().map(|(square, _)| square.to_string()).collect();
    assert_eq!(squares, ["a2", "b5", "d2"]);
    let eval = Course::default();
    let plain = PlainCourse { eval: &eval, quiescence: true, null: true, draw: 60 };
    for (square, scores) in &flips {
        let kinds: String = scores.iter().map(|(piece, _, _)| piece.char()).collect();
        assert_eq!(kinds, "GCm");
        for &(piece, count, score) in scores {
            assert_eq!(count, 1);
            assert_eq!(score, -plain.negamax(&game.position().after_flip(*square, piece), 4), "{square} {piece:?}");
        }
    }
    // Two of three scores of each are better than the best move, so one is turned up: that with the highest sum.
    assert_eq!(plain.best_move(game.position(), 4), Some(Score(-7277)));
    let of = |scores: &FlipScores| scores.iter().map(|(_, _, score)| score.0).collect::<Vec<_>>();
    assert_eq!(of(&flips[0].1), [-7247, -7247, -8140]);
    assert_eq!(of(&flips[1].1), [-7237, -7247, -8924]);
    assert_eq!(of(&flips[2].1), [-6432, -7257, -7317]);
    assert_eq!(choice.mv.to_string(), "d2");
}

/// Many pieces are face down, so that four plies after every flip take tens of thousands of nodes.
const MANY: &str = "xcRx/g1kx/MGPx/x1xx/Pmxx/pmrp/xxxx/CxRC r KGMNPPPgrncppp";

#[test]
fn a_decision_is_completed_whatever_the_budget_of_nodes() {
    let game = Game::from_position(Rules::server(), MANY.parse().unwrap()).unwrap();
    let limits = |nodes| choose("negascout,sum=kinds", &game, &Limits::nodes(nodes));
    let known = flips(&choose("negascout", &game, &Limits::depth(1)));
    assert_eq!(known.len(), game.position().hidden().len() as usize);
    let alone = limits(0).stats.nodes;
    for nodes in [0, 1, 1_000, 20_000] {
        let choice = limits(nodes);
        assert_eq!(flips(&choice), known, "{nodes} nodes");
        // The moves have at least half.
        assert!((alone + nodes / 2..=alone + nodes / 2 + 100).contains(&choice.stats.nodes), "{nodes} nodes");
    }
    // What the decision does not need is for the moves.
    let choice = limits(3 * alone);
    assert!((3 * alone..=3 * alone + 100).contains(&choice.stats.nodes));
    // More plies than four do not go on for ever.
    let deep = choose("negascout,plies=20", &game, &Limits::nodes(1));
    assert!((4_000_000..=4_000_200).contains(&deep.stats.nodes));
    // The other reading looks less far and keeps to its budget.
    let shared = choose("negascout,decision=shared", &game, &Limits::nodes(20_000));
    assert_ne!(flips(&shared), known);
    assert!((20_000..=20_100).contains(&shared.stats.nodes));
}

#[test]
fn a_decision_ends_with_the_time_and_with_the_flag() {
    let game = Game::from_position(Rules::server(), MANY.parse().unwrap()).unwrap();
    let choice = choose("negascout,plies=20", &game, &Limits::time(Duration::from_millis(20)));
    assert!(game.legal_moves().contains(&choice.mv));
    let stop = Stop::default();
    stop.raise();
    let choice = built("negascout,plies=20").choose(&game, &Limits::default(), &stop).unwrap();
    assert!(game.legal_moves().contains(&choice.mv));
    assert!(flips(&choice).is_empty());
}
