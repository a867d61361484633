//! `anqi engine`: a player of ours for anybody's referee.

use std::io;
use std::net::TcpStream;
use std::time::Duration;

use anqi_engine::{Limits, PlayerSpec};
use anqi_protocol::{ServedEngine, serve, serve_packets};
use anqi_rules::Seed;
use anyhow::{Context, Result};
use clap::Args;

use crate::Exit;
use crate::output::Output;
use crate::position::RulesArgs;
use crate::resources::resources;

/// Play for a match server: numbered lines or UCI on standard input and output, or packets over TCP
///
/// The first line decides between the numbered lines of the match server (`1 name`) and UCI (`uci`).
/// See docs/PROTOCOL.md.
#[derive(Args)]
pub(crate) struct EngineArgs {
    /// Who plays: see `anqi players`
    #[arg(long, value_name = "SPEC", default_value = "champion")]
    player: PlayerSpec,
    /// Connect to a server and speak packets over TCP
    #[arg(long, value_name = "HOST:PORT")]
    connect: Option<String>,
    /// The same as servers of old put it: address and port as the last two arguments
    #[arg(value_name = "IP PORT", num_args = 2, conflicts_with = "connect")]
    server: Vec<String>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Where random choices come from
    #[arg(long, default_value = "1")]
    seed: Seed,
    /// Positions to look at for a move, at most
    #[arg(long)]
    nodes: Option<u64>,
    /// Random games to play for a move, at most
    #[arg(long)]
    playouts: Option<u64>,
    /// Plies to look ahead, at most
    #[arg(long)]
    depth: Option<u32>,
    /// Seconds to think about a move, at most; the clock counts too
    #[arg(long, value_name = "SECONDS", value_parser = crate::analyse::seconds)]
    movetime: Option<Duration>,
    /// Think in the other side's time too, with the numbered lines; moves then depend on how fast the machine is
    #[arg(long)]
    ponder: bool,
}

pub(crate) fn run(args: &EngineArgs, out: &mut Output) -> Result<Exit> {
    let limits = Limits { time: args.movetime, nodes: args.nodes, depth: args.depth, playouts: args.playouts };
    let resources = resources();
    resources.open_for(&args.player)?;
    let engine = ServedEngine {
        player: args.player.clone(),
        resources,
        seed: args.seed.clone(),
        rules: args.rules.rules,
        limits,
        ponder: args.ponder,
    };
    let address = match &args.server[..] {
        [ip, port] => Some(format!("{ip}:{port}")),
        _ => args.connect.clone(),
    };
    match address {
        None => serve(&engine, io::stdin(), out.raw())?,
        Some(address) => {
            let stream = TcpStream::connect(&address).with_context(|| format!("cannot connect to {address}"))?;
            stream.set_nodelay(true)?;
            serve_packets(&engine, stream, io::stderr())?;
        }
    }
    Ok(Exit::Done)
}
