//! How do programs talk?

mod clock;
mod outside;

pub use clock::{Clock, ClockError, Left};
pub use outside::{Fault, Illegality, Outside, OutsideSpec, OutsideSpecError, Protocol};
