//! How do many machines do one job? Its items as messages on NATS JetStream.
//!
//! A job is a plan of games, done pair by pair, or a flavour of endgame tables, done class by class. A coordinator puts
//! the items that it lacks on a work queue; workers take them, do them and announce them on a stream of results, from which
//! the coordinator fills its journal or its folder. Any worker does either job. Anything may die at any moment:
//!
//! - A worker acknowledges an item only after its result is stored. If it dies before, the item goes to another one.
//! - The server stores everything in files, and a subject, in either stream, holds one message at most: no item is queued
//!   twice at a time, and only its first result is kept.
//! - A coordinator that starts again reads the results that it missed and queues what is still missing.
//! - What the server itself has lost is queued again after a while without results.
//!
//! So every item counts once. Tables are a function of class and flavour, and games, where no budget is a time, of plan
//! and number: what comes out is, to the byte, that of a run on one machine. Jobs are stored under a hash of their text and
//! the version of the program, so workers of another version never touch them.
//!
//! | file | what is in it |
//! |---|---|
//! | `queue.rs` | streams, subjects, jobs: what both sides agree on |
//! | `coordinator.rs` | who wants a job done; what is special to a kind of job is its `Errand` |
//! | `pairs.rs`, `tables.rs` | the two kinds, from both sides |
//! | `worker.rs` | who does it |
//!
//! ```no_run
//! use anqi_task::Stop;
//! use anqi_engine::Resources;
//! use anqi_lab::{Cast, MatchJournal, Plan, collect};
//!
//! let plan: Plan = "players = ['chen:var1', 'chen:basic']".parse()?;
//! let mut journal = MatchJournal::open_or_create("match".as_ref(), &plan)?;
//! let stop = Stop::default();
//! let url = "nats://127.0.0.1:4222"; // where `anqi worker --nats` was started on as many machines as there are
//! let cast = Cast::elsewhere(&plan, &Resources::default())?;
//! let play = |plan: &_, missing| anqi_fleet::play_elsewhere(url, plan, &cast, missing, &stop);
//! collect(&mut journal, &cast, &stop, |_| {}, play)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coordinator;
mod pairs;
mod queue;
mod tables;
mod worker;

pub use pairs::{clear, play_elsewhere};
pub use queue::FleetError;
pub use tables::build_elsewhere;
pub use worker::{Done, work};
