//! The champion: right where the truth is known, the same every time, on any number of threads.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::LazyLock;

use anqi_engine::{Choice, Limits, PlayerSpec, Resources, Stop};
use anqi_rules::{Deal, Game, Rules, Seed};
use rand_core::Rng;

/// What was solved once serves all.
static RESOURCES: LazyLock<Resources> = LazyLock::new(Resources::default);

fn choose(spec: &str, game: &Game, limits: &Limits) -> Choice {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(Seed::from(1), &RESOURCES).unwrap().choose(game, limits, &Stop::default()).unwrap()
}

fn analyse(spec: &str, game: &Game, limits: &Limits) -> Choice {
    let spec: PlayerSpec = spec.parse().unwrap();
    spec.build(Seed::from(1), &RESOURCES).unwrap().analyse(game, limits, &Stop::default()).unwrap()
}

fn game(rules: Rules, position: &str) -> Game {
    Game::from_position(rules, position.parse().unwrap()).unwrap()
}

/// Fig. 7 of Chen, Shen & Hsu: Black wins in 13 plies. Without tables it has to be found.
#[test]
fn finds_a_long_win() {
    let game = game(Rules::chen(), "1m2/4/1g2/g3/4/4/1c2/2P1 b -");
    for spec in ["champion,tables=off", "champion,tables=off,threads=2"] {
        let choice = choose(spec, &game, &Limits::nodes(3_000_000));
        assert_eq!(choice.score.to_string(), "win", "{spec}");
    }
}

/// Answering outcomes with one move first (Star2) saves nodes and changes nothing: without reductions, which depend on the order
/// in which moves come, all searches of one depth agree.
#[test]
fn probing_outcomes_changes_no_value() {
    let (mut nodes, mut positions) = ([0, 0], 0);
    for number in 0..6 {
        let seed = Seed::from(number).child("star2");
        let deal = Deal::new(&Rules::server(), &seed);
        let mut rng = seed.child("moves").rng();
        let mut game = Game::new(Rules::server());
        for ply in 0..60 {
            if game.outcome().is_some() {
                break;
            }
            if ply % 8 == 5 {
                let [star1, star2] = ["champion,lmr=255,probe=200", "champion,lmr=255"]
                    .map(|spec| choose(spec, &game, &Limits::depth(5)));
                assert_eq!((star1.mv, star1.score), (star2.mv, star2.score), "{}", game.position());
                nodes[0] += star1.stats.nodes;
                nodes[1] += star2.stats.nodes;
                positions += 1;
            }
            let moves = game.legal_moves();
            let drawn = moves[rng.next_u32() as usize % moves.len()];
            game.play(deal.resolve(drawn).unwrap()).unwrap();
        }
    }
    assert!(positions > 30 && nodes[1] < nodes[0], "{nodes:?} nodes in {positions} positions");
}

/// Black is behind and may take a pawn or make the last quiet ply. Who takes the other side to be weaker plays on; a judge takes the
/// draw, and to both it is one.
#[test]
fn an_edge_plays_on_where_a_draw_is_near() {
    let game = game(Rules::server(), "p2r/P3/4/1n2/4/2G1/3R/K2M b - 59");
    let limits = Limits::depth(2);
    let captures = |choice: &Choice| choice.mv.to_string() == "a8-a7";
    for (spec, plays_on) in [("champion,tables=off,edge=0", false), ("champion,tables=off,edge=990", true)] {
        let choice = choose(spec, &game, &limits);
        assert_eq!(captures(&choice), plays_on, "{spec}: {} {}", choice.mv, choice.score);
        assert_eq!(choice.score.0 == 0, !plays_on, "{spec}: {}", choice.score);
        let judge = spec.parse::<PlayerSpec>().unwrap().impartial();
        let choice = judge.build(Seed::from(1), &RESOURCES).unwrap().choose(&game, &limits, &Stop::default()).unwrap();
        assert!(!captures(&choice) && choice.score.0 == 0, "{spec}: {}", choice.score);
    }
    // Where nothing else is left a draw is a draw.
    let dead = self::game(Rules::server(), "p3/4/4/4/4/4/4/3P b - 59");
    assert_eq!(choose("champion,tables=off,edge=990", &dead, &limits).score.0, 0);
}

/// Values of the solved boards, in the champion's units of 2^-20.
#[test]
fn small_boards_are_played_exactly() {
    for (army, square, value) in [("PPP", "a1", -0.2), ("PPP", "b1", 0.6), ("KPP", "b1", 1.0 / 3.0)] {
        let rules: Rules = format!("chen,board=3x2,army={army},draw=off,repeat=off").parse().unwrap();
        let choice = analyse("champion", &Game::new(rules), &Limits::depth(14));
        let flip = choice.candidates.iter().find(|candidate| candidate.mv.to_string() == square).unwrap();
        let found = f64::from(flip.score.0) / f64::from(1 << 20);
        assert!((found - value).abs() < 0.02, "{army} {square}: {found} instead of {value}");
    }
}

#[test]
fn every_move_is_scored_when_asked() {
    let game = game(Rules::server(), "3x/3x/4/4/4/4/x3/cP2 r GMn");
    let choice = analyse("champion", &game, &Limits::nodes(20_000));
    assert_eq!(choice.candidates.len(), game.legal_moves().len());
    assert!(choice.candidates.windows(2).skip(1).all(|pair| pair[0].score >= pair[1].score));
    for flip in choice.candidates.iter().filter(|candidate| !candidate.outcomes.is_empty()) {
        assert_eq!(flip.outcomes.iter().map(|outcome| u32::from(outcome.count)).sum::<u32>(), 3, "{}", flip.mv);
    }
}

/// What a champion keeps from move to move saves time and changes nothing, even if it plays both sides, each with an edge of
/// its own.
#[test]
fn a_choice_depends_on_the_game_alone() {
    let (rules, seed, limits) = (Rules::server(), Seed::from(5), Limits::nodes(3000));
    let (deal, mut game) = (Deal::new(&rules, &seed), Game::new(rules));
    let mut old = "champion".parse::<PlayerSpec>().unwrap().build(seed, &RESOURCES).unwrap();
    while game.outcome().is_none() && game.plies().len() < 80 {
        let [old, fresh] = [old.choose(&game, &limits, &Stop::default()).unwrap(), choose("champion", &game, &limits)];
        let found = |choice: &Choice| (choice.mv, choice.score, choice.stats.nodes, choice.stats.depth);
        assert_eq!(found(&old), found(&fresh), "{}", game.position());
        game.play(deal.resolve(old.mv).unwrap()).unwrap();
    }
    assert!(game.plies().len() > 40);
}

/// What was found in the other side's time is not forgotten: after pondering over a lost position a few nodes are enough.
#[test]
fn pondering_helps_the_next_choice() {
    let mut game = game(Rules::chen(), "1m2/4/1g2/g3/4/4/1c2/2P1 b -");
    let spec: PlayerSpec = "champion,tables=off".parse().unwrap();
    let mut player = spec.build(Seed::from(1), &RESOURCES).unwrap();
    let ply = |choice: Choice| choice.mv.to_string().parse().unwrap();
    let stop = Stop::default();
    game.play(ply(player.choose(&game, &Limits::nodes(3_000_000), &stop).unwrap())).unwrap();
    player.ponder(&game, &stop); // comes to an end when it is proved
    game.play(ply(choose("negascout", &game, &Limits::nodes(10_000)))).unwrap();
    let few = Limits::nodes(2_000);
    assert_eq!(player.choose(&game, &few, &stop).unwrap().score.to_string(), "win");
    assert_ne!(player.choose(&game, &few, &stop).unwrap().score.to_string(), "win", "pondered once, used once");
}
