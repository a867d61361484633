//! What was played? Game records of Chinese Dark Chess: reading, writing, replaying.
//!
//! A [`Record`] says what was played and judges nothing; [`replay()`] plays it through the rules and
//! compares. Two text formats go in and out one game at a time, our own ([`Format::Anqi`]) and the
//! match server's ([`Format::Server`]); JSON Lines go out. A damaged record is an error that shows
//! where and what, and reading goes on with the next one.
//!
//! ```
//! use anqi_records::{EndingCheck, Reader, replay};
//!
//! let text = r#"
//! [First "Alice"]
//! [Second "Bob"]
//!
//! 1. a1(P) b1(k) 2. a1-b1 a9(K) *
//!
//! [First "Bob"]
//! [Second "Alice"]
//! [Rules "server,board=2x2"]
//! [Termination "elimination"]
//!
//! 1. a1(P) b1(k) 2. a1-b1 {[%clk 0:14:59.5] the pawn takes the king} a2(K)
//! 3. b2(p) b2-b1 4. a2-a1 b1-a1 0-1
//! "#;
//! let mut reader = Reader::new(text.as_bytes())?;
//! let error = reader.next().unwrap().unwrap_err();
//! assert_eq!(
//!     error.to_string(),
//!     "line 5: \"a9(K)\" is not a ply, expected c4(k) (a flip and its piece) or c6-c7; \
//!      the line reads \"1. a1(P) b1(k) 2. a1-b1 a9(K) *\""
//! );
//!
//! let entry = reader.next().unwrap()?;
//! assert_eq!((entry.line, entry.record.plies().len()), (7, 8));
//! assert_eq!(replay(&entry.record, None)?.ending, EndingCheck::Equal);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod anqi;
#[cfg(feature = "files")]
mod batch;
mod check;
mod clock;
mod comment;
mod error;
mod escape;
mod eval;
#[cfg(feature = "files")]
mod files;
mod format;
mod jsonl;
mod lines;
mod movetext;
mod reader;
mod record;
mod replay;
mod result;
mod server;
mod stats;
mod tags;
mod writer;

#[cfg(feature = "files")]
pub use batch::{
    FileProblem, FileProblems, FilesCheck, FilesConverted, Replayed, Target, check_files, convert_files, count_files,
    replay_files,
};
pub use check::ReplayTotals;
pub use clock::ClockTime;
pub use comment::{Comment, CommentError};
pub use error::{Flaw, RecordDamage, RecordError, WriteError};
pub use eval::{Eval, Permille};
#[cfg(feature = "files")]
pub use files::{FileError, Found, Source, open, read_files};
pub use format::{Format, UnknownFormat};
pub use jsonl::write_json_line;
pub use reader::{LocatedRecord, Reader};
pub use record::{Contradiction, PlayedPly, Record};
pub use replay::{BoardEnding, EndingCheck, IllegalPly, Replay, ReplayError, replay};
pub use result::{GameResult, Reason, ResultError};
pub use stats::{Branching, Complexity, FirstPlayer, GamesSummary, Interval, Spread, Stats};
pub use tags::{TagError, Tags};
pub use writer::Writer;
