//! What is proven about endings of Chinese Dark Chess?

mod class;
mod ending;
mod value;

pub use class::{Class, Group, Reading};
pub use ending::{Ending, EndingError};
pub use value::{Distance, Value, Wdl};
