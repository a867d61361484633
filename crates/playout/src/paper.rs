//! The reading of Jouandeau & Cazenave, one game at a time and not in a hurry.

use rand_core::Rng;

use crate::bits::nth;
use crate::policy::Narrow;
use crate::scalar::{Action, Game, below};
use crate::start::Start;
use crate::summary::Playout;

/// Plays one game to its end: see [`Reading::Paper`](crate::Reading::Paper).
pub(crate) fn play<P: Narrow, const JUMPS: bool>(start: &Start, limit: u32, mut rng: impl Rng) -> Playout {
    let mut game = Game::deal(start, &mut rng);
    loop {
        let names = P::narrow(&game.board.actions::<JUMPS>(start.squares));
        let total = names.iter().map(|names| names.count_ones()).sum();
        if let Some(playout) = game.ended(total, limit) {
            return playout;
        }
        let action = choose(&game, names, &mut rng);
        let (quiet, captures) = (game.quiet, action.ends & game.board.foe != 0);
        game.apply(action);
        if captures {
            game.quiet = quiet;
        }
    }
}

/// Draws a unit, then one of its actions. There must be one.
fn choose(game: &Game, names: [u32; 4], rng: &mut impl Rng) -> Action {
    let mut actions = [Action { flipped: 0, ends: 0 }; MOST_ACTIONS];
    let mut count = 0;
    for (i, names) in names.into_iter().enumerate() {
        for n in 0..names.count_ones() {
            actions[count] = game.action(i >= 2, i % 2 == 1, nth(names, n));
            count += 1;
        }
    }
    let actions = &mut actions[..count];
    let unit = |action: &Action| action.flipped | action.ends & game.board.own;
    let units = actions.iter().fold(0, |units, action| units | unit(action));
    let chosen = nth(units, below(rng, units.count_ones()));
    actions.sort_by_key(|action| unit(action) != chosen);
    let its_own = actions.partition_point(|action| unit(action) == chosen);
    actions[below(rng, its_own as u32) as usize]
}

/// Four directions of at most 32 names.
const MOST_ACTIONS: usize = 128;
