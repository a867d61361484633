//! `Contribution`: what a player adds to the seed of a deal, so that no party alone decides it.

use crate::deal::{Commitment, Seed};
use crate::game::Seat;

/// A player's part of the seed of a deal.
///
/// ```
/// use anqi_rules::{Contribution, Seat, Seed};
///
/// let own = Contribution { by: Seat::First, seed: Seed::from(1), nonce: Seed::from(2) };
/// let copied = Contribution { by: Seat::Second, ..own.clone() };
/// assert_ne!(own.commitment("a game"), copied.commitment("a game")); // a copied commitment cannot be opened
/// let server = Seed::from(3);
/// assert_ne!(server.joint("a game", &[own.clone()]), server.joint("a game", &[own, copied]));
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Contribution {
    /// Whose it is.
    pub by: Seat,
    /// The part itself.
    pub seed: Seed,
    /// What hides it in the commitment.
    pub nonce: Seed,
}

impl Contribution {
    /// Binds the player to this part in the game of this name, without giving it away.
    #[must_use]
    pub fn commitment(&self, game: &str) -> Commitment {
        let parts = [self.seed.bytes(), self.nonce.bytes(), &[number(self.by)], game.as_bytes()];
        Commitment::from(blake3::derive_key("anqi 2026 contribution to a deal", &parts.concat()))
    }
}

impl Seed {
    /// The seed of a deal of several parties: this one, which one of them has promised, and what the others add, first player
    /// first.
    #[must_use]
    pub fn joint(&self, game: &str, contributions: &[Contribution]) -> Seed {
        let mut all = self.bytes().to_vec();
        all.push(contributions.len() as u8);
        for contribution in contributions {
            all.push(number(contribution.by));
            all.extend(contribution.seed.bytes());
        }
        all.extend(game.as_bytes());
        Seed::from(blake3::derive_key("anqi 2026 deal of several parties", &all))
    }
}

fn number(seat: Seat) -> u8 {
    seat as u8 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What is written in records and computed by the page does not change.
    #[test]
    fn commitments_and_joint_seeds_stay_what_they_are() {
        let own = Contribution { by: Seat::Second, seed: Seed::from([1; 32]), nonce: Seed::from([2; 32]) };
        let all = [own.seed.bytes(), own.nonce.bytes(), &[2], b"0123456789abcdef"].concat();
        let expected = blake3::derive_key("anqi 2026 contribution to a deal", &all);
        assert_eq!(own.commitment("0123456789abcdef"), Commitment::from(expected));
        assert!(own.commitment("0123456789abcdee") != own.commitment("0123456789abcdef"));
        let other = Contribution { by: Seat::First, ..own.clone() };
        let server = Seed::from([3; 32]);
        let joint = |contributions: &[Contribution]| server.joint("g", contributions).to_string();
        let all = [&[3; 32][..], &[2, 1], &[1; 32], &[2], &[1; 32], b"g"].concat();
        let expected = Seed::from(blake3::derive_key("anqi 2026 deal of several parties", &all));
        assert_eq!(joint(&[other.clone(), own.clone()]), expected.to_string());
        assert_ne!(joint(&[own.clone(), other.clone()]), joint(&[other, own]));
    }
}
