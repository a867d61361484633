//! What commit c3a29fa did, compared with what is done today: moves of every player, whole games, the socket of the page, the
//! terminal, JSON output, and folders of data that it wrote. `fixtures/c3a29fa/README.md` says how the fixtures were made.
//!
//! A difference fails. One that is intended is put into the function that normalises that kind of output, with its reason.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod experiments;
mod folders;
mod games;
mod json;
mod signatures;
mod socket;
mod support;
mod terminal;
