//! Seats: which connection may act for a side of a game. A seat is held by a secret token; only its key, a hash, is kept.

use std::io;

use anqi_rules::Seat;
use serde::{Deserialize, Serialize};

/// 128 random bits. It cannot be printed by accident: [`Token::text`] is for its holder alone.
pub(crate) struct Token([u8; 16]);

/// What a journal keeps of a token. Keys are compared in constant time.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Key(blake3::Hash);

impl Token {
    pub(crate) fn random() -> io::Result<Token> {
        let mut bytes = [0; 16];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Token(bytes))
    }

    /// Reads 32 hexadecimal digits.
    pub(crate) fn parse(text: &str) -> Option<Token> {
        let digits = (text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit())).then_some(text)?;
        u128::from_str_radix(digits, 16).ok().map(|number| Token(number.to_be_bytes()))
    }

    pub(crate) fn text(&self) -> String {
        format!("{:032x}", u128::from_be_bytes(self.0))
    }

    /// The key of this token in the game of this name.
    pub(crate) fn key(&self, game: &str) -> Key {
        let material = [&self.0, game.as_bytes()].concat();
        Key(blake3::derive_key("anqi 2026 token of a seat", &material).into())
    }
}

impl Key {
    pub(crate) fn text(&self) -> String {
        self.0.to_string()
    }

    fn is(&self, text: Option<&str>) -> bool {
        text.and_then(|text| blake3::Hash::from_hex(text).ok()).is_some_and(|hash| hash == self.0)
    }
}

/// The seats of a game, in the head of its journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Seats {
    /// The name of the game, to which its tokens are bound.
    pub(crate) game: String,
    /// The keys of those who have held the first and the second seat from the beginning.
    pub(crate) keys: [Option<String>; 2],
    /// The key of the link for the invited player; it is used once.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) invitation: Option<String>,
}

/// What the player who begins a game is given: to hold its seats, and to invite.
pub(crate) struct Tokens {
    pub(crate) own: Token,
    pub(crate) invitation: Option<Token>,
}

impl Tokens {
    /// The seats of a new game with these human players, of whom one may be invited.
    pub(crate) fn new(game: &str, humans: [bool; 2], invited: Option<Seat>) -> io::Result<(Seats, Tokens)> {
        let own = Token::random()?;
        let invitation = invited.map(|_| Token::random()).transpose()?;
        let is_own = |seat: &Seat| humans[*seat as usize] && invited != Some(*seat);
        let keys = Seat::ALL.map(|seat| is_own(&seat).then(|| own.key(game).text()));
        let invitation_key = invitation.as_ref().map(|token| token.key(game).text());
        let seats = Seats { game: game.to_owned(), keys, invitation: invitation_key };
        Ok((seats, Tokens { own, invitation }))
    }
}

/// What a token is good for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum TokenUse {
    /// It holds these seats.
    Holds(Held),
    /// It invites to the free seat.
    Invites,
    Nothing,
}

impl Seats {
    /// What a token is good for in a game whose invited player is `guest`.
    pub(crate) fn use_of(&self, token: &str, guest: Option<(Seat, &str)>) -> TokenUse {
        let Some(key) = Token::parse(token).map(|token| token.key(&self.game)) else { return TokenUse::Nothing };
        let held = Seat::ALL.map(|seat| {
            let guest = guest.filter(|(its, _)| *its == seat).map(|(_, key)| key);
            key.is(self.keys[seat as usize].as_deref()) | key.is(guest)
        });
        match Held(held) {
            Held::NONE if key.is(self.invitation.as_deref()) => TokenUse::Invites,
            Held::NONE => TokenUse::Nothing,
            held => TokenUse::Holds(held),
        }
    }
}

/// The seats that a connection acts for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Held([bool; 2]);

impl Held {
    /// Those of a spectator.
    pub(crate) const NONE: Held = Held([false; 2]);
    /// Those of a connection to a game without tokens, on a server for one person.
    pub(crate) const ALL: Held = Held([true; 2]);

    pub(crate) fn only(seat: Seat) -> Held {
        Held(Seat::ALL.map(|each| each == seat))
    }

    pub(crate) fn holds(self, seat: Seat) -> bool {
        self.0[seat as usize]
    }

    pub(crate) fn seats(self) -> impl Iterator<Item = Seat> {
        Seat::ALL.into_iter().filter(move |&seat| self.holds(seat))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_hold_what_they_were_made_for() {
        let [own, invitation, fresh, other] = [(); 4].map(|()| Token::random().unwrap());
        let text = |token: &Token| Some(token.key("game").text());
        let seats = Seats { game: "game".to_owned(), keys: [text(&own), None], invitation: text(&invitation) };
        let guest_key = fresh.key("game").text();
        let guest = Some((Seat::Second, guest_key.as_str()));
        assert_eq!(seats.use_of(&own.text(), guest), TokenUse::Holds(Held::only(Seat::First)));
        assert_eq!(seats.use_of(&own.text().to_uppercase(), None), TokenUse::Holds(Held::only(Seat::First)));
        assert_eq!(seats.use_of(&invitation.text(), guest), TokenUse::Invites);
        assert_eq!(seats.use_of(&fresh.text(), guest), TokenUse::Holds(Held::only(Seat::Second)));
        assert_eq!(seats.use_of(&fresh.text(), None), TokenUse::Nothing);
        let cut = &own.text()[..31];
        for text in [other.text().as_str(), "", cut, &format!("+{cut}"), &guest_key, &"0".repeat(32), "none"] {
            assert_eq!(seats.use_of(text, guest), TokenUse::Nothing, "{text}");
        }
        // Of another game it is good for nothing.
        let elsewhere = Seats { game: "another game".to_owned(), ..seats };
        assert_eq!(elsewhere.use_of(&own.text(), None), TokenUse::Nothing);
        let both = Seats { keys: [text(&own), text(&own)], game: "game".to_owned(), invitation: None };
        assert_eq!(both.use_of(&own.text(), None), TokenUse::Holds(Held::ALL));
    }
}
