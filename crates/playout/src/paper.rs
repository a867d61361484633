//! The reading of Jouandeau & Cazenave: see [`Reading::Paper`](crate::Reading::Paper). One game at a time.

use crate::bits::Nth;
use crate::narrow::Names;
use crate::scalar::{PlayoutGame, PlyReading, jump_named, square_named};
use crate::seed::Generator;
use crate::word::{Word, transposed};

/// Draws a unit, then one of its actions; a capture leaves the count of quiet plies as it is.
pub(crate) struct ByUnit;

impl PlyReading for ByUnit {
    #[inline(always)]
    fn play<N: Nth>(game: &mut PlayoutGame, names: &Names<u64>, rng: &mut Generator) {
        let units = units(game, names);
        let unit = square_named(N::nth(units, rng.below(units.count_ones())));
        let names = of_unit(game, names, unit);
        let action = game.action::<N>(&names, rng.below(names.count()));
        let (quiet, captures) = (game.quiet, action.ends & game.board.foe != 0);
        game.apply(action);
        if captures {
            game.quiet = quiet;
        }
    }
}

/// The squares that something with one of these names is on: pieces that move, and squares to turn face up.
#[inline(always)]
fn units(game: &PlayoutGame, names: &Names<u64>) -> u32 {
    let board = &game.board;
    let lower = board.own | board.dark.in_files();
    // A step is named by its lower end: where that is not the mover's, the upper one is.
    let mut units = names.steps & lower | (names.steps & !lower) << 1;
    // Jumps are rare, and there are few at a time.
    let mut jumps = names.jumps;
    while jumps != 0 {
        units |= jump_named(jumps.trailing_zeros(), board.own | board.foe).ends & board.own;
        jumps &= jumps - 1;
    }
    units as u32 | transposed((units >> 32) as u32)
}

/// The names that stand for actions of a unit, which is given in both views.
#[inline(always)]
fn of_unit(game: &PlayoutGame, names: &Names<u64>, unit: u64) -> Names<u64> {
    let board = &game.board;
    let lower = board.own | board.dark.in_files();
    let jump_to = if names.jumps == 0 { 0 } else { unit.jump(board.own | board.foe) };
    // Steps up and flips, then steps down; a jump is named by its upper end.
    Names {
        steps: names.steps & (unit & lower | unit >> 1 & !lower),
        jumps: names.jumps & (unit & board.own | jump_to & board.foe),
    }
}

#[cfg(test)]
mod tests {
    use anqi_rules::{Position, Rules};

    use super::*;
    use crate::bits::{Halvings, nth_of_64};
    use crate::narrow::{
        Avoid, AvoidCapture, Capture, CaptureAvoid, Captures, Choose, ElseTrap, Escapes, Random, Then, Trap,
    };
    use crate::run::PlyLimits;
    use crate::scalar::{Action, play, play_anywhere};
    use crate::start::PlayoutStart;
    use crate::summary::Playout;
    use crate::word::both;

    /// The same word for word: lists all actions, draws one of their units, then one of the actions of this unit.
    fn listed(game: &PlayoutGame, names: &Names<u64>, rng: &mut Generator) -> Action {
        let mut actions: Vec<Action> = (0..names.count()).map(|n| game.action::<Halvings>(names, n)).collect();
        let unit = |action: &Action| (action.flipped | action.ends & game.board.own).in_files();
        let units = actions.iter().fold(0, |units, action| units | unit(action));
        let chosen = 1 << nth_of_64(units, rng.below(units.count_ones()));
        actions.retain(|action| unit(action) == chosen);
        actions[rng.below(actions.len() as u32) as usize]
    }

    fn slow<C: Choose, const JUMPS: bool>(start: &PlayoutStart, limits: PlyLimits, mut rng: Generator) -> Playout {
        let mut game = PlayoutGame::deal(start, &mut rng);
        loop {
            let names = C::choose::<JUMPS>(&game.board, both(start.arena.squares));
            let total = names.count();
            if game.is_over(total, limits) {
                return game.result(total, limits);
            }
            let action = listed(&game, &names, &mut rng);
            let (quiet, captures) = (game.quiet, action.ends & game.board.foe != 0);
            game.apply(action);
            if captures {
                game.quiet = quiet;
            }
        }
    }

    fn check<C: Choose, const JUMPS: bool>(position: &Position, games: u64) {
        let start = PlayoutStart::from(position);
        for index in 0..games {
            for (draw, cut) in [(40, u32::MAX), (7, 30)] {
                let (limits, rng) = (PlyLimits { draw, cut }, || Generator::new(4, index));
                let expected = slow::<C, JUMPS>(&start, limits, rng());
                assert_eq!(play_anywhere::<C, ByUnit, JUMPS>(&start, limits, rng()), expected, "{position} {index}");
                assert_eq!(play::<C, ByUnit, JUMPS>(&start, limits, rng()), expected, "{position} {index}");
            }
        }
    }

    fn check_all<const JUMPS: bool>(rules: &str, games: u64) {
        let position = Position::initial(&rules.parse::<Rules>().unwrap());
        check::<Random, JUMPS>(&position, games);
        check::<Capture, JUMPS>(&position, games);
        check::<Avoid, JUMPS>(&position, games);
        check::<CaptureAvoid, JUMPS>(&position, games);
        check::<AvoidCapture, JUMPS>(&position, games);
        check::<Trap, JUMPS>(&position, games / 20);
        check::<ElseTrap<Captures>, JUMPS>(&position, games / 20);
        check::<ElseTrap<Then<Captures, Escapes>>, JUMPS>(&position, games / 20);
    }

    /// Game by game, with armies of cannons, whose jumps have names of their own.
    #[test]
    fn sets_draw_as_lists_do() {
        check_all::<true>("chen", 300);
        check_all::<true>("chen,army=CCCCCCCCPPGNMRKK", 200);
        check_all::<true>("chen,army=CCCCCCCCCCCCCCCC", 100);
        check_all::<false>("chen,ladder=hongkong", 100);
        for board in ["2x2", "3x2", "2x4", "3x4", "4x4"] {
            check_all::<true>(&format!("chen,board={board}"), 100);
        }
    }
}
