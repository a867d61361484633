//! `Board`: what this crate has to know of a game.

use anqi_assess::Tag;
use anqi_rules::Seat;

/// A game where it stands. Moves are text as the engines of that game write it: `e2e4`, `D4`, `7g7f`.
///
/// [`Seat::First`] is White in chess and Black in Go and shogi, the one who moves first.
pub trait Board {
    /// Whose move it is.
    fn turn(&self) -> Seat;

    /// All legal moves, in an order that depends on the position alone.
    fn moves(&self) -> Vec<String>;

    /// Plays a move.
    ///
    /// # Errors
    /// If it is illegal or no move at all; nothing has changed then.
    fn play(&mut self, mv: &str) -> Result<(), IllegalMove>;

    /// How the rules end the game here, if they do.
    fn end(&self) -> Option<GameEnd>;

    /// What the board looks like, for conditioned curves.
    fn facts(&self) -> Facts;
}

impl<B: Board + ?Sized> Board for Box<B> {
    fn turn(&self) -> Seat {
        (**self).turn()
    }

    fn moves(&self) -> Vec<String> {
        (**self).moves()
    }

    fn play(&mut self, mv: &str) -> Result<(), IllegalMove> {
        (**self).play(mv)
    }

    fn end(&self) -> Option<GameEnd> {
        (**self).end()
    }

    fn facts(&self) -> Facts {
        (**self).facts()
    }
}

/// A move against the rules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("illegal move {0:?}")]
pub struct IllegalMove(pub String);

impl IllegalMove {
    pub(crate) fn new(text: &str) -> IllegalMove {
        IllegalMove(anqi_rules::excerpt(text))
    }
}

/// Who won.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum WinOrDraw {
    /// One side did.
    Win(Seat),
    /// No side did.
    Draw,
}

impl WinOrDraw {
    /// 1, ½ or 0, as `side` sees it.
    #[must_use]
    pub fn score(self, side: Seat) -> f64 {
        match self {
            WinOrDraw::Win(winner) if winner == side => 1.0,
            WinOrDraw::Win(_) => 0.0,
            WinOrDraw::Draw => 0.5,
        }
    }
}

/// How the rules end a game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameEnd {
    /// With a result.
    Decided(WinOrDraw),
    /// Both sides have passed: the stones have to be counted, after an agreement on the dead ones.
    Counting,
}

/// What a board looks like to the side to move: the tags of every position, the same in all games.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Facts {
    /// Whose move it is.
    pub turn: Seat,
    /// Pieces or stones on the board.
    pub pieces: u32,
    /// What the side to move is ahead by: material in chess (pawn 1, knight and bishop 3, rook 5, queen 9) and shogi (see
    /// [`Shogi`](crate::Shogi)), prisoners in Go.
    pub lead: i32,
    /// Whether the side to move is in check; in Go, whether a group of its own has one liberty left.
    pub check: bool,
    /// Whether it can capture something.
    pub capture: bool,
}

impl Facts {
    /// Name and value of each, for tables.
    #[must_use]
    pub fn tags(&self) -> [(&'static str, Tag); 5] {
        [
            ("pieces", self.pieces.into()),
            ("lead", self.lead.into()),
            ("check", Tag::yes(self.check)),
            ("capture", Tag::yes(self.capture)),
            ("side", self.turn.name().into()),
        ]
    }
}
