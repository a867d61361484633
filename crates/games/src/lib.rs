//! How do other games look?
//!
//! Search methods can be judged by game records whatever the game is. This crate brings chess, Go and shogi: records
//! ([`GameReader`]: PGN, SGF, CSA) out of which come checked games ([`GameRecord`]) and their positions ([`PlayedPosition`]), and engines
//! ([`Engine`]: UCI, GTP, USI) that say what a position is worth ([`EngineValue`]).
//!
//! Everything that is wrong with a record has a name ([`GameFlaw`]); the others are read on.

mod assess;
mod board;
mod chess;
mod csa;
mod engine;
mod go;
mod journal;
mod pgn;
mod reader;
mod record;
mod score;
mod self_play;
mod sgf;
mod shogi;
mod writer;

pub use assess::{OtherGames, OtherGamesError, USUAL_CONDITIONS, ValuedGames, format_of, with_budgets};
pub use board::{Board, Facts, GameEnd, IllegalMove, WinOrDraw};
pub use chess::{BadFen, Chess};
pub use engine::{Asked, Engine, EngineMove, EngineSpec, EngineSpecError, GameProtocol, Standby, Twice};
pub use go::{BadSize, Go};
pub use journal::{GamesJournal, KeepError, KeptGame, Results};
pub use reader::{GameFlaw, GameFormat, GameReader, NumberedRecord};
pub use record::{BadMove, BadStart, GameKind, GameRecord, GameStart, LONGEST_GAME, PlayedPosition, Recorder};
pub use score::{BadEvaluation, EngineValue};
pub use self_play::{SelfPlay, SelfPlayError, SelfPlayed};
pub use shogi::Shogi;
pub use writer::write_record;
