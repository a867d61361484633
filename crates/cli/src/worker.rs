//! `anqi worker`: plays games and builds tables that other machines have queued.

use std::fs;
use std::path::PathBuf;

use anqi_fleet::Done;
use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::concurrency::Concurrency;
use crate::output::Output;
use crate::resources::resources;

/// Play games and build tables from the queue of a NATS server until Ctrl-C
///
/// Start the server with --jetstream, this on as many machines as there are, and `anqi match --nats URL`,
/// `anqi tournament --nats URL` or `anqi endgame build --nats URL` anywhere. Whatever is killed loses nothing: what was not
/// finished goes to another worker.
#[derive(Args)]
pub(crate) struct WorkerArgs {
    /// The server, such as nats://host:4222
    #[arg(long, value_name = "URL")]
    nats: String,
    /// How many pairs or tables at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<Concurrency>,
    /// Keep tables of endings that it builds, and those they are built on, in this folder; it may have some already
    /// [default: a temporary folder]
    #[arg(long, value_name = "DIR")]
    tables: Option<PathBuf>,
}

#[derive(Serialize)]
struct Worked {
    schema: &'static str,
    pairs: u64,
    tables: u64,
}

pub(crate) fn run(args: &WorkerArgs, out: &mut Output) -> Result<Exit> {
    let threads = Concurrency::or_cores(args.concurrency).get();
    let stop = stop_on_signals()?;
    let temporary = tempfile::tempdir().context("cannot make a temporary folder")?;
    let dir = args.tables.as_deref().unwrap_or(temporary.path());
    fs::create_dir_all(dir).with_context(|| format!("cannot make the folder {}", dir.display()))?;
    let mut worked = Worked { schema: "anqi-worker-1", pairs: 0, tables: 0 };
    anqi_fleet::work(&args.nats, threads, dir, &resources(), &stop, |done| match done {
        Done::Pair(_) => worked.pairs += 1,
        Done::Table(_) => worked.tables += 1,
    })?;
    out.print(&worked, |text| writeln!(text, "{} pairs played, {} tables built", worked.pairs, worked.tables))?;
    Ok(Exit::Done)
}
