//! How a playout chooses: `Policy` and `Reading`, by name.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;

/// Among which actions a playout draws: the policies of Jouandeau & Cazenave and two more orders.
///
/// A policy names *parts* joined by `+`. The first part that finds any action decides; if none does, all
/// actions are alike. Its name goes round:
///
/// ```
/// use anqi_playout::Policy;
///
/// assert_eq!("capture+avoid".parse(), Ok(Policy::CaptureAvoid));
/// assert_eq!(Policy::CaptureAvoid.to_string(), "capture+avoid");
/// let error = "trap+capture".parse::<Policy>().unwrap_err().to_string();
/// assert!(error.contains("trap always finds an action, so nothing can follow it"), "{error}");
/// ```
///
/// *Capture*: all captures.
///
/// *Avoid*: a piece that could be captured now goes, capturing or not, where it could not be captured
/// then. What lies face down threatens nobody.
///
/// *Trap*: the actions that leave the opponent the fewest moves, which are its steps and captures. Nobody
/// knows what a flip will bring: it counts as leaving the opponent's moves as they are.
///
/// The paper says no more of *avoid* than "players try to avoid opponent's capture". Of five readings tried,
/// by [`Reading::Paper`] from the start at limit 40, the one above is the nearest on the whole (pieces
/// left, and plies; the first from 2,000 games, the others from 400):
///
/// | | avoid | capture+avoid | avoid+capture |
/// |---|---|---|---|
/// | printed | 16.8, 207 | 7.2, 107 | 7.7, 123 |
/// | a piece in danger goes to safety | 14.8, 123 | 7.0, 102 | 7.1, 116 |
/// | if any is in danger, actions after which none is | 12.9, 107 | 6.8, 102 | 7.4, 109 |
/// | actions after which the fewest are in danger | 17.3, 106 | 10.4, 111 | 17.3, 106 |
/// | moves after which none is in danger | 16.1, 109 | 23.6, 85 | 19.3, 114 |
/// | moves to safety, whether in danger or not | 26.5, 73 | 24.7, 74 | 26.3, 75 |
///
/// The 207 plies printed for *avoid* alone follow from none of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// All legal actions alike.
    Random,
    /// The captures if there is one, all other actions if not.
    Capture,
    /// Out of danger, else random.
    Avoid,
    /// Capture, else out of danger, else random.
    CaptureAvoid,
    /// Out of danger, else capture, else random.
    AvoidCapture,
    /// Few moves for the opponent.
    Trap,
    /// Capture, else trap.
    CaptureTrap,
    /// Capture, else out of danger, else trap.
    CaptureAvoidTrap,
    /// Out of danger, else trap.
    AvoidTrap,
    /// Out of danger, else capture, else trap.
    AvoidCaptureTrap,
}

/// How the rules of a playout are read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Reading {
    /// As the game is played: a capture or a flip starts the count of quiet plies again, and every
    /// action is as likely as another.
    #[default]
    Rules,
    /// As Jouandeau & Cazenave seem to have played: only a flip starts the count again, a capture
    /// leaves it as it is; and first a *unit* is drawn (a piece that can act, or a face-down
    /// square), then one of its actions.
    Paper,
}

/// A name that stands for nothing here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown {what} {text:?}, expected one of {expected}")]
pub struct UnknownName {
    what: &'static str,
    text: String,
    expected: String,
}

impl UnknownName {
    /// Looks `text` up among the names of `all`.
    pub(crate) fn find<T: Copy + fmt::Display>(what: &'static str, text: &str, all: &[T]) -> Result<T, UnknownName> {
        let expected = || all.iter().map(T::to_string).collect::<Vec<_>>().join(", ");
        all.iter().copied().find(|value| value.to_string() == text).ok_or_else(|| UnknownName {
            what,
            text: text.to_owned(),
            expected: expected(),
        })
    }
}

/// A text that names no policy.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{reason} in policy {:?}; policies are {}", excerpt(text), Policy::list())]
pub struct UnknownPolicy {
    text: String,
    reason: Reason,
}

#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
enum Reason {
    #[error("unknown part {:?} (parts are capture, avoid, trap)", excerpt(.0))]
    Unknown(String),
    #[error("random is what is left and cannot be a part")]
    Random,
    #[error("{0} twice")]
    Twice(&'static str),
    #[error("trap always finds an action, so nothing can follow it")]
    AfterTrap,
}

impl Policy {
    /// The eight policies of Jouandeau & Cazenave, in their order.
    pub const ALL: [Policy; 8] = [
        Policy::Random,
        Policy::Capture,
        Policy::Avoid,
        Policy::CaptureAvoid,
        Policy::AvoidCapture,
        Policy::Trap,
        Policy::CaptureTrap,
        Policy::CaptureAvoidTrap,
    ];

    /// Those and the ones with another order of parts.
    const KNOWN: [Policy; 10] = {
        let mut known = [Policy::AvoidTrap; 10];
        let (eight, _) = known.split_at_mut(8);
        eight.copy_from_slice(&Policy::ALL);
        known[9] = Policy::AvoidCaptureTrap;
        known
    };

    /// The parts in the order they are tried.
    const fn parts(self) -> &'static [&'static str] {
        match self {
            Policy::Random => &[],
            Policy::Capture => &["capture"],
            Policy::Avoid => &["avoid"],
            Policy::CaptureAvoid => &["capture", "avoid"],
            Policy::AvoidCapture => &["avoid", "capture"],
            Policy::Trap => &["trap"],
            Policy::CaptureTrap => &["capture", "trap"],
            Policy::CaptureAvoidTrap => &["capture", "avoid", "trap"],
            Policy::AvoidTrap => &["avoid", "trap"],
            Policy::AvoidCaptureTrap => &["avoid", "capture", "trap"],
        }
    }

    fn list() -> String {
        Policy::KNOWN.map(|policy| policy.to_string()).join(", ")
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.parts() {
            [] => f.pad("random"),
            parts => f.pad(&parts.join("+")),
        }
    }
}

impl FromStr for Policy {
    type Err = UnknownPolicy;

    fn from_str(text: &str) -> Result<Policy, UnknownPolicy> {
        let known = Policy::KNOWN.into_iter().find(|policy| policy.to_string() == text);
        known.ok_or_else(|| UnknownPolicy { text: text.to_owned(), reason: Reason::of(text) })
    }
}

impl Reason {
    /// Why `text` is no policy.
    fn of(text: &str) -> Reason {
        let mut seen: Vec<&'static str> = Vec::new();
        for part in text.split('+') {
            let known = ["capture", "avoid", "trap"].into_iter().find(|&name| name == part);
            match known {
                None if part == "random" => return Reason::Random,
                None => return Reason::Unknown(part.to_owned()),
                Some(name) if seen.contains(&name) => return Reason::Twice(name),
                Some(_) if seen.contains(&"trap") => return Reason::AfterTrap,
                Some(name) => seen.push(name),
            }
        }
        Reason::Unknown(text.to_owned())
    }
}

impl Reading {
    /// Both readings.
    pub const ALL: [Reading; 2] = [Reading::Rules, Reading::Paper];
}

impl fmt::Display for Reading {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Reading::Rules => "rules",
            Reading::Paper => "paper",
        })
    }
}

impl FromStr for Reading {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Reading, UnknownName> {
        UnknownName::find("reading", text, &Reading::ALL)
    }
}
