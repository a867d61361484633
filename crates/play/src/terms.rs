//! What is agreed before the first ply, and the secret that decides the deal.

use anqi_engine::{BuildError, PlayerSpec, Resources};
use anqi_rules::{
    Commitment, Game, Outcome, ParseError, Position, PositionMismatch, Rules, RulesError, Seat, Seed, SeedError,
    excerpt,
};
use serde::{Deserialize, Serialize};

use crate::bot::{BotError, BotPolicy};
use crate::clock::{Clock, ClockError};
use crate::joint::JointDeal;
use crate::occupant::Occupant;
use crate::series::SeriesGame;
use crate::text;

/// What is agreed before the first ply, as the players write it. All of it is public.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Terms {
    /// The rules; as [`Rules::parse_stored`] reads them, because terms are kept in journals.
    pub rules: String,
    /// Where the game starts, if not at the beginning.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub position: Option<String>,
    /// Who moves first: `person`, `level:3` or a player string with its budget.
    pub first: String,
    /// Who moves second.
    pub second: String,
    /// The clock of each side.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub clock: Option<String>,
    /// The day, `2026.11.15`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub date: Option<String>,
    /// The fingerprints of the players of ours, first and second.
    #[serde(default, skip_serializing_if = "unknown")]
    pub engines: [Option<String>; 2],
    /// The name of the game, to which contributions to its deal are bound.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub name: String,
    /// Whether the first and the second player contribute to the deal. One player is enough for two people at one board.
    #[serde(default, skip_serializing_if = "no_player")]
    pub contributes: [bool; 2],
    /// Whose seat waits for a player who is invited.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "text::option")]
    pub invited: Option<Seat>,
    /// The place of the game in its series.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub series: Option<SeriesGame>,
}

fn no_player(contributes: &[bool; 2]) -> bool {
    *contributes == [false; 2]
}

fn unknown(engines: &[Option<String>; 2]) -> bool {
    engines.iter().all(Option::is_none)
}

/// Why no game can be played on these terms.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TermsError {
    /// No such rules.
    #[error("rules: {0}")]
    Rules(#[from] RulesError),
    /// Not a position.
    #[error("position: {0}")]
    Position(#[from] ParseError),
    /// A position that does not belong to the rules.
    #[error("position: {0}")]
    Mismatch(#[from] PositionMismatch),
    /// Not a clock.
    #[error("clock: {0}")]
    Clock(#[from] ClockError),
    /// Not a player.
    #[error("first or second player: {0}")]
    Occupant(#[from] BotError),
    /// A player that names a file that was not opened.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A text that no record can hold.
    #[error(transparent)]
    Tag(#[from] anqi_records::TagError),
    /// A player that neither comes nor contributes.
    #[error("the {} player is {text:?}: only a person is invited or contributes to the deal", .seat.name())]
    NotAPerson {
        /// Whose seat it is.
        seat: Seat,
        /// Who sits there.
        text: String,
    },
    /// Nothing is left to play.
    #[error("the game is over: {0}")]
    Over(Outcome),
}

/// Terms that were read.
pub(crate) struct Agreed {
    pub(crate) game: Game,
    pub(crate) seats: [Occupant; 2],
    pub(crate) clock: Option<Clock>,
    pub(crate) joint: Option<JointDeal>,
}

impl Terms {
    /// New terms, as they were typed: the same with texts that say everything, and with the fingerprints of the players,
    /// whose files must be [open](Resources::open_for).
    ///
    /// # Errors
    /// If a side is neither a person nor a player, or a file was not opened.
    pub fn with_engines(self, policy: &BotPolicy, resources: &Resources) -> Result<Terms, TermsError> {
        let side = |text: &str| -> Result<(String, Option<String>), TermsError> {
            let occupant = Occupant::read(text, policy)?;
            let fingerprint = occupant.bot().map(|bot| bot.player.fingerprint(resources)).transpose()?;
            Ok((occupant.to_string(), fingerprint.map(|fingerprint| fingerprint.to_string())))
        };
        let ((first, first_engine), (second, second_engine)) = (side(&self.first)?, side(&self.second)?);
        let rules = self.rules.parse::<Rules>()?.to_string();
        Ok(Terms { rules, first, second, engines: [first_engine, second_engine], ..self })
    }

    /// The same terms with a seat for an invited player. Two people who play from two places both contribute to the deal; a
    /// person alone, or two at one board, do if they want to.
    #[must_use]
    pub fn with_persons(self, invited: Option<Seat>, contribute: bool) -> Terms {
        let persons = [&self.first, &self.second].map(|text| text == "person");
        let contributes = match (invited, persons) {
            (Some(_), _) => [true; 2],
            (None, [first, second]) => [first && contribute, !first && second && contribute],
        };
        Terms { contributes, invited, ..self }
    }

    pub(crate) fn read(&self, policy: &BotPolicy) -> Result<Agreed, TermsError> {
        let mut rules = Rules::parse_stored(&self.rules)?;
        let game = match &self.position {
            None => Game::new(rules),
            Some(text) => {
                let position = Position::parse(text, rules.ladder())?;
                rules = rules.on_board(position.board());
                Game::from_position(rules, position)?
            }
        };
        if let Some(outcome) = game.outcome() {
            return Err(TermsError::Over(outcome));
        }
        let clock = self.clock.as_ref().map(|text| text.parse()).transpose()?;
        let seat = |text: &str| Occupant::read(&PlayerSpec::stored(text), policy);
        let seats = [seat(&self.first)?, seat(&self.second)?];
        for seat in Seat::ALL {
            let is_asked = self.contributes[seat as usize] || self.invited == Some(seat);
            if is_asked && !seats[seat as usize].is_human() {
                let text = if seat == Seat::First { &self.first } else { &self.second };
                return Err(TermsError::NotAPerson { seat, text: excerpt(text) });
            }
        }
        Ok(Agreed { game, seats, clock, joint: JointDeal::new(&self.name, self.contributes) })
    }
}

/// What decides the deal and opens its commitment. It is told when the game is over, and until then it cannot be
/// printed, copied or stored by accident; a journal writes the texts of its two seeds on purpose.
///
/// ```compile_fail
/// println!("{:?}", anqi_play::Secret::from_seed(&anqi_rules::Seed::from(7)));
/// ```
/// ```compile_fail
/// let copy = anqi_play::Secret::from_seed(&anqi_rules::Seed::from(7)).clone();
/// ```
/// ```compile_fail
/// serde_json::to_string(&anqi_play::Secret::from_seed(&anqi_rules::Seed::from(7)));
/// ```
/// ```
/// println!("{}", anqi_play::Secret::from_seed(&anqi_rules::Seed::from(7)).commitment());
/// ```
#[expect(missing_debug_implementations, reason = "a seed gives its deal away")]
pub struct Secret {
    seed: Seed,
    nonce: Seed,
}

impl Secret {
    /// Seed and nonce of a game whose randomness is `base`.
    #[must_use]
    pub fn from_seed(base: &Seed) -> Secret {
        Secret { seed: base.child("deal of a game"), nonce: base.child("nonce of a game") }
    }

    /// Reads what a journal kept.
    ///
    /// # Errors
    /// If a text is not a seed.
    pub fn parse(seed: &str, nonce: &str) -> Result<Secret, SeedError> {
        Ok(Secret { seed: seed.parse()?, nonce: nonce.parse()? })
    }

    /// Where the deal comes from.
    #[must_use]
    pub fn seed(&self) -> &Seed {
        &self.seed
    }

    /// What hides the seed in the commitment.
    #[must_use]
    pub fn nonce(&self) -> &Seed {
        &self.nonce
    }

    /// What may be published before the first flip.
    #[must_use]
    pub fn commitment(&self) -> Commitment {
        Commitment::new(&self.seed, &self.nonce)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Terms are read from journals, and journals of earlier versions have short texts.
    #[test]
    fn short_texts_mean_in_journals_what_they_meant() {
        let policy = BotPolicy::page(1);
        let typed = Terms {
            rules: "chen".to_owned(),
            first: "chen:enhance nodes=5".to_owned(),
            second: "person".to_owned(),
            ..Terms::default()
        };
        let said = |terms: &Terms| {
            let Agreed { game, seats, .. } = terms.read(&policy).unwrap();
            [game.rules().to_string(), seats[0].to_string(), seats[1].to_string()]
        };
        assert_eq!(said(&typed), ["chen,repeat=off", "chen:enhance,below=flips nodes=5", "person"]);
        let new = typed.with_engines(&policy, &Resources::default()).unwrap();
        assert_eq!(said(&new), ["chen,repeat=position:3", "chen:enhance,below=moves nodes=5", "person"]);
        assert_eq!([&new.rules, &new.first], ["chen,repeat=position:3", "chen:enhance,below=moves nodes=5"]);
    }
}
