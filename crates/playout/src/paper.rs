//! The reading of Jouandeau & Cazenave, one game at a time and not in a hurry.

use rand_core::Rng;

use crate::bits::nth_of_64;
use crate::policy::{Names, Narrow};
use crate::scalar::{Action, Game, below};
use crate::start::Start;
use crate::summary::Playout;
use crate::word::{Word, both};

/// Plays one game to its end: see [`Reading::Paper`](crate::Reading::Paper).
pub(crate) fn play<P: Narrow, const JUMPS: bool>(start: &Start, limit: u32, mut rng: impl Rng) -> Playout {
    let mut game = Game::deal(start, &mut rng);
    loop {
        let names = P::narrow(&game.board.actions::<JUMPS>(both(start.squares)));
        if let Some(playout) = game.ended(names.count(), limit) {
            return playout;
        }
        let action = choose(&game, &names, &mut rng);
        let (quiet, captures) = (game.quiet, action.ends & game.board.foe != 0);
        game.apply(action);
        if captures {
            game.quiet = quiet;
        }
    }
}

/// Draws a unit, then one of its actions. There must be one.
fn choose(game: &Game, names: &Names<u64>, rng: &mut impl Rng) -> Action {
    let mut actions: Vec<Action> = (0..names.count()).map(|n| game.action(names, n)).collect();
    let unit = |action: &Action| (action.flipped | action.ends & game.board.own).in_files();
    let units = actions.iter().fold(0, |units, action| units | unit(action));
    let chosen = 1 << nth_of_64(units, below(rng, units.count_ones()));
    actions.retain(|action| unit(action) == chosen);
    actions[below(rng, actions.len() as u32) as usize]
}
