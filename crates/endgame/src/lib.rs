//! What is proven about endings of Chinese Dark Chess?

mod class;
mod ending;
mod index;
mod retrograde;
mod tables;
mod value;

pub use class::{Class, Group, Reading};
pub use ending::{Ending, EndingError};
pub use index::{Index, MOST_PIECES, Placement};
pub use retrograde::Table;
pub use tables::{BuildError, Tables, Tally};
pub use value::{Distance, Value, Wdl};
