//! `Index`: the placements of a class on the 4×8 board as numbers without gaps, and back.
//!
//! Groups are placed one after the other, each as a set of the squares still free, ranked in the combinatorial
//! number system; interchangeable pieces are merged by this. The side to move is the most significant digit.
//!
//! The board has four symmetries (identity, two reflections, half turn), and no square stays in place under any but
//! the identity. A class with a group of one piece is therefore folded exactly fourfold: that piece, the *anchor*, is
//! reflected into the corner a1–b4 and takes the others along; no placement has two numbers, no number stands for a
//! placement that is its own reflection. A class without such a group has at least two pairs and is already smaller
//! by as much; it is not folded.

use anqi_rules::{Color, Square};
use arrayvec::ArrayVec;

use crate::Class;

/// The most pieces of a table.
pub const MOST_PIECES: usize = 6;

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
    #[inline]
    pub(crate) fn occupied(&self) -> u32 {
        self.sets.iter().fold(0, |all, set| all | set)
    }
}

/// The numbering of one class.
#[derive(Clone, Debug)]
pub struct Index {
    /// Groups in the order of placing, with their sizes and in how many ways each can be placed.
    order: ArrayVec<Step, MOST_PIECES>,
    folded: bool,
    half: u32,
}

#[derive(Clone, Copy, Debug)]
struct Step {
    group: usize,
    count: u32,
    ways: u32,
}

/// The files a and b, ranks 1 to 4, where a folded anchor stands.
const CORNER_SQUARES: u32 = 8;

impl Index {
    /// The numbering of `class`; `None` if it has more than [`MOST_PIECES`] pieces.
    #[must_use]
    pub fn new(class: &Class) -> Option<Index> {
        if class.pieces() as usize > MOST_PIECES {
            return None;
        }
        let groups = class.groups();
        let anchor = groups.iter().position(|group| group.count == 1);
        let first = anchor.unwrap_or(0);
        let mut free = Square::COUNT as u32;
        let order: ArrayVec<Step, MOST_PIECES> = std::iter::once(first)
            .chain((0..groups.len()).filter(|&group| group != first))
            .map(|group| {
                let count = u32::from(groups[group].count);
                let ways = choose(free, count);
                free -= count;
                Step { group, count, ways }
            })
            .collect();
        let folded = anchor.is_some();
        let first_ways = if folded { CORNER_SQUARES } else { order[0].ways };
        let half = first_ways * order[1..].iter().map(|step| step.ways).product::<u32>();
        Some(Index { order, folded, half })
    }

    /// How many numbers there are, both sides to move together.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "there is always a placement")]
    pub const fn len(&self) -> u32 {
        2 * self.half
    }

    /// How many placements each number stands for: 4 if the class is folded, otherwise 1.
    #[must_use]
    pub const fn weight(&self) -> u32 {
        if self.folded { 4 } else { 1 }
    }

    /// The number of a placement, which must have as many squares in each set as the group has pieces.
    #[must_use]
    #[inline]
    pub fn number(&self, placement: &Placement) -> u32 {
        let anchor = placement.sets[self.order[0].group];
        let fold = if self.folded { Fold::into_corner(anchor) } else { Fold::default() };
        let anchor = fold.apply(anchor);
        let mut number = if self.folded { corner_rank(anchor) } else { rank(anchor, 0) };
        let mut used = anchor;
        for step in &self.order[1..] {
            let set = fold.apply(placement.sets[step.group]);
            number = number * step.ways + rank(set, used);
            used |= set;
        }
        placement.turn as u32 * self.half + number
    }

    /// The placement of a number below [`len`](Index::len); of four reflections the one with its anchor in the corner.
    #[must_use]
    #[inline]
    pub fn placement(&self, number: u32) -> Placement {
        let (turn, mut rest) =
            if number < self.half { (Color::Red, number) } else { (Color::Black, number - self.half) };
        let mut digits = [0; MOST_PIECES];
        for (place, step) in self.order.iter().enumerate().skip(1).rev() {
            digits[place] = rest % step.ways;
            rest /= step.ways;
        }
        let first = self.order[0];
        let anchor = if self.folded { corner_square(rest) } else { unrank(rest, first.count, 0) };
        let mut placement = Placement { sets: [0; MOST_PIECES], turn };
        placement.sets[first.group] = anchor;
        let mut used = anchor;
        for (step, digit) in self.order.iter().zip(digits).skip(1) {
            let set = unrank(digit, step.count, used);
            placement.sets[step.group] = set;
            used |= set;
        }
        placement
    }
}

/// A symmetry of the board. Squares go file by file, a byte each: exchanging bytes reflects the files, reversing the
/// bits as well reflects the ranks.
#[derive(Clone, Copy, Default)]
struct Fold {
    files: bool,
    ranks: bool,
}

impl Fold {
    #[inline]
    fn into_corner(square: u32) -> Fold {
        Fold { files: square & 0xFFFF_0000 != 0, ranks: square & 0xF0F0_F0F0 != 0 }
    }

    #[inline]
    fn apply(self, set: u32) -> u32 {
        match (self.files, self.ranks) {
            (false, false) => set,
            (true, false) => set.swap_bytes(),
            (false, true) => set.reverse_bits().swap_bytes(),
            (true, true) => set.reverse_bits(),
        }
    }
}

#[inline]
fn corner_rank(square: u32) -> u32 {
    let index = square.trailing_zeros();
    index / 8 * 4 + index % 8
}

#[inline]
fn corner_square(rank: u32) -> u32 {
    1 << (rank / 4 * 8 + rank % 4)
}

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
#[inline]
fn unrank(mut rank: u32, count: u32, used: u32) -> u32 {
    let mut set = 0;
    for place in (1..=count).rev() {
        let square = if place == 1 {
            rank
        } else {
            let mut square = place - 1;
            while choose(square + 1, place) <= rank {
                square += 1;
            }
            square
        };
        rank -= choose(square, place);
        set |= 1 << nth_free(square, used);
    }
    set
}

/// The square number `n` of those that are not `used`.
#[inline]
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
