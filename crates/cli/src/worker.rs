//! `anqi worker`: plays games and builds tables that other machines have queued.

use std::fs;
use std::path::PathBuf;

use anqi_fleet::{Done, Workshop};
use anqi_lab::Allowed;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::concurrency::Concurrency;
use crate::fleet::FleetArgs;
use crate::output::Output;
use crate::resources::resources;

/// Play games and build tables from the queue of a NATS server until Ctrl-C
///
/// Every machine has a key of its own (`anqi fleet key`) and a list of those that it trusts: a worker trusts coordinators. Start
/// the server with a login (`nats-server --jetstream --user USER --pass PASSWORD`; without one on 127.0.0.1 only), this on
/// as many machines as there are, and `anqi match --nats URL`, `anqi tournament --nats URL` or `anqi endgame build --nats URL`
/// anywhere. Whatever is killed loses nothing: what was not finished goes to another worker. `anqi fleet status` shows all of them.
///
/// Jobs of trusted coordinators run programs and read files of this machine only as far as --allow-engine and --allow-files
/// say. What is not allowed is left to other workers.
#[derive(Args)]
pub(crate) struct WorkerArgs {
    /// The server: nats://HOST:4222, nats://USER:PASSWORD@HOST:4222, nats://TOKEN@HOST:4222, or tls:// for TLS
    #[arg(long, value_name = "URL")]
    nats: String,
    /// How many pairs or tables at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<Concurrency>,
    /// Keep tables of endings that it builds, and those they are built on, in this folder; it may have some already
    /// [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
    /// Let a contender NAME of a job play with this program; nothing else that the job says reaches a process:
    /// 'Gold=/opt/gold -q' or, with options, 'Gold=cmd=/opt/gold proto=uci option.Hash=64'
    #[arg(long, value_name = "NAME=COMMAND LINE")]
    allow_engine: Vec<String>,
    /// Let players of a job read networks (net=) and tables (tables=) in this folder
    #[arg(long, value_name = "DIR")]
    allow_files: Vec<PathBuf>,
    #[command(flatten)]
    fleet: FleetArgs,
}

#[derive(Serialize)]
struct Worked {
    schema: &'static str,
    pairs: u64,
    tables: u64,
}

pub(crate) fn run(args: &WorkerArgs, out: &mut Output) -> Result<Exit> {
    let member = args.fleet.member(&args.nats)?;
    let mut allowed = Allowed::default();
    args.allow_engine.iter().try_for_each(|text| allowed.engine(text)).context("--allow-engine")?;
    args.allow_files.iter().try_for_each(|dir| allowed.files(dir)).context("--allow-files")?;
    let threads = Concurrency::or_cores(args.concurrency).get();
    let stop = stop_on_signals()?;
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    let dir = args.tables.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let mut worked = Worked { schema: "anqi-worker-1", pairs: 0, tables: 0 };
    let workshop = Workshop { threads, dir: dir.to_owned(), resources: resources(), allowed };
    anqi_fleet::work(&member, &workshop, &stop, |done| match done {
        Done::Pair(_) => worked.pairs += 1,
        Done::Table(_) => worked.tables += 1,
    })?;
    out.print(&worked, |text| writeln!(text, "{} pairs played, {} tables built", worked.pairs, worked.tables))?;
    Ok(Exit::Done)
}
