//! Whether a deal is what was promised.

use anqi_records::{Record, ReplayError, replay};
use anqi_rules::{Deal, Ply, Seed, SeedError};

/// What was found true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verified {
    /// How many flips the deal explains.
    pub flips: usize,
    /// Whether the record holds a promise that the seed keeps.
    pub committed: bool,
}

/// Why a deal is not what was promised, or cannot be told.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VerifyError {
    /// No seed to look at.
    #[error("the record has no Seed: its deal was not told")]
    NoSeed,
    /// A promise without the means to check it.
    #[error("the record has a DealCommit, but no DealNonce to open it with")]
    NoNonce,
    /// Not a seed.
    #[error("DealNonce: {0}")]
    Nonce(#[from] SeedError),
    /// The seed is another one.
    #[error("the deal was switched: Seed and DealNonce do not open the DealCommit")]
    Switched,
    /// A flip showed something else.
    #[error("the deal was switched: ply {ply} shows {shown}, but the deal has {dealt}")]
    Shown {
        /// Its number, counted from 1.
        ply: usize,
        /// What the record says.
        shown: String,
        /// What the deal says.
        dealt: String,
    },
    /// A record that is no game.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// A ply that the rules refuse.
    #[error("ply {ply}: {error}")]
    Illegal {
        /// Its number, counted from 1.
        ply: usize,
        /// Why.
        error: String,
    },
}

/// Deals again from the record's seed, and compares promise and flips.
///
/// # Errors
/// If the deal was switched, or if the record does not tell it.
pub fn verify(record: &Record) -> Result<Verified, VerifyError> {
    let seed = record.seed().map_err(ReplayError::from)?.ok_or(VerifyError::NoSeed)?;
    let commitment = record.deal_commit().map_err(ReplayError::from)?;
    if let Some(commitment) = commitment {
        let nonce: Seed = record.tags().get("DealNonce").ok_or(VerifyError::NoNonce)?.parse()?;
        if !commitment.opens_to(&seed, &nonce) {
            return Err(VerifyError::Switched);
        }
    }
    let replay = replay(record, None)?;
    if let Some(illegal) = replay.illegal {
        return Err(VerifyError::Illegal { ply: illegal.ply, error: illegal.error.to_string() });
    }
    let deal = Deal::of(&replay.game.positions()[0], &seed);
    let mut flips = 0;
    for (index, &ply) in replay.game.plies().iter().enumerate() {
        if let Ply::Flip(..) = ply {
            flips += 1;
            let dealt = deal.resolve(ply.to_move()).map_or_else(|error| error.to_string(), |dealt| dealt.to_string());
            if dealt != ply.to_string() {
                return Err(VerifyError::Shown { ply: index + 1, shown: ply.to_string(), dealt });
            }
        }
    }
    Ok(Verified { flips, committed: commitment.is_some() })
}
