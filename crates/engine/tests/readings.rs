//! Each reading of Jouandeau & Cazenave that has a name makes a difference, and the one that it says.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_engine::{Choice, Limits, PlayerSpec, Resources, ResultCounts, Stop};
use anqi_rules::{Game, Move, Piece, Position, Rules, Seed, Square};

fn game(position: &str) -> Game {
    Game::from_position(Rules::chen(), position.parse().unwrap()).unwrap()
}

/// Without repetitions, which are draws of the tree and are not judged.
fn endless(position: &str) -> Game {
    Game::from_position("chen,repeat=off".parse().unwrap(), position.parse().unwrap()).unwrap()
}

fn choose(spec: &str, game: &Game, limits: &Limits) -> Choice {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(Seed::from(1), &Resources::default()).unwrap().choose(game, limits, &Stop::default()).unwrap()
}

/// Of all moves together.
fn results(choice: &Choice) -> ResultCounts {
    let mut all = ResultCounts::default();
    choice.candidates.iter().filter_map(|candidate| candidate.results).for_each(|results| all += results);
    all
}

const TREES: [&str; 2] = ["mcts:chance", "mcts:group"];
const ALL: [&str; 3] = ["mcts:chance", "mcts:group", "mc"];

/// Table 1: at limit 40 random playouts of the authors are drawn, all of 100; by the rules one of eight is not.
#[test]
fn captures_do_not_reset_the_quiet_plies() {
    let start = Game::new(Rules::chen());
    for player in ALL {
        let draws = |reading: &str| {
            let spec = format!("{player},policy=random,playout=40,reading={reading}");
            let results = results(&choose(&spec, &start, &Limits::playouts(1_000)));
            assert_eq!(results.count(), 1_000);
            results.draws
        };
        let (rules, paper) = (draws("rules"), draws("paper"));
        assert!(paper >= 995 && rules <= 950, "{player}: {rules} drawn by the rules, {paper} by the paper");
    }
}

/// Playouts in flight are the same games one at a time or side by side, by either reading.
#[test]
fn the_authors_reading_flies_too() {
    let start = Game::new(Rules::chen());
    for player in TREES {
        let spec = format!("{player},playout=40,reading=paper,flight=8");
        let [first, again] = [(); 2].map(|()| choose(&spec, &start, &Limits::playouts(500)));
        assert_eq!((first.mv, results(&first)), (again.mv, results(&again)));
        assert_eq!(results(&first).count(), 500);
    }
}

/// A king against a pawn, far apart: 0.15 - 0.05 by the printed values. All playouts end at once without a winner.
#[test]
fn draws_are_drawn_won_or_graded() {
    let (king, rook) = (endless("3p/4/4/4/4/4/4/K3 r -"), endless("3c/4/4/4/4/4/4/R3 r -"));
    for player in ALL {
        for end in ["playout=1", "cut=1"].into_iter().filter(|end| player != "mc" || !end.starts_with("cut")) {
            let of = |game: &Game, draws: &str| {
                let choice = choose(&format!("{player},{end},draws={draws}"), game, &Limits::playouts(24));
                (choice.score.0, results(&choice))
            };
            let all = |wins, draws, leads| ResultCounts { wins, draws, losses: 0, leads };
            if end != "cut=1" {
                assert_eq!(of(&king, "off"), (0, all(0, 24, 0)), "{player}"); // what is cut is judged by any setting
            }
            assert_eq!(of(&king, "lead"), (1000, all(24, 0, 0)), "{player} {end}");
            assert_eq!(of(&king, "graded"), (100, all(0, 24, 240)), "{player} {end}");
            for draws in ["lead", "graded"] {
                assert_eq!(of(&rook, draws), (0, all(0, 24, 0)), "equivalent material: {player} {end}");
            }
        }
    }
}

/// A lead is the value of a move below the root, too, for each side in turn.
#[test]
fn graded_draws_are_backed_up() {
    let king = endless("3p/4/4/4/4/4/4/K3 b -");
    for player in ["mcts:chance", "mcts:group", "mcts:chance,ucb=ucb1-tuned", "mcts:chance,backup=best"] {
        let choice = choose(&format!("{player},playout=1,draws=graded"), &king, &Limits::playouts(40));
        assert_eq!(choice.score.0, -100, "{player}");
    }
    let error = "mcts:chance,quality=0.5,draws=graded".parse::<PlayerSpec>().unwrap_err().to_string();
    assert_eq!(error, "player mcts:chance: options draws=graded and quality exclude each other");
}

/// What older texts say means what it meant.
#[test]
fn eval_is_draws_lead() {
    for player in ALL {
        let text = |option: &str| format!("{player},{option}").parse::<PlayerSpec>().unwrap().to_string();
        assert_eq!([text("eval"), text("eval=on")], [text("draws=lead"), text("draws=lead")]);
        assert_eq!([text("eval=off"), text("draws=off")], [player, player]);
        for wrong in ["eval=lead", "draws=on", "eval,draws=lead", "eval=off,eval=on"] {
            assert!(format!("{player},{wrong}").parse::<PlayerSpec>().is_err(), "{player},{wrong}");
        }
        let mut spec: PlayerSpec = player.parse().unwrap();
        spec.set("eval", "on").unwrap();
        assert_eq!(spec.to_string(), format!("{player},draws=lead"));
    }
}

/// Two plies before the draw by the rules; with long playouts that do not know it there is time to win.
#[test]
fn the_rule_ends_the_present_stretch() {
    let near = game("3p/4/4/4/4/4/4/KG2 r - 38");
    for player in TREES {
        let draws = |rule: &str| results(&choose(&format!("{player},rule={rule}"), &near, &Limits::playouts(3))).draws;
        assert_eq!(draws("on"), 3, "{player}");
        assert!(draws("off") < 3, "{player}");
    }
}

/// By the authors' reading a capture leaves the present stretch as it is, and so `rule=on` ends a playout in which nothing
/// is left to flip.
#[test]
fn the_rule_and_the_authors_reading() {
    // The guard has taken a pawn by the third ply, and there is another one to be taken.
    let near = game("3p/4/4/4/4/4/p3/1G1K b - 30");
    for player in TREES {
        let draws = |rule: &str, reading: &str| {
            let spec = format!("{player},rule={rule},reading={reading}");
            results(&choose(&spec, &near, &Limits::playouts(200))).draws
        };
        assert!(draws("on", "paper") > draws("on", "rules"), "{player}");
        assert!(draws("on", "paper") > draws("off", "paper"), "{player}");
    }
}

/// A win in one move.
#[test]
fn what_a_won_board_means() {
    let won = game("4/4/4/4/4/4/p3/GK2 r -");
    for player in TREES {
        let choice = |proofs: &str| choose(&format!("{player},proofs={proofs}"), &won, &Limits::playouts(500));
        for (proofs, proven, most) in [("propagate", true, 4), ("interrupt", true, 20), ("leaf", false, 500)] {
            let choice = choice(proofs);
            assert_eq!(choice.mv.to_string(), "a1-a2", "{player} {proofs}");
            assert_eq!(choice.score.is_decided(), proven, "{player} {proofs}");
            assert!(choice.stats.playouts <= most, "{player} {proofs}: {}", choice.stats.playouts);
            assert_eq!(results(&choice).count(), choice.stats.playouts, "{player} {proofs}");
        }
        assert_eq!(choice("leaf").stats.playouts, 500);
    }
}

/// The printed loop ends wherever it selects a lost board: here, because a blunder would lose.
#[test]
fn a_lost_board_below_ends_the_search_as_printed() {
    let quiet = game("4/4/4/4/4/p3/4/K3 r -");
    for player in TREES {
        let choice = |proofs: &str| choose(&format!("{player},proofs={proofs}"), &quiet, &Limits::playouts(300));
        let (printed, leaf) = (choice("interrupt"), choice("leaf"));
        assert!(printed.stats.playouts < 60, "{player}: {}", printed.stats.playouts);
        assert_eq!(leaf.stats.playouts, 300, "{player}");
        assert!(!printed.score.is_decided() && !leaf.score.is_decided(), "{player}");
        let blunder = |choice: &Choice| {
            choice.candidates.iter().find(|candidate| candidate.mv.to_string() == "a1-a2").unwrap().score
        };
        assert!(blunder(&choice("propagate")).is_decided() && !blunder(&leaf).is_decided(), "{player}");
    }
}

/// The constant of UCB.
#[test]
fn exploration_spreads_visits() {
    let start = Game::new(Rules::chen());
    for player in TREES {
        let most = |explore: &str| {
            let choice = choose(&format!("{player},explore={explore}"), &start, &Limits::playouts(2_000));
            choice.candidates.iter().map(|candidate| candidate.results.unwrap().count()).max().unwrap()
        };
        assert!(most("0.1") > 2 * most("4"), "{player}: {} and {}", most("0.1"), most("4"));
    }
}

/// The minister could take a pawn that a king stands behind.
#[test]
fn the_reference_player_looks_as_deep_as_it_is_told() {
    let bait = game("3K/4/4/4/4/k3/p3/M3 r -");
    let choice = |depth: u32| choose(&format!("reference,depth={depth}"), &bait, &Limits::nodes(1_000_000));
    assert_eq!(choice(1).mv.to_string(), "a1-a2");
    assert_ne!(choice(2).mv.to_string(), "a1-a2");
}

/// A knight for a pawn: 0.03 for 0.05 by the paper's values, an even trade by those of Chen et al.
#[test]
fn the_reference_player_counts_as_it_is_told() {
    let trade = game("3K/4/4/4/4/m3/p3/N3 r -");
    let choice = |eval: &str| choose(&format!("reference,depth=2,eval={eval}"), &trade, &Limits::nodes(1_000_000));
    // The minister takes back: a king against a minister is left, 0.15 and 0.07, or 1200 and 400.
    assert_eq!((choice("draw").mv.to_string().as_str(), choice("draw").score.0), ("a1-a2", 80));
    assert_eq!(choice("static").score.0, 800);
}

/// The ten moves of each side that lead to Fig. 2, with b4 for the first of two flips of c4.
const FIG_2: &str = "b4(k) d1(P) d2(N) d5(p) c2(G) c3(c) c5(C) c5-c3 c4(p) c6(M) b3(r) c6-c5 b3-c3 c2-c3 c7(C) c5-d5 b6(g) d5-c5 b6-c6 b7(G)";

/// What section 4.1 says of Fig. 2: the moves of both sides, 19 flips, what was captured.
#[test]
fn figure_2_is_what_its_line_leads_to() {
    let (mut position, mut taken) = (Position::initial(&Rules::chen()), String::new());
    for ply in FIG_2.split(' ') {
        let square = |text: &str| text.parse::<Square>().unwrap();
        match ply.split_once('-') {
            Some((from, to)) => {
                let (from, to) = (square(from), square(to));
                assert!(position.is_legal(Move::Step { from, to }), "{ply}");
                taken.extend(position.piece_at(to).map(Piece::char));
                position = position.after_step(from, to);
            }
            None => {
                let (at, piece) = ply.trim_end_matches(')').split_once('(').unwrap();
                assert!(position.is_legal(Move::Flip(square(at))), "{ply}");
                position = position.after_flip(square(at), Piece::from_char(piece.chars().next().unwrap()).unwrap());
            }
        }
    }
    let steps = |position: &Position| {
        let moves = position.moves().into_iter().filter(|mv| matches!(mv, Move::Step { .. }));
        let mut moves: Vec<String> = moves.map(|mv| mv.to_string()).collect();
        moves.sort();
        moves.join(" ")
    };
    assert_eq!(steps(&position), "b4-b3 c6-b6 c6-c5 c6-c7");
    assert_eq!(steps(&position.after_pass()), "b7-b6 c3-b3 c3-c2 c3-c4 c5-c4 c5-d5 d2-c2");
    assert_eq!((position.hidden().len(), taken.as_str()), (19, "cCrp"));
}
