//! `TableError`: why there is no table.

use crate::index::MOST_PIECES;
use crate::{Ending, Flavour};

/// Why a table cannot be had from a file.
#[derive(Debug, thiserror::Error)]
pub enum TableError {
    /// The file cannot be read, or is damaged.
    #[cfg(feature = "files")]
    #[error(transparent)]
    Container(#[from] anqi_store::ContainerError),
    /// A file that says of itself what we cannot use.
    #[error("{path}: {what}")]
    Head {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// A table from elsewhere that is not taken.
    #[error("{0}")]
    Unsound(Box<TableError>),
    /// A folder that is not there.
    #[error("{path}: {error}")]
    Folder {
        /// The folder.
        path: String,
        /// Why not.
        error: std::io::Error,
    },
    /// There is no table where one is needed.
    #[error("there is no table of {ending} ({flavour}) in {dir}; build it first")]
    Missing {
        /// Which.
        ending: Ending,
        /// Of which flavour.
        flavour: Flavour,
        /// Where.
        dir: String,
    },
    /// An ending without tables.
    #[error("{0} has more than {MOST_PIECES} pieces")]
    TooManyPieces(Ending),
}

impl TableError {
    /// Whether a table from elsewhere was not taken because of what it holds.
    #[must_use]
    pub const fn is_of_contents(&self) -> bool {
        matches!(self, TableError::Unsound(_))
    }
}
