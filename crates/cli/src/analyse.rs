//! `anqi analyse`: what a player thinks of a position, move by move.

use std::time::Duration;

use anqi_engine::{Candidate, Limits, PlayerSpec, Stop};
use anqi_play::{Analysis, TableProof};
use anqi_rules::{Game, Move, Rules, Seed};
use anyhow::{Result, bail};
use clap::Args;

use crate::Exit;
use crate::output::{Output, grouped};
use crate::position::PositionArgs;
use crate::resources::resources;

/// Let a player think about a position and rank its actions
#[derive(Args)]
pub(crate) struct AnalyseArgs {
    #[command(flatten)]
    position: PositionArgs,
    /// Who thinks: see `anqi players`
    #[arg(long, value_name = "SPEC", default_value = "champion")]
    player: PlayerSpec,
    #[command(flatten)]
    limits: LimitArgs,
    /// Where random choices come from
    #[arg(long, default_value = "1")]
    seed: Seed,
}

#[derive(Args)]
pub(crate) struct LimitArgs {
    /// Positions to look at
    #[arg(long)]
    nodes: Option<u64>,
    /// Random games to play
    #[arg(long)]
    playouts: Option<u64>,
    /// Seconds to think
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    time: Option<Duration>,
    /// Plies to look ahead
    #[arg(long)]
    depth: Option<u32>,
}

pub(crate) fn seconds(text: &str) -> Result<Duration, String> {
    let seconds = text.parse::<f64>().ok().and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    seconds.ok_or_else(|| format!("{text:?} is not a number of seconds"))
}

/// A million nodes, when nothing is said.
const DEFAULT_NODES: u64 = 1_000_000;

impl LimitArgs {
    fn limits(&self) -> Limits {
        let given = Limits { nodes: self.nodes, playouts: self.playouts, time: self.time, depth: self.depth };
        if given == Limits::default() { Limits::nodes(DEFAULT_NODES) } else { given }
    }
}

pub(crate) fn run(args: &AnalyseArgs, out: &mut Output) -> Result<Exit> {
    let position = args.position.position()?;
    let rules: Rules = args.position.rules().on_board(position.board());
    let game = Game::from_position(rules, position)?;
    let limits = args.limits.limits();
    let resources = resources();
    resources.open_for(&args.player)?;
    let mut player = args.player.impartial().build(args.seed.clone(), &resources)?;
    let Some(choice) = player.analyse(&game, &limits, &Stop::default()) else {
        match game.outcome() {
            Some(outcome) => bail!("the game is over: {outcome}"),
            None => bail!("{} finds no move in {position}", args.player),
        }
    };
    let chances_of = |candidate: &Candidate| args.player.chances_of(&game, candidate, &resources);
    let proof = args.player.tables().map_or(Ok(None), |tables| TableProof::of(&game, tables, &resources));
    let analysis = Analysis::new(args.player.to_string(), &game, &choice)
        .meaning(&choice, chances_of, |_| None)
        .timed(&choice.stats)
        .proven(proof);
    out.print(&analysis, |text| {
        let root = &analysis.root_info;
        writeln!(
            text,
            "{}  score {}  depth {}  {} nodes  {:.2} s  {} nodes/s",
            root.mv,
            choice.score,
            root.depth,
            grouped(root.nodes),
            root.seconds.unwrap_or_default(),
            grouped(root.nodes_per_second.unwrap_or_default() as u64)
        )?;
        writeln!(text, "pv {}\n", root.pv.join(" "))?;
        for candidate in &choice.candidates {
            write!(text, "{:<6} {:>10}", candidate.mv.to_string(), candidate.score.to_string())?;
            if let Some(results) = candidate.results {
                write!(text, "  {:>9} games", grouped(results.count()))?;
            }
            if let Some(chances) = chances_of(candidate) {
                let [win, draw, loss] = chances.map(|share| share * 100.0);
                write!(text, "  W {win:>3.0}  D {draw:>3.0}  L {loss:>3.0} %")?;
            }
            if matches!(candidate.mv, Move::Flip(_)) && !candidate.outcomes.is_empty() {
                let outcomes = candidate.outcomes.iter().map(|o| format!("{}×{} {}", o.piece.char(), o.count, o.score));
                write!(text, "  ±{:<8.0} {}", candidate.spread(), outcomes.collect::<Vec<_>>().join("  "))?;
            }
            writeln!(text)?;
        }
        Ok(())
    })?;
    Ok(Exit::Done)
}
