//! `anqi serve`, and `anqi` alone: the page.

mod network;
mod operation;

use std::env;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::time::{Duration, Instant};
use std::{io, thread};

use anqi_rules::Seed;
use anqi_web::{Holder, House, HouseError, HouseSettings, ServerLimits, serve_until};
use anyhow::{Context, Result, bail};
use clap::Args;
use serde::Serialize;
use tokio::net::TcpListener;

use self::network::{LimitArgs, NetworkArgs};
use self::operation::OperationArgs;
use crate::Exit;
use crate::games::days;
use crate::output::Output;
use crate::resources::resources;

/// Serve the page: play, see why, learn (`anqi` alone does the same)
#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Port to listen on; 0 for any that is free [default: 8064, or the next that is free]
    #[arg(long)]
    port: Option<u16>,
    /// Address to listen on. Without --public all who can reach it can play, and open every game
    #[arg(long, default_value_t = HOST)]
    host: IpAddr,
    /// Leave the browser alone
    #[arg(long)]
    no_open: bool,
    /// Where games are kept [default: anqi/games in the user's data folder]
    #[arg(long, value_name = "DIR")]
    games: Option<PathBuf>,
    /// A folder of endgame tables (`anqi endgame build`) for verdicts beyond the four pieces that are solved anyway
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Where deals come from, for tests: whoever knows it knows them all [default: the system]
    #[arg(long, hide = true)]
    seed: Option<Seed>,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    limits: LimitArgs,
    #[command(flatten)]
    operation: OperationArgs,
}

/// The port when none is asked for, or the next that is free.
const PORT: u16 = 8064;
const MOST_PORTS: u16 = 100;
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

impl Default for ServeArgs {
    fn default() -> ServeArgs {
        ServeArgs {
            port: None,
            host: HOST,
            no_open: false,
            games: None,
            tables: None,
            seed: None,
            network: NetworkArgs::default(),
            limits: LimitArgs::default(),
            operation: OperationArgs::default(),
        }
    }
}

#[derive(Serialize)]
struct Serving {
    schema: &'static str,
    url: String,
    games: String,
    /// The page of another process, which serves the same games.
    #[serde(skip_serializing_if = "Option::is_none")]
    served_by: Option<u32>,
}

impl Serving {
    fn new(url: String, games: &Path, served_by: Option<u32>) -> Serving {
        Serving { schema: "anqi-serve-1", url, games: games.display().to_string(), served_by }
    }
}

impl ServeArgs {
    /// Whether a server that is there already will do: it was not asked for another address, tables, deals or guests.
    fn leaves_all_open(&self) -> bool {
        let is_usual = !self.network.public && self.network.tls_cert.is_none();
        self.port.is_none() && self.host == HOST && self.tables.is_none() && self.seed.is_none() && is_usual
    }
}

pub(crate) fn run(args: &ServeArgs, out: &mut Output) -> Result<Exit> {
    let public = args.network.public;
    operation::log(&args.operation, public);
    if public {
        operation::bound_allocator();
    }
    let limits = operation::within_files(args.limits.limits(public))?;
    let dir = games_dir(args.games.as_deref());
    let house = match open(args, &dir, &limits) {
        // The page of this folder is open already: what was asked for is there.
        Err(HouseError::Locked { holder: Some(holder), .. }) if args.leaves_all_open() && holder.answers() => {
            let serving = Serving::new(holder.url(), &dir, Some(holder.process));
            out.print(&serving, |text| {
                writeln!(text, "anqi serves these games already (process {}):\n", holder.process)?;
                writeln!(text, "  the page   {}\n  its games  {}", serving.url, serving.games)
            })?;
            if !args.no_open {
                open_browser(&serving.url);
            }
            return Ok(Exit::Done);
        }
        opened => opened?,
    };
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(async {
        let listener = listen(args).await?;
        let address = listener.local_addr()?;
        let settings = args.network.settings(args.operation.metrics_address).await?;
        let is_tls = settings.tls.is_some();
        house.announce(address, is_tls)?;
        let scheme = if is_tls { "https" } else { "http" };
        let serving = Serving::new(format!("{scheme}://{address}/"), &dir, None);
        if !public && !address.ip().is_loopback() {
            tracing::warn!(
                "this page is open to all who can reach {address}: they can play and open every game, and nothing is bounded; \
                 on a network take --public"
            );
        }
        out.print(&serving, |text| {
            writeln!(text, "anqi {}: the workshop for Chinese Dark Chess (暗棋, banqi)\n", env!("CARGO_PKG_VERSION"))?;
            if args.port.is_none() && address.port() != PORT {
                writeln!(text, "  another program has port {PORT}: this page is on port {}", address.port())?;
            }
            writeln!(text, "  the page   {}", serving.url)?;
            writeln!(text, "  its games  {}\n", serving.games)?;
            writeln!(text, "Ctrl-C ends it. `anqi guide` shows what else there is, `anqi play` plays in the terminal.")
        })?;
        if !args.no_open && !public {
            open_browser(&serving.url);
        }
        serve_until(listener, house, settings, operation::end()?).await?;
        Ok::<_, anyhow::Error>(())
    })?;
    // Everything is on the disk; what still runs is not wanted any more.
    runtime.shutdown_timeout(Duration::from_secs(1));
    Ok(Exit::Done)
}

/// Opens the folder of games. A server that has just locked it may not listen yet, and one that is ending may not have
/// let go of it: a second later either is clear.
fn open(args: &ServeArgs, dir: &Path, limits: &ServerLimits) -> Result<Arc<House>, HouseError> {
    let until = Instant::now() + Duration::from_secs(1);
    let settings = HouseSettings {
        deals: args.seed.clone(),
        tables: args.tables.clone(),
        resources: resources(),
        public: args.network.public,
        limits: limits.clone(),
        keep: args.operation.keep_days.map(days),
        ..HouseSettings::default()
    };
    loop {
        match House::open(dir, settings.clone()) {
            Err(HouseError::Locked { holder, .. })
                if Instant::now() < until && !holder.as_deref().is_some_and(Holder::answers) =>
            {
                thread::sleep(Duration::from_millis(50));
            }
            opened => return opened,
        }
    }
}

/// Listens on the port that was asked for. If none was, on the usual one or the next that no program has.
async fn listen(args: &ServeArgs) -> Result<TcpListener> {
    let address = |port| SocketAddr::new(args.host, port);
    if let Some(port) = args.port {
        let listening = TcpListener::bind(address(port)).await;
        return listening
            .with_context(|| format!("cannot listen on {}, choose another port with --port", address(port)));
    }
    for port in PORT..PORT + MOST_PORTS {
        match TcpListener::bind(address(port)).await {
            Err(error) if error.kind() == io::ErrorKind::AddrInUse => {}
            listening => return listening.with_context(|| format!("cannot listen on {}", address(port))),
        }
    }
    bail!("ports {PORT} to {} are taken, choose another with --port", PORT + MOST_PORTS - 1)
}

/// Opens the page where there is a desktop; otherwise the address has been printed.
fn open_browser(url: &str) {
    let has_desktop = ["DISPLAY", "WAYLAND_DISPLAY"].iter().any(|name| env::var_os(name).is_some());
    let command = match env::consts::OS {
        "macos" => Some(("open", &[][..])),
        "windows" => Some(("cmd", &["/c", "start"][..])),
        _ => has_desktop.then_some(("xdg-open", &[][..])),
    };
    if let Some((program, words)) = command {
        let quiet = Stdio::null;
        let _ = Command::new(program).args(words).arg(url).stdin(quiet()).stdout(quiet()).stderr(quiet()).spawn();
    }
}

/// The folder of games: the one that was named, or the user's.
pub(crate) fn games_dir(named: Option<&Path>) -> PathBuf {
    named.map_or_else(data_dir, Path::to_owned)
}

fn data_dir() -> PathBuf {
    let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = from("XDG_DATA_HOME")
        .or_else(|| from("APPDATA"))
        .or_else(|| from("HOME").map(|home| home.join(".local/share")))
        .unwrap_or_default();
    data.join("anqi").join("games")
}
