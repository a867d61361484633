//! How do many machines play one plan? Pairs of games as messages on NATS JetStream.
//!
//! A coordinator puts the pairs that its journal lacks on a work queue; workers take them, play them and announce them on
//! a stream of results, from which the coordinator fills its journal. Anything may die at any moment:
//!
//! - A worker acknowledges a pair only after its result is stored. If it dies before, the pair goes to another one.
//! - The server stores everything in files, and a subject, in either stream, holds one message at most: no pair is queued
//!   twice at a time, and only its first result is kept.
//! - A coordinator that starts again reads the results that it missed and queues what is still missing in its journal.
//! - What the server itself has lost is queued again after a while without results.
//!
//! So every pair is counted once. Where no budget is a time, its games are the same whoever plays them, and the records
//! are, to the byte, those of a run on one machine. Plans are stored under a hash of their text and the version of the
//! program, so workers of another version never touch them.
//!
//! ```no_run
//! use anqi_engine::Stop;
//! use anqi_lab::{Journal, Plan, collect};
//!
//! let plan: Plan = "players = ['chen:var1', 'chen:basic']".parse()?;
//! let mut journal = Journal::open_or_create("match".as_ref(), &plan)?;
//! let stop = Stop::default();
//! let url = "nats://127.0.0.1:4222"; // where `anqi worker --nats` was started on as many machines as there are
//! collect(&mut journal, &stop, |_| {}, |plan, missing| anqi_fleet::play_elsewhere(url, plan, missing, &stop))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coordinator;
mod queue;
mod worker;

pub use coordinator::{clear, play_elsewhere};
pub use queue::FleetError;
pub use worker::work;
