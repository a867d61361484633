//! What is the whole game worth?
//!
//! A game with chance can be solved exactly where it is small: small boards from the first flip on, and endings of the
//! 4×8 board with a few pieces of which some lie face down. Both are one problem, and one solver does both.
//!
//! ```
//! use anqi_rules::{Position, Rules};
//! use anqi_solve::{Fraction, Solver};
//!
//! let rules: Rules = "chen,board=3x2,army=KPP,draw=off,repeat=off".parse()?;
//! let mut solver = Solver::with_split(rules.board(), rules.ladder());
//! solver.solve(&"-".parse()?, rules.army(), std::thread::available_parallelism()?)?;
//! let flips = solver.actions(&Position::initial(&rules)).ok_or("not solved")?;
//! assert_eq!(flips[0].1.value, Fraction::new(1, 45)); // a corner
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Pieces are known up to names, shown or face down, as a [`Class`](anqi_endgame::Class) of `anqi-endgame`: one solution
//! serves all that are alike. Each file stands on those before it:
//!
//! | file | what is in it |
//! |---|---|
//! | `worth.rs` | `Worth`: value and split as fractions |
//! | `turning.rs` | the symmetries of a board |
//! | `index.rs` | `Index`: placements as numbers without gaps |
//! | `level.rs` | `SolvedLevel`: the positions of a class with the same squares face down, solved by retrograde analysis |
//! | `solver.rs` | `Solver`: classes on top of each other, and what they say about positions |
//! | `sets.rs`, `games.rs` | `FairSet`: what whole games on small boards are played with; `SolvedGame`: what their first flips are worth |
//! | `veiled.rs` | `Veiled`: endings with face-down pieces, written `Kn+Pp` |
//! | `tally.rs` | `ValueTally`: how many placements are worth what |
//! | `verify.rs` | the values of an ending checked by the rules of the game |
//! | `tables.rs` | `TableFolder`: endings with face-down pieces in files |
//!
//! - **Values are exact.** With h squares face down they are multiples of 1/h!, kept as whole numbers; no iteration to a
//!   tolerance, no floating point.
//! - **Endless quiet play is a draw**; there is no limit on quiet plies.
//! - **The rules are not asked while solving.** Moves come from the relation of a class. That they are the moves of the
//!   game is what the tests show, by slow and obvious code on positions of `anqi-rules`.

mod games;
mod index;
mod level;
mod sets;
mod solver;
#[cfg(feature = "files")]
mod tables;
mod tally;
mod turning;
mod veiled;
mod verify;
mod worth;

pub use games::{Orbit, SolvedGame, solved_games_csv};
pub use sets::FairSet;
pub use solver::{SolveError, Solver};
#[cfg(feature = "files")]
pub use tables::{MOST_HIDDEN, MOST_PIECES, TableFolder, TablesError};
pub use tally::ValueTally;
pub use veiled::{Veiled, VeiledError};
pub use worth::{Fraction, Worth, decimal};
