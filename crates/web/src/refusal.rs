//! Why a page's request was not done: in words, and as a kind that a program can act on.

use anqi_play::TermsError;

use crate::link::LinkError;
use crate::socket::MOST_NODES;
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
                TableError::Terms(TermsError::Occupant(_)) | TableError::Player(_) => RefusalKind::WrongPlayer,
                TableError::Terms(TermsError::Over(_)) => RefusalKind::Over,
                TableError::Terms(_) => RefusalKind::WrongSetup,
                TableError::NoSuchGame(_) => RefusalKind::NoSuchGame,
                TableError::Kept => RefusalKind::Kept,
                TableError::NotAMove(_) => RefusalKind::NotAMove,
                TableError::NotYourTurn => RefusalKind::NotYourTurn,
                TableError::Refused(refused) => match refused {
                    anqi_play::Refusal::Over(_) => RefusalKind::Over,
                    anqi_play::Refusal::Illegal { .. } => RefusalKind::Illegal,
                    anqi_play::Refusal::TooLate { .. } => RefusalKind::OtherPly,
                    anqi_play::Refusal::NotYourTurn(_) => RefusalKind::NotYourTurn,
                    anqi_play::Refusal::NothingToTakeBack => RefusalKind::NothingToTakeBack,
                    anqi_play::Refusal::NoOffer(_) => RefusalKind::NoOffer,
                    anqi_play::Refusal::OfferedAlready => RefusalKind::OfferedAlready,
                    // Only programs fail so, and entries of its own fit a game.
                    anqi_play::Refusal::NotALoss(_) | anqi_play::Refusal::Entry(_) => RefusalKind::Damaged,
                },
                TableError::NoHuman => RefusalKind::NobodyToResign,
                TableError::Io(_) | TableError::Journal(_) => RefusalKind::Storage,
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
