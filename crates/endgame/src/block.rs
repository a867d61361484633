//! Steps of a thousand placements at once.

use multiversion::multiversion;

use crate::index::{Block, Fold};

/// Where a step of one side leads to, out of a block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Neighbour(u32);

impl Neighbour {
    pub(crate) fn new(block: usize, fold: Fold) -> Neighbour {
        Neighbour((block as u32) << 2 | u32::from(fold.0))
    }

    #[inline]
    pub(crate) const fn block(self) -> usize {
        (self.0 >> 2) as usize
    }

    #[inline]
    const fn fold(self) -> Fold {
        Fold((self.0 & 3) as u8)
    }
}

/// The steps of one side: which of the two pieces of a block are its own, and where its other pieces lead to.
pub(crate) struct Steps<'a> {
    pub(crate) row: bool,
    pub(crate) bit: bool,
    pub(crate) neighbours: &'a [Neighbour],
}

/// The placements of block number `block` from which a step leads to one of `targets`. Squares that are taken must be
/// clear in the targets, and have to be cleared in the answer.
#[multiversion(targets("x86_64+avx512f+avx512bw+avx512vl", "x86_64+avx2"))]
pub(crate) fn before(block: usize, steps: &Steps<'_>, targets: &[Block]) -> Block {
    let mut before = [0; 32];
    for neighbour in steps.neighbours {
        let target = &targets[neighbour.block()];
        // A match outside the loops, so that each of them is a few vector instructions.
        match neighbour.fold().0 {
            0 => add(&mut before, target, Fold::IDENTITY),
            1 => add(&mut before, target, Fold(1)),
            2 => add(&mut before, target, Fold(2)),
            _ => add(&mut before, target, Fold(3)),
        }
    }
    let target = &targets[block];
    if steps.row {
        for row in 0..24 {
            before[row] |= target[row + 8];
            before[row + 8] |= target[row];
        }
        for file in 0..4 {
            for row in 8 * file..8 * file + 7 {
                before[row] |= target[row + 1];
                before[row + 1] |= target[row];
            }
        }
    }
    if steps.bit {
        for (word, target) in before.iter_mut().zip(target) {
            *word |= (target & 0x7F7F_7F7F) << 1 | (target & 0xFEFE_FEFE) >> 1 | target << 8 | target >> 8;
        }
    }
    before
}

#[inline(always)]
fn add(to: &mut Block, block: &Block, fold: Fold) {
    for (row, word) in (0..).zip(to) {
        *word |= fold.apply(block[fold.square(row) as usize]);
    }
}

/// The placements of a block in which no piece stands on `used`, nor two on one square.
pub(crate) fn free(used: u32) -> Block {
    std::array::from_fn(|row| if used >> row & 1 == 1 { 0 } else { !(used | 1 << row) })
}

/// Whether any placement is in the block.
pub(crate) fn any(block: &Block) -> bool {
    block.iter().any(|&word| word != 0)
}

/// How many placements are in the block.
pub(crate) fn count(block: &Block) -> u64 {
    block.iter().map(|word| u64::from(word.count_ones())).sum()
}
