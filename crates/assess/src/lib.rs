//! Which search is right? Evaluation curves and metrics of search methods from game records.
//!
//! The method of Takeuchi, Kaneko & Yamaguchi, for any game: a [`Sample`] is a position with the value that a search
//! gave it and the result of its game. A good search gives equal values to positions that are won equally often,
//! whatever else they are.

mod sample;
mod skipped;
mod values;

pub use sample::{NotANumber, Sample, Samples, Words};
pub use skipped::{Skip, Skipped};
pub use values::{ValuesError, ValuesFile};
