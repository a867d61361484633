//! Symmetries of a board, ready for sets of squares.

use anqi_rules::{BoardSize, Square, SquareSet, Symmetry};

/// Where each square goes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Turning([u8; Square::COUNT]);

impl Turning {
    /// All ways to turn `board` onto itself, the identity first.
    pub(crate) fn all(board: BoardSize) -> Vec<Turning> {
        let turning = |symmetry: Symmetry| {
            let mut to: [u8; Square::COUNT] = std::array::from_fn(|index| index as u8);
            for square in board.squares() {
                to[square.index()] = symmetry.apply(square).index() as u8;
            }
            Turning(to)
        };
        board.symmetries().map(turning).collect()
    }

    #[inline]
    pub(crate) fn apply(&self, set: u32) -> u32 {
        let (mut rest, mut turned) = (set, 0);
        while rest != 0 {
            turned |= 1 << self.0[rest.trailing_zeros() as usize];
            rest &= rest - 1;
        }
        turned
    }

    /// Whether a square of `board` stays where it is.
    pub(crate) fn fixes_a_square(&self, board: BoardSize) -> bool {
        board.squares().iter().any(|square| usize::from(self.0[square.index()]) == square.index())
    }
}

/// The sets of `count` squares of the board, one of each orbit, the least; in ascending order.
pub(crate) fn orbits(board: BoardSize, turnings: &[Turning], count: u32) -> Vec<u32> {
    let mut sets = subsets(board.squares().0, count);
    sets.retain(|&set| turnings.iter().all(|turning| turning.apply(set) >= set));
    sets.sort_unstable();
    sets
}

fn subsets(squares: u32, count: u32) -> Vec<u32> {
    if count == 0 {
        return vec![0];
    }
    SquareSet(squares)
        .iter()
        .flat_map(|square| {
            let bit = square.set().0;
            let above = squares & !(bit | (bit - 1));
            subsets(above, count - 1).into_iter().map(move |rest| rest | bit)
        })
        .collect()
}
