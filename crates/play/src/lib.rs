//! How does a game run?

mod budget;
mod clock;
mod levels;
mod time;
mod verify;

pub use budget::{Budget, BudgetError};
pub use clock::{Clock, ClockError, Left, seconds, write_part};
pub use levels::{LEVELS, Level};
pub use time::{Stock, share};
pub use verify::{Verified, VerifyError, verify};
