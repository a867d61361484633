//! How a server meets a network: who may come, under which names, and what each may spend.

use std::net::SocketAddr;
use std::num::{NonZeroU32, NonZeroU64, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use anqi_web::{HostName, Network, Proxy, Rate, ServerLimits, ServerSettings, Tls};
use anyhow::{Context, Result};
use clap::Args;
use tokio::net::TcpListener;

#[derive(Args, Default)]
#[command(next_help_heading = "On a network")]
pub(crate) struct NetworkArgs {
    /// Strangers come here: games are known only to those who have their links, and every visitor has quotas
    #[arg(long)]
    pub(crate) public: bool,
    /// A name of this server, such as banqi.example.org; may be given more than once
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<HostName>,
    /// Speak TLS with this chain of certificates (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    pub(crate) tls_cert: Option<PathBuf>,
    /// The private key of the certificate (PEM)
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Believe X-Forwarded-For, X-Forwarded-Proto and Forwarded of this proxy: an address, a network, or loopback, which is
    /// meant if none is named; may be given more than once
    #[arg(long, value_name = "PROXY", num_args = 0..=1, default_missing_value = "loopback")]
    trust_proxy: Vec<Proxy>,
}

impl NetworkArgs {
    pub(crate) async fn settings(&self, metrics: Option<SocketAddr>) -> Result<ServerSettings> {
        let tls = match (&self.tls_cert, &self.tls_key) {
            (Some(chain), Some(key)) => Some(Tls::read(chain, key)?),
            _ => None,
        };
        let metrics = match metrics {
            Some(address) => {
                let listening = TcpListener::bind(address).await;
                Some(listening.with_context(|| format!("cannot listen on {address}, see --metrics-address"))?)
            }
            None => None,
        };
        let network = Network { hosts: self.allow_host.clone(), proxies: self.trust_proxy.clone() };
        Ok(ServerSettings { network, tls, metrics })
    }
}

/// Bounds that differ from those of `--public`, or of a server for one user.
#[derive(Args, Default)]
#[command(next_help_heading = "Bounds [defaults: generous, with --public as docs/NETWORK.md says]")]
pub(crate) struct LimitArgs {
    /// The most nodes or playouts of a player's move
    #[arg(long, value_name = "NODES")]
    max_nodes: Option<NonZeroU64>,
    /// The longest time of a player's move, in seconds
    #[arg(long, value_name = "SECONDS")]
    max_time: Option<NonZeroU32>,
    /// The most memory of a player, in MB
    #[arg(long, value_name = "MB")]
    max_hash: Option<NonZeroU32>,
    /// The most threads of a player
    #[arg(long, value_name = "NUMBER")]
    max_threads: Option<NonZeroU32>,
    /// The most nodes of an analysis
    #[arg(long, value_name = "NODES")]
    max_analysis: Option<NonZeroU64>,
    /// How many moves and hints are thought about at the same time [default: the number of cores]
    #[arg(long, value_name = "NUMBER")]
    play_slots: Option<NonZeroUsize>,
    /// How many analyses and reviews run at the same time [default: half of the cores]
    #[arg(long, value_name = "NUMBER")]
    study_slots: Option<NonZeroUsize>,
    /// How many requests of a visitor may wait for a slot
    #[arg(long, value_name = "NUMBER")]
    max_waiting: Option<NonZeroUsize>,
    /// The most sockets
    #[arg(long, value_name = "NUMBER")]
    max_sockets: Option<NonZeroUsize>,
    /// The most sockets of one visitor
    #[arg(long, value_name = "NUMBER")]
    max_sockets_each: Option<NonZeroUsize>,
    /// The most messages of a visitor a second
    #[arg(long, value_name = "NUMBER")]
    max_messages: Option<NonZeroU32>,
    /// The most new games of a visitor a minute
    #[arg(long, value_name = "NUMBER")]
    max_new_games: Option<NonZeroU32>,
    /// The most games in the folder
    #[arg(long, value_name = "NUMBER")]
    max_games: Option<NonZeroU64>,
}

impl LimitArgs {
    /// The bounds of a server.
    pub(crate) fn limits(&self, public: bool) -> ServerLimits {
        fn set<T>(place: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *place = value;
            }
        }
        let mut limits = if public { ServerLimits::public() } else { ServerLimits::default() };
        set(&mut limits.bots.nodes, self.max_nodes.map(NonZeroU64::get));
        set(&mut limits.bots.time, self.max_time.map(|seconds| Duration::from_secs(u64::from(seconds.get()))));
        set(&mut limits.bots.megabytes, self.max_hash.map(NonZeroU32::get));
        set(&mut limits.bots.threads, self.max_threads.map(NonZeroU32::get));
        set(&mut limits.analysis_nodes, self.max_analysis.map(NonZeroU64::get));
        set(&mut limits.slots.play, self.play_slots);
        set(&mut limits.slots.study, self.study_slots);
        set(&mut limits.waiting, self.max_waiting.map(NonZeroUsize::get));
        set(&mut limits.sockets, self.max_sockets.map(NonZeroUsize::get));
        set(&mut limits.sockets_each, self.max_sockets_each.map(NonZeroUsize::get));
        let number = |number: NonZeroU32| f64::from(number.get());
        set(&mut limits.messages, self.max_messages.map(|most| Rate::per_second(number(most), 10.0 * number(most))));
        set(&mut limits.games, self.max_new_games.map(|most| Rate::per_minute(number(most))));
        set(&mut limits.folder_games, self.max_games.map(NonZeroU64::get));
        limits
    }
}
