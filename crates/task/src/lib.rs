//! How is long work stopped, watched and shared out? Knows nothing of games.
//!
//! ```
//! use anqi_task::{Amount, Progress, Status, Stop};
//!
//! fn count(to: u64, stop: &Stop, progress: &mut impl Progress) -> u64 {
//!     let all = Amount { items: to, units: to };
//!     for done in 0..to {
//!         if stop.is_raised() {
//!             return done;
//!         }
//!         progress.report(&Status { done: Amount { items: done + 1, units: done + 1 }, all, ..Status::default() });
//!     }
//!     to
//! }
//!
//! let stop = Stop::default();
//! assert_eq!(count(9, &stop, &mut ()), 9);
//! let mut stop_at_three = |status: &Status| {
//!     if status.done.items == 3 {
//!         stop.raise();
//!     }
//! };
//! assert_eq!(count(9, &stop, &mut stop_at_three), 3);
//! ```

mod progress;
mod stop;
mod together;

pub use progress::{Amount, Progress, Status};
pub use stop::Stop;
pub use together::together;
