//! `Fault`: every way in which an outside program can fail its referee.

use std::fmt;
use std::time::Duration;

use anqi_play::FaultKind;
use anqi_rules::{Move, Position, Termination};

/// What an outside program did wrong. All but [`Fault::Launch`] and [`Fault::Unsupported`] lose the game in
/// which they happen, by [`Fault::termination`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Fault {
    /// It could not be started.
    #[error("cannot start {command}: {reason}")]
    Launch {
        /// The program.
        command: String,
        /// Why not.
        reason: String,
    },
    /// Its protocol has no words for this game.
    #[error("{0}")]
    Unsupported(String),
    /// It ended in the middle of a game.
    #[error("it ended ({status}) when asked {asked:?}{}", Tail(stderr))]
    Crashed {
        /// How: an exit code or a signal.
        status: String,
        /// What it had been told last.
        asked: String,
        /// The last lines it wrote to standard error.
        stderr: Vec<String>,
    },
    /// It runs on, but its streams are closed.
    #[error("it closed its standard {stream} when asked {asked:?}")]
    Closed {
        /// `input` or `output`.
        stream: &'static str,
        /// What it had been told last.
        asked: String,
    },
    /// Its time ran out while it was thinking.
    #[error("no move within {}", Seconds(limit))]
    Late {
        /// The time it had, with the margin.
        limit: Duration,
    },
    /// It does not answer a command that takes no thought.
    #[error("no answer to {asked:?} within {}", Seconds(limit))]
    Silent {
        /// What it had been told.
        asked: String,
        /// How long we waited.
        limit: Duration,
    },
    /// It does not read what it is sent.
    #[error("it does not read its input: {asked:?} could not be sent within {}", Seconds(limit))]
    Deaf {
        /// What it should have been told.
        asked: String,
        /// How long we tried.
        limit: Duration,
    },
    /// It writes without end.
    #[error("{what} when asked {asked:?}")]
    Flood {
        /// A line or an output too long, with the limit.
        what: String,
        /// What it had been told last.
        asked: String,
    },
    /// It refuses a command that it must carry out.
    #[error("it refuses {asked:?}: {answer:?}")]
    Refused {
        /// What it had been told.
        asked: String,
        /// What it said.
        answer: String,
    },
    /// Its answer means nothing.
    #[error("bad answer {answer:?} to {asked:?}, expected {expected}")]
    Malformed {
        /// What it had been told.
        asked: String,
        /// What it said.
        answer: String,
        /// What would do.
        expected: &'static str,
    },
    /// Its move is against the rules.
    #[error("illegal move {answer:?} in {position}: {reason}")]
    Illegal {
        /// What it said.
        answer: String,
        /// What is wrong with it.
        reason: Illegality,
        /// Where.
        position: Position,
    },
    /// It gave up.
    #[error("it resigns")]
    Resigned,
}

impl Fault {
    /// How a game ends in which this happens; the culprit loses.
    #[must_use]
    pub const fn termination(&self) -> Termination {
        match self.kind().termination() {
            Some(termination) => termination,
            None => Termination::Forfeit,
        }
    }

    /// One word for tables and records.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        self.kind().name()
    }

    /// What kind of fault it is.
    #[must_use]
    pub const fn kind(&self) -> FaultKind {
        match self {
            Fault::Launch { .. } => FaultKind::Launch,
            Fault::Unsupported(_) => FaultKind::Unsupported,
            Fault::Crashed { .. } => FaultKind::Crashed,
            Fault::Closed { .. } => FaultKind::Closed,
            Fault::Late { .. } => FaultKind::Late,
            Fault::Silent { .. } => FaultKind::Silent,
            Fault::Deaf { .. } => FaultKind::Deaf,
            Fault::Flood { .. } => FaultKind::Flood,
            Fault::Refused { .. } => FaultKind::Refused,
            Fault::Malformed { .. } => FaultKind::Malformed,
            Fault::Illegal { .. } => FaultKind::Illegal,
            Fault::Resigned => FaultKind::Resigned,
        }
    }
}

/// Why a move is against the rules.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Illegality {
    /// A square that is not there.
    OffBoard,
    /// A flip of a square where nothing lies face down.
    NotFaceDown,
    /// A move of a piece that lies face down.
    FaceDownPiece,
    /// A move before the sides have colours.
    NoColour,
    /// A move from an empty square.
    EmptySquare,
    /// A move of an enemy piece.
    WrongColour,
    /// A move onto a piece of one's own.
    OwnPiece,
    /// A move onto a face-down piece.
    FaceDownTarget,
    /// A move to a square out of reach.
    OutOfReach,
    /// A cannon that captures without exactly one piece between.
    NoScreen,
    /// A piece that does not take what stands on the target.
    CannotTake,
    /// The next move of a forbidden chase.
    LongChase,
    /// The game is over.
    Over,
}

impl fmt::Display for Illegality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Illegality::OffBoard => "there is no such square",
            Illegality::NotFaceDown => "nothing lies face down there",
            Illegality::FaceDownPiece => "a face-down piece cannot move",
            Illegality::NoColour => "nobody has a colour yet, only flips are possible",
            Illegality::EmptySquare => "nothing stands there",
            Illegality::WrongColour => "that piece is the opponent's",
            Illegality::OwnPiece => "a piece of its own stands there",
            Illegality::FaceDownTarget => "a face-down piece cannot be captured",
            Illegality::OutOfReach => "that square is out of reach",
            Illegality::NoScreen => "a cannon captures over exactly one piece",
            Illegality::CannotTake => "that piece does not take the other",
            Illegality::LongChase => "a long chase may not go on",
            Illegality::Over => "the game is over",
        })
    }
}

impl Illegality {
    /// What is wrong with `mv`, if anything is.
    #[must_use]
    pub fn of(game: &anqi_rules::Game, mv: Move) -> Option<Illegality> {
        if game.legal_moves().contains(&mv) {
            return None;
        }
        let position = game.position();
        let on_board = |square| position.board().squares().contains(square);
        Some(match mv {
            _ if game.outcome().is_some() => Illegality::Over,
            Move::Flip(square) if !on_board(square) => Illegality::OffBoard,
            Move::Step { from, to } if !on_board(from) || !on_board(to) => Illegality::OffBoard,
            Move::Flip(_) => Illegality::NotFaceDown,
            _ if position.is_legal(mv) => Illegality::LongChase,
            Move::Step { from, .. } if position.hidden().contains(from) => Illegality::FaceDownPiece,
            Move::Step { from, to } => match (position.turn(), position.piece_at(from), position.piece_at(to)) {
                (None, ..) => Illegality::NoColour,
                (_, None, _) => Illegality::EmptySquare,
                (Some(turn), Some(piece), _) if piece.color != turn => Illegality::WrongColour,
                (Some(turn), _, Some(target)) if target.color == turn => Illegality::OwnPiece,
                _ if position.hidden().contains(to) => Illegality::FaceDownTarget,
                (_, Some(piece), Some(_)) if jumps(position, piece) => Illegality::NoScreen,
                (_, _, Some(_)) if anqi_rules::neighbours(from).contains(to) => Illegality::CannotTake,
                _ => Illegality::OutOfReach,
            },
        })
    }
}

fn jumps(position: &Position, piece: anqi_rules::Piece) -> bool {
    piece.kind == anqi_rules::Kind::Cannon && position.ladder().cannons_jump()
}

struct Seconds<'a>(&'a Duration);

impl fmt::Display for Seconds<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0.as_secs())?;
        anqi_play::write_part(f, *self.0)?;
        f.write_str(" s")
    }
}

struct Tail<'a>(&'a [String]);

impl fmt::Display for Tail<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.last() {
            Some(last) => write!(f, "; its last words: {last:?}"),
            None => Ok(()),
        }
    }
}
