//! Squares, sets of squares in one `u32`, and the boards that fit on the 4×8 grid.

use std::fmt;
use std::ops::{BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Not};

/// One of the 32 squares, `a1` (bottom left) to `d8` (top right).
///
/// Numbered file by file (a1 = 0, a2 = 1, … a8 = 7, b1 = 8, … d8 = 31): a file is one byte of a
/// [`SquareSet`], so a step sideways is a shift by 8 that falls off the board by itself.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Square(u8);

impl Square {
    /// How many squares the grid has.
    pub const COUNT: usize = 32;
    /// Files of the grid, `a` to `d`.
    pub const FILES: u8 = 4;
    /// Ranks of the grid, 1 to 8.
    pub const RANKS: u8 = 8;

    /// The square on `file` 0 to 3 (`a` to `d`) and `rank` 0 to 7 (1 to 8), if there is one.
    #[must_use]
    pub const fn new(file: u8, rank: u8) -> Option<Square> {
        if file < Square::FILES && rank < Square::RANKS { Some(Square(file * 8 + rank)) } else { None }
    }

    /// The square with this [`index`](Square::index), if it is below 32.
    #[must_use]
    pub const fn from_index(index: usize) -> Option<Square> {
        if index < Square::COUNT { Some(Square(index as u8)) } else { None }
    }

    /// The square whose [`index`](Square::index) is in the lower five bits: for numbers that were made
    /// from squares.
    #[must_use]
    pub const fn from_low_bits(bits: usize) -> Square {
        Square((bits % Square::COUNT) as u8)
    }

    /// 0 for a1, 1 for a2, … 31 for d8.
    #[must_use]
    pub const fn index(self) -> usize {
        (self.0 & 31) as usize // the mask only tells the compiler what always holds
    }

    /// 0 to 3 for `a` to `d`.
    #[must_use]
    pub const fn file(self) -> u8 {
        self.0 / 8
    }

    /// 0 to 7 for ranks 1 to 8.
    #[must_use]
    pub const fn rank(self) -> u8 {
        self.0 % 8
    }

    /// The set that holds this square alone.
    #[must_use]
    pub const fn set(self) -> SquareSet {
        SquareSet(1 << self.index())
    }

    /// All 32 squares in order of [`index`](Square::index).
    pub fn all() -> impl DoubleEndedIterator<Item = Square> + ExactSizeIterator {
        (0..32).map(Square)
    }
}

/// A set of squares, one bit each.
///
/// Sets are drawn in docs and tests, rank 8 on top: `X` is in, `.` is out.
///
/// ```
/// use anqi_rules::{Direction, SquareSet};
///
/// let set: SquareSet = "X... .... .... .... .... .... .... ...X".parse()?;
/// assert_eq!(set.len(), 2);
/// let east: SquareSet = ".X.. .... .... .... .... .... .... ....".parse()?;
/// assert_eq!(Direction::East.shift(set), east); // d1 has no neighbour to the east
/// # Ok::<(), anqi_rules::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default, PartialOrd, Ord)]
pub struct SquareSet(pub u32);

impl SquareSet {
    /// No square.
    pub const EMPTY: SquareSet = SquareSet(0);
    /// All 32 squares.
    pub const ALL: SquareSet = SquareSet(!0);

    /// Whether no square is in the set.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many squares are in the set.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Whether `square` is in the set.
    #[must_use]
    pub const fn contains(self, square: Square) -> bool {
        self.0 >> square.index() & 1 == 1
    }

    /// The squares of the set, lowest index first.
    #[must_use]
    pub const fn iter(self) -> Squares {
        Squares(self)
    }

    /// The square with the lowest index, if any.
    #[must_use]
    pub const fn first(self) -> Option<Square> {
        Square::from_index(self.0.trailing_zeros() as usize)
    }
}

impl IntoIterator for SquareSet {
    type Item = Square;
    type IntoIter = Squares;

    fn into_iter(self) -> Squares {
        self.iter()
    }
}

/// The squares of a set, lowest index first.
#[derive(Clone, Debug)]
pub struct Squares(SquareSet);

impl Iterator for Squares {
    type Item = Square;

    #[inline]
    fn next(&mut self) -> Option<Square> {
        let square = self.0.first()?;
        self.0.0 &= self.0.0 - 1;
        Some(square)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        let left = self.0.len() as usize;
        (left, Some(left))
    }
}

impl ExactSizeIterator for Squares {}

impl FromIterator<Square> for SquareSet {
    fn from_iter<I: IntoIterator<Item = Square>>(squares: I) -> SquareSet {
        squares.into_iter().fold(SquareSet::EMPTY, |set, square| set | square.set())
    }
}

impl fmt::Debug for SquareSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

macro_rules! set_operators {
    ($($op:ident $method:ident $assign:ident $assign_method:ident;)*) => {$(
        impl $op for SquareSet {
            type Output = SquareSet;
            fn $method(self, other: SquareSet) -> SquareSet { SquareSet(self.0.$method(other.0)) }
        }
        impl $assign for SquareSet {
            fn $assign_method(&mut self, other: SquareSet) { self.0.$assign_method(other.0) }
        }
    )*};
}

set_operators! {
    BitAnd bitand BitAndAssign bitand_assign;
    BitOr bitor BitOrAssign bitor_assign;
    BitXor bitxor BitXorAssign bitxor_assign;
}

impl Not for SquareSet {
    type Output = SquareSet;
    fn not(self) -> SquareSet {
        SquareSet(!self.0)
    }
}

/// The boards we know: masks on one grid, so that one table serves them all.
///
/// Names are shapes, not orientations. A small board lies in the corner at a1 with its long side
/// along rank 1 (2x4 is a1 to d2); only the full board stands upright.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BoardSize {
    /// a1 to b2.
    TwoByTwo,
    /// a1 to c2.
    ThreeByTwo,
    /// a1 to d2.
    TwoByFour,
    /// a1 to d3.
    ThreeByFour,
    /// a1 to d4.
    FourByFour,
    /// a1 to d8: the board that everybody plays on.
    FourByEight,
}

impl BoardSize {
    /// All boards, smallest first.
    pub const ALL: [BoardSize; 6] = [
        BoardSize::TwoByTwo,
        BoardSize::ThreeByTwo,
        BoardSize::TwoByFour,
        BoardSize::ThreeByFour,
        BoardSize::FourByFour,
        BoardSize::FourByEight,
    ];

    /// The name in rule strings, such as `4x8`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            BoardSize::TwoByTwo => "2x2",
            BoardSize::ThreeByTwo => "3x2",
            BoardSize::TwoByFour => "2x4",
            BoardSize::ThreeByFour => "3x4",
            BoardSize::FourByFour => "4x4",
            BoardSize::FourByEight => "4x8",
        }
    }

    /// How many files it has, from `a` on.
    #[must_use]
    pub const fn files(self) -> u8 {
        match self {
            BoardSize::TwoByTwo => 2,
            BoardSize::ThreeByTwo => 3,
            _ => 4,
        }
    }

    /// How many ranks it has, from 1 on.
    #[must_use]
    pub const fn ranks(self) -> u8 {
        match self {
            BoardSize::TwoByTwo | BoardSize::ThreeByTwo | BoardSize::TwoByFour => 2,
            BoardSize::ThreeByFour => 3,
            BoardSize::FourByFour => 4,
            BoardSize::FourByEight => 8,
        }
    }

    /// The board with so many files and ranks, if we know it.
    #[must_use]
    pub fn from_shape(files: usize, ranks: usize) -> Option<BoardSize> {
        BoardSize::ALL.into_iter().find(|b| (usize::from(b.files()), usize::from(b.ranks())) == (files, ranks))
    }

    /// The squares of the board.
    #[must_use]
    #[inline]
    pub const fn squares(self) -> SquareSet {
        SQUARES[self as usize]
    }

    /// The ways to turn the board onto itself: four, and eight if it is square.
    pub fn symmetries(self) -> impl Iterator<Item = Symmetry> {
        let square = self.files() == self.ranks();
        (0..if square { 8 } else { 4 }).map(move |bits| Symmetry { board: self, bits })
    }
}

impl fmt::Display for BoardSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// By [`BoardSize`].
const SQUARES: [SquareSet; 6] = {
    let mut sets = [SquareSet::EMPTY; 6];
    let mut board = 0;
    while board < sets.len() {
        let file = (1u32 << BoardSize::ALL[board].ranks()) - 1;
        let mut f = 0;
        while f < BoardSize::ALL[board].files() {
            sets[board].0 |= file << (8 * f);
            f += 1;
        }
        board += 1;
    }
    sets
};

/// A way to turn a board onto itself.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Symmetry {
    board: BoardSize,
    bits: u8,
}

impl Symmetry {
    /// Where `square` goes.
    ///
    /// # Panics
    /// If it is not on the board.
    #[must_use]
    pub fn apply(self, square: Square) -> Square {
        assert!(self.board.squares().contains(square), "{square} is not on the {} board", self.board);
        let (mut file, mut rank) = (square.file(), square.rank());
        if self.bits & 1 != 0 {
            file = self.board.files() - 1 - file;
        }
        if self.bits & 2 != 0 {
            rank = self.board.ranks() - 1 - rank;
        }
        if self.bits & 4 != 0 {
            (file, rank) = (rank, file);
        }
        Square(file * 8 + rank)
    }
}
