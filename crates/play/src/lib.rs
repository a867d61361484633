//! How does a game run?
//!
//! A [`LiveGame`] is one game being played: who sits where, the clocks, the deal, what has happened. The page, the
//! terminal and the referee of a match drive the same one. It has no threads, sockets, files or clock of its own: a
//! [`Command`] and the time go in, [`Entry`]s come out, and the caller writes them down before it shows them.
//!
//! | file | what is in it |
//! |---|---|
//! | `live.rs`, `entry.rs`, `view.rs` | the game, what happens in it, what may be shown |
//! | `terms.rs`, `occupant.rs` | what is agreed before the first ply; who sits at a side |
//! | `joint.rs` | deals to which the players contribute |
//! | `clock.rs`, `time.rs`, `budget.rs` | time controls; how long to think; what a side may spend |
//! | `bot.rs`, `levels.rs` | players with their budgets; what a stranger may ask for; players by strength |
//! | `series.rs`, `series_scores.rs` | games of one person against one program under fixed terms; what people and programs made of them |
//! | `fault.rs` | how a program can fail |
//! | `analysis.rs`, `analyst.rs` | what a player thinks of a position, as a document; who thinks for those who study |
//! | `review.rs`, `luck.rs` | a game looked at again: what moves gave away; what flips gave |
//! | `verify.rs` | whether a deal is what was promised |

mod analysis;
mod analyst;
mod bot;
mod budget;
mod clock;
mod entry;
mod fault;
mod joint;
mod levels;
mod live;
pub mod luck;
mod names;
mod occupant;
mod review;
mod series;
mod series_scores;
mod terms;
mod text;
mod time;
mod verify;
mod view;

pub use analysis::{Analysis, Goal, MoveInfo, OutcomeInfo, Proven, RootInfo, TableProof, rounded};
pub use analyst::{Analyst, AnalystError, worth};
pub use bot::{Bot, BotError, BotPolicy, Thinker, split_player};
pub use budget::{Budget, BudgetError};
pub use clock::{Clock, ClockError, Left, seconds, write_part};
pub use entry::Entry;
pub use fault::FaultKind;
pub use joint::{JointDeal, JointError, Part, Void};
pub use levels::{LEVELS, Level};
pub use live::{Allowance, Command, EntryError, LiveGame, Refusal, rewind};
pub use names::{ColorName, SeatName};
pub use occupant::Occupant;
pub use review::{Grade, PlyReview, Review, SideReview, loss_of};
pub use series::{GameSeries, SeriesError, SeriesGame};
pub use series_scores::{
    PersonScores, ProgramScores, SeriesConflict, SeriesProgress, SeriesRecordError, SeriesResult, SeriesScores,
};
pub use terms::{Secret, Terms, TermsError};
pub use time::Stock;
pub use verify::{Verified, VerifyError, verify};
pub use view::View;
