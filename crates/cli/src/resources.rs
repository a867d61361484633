//! The resources of a process.

use anqi_engine::{Resources, TimeSource};

/// What the players of this process share. What goes wrong with it while they play is printed.
pub(crate) fn resources() -> Resources {
    Resources::telling(TimeSource::default(), |notice| eprintln!("{notice}"))
}
