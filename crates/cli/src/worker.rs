//! `anqi worker`: plays pairs that other machines have queued.

use std::thread;

use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

use crate::Exit;
use crate::arena::stop_on_signals;
use crate::output::Output;

/// Play pairs from the queue of a NATS server until Ctrl-C
///
/// Start the server with --jetstream, this on as many machines as there are, and `anqi match --nats URL` or
/// `anqi tournament --nats URL` anywhere. Whatever is killed loses nothing: a pair that was not finished goes to
/// another worker.
#[derive(Args)]
pub(crate) struct WorkerArgs {
    /// The server, such as nats://host:4222
    #[arg(long, value_name = "URL")]
    nats: String,
    /// How many pairs at a time [default: one for each core]
    #[arg(long, value_name = "N")]
    concurrency: Option<usize>,
}

#[derive(Serialize)]
struct Worked {
    schema: &'static str,
    pairs: u64,
}

pub(crate) fn run(args: &WorkerArgs, out: &mut Output) -> Result<Exit> {
    let threads = match args.concurrency {
        Some(0) => bail!("bad --concurrency 0, expected a number from 1 on"),
        Some(threads) => threads,
        None => thread::available_parallelism().map_or(1, usize::from),
    };
    let stop = stop_on_signals()?;
    let mut worked = Worked { schema: "anqi-worker-1", pairs: 0 };
    anqi_fleet::work(&args.nats, threads, &stop, |_| worked.pairs += 1)?;
    out.print(&worked, |text| writeln!(text, "{} pairs played", worked.pairs))?;
    Ok(Exit::Done)
}
