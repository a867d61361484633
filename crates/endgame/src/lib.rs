//! What is proven about endings of Chinese Dark Chess?
//!
//! With all pieces revealed the game has no chance left, and with few pieces every position can be solved: who wins
//! with perfect play on both sides, and in how many plies.
//!
//! ```
//! use anqi_endgame::{Distance, Tables, Wdl};
//!
//! // Chen et al., Fig. 7: how Black catches the pawn.
//! let mut tables = Tables::default();
//! tables.build(["P-ggmc".parse()?], std::thread::available_parallelism()?)?;
//! let value = tables.probe(&"1m2/4/1g2/g3/4/4/1c2/2P1 b -".parse()?).ok_or("not built")?;
//! assert_eq!((value.wdl(), value.distance()), (Wdl::Win, Some(Distance(13))));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! From a name to a value, each file standing on those before it:
//!
//! | file | what is in it |
//! |---|---|
//! | `value.rs`, `tally.rs` | `Wdl`, `Distance`, and `Value`, which is both; wins, draws and losses counted |
//! | `flavour.rs` | `Flavour`: what distances count, and under which draw rule |
//! | `ending.rs` | `Ending`: the pieces left, written `N-pp` |
//! | `class.rs` | `Class`: endings in which the same pieces take each other; one table serves them all |
//! | `index.rs` | `Index`: the places of a class, in blocks of 32 × 32 placements |
//! | `block.rs` | steps of a thousand placements at once |
//! | `captures.rs`, `outlook.rs` | what captures promise: with distances, and where only outcomes count |
//! | `retrograde.rs` | the analysis, level by level |
//! | `table.rs`, `tables.rs` | `Table`: the values of a class; `Tables`: classes built on smaller ones, in memory |
//! | `file.rs`, `cache.rs` | a table in a container of `anqi-store`; `BlockCache`: what is unpacked of all files, in bounded memory |
//! | `build.rs` | filling a folder, by any number of processes that may be killed; classes one by one, for machines that share nothing |
//! | `tablebase.rs`, `actions.rs` | `Tablebase`: what tables say about positions and their moves |
//! | `notable.rs` | the longest wins and mutual zugzwangs of a table |
//! | `verify.rs`, `check.rs` | the proof, by other code; of the tables of a folder |
//! | `statements/` | `Statement`: what Chen et al. say about endings, tested over all placements |
//! | `counts.rs` | results of classes that are too many to keep |
//!
//! - **A table is a pure function of its class and flavour.** Threads and processes share out classes and never touch
//!   one together, so files do not depend on their number; a build can be cut into classes and each made anywhere.
//! - **The rules are not asked while building.** Moves come from the relation of the class. That they are the moves of
//!   the game is what the tests show, by a naive builder on positions of `anqi-rules`.
//! - **A draw rule is part of the table.** A distance to conversion under the rule decides for every count of quiet
//!   plies; see [`Flavour`].

mod actions;
mod block;
#[cfg(feature = "files")]
mod build;
#[cfg(feature = "files")]
mod cache;
mod captures;
#[cfg(feature = "files")]
mod check;
mod class;
#[cfg(feature = "files")]
mod counts;
mod ending;
mod error;
#[cfg(feature = "files")]
mod file;
mod flavour;
mod index;
mod notable;
mod outlook;
mod retrograde;
mod statements;
mod table;
mod tablebase;
mod tables;
mod tally;
mod value;
mod verify;

pub use actions::{Action, PerfectLine};
#[cfg(feature = "files")]
pub use build::{BuildStep, SampleCheck, adopt, build, build_step, count, steps};
#[cfg(feature = "files")]
pub use cache::BlockCache;
#[cfg(feature = "files")]
pub use check::{FilesChecked, WrongTable, present, verify_files};
pub use class::{Class, Group, Grouping, classes_up_to};
#[cfg(feature = "files")]
pub use counts::CountsFile;
pub use ending::{Ending, EndingError};
pub use error::TableError;
#[cfg(feature = "files")]
pub use file::{TableFile, table_path};
pub use flavour::{Flavour, FlavourError, Measure};
pub use index::{Index, MOST_PIECES, Placement};
pub use notable::Zugzwang;
pub use statements::{Examination, Exceptions, Finding, Shown, Statement, Unit};
pub use table::Table;
pub use tablebase::Tablebase;
pub use tables::{TableBuildError, Tables};
pub use tally::TableTally;
pub use value::{Distance, Value, Wdl};
pub use verify::{Disagreement, verify, verify_sample};
