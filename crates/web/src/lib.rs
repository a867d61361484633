//! How do people play? The page for Chinese Dark Chess, and the server behind it.
//!
//! A [`House`] keeps games in a folder; [`serve`] lets pages play them. A game in play (`anqi_play::LiveGame`) is its own
//! referee: it holds the deal, promises it before the first flip, and shows a page only what both players see. Every ply is in the game's journal
//! before any page is told of it. The page itself (`page/`, plain modules inside the binary) knows no rules: what can be
//! played, what it is worth and what is said about it come from here.
//!
//! ```no_run
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! use anqi_web::{House, HouseSettings, serve};
//!
//! let house = House::open("games".as_ref(), HouseSettings::default())?;
//! let listener = tokio::net::TcpListener::bind("127.0.0.1:8064").await?;
//! serve(listener, house).await?;
//! # Ok(())
//! # }
//! ```
//!
//! | file | what is in it |
//! |---|---|
//! | `hosted.rs` | `HostedGame`: one game of the server, in play with its journal or kept as a record |
//! | `seat.rs`, `presence.rs` | who may act in a game, by tokens; who is there, and for how long is waited |
//! | `journal.rs` | what is on disk while a game is played |
//! | `series.rs` | series of games of a person against a program |
//! | `view.rs`, `watchers.rs` | what a page is shown of a game, and of every change of it |
//! | `house.rs`, `thinkers.rs` | all games; engines that move, flags that fall; list and import |
//! | `study.rs` | what the analyst thinks of a position |
//! | `holder.rs` | which server holds a folder |
//! | `link.rs` | a game in a link |
//! | `wire.rs`, `request_error.rs` | every message, as types |
//! | `socket.rs`, `routes.rs`, `assets.rs` | sockets, HTTP, the page's files |
//! | `server.rs`, `tls.rs` | the listener, from the first connection to the end |
//! | `callers.rs`, `visitors.rs`, `limits.rs` | who asks, and what one visitor may spend |
//! | `connections.rs` | all sockets: their cap, and which are closed |
//! | `scheduler.rs`, `tasks.rs` | whose engine works next |
//! | `metrics.rs` | numbers for the operator |
//! | `backup.rs`, `retention.rs` | copies of the folder, and how long games are kept |

mod assets;
mod backup;
mod callers;
mod connections;
#[cfg(test)]
mod damage_tests;
mod folder;
mod holder;
mod hosted;
mod house;
mod journal;
mod limits;
mod link;
mod metrics;
mod presence;
mod request_error;
mod retention;
mod routes;
mod scheduler;
mod seat;
mod series;
mod server;
mod socket;
mod study;
mod tasks;
mod thinkers;
mod tls;
mod view;
mod visitors;
mod watchers;
mod wire;

pub use backup::{BackupError, Copied, backup, restore};
pub use callers::{HostName, HostNameError, Network, Proxy, ProxyError};
pub use holder::Holder;
pub use house::{House, HouseError, HouseSettings};
pub use limits::{Rate, ServerLimits, Slots};
pub use presence::Waits;
pub use retention::prune;
pub use server::{ServerSettings, serve, serve_until};
pub use tls::{Tls, TlsError};
