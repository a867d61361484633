//! The last line of a record: `NoMove Alice Wins 1.000000,0.000000`.

use anqi_rules::{Seat, Termination, excerpt};

use crate::error::{Flaw, WriteError};
use crate::result::{GameResult, Reason};

/// The server's word for a game of which nobody said why it ended. The word is ours.
const UNKNOWN: &str = "Unknown";

/// How a game ended, in the server's words and in ours.
#[derive(Debug)]
pub(super) struct ServerEnding {
    /// The whole line after its star. The server has written points in several ways.
    pub(super) text: String,
    pub(super) result: GameResult,
    /// What the `Termination` tag should say.
    pub(super) termination: Option<String>,
}

impl ServerEnding {
    /// Reads the line, of whatever style.
    pub(super) fn parse(text: &str, first: &str, second: &str) -> Result<ServerEnding, Flaw> {
        let parts = || {
            let (word, rest) = text.split_once(' ')?;
            let (rest, points) = rest.rsplit_once(' ')?;
            let (name, verb) = rest.rsplit_once(' ')?;
            Some((word, name, parse_points(verb, points)?))
        };
        let (word, name, result) =
            parts().ok_or(Flaw::Expected("a result such as * NoMove Alice Wins 1.000000,0.000000"))?;
        let expected = named(result, first, second);
        if name != expected {
            return Err(Flaw::Winner { found: excerpt(name), expected: excerpt(expected) });
        }
        Ok(ServerEnding { text: text.to_owned(), result, termination: termination(word) })
    }

    /// The line as we write it.
    pub(super) fn new(
        result: GameResult,
        termination: Option<&str>,
        first: &str,
        second: &str,
    ) -> Result<ServerEnding, WriteError> {
        let (verb, points) = match result {
            GameResult::Won(Seat::First) => ("Wins", "1.000000,0.000000"),
            GameResult::Won(Seat::Second) => ("Wins", "0.000000,1.000000"),
            GameResult::Drawn => ("Draw", "0.500000,0.500000"),
            GameResult::Unfinished => return Err(WriteError::Unfinished),
        };
        let name = named(result, first, second);
        let text = format!("{} {name} {verb} {points}", word(termination)?);
        Ok(ServerEnding { text, result, termination: termination.map(str::to_owned) })
    }
}

/// The player in the line: the winner, or the first player of a draw.
fn named<'a>(result: GameResult, first: &'a str, second: &'a str) -> &'a str {
    if result == GameResult::Won(Seat::Second) { second } else { first }
}

fn parse_points(verb: &str, points: &str) -> Option<GameResult> {
    let (first, second) = points.split_once(',')?;
    let points: (f64, f64) = (first.parse().ok()?, second.parse().ok()?);
    let result = GameResult::ALL.into_iter().find(|result| {
        points
            == match result {
                GameResult::Won(Seat::First) => (1.0, 0.0),
                GameResult::Won(Seat::Second) => (0.0, 1.0),
                GameResult::Drawn => (0.5, 0.5),
                GameResult::Unfinished => return false,
            }
    })?;
    let expected = if result == GameResult::Drawn { "draw" } else { "wins" };
    verb.eq_ignore_ascii_case(expected).then_some(result)
}

/// What the `Termination` tag says for a word of the server: our text, or the word if we do not know it.
fn termination(word: &str) -> Option<String> {
    let repetition = || {
        let (times, period) = word.strip_prefix("PositionRepetitionDraw,")?.split_once(',')?;
        Some(Termination::Repetition { times: times.parse().ok()?, period: period.parse().ok()? })
    };
    let reason = match word {
        UNKNOWN => return None,
        "NoMove" => Reason::NoMove,
        "NoEatFlipDraw" => Reason::Exactly(Termination::QuietPlies),
        "TimeOut" => Reason::Exactly(Termination::Time),
        "Forfeit" => Reason::Exactly(Termination::Forfeit),
        "Resignation" => Reason::Exactly(Termination::Resignation),
        "Agreement" => Reason::Exactly(Termination::Agreement),
        "Abandoned" => Reason::Exactly(Termination::Abandoned),
        _ => match repetition() {
            Some(repetition) => Reason::Exactly(repetition),
            None => return Some(word.to_owned()),
        },
    };
    Some(reason.to_string())
}

/// The server's word for what the `Termination` tag says. It has none for forfeit, resignation,
/// agreement and abandonment: those four are ours.
pub(super) fn word(termination: Option<&str>) -> Result<String, WriteError> {
    let Some(text) = termination else { return Ok(UNKNOWN.to_owned()) };
    let Ok(reason) = text.parse() else {
        // A digit would make it look like a line of plies.
        let fits = text.starts_with(|first: char| first.is_alphabetic()) && !text.contains(' ');
        return if fits { Ok(text.to_owned()) } else { Err(WriteError::Termination(excerpt(text))) };
    };
    let word = match reason {
        Reason::NoMove | Reason::Exactly(Termination::Elimination | Termination::NoAction) => "NoMove",
        Reason::Exactly(Termination::QuietPlies) => "NoEatFlipDraw",
        Reason::Exactly(Termination::Time) => "TimeOut",
        Reason::Exactly(Termination::Forfeit) => "Forfeit",
        Reason::Exactly(Termination::Resignation) => "Resignation",
        Reason::Exactly(Termination::Agreement) => "Agreement",
        Reason::Exactly(Termination::Abandoned) => "Abandoned",
        Reason::Exactly(Termination::Repetition { times, period }) => {
            return Ok(format!("PositionRepetitionDraw,{times},{period}"));
        }
    };
    Ok(word.to_owned())
}
