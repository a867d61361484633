//! What is proven about endings of Chinese Dark Chess?
//!
//! With all pieces revealed the game has no chance left, and with few pieces every position can be solved: who wins
//! with perfect play on both sides and no limit on quiet plies, and in how many plies.
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
//! | `value.rs` | `Wdl`, `Distance`, and `Value`, which is both |
//! | `tally.rs` | `Tally`: wins, draws, losses and the longest win |
//! | `ending.rs` | `Ending`: the pieces left, written `N-pp` |
//! | `class.rs` | `Class`: endings in which the same pieces take each other; one table serves them all |
//! | `index.rs` | `Index`: placements of a class as numbers without gaps |
//! | `retrograde.rs` | `Table`: the values of a class, found from the end backwards |
//! | `tables.rs` | `Tables`: classes built on smaller ones, and what they say about positions and endings |
//!
//! - **A table is a pure function of its class.** Threads share out classes and never touch one together, so tables
//!   do not depend on their number; a build can be cut into classes and each made anywhere.
//! - **The rules are not asked while building.** Moves come from the relation of the class. That they are the moves of
//!   the game is what the tests show, by a naive builder on positions of `anqi-rules`.
//!
//! # Where it grows
//!
//! - **Files** keep the values of one `Table` in the order of its `Index`, one file a class, named by the ending that
//!   `Class::all` gives it. The index is part of the format: changing it changes the version.
//! - **Flavours** (a quiet-ply rule, distance to the next capture) change only what a capture promises and how many
//!   layers are taken in `retrograde.rs`.
//! - **Larger classes** share the two loops of `solve` among threads by ranges of numbers: a layer is sorted and its
//!   effects are counted, so the order of threads leaves no trace.
//! - **Small boards** need the `Index` to place on a mask of squares, folded by the symmetries of that board.

mod actions;
mod block;
mod build;
mod captures;
mod class;
mod container;
mod ending;
mod file;
mod flavour;
mod index;
mod outlook;
mod retrograde;
mod table;
mod tablebase;
mod tables;
mod tally;
mod value;
mod verify;

pub use actions::Action;
pub use build::{BuildEvent, build, classes_up_to, count};
pub use class::{Class, Group, Reading};
pub use container::{Claim, Container, ContainerError};
pub use ending::{Ending, EndingError};
pub use file::{TableError, TableFile, table_path};
pub use flavour::{Flavour, FlavourError, Measure};
pub use index::{Index, MOST_PIECES, Placement};
pub use table::Table;
pub use tablebase::Tablebase;
pub use tables::{BuildError, Tables};
pub use tally::Tally;
pub use value::{Distance, Value, Wdl};
pub use verify::{Disagreement, verify};
