//! `Clock`: how much time a player has for a game, as text `40/15:00+0.5`.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anqi_rules::excerpt;

/// A time control: a stock of time, what every move adds to it, and after how many moves the stock is
/// handed out again.
///
/// The text is that of match runners, `moves/minutes:seconds+increment`; bare seconds are read too.
///
/// ```
/// use anqi_play::Clock;
///
/// for text in ["15:00", "0:10+0.1", "40/5:00", "2:00.5+1"] {
///     assert_eq!(text.parse::<Clock>()?.to_string(), text);
/// }
/// assert_eq!("900".parse::<Clock>()?, Clock::default());
/// # Ok::<(), anqi_play::ClockError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Clock {
    /// The stock of time.
    pub base: Duration,
    /// What every move adds.
    pub increment: Duration,
    /// After so many moves of a player the stock is handed out again.
    pub moves: Option<u32>,
}

/// The match server's: 15 minutes a side and game.
impl Default for Clock {
    fn default() -> Clock {
        Clock { base: Duration::from_secs(900), increment: Duration::ZERO, moves: None }
    }
}

impl Clock {
    /// What a player has after its move number `moves_made` (from 1), which took `used` of `left`.
    #[must_use]
    pub fn after_move(&self, left: Duration, used: Duration, moves_made: u32) -> Duration {
        let renewed = self.moves.is_some_and(|moves| moves > 0 && moves_made.is_multiple_of(moves));
        left.saturating_sub(used) + self.increment + if renewed { self.base } else { Duration::ZERO }
    }
}

/// What is left on both clocks, seen from one player.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Left {
    /// The player's own.
    pub own: Duration,
    /// The opponent's.
    pub other: Duration,
}

/// A text that is not a time control.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is not a time control, expected [MOVES/][MINUTES:]SECONDS[+INCREMENT] such as 15:00, 40/5:00 or 10+0.1")]
pub struct ClockError(String);

/// No clock of a game is longer: 1000 hours.
const MOST_SECONDS: u64 = 3_600_000;

impl FromStr for Clock {
    type Err = ClockError;

    fn from_str(text: &str) -> Result<Clock, ClockError> {
        read(text).ok_or_else(|| ClockError(excerpt(text)))
    }
}

fn read(text: &str) -> Option<Clock> {
    let (moves, rest) = match text.split_once('/') {
        Some((moves, rest)) => (Some(number(moves).filter(|&moves| moves > 0)?), rest),
        None => (None, text),
    };
    let (stock, increment) = rest.split_once('+').unwrap_or((rest, "0"));
    let (minutes, rest) = stock.split_once(':').unwrap_or(("0", stock));
    let base = Duration::from_secs(u64::from(number(minutes)?) * 60) + seconds(rest)?;
    let clock = Clock { base, increment: seconds(increment)?, moves };
    let most = Duration::from_secs(MOST_SECONDS);
    (clock.base <= most && clock.increment <= most && clock.base + clock.increment > Duration::ZERO).then_some(clock)
}

/// Digits alone; nine are plenty for anything here.
fn number(text: &str) -> Option<u32> {
    let digits = (1..=9).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_digit());
    if digits { text.parse().ok() } else { None }
}

/// Reads `12` or `12.345`, to the millisecond.
#[must_use]
pub fn seconds(text: &str) -> Option<Duration> {
    let (whole, part) = text.split_once('.').unwrap_or((text, "0"));
    if part.len() > 3 {
        return None;
    }
    let milliseconds = number(part)? * 10_u32.pow(3 - part.len() as u32);
    Some(Duration::from_secs(number(whole)?.into()) + Duration::from_millis(milliseconds.into()))
}

impl fmt::Display for Clock {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(moves) = self.moves {
            write!(f, "{moves}/")?;
        }
        let seconds = self.base.as_secs();
        write!(f, "{}:{:02}", seconds / 60, seconds % 60)?;
        write_part(f, self.base)?;
        if self.increment > Duration::ZERO {
            write!(f, "+{}", self.increment.as_secs())?;
            write_part(f, self.increment)?;
        }
        Ok(())
    }
}

/// Writes the milliseconds behind a point, as few digits as it takes.
///
/// # Errors
/// If the formatter fails.
pub fn write_part(f: &mut fmt::Formatter<'_>, duration: Duration) -> fmt::Result {
    match duration.subsec_millis() {
        0 => Ok(()),
        part => write!(f, ".{}", format!("{part:03}").trim_end_matches('0')),
    }
}
