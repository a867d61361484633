//! What the captures of a class promise where distances do not count beyond them: win, draw or loss for a whole block
//! at once.
//!
//! What a capture leads to is first laid out in the order of the class itself ([`ToMoveView`]): then the outcomes of a
//! thousand captures are a thousand neighbouring bits. Pieces are those of the slots (they stand still in a block), the
//! row piece R and the bit piece B, and each of these may take each other.

use anqi_rules::{Color, SquareSet};
use arrayvec::ArrayVec;

use crate::block::free;
use crate::captures::{Captures, Fixed, adjacent, jumps_to, jumps_with_help, lines, steps_to};
use crate::index::{Block, Fold, MOST_PIECES};
use crate::{Class, Index, Wdl};

/// Outcomes for the side to move, by block: what is neither lost nor drawn is won.
struct ToMoveView<T> {
    lost: Vec<T>,
    drawn: Vec<T>,
}

/// What is left of a class without one piece of a slot.
struct WithoutSlot {
    index: Index,
    view: ToMoveView<Block>,
}

/// The captures of a class, for blocks.
pub(crate) struct Outlook<'a> {
    class: &'a Class,
    index: &'a Index,
    /// By captured group, where the group has a slot.
    slots: ArrayVec<Option<WithoutSlot>, MOST_PIECES>,
    /// Without the row piece: a bit for each square of the bit piece.
    without_row: ToMoveView<u32>,
    /// Without the bit piece: a bit for each square of the row piece.
    without_bit: ToMoveView<u32>,
}

/// What captures promise to one side in a block.
pub(crate) struct Prospects {
    pub(crate) won: Block,
    pub(crate) drawn: Block,
    /// There is a capture that loses.
    pub(crate) lost: Block,
}

impl Prospects {
    /// Captures with the row piece on `row` and the bit piece on any of `squares`.
    #[inline]
    fn add(&mut self, row: usize, squares: u32, lost: u32, drawn: u32) {
        self.won[row] |= squares & lost;
        self.drawn[row] |= squares & drawn;
        self.lost[row] |= squares & !(lost | drawn);
    }
}

impl<'a> Outlook<'a> {
    pub(crate) fn new(class: &'a Class, index: &'a Index, captures: &Captures<'_>) -> Outlook<'a> {
        let groups = 0..class.groups().len();
        let slot = |group: usize| index.without(group).map(|index| without_slot(index, group, class, captures));
        Outlook {
            class,
            index,
            slots: groups.map(slot).collect(),
            without_row: without_piece(index, index.row(), index.bit(), class, captures),
            without_bit: without_piece(index, index.bit(), index.row(), class, captures),
        }
    }

    /// What captures promise to `color` in a block with slots on `sets`.
    pub(crate) fn prospects(&self, color: Color, block: usize, sets: &[u32; MOST_PIECES]) -> Prospects {
        let groups = self.class.groups();
        let used: u32 = sets.iter().sum();
        let valid = free(used);
        let mut prospects = Prospects { won: [0; 32], drawn: [0; 32], lost: [0; 32] };
        let pieces = |ours: bool| {
            sets.iter().enumerate().filter(move |(group, set)| **set != 0 && (groups[*group].color == color) == ours)
        };
        let fixed = |ours: bool| -> ArrayVec<Fixed, MOST_PIECES> {
            let squares = |(group, &set): (usize, &u32)| {
                SquareSet(set).iter().map(move |square| Fixed { group, square: square.index() as u32 })
            };
            pieces(ours).flat_map(squares).collect()
        };
        let takes = |attacker: usize, victim: usize| groups[attacker].jumps || groups[attacker].takes(victim);
        let (row_group, bit_group) = (self.index.row(), self.index.bit());
        let (row_ours, bit_ours) = (groups[row_group].color == color, groups[bit_group].color == color);

        for victim in fixed(false) {
            let Some(without) = &self.slots[victim.group] else { continue };
            let mut left = *sets;
            left[victim.group] ^= 1 << victim.square;
            // A piece of a slot takes it.
            for attacker in fixed(true).into_iter().filter(|attacker| takes(attacker.group, victim.group)) {
                let jumps = groups[attacker.group].jumps;
                if !jumps && !adjacent(attacker.square, victim.square)
                    || jumps && lines(attacker.square) >> victim.square & 1 == 0
                {
                    continue;
                }
                let mut left = left;
                left[attacker.group] ^= 1 << attacker.square | 1 << victim.square;
                let place = without.find(&left);
                for row in rows(!used) {
                    let squares = match jumps {
                        true => jumps_with_help(attacker.square, victim.square, used | 1 << row),
                        false => !0,
                    };
                    let (lost, drawn) = without.word(place, row);
                    prospects.add(row as usize, squares & valid[row as usize], lost, drawn);
                }
            }
            let place = without.find(&left);
            // R takes it.
            if row_ours && takes(row_group, victim.group) {
                let jumps = groups[row_group].jumps;
                let reach = if jumps { lines(victim.square) } else { steps_to(victim.square) };
                let (lost, drawn) = without.word(place, victim.square);
                for row in rows(reach & !used) {
                    let squares = if jumps { jumps_with_help(row, victim.square, used) } else { !0 };
                    prospects.add(row as usize, squares & valid[row as usize], lost, drawn);
                }
            }
            // B takes it.
            if bit_ours && takes(bit_group, victim.group) {
                for row in rows(!used) {
                    let squares = match groups[bit_group].jumps {
                        true => jumps_to(victim.square, used | 1 << row),
                        false => steps_to(victim.square),
                    };
                    let (lost, drawn) = without.word(place, row);
                    let [lost, drawn] = [lost, drawn].map(|word| spread(word, victim.square));
                    prospects.add(row as usize, squares & valid[row as usize], lost, drawn);
                }
            }
        }
        for attacker in fixed(true) {
            let jumps = groups[attacker.group].jumps;
            let reach = if jumps { lines(attacker.square) } else { steps_to(attacker.square) } & !used;
            let moved = |to: u32| {
                let mut sets = *sets;
                sets[attacker.group] ^= 1 << attacker.square | 1 << to;
                self.index.block(&sets)
            };
            // It takes R.
            if !row_ours && takes(attacker.group, row_group) {
                for row in rows(reach) {
                    let squares = if jumps { jumps_with_help(attacker.square, row, used) } else { !0 };
                    if squares & valid[row as usize] != 0 {
                        let (lost, drawn) = self.without_row.word(moved(row));
                        prospects.add(row as usize, squares & valid[row as usize], lost, drawn);
                    }
                }
            }
            // It takes B.
            if !bit_ours && takes(attacker.group, bit_group) {
                for bit in rows(reach) {
                    let helpful = if jumps { jumps_with_help(attacker.square, bit, used) } else { !0 };
                    if helpful & !used == 0 {
                        continue;
                    }
                    let (lost, drawn) = self.without_bit.word(moved(bit));
                    for row in rows(helpful & !used & !(1 << bit)) {
                        let [lost, drawn] = [lost, drawn].map(|word| spread(word, row));
                        prospects.add(row as usize, 1 << bit & valid[row as usize], lost, drawn);
                    }
                }
            }
        }
        // R and B take each other.
        let here = (block, Fold::IDENTITY);
        for row in rows(!used) {
            let reach = |jumps: bool| if jumps { jumps_to(row, used) } else { steps_to(row) } & valid[row as usize];
            if row_ours && !bit_ours && takes(row_group, bit_group) {
                let (lost, drawn) = self.without_bit.word(here);
                prospects.add(row as usize, reach(groups[row_group].jumps), lost, drawn);
            }
            if bit_ours && !row_ours && takes(bit_group, row_group) {
                let (lost, drawn) = self.without_row.word(here);
                let [lost, drawn] = [lost, drawn].map(|word| spread(word, row));
                prospects.add(row as usize, reach(groups[bit_group].jumps), lost, drawn);
            }
        }
        prospects
    }
}

fn rows(set: u32) -> impl Iterator<Item = u32> {
    SquareSet(set).iter().map(|square| square.index() as u32)
}

/// All bits, if the one of `square` is set.
#[inline]
fn spread(word: u32, square: u32) -> u32 {
    (word >> square & 1).wrapping_neg()
}

impl WithoutSlot {
    fn find(&self, sets: &[u32; MOST_PIECES]) -> (usize, Fold) {
        self.index.block(sets)
    }

    /// Lost and drawn bits with the row piece on `row`.
    #[inline]
    fn word(&self, (block, fold): (usize, Fold), row: u32) -> (u32, u32) {
        let row = fold.square(row) as usize;
        (fold.apply(self.view.lost[block][row]), fold.apply(self.view.drawn[block][row]))
    }
}

impl ToMoveView<u32> {
    #[inline]
    fn word(&self, (block, fold): (usize, Fold)) -> (u32, u32) {
        (fold.apply(self.lost[block]), fold.apply(self.drawn[block]))
    }
}

/// Lays out what is left when a piece of group `captured` is taken from its slot; `index` has it no more.
fn without_slot(index: Index, captured: usize, class: &Class, captures: &Captures<'_>) -> WithoutSlot {
    let color = class.groups()[captured].color.other();
    let mut view = ToMoveView { lost: vec![[0; 32]; index.blocks()], drawn: vec![[0; 32]; index.blocks()] };
    for block in 0..index.blocks() {
        let sets = index.sets(block);
        for (row, squares) in free(sets.iter().sum()).into_iter().enumerate() {
            for bit in rows(squares) {
                let mut sets = sets;
                sets[index.row()] |= 1 << row;
                sets[index.bit()] |= 1 << bit;
                match captures.after(color, captured, &sets).wdl() {
                    Wdl::Loss => view.lost[block][row] |= 1 << bit,
                    Wdl::Draw => view.drawn[block][row] |= 1 << bit,
                    Wdl::Win => {}
                }
            }
        }
    }
    WithoutSlot { index, view }
}

/// Lays out what is left when the piece of group `captured` in the blocks is taken, and the other one of the blocks, of
/// group `left`, stands anywhere.
fn without_piece(
    index: &Index,
    captured: usize,
    left: usize,
    class: &Class,
    captures: &Captures<'_>,
) -> ToMoveView<u32> {
    let color = class.groups()[captured].color.other();
    let mut view = ToMoveView { lost: vec![0; index.blocks()], drawn: vec![0; index.blocks()] };
    for block in 0..index.blocks() {
        let sets = index.sets(block);
        for square in rows(!sets.iter().sum::<u32>()) {
            let mut sets = sets;
            sets[left] |= 1 << square;
            match captures.after(color, captured, &sets).wdl() {
                Wdl::Loss => view.lost[block] |= 1 << square,
                Wdl::Draw => view.drawn[block] |= 1 << square,
                Wdl::Win => {}
            }
        }
    }
    view
}
