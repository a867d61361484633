//! What is legal in Chinese Dark Chess (暗棋, banqi)?
//!
//! Thirty-two squares are one `u32`. A [`Position`] holds what both players can see; a [`Game`]
//! adds rules and history and knows how it ends; a [`Deal`] is the hidden truth, for a referee.
//!
//! ```
//! use anqi_rules::{Deal, Game, Move, Rules, Seed};
//!
//! let rules: Rules = "server".parse()?;
//! let mut game = Game::new(rules);
//! let deal = Deal::new(&rules, &Seed::from(7));
//! while game.outcome().is_none() {
//!     let choice: Move = game.legal_moves()[0]; // any player would do better
//!     game.play(deal.resolve(choice)?)?;
//! }
//! println!("{}", game.outcome().unwrap());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod attacks;
mod contribution;
mod deal;
mod game;
mod moves;
mod notation;
mod perft;
mod piece;
mod position;
mod rules;
mod square;
mod zobrist;

pub use attacks::{Direction, cannon_targets, neighbours};
pub use contribution::Contribution;
pub use deal::{Commitment, Deal, DealError, Seed, SeedError};
pub use game::{Game, Outcome, PlyError, PositionMismatch, Seat, Termination};
pub use moves::{MOST_MOVES, Move, MoveList, Ply, Survey};
pub use notation::{Faces, ParseError, excerpt};
pub use perft::{PerftCase, PerftCaseError, divide, perft, perft_visiting};
pub use piece::{ByColor, Color, Kind, Ladder, Material, Piece};
pub use position::{Position, Setup, SetupError};
pub use rules::{Repeat, Rules, RulesError, RulesSetup};
pub use square::{BoardSize, Square, SquareSet, Squares, Symmetry};

/// The README's examples are tests too.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;
