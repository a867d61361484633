//! `Record`: what was played, unjudged.

use std::fmt;

use anqi_rules::{Commitment, Game, Ply, Position, Rules, Seat, Seed};

use crate::comment::Comment;
use crate::result::{GameResult, Reason};
use crate::tags::{TagError, Tags, meaningless};

/// One game: tags, plies with their comments, and the result.
///
/// The plies need not be legal and the result need not be true; [`replay`](crate::replay()) judges.
/// But a record does not contradict itself: it always has a `Result` tag, which is the result, and
/// a `PlyCount` tag counts its plies. Its text is our own format:
///
/// ```
/// use anqi_records::{Record, Tags};
/// use anqi_rules::{Game, Rules};
///
/// let mut game = Game::new(Rules::server());
/// for ply in ["b8(G)", "d8(c)", "c8(C)"] {
///     game.play(ply.parse()?)?;
/// }
/// let mut tags = Tags::new();
/// tags.set("First", "Alice")?;
/// let record = Record::from_game(&game, tags).with_comments(["hm".parse()?]);
/// let text = r#"[First "Alice"]
/// [Result "*"]
/// [Rules "server"]
/// [PlyCount "3"]
///
/// 1. b8(G) {hm} d8(c) 2. c8(C) *
/// "#;
/// assert_eq!(record.to_string(), text);
/// assert_eq!(text.parse::<Record>()?, record);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Record {
    tags: Tags,
    plies: Vec<PlayedPly>,
    result: GameResult,
}

/// A ply and what the record says about it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct PlayedPly {
    /// What happened.
    pub ply: Ply,
    /// What is said about it, mostly nothing.
    pub comment: Comment,
}

impl From<Ply> for PlayedPly {
    fn from(ply: Ply) -> PlayedPly {
        PlayedPly { ply, comment: Comment::default() }
    }
}

/// Tags that say something else than the plies and the result.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Contradiction {
    /// Two results.
    #[error("tag Result says {tag:?}, but the plies end in {result}")]
    Result {
        /// What the tag says.
        tag: String,
        /// What the plies end in.
        result: GameResult,
    },
    /// Plies were lost or added.
    #[error("tag PlyCount says {tag:?}, but there are {plies} plies")]
    PlyCount {
        /// What the tag says.
        tag: String,
        /// How many there are.
        plies: usize,
    },
}

impl Record {
    /// A record of its parts. A missing `Result` tag is put in.
    ///
    /// # Errors
    /// If the tags say another result or another number of plies.
    pub fn new(mut tags: Tags, plies: Vec<PlayedPly>, result: GameResult) -> Result<Record, Contradiction> {
        match tags.get("Result") {
            None => tags.put("Result", result.to_string()),
            Some(tag) if tag != result.name() => {
                return Err(Contradiction::Result { tag: tag.to_owned(), result });
            }
            Some(_) => {}
        }
        if let Some(tag) = tags.get("PlyCount").filter(|tag| **tag != plies.len().to_string()) {
            return Err(Contradiction::PlyCount { tag: tag.to_owned(), plies: plies.len() });
        }
        Ok(Record { tags, plies, result })
    }

    /// The record of a game, finished or not. What the game knows better replaces the tags given:
    /// result, rules, termination, number of plies, start.
    #[must_use]
    pub fn from_game(game: &Game, mut tags: Tags) -> Record {
        let result = GameResult::from(game.outcome());
        tags.put("Result", result.to_string());
        tags.put("Rules", game.rules().to_string());
        tags.put("PlyCount", game.plies().len().to_string());
        match game.outcome() {
            Some(outcome) => tags.put("Termination", outcome.termination.to_string()),
            None => drop(tags.remove("Termination")),
        }
        match game.positions().first().filter(|start| **start != Position::initial(game.rules())) {
            Some(start) => tags.put("Position", start.to_string()),
            None => drop(tags.remove("Position")),
        }
        Record { tags, plies: game.plies().iter().copied().map(PlayedPly::from).collect(), result }
    }

    /// The same record with these comments on its plies, from the first on.
    #[must_use]
    pub fn with_comments(mut self, comments: impl IntoIterator<Item = Comment>) -> Record {
        for (played, comment) in self.plies.iter_mut().zip(comments) {
            played.comment = comment;
        }
        self
    }

    /// The same record without what was said about its plies.
    #[must_use]
    pub fn without_comments(mut self) -> Record {
        self.plies.iter_mut().for_each(|played| played.comment = Comment::default());
        self
    }

    /// Tags and plies, to make another record of them.
    #[must_use]
    pub fn into_parts(self) -> (Tags, Vec<PlayedPly>, GameResult) {
        (self.tags, self.plies, self.result)
    }

    /// What is said about the game.
    #[must_use]
    pub const fn tags(&self) -> &Tags {
        &self.tags
    }

    /// What was played.
    #[must_use]
    pub fn plies(&self) -> &[PlayedPly] {
        &self.plies
    }

    /// How it ended.
    #[must_use]
    pub const fn result(&self) -> GameResult {
        self.result
    }

    /// The name of a player.
    #[must_use]
    pub fn player(&self, seat: Seat) -> Option<&str> {
        self.tags.get(match seat {
            Seat::First => "First",
            Seat::Second => "Second",
        })
    }

    /// Why it ended, if the record says so.
    ///
    /// # Errors
    /// If it says so in words that are not ours.
    pub fn reason(&self) -> Result<Option<Reason>, TagError> {
        self.tags.typed("Termination")
    }

    /// The rules it was played by, if the record says so.
    ///
    /// # Errors
    /// If the tag holds no rules.
    pub fn rules(&self) -> Result<Option<Rules>, TagError> {
        let parse = |text| Rules::parse_stored(text).map_err(|error| meaningless("Rules", text, &error));
        self.tags.get("Rules").map(parse).transpose()
    }

    /// Where it starts under `rules`: the `Position` tag, or the beginning.
    ///
    /// # Errors
    /// If the tag holds no position.
    pub fn start(&self, rules: &Rules) -> Result<Position, TagError> {
        match self.tags.get("Position") {
            None => Ok(Position::initial(rules)),
            Some(text) => Position::parse(text, rules.ladder()).map_err(|error| meaningless("Position", text, &error)),
        }
    }

    /// The seed of its deal, if the record tells.
    ///
    /// # Errors
    /// If the tag holds no seed.
    pub fn seed(&self) -> Result<Option<Seed>, TagError> {
        self.tags.typed("Seed")
    }

    /// What was promised about its deal, if anything was.
    ///
    /// # Errors
    /// If the tag holds no commitment.
    pub fn deal_commit(&self) -> Result<Option<Commitment>, TagError> {
        self.tags.typed("DealCommit")
    }
}

impl fmt::Display for Record {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        crate::anqi::write(f, self)
    }
}
