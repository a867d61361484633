//! Out of danger: who can be captured, and where could it not?

use crate::board::{Actions, DealtBoard};
use crate::narrow::Names;
use crate::word::Word;

/// The actions by which a piece that could be captured gets where it could not: exactly, with the square
/// it has left empty and what it captures gone.
///
/// Enemies that step reach the same squares before and after, as neither their own squares nor those next
/// to the new one change hands. Cannons look along lines. What the piece sees from its new square in
/// any direction but the one it came from is what can be seen from there now. Looking back it sees
/// through the square that it left: after a step what it saw from there, and after a jump a single
/// piece and what comes behind the square that it left.
#[inline(always)]
pub(crate) fn escapes<W: Word, const JUMPS: bool>(board: &DealtBoard<W>, squares: W, actions: &Actions<W>) -> Names<W> {
    let DealtBoard { planes: [p0, p1, p2], own, foe, dark } = *board;
    let (movers, enemies) = (own & !dark, foe & !dark);
    let cannons = p1 & !(p0 | p2);
    let (steppers, jumpers) = if JUMPS { (enemies & !cannons, enemies & cannons) } else { (enemies, W::empty()) };
    let lines = CannonLines::new::<JUMPS>(jumpers, own | foe, squares);

    // Rung by rung: the squares next to enemies that take it.
    let from_2 = p1 | p2;
    let from_3 = p2 | p1 & p0;
    let from_5 = p2 & (p1 | p0);
    let from_6 = p2 & p1;
    let kings = from_6 & p0;
    let pawns = !from_2;
    let takers = [!kings, from_2, from_3, p2, from_5, from_6, kings | pawns];
    let rungs = [pawns, from_2 & !from_3, from_3 & !p2, p2 & !from_5, from_5 & !from_6, from_6 & !kings, kings];
    let [mut in_danger, mut danger_up, mut danger_down, mut danger_jumping] =
        [movers & lines.hit(), W::empty(), W::empty(), W::empty()];
    for rung in 1..=7 {
        let pieces = movers & rungs[rung - 1];
        if pieces.surely_empty() {
            continue;
        }
        let reached = near(steppers & takers[rung - 1]);
        in_danger = in_danger | pieces & reached;
        danger_up = danger_up | pieces & reached.upper();
        danger_down = danger_down | pieces.upper() & reached;
        if rung == 2 {
            danger_jumping = reached | lines.across;
        }
    }
    if in_danger.surely_empty() {
        return Names { steps: W::empty(), jumps: W::empty() };
    }

    // A step is named by its lower end: where it starts if it goes up, else where it ends.
    let steps = actions.captures | actions.others;
    let up = steps & in_danger & !(danger_up | (lines.from_above | lines.across).upper() | lines.from_below);
    let down = steps & !(own | dark) & in_danger.upper();
    let down = down & !(danger_down | lines.from_below | lines.across | lines.from_above.upper());

    let mut jumps = W::empty();
    if JUMPS && !actions.jumps.surely_empty() {
        let (jumping, safe) = (in_danger & cannons, enemies & !danger_jumping);
        let up = (jumping & !lines.below).jump(own | foe) & safe & !lines.from_above;
        let down = (safe & !lines.from_below).jump(own | foe) & jumping & !lines.above;
        jumps = (up | down) & actions.jumps;
    }
    Names { steps: up | down, jumps }
}

/// The squares next to these.
#[inline(always)]
fn near<W: Word>(set: W) -> W {
    let in_line = set.upper().inside() | set.lower();
    in_line | in_line.across()
}

/// Where enemy cannons are seen, and whom they hit. Above and below are along the line of the view.
struct CannonLines<W> {
    /// An enemy cannon is the first piece above.
    above: W,
    /// An enemy cannon is the first piece below.
    below: W,
    /// An enemy cannon is the second piece above: it would capture what is here.
    from_above: W,
    /// An enemy cannon is the second piece below.
    from_below: W,
    /// The same along the other line.
    across: W,
}

impl<W: Word> CannonLines<W> {
    #[inline(always)]
    fn new<const JUMPS: bool>(cannons: W, occupied: W, squares: W) -> CannonLines<W> {
        let mut lines = CannonLines {
            above: W::empty(),
            below: W::empty(),
            from_above: W::empty(),
            from_below: W::empty(),
            across: W::empty(),
        };
        if JUMPS && !cannons.surely_empty() {
            let empty = squares & !occupied;
            lines.above = cannons.below(empty);
            lines.below = cannons.above(empty);
            lines.from_above = (lines.above & occupied).below(empty);
            lines.from_below = (lines.below & occupied).above(empty);
            lines.across = (lines.from_above | lines.from_below).across();
        }
        lines
    }

    /// The squares where something would be captured by a cannon.
    #[inline(always)]
    fn hit(&self) -> W {
        self.from_above | self.from_below | self.across
    }
}
