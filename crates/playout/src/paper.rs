//! The reading of Jouandeau & Cazenave, one game at a time and not in a hurry.

use crate::bits::{Halvings, nth_of_64};
use crate::narrow::{Choose, Names};
use crate::run::PlyLimits;
use crate::scalar::{Action, PlayoutGame};
use crate::seed::Generator;
use crate::start::PlayoutStart;
use crate::summary::Playout;
use crate::word::{Word, both};

/// Plays one game to its end: see [`Reading::Paper`](crate::Reading::Paper).
pub(crate) fn play<C: Choose, const JUMPS: bool>(
    start: &PlayoutStart,
    limits: PlyLimits,
    mut rng: Generator,
) -> Playout {
    let mut game = PlayoutGame::deal(start, &mut rng);
    loop {
        let names = C::choose::<JUMPS>(&game.board, both(start.arena.squares));
        let total = names.count();
        if game.is_over(total, limits) {
            return game.result(total, limits);
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
fn choose(game: &PlayoutGame, names: &Names<u64>, rng: &mut Generator) -> Action {
    let mut actions: Vec<Action> = (0..names.count()).map(|n| game.action::<Halvings>(names, n)).collect();
    let unit = |action: &Action| (action.flipped | action.ends & game.board.own).in_files();
    let units = actions.iter().fold(0, |units, action| units | unit(action));
    let chosen = 1 << nth_of_64(units, rng.below(units.count_ones()));
    actions.retain(|action| unit(action) == chosen);
    actions[rng.below(actions.len() as u32) as usize]
}
