//! `anqi analyse`: what a player thinks of a position, move by move.

use std::time::Duration;

use anqi_engine::{Candidate, Chances, Choice, Limits, PlayerSpec, Resources, Stop, Wdl};
use anqi_rules::{Color, Game, Move, Rules, Seed};
use anyhow::{Result, bail};
use clap::Args;
use serde::Serialize;

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
        let given =
            Limits { nodes: self.nodes, playouts: self.playouts, time: self.time, depth: self.depth, every_move: true };
        let unlimited = given == Limits { every_move: true, ..Limits::default() };
        Limits { nodes: if unlimited { Some(DEFAULT_NODES) } else { given.nodes }, ..given }
    }
}

/// In the field names of KataGo's analysis engine where the meaning is the same.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Analysis {
    schema: &'static str,
    position: String,
    rules: String,
    player: String,
    is_during_search: bool,
    root_info: RootInfo,
    move_infos: Vec<MoveInfo>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct RootInfo {
    current_player: Option<&'static str>,
    #[serde(rename = "move")]
    mv: String,
    score: i32,
    pv: Vec<String>,
    depth: u32,
    nodes: u64,
    playouts: u64,
    seconds: f64,
    nodes_per_second: f64,
}

#[derive(Serialize)]
struct MoveInfo {
    #[serde(rename = "move")]
    mv: String,
    order: usize,
    score: i32,
    spread: f64,
    outcomes: Vec<OutcomeInfo>,
    /// Random games that began with the move.
    #[serde(skip_serializing_if = "Option::is_none")]
    visits: Option<u64>,
    /// Chances of win, draw and loss for the mover.
    #[serde(skip_serializing_if = "Option::is_none")]
    wdl: Option<Chances>,
}

#[derive(Serialize)]
struct OutcomeInfo {
    piece: char,
    count: u8,
    probability: f64,
    score: i32,
}

pub(crate) fn run(args: &AnalyseArgs, out: &mut Output) -> Result<Exit> {
    let position = args.position.position()?;
    let rules: Rules = args.position.rules().on_board(position.board());
    let game = Game::from_position(rules, position)?;
    let limits = args.limits.limits();
    let resources = resources();
    resources.open_for(&args.player)?;
    let mut player = args.player.impartial().build(args.seed.clone(), &resources)?;
    let Some(choice) = player.choose(&game, &limits, &Stop::default()) else {
        match game.outcome() {
            Some(outcome) => bail!("the game is over: {outcome}"),
            None => bail!("{} finds no move in {position}", args.player),
        }
    };
    let analysis = describe(args, &game, &choice, &resources);
    out.print(&analysis, |text| {
        let root = &analysis.root_info;
        writeln!(
            text,
            "{}  score {}  depth {}  {} nodes  {:.2} s  {} nodes/s",
            root.mv,
            choice.score,
            root.depth,
            grouped(root.nodes),
            root.seconds,
            grouped(root.nodes_per_second as u64)
        )?;
        writeln!(text, "pv {}\n", root.pv.join(" "))?;
        for candidate in &choice.candidates {
            write!(text, "{:<6} {:>10}", candidate.mv.to_string(), candidate.score.to_string())?;
            if let Some(results) = candidate.results {
                write!(text, "  {:>9} games", grouped(results.count()))?;
            }
            if let Some(chances) = args.player.chances_of(&game, candidate, &resources) {
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

fn describe(args: &AnalyseArgs, game: &Game, choice: &Choice, resources: &Resources) -> Analysis {
    let seconds = choice.stats.time.as_secs_f64();
    Analysis {
        schema: "anqi-analysis-1",
        position: game.position().to_string(),
        rules: game.rules().to_string(),
        player: args.player.to_string(),
        is_during_search: false,
        root_info: RootInfo {
            current_player: game.position().turn().map(Color::name),
            mv: choice.mv.to_string(),
            score: choice.score.0,
            pv: choice.pv.iter().map(ToString::to_string).collect(),
            depth: choice.stats.depth,
            nodes: choice.stats.nodes,
            playouts: choice.stats.playouts,
            seconds,
            nodes_per_second: if seconds > 0.0 { choice.stats.nodes as f64 / seconds } else { 0.0 },
        },
        move_infos: (0..)
            .zip(&choice.candidates)
            .map(|(order, candidate)| move_info(order, candidate, args.player.chances_of(game, candidate, resources)))
            .collect(),
    }
}

fn move_info(order: usize, candidate: &Candidate, wdl: Option<Chances>) -> MoveInfo {
    let weight: u32 = candidate.outcomes.iter().map(|o| u32::from(o.count)).sum();
    let outcomes = candidate.outcomes.iter().map(|outcome| OutcomeInfo {
        piece: outcome.piece.char(),
        count: outcome.count,
        probability: f64::from(outcome.count) / f64::from(weight),
        score: outcome.score.0,
    });
    MoveInfo {
        mv: candidate.mv.to_string(),
        order,
        score: candidate.score.0,
        spread: candidate.spread(),
        outcomes: outcomes.collect(),
        visits: candidate.results.map(Wdl::count),
        wdl,
    }
}
