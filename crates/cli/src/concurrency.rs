//! The value of `--concurrency` and `--threads`.

use std::num::NonZeroUsize;
use std::str::FromStr;
use std::thread;

/// How many things are done at a time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Concurrency(NonZeroUsize);

impl Concurrency {
    /// What was asked for, or one for each core.
    pub(crate) fn or_cores(asked: Option<Concurrency>) -> NonZeroUsize {
        let cores = || thread::available_parallelism().unwrap_or(NonZeroUsize::MIN);
        asked.map_or_else(cores, |Concurrency(count)| count)
    }

    /// What was asked for, or one.
    pub(crate) fn or_one(asked: Option<Concurrency>) -> NonZeroUsize {
        asked.map_or(NonZeroUsize::MIN, |Concurrency(count)| count)
    }
}

impl FromStr for Concurrency {
    type Err = String;

    fn from_str(text: &str) -> Result<Concurrency, String> {
        let count = text.parse().map(Concurrency);
        count.map_err(|_| "expected a number from 1 on".to_owned())
    }
}
