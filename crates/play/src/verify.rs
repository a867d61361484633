//! Whether a deal is what was promised.

use anqi_records::{Record, ReplayError, Tags, replay};
use anqi_rules::{Commitment, Deal, Ply, Seat, Seed, SeedError};

use crate::joint::JointDeal;

/// What was found true.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Verified {
    /// How many flips the deal explains.
    pub flips: usize,
    /// Whether the record holds a promise that the seed keeps.
    pub committed: bool,
    /// Whether the first and the second player have contributed to the deal.
    pub contributed: [bool; 2],
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
    /// A contribution of a player that was not committed to, or cannot be read.
    #[error("the parts of the deal do not fit: {0}")]
    Parts(String),
    /// A contribution that was never told.
    #[error("the {} player has contributed to the deal, but the record does not say what", .0.name())]
    NotTold(Seat),
    /// The seed was not made of the parts.
    #[error("the deal was switched: Seed does not follow from DealSeed and what the players have contributed")]
    OtherSeed,
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
    let commitment = record.deal_commit().map_err(ReplayError::from)?;
    let joint = JointDeal::of_record(record.tags()).map_err(VerifyError::Parts)?;
    let seed = record.seed().map_err(ReplayError::from)?;
    let seed = match &joint {
        None => opened(commitment, seed.ok_or(VerifyError::NoSeed)?, record.tags())?,
        Some(joint) => {
            let own: Seed = record.tags().get("DealSeed").ok_or(VerifyError::NoSeed)?.parse()?;
            let own = opened(commitment, own, record.tags())?;
            match joint.contributions() {
                Some(contributions) => {
                    let made = own.joint(joint.game(), &contributions);
                    if seed.is_some_and(|seed| seed != made) {
                        return Err(VerifyError::OtherSeed);
                    }
                    made
                }
                // Nothing was dealt.
                None if record.tags().get("Void").is_some() && record.plies().is_empty() => own,
                None => return Err(VerifyError::NotTold(joint.missing().unwrap_or(Seat::First))),
            }
        }
    };
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
    let part = |seat| joint.as_ref().and_then(|joint| joint.part(seat));
    let contributed = Seat::ALL.map(|seat| part(seat).is_some_and(|part| part.contribution.is_some()));
    Ok(Verified { flips, committed: commitment.is_some(), contributed })
}

/// The seed, if the promise was made for it.
fn opened(commitment: Option<Commitment>, seed: Seed, tags: &Tags) -> Result<Seed, VerifyError> {
    let Some(commitment) = commitment else { return Ok(seed) };
    let nonce: Seed = tags.get("DealNonce").ok_or(VerifyError::NoNonce)?.parse()?;
    if commitment.opens_to(&seed, &nonce) { Ok(seed) } else { Err(VerifyError::Switched) }
}
