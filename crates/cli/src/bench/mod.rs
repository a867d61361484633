//! `anqi bench`: rates of this machine, one core but where it says otherwise.

mod endgame;
mod iterations;
mod perft;
mod playouts;
mod referee;
mod search;
mod threads;

use std::time::{Duration, Instant};

use anyhow::{Context, Result};
use clap::{Args, Subcommand};

use self::playouts::Paths;
use crate::Exit;
use crate::output::Output;

/// Measure how fast this machine is, on one core but for threads
#[derive(Args)]
pub(crate) struct BenchArgs {
    #[command(subcommand)]
    what: What,
    /// Seconds for each row [default: 0.5 for playouts, 20 for threads, else 2]
    #[arg(long, global = true)]
    seconds: Option<f64>,
}

#[derive(Subcommand)]
enum What {
    /// Games by each playout policy from the initial position, beside the rates that Jouandeau & Cazenave printed
    Playouts {
        /// Which paths: best, all, or one by its name
        #[arg(long, default_value = "best")]
        paths: Paths,
    },
    /// Leaves of the game tree, every one visited
    Perft,
    /// Nodes of the players' searches at fixed depths, and one number that changes when play changes
    Search,
    /// What a second thread is worth to the champion, by time for a move
    Threads,
    /// Iterations of Monte Carlo tree search from the initial position and in middle games
    Iterations,
    /// Positions of retrograde analysis, and random probes of a table
    Endgame,
    /// Games of `random` against itself through the referee: in process, with a journal, as an outside program
    Referee,
}

pub(crate) fn run(args: &BenchArgs, out: &mut Output) -> Result<Exit> {
    let time = |default| Duration::try_from_secs_f64(args.seconds.unwrap_or(default)).context("bad --seconds");
    match &args.what {
        What::Playouts { paths } => playouts::run(time(0.5)?, paths, out),
        What::Perft => perft::run(time(2.0)?, out),
        What::Search => search::run(out),
        What::Threads => threads::run(time(20.0)?, out),
        What::Iterations => iterations::run(time(2.0)?, out),
        What::Endgame => endgame::run(time(2.0)?, out),
        What::Referee => referee::run(time(2.0)?, out),
    }
}

/// Runs `batch` over and over for about `time` and gives the work a second of the best one: others on the
/// machine can only make it slower.
fn best_rate(time: Duration, mut batch: impl FnMut() -> u64) -> f64 {
    let start = Instant::now();
    let mut best: f64 = 0.0;
    loop {
        let begin = Instant::now();
        let work = batch();
        best = best.max(work as f64 / begin.elapsed().as_secs_f64());
        if start.elapsed() >= time {
            return best;
        }
    }
}
