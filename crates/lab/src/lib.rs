//! Who is better, and why? Games between players and programs, over paired deals, that lose nothing.
//!
//! A [`Plan`] says everything that is to be played. Its unit is a pair, one deal in both orders: [`play_pair`] is a pure
//! function of plan and number as long as no budget is a time. A [`MatchJournal`] is the one file that says what was played;
//! [`run()`] plays what is missing in it, and [`Standings`] count what is there.
//!
//! ```
//! use anqi_engine::{Resources, Stop};
//! use anqi_lab::{Cast, Ended, MatchJournal, Plan, Standings, run};
//!
//! let plan: Plan = "rules = 'chen,board=2x4'\npairs = 20\nplayers = ['chen:var1 depth=3', 'random']".parse()?;
//! let cast = Cast::new(&plan, &Resources::default())?;
//! let dir = tempfile::tempdir()?;
//! let mut journal = MatchJournal::open_or_create(dir.path(), &plan)?;
//! let Ended::Complete(pairs) = run(&mut journal, 2, &cast, &Stop::default(), |_| {})? else { unreachable!() };
//! let summary = Standings::of(&journal, pairs)?.summary();
//! assert_eq!((summary.pairs, summary.pairings[0].block.count), (20, 40));
//! journal.write_games(pairs)?; // games.anqi: the same bytes however it was played
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Inside a pair a [`referee()`] holds the deal and gives both [`Side`]s the public game. [`Adjusted`] is a score without the
//! luck of the flips.

mod allowed;
mod cast;
mod check;
mod contender;
mod journal;
mod luck;
mod merge;
mod pair;
mod plan;
mod referee;
mod run;
mod side;
mod standings;
mod weights;

pub use allowed::{Allowed, AllowedError, NotAllowed};
pub use anqi_play::{Budget, BudgetError};
pub use cast::{Cast, CastError};
pub use check::{PairMismatch, check_pair};
pub use contender::{Contender, ContenderError, Who};
pub use journal::{MatchJournal, MatchJournalError};
pub use luck::{Adjusted, Adjustment, LuckSums};
pub use merge::{MergeError, merge};
pub use pair::{DescribeError, PairError, PlayedPair, play_pair};
pub use plan::{MOST_PLAN_BYTES, Pair, Plan, PlanError, PlanFile, SeedText, TournamentFormat};
pub use referee::{BrokenOff, PlayedGame, referee};
pub use run::{Arrival, Ended, RunError, RunEvent, collect, complete, play_some, run};
pub use side::{Answer, Insider, Side, Thought};
pub use standings::{PairingResult, Row, Standings, StandingsSummary};
pub use weights::{WeightsFileError, read_weights_file, with_weights_from_files, write_weights_file};
