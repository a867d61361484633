//! How sure are we? Elo, SPRT, ratings and intervals from counts of game results.
//!
//! Pure functions over counts: no files, no clock. What is random takes a seed and gives the same
//! numbers everywhere. No estimate comes without its interval.
//!
//! Games are best played in *pairs*: one deal, both orders. The luck of the deal then falls on both
//! players, and the two results of a pair are one observation out of five (0, ½, 1, 1½ or 2 points).
//!
//! ```
//! use anqi_stats::{Elo, Pairs, Points, Sprt, Tally};
//!
//! let mut tally = Tally::default();
//! tally.add_pair([Points::Win, Points::Draw]);
//! tally.add_pair([Points::Win, Points::Loss]);
//! assert_eq!(tally.pairs, Pairs([0, 0, 1, 1, 0]));
//! assert_eq!(tally.inverted().pairs, Pairs([0, 1, 1, 0, 0]));
//!
//! let pairs = Pairs([165, 6076, 13441, 6436, 154]);
//! let elo = Elo::of(&pairs).unwrap();
//! assert_eq!(elo.elo.to_string(), "2.23 ± 1.52");
//! let sprt: Sprt = "elo0=0 elo1=2".parse()?;
//! assert_eq!(format!("{:.2}", sprt.llr(&pairs)), "2.93");
//! # Ok::<(), anqi_stats::SprtError>(())
//! ```

mod block;
mod bootstrap;
mod chen;
mod cholesky;
mod elo;
mod estimate;
mod grouped;
mod holm;
mod homogeneity;
mod predictive;
mod proportion;
mod ratings;
mod sprt;
mod tally;

pub use block::{Block, SprtState};
pub use bootstrap::{mean_by_group, resample};
pub use chen::{ChenScores, CrossTable};
pub use cholesky::solve;
pub use elo::{Elo, elo_from_score, score_from_elo};
pub use estimate::Estimate;
pub use grouped::Grouped;
pub use holm::holm;
pub use homogeneity::Homogeneity;
pub use predictive::{Predictive, posterior, saturated};
pub use proportion::{clopper_pearson, sign_test, wilson, wilson_share};
pub use ratings::{Meeting, RatingError, RatingModel, Ratings};
pub use sprt::{Model, Sprt, SprtError, Verdict};
pub use tally::{CountsError, Games, Outcomes, Pairs, Points, Tally};
