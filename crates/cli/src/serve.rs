//! `anqi serve`, and `anqi` alone: the page.

use std::env;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use anqi_rules::Seed;
use anqi_web::{House, Settings, serve};
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use tokio::net::TcpListener;

use crate::Exit;
use crate::output::Output;

/// Serve the page: play, see why, learn (`anqi` alone does the same)
#[derive(Args)]
pub(crate) struct ServeArgs {
    /// Port to listen on; 0 for any that is free
    #[arg(long, default_value_t = PORT)]
    port: u16,
    /// Address to listen on. Whoever can reach it can play, and open every game
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
}

const PORT: u16 = 8064;
const HOST: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);

impl Default for ServeArgs {
    fn default() -> ServeArgs {
        ServeArgs { port: PORT, host: HOST, no_open: false, games: None, tables: None, seed: None }
    }
}

#[derive(Serialize)]
struct Serving {
    schema: &'static str,
    url: String,
    games: String,
}

pub(crate) fn run(args: &ServeArgs, out: &mut Output) -> Result<Exit> {
    allow_many_files();
    let dir = args.games.clone().unwrap_or_else(data_dir);
    let house = House::open(&dir, Settings { deals: args.seed.clone(), tables: args.tables.clone() })?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().context("cannot start threads")?;
    runtime.block_on(async {
        let address = SocketAddr::new(args.host, args.port);
        let listener = TcpListener::bind(address)
            .await
            .with_context(|| format!("cannot listen on {address}, choose another port with --port"))?;
        let address = listener.local_addr()?;
        let serving =
            Serving { schema: "anqi-serve-1", url: format!("http://{address}/"), games: dir.display().to_string() };
        out.print(&serving, |text| {
            writeln!(text, "anqi {}: the workshop for Chinese Dark Chess (暗棋, banqi)\n", env!("CARGO_PKG_VERSION"))?;
            writeln!(text, "  the page   {}", serving.url)?;
            writeln!(text, "  its games  {}\n", serving.games)?;
            writeln!(text, "Ctrl-C ends it. `anqi guide` shows what else there is, `anqi play` plays in the terminal.")
        })?;
        if !args.no_open {
            open_browser(&serving.url);
        }
        serve(listener, house).await?;
        Ok(Exit::Done)
    })
}

/// A thousand pages are more open files than many systems allow at first; what they allow at most will do.
#[cfg(unix)]
fn allow_many_files() {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
}

#[cfg(not(unix))]
fn allow_many_files() {}

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

fn data_dir() -> PathBuf {
    let from = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let data = from("XDG_DATA_HOME")
        .or_else(|| from("APPDATA"))
        .or_else(|| from("HOME").map(|home| home.join(".local/share")))
        .unwrap_or_default();
    data.join("anqi").join("games")
}
