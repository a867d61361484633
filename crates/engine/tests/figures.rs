//! The positions that Chen, Shen & Hsu discuss, and what their programs make of them.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;

use anqi_engine::{Choice, Limits, PlayerSpec, Resources, Score, Stop};
use anqi_rules::{Color, Game, Ply, Rules, Seed, Termination};

fn game(position: &str) -> Game {
    Game::from_position(Rules::chen(), position.parse().unwrap()).unwrap()
}

fn choose(spec: &str, game: &Game, limits: &Limits) -> Choice {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(Seed::from(1), &Resources::default()).unwrap().choose(game, limits, &Stop::default()).unwrap()
}

fn analyse(spec: &str, game: &Game, limits: &Limits) -> Choice {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(Seed::from(1), &Resources::default()).unwrap().analyse(game, limits, &Stop::default()).unwrap()
}

/// Fig. 7: Black wins in 13 plies, and the program needs to look 14 plies ahead.
const FIG_7: &str = "1m2/4/1g2/g3/4/4/1c2/2P1 b -";

#[test]
fn figure_7_is_won_and_played_to_the_end() {
    for spec in ["chen:var1", "negascout"] {
        let mut game = game(FIG_7);
        let first = choose(spec, &game, &Limits::depth(14));
        assert!(first.score.is_decided() && first.score.0 > 0, "{spec} does not see the win");
        let mut plies = 0;
        while game.outcome().is_none() {
            // Whoever is lost prefers to lose late, so the same search is the best defence.
            let Some(Ply::Step { from, to }) = step(&choose(spec, &game, &Limits::depth(14))) else {
                panic!("a flip?")
            };
            game.play(Ply::Step { from, to }).unwrap();
            plies += 1;
        }
        let outcome = game.outcome().unwrap();
        assert_eq!(outcome.termination, Termination::Elimination, "{spec}");
        assert_eq!(outcome.winner.and_then(|seat| game.color_of(seat)), Some(Color::Black));
        assert_eq!(plies, 13, "{spec}");
    }
}

fn step(choice: &Choice) -> Option<Ply> {
    match choice.mv {
        anqi_rules::Move::Step { from, to } => Some(Ply::Step { from, to }),
        anqi_rules::Move::Flip(_) => None,
    }
}

/// After Fig. 6: the guard takes the knight and leaves Red without a move; whatever Red turns up, the pawn
/// then takes the king.
///
/// ```text
/// 8 . c . .
/// 7 g N . .
/// 6 . . . .
/// 5 . . . X
/// 4 . . X K
/// 3 . . . p
/// ```
const FIG_6: &str = "1c2/gN2/4/3x/2xK/3p/4/4 b Pp";

#[test]
fn the_no_move_cut_hides_what_comes_after_it() {
    let game = game(FIG_6);
    let score = |spec: &str, mv: &str| {
        let choice = analyse(spec, &game, &Limits::depth(3));
        choice.candidates.iter().find(|candidate| candidate.mv.to_string() == mv).unwrap().score
    };
    let knight_first = "a7-b7";
    // BASIC stops where Red has no move and sees a knight won: less than the king that others win.
    let basic = choose("chen:basic", &game, &Limits::depth(3));
    assert_ne!(basic.mv.to_string(), knight_first);
    assert!(score("chen:basic", knight_first) < basic.score);
    // The first search of Algorithm 3.2 is that of BASIC, and the cut with it.
    assert_eq!(score("chen:enhance", knight_first), score("chen:basic", knight_first));
    // Where flips are searched below moves, the program sees that the king falls too.
    let flips = choose("chen:enhance,below=flips", &game, &Limits::depth(3));
    assert_eq!(flips.mv.to_string(), knight_first);
    assert!(flips.score > basic.score);
}

/// Fig. 4, from the text: "Our algorithm reveals c5 because the probability of the piece at c5 can capture the cannon at c4
/// is high", where a guard at c3 would threaten all three black pieces.
///
/// ```text
/// 8 X X X X
/// 5 . . X .
/// 4 . . c .
/// 3 . m X m
/// ```
const FIG_4: &str = "xxxx/4/4/2x1/2c1/1mxm/4/4 r GRRNPn";

#[test]
fn enhance_reveals_c5_in_figure_4() {
    for below in ["moves", "flips"] {
        let choice = analyse(&format!("chen:enhance,below={below}"), &game(FIG_4), &Limits::depth(4));
        assert_eq!(choice.mv.to_string(), "c5", "below={below}");
        let score = |mv: &str| choice.candidates.iter().find(|candidate| candidate.mv.to_string() == mv).unwrap().score;
        assert!(score("c5") > score("c3"), "below={below}");
    }
}

/// After Fig. 4: the cannon on a1 cannot move. Two of the three pieces face down would take it from a2.
const CORNER: &str = "3x/3x/4/4/4/4/x3/cP2 r GMn";

#[test]
fn enhance_flips_next_to_a_likely_capture() {
    // Black has no moving action: the printed first search is worth the evaluation, as if Black could pass.
    assert_ne!(choose("chen:enhance", &game(CORNER), &Limits::depth(3)).mv.to_string(), "a2");
    let choice = choose("chen:enhance,below=flips", &game(CORNER), &Limits::depth(3));
    assert_eq!(choice.mv.to_string(), "a2");
    let analysed = analyse("chen:enhance,below=flips", &game(CORNER), &Limits::depth(3));
    let flip = analysed.candidates.iter().find(|candidate| candidate.mv.to_string() == "a2").unwrap();
    let outcomes: Vec<_> = flip.outcomes.iter().map(|o| (o.piece.char(), o.count)).collect();
    assert_eq!(outcomes.len(), 3);
    assert!(outcomes.iter().all(|&(_, count)| count == 1));
    assert!(flip.spread() > 0.0);
}

#[test]
fn risk_makes_a_player_prefer_what_is_certain() {
    let neutral = choose("chen:enhance,below=flips", &game(CORNER), &Limits::depth(3));
    let careful = choose("chen:enhance,below=flips,risk=10", &game(CORNER), &Limits::depth(3));
    assert_eq!(neutral.mv.to_string(), "a2");
    assert_ne!(careful.mv.to_string(), "a2");
}

/// Section 3.1.1: the policies of a program that does not search flips.
#[test]
fn flipping_policies() {
    // Nothing to gain by moving: the pawn can only walk.
    let quiet = game("3x/4/4/4/4/4/4/P2x r pp");
    let flips = |policy: &str, game: &Game| {
        matches!(choose(&format!("chen:basic,policy={policy}"), game, &Limits::depth(2)).mv, anqi_rules::Move::Flip(_))
    };
    assert!(!flips("move-first", &quiet));
    assert!(flips("comparing", &quiet));
    assert!(!flips("take-advantage-or-flip", &quiet)); // passing is as good as moving, not better
    // A rook to be taken: moving wins material, whatever the policy.
    let capture = game("3x/4/4/4/4/4/r3/G2x r pp");
    for policy in ["move-first", "take-advantage-or-flip"] {
        assert!(!flips(policy, &capture), "{policy}");
    }
    // No move at all.
    let stuck = game("4/4/4/4/4/4/x3/Kx2 r pp");
    for policy in ["move-first", "comparing", "take-advantage-or-flip"] {
        assert!(flips(policy, &stuck), "{policy}");
    }
}

/// Section 2.3: which piece should a player flip? The black king on b2 has two face-down neighbours; from d8 a cannon would take
/// the king's minister on d2 over the carriage on d5.
///
/// ```text
/// 8 x . . x
/// 5 . . . N
/// 2 x k . m
/// 1 . x . .
/// ```
const WHERE: &str = "x2x/4/4/3N/4/4/xk1m/1x2 r PCgn";

#[test]
fn heuristics_say_where_to_flip() {
    let squares = |spec: &str| {
        let choice = analyse(&format!("chen:enhance,condition=off,{spec}"), &game(WHERE), &Limits::depth(1));
        let flips = choice.candidates.iter().filter(|candidate| !candidate.outcomes.is_empty());
        let mut squares: Vec<String> = flips.map(|candidate| candidate.mv.to_string()).collect();
        squares.sort();
        squares.join(" ")
    };
    assert_eq!(squares("place=anywhere"), "a2 a8 b1 d8");
    assert_eq!(squares("place=king"), "a2 b1");
    assert_eq!(squares("place=carriage"), "a2 d8");
    assert_eq!(squares("place=both"), "a2 b1 d8");
    // A policy draws from the same squares. Nothing of Red can move.
    let stuck = game("x2x/4/4/4/4/4/xk1m/1x2 r PCgn");
    let drawn = |place: &str| {
        let draw = |seed: u64| {
            let spec: PlayerSpec = format!("chen:basic,place={place}").parse().unwrap();
            let mut player = spec.build(Seed::from(seed), &Resources::default()).unwrap();
            player.choose(&stuck, &Limits::depth(1), &Stop::default()).unwrap().mv.to_string()
        };
        (0..40).map(draw).collect::<BTreeSet<String>>().into_iter().collect::<Vec<_>>().join(" ")
    };
    assert_eq!(drawn("anywhere"), "a2 a8 b1 d8");
    assert_eq!(drawn("king"), "a2 b1");
    // No pawn of ours is face down: the heuristic names nothing.
    assert_eq!(squares_of_king("x2x/4/4/3N/4/4/xk1m/1x2 r CCgn"), "a2 a8 b1 d8");
}

fn squares_of_king(position: &str) -> String {
    let choice = analyse("chen:enhance,condition=off,place=king", &game(position), &Limits::depth(1));
    let flips = choice.candidates.iter().filter(|candidate| !candidate.outcomes.is_empty());
    flips
        .map(|candidate| candidate.mv.to_string())
        .collect::<BTreeSet<String>>()
        .into_iter()
        .collect::<Vec<_>>()
        .join(" ")
}

/// Risk as a probability: a guard or a rook on a2 takes the cannon, but a black guard there takes the minister.
///
/// ```text
/// 8 . . . X
/// 7 . . . X
/// 2 X M . .
/// 1 c P . .
/// ```
#[test]
fn a_flip_that_is_often_worse_is_not_chosen() {
    let game = game("3x/3x/4/4/4/4/xM2/cP2 r GRg");
    let chosen =
        |worse: &str| choose(&format!("chen:enhance,below=flips{worse}"), &game, &Limits::depth(3)).mv.to_string();
    let analysed = analyse("chen:enhance,below=flips", &game, &Limits::depth(3));
    let flip = analysed.candidates.iter().find(|candidate| candidate.mv.to_string() == "a2").unwrap();
    let step =
        analysed.candidates.iter().filter(|candidate| candidate.outcomes.is_empty()).max_by_key(|c| c.score).unwrap();
    assert!(flip.score > step.score);
    assert_eq!(flip.chance_below(step.score), 1.0 / 3.0);
    assert_eq!(chosen(""), "a2");
    assert_eq!(chosen(",worse=0.34"), "a2");
    assert_ne!(chosen(",worse=0.33"), "a2");
}

/// Section 3.2: captures beyond the horizon. The rook takes a knight that a guard protects.
#[test]
fn quiescence_sees_the_recapture() {
    let game = game("4/4/4/4/3P/1g2/1n2/1R2 r -");
    let score = |spec: &str| choose(spec, &game, &Limits::depth(1));
    assert_eq!(score("chen:enhance").mv.to_string(), "b1-b2");
    assert_ne!(score("chen:enhance,quiescence=on").mv.to_string(), "b1-b2");
}

/// Section 2.4: "A program that plays repeated moves in disadvantageous positions is reasonable. Playing repeated moves in
/// an advantageous position misses the chance of winning a game."
#[test]
fn the_better_side_sees_a_repetition_as_a_draw() {
    let score = |rules: &str| {
        let position = "4/4/4/4/4/4/4/G2n r -".parse().unwrap();
        let mut game = Game::from_position(rules.parse().unwrap(), position).unwrap();
        for ply in ["a1-a2", "d1-d2", "a2-a1", "d2-d1"] {
            game.play(ply.parse().unwrap()).unwrap();
        }
        let choice = analyse("chen:basic", &game, &Limits::depth(2));
        choice.candidates.iter().find(|candidate| candidate.mv.to_string() == "a1-a2").unwrap().score
    };
    assert_eq!(score("chen"), Score::DRAW);
    assert!(score("chen,repeat=off") > Score::DRAW);
}
