//! Traps: few moves for the opponent.

use crate::board::{Actions, DealtBoard};
use crate::narrow::Names;
use crate::scalar::{Action, jump_named, step_named};
use crate::word::Word;

/// Those of the actions that leave the opponent the fewest moves. Some are left if there are any.
pub(crate) fn traps<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64, names: &Names<u64>) -> Names<u64> {
    let flips = names.steps & board.dark.in_files();
    let mut best = Names { steps: flips, jumps: 0 };
    let mut fewest = if flips == 0 { u32::MAX } else { moves::<JUMPS>(&board.turned(), squares) };
    let mut consider = |action: Action, name: Names<u64>| {
        let left = moves::<JUMPS>(&board.after(action), squares);
        if left < fewest {
            (best, fewest) = (Names { steps: 0, jumps: 0 }, left);
        }
        if left == fewest {
            best = Names { steps: best.steps | name.steps, jumps: best.jumps | name.jumps };
        }
    };
    for number in bits(names.steps ^ flips) {
        consider(step_named(number), Names { steps: 1 << number, jumps: 0 });
    }
    for number in bits(names.jumps) {
        consider(jump_named(number, board.own | board.foe), Names { steps: 0, jumps: 1 << number });
    }
    best
}

/// How many steps and captures the side to move has.
#[inline(always)]
fn moves<const JUMPS: bool>(board: &DealtBoard<u64>, squares: u64) -> u32 {
    let Actions { captures, others, jumps } = board.actions::<JUMPS>(squares);
    (captures | others & !board.dark.in_files()).count_ones() + jumps.count_ones()
}

fn bits(mut set: u64) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let number = (set != 0).then(|| set.trailing_zeros());
        set &= set.wrapping_sub(1);
        number
    })
}
