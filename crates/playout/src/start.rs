//! `Start`: what a playout starts from.

use anqi_rules::{Color, Position};

/// A position made ready for playouts.
///
/// Cheap to make and small, but worth keeping when one position is played out many times.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Start {
    /// Bit `i` of the rung of every revealed piece.
    pub(crate) planes: [u32; 3],
    /// The revealed pieces, red and black.
    pub(crate) colors: [u32; 2],
    /// The face-down squares.
    pub(crate) hidden: u32,
    /// The squares of the board.
    pub(crate) squares: u32,
    /// Whether cannons jump.
    pub(crate) jumps: bool,
    /// Who moves; `None` before the first flip, if there is anything to flip.
    pub(crate) turn: Option<Color>,
    /// Plies since the last flip or capture.
    pub(crate) quiet: u32,
    lots: [Lot; LOTS],
}

/// Pieces of one sort in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lot {
    pub(crate) color: Color,
    pub(crate) rung: u8,
    pub(crate) count: u8,
}

const RUNGS: u8 = 7;
const LOTS: usize = RUNGS as usize * Color::ALL.len();

impl Start {
    /// The pool in the order of dealing: from kings down to pawns, for the last lot gets what is
    /// left without a draw, and pawns are many.
    pub(crate) fn lots(&self) -> impl Iterator<Item = Lot> + use<> {
        self.lots.into_iter().filter(|lot| lot.count > 0)
    }
}

impl From<&Position> for Start {
    fn from(position: &Position) -> Start {
        let ladder = position.ladder();
        let mut lots = [Lot { color: Color::Red, rung: 0, count: 0 }; LOTS];
        for (piece, count) in position.pool().iter() {
            let rung = ladder.rung(piece.kind);
            let place = usize::from(RUNGS - rung) * Color::ALL.len() + piece.color as usize;
            lots[place] = Lot { color: piece.color, rung, count };
        }
        Start {
            planes: position.planes(),
            colors: Color::ALL.map(|color| position.pieces(color).0),
            hidden: position.hidden().0,
            squares: position.board().squares().0,
            jumps: ladder.cannons_jump(),
            turn: position.turn().or(position.hidden().is_empty().then_some(Color::Red)),
            quiet: position.quiet().into(),
            lots,
        }
    }
}
