//! `ClockTime`: a time as the comments of records write it.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anqi_rules::excerpt;

use crate::comment::CommentError;

/// Hours, minutes and seconds to the millisecond, written `0:14:59.5`.
///
/// ```
/// use anqi_records::ClockTime;
///
/// let clock: ClockTime = "0:14:59.5".parse()?;
/// assert_eq!(clock.millis(), 899_500);
/// assert_eq!(clock.to_string(), "0:14:59.5");
/// # Ok::<(), anqi_records::CommentError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct ClockTime(u64);

impl ClockTime {
    /// So many milliseconds.
    #[must_use]
    pub const fn from_millis(millis: u64) -> ClockTime {
        ClockTime(millis)
    }

    /// The whole of it in milliseconds.
    #[must_use]
    pub const fn millis(self) -> u64 {
        self.0
    }
}

/// Fractions of a millisecond are dropped.
impl From<Duration> for ClockTime {
    fn from(duration: Duration) -> ClockTime {
        ClockTime(u64::try_from(duration.as_millis()).unwrap_or(u64::MAX))
    }
}

impl From<ClockTime> for Duration {
    fn from(clock: ClockTime) -> Duration {
        Duration::from_millis(clock.0)
    }
}

impl fmt::Display for ClockTime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (seconds, fraction) = (self.0 / 1000, self.0 % 1000);
        write!(f, "{}:{:02}:{:02}", seconds / 3600, seconds / 60 % 60, seconds % 60)?;
        if fraction > 0 {
            write!(f, ".{}", format!("{fraction:03}").trim_end_matches('0'))?;
        }
        Ok(())
    }
}

impl FromStr for ClockTime {
    type Err = CommentError;

    fn from_str(text: &str) -> Result<ClockTime, CommentError> {
        parse(text).map(ClockTime).ok_or_else(|| CommentError::Clock(excerpt(text)))
    }
}

fn parse(text: &str) -> Option<u64> {
    let (whole, fraction) = text.split_once('.').unwrap_or((text, "0"));
    let (hours, rest) = whole.split_once(':')?;
    let (minutes, seconds) = rest.split_once(':')?;
    let sixty = |part: &str| if part.len() == 2 { number(part).filter(|&n| n < 60) } else { None };
    let millis = match fraction.len() {
        1..=3 => number(fraction)? * 10_u64.pow(3 - fraction.len() as u32),
        _ => return None,
    };
    let seconds = number(hours)?.checked_mul(3600)?.checked_add(sixty(minutes)? * 60 + sixty(seconds)?)?;
    seconds.checked_mul(1000)?.checked_add(millis)
}

/// Digits only: `u64::from_str` would take a sign.
fn number(text: &str) -> Option<u64> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::ClockTime;

    #[test]
    fn goes_round() {
        for millis in [0, 1, 10, 999, 59_999, 60_000, 899_500, 3_600_000, 86_400_001, u64::MAX] {
            let clock = ClockTime::from_millis(millis);
            assert_eq!(clock.to_string().parse(), Ok(clock));
        }
    }

    #[test]
    fn is_strict() {
        for text in ["", "5", "1:00", "0:60:00", "0:00:60", "0:0:1", "-0:00:01", "0:00:01.", "0:00:01.0005", "0:+1:01"]
        {
            let error = text.parse::<ClockTime>().unwrap_err().to_string();
            assert!(error.contains(&format!("{text:?}")), "{error}");
        }
        assert!(format!("{}:00:00", u64::MAX).parse::<ClockTime>().is_err());
    }
}
