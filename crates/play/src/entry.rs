//! `Entry`: one thing that happened in a game, as both players may know it and as a journal keeps it.

use std::time::Duration;

use anqi_rules::{Commitment, Ply, Seat, Seed, Termination};
use serde::{Deserialize, Serialize};

use crate::joint::Void;
use crate::text::{self, millis};

/// One thing that happened. A game is what it began as and its entries: replaying them gives it again.
///
/// As JSON it is a line of the page's journals, with times in whole milliseconds. Nothing hidden is in it.
///
/// ```
/// use anqi_play::Entry;
///
/// for text in [
///     r#"{"entry":"ply","ply":"a1(K)","clock":899500}"#,
///     r#"{"entry":"back","plies":2,"clocks":[900000,899500]}"#,
///     r#"{"entry":"offer","by":"second"}"#,
///     r#"{"entry":"end","loser":"first","why":"resignation"}"#,
///     r#"{"entry":"join","by":"second","key":"9c0e"}"#,
///     r#"{"entry":"void","why":"not revealed"}"#,
/// ] {
///     let entry: Entry = serde_json::from_str(text)?;
///     assert_eq!(serde_json::to_string(&entry)?, text);
/// }
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "lowercase")]
pub enum Entry {
    /// The player who was invited has come.
    Join {
        /// Whose seat it is.
        #[serde(with = "text")]
        by: Seat,
        /// What the face knows the player by, such as a hash of its token.
        key: String,
    },
    /// A player commits to a part of the deal's seed.
    Commit {
        /// Who.
        #[serde(with = "text")]
        by: Seat,
        /// To what.
        #[serde(with = "text")]
        commitment: Commitment,
    },
    /// A player reveals its part. The deal still hangs on the server's, which is told when the game is over.
    Reveal {
        /// Who.
        #[serde(with = "text")]
        by: Seat,
        /// The part.
        #[serde(with = "text")]
        seed: Seed,
        /// What hid it.
        #[serde(with = "text")]
        nonce: Seed,
    },
    /// The game is void: it ended before it began.
    Void {
        /// Why.
        #[serde(with = "text")]
        why: Void,
    },
    /// A ply was made.
    Ply {
        /// What happened on the board.
        #[serde(with = "text")]
        ply: Ply,
        /// What its player's clock shows afterwards.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "millis")]
        clock: Option<Duration>,
    },
    /// Plies were taken back.
    Back {
        /// How many.
        plies: usize,
        /// What the clocks of the first and the second player show now.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "millis::both")]
        clocks: Option<[Option<Duration>; 2]>,
    },
    /// A draw was offered. The offer stands until the other side answers it or makes a ply.
    Offer {
        /// Who offers.
        #[serde(with = "text")]
        by: Seat,
    },
    /// The offer was declined.
    Decline {
        /// Who declines.
        #[serde(with = "text")]
        by: Seat,
    },
    /// The game ended off the board.
    End {
        /// Who lost; `None` for a draw.
        #[serde(default, skip_serializing_if = "Option::is_none", with = "text::option")]
        loser: Option<Seat>,
        /// Why.
        #[serde(with = "text")]
        why: Termination,
        /// What a program did that lost by misbehaving.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fault: Option<String>,
    },
}
