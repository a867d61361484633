//! What did a match look like? Cross table, plots and games that can be replayed, on one page.
//!
//! The page needs nothing but itself: no other file, no network, no fonts. No rules live in it either: positions are
//! worked out here and the page only draws them. The same pairs give the same page, to the byte.
//!
//! ```
//! use anqi_engine::{Resources, Stop};
//! use anqi_lab::{Journal, Plan, run};
//! use anqi_report::Report;
//!
//! let plan: Plan = "rules = 'chen,board=2x4'\npairs = 5\nplayers = ['chen:var1 depth=2', 'random']".parse()?;
//! let dir = tempfile::tempdir()?;
//! let mut journal = Journal::open_or_create(dir.path(), &plan)?;
//! run(&mut journal, 1, &Resources::default(), &Stop::default(), |_| {})?;
//! let mut report = Report::new(&plan, 10);
//! for number in 0..journal.len() {
//!     report.add(&journal.pair(number)?)?;
//! }
//! assert!(report.to_html().starts_with("<!DOCTYPE html>"));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod chart;
mod counts;
mod experiment;
mod html;
mod moves;
mod report;

pub use experiment::write_experiment;
pub use moves::UnplayableGame;
pub use report::Report;
