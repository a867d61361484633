//! `JointDeal`: a deal whose seed several parties make. The server promises its part first; then every player who contributes
//! commits to a part, and all of them reveal.

use std::fmt;
use std::str::FromStr;

use anqi_records::Tags;
use anqi_rules::{Commitment, Contribution, ParseError, Seat, Seed, excerpt};

use crate::live::Refusal;

/// What the players contribute to the deal of a game, as far as it is known.
///
/// A player who contributes alone need not commit: the server has, and no other player could wait for what it reveals.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct JointDeal {
    game: String,
    parts: [Option<Part>; 2],
}

/// What one player contributes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Part {
    /// What it has committed to.
    pub commitment: Option<Commitment>,
    /// What it has revealed.
    pub contribution: Option<Contribution>,
}

impl JointDeal {
    /// The deal of the game of this name; `None` if no player contributes to it.
    pub(crate) fn new(game: &str, contributes: [bool; 2]) -> Option<JointDeal> {
        let parts = contributes.map(|contributes| contributes.then(Part::default));
        (contributes != [false; 2]).then(|| JointDeal { game: game.to_owned(), parts })
    }

    /// The name of the game, to which all parts are bound.
    #[must_use]
    pub fn game(&self) -> &str {
        &self.game
    }

    /// What a player contributes; `None` if it does not.
    #[must_use]
    pub fn part(&self, seat: Seat) -> Option<&Part> {
        self.parts[seat as usize].as_ref()
    }

    fn is_alone(&self) -> bool {
        self.parts.iter().flatten().count() == 1
    }

    /// Whether a player is asked for a commitment.
    #[must_use]
    pub fn awaits_commitment(&self, by: Seat) -> bool {
        !self.is_alone() && self.part(by).is_some_and(|part| part.commitment.is_none())
    }

    /// Whether a player is asked to reveal.
    #[must_use]
    pub fn awaits_reveal(&self, by: Seat) -> bool {
        let committed = self.is_alone() || self.parts.iter().flatten().all(|part| part.commitment.is_some());
        committed && self.part(by).is_some_and(|part| part.contribution.is_none())
    }

    /// What all players have contributed, first player first; `None` as long as a part is missing.
    pub(crate) fn contributions(&self) -> Option<Vec<Contribution>> {
        self.parts.iter().flatten().map(|part| part.contribution.clone()).collect()
    }

    /// A player whose part is not revealed.
    pub(crate) fn missing(&self) -> Option<Seat> {
        Seat::ALL.into_iter().find(|&seat| self.part(seat).is_some_and(|part| part.contribution.is_none()))
    }

    pub(crate) fn commit(&mut self, by: Seat, commitment: Commitment) -> Result<(), JointError> {
        match &mut self.parts[by as usize] {
            Some(part) if part.commitment.is_none() => part.commitment = Some(commitment),
            _ => return Err(JointError::NoCommitmentAwaited(by)),
        }
        Ok(())
    }

    pub(crate) fn reveal(&mut self, by: Seat, seed: &Seed, nonce: &Seed) -> Result<(), JointError> {
        if !self.awaits_reveal(by) {
            return Err(JointError::NoRevealAwaited(by));
        }
        let contribution = Contribution { by, seed: seed.clone(), nonce: nonce.clone() };
        let promised = self.part(by).and_then(|part| part.commitment);
        if promised.is_some_and(|promised| promised != contribution.commitment(&self.game)) {
            return Err(JointError::NotOpened(by));
        }
        if let Some(part) = &mut self.parts[by as usize] {
            part.contribution = Some(contribution);
        }
        Ok(())
    }

    /// Writes the commitments into the tags of a record, and what was revealed if it may be told.
    pub(crate) fn record(&self, is_told: bool, mut set: impl FnMut(&str, &str)) {
        set("DealGame", &self.game);
        for (seat, part) in Seat::ALL.into_iter().zip(&self.parts) {
            let Some(part) = part else { continue };
            let [name, _, _] = tag_names(seat);
            // A player who contributes alone has the tag, too: it says who contributed.
            set(name, &part.commitment.map_or_else(|| "-".to_owned(), |commitment| commitment.to_string()));
            if let Some(contribution) = part.contribution.as_ref().filter(|_| is_told) {
                let [_, seed, nonce] = tag_names(seat);
                set(seed, &contribution.seed.to_string());
                set(nonce, &contribution.nonce.to_string());
            }
        }
    }

    /// What a record says of the players' contributions; `None` if the server alone has dealt.
    ///
    /// # Errors
    /// If a tag cannot be read, or the parts cannot have been revealed so.
    pub fn of_record(tags: &Tags) -> Result<Option<JointDeal>, String> {
        let names = Seat::ALL.map(tag_names);
        let contributes = names.map(|[commitment, ..]| tags.get(commitment).is_some());
        let Some(mut joint) = JointDeal::new(tags.get("DealGame").unwrap_or_default(), contributes) else {
            return Ok(None);
        };
        let named = |name: &str, error: &dyn fmt::Display| format!("{name}: {error}");
        for (by, [name, ..]) in Seat::ALL.into_iter().zip(names) {
            if let Some(text) = tags.get(name).filter(|text| *text != "-") {
                let commitment = text.parse().map_err(|error| named(name, &error))?;
                joint.commit(by, commitment).map_err(|error| named(name, &error))?;
            }
        }
        for (by, [_, seed, nonce]) in Seat::ALL.into_iter().zip(names) {
            if let Some((seed_text, nonce_text)) = tags.get(seed).zip(tags.get(nonce)) {
                let read = |name, text: &str| text.parse::<Seed>().map_err(|error| named(name, &error));
                let (read_seed, read_nonce) = (read(seed, seed_text)?, read(nonce, nonce_text)?);
                joint.reveal(by, &read_seed, &read_nonce).map_err(|error| named(seed, &error))?;
            }
        }
        Ok(Some(joint))
    }
}

/// The tags of commitment, seed and nonce of a player.
fn tag_names(seat: Seat) -> [&'static str; 3] {
    match seat {
        Seat::First => ["FirstDealCommit", "FirstDealSeed", "FirstDealNonce"],
        Seat::Second => ["SecondDealCommit", "SecondDealSeed", "SecondDealNonce"],
    }
}

/// Why a part of a deal is not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum JointError {
    /// The player does not contribute, contributes alone, or has committed.
    #[error("no commitment is awaited from the {} player", .0.name())]
    NoCommitmentAwaited(Seat),
    /// The player does not contribute or has revealed, or a commitment is missing.
    #[error("nothing is to be revealed by the {} player now", .0.name())]
    NoRevealAwaited(Seat),
    /// Something else than was committed to.
    #[error("seed and nonce do not open the commitment of the {} player", .0.name())]
    NotOpened(Seat),
}

impl From<JointError> for Refusal {
    fn from(error: JointError) -> Refusal {
        Refusal::Joint(error)
    }
}

/// Why a game ended before its first ply. It has no result; what was committed to is told.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Void {
    /// The player who was invited did not come in time.
    Expired,
    /// A player did not reveal its part of the deal in time.
    NotRevealed,
    /// A player gave the game up.
    Withdrawn,
}

impl Void {
    const ALL: [Void; 3] = [Void::Expired, Void::NotRevealed, Void::Withdrawn];
}

/// `expired`, `not revealed`, `withdrawn`.
impl fmt::Display for Void {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Void::Expired => "expired",
            Void::NotRevealed => "not revealed",
            Void::Withdrawn => "withdrawn",
        })
    }
}

impl FromStr for Void {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Void, ParseError> {
        Void::ALL
            .into_iter()
            .find(|void| void.to_string() == text)
            .ok_or_else(|| ParseError::Termination(excerpt(text)))
    }
}
