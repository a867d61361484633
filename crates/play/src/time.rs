//! The time manager: how long to think about a move, so that a game is never lost on time.
//!
//! Every move gets a share of what is left beyond a reserve, and no share is more than an eighth of it. So
//! whatever the game's length, what was given out stays below the clock: (1 − 1/8)ⁿ of the stock is always left. The
//! reserve pays for what nobody plans: a search that looks at the clock a little late, a slow pipe, a busy
//! machine. Once it is all that is left, moves are played at once.

use std::time::Duration;

use anqi_engine::Limits;
use anqi_rules::Game;

use crate::clock::Clock;

/// What one player's clock shows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Stock {
    /// What is left.
    pub left: Duration,
    /// What every move adds.
    pub increment: Duration,
    /// Own moves until more time comes.
    pub moves_to_go: Option<u32>,
}

impl Stock {
    /// The clock of the side to move.
    #[must_use]
    pub fn of(clock: &Clock, left: Duration, game: &Game) -> Stock {
        let made = (game.plies().len() / 2) as u32;
        let moves_to_go = clock.moves.filter(|&moves| moves > 0).map(|moves| moves - made % moves);
        Stock { left, increment: clock.increment, moves_to_go }
    }

    /// The limits of the next move of `game`: those given, and its share of the clock.
    #[must_use]
    pub fn bound(&self, limits: &Limits, game: &Game) -> Limits {
        let share = share(self, game);
        Limits { time: Some(limits.time.map_or(share, |time| time.min(share))), ..*limits }
    }
}

/// What an answer costs beyond the search, taken off every share.
const LAG: Duration = Duration::from_millis(10);
/// Kept back, but never more than a tenth of what is left.
const RESERVE: Duration = Duration::from_secs(3);
/// No move gets more than this part of what is left beyond the reserve.
const LARGEST_SHARE: u32 = 8;

/// How long to think about the next move of `game`.
fn share(stock: &Stock, game: &Game) -> Duration {
    if game.legal_moves().len() <= 1 {
        return Duration::ZERO;
    }
    part(stock, moves_ahead(game))
}

/// How many more moves a player may expect to make. Games of the match server last 139 plies; the fewer pieces are
/// left, the sooner it is over, but endings are long.
fn moves_ahead(game: &Game) -> u32 {
    let position = game.position();
    20 + (position.occupied().len())
}

fn part(stock: &Stock, moves_ahead: u32) -> Duration {
    // Below a quarter of a second there is no time to think at all.
    let reserve = RESERVE.min(stock.left / 10).max(Duration::from_millis(250));
    let usable = stock.left.saturating_sub(reserve);
    let moves = stock.moves_to_go.map_or(moves_ahead, |moves| moves.min(moves_ahead)).max(1);
    // The increment comes after the move: it can be spent only as far as the stock can lend it.
    let wanted = usable / moves + stock.increment * 3 / 4;
    wanted.min(usable / LARGEST_SHARE).saturating_sub(LAG)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// Every search ends up to 9 ms late, every answer costs up to 1 ms more: still the flag never falls,
        /// however long the game is and whatever the manager believes about its length.
        #[test]
        fn the_flag_never_falls(
            base in 10_000_u64..=1_800_000,
            increment in prop_oneof![Just(0), 0_u64..5_000],
            ahead in prop::collection::vec(1_u32..=60, 1..50),
            late in prop::collection::vec(0_u64..=9_000, 1..50),
            moves in 1_usize..2_000,
        ) {
            let mut left = Duration::from_millis(base);
            for number in 0..moves {
                let stock = Stock { left, increment: Duration::from_millis(increment), moves_to_go: None };
                let think = part(&stock, ahead[number % ahead.len()]);
                // Moves that are played at once take no search that could end late.
                let late = if think.is_zero() { 0 } else { late[number % late.len()] };
                let used = think + Duration::from_micros(late) + Duration::from_micros(100);
                prop_assert!(used < left, "move {number}: {used:?} of {left:?}");
                left = left - used + Duration::from_millis(increment);
            }
        }

        /// What is handed out is less than the clock.
        #[test]
        fn shares_add_up_to_less_than_the_clock(base in 0_u64..=1_800_000, ahead in 1_u32..100, moves in 1_u32..3_000) {
            let mut left = Duration::from_millis(base);
            let mut total = Duration::ZERO;
            for _ in 0..moves {
                let think = part(&Stock { left, increment: Duration::ZERO, moves_to_go: None }, ahead);
                total += think;
                left -= think;
            }
            prop_assert!(total < Duration::from_millis(base.max(1)));
        }

        /// A renewed clock is never overdrawn before it is renewed.
        #[test]
        fn time_for_some_moves_lasts_for_them(base in 5_000_u64..600_000, moves in 1_u32..60) {
            let mut left = Duration::from_millis(base);
            for to_go in (1..=moves).rev() {
                let think = part(&Stock { left, increment: Duration::ZERO, moves_to_go: Some(to_go) }, 52);
                prop_assert!(think + LAG < left);
                left -= think + LAG;
            }
        }
    }

    #[test]
    fn fifteen_minutes_are_used() {
        // An average game of the match server: 70 moves each.
        let mut left = Duration::from_secs(900);
        for number in 0..70 {
            let ahead = 52 - number * 2 / 5;
            left -= part(&Stock { left, increment: Duration::ZERO, moves_to_go: None }, ahead);
        }
        assert!(left < Duration::from_secs(300), "{left:?} were never used");
    }
}
