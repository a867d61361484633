//! `Board`: a dealt board, and every action of the side to move as four sets of squares.

use crate::word::{Word, each};

/// A *dealt* board, seen by the side to move.
///
/// A playout settles what lies face down before its first ply. Planes and colours then hold
/// face-down pieces like any other, and a flip only takes a square out of `dark`.
#[derive(Clone, Copy)]
pub(crate) struct Board<W> {
    /// Bit `i` of the rung of every piece, 1 (pawn) to 7 (king).
    pub(crate) planes: [W; 3],
    /// The pieces of the side to move.
    pub(crate) own: W,
    /// The pieces of the other side.
    pub(crate) foe: W,
    /// The pieces that lie face down.
    pub(crate) dark: W,
}

/// All actions: for each of the directions north, south, east and west a set of *names*.
///
/// An action joins a lower and an upper square (in the order of bits, so north and east go up).
/// A step is named by its lower end, a jump by its upper end, a flip by its square. Then a name
/// stands for one action only, because for one direction the three sorts never meet:
///
/// | direction    | step    | jump        | flip |
/// |--------------|---------|-------------|------|
/// | north, east  | own     | enemy       | dark |
/// | south, west  | not own | own         |      |
///
/// The number of actions is the number of bits, and a random bit is a random action. And since the
/// mover's end is always the one that is `own`, the pair of ends is all it takes to play it.
#[derive(Clone, Copy)]
pub(crate) struct Actions<W> {
    /// Captures by stepping and by jumping.
    pub(crate) captures: [W; 4],
    /// Steps onto empty squares and, with the steps to the north, flips.
    pub(crate) others: [W; 4],
}

/// A step up from here stays in its file.
const BELOW_TOP_RANK: u32 = 0x7F7F_7F7F;

impl<W: Word> Board<W> {
    /// All actions on a board of these `squares`. `JUMPS`: cannons (rung 2) capture by jumping
    /// over one piece and not by stepping.
    #[inline(always)]
    pub(crate) fn actions<const JUMPS: bool>(&self, squares: u32) -> Actions<W> {
        let occupied = self.own | self.foe;
        let sides = Sides {
            planes: self.planes,
            movers: self.own & !self.dark,
            jumpers: if JUMPS { self.own & !self.dark & self.cannons() } else { W::splat(0) },
            targets: self.foe & !self.dark,
            empty: W::splat(squares) & !occupied,
        };
        let [mut vertical, mut sideways] = [sides.steps(1, BELOW_TOP_RANK), sides.steps(8, !0)];
        if JUMPS && !sides.jumpers.surely_empty() {
            // Seen from its upper end a jump to the south is one to the north: exchange the ends.
            let (from, to) = (sides.jumpers, sides.targets);
            vertical.captures[0] = vertical.captures[0] | to & jump_up(from, occupied);
            vertical.captures[1] = vertical.captures[1] | from & jump_up(to, occupied);
            sideways.captures[0] = sideways.captures[0] | to & jump_right(from, occupied);
            sideways.captures[1] = sideways.captures[1] | from & jump_right(to, occupied);
        }
        vertical.others[0] = vertical.others[0] | self.dark;
        let four = |[north, south]: [W; 2], [east, west]: [W; 2]| [north, south, east, west];
        Actions { captures: four(vertical.captures, sideways.captures), others: four(vertical.others, sideways.others) }
    }

    #[inline(always)]
    fn cannons(&self) -> W {
        let [p0, p1, p2] = self.planes;
        p1 & !(p0 | p2)
    }
}

/// The face-up pieces by what they may do.
struct Sides<W> {
    planes: [W; 3],
    movers: W,
    /// The movers that do not capture by stepping.
    jumpers: W,
    targets: W,
    empty: W,
}

/// The steps along one line, up and down.
struct Steps<W> {
    captures: [W; 2],
    others: [W; 2],
}

impl<W: Word> Sides<W> {
    /// Looks at each square of `within` together with the one `shift` bits above it, both ways.
    #[inline(always)]
    fn steps(&self, shift: u32, within: u32) -> Steps<W> {
        let (lower, upper) = (self.planes, each(self.planes, |plane| plane >> shift));
        let takers = self.movers & !self.jumpers;
        let up = takers & (self.targets >> shift);
        let down = (takers >> shift) & self.targets;
        let (lower_wins, equal) = compare(lower, upper);
        let captures = [(lower_wins | equal) & up, (!lower_wins | equal) & down];
        let others = [self.movers & (self.empty >> shift), (self.movers >> shift) & self.empty];
        let inside = |names: W| names & W::splat(within);
        Steps { captures: each(captures, inside), others: each(others, inside) }
    }
}

/// Where rung `a` beats rung `b` (if they differ at all), and where they are equal.
///
/// The highest plane in which they differ decides. Only between king and pawn, rungs 7 and 1,
/// the ladder is upside down: the two differ in just the upper planes.
#[inline(always)]
fn compare<W: Word>(a: [W; 3], b: [W; 3]) -> (W, W) {
    let [d0, d1, d2] = [a[0] ^ b[0], a[1] ^ b[1], a[2] ^ b[2]];
    let mux = |choice: W, one: W, zero: W| zero ^ ((zero ^ one) & choice);
    let higher = mux(d2, a[2], mux(d1, a[1], a[0]));
    let king_or_pawn = a[0] & !(a[1] ^ a[2]);
    let upside_down = king_or_pawn & b[0] & d1 & d2;
    (higher ^ upside_down, !(d0 | d1 | d2))
}

/// The squares reached by jumping up a file over exactly one piece.
#[inline(always)]
fn jump_up<W: Word>(from: W, occupied: W) -> W {
    from.next_above(occupied).next_above(occupied)
}

/// The squares reached by jumping to the right over exactly one piece. A rank has four squares, so
/// a jump goes two files far, over a piece on the first, or three, over a piece on one of the two.
#[inline(always)]
fn jump_right<W: Word>(from: W, occupied: W) -> W {
    let (second, first_occupied) = (from << 16, occupied << 8);
    (second & first_occupied) | ((second & (first_occupied ^ occupied)) << 8)
}
