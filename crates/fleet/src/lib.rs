//! How do many machines do one job? Its items as messages on NATS JetStream.
//!
//! A job is a plan of games, done pair by pair, or a flavour of endgame tables, done class by class. A coordinator puts
//! the items that it lacks on a work queue; workers take them, do them and announce them on a stream of results, from which
//! the coordinator fills its journal or its folder. Any worker does either job. Anything may die at any moment:
//!
//! - A worker acknowledges an item only after its result is stored. If it dies before, the item goes to another one.
//! - The server stores everything in files. No item is queued twice at a time, and of several right results the first counts.
//! - A coordinator that starts again reads the results that it missed and queues what is still missing.
//! - What the server itself has lost is queued again after a while without results.
//!
//! So every item counts once. Tables are a function of class and flavour, and games, where no budget is a time, of plan
//! and number: what comes out is, to the byte, that of a run on one machine.
//!
//! What comes over the network may come from anyone. Every machine has a [`FleetKey`] and a list of those that it
//! [trusts](Trusted); jobs, items and results are [sealed](seal) for one role, job, item and engines. What is not signed so is
//! refused, counted by [`Reason`] and set aside; nothing ends because of it. A job's key is the hash of all it says. Of a job
//! that is signed, a worker opens files and runs programs only as its owner [allows](anqi_lab::Allowed). Of a result that is
//! signed, nothing is believed: pairs are [checked](anqi_lab::check_pair) against the plan and a share of them is played again by
//! another worker, tables are checked on a sample of their positions; a worker that was wrong is excluded.
//!
//! | file | what is in it |
//! |---|---|
//! | `key.rs`, `envelope.rs` | keys, and the signed envelope of every message |
//! | `server.rs`, `member.rs` | where the server is and how to log in; a machine of the fleet from its own side |
//! | `queue.rs`, `work_item.rs` | streams, subjects, jobs, items: what both sides agree on |
//! | `coordinator.rs` | who wants a job done; what is special to a kind of job is its `Errand` |
//! | `pairs.rs`, `tables.rs` | the two kinds, from both sides |
//! | `roster.rs`, `ledger.rs` | what workers have brought and who is excluded; the file that keeps it |
//! | `refusals.rs`, `status.rs` | what was refused; what machines say of themselves |
//! | `worker.rs` | who does it |
//!
//! ```no_run
//! use anqi_task::Stop;
//! use anqi_engine::Resources;
//! use anqi_fleet::{FleetKey, FleetMatch, Member, NatsServer, Tell, Trusted};
//! use anqi_lab::{Cast, MatchJournal, Plan, collect};
//!
//! let plan: Plan = "players = ['chen:var1', 'chen:basic']".parse()?;
//! let mut journal = MatchJournal::open_or_create("match".as_ref(), &plan)?;
//! let stop = Stop::default();
//! let member = Member {
//!     // where `anqi worker --nats` was started on as many machines as there are
//!     server: NatsServer::new("nats://127.0.0.1:4222")?,
//!     key: FleetKey::read("fleet.key".as_ref())?,
//!     trusted: Trusted::read("workers".as_ref())?,
//!     tell: Tell::new(|line| eprintln!("{line}")),
//! };
//! let cast = Cast::elsewhere(&plan, &Resources::default())?;
//! let how = FleetMatch::new("match".as_ref());
//! let play = |plan: &_, missing| anqi_fleet::play_elsewhere(&member, &how, plan, &cast, missing, &stop);
//! collect(&mut journal, &cast, &stop, |_| {}, play)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod coordinator;
mod envelope;
mod key;
mod ledger;
mod member;
mod pairs;
mod queue;
mod refusals;
mod roster;
mod server;
mod status;
mod tables;
mod work_item;
mod worker;

pub use envelope::{MOST_BYTES, Reason, Refused, Role, Subject, open, seal};
pub use key::{FleetKey, KeyError, PublicKey, Trusted};
pub use member::Member;
pub use pairs::{AGAIN_SHARE, FleetMatch, clear, play_elsewhere};
pub use queue::FleetError;
pub use refusals::Tell;
pub use roster::{WorkerCounts, worker_lines};
pub use server::{Login, NatsServer, Tls};
pub use status::{FleetStatus, JobStatus, MemberSeen, MemberStatus, fleet_status};
pub use tables::build_elsewhere;
pub use worker::{Done, Workshop, work};
