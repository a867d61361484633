//! `PlayoutStart`: what a playout starts from.

use anqi_rules::{Color, Ladder, Material, Piece, Position};

/// A position made ready for playouts: small, and made by a mere copy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PlayoutStart {
    /// Bit `i` of the rung of every revealed piece.
    pub(crate) planes: [u32; 3],
    /// The revealed pieces, red and black.
    pub(crate) colors: [u32; 2],
    /// The face-down squares.
    pub(crate) hidden: u32,
    /// The board and how it is played on.
    pub(crate) arena: Arena,
    /// Who moves; `None` before the first flip, if there is anything to flip.
    pub(crate) turn: Option<Color>,
    /// Plies since the last flip or capture.
    pub(crate) quiet: u32,
    pool: Material,
}

/// What all games in the lanes must have in common.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arena {
    /// The squares of the board.
    pub(crate) squares: u32,
    /// Who captures whom.
    pub(crate) ladder: Ladder,
}

/// Pieces of one sort in the pool.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Lot {
    pub(crate) color: Color,
    pub(crate) rung: u8,
    pub(crate) count: u32,
}

impl PlayoutStart {
    /// The same board after so many quiet plies.
    ///
    /// A game under a rule of 40 that is played out with a limit of 640 may end its present quiet
    /// stretch by the rule, and only later ones by the limit: let it start `640 - 40` plies later.
    #[must_use]
    pub fn with_quiet(self, quiet: u32) -> PlayoutStart {
        PlayoutStart { quiet, ..self }
    }

    /// The pool in the order of dealing: from kings down to pawns, for the last lot gets what is
    /// left without a draw, and pawns are many.
    #[inline(always)]
    pub(crate) fn lots(&self) -> impl Iterator<Item = Lot> + use<> {
        let (pool, ladder) = (self.pool, self.arena.ladder);
        let lot = move |place: u8| {
            let (rung, color) = (7 - place / 2, Color::ALL[usize::from(place % 2)]);
            let count = pool.count(Piece { color, kind: ladder.kind(rung) }).into();
            Lot { color, rung, count }
        };
        (0..14).map(lot).filter(|lot| lot.count > 0)
    }

    /// How many plies a game has behind it when it is dealt: where nobody has a colour yet, the first
    /// flip comes along.
    #[inline(always)]
    pub(crate) fn dealt_plies(&self) -> u32 {
        u32::from(self.turn.is_none())
    }
}

impl From<&Position> for PlayoutStart {
    #[inline]
    fn from(position: &Position) -> PlayoutStart {
        PlayoutStart {
            planes: position.planes(),
            colors: [position.pieces(Color::Red).0, position.pieces(Color::Black).0],
            hidden: position.hidden().0,
            arena: Arena { squares: position.board().squares().0, ladder: position.ladder() },
            turn: position.turn().or(position.hidden().is_empty().then_some(Color::Red)),
            quiet: position.quiet().into(),
            pool: *position.pool(),
        }
    }
}
