//! Fair sets: both sides have the same pieces, and fill a board.

use std::collections::HashMap;

use anqi_endgame::Class;
use anqi_rules::{BoardSize, Color, Ladder, Material, Rules};

use crate::veiled::subsets;

/// Pieces of one side of a fair game.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FairSet {
    /// The red pieces.
    pub side: Material,
    /// The first set that is the same game: the same pieces take each other.
    pub like: Material,
}

impl FairSet {
    /// Every set out of a usual army that fills half of `board`, the lowest pieces first.
    ///
    /// ```
    /// use anqi_rules::{BoardSize, Ladder};
    /// use anqi_solve::FairSet;
    ///
    /// let sets = FairSet::all(BoardSize::TwoByFour, Ladder::Taiwan);
    /// assert_eq!((sets.len(), sets.iter().filter(|set| set.side == set.like).count()), (147, 24));
    /// ```
    #[must_use]
    pub fn all(board: BoardSize, ladder: Ladder) -> Vec<FairSet> {
        let usual = *Rules::server().army();
        let red: Material = usual.pieces().filter(|piece| piece.color == Color::Red).collect();
        let mut first: HashMap<Class, Material> = HashMap::new();
        let sets = subsets(red, board.squares().len() / 2).into_iter();
        sets.map(|side| {
            let class = Class::of_pieces(&Material::EMPTY, &both(side), ladder).class;
            FairSet { side, like: *first.entry(class).or_insert(side) }
        })
        .collect()
    }

    /// The pieces of both sides.
    #[must_use]
    pub fn army(&self) -> Material {
        both(self.side)
    }
}

fn both(side: Material) -> Material {
    side.pieces().chain(side.swapped().pieces()).collect()
}
