//! Every limit is obeyed, and every answer is legal.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_rules::{Deal, Game, Rules, Seed};

/// What was solved once serves all.
static RESOURCES: LazyLock<Resources> = LazyLock::new(Resources::default);

fn players() -> Vec<PlayerSpec> {
    PlayerSpec::presets().iter().map(|preset| preset.name.parse().unwrap()).collect()
}

/// The course program completes its decision by default; see `tests/course.rs`.
fn within_budget(spec: PlayerSpec) -> PlayerSpec {
    if spec.to_string().starts_with("negascout") { "negascout,decision=shared".parse().unwrap() } else { spec }
}

/// A game of a player against itself, up to `plies`.
fn play(spec: &PlayerSpec, limits: &Limits, seed: u64, plies: usize) -> Game {
    let seed = Seed::from(seed);
    let rules = Rules::server();
    let deal = Deal::new(&rules, &seed);
    let mut player = spec.build(seed.child("player"), &RESOURCES).unwrap();
    let mut game = Game::new(rules);
    while game.outcome().is_none() && game.plies().len() < plies {
        let choice = player.choose(&game, limits, &Stop::default()).unwrap();
        assert!(game.legal_moves().contains(&choice.mv), "{spec}: {}", choice.mv);
        assert_eq!(choice.pv[0], choice.mv);
        game.play(deal.resolve(choice.mv).unwrap()).unwrap();
    }
    game
}

#[test]
fn whole_games_are_legal_and_the_same_every_time() {
    for spec in players().into_iter().map(within_budget) {
        let limits = Limits::nodes(2_000);
        let games: Vec<Game> = (0..3).map(|seed| play(&spec, &limits, seed, 400)).collect();
        for (seed, game) in (0..).zip(&games) {
            assert_eq!(play(&spec, &limits, seed, 400).plies(), game.plies(), "{spec}");
        }
    }
}

#[test]
fn any_limit_however_small_gives_a_move() {
    for spec in players() {
        for limits in
            [Limits::nodes(0), Limits::nodes(1), Limits::depth(0), Limits::depth(1), Limits::time(Duration::ZERO)]
        {
            play(&spec, &limits, 5, 40);
        }
    }
}

#[test]
fn a_node_budget_is_not_exceeded() {
    for spec in players().into_iter().map(within_budget) {
        let game = play(&spec, &Limits::nodes(100), 3, 20);
        let choice =
            spec.build(Seed::from(1), &RESOURCES).unwrap().choose(&game, &Limits::nodes(10_000), &Stop::default());
        assert!(choice.is_none_or(|choice| choice.stats.nodes <= 10_100), "{spec}");
    }
}

/// Not a measurement: the flag must be seen at all, long before the search would end by itself.
#[test]
fn a_raised_flag_ends_the_search() {
    for spec in players().into_iter().filter(|spec| spec.to_string() != "random") {
        let game = play(&spec, &Limits::nodes(100), 3, 30);
        let stop = Stop::default();
        let raised = std::thread::scope(|scope| {
            let flag = stop.clone();
            let waiter = scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(50));
                flag.raise();
                Instant::now()
            });
            spec.build(Seed::from(1), &RESOURCES).unwrap().choose(&game, &Limits::default(), &stop).unwrap();
            let ended = Instant::now();
            ended.saturating_duration_since(waiter.join().unwrap())
        });
        assert!(raised < Duration::from_secs(2), "{spec} went on for {raised:?}");
    }
}
