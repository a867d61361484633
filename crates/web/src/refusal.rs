//! Why a page's request was not done: in words, and as a kind that a program can act on.

use crate::link::LinkError;
use crate::study::MOST_NODES;
use crate::table::TableError;
use crate::wire::{RefusalKind, Refused};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Refusal {
    #[error("no game is open")]
    NothingOpen,
    #[error("a game is reviewed when it is over")]
    StillPlayed,
    #[error("there is nothing to play")]
    NothingToPlay,
    #[error("{0} nodes are too many, expected {MOST_NODES} at most")]
    TooManyNodes(u64),
    #[error("ply {ply} is beyond the {plies} plies of the game")]
    NoSuchPly { ply: usize, plies: usize },
    #[error("binary messages are not understood, expected JSON text")]
    Binary,
    #[error(transparent)]
    Table(#[from] TableError),
    #[error(transparent)]
    Link(#[from] LinkError),
}

impl Refusal {
    fn kind(&self) -> RefusalKind {
        match self {
            Refusal::NothingOpen => RefusalKind::NothingOpen,
            Refusal::StillPlayed => RefusalKind::StillPlayed,
            Refusal::NothingToPlay => RefusalKind::NothingToPlay,
            Refusal::TooManyNodes(_) => RefusalKind::TooManyNodes,
            Refusal::NoSuchPly { .. } => RefusalKind::NoSuchPly,
            Refusal::Binary => RefusalKind::Malformed,
            Refusal::Link(_) => RefusalKind::WrongLink,
            Refusal::Table(error) => match error {
                TableError::Wish(_) => RefusalKind::WrongSetup,
                TableError::NoSuchGame(_) => RefusalKind::NoSuchGame,
                TableError::Sitter(_) => RefusalKind::WrongPlayer,
                TableError::Kept => RefusalKind::Kept,
                TableError::Over(_) => RefusalKind::Over,
                TableError::NotAMove(_) => RefusalKind::NotAMove,
                TableError::Illegal { .. } => RefusalKind::Illegal,
                TableError::TooLate { .. } => RefusalKind::OtherPly,
                TableError::NotYourTurn => RefusalKind::NotYourTurn,
                TableError::NothingToTakeBack => RefusalKind::NothingToTakeBack,
                TableError::NobodyToResign => RefusalKind::NobodyToResign,
                TableError::Io(_) => RefusalKind::Storage,
                TableError::Damaged(_) => RefusalKind::Damaged,
            },
        }
    }
}

impl From<Refusal> for Refused {
    fn from(refusal: Refusal) -> Refused {
        Refused { kind: refusal.kind(), message: refusal.to_string() }
    }
}
