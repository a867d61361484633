//! How a playout chooses: `Policy` and `Reading`, and what a policy has to say.

use std::fmt;
use std::str::FromStr;

use crate::board::Actions;
use crate::word::Word;

/// Among which actions a playout draws.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Policy {
    /// All legal actions alike.
    Random,
    /// The captures if there is one, all other actions if not.
    Capture,
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

impl Policy {
    /// All policies.
    pub const ALL: [Policy; 2] = [Policy::Random, Policy::Capture];
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Policy::Random => "random",
            Policy::Capture => "capture",
        })
    }
}

impl FromStr for Policy {
    type Err = UnknownName;

    fn from_str(text: &str) -> Result<Policy, UnknownName> {
        UnknownName::find("policy", text, &Policy::ALL)
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

/// What a policy is to the kernels: it narrows the actions down to those that are drawn from.
///
/// It does so for one game or for many at a time, hence without branches. It must leave at least
/// one action if there is any, for where nothing is left to draw from the game is lost.
pub(crate) trait Narrow {
    /// The actions to draw from.
    fn narrow<W: Word>(actions: &Actions<W>) -> Names<W>;
}

/// Actions to draw from, by their names: see [`Actions`].
///
/// A draw gives the number of a name. All kernels number them alike: first the steps along the
/// files, then those along the ranks, then the jumps along the files and those along the ranks;
/// each lot in the order of the view along the files, but the steps along the ranks in that of
/// their own view.
#[derive(Clone, Copy)]
pub(crate) struct Names<W> {
    /// Steps and flips.
    pub(crate) steps: W,
    /// Jumps.
    pub(crate) jumps: W,
}

/// [`Policy::Random`].
pub(crate) struct Random;

/// [`Policy::Capture`].
pub(crate) struct Capture;

impl Narrow for Random {
    #[inline(always)]
    fn narrow<W: Word>(&Actions { captures, others, jumps }: &Actions<W>) -> Names<W> {
        Names { steps: captures | others, jumps }
    }
}

impl Narrow for Capture {
    #[inline(always)]
    fn narrow<W: Word>(&Actions { captures, others, jumps }: &Actions<W>) -> Names<W> {
        Names { steps: (captures | jumps).select(captures, others), jumps }
    }
}
