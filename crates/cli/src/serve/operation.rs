//! What the operator of a server wants: logs, metrics, enough files, and an end that loses nothing.

use std::io;
use std::net::SocketAddr;
use std::{env, process};

use anqi_web::ServerLimits;
use anyhow::{Context, Result, bail};
use clap::{Args, ValueEnum};
use tracing::level_filters::LevelFilter;

use crate::output::grouped;

#[derive(Args, Default)]
#[command(next_help_heading = "Operation")]
pub(crate) struct OperationArgs {
    /// Answer /metrics and /healthz at this address too, and /metrics there alone [default: programs of this machine may ask at
    /// the page's address]
    #[arg(long, value_name = "ADDRESS:PORT")]
    pub(crate) metrics_address: Option<SocketAddr>,
    /// How log lines look, on standard error
    #[arg(long, value_enum, default_value_t, value_name = "FORMAT")]
    log_format: LogFormat,
    /// The least that is logged [default: warn, with --public info]
    #[arg(long, value_name = "LEVEL")]
    log_level: Option<LogLevel>,
    /// Delete games that were not touched for so many days, finished or not [default: keep all]
    #[arg(long, value_name = "DAYS", value_parser = clap::value_parser!(u32).range(1..))]
    pub(crate) keep_days: Option<u32>,
}

#[derive(Clone, Copy, Default, ValueEnum)]
enum LogFormat {
    #[default]
    Text,
    Json,
}

#[derive(Clone, Copy, ValueEnum)]
enum LogLevel {
    Error,
    Warn,
    Info,
    Debug,
}

/// Logs to standard error from here on.
pub(crate) fn log(args: &OperationArgs, public: bool) {
    let usual = if public { LogLevel::Info } else { LogLevel::Warn };
    let level = match args.log_level.unwrap_or(usual) {
        LogLevel::Error => LevelFilter::ERROR,
        LogLevel::Warn => LevelFilter::WARN,
        LogLevel::Info => LevelFilter::INFO,
        LogLevel::Debug => LevelFilter::DEBUG,
    };
    let lines = tracing_subscriber::fmt().with_max_level(level).with_writer(io::stderr);
    let lines = lines.with_ansi(false).with_target(false);
    // It fails if another one logs already, in tests that start more than one server.
    let _ = match args.log_format {
        LogFormat::Text => lines.compact().try_init(),
        LogFormat::Json => lines.json().flatten_event(true).try_init(),
    };
}

/// Files that are open whatever happens: the program's own, its lock, some games.
const SPARE: u64 = 64;
/// Below this no server is of use.
const LEAST: u64 = 128;

/// Raises the number of files that this process may open to what the system allows, and lowers the cap of sockets to what that
/// leaves: of four files three are for sockets and one for a game.
pub(crate) fn within_files(mut limits: ServerLimits) -> Result<ServerLimits> {
    let Some(files) = most_files() else { return Ok(limits) };
    let wanted = limits.sockets as u64 * 4 / 3 + SPARE;
    if files < LEAST {
        bail!(
            "this process may open {files} files, a server needs {LEAST} at least: raise it with `ulimit -n {wanted}`"
        );
    }
    if files < wanted {
        let sockets = (files - SPARE) * 3 / 4;
        tracing::warn!(
            "this process may open {} files: {} sockets at most are let in instead of {}; raise it with `ulimit -n {wanted}`, \
             or for systemd with LimitNOFILE={wanted}, or ask for less with --max-sockets",
            grouped(files),
            grouped(sockets),
            grouped(limits.sockets as u64)
        );
        limits.sockets = usize::try_from(sockets).unwrap_or(usize::MAX);
    }
    Ok(limits)
}

/// How many files this process may open, after it has asked for as many as it may have.
#[cfg(unix)]
fn most_files() -> Option<u64> {
    use rustix::process::{Resource, getrlimit, setrlimit};
    let mut limit = getrlimit(Resource::Nofile);
    limit.current = limit.maximum;
    let _ = setrlimit(Resource::Nofile, limit);
    getrlimit(Resource::Nofile).current
}

#[cfg(not(unix))]
fn most_files() -> Option<u64> {
    None
}

/// Ready when the process is asked to end; asked again it ends at once.
#[cfg(unix)]
pub(crate) fn end() -> Result<impl Future<Output = ()>> {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).context("cannot listen for signals");
    let (mut terminate, mut interrupt) = (listen(SignalKind::terminate())?, listen(SignalKind::interrupt())?);
    let mut asked = async move || tokio::select! { _ = terminate.recv() => {}, _ = interrupt.recv() => {} };
    Ok(async move {
        asked().await;
        tokio::spawn(async move {
            asked().await;
            process::exit(130);
        });
    })
}

#[cfg(not(unix))]
pub(crate) fn end() -> Result<impl Future<Output = ()>> {
    Ok(async {
        let _ = tokio::signal::ctrl_c().await;
        tokio::spawn(async {
            let _ = tokio::signal::ctrl_c().await;
            process::exit(130);
        });
    })
}

/// Starts this program again in its own place with two arenas for the allocator, unless the environment decides that. glibc keeps
/// freed memory for each thread, and reads the number of arenas when a program starts: without this the floods of
/// `benchmarks/hostile/run` leave a server with a third more memory.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
pub(super) fn bound_allocator() {
    use std::os::unix::process::CommandExt;

    const ARENAS: &str = "MALLOC_ARENA_MAX";
    if env::var_os(ARENAS).is_some() {
        return;
    }
    let Ok(program) = env::current_exe() else { return };
    // It returns only if that fails; then the server takes more memory.
    let error = process::Command::new(program).args(env::args_os().skip(1)).env(ARENAS, "2").exec();
    tracing::warn!("cannot bound the allocator: {error}");
}

#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub(super) fn bound_allocator() {}
