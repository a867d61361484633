//! A player that has played on chooses as one built for the move.

use anqi_engine::{Choice, PlayerSpec, Resources, SearchStats, Stop};
use anqi_play::{Bot, LEVELS};
use anqi_rules::{Deal, Game, Rules, Seed};

/// Without the time that it took.
fn timeless(choice: Option<Choice>) -> Option<Choice> {
    choice.map(|choice| Choice { stats: SearchStats { time: Default::default(), ..choice.stats }, ..choice })
}

#[test]
fn a_player_that_lives_as_long_as_its_game_chooses_as_a_fresh_one() {
    let resources = Resources::default();
    let presets = PlayerSpec::presets().iter().map(|preset| format!("{} nodes=300", preset.name));
    let levels = LEVELS.iter().map(|level| level.player.replace("nodes=200000", "nodes=3000"));
    for (number, text) in presets.chain(levels).enumerate() {
        let bot: Bot = text.parse().unwrap();
        let mut thinker = bot.thinker(&resources).unwrap();
        let rules: Rules = if number % 2 == 0 { "server,board=4x4" } else { "server" }.parse().unwrap();
        let (deal, mut game) = (Deal::new(&rules, &Seed::from(3)), Game::new(rules));
        while game.outcome().is_none() && game.plies().len() < 50 {
            let seed = Seed::from(game.plies().len() as u64);
            let chosen = timeless(thinker.choose(&game, None, seed.clone(), &Stop::default()));
            let fresh = bot.player.build(seed, &resources).unwrap().choose(&game, &bot.budget.limits, &Stop::default());
            assert_eq!(chosen, timeless(fresh), "{text} after {} plies", game.plies().len());
            game.play(deal.resolve(chosen.unwrap().mv).unwrap()).unwrap();
        }
    }
}
