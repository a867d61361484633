//! Geometry: steps in the four directions, and where cannons land. All tables are constants.

use crate::square::{Square, SquareSet};

/// The four directions a piece can go.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Direction {
    /// Up a rank.
    North,
    /// Down a rank.
    South,
    /// Up a file.
    East,
    /// Down a file.
    West,
}

const RANK_1: u32 = 0x0101_0101;
const RANK_8: u32 = 0x8080_8080;

impl Direction {
    /// North, south, east, west.
    pub const ALL: [Direction; 4] = [Direction::North, Direction::South, Direction::East, Direction::West];

    /// The direction back.
    #[must_use]
    pub const fn opposite(self) -> Direction {
        match self {
            Direction::North => Direction::South,
            Direction::South => Direction::North,
            Direction::East => Direction::West,
            Direction::West => Direction::East,
        }
    }

    /// Every square of `set` moved one step; what leaves the grid is gone.
    #[must_use]
    #[inline]
    pub const fn shift(self, set: SquareSet) -> SquareSet {
        SquareSet(match self {
            Direction::North => (set.0 & !RANK_8) << 1,
            Direction::South => (set.0 & !RANK_1) >> 1,
            Direction::East => set.0 << 8,
            Direction::West => set.0 >> 8,
        })
    }

    /// The neighbour of `square`, if there is one on the grid.
    #[must_use]
    pub const fn step(self, square: Square) -> Option<Square> {
        self.shift(square.set()).first()
    }
}

/// The squares one step away from `square`.
#[must_use]
#[inline]
pub fn neighbours(square: Square) -> SquareSet {
    NEIGHBOURS[square.index()]
}

/// Where a cannon on `square` would land if all of `occupied` could be captured: the second
/// occupied square in each direction, whatever lies between.
///
/// ```
/// use anqi_rules::{cannon_targets, SquareSet};
///
/// let occupied: SquareSet = "X... .... X... X... .... .... .... C..X".replace('C', "X").parse()?;
/// let targets: SquareSet = ".... .... X... .... .... .... .... ....".parse()?;
/// assert_eq!(cannon_targets("a1".parse()?, occupied), targets); // a8 has two in between, d1 none
/// # Ok::<(), anqi_rules::ParseError>(())
/// ```
#[must_use]
#[inline]
pub fn cannon_targets(square: Square, occupied: SquareSet) -> SquareSet {
    let (file, rank) = (square.file(), square.rank());
    // A file is a byte: look it up. A rank is every eighth bit: gather four, look up, scatter.
    let column = (occupied.0 >> (8 * file)) & 0xFF;
    let row = ((occupied.0 >> rank) & RANK_1).wrapping_mul(0x1020_4080) >> 28;
    let along_file = u32::from(SECOND_OCCUPIED[rank as usize][column as usize]) << (8 * file);
    let along_rank = u32::from(SECOND_OCCUPIED[file as usize][row as usize]);
    SquareSet(along_file | ((along_rank.wrapping_mul(0x0020_4081) & RANK_1) << rank))
}

static NEIGHBOURS: [SquareSet; Square::COUNT] = {
    let mut table = [SquareSet::EMPTY; Square::COUNT];
    let mut index = 0;
    while index < Square::COUNT {
        let at = SquareSet(1 << index);
        table[index].0 = Direction::North.shift(at).0
            | Direction::South.shift(at).0
            | Direction::East.shift(at).0
            | Direction::West.shift(at).0;
        index += 1;
    }
    table
};

/// For a place on a line of eight and what is occupied there: the second occupied place upwards
/// and downwards. A line of four is the lower half of a line of eight.
static SECOND_OCCUPIED: [[u8; 256]; 8] = {
    let mut table = [[0; 256]; 8];
    let mut place = 0;
    while place < 8 {
        let mut occupied = 0;
        while occupied < 256 {
            table[place][occupied] = second_above(place, occupied) | second_below(place, occupied);
            occupied += 1;
        }
        place += 1;
    }
    table
};

const fn second_above(place: usize, occupied: usize) -> u8 {
    let above = occupied & !((2 << place) - 1);
    let beyond_first = above & above.wrapping_sub(1);
    (beyond_first & beyond_first.wrapping_neg()) as u8
}

const fn second_below(place: usize, occupied: usize) -> u8 {
    let below = occupied & ((1 << place) - 1);
    let beyond_first = below & !highest(below);
    highest(beyond_first) as u8
}

const fn highest(bits: usize) -> usize {
    if bits == 0 { 0 } else { 1 << bits.ilog2() }
}
