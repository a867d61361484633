//! `DealtBoard`: a dealt board, and every action of the side to move as two sets of squares.

use crate::word::Word;

/// A *dealt* board, seen by the side to move.
///
/// A playout settles what lies face down before its first ply. Planes and colours then hold
/// face-down pieces like any other, and a flip only takes a square out of `dark`.
#[derive(Clone, Copy)]
pub(crate) struct DealtBoard<W> {
    /// Bit `i` of the rung of every piece, 1 (pawn) to 7 (king). Anything on empty squares.
    pub(crate) planes: [W; 3],
    /// The pieces of the side to move.
    pub(crate) own: W,
    /// The pieces of the other side.
    pub(crate) foe: W,
    /// The pieces that lie face down.
    pub(crate) dark: W,
}

/// All actions, as sets of *names* in both views of the board.
///
/// An action joins a lower and an upper square of a line. A step is named by its lower end in the
/// view that has this line, a jump by its upper end, and a flip, among the steps, by its square in
/// the view along the files. Then a name stands for one action only, because its square tells
/// apart what it could stand for:
///
/// | set   | up    | down    | flip |
/// |-------|-------|---------|------|
/// | steps | own   | not own | dark |
/// | jumps | enemy | own     |      |
///
/// The number of actions is the number of bits, and a random bit is a random action. And since the
/// mover's end is always the one that is `own`, the pair of ends is all it takes to play it.
#[derive(Clone, Copy)]
pub(crate) struct Actions<W> {
    /// Steps that capture.
    pub(crate) captures: W,
    /// Steps onto empty squares, and flips.
    pub(crate) others: W,
    /// Jumps, which capture too.
    pub(crate) jumps: W,
}

impl<W: Word> DealtBoard<W> {
    /// All actions on a board of these `squares`. `JUMPS`: cannons (rung 2) capture by jumping
    /// over one piece and not by stepping.
    #[inline(always)]
    pub(crate) fn actions<const JUMPS: bool>(&self, squares: W) -> Actions<W> {
        let DealtBoard { planes: [p0, p1, p2], own, foe, dark } = *self;
        let occupied = own | foe;
        let empty = squares & !occupied;
        let (movers, targets) = (own & !dark, foe & !dark);
        let cannons = p1 & !(p0 | p2);
        let jumpers = if JUMPS { movers & cannons } else { W::empty() };
        let takers = movers & !jumpers;

        // Look at each square together with the next one up the line. Its piece may attack the upper
        // one or be attacked by it, never both.
        let (up, down) = (takers & targets.upper(), takers.upper() & targets);
        let (lower_wins, equal) = compare([p0, p1, p2], [p0.upper(), p1.upper(), p2.upper()]);
        let captures = (up | down) & (lower_wins ^ takers.upper() | equal);
        let others = movers & empty.upper() | movers.upper() & empty;

        let mut jumps = W::empty();
        if JUMPS && !jumpers.surely_empty() {
            // Seen from its upper end a jump down is one up: exchange the ends.
            jumps = targets & jumpers.jump(occupied) | jumpers & targets.jump(occupied);
        }
        Actions { captures: captures.inside(), others: others.inside() | dark.in_files(), jumps }
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
