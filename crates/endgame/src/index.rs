//! `Index`: where in a table a placement stands.
//!
//! A table is made of *blocks*: all placements of two pieces on 32 × 32 squares while the others stand still. The
//! first of the two, the *row* piece, chooses one of 32 words; the second, the *bit* piece, one of its 32 bits. What is
//! asked of a word is asked of 32 placements at once, a step of the bit piece is a shift, one of the row piece another
//! word of the same block. Squares that are taken leave gaps.
//!
//! The other pieces, in *slots* of equal ones, give the number of the block: each slot is a set of the squares still
//! free, ranked in the combinatorial number system, which merges equal pieces.
//!
//! The board has four symmetries (identity, two reflections, half turn). The first slot, the *anchor*, is turned to the
//! least of its four reflections and takes everything else along: four placements have one place. An anchor that is its
//! own reflection (some pairs and fours are; a single piece never is) gives a placement and its reflection two places in
//! one block, with the same value.
//!
//! Row and bit pieces are alone in their groups where the class has two such groups. Otherwise equal pieces can be
//! exchanged between row, bit and slots: such a placement has more than one place, again with the same value.

use std::sync::LazyLock;

use anqi_rules::{Color, Square};
use arrayvec::ArrayVec;

use crate::Class;

/// The most pieces of a table.
pub const MOST_PIECES: usize = 6;

/// Placements of the row and bit pieces: one word for each square of the row piece.
pub(crate) type Block = [u32; Square::COUNT];

/// Places in a block, gaps included.
pub(crate) const BLOCK_PLACES: usize = Square::COUNT * Square::COUNT;

/// Where the pieces of each group stand (one bit a square, by [`Square::index`]), and who is to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Placement {
    /// The squares of each group of the class.
    pub sets: [u32; MOST_PIECES],
    /// Who is to move, in the colours of the class.
    pub turn: Color,
}

impl Placement {
    /// All squares with a piece.
    #[must_use]
    #[inline]
    pub fn occupied(&self) -> u32 {
        self.sets.iter().fold(0, |all, set| all | set)
    }

    /// It and its reflections.
    pub(crate) fn reflections(&self) -> impl Iterator<Item = Placement> {
        Fold::ALL.into_iter().map(|fold| Placement { sets: self.sets.map(|set| fold.apply(set)), ..*self })
    }
}

/// The places of one class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Index {
    row: usize,
    bit: usize,
    /// The anchor first.
    slots: ArrayVec<Slot, MOST_PIECES>,
    blocks: usize,
    copies: u64,
}

/// Equal pieces outside the block.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Slot {
    pub(crate) group: usize,
    pub(crate) count: u32,
    ways: usize,
}

impl Index {
    /// The places of `class`; `None` if it has more than [`MOST_PIECES`] pieces.
    #[must_use]
    pub fn new(class: &Class) -> Option<Index> {
        if class.pieces() as usize > MOST_PIECES {
            return None;
        }
        let counts: ArrayVec<u32, MOST_PIECES> = class.groups().iter().map(|group| u32::from(group.count)).collect();
        let all = 0..counts.len();
        let pairs = all.clone().flat_map(|row| all.clone().map(move |bit| (row, bit)));
        let copies = |&(row, bit): &(usize, usize)| counts[row] * (counts[bit] - u32::from(row == bit));
        let (row, bit) = pairs.filter(|pair| copies(pair) > 0).min_by_key(copies)?;

        let copies = u64::from(copies(&(row, bit)));
        let left = |group: usize| counts[group] - u32::from(group == row) - u32::from(group == bit);
        let left: ArrayVec<u32, MOST_PIECES> = all.map(left).collect();
        Some(Index::with_slots(row, bit, &left, copies))
    }

    /// `left` of each group are in slots.
    fn with_slots(row: usize, bit: usize, left: &[u32], copies: u64) -> Index {
        let mut rest: ArrayVec<usize, MOST_PIECES> = (0..left.len()).filter(|&group| left[group] > 0).collect();
        // Odd anchors are never their own reflections.
        rest.sort_by_key(|&group| (left[group].is_multiple_of(2), left[group]));
        let mut free = Square::COUNT as u32;
        let slots: ArrayVec<Slot, MOST_PIECES> = rest
            .into_iter()
            .enumerate()
            .map(|(place, group)| {
                let count = left[group];
                let ways = if place == 0 { ANCHORS[count as usize].sets.len() } else { choose(free, count) as usize };
                free -= count;
                Slot { group, count, ways }
            })
            .collect();
        let blocks = slots.iter().map(|slot| slot.ways).product();
        Index { row, bit, slots, blocks, copies }
    }

    /// The same blocks with one piece of a group less in the slots; `None` if there is none.
    pub(crate) fn without(&self, group: usize) -> Option<Index> {
        let mut left = [0; MOST_PIECES];
        self.slots.iter().for_each(|slot| left[slot.group] = slot.count);
        left[group] = left[group].checked_sub(1)?;
        Some(Index::with_slots(self.row, self.bit, &left, self.copies))
    }

    /// The group of the row piece.
    pub(crate) const fn row(&self) -> usize {
        self.row
    }

    /// The group of the bit piece.
    pub(crate) const fn bit(&self) -> usize {
        self.bit
    }

    pub(crate) fn slots(&self) -> &[Slot] {
        &self.slots
    }

    /// Blocks with one side to move.
    pub(crate) const fn blocks(&self) -> usize {
        self.blocks
    }

    /// How many places there are with both sides to move, gaps included.
    #[must_use]
    pub const fn places(&self) -> usize {
        2 * self.blocks * BLOCK_PLACES
    }

    /// How many placements there are that differ by more than a symmetry, both sides to move together; those that are
    /// their own reflections count as the part of four that they are.
    #[must_use]
    pub fn positions(&self) -> u64 {
        let each: u64 = (0..self.blocks).map(|block| self.weight(block)).sum();
        let used: u64 = self.slots.iter().map(|slot| u64::from(slot.count)).sum();
        let free = Square::COUNT as u64 - used;
        2 * each * free * (free - 1) / self.copies / if self.slots.is_empty() { 1 } else { 4 }
    }

    /// How many times a placement is in the table because its pieces can be exchanged.
    pub(crate) const fn copies(&self) -> u64 {
        self.copies
    }

    /// How many placements each place of a block stands for, copies not considered.
    pub(crate) fn weight(&self, block: usize) -> u64 {
        let Some(anchor) = self.slots.first() else { return 1 };
        let others: usize = self.slots[1..].iter().map(|slot| slot.ways).product();
        ANCHORS[anchor.count as usize].weights[block / others]
    }

    /// The place of a placement, which must have as many squares in each set as the group has pieces.
    #[must_use]
    #[inline]
    pub fn place(&self, placement: &Placement) -> usize {
        let mut sets = placement.sets;
        let mut take = |group: usize| {
            let lowest = sets[group] & sets[group].wrapping_neg();
            sets[group] ^= lowest;
            lowest
        };
        let (row, bit) = (take(self.row), take(self.bit));
        let (block, fold) = self.block(&sets);
        let block = placement.turn as usize * self.blocks + block;
        block * BLOCK_PLACES + (fold.apply(row).trailing_zeros() * 32 + fold.apply(bit).trailing_zeros()) as usize
    }

    /// The block in which the slots stand on `sets`, by group, and how to turn the board to it.
    #[inline]
    pub(crate) fn block(&self, sets: &[u32; MOST_PIECES]) -> (usize, Fold) {
        let Some((anchor, others)) = self.slots.split_first() else { return (0, Fold::IDENTITY) };
        let (mut block, fold) = Anchors::find(anchor.count, sets[anchor.group]);
        let mut used = fold.apply(sets[anchor.group]);
        for slot in others {
            let set = fold.apply(sets[slot.group]);
            block = block * slot.ways + rank(set, used) as usize;
            used |= set;
        }
        (block, fold)
    }

    /// The squares of each slot of a block, by group.
    pub(crate) fn sets(&self, block: usize) -> [u32; MOST_PIECES] {
        let mut sets = [0; MOST_PIECES];
        let Some((anchor, others)) = self.slots.split_first() else { return sets };
        let (mut rest, mut digits) = (block, [0; MOST_PIECES]);
        for (digit, slot) in digits.iter_mut().zip(others).rev() {
            *digit = rest % slot.ways;
            rest /= slot.ways;
        }
        sets[anchor.group] = ANCHORS[anchor.count as usize].sets[rest];
        let mut used = sets[anchor.group];
        for (slot, digit) in others.iter().zip(digits) {
            let set = unrank(digit as u32, slot.count, used);
            sets[slot.group] = set;
            used |= set;
        }
        sets
    }

    /// The placement at a place below [`places`](Index::places); `None` for a gap.
    #[must_use]
    pub fn placement(&self, place: usize) -> Option<Placement> {
        let (block, row, bit) = (place / BLOCK_PLACES, place / 32 % 32, place % 32);
        let mut sets = self.sets(block % self.blocks);
        let used: u32 = sets.iter().sum();
        let (row, bit) = (1 << row, 1 << bit);
        if used & (row | bit) != 0 || row == bit {
            return None;
        }
        sets[self.row] |= row;
        sets[self.bit] |= bit;
        Some(Placement { sets, turn: Color::ALL[block / self.blocks] })
    }
}

/// A symmetry of the board: 0, 1 reflects the files, 2 the ranks, 3 both. Squares go file by file, a byte each:
/// exchanging bytes reflects the files, reversing the bits as well reflects the ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Fold(pub(crate) u8);

impl Fold {
    pub(crate) const IDENTITY: Fold = Fold(0);
    pub(crate) const ALL: [Fold; 4] = [Fold(0), Fold(1), Fold(2), Fold(3)];

    /// Where a square goes.
    #[inline]
    pub(crate) const fn square(self, square: u32) -> u32 {
        square ^ [0, 24, 7, 31][self.0 as usize]
    }

    #[inline]
    pub(crate) const fn apply(self, set: u32) -> u32 {
        match self.0 {
            0 => set,
            1 => set.swap_bytes(),
            2 => set.reverse_bits().swap_bytes(),
            _ => set.reverse_bits(),
        }
    }
}

/// Sets of one size up to symmetry.
struct Anchors {
    /// The least of each four.
    sets: Vec<u32>,
    /// How many different sets each stands for.
    weights: Vec<u64>,
    /// By rank: the number in `sets`, and how to get there.
    found: Vec<(u32, Fold)>,
}

impl Anchors {
    fn new(count: u32) -> Anchors {
        let mut anchors = Anchors { sets: Vec::new(), weights: Vec::new(), found: Vec::new() };
        for number in 0..choose(Square::COUNT as u32, count) {
            let set = unrank(number, count, 0);
            let fold = Fold::ALL.into_iter().min_by_key(|fold| fold.apply(set)).unwrap_or(Fold::IDENTITY);
            // A lower set has a lower rank: the least of the four comes first.
            let place = anchors.sets.binary_search(&fold.apply(set)).unwrap_or_else(|place| {
                anchors.sets.push(set);
                anchors.weights.push(0);
                place
            });
            anchors.weights[place] += 1;
            anchors.found.push((place as u32, fold));
        }
        anchors
    }

    #[inline]
    fn find(count: u32, set: u32) -> (usize, Fold) {
        if count == 1 {
            // The corner a1–b4, without a look at memory.
            let fold = Fold(u8::from(set & 0xFFFF_0000 != 0) | u8::from(set & 0xF0F0_F0F0 != 0) << 1);
            let square = fold.apply(set).trailing_zeros();
            return ((square / 8 * 4 + square % 8) as usize, fold);
        }
        let (place, fold) = ANCHORS[count as usize].found[rank(set, 0) as usize];
        (place as usize, fold)
    }
}

/// By size; a block leaves no more than four pieces to the slots.
static ANCHORS: [LazyLock<Anchors>; MOST_PIECES - 1] = [
    LazyLock::new(|| Anchors::new(0)),
    LazyLock::new(|| Anchors::new(1)),
    LazyLock::new(|| Anchors::new(2)),
    LazyLock::new(|| Anchors::new(3)),
    LazyLock::new(|| Anchors::new(4)),
];

/// The rank of `set` among the sets of its size on the squares that are not `used`.
#[inline]
fn rank(mut set: u32, used: u32) -> u32 {
    let (mut rank, mut place) = (0, 1);
    while set != 0 {
        let below = (set & set.wrapping_neg()) - 1;
        rank += choose(below.count_ones() - (used & below).count_ones(), place);
        set &= set - 1;
        place += 1;
    }
    rank
}

/// The set of `count` unused squares with this rank.
fn unrank(mut rank: u32, count: u32, used: u32) -> u32 {
    let mut set = 0;
    for place in (1..=count).rev() {
        let mut square = place - 1;
        while choose(square + 1, place) <= rank {
            square += 1;
        }
        rank -= choose(square, place);
        set |= 1 << nth_free(square, used);
    }
    set
}

/// The square number `n` of those that are not `used`.
fn nth_free(n: u32, mut used: u32) -> u32 {
    let mut square = n;
    while used != 0 && used.trailing_zeros() <= square {
        square += 1;
        used &= used - 1;
    }
    square
}

#[inline]
fn choose(n: u32, k: u32) -> u32 {
    CHOOSE[k as usize][n as usize]
}

static CHOOSE: [[u32; Square::COUNT + 1]; MOST_PIECES + 1] = {
    let mut table = [[0; Square::COUNT + 1]; MOST_PIECES + 1];
    table[0] = [1; Square::COUNT + 1];
    let mut k = 1;
    while k <= MOST_PIECES {
        let mut n = 1;
        while n <= Square::COUNT {
            table[k][n] = table[k][n - 1] + table[k - 1][n - 1];
            n += 1;
        }
        k += 1;
    }
    table
};
