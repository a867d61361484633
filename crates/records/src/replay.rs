//! A record played through the rules, and what the rules say about its ending.

use std::fmt;

use anqi_rules::{Game, Outcome, PlyError, PositionMismatch, Rules, Seat, Termination};

use crate::record::Record;
use crate::result::{GameResult, Reason};
use crate::tags::TagError;

/// A record played as far as the rules allow.
#[derive(Clone, Debug)]
pub struct Replay {
    /// The game after the last ply that could be played. If the record tells an ending that no
    /// board shows, and the board does not deny it, the game has that ending.
    pub game: Game,
    /// How the game ended by the board, if it did.
    pub board_ending: Option<BoardEnding>,
    /// How it ended by the record.
    pub result: GameResult,
    /// The first ply that could not.
    pub illegal: Option<IllegalPly>,
    /// How many plies were not played: the illegal one and all after it.
    pub unplayed: usize,
    /// What the record says about the ending, against what the board says.
    pub ending: EndingCheck,
}

/// A ply that the rules refuse.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct IllegalPly {
    /// Its number, counted from 1.
    pub ply: usize,
    /// Why.
    pub error: PlyError,
}

/// How the game ended by the board, and when.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct BoardEnding {
    /// How.
    pub outcome: Outcome,
    /// After how many plies.
    pub ply: usize,
}

impl fmt::Display for BoardEnding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} at ply {}", self.outcome, self.ply)
    }
}

/// The recorded ending against the judged one.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum EndingCheck {
    /// The board confirms winner and reason at the last ply. An ending that no board shows (time,
    /// forfeit, resignation, abandonment, agreement) is confirmed if the game was still going on then and, for time, if
    /// the side to move has lost.
    Equal,
    /// The board says something else.
    Differs {
        /// The recorded result.
        result: GameResult,
        /// The recorded reason, if it is one of ours.
        reason: Option<Reason>,
        /// How the game ended by the board, if it did.
        judged: Option<BoardEnding>,
    },
    /// There is nothing to compare: the record has no result, or gives no reason for one that the
    /// board does not show.
    Unstated,
}

impl fmt::Display for EndingCheck {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            EndingCheck::Equal => f.write_str("equal"),
            EndingCheck::Unstated => f.write_str("unstated"),
            EndingCheck::Differs { result, reason, judged } => {
                write!(f, "recorded {result}")?;
                if let Some(reason) = reason {
                    write!(f, " ({reason})")?;
                }
                match judged {
                    Some(ending) => write!(f, ", judged {ending}"),
                    None => f.write_str(", but the game is not over"),
                }
            }
        }
    }
}

/// Why a record cannot be replayed at all.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ReplayError {
    /// A tag that says no rules or no start.
    #[error(transparent)]
    Tag(#[from] TagError),
    /// A start on another board than the rules'.
    #[error(transparent)]
    Start(#[from] PositionMismatch),
}

/// Plays a record under `rules`, or under its own, or under the match server's if it names none.
///
/// ```
/// use anqi_records::{EndingCheck, Record, replay};
///
/// let record: Record = r#"
/// [Rules "server"]
/// [Termination "no move"]
/// [Position "4/4/4/4/4/4/GG2/p3 r -"]
///
/// 1. b2-b1 1-0
/// "#.parse()?;
/// let replay = replay(&record, None)?;
/// assert_eq!(replay.board_ending.unwrap().to_string(), "first wins (no action) at ply 1");
/// assert_eq!(replay.ending, EndingCheck::Equal);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If rules or start cannot be told from the tags.
pub fn replay(record: &Record, rules: Option<Rules>) -> Result<Replay, ReplayError> {
    let rules = match rules {
        Some(rules) => rules,
        None => record.rules()?.unwrap_or_default(),
    };
    let mut game = Game::from_position(rules, record.start(&rules)?)?;
    let refused = record.plies().iter().find_map(|played| game.play(played.ply).err());
    let played = game.plies().len();
    let board_ending = game.outcome().map(|outcome| BoardEnding { outcome, ply: played });
    let unplayed = record.plies().len() - played;
    let ending = compare(record, board_ending, unplayed == 0, game.seat());
    if let (EndingCheck::Equal, None, Some(outcome)) = (&ending, board_ending, off_board(record)) {
        game.end(outcome);
    }
    let illegal = refused.map(|error| IllegalPly { ply: played + 1, error });
    Ok(Replay { game, board_ending, result: record.result(), illegal, unplayed, ending })
}

/// What the record says against what the board says after the last ply.
fn compare(record: &Record, judged: Option<BoardEnding>, complete: bool, to_move: Seat) -> EndingCheck {
    let result = record.result();
    if result == GameResult::Unfinished {
        return EndingCheck::Unstated;
    }
    // Words that are not ours give no reason that could be compared.
    let reason = record.reason().unwrap_or_default();
    let equal = match (judged, reason) {
        _ if !complete => false,
        (Some(BoardEnding { outcome, .. }), _) => {
            result == GameResult::from(Some(outcome)) && reason.is_none_or(|reason| reason.admits(outcome.termination))
        }
        (None, None) => return EndingCheck::Unstated,
        (None, Some(_)) => off_board(record)
            .is_some_and(|outcome| outcome.termination != Termination::Time || outcome.winner == Some(to_move.other())),
    };
    if equal { EndingCheck::Equal } else { EndingCheck::Differs { result, reason, judged } }
}

/// How a game ended that did not end on the board, by its record.
fn off_board(record: &Record) -> Option<Outcome> {
    let Ok(Some(Reason::Exactly(why))) = record.reason() else { return None };
    match record.result() {
        GameResult::Won(winner) => why.off_board(Some(winner.other())),
        GameResult::Drawn => why.off_board(None),
        GameResult::Unfinished => None,
    }
}
