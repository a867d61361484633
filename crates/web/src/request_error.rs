//! Why a page's request was not done: in words, and as a kind that a program can act on.

use anqi_play::{JointError, SeriesError, TermsError};

use crate::hosted::HostedError;
use crate::limits::LimitError;
use crate::link::LinkError;
use crate::series::SeriesRefusal;
use crate::wire::{RefusalKind, Refused};

#[derive(Debug, thiserror::Error)]
pub(crate) enum RequestError {
    #[error("no game is open")]
    NothingOpen,
    #[error("a game is reviewed when it is over")]
    StillPlayed,
    #[error("there is nothing to play")]
    NothingToPlay,
    #[error("{asked} nodes are too many, expected {most} at most")]
    TooManyNodes { asked: u64, most: u64 },
    #[error("ply {ply} is beyond the {plies} plies of the game")]
    NoSuchPly { ply: usize, plies: usize },
    #[error("binary messages are not understood, expected JSON text")]
    Binary,
    #[error(transparent)]
    Game(#[from] HostedError),
    #[error(transparent)]
    Link(#[from] LinkError),
    #[error(transparent)]
    Limit(#[from] LimitError),
    #[error(transparent)]
    Series(SeriesRefusal),
}

/// What a game or a bound refuses is that, in a series or not.
impl From<SeriesRefusal> for RequestError {
    fn from(refusal: SeriesRefusal) -> RequestError {
        match refusal {
            SeriesRefusal::Game(error) => error.into(),
            SeriesRefusal::Limit(error) => error.into(),
            SeriesRefusal::Agreement(SeriesError::Terms(error)) => HostedError::from(error).into(),
            refusal => RequestError::Series(refusal),
        }
    }
}

impl RequestError {
    fn kind(&self) -> RefusalKind {
        match self {
            RequestError::NothingOpen => RefusalKind::NothingOpen,
            RequestError::StillPlayed => RefusalKind::StillPlayed,
            RequestError::NothingToPlay => RefusalKind::NothingToPlay,
            RequestError::TooManyNodes { .. } => RefusalKind::TooManyNodes,
            RequestError::NoSuchPly { .. } => RefusalKind::NoSuchPly,
            RequestError::Binary => RefusalKind::Malformed,
            RequestError::Link(_) => RefusalKind::WrongLink,
            RequestError::Limit(LimitError::Busy(_) | LimitError::Rate { .. }) => RefusalKind::Busy,
            RequestError::Limit(LimitError::GameSize(_) | LimitError::FolderFull(_)) => RefusalKind::Quota,
            RequestError::Series(refusal) => match refusal {
                SeriesRefusal::NoSuchSeries(_) => RefusalKind::NoSuchSeries,
                SeriesRefusal::Agreement(SeriesError::Program(_)) => RefusalKind::WrongPlayer,
                SeriesRefusal::Over(_) => RefusalKind::SeriesOver,
                SeriesRefusal::Io(_) => RefusalKind::Storage,
                SeriesRefusal::Damaged { .. } | SeriesRefusal::Conflict(_) => RefusalKind::Damaged,
                _ => RefusalKind::WrongSetup,
            },
            RequestError::Game(error) => match error {
                HostedError::Terms(TermsError::Occupant(_) | TermsError::NotAPerson { .. })
                | HostedError::Player(_) => RefusalKind::WrongPlayer,
                HostedError::Terms(TermsError::Over(_)) => RefusalKind::Over,
                HostedError::Terms(_) => RefusalKind::WrongSetup,
                HostedError::NoSuchGame(_) => RefusalKind::NoSuchGame,
                HostedError::Kept => RefusalKind::Kept,
                HostedError::NotAMove(_) => RefusalKind::NotAMove,
                HostedError::NotYourTurn => RefusalKind::NotYourTurn,
                HostedError::Refused(refused) => match refused {
                    anqi_play::Refusal::Over(_) => RefusalKind::Over,
                    anqi_play::Refusal::Void(_) => RefusalKind::Void,
                    anqi_play::Refusal::NotBegun(_) => RefusalKind::NotBegun,
                    anqi_play::Refusal::NotInvited(_) => RefusalKind::Taken,
                    anqi_play::Refusal::Joint(JointError::NotOpened(_)) => RefusalKind::NotOpened,
                    anqi_play::Refusal::Joint(_) => RefusalKind::NotAwaited,
                    anqi_play::Refusal::NoTakeBack => RefusalKind::NoTakeBack,
                    anqi_play::Refusal::InSeries => RefusalKind::InSeries,
                    anqi_play::Refusal::Illegal { .. } => RefusalKind::Illegal,
                    anqi_play::Refusal::TooLate { .. } => RefusalKind::OtherPly,
                    anqi_play::Refusal::NotYourTurn(_) => RefusalKind::NotYourTurn,
                    anqi_play::Refusal::NothingToTakeBack => RefusalKind::NothingToTakeBack,
                    anqi_play::Refusal::NoOffer(_) => RefusalKind::NoOffer,
                    anqi_play::Refusal::OfferedAlready => RefusalKind::OfferedAlready,
                    // Only programs fail so, and entries of its own fit a game.
                    anqi_play::Refusal::NotALoss(_) | anqi_play::Refusal::Entry(_) | anqi_play::Refusal::Begun => {
                        RefusalKind::Damaged
                    }
                },
                HostedError::NoHuman => RefusalKind::NobodyToResign,
                HostedError::Io(_) | HostedError::Journal(_) => RefusalKind::Storage,
                HostedError::Damaged(_) | HostedError::NoHead { .. } => RefusalKind::Damaged,
                HostedError::NotDamaged => RefusalKind::NotDamaged,
                HostedError::NotSeated => RefusalKind::NotSeated,
                HostedError::InSeries => RefusalKind::InSeries,
                HostedError::WrongToken => RefusalKind::WrongToken,
                HostedError::Taken => RefusalKind::Taken,
                HostedError::NoPart(_) => RefusalKind::Malformed,
                HostedError::NothingToClaim => RefusalKind::NothingToClaim,
                HostedError::NotAway { .. } => RefusalKind::NotAway,
            },
        }
    }
}

impl From<RequestError> for Refused {
    fn from(refusal: RequestError) -> Refused {
        Refused { kind: refusal.kind(), message: refusal.to_string() }
    }
}
