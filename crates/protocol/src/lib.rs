//! How do programs talk?
//!
//! Three protocols, from both sides: the match server's numbered lines ([`numbered`], "A"), its older packets over TCP
//! ([`packets`], "B") and a dialect of UCI ([`uci`], "C"). Those three modules are grammar alone: text in, values out, and
//! round again. `docs/PROTOCOL.md` describes them for people.
//!
//! - [`serve`] and [`serve_packets`] are the engine's side: a player of ours for any referee.
//! - [`Outside`] is the referee's side: any program as a player, checked, timed, and ended with everything that it
//!   started.
//! - [`Talk`] is the same for protocols of other games: lines of text, and what they mean is the caller's business.
//! - [`check_engine`] tells the author of an engine what a referee would find wrong with it.
//!
//! What is sent follows from a [`Game`](anqi_rules::Game), which both players see. Only the games of [`check_engine`] have a
//! [`Deal`](anqi_rules::Deal), which stays in `check.rs`.

mod check;
mod engine;
mod lines;
pub mod numbered;
mod outside;
pub mod packets;
mod squares;
pub mod uci;

pub use anqi_play::{Clock, ClockError, Left};
pub use check::{CheckPlan, CheckResult, Conformance, Finding, check_engine};
pub use engine::{ServedEngine, serve, serve_packets};
pub use outside::{
    Fault, Illegality, Outside, OutsideSpec, OutsideSpecError, Protocol, Talk, supervise_if_asked, supervise_with,
};
