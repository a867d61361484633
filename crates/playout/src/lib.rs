//! What happens if both sides play at random?
//!
//! A playout starts from a [`PlayoutStart`], follows a [`Policy`] until the game ends, and gives a
//! [`Playout`]; a [`PlayoutSummary`] adds many of them up. Playout number `index` of a `seed` has its own
//! generator and is the same game on every machine and every [`Path`], one game at a time or
//! sixteen in vector lanes.
//!
//! ```
//! use anqi_playout::{PlayoutOptions, Path, Policy, PlayoutStart, playout, playouts};
//! use anqi_rules::{Position, Rules};
//!
//! let start = PlayoutStart::from(&Position::initial(&Rules::chen()));
//! let options = PlayoutOptions { policy: Policy::Capture, ..PlayoutOptions::default() };
//!
//! let fast = playouts(&start, &options, 7, 0..1000, Path::best());
//! let plain = playouts(&start, &options, 7, 0..1000, Path::SCALAR);
//! assert_eq!(fast, plain);
//! assert!((100.0..120.0).contains(&fast.plies.mean()));
//!
//! let first = playout(&start, &options, 7, 0);
//! assert!(first.left() <= 32);
//! ```
//!
//! Playouts end by elimination, by lack of actions or by the draw limit. Repetition is not judged:
//! it would need the history of every game, and the draw limit ends what repeats itself.

mod avoid;
mod bits;
mod board;
mod feed;
mod lanes;
#[cfg(test)]
mod mailbox;
mod narrow;
mod paper;
mod path;
#[cfg(target_arch = "x86_64")]
mod pdep;
mod policy;
mod run;
mod scalar;
mod seed;
mod start;
mod summary;
mod trap;
mod word;

pub use feed::{Feed, FeedGame};
pub use path::Path;
pub use policy::{Policy, Reading, UnknownName, UnknownPolicy};
pub use run::{MOST_LANES, PlayoutOptions, each, feed, for_each, playout, playouts};
pub use start::PlayoutStart;
pub use summary::{End, Moments, Playout, PlayoutResult, PlayoutSummary};
