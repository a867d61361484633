//! `FaultKind`: the ways in which a program can fail its referee, one word each.

use std::fmt;

use anqi_rules::Termination;

/// What kind of thing a program did wrong.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum FaultKind {
    /// It could not be started.
    Launch,
    /// Its protocol cannot express this game.
    Unsupported,
    /// It ended in the middle of a game.
    Crashed,
    /// It closed its input or output.
    Closed,
    /// Its time ran out while it was thinking.
    Late,
    /// It did not answer a command that takes no thought.
    Silent,
    /// It did not read what it was sent.
    Deaf,
    /// It wrote without end.
    Flood,
    /// It refused a command that it must carry out.
    Refused,
    /// Its answer has no meaning.
    Malformed,
    /// Its move is against the rules.
    Illegal,
    /// It gave up.
    Resigned,
}

impl FaultKind {
    /// All of them.
    pub const ALL: [FaultKind; 12] = [
        FaultKind::Launch,
        FaultKind::Unsupported,
        FaultKind::Crashed,
        FaultKind::Closed,
        FaultKind::Late,
        FaultKind::Silent,
        FaultKind::Deaf,
        FaultKind::Flood,
        FaultKind::Refused,
        FaultKind::Malformed,
        FaultKind::Illegal,
        FaultKind::Resigned,
    ];

    /// How a game ends in which this happens; the program loses. `None` if nothing can be held against it as a player:
    /// then the game is broken off.
    #[must_use]
    pub const fn termination(self) -> Option<Termination> {
        match self {
            FaultKind::Launch | FaultKind::Unsupported => None,
            FaultKind::Late => Some(Termination::Time),
            FaultKind::Resigned => Some(Termination::Resignation),
            _ => Some(Termination::Forfeit),
        }
    }

    /// One word for tables and records.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            FaultKind::Launch => "launch",
            FaultKind::Unsupported => "unsupported",
            FaultKind::Crashed => "crashed",
            FaultKind::Closed => "closed",
            FaultKind::Late => "late",
            FaultKind::Silent => "silent",
            FaultKind::Deaf => "deaf",
            FaultKind::Flood => "flood",
            FaultKind::Refused => "refused",
            FaultKind::Malformed => "malformed",
            FaultKind::Illegal => "illegal",
            FaultKind::Resigned => "resigned",
        }
    }
}

impl fmt::Display for FaultKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
