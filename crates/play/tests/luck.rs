//! Luck has expectation exactly zero, flip by flip and over whole games.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_play::luck;
use anqi_rules::{Deal, Game, Move, Ply, Rules, Seed};
use proptest::prelude::*;

/// A random game as far as `plies` plies.
fn game(rules: &str, seed: u64, plies: usize) -> Game {
    let rules: Rules = rules.parse().unwrap();
    let seed = Seed::from(seed);
    let deal = Deal::new(&rules, &seed);
    let mut player =
        "random".parse::<PlayerSpec>().unwrap().build(seed.child("player"), &Resources::default()).unwrap();
    let mut game = Game::new(rules);
    while game.outcome().is_none() && game.plies().len() < plies {
        let choice = player.choose(&game, &Limits::default(), &Stop::default()).unwrap();
        game.play(deal.resolve(choice.mv).unwrap()).unwrap();
    }
    game
}

proptest! {
    /// The luck of everything that may come up, weighted by how often it is there, is nothing.
    #[test]
    fn every_flip_is_fair(seed: u64, plies in 0_usize..120, board in prop::sample::select(vec!["4x8", "4x4", "2x4"])) {
        let game = game(&format!("server,board={board}"), seed, plies);
        let position = game.position();
        for mv in game.legal_moves() {
            let Move::Flip(square) = mv else { continue };
            let lucks = position.reveals().map(|(piece, count)| {
                let luck = luck::of_flip(position, Ply::Flip(square, piece)).unwrap();
                prop_assert!(luck.abs() <= 1.0);
                Ok(f64::from(count) * luck)
            });
            let sum: f64 = lucks.collect::<Result<Vec<_>, _>>()?.iter().sum();
            prop_assert!(sum.abs() < 1e-12, "{position} {mv}: {sum}");
        }
    }

    #[test]
    fn values_are_scores_of_either_side(seed: u64, plies in 1_usize..200) {
        let game = game("server", seed, plies);
        let value = luck::value(game.position());
        prop_assert!((0.0..=1.0).contains(&value));
        // Whoever is to move can stop, so both sides together have at least everything.
        prop_assert!(value + luck::value(&game.position().after_pass()) > 1.0 - 1e-12);
    }
}

/// Over many games between random players the first player's luck is zero within its error, and it goes along with the
/// result.
#[test]
fn games_are_fair() {
    let games = 3000;
    let (mut sum, mut squares, mut with_result) = (0.0, 0.0, 0.0);
    for seed in 0..games {
        let game = game("chen,board=4x4", seed, usize::MAX);
        let lucks: Vec<_> = luck::by_ply(&game).collect();
        let luck = luck::of_first(&lucks);
        sum += luck;
        squares += luck * luck;
        with_result += luck
            * match game.outcome().unwrap().score() {
                "1-0" => 0.5,
                "0-1" => -0.5,
                _ => 0.0,
            };
    }
    let n = games as f64;
    let error = (squares / n).sqrt() / n.sqrt();
    assert!((sum / n).abs() < 3.5 * error, "mean luck {} with error {error}", sum / n);
    assert!(with_result / n > 3.5 * error * 0.5, "luck and result: {}", with_result / n);
}
