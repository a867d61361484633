//! What did it look like? Matches, assessments and experiments as pages, Markdown, drawings and text.
//!
//! All crates below hand over values; only this one knows HTML, Markdown and SVG. A page needs nothing but itself: no other
//! file, no network, no fonts. No rules live in it either: positions are worked out here and the page only draws them, on
//! the board of `anqi serve`. The same values give the same page, to the byte.
//!
//! ```
//! use anqi_engine::{Resources, Stop};
//! use anqi_lab::{Cast, MatchJournal, Plan, run};
//! use anqi_report::MatchReport;
//!
//! let plan: Plan = "rules = 'chen,board=2x4'\npairs = 5\nplayers = ['chen:var1 depth=2', 'random']".parse()?;
//! let dir = tempfile::tempdir()?;
//! let mut journal = MatchJournal::open_or_create(dir.path(), &plan)?;
//! run(&mut journal, 1, &Cast::new(&plan, &Resources::default())?, &Stop::default(), |_| {})?;
//! let mut report = MatchReport::new(&plan, 10);
//! for number in 0..journal.len() {
//!     report.add(&journal.pair(number)?)?;
//! }
//! assert!(report.to_html().starts_with("<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assessment;
mod assessment_text;
mod board;
mod chart;
mod counts;
mod experiment;
mod games;
mod markdown;
mod match_text;
mod moves;
mod page;
mod replay;
mod sets;
mod solved;

pub use assessment::assessment_html;
pub use assessment_text::{assessment_text, tuned_text};
pub use experiment::write_experiment;
pub use games::MatchReport;
pub use markdown::{experiment_markdown, figure_file};
pub use match_text::match_text;
pub use moves::UnplayableGame;
pub use sets::SetsPicture;
pub use solved::{solved_game_text, solved_games_text, solved_position_text};
