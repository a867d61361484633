//! `anqi play-out`: how games from a position end if both sides play at random.

use anqi_playout::{Moments, Path, PlayoutOptions, PlayoutStart, PlayoutSummary, Policy, Reading, playouts};
use anqi_rules::Seed;
use anyhow::Result;
use clap::Args;
use rand_core::Rng;
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped};
use crate::position::PositionArgs;

/// Play random games to the end and count how they end
#[derive(Args)]
pub(crate) struct PlayOutArgs {
    #[command(flatten)]
    position: PositionArgs,
    /// How moves are drawn: random, capture, avoid, trap, or several joined by + (capture+avoid)
    #[arg(long, default_value = "random")]
    policy: Policy,
    /// How many games
    #[arg(long, default_value_t = 10_000)]
    count: u64,
    /// Draw after so many plies without flip or capture [default: that of the rules]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    draw: Option<u32>,
    /// How the rules are read: rules, or paper (a unit first, then its action; captures do not reset the draw counter)
    #[arg(long, default_value = "rules")]
    reading: Reading,
    /// Where randomness comes from: a number or 64 hexadecimal digits
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// How games are played: scalar, portable, or what vectors this machine has; the games are the same
    #[arg(long)]
    path: Option<Path>,
}

#[derive(Serialize)]
struct Ends {
    schema: &'static str,
    position: String,
    policy: String,
    reading: String,
    draw: u32,
    seed: String,
    count: u64,
    wins: u64,
    draws: u64,
    losses: u64,
    draw_rate: f64,
    plies: Numbers,
    left: Numbers,
}

#[derive(Serialize)]
struct Numbers {
    mean: f64,
    sd: f64,
    standard_error: f64,
}

impl From<&Moments> for Numbers {
    fn from(series: &Moments) -> Numbers {
        Numbers { mean: series.mean(), sd: series.sd(), standard_error: series.standard_error() }
    }
}

/// What `draw=off` means in playouts: long enough for every game that makes any progress.
const NO_DRAW_LIMIT: u32 = 1_000_000;

pub(crate) fn run(args: &PlayOutArgs, out: &mut Output) -> Result<Exit> {
    let position = args.position.position()?;
    let draw = args.draw.or(args.position.rules().draw().map(u32::from)).unwrap_or(NO_DRAW_LIMIT);
    let options = PlayoutOptions { policy: args.policy, draw, reading: args.reading, ..PlayoutOptions::default() };
    let seed = args.seed.child("playout").rng().next_u64();
    let path = args.path.unwrap_or_else(Path::best);
    let summary = playouts(&PlayoutStart::from(&position), &options, seed, 0..args.count, path);
    let ends = Ends {
        schema: "anqi-play-out-1",
        position: position.to_string(),
        policy: args.policy.to_string(),
        reading: args.reading.to_string(),
        draw,
        seed: args.seed.to_string(),
        count: summary.count(),
        wins: summary.wins,
        draws: summary.draws,
        losses: summary.losses,
        draw_rate: share(summary.draws, &summary),
        plies: Numbers::from(&summary.plies),
        left: Numbers::from(&summary.left),
    };
    out.print(&ends, |text| {
        writeln!(
            text,
            "playouts     {} ({}, {} reading, draw at {})",
            grouped(ends.count),
            ends.policy,
            ends.reading,
            draw
        )?;
        for (name, count) in [("won", ends.wins), ("drawn", ends.draws), ("lost", ends.losses)] {
            writeln!(text, "{name:<12} {:>6.2} %", 100.0 * share(count, &summary))?;
        }
        writeln!(text, "plies        {:.2} (sd {:.2})", ends.plies.mean, ends.plies.sd)?;
        writeln!(text, "pieces left  {:.2} (sd {:.2})", ends.left.mean, ends.left.sd)
    })?;
    Ok(Exit::Done)
}

fn share(part: u64, summary: &PlayoutSummary) -> f64 {
    part as f64 / summary.count().max(1) as f64
}
