//! `anqi solve`: exact values of whole games on small boards, and of any position that is small enough.

mod table;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use anqi_report::{SetsPicture, solved_game_text, solved_games_text, solved_position_text};
use anqi_rules::{BoardSize, Ladder, Material, Move, Position, Square, excerpt};
use anqi_solve::{Fraction, SolvedGame, Solver, Worth, decimal, solved_games_csv};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::concurrency::Concurrency;
use crate::output::{Output, write_file};

/// Solve small games exactly: every first flip, or every action of a position
///
/// Values are P(win) − P(loss) with best play on both sides; endless quiet play is a draw. Where several actions have
/// the same value, both sides take the one with fewer draws: win, draw and loss are those of such play.
#[derive(Args)]
#[command(
    args_conflicts_with_subcommands = true,
    after_help = "Examples:
  anqi solve --board 2x4 --set KPPP
  anqi solve --board 2x4 --all --csv
  anqi solve --position 'xx1K/xp1x r Pkpp'
  anqi solve --position 'x3/4/4/1K2/2n1/4/4/3x r Pp'
  anqi solve table build --pieces 3 --dir tables"
)]
pub(crate) struct SolveArgs {
    #[command(subcommand)]
    command: Option<SolveCommand>,
    /// The board: 2x2, 3x2 or 2x4
    #[arg(long, value_name = "BOARD", value_parser = board, required_unless_present = "position")]
    board: Option<BoardSize>,
    /// The pieces of either side, such as KPPP; or of both, such as KPPPkcpp
    #[arg(long, value_name = "PIECES", required_unless_present_any = ["position", "all"])]
    set: Option<Material>,
    /// Solve every fair set of the board
    #[arg(long, conflicts_with_all = ["set", "position"])]
    all: bool,
    /// Show every action of this position: `BOARD SIDE POOL` in one argument
    #[arg(long, value_name = "POSITION")]
    position: Option<String>,
    /// Print comma-separated values
    #[arg(long, requires = "all")]
    csv: bool,
    /// Draw all sets into this file
    #[arg(long, value_name = "FILE", requires = "all")]
    svg: Option<PathBuf>,
    /// Threads to use; all there are if not given
    #[arg(long, value_name = "N", global = true)]
    threads: Option<Concurrency>,
}

#[derive(Subcommand)]
enum SolveCommand {
    Table(table::TableArgs),
}

fn board(name: &str) -> Result<BoardSize, String> {
    let small = [BoardSize::TwoByTwo, BoardSize::ThreeByTwo, BoardSize::TwoByFour];
    let found = small.into_iter().find(|board| board.name() == name);
    found.ok_or_else(|| format!("{:?} is not a board that is solved, expected 2x2, 3x2 or 2x4", excerpt(name)))
}

pub(crate) fn run(args: &SolveArgs, out: &mut Output) -> Result<Exit> {
    let threads = Concurrency::or_cores(args.threads);
    match (&args.command, args.board, &args.position) {
        (Some(SolveCommand::Table(args)), ..) => table::run(args, threads, out),
        (None, board, Some(position)) => solve_position(args, board, position, threads, out),
        (None, Some(board), None) if args.all => solve_all(board, args, threads, out),
        (None, Some(board), None) => solve_set(board, args.set, threads, out),
        (None, None, None) => bail!("--board or --position is needed"),
    }
}

/// P(win) − P(loss) and its parts, as numbers and exactly.
#[derive(Serialize)]
struct Shown {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    win: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<f64>,
    exact: Exact,
}

#[derive(Serialize)]
struct Exact {
    value: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    win: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    draw: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    loss: Option<String>,
}

impl From<&Worth> for Shown {
    fn from(worth: &Worth) -> Shown {
        let exactly = |fraction: Option<Fraction>| fraction.map(|fraction| fraction.to_string());
        Shown {
            value: decimal(worth.value),
            win: worth.win().map(decimal),
            draw: worth.draw.map(decimal),
            loss: worth.loss().map(decimal),
            exact: Exact {
                value: worth.value.to_string(),
                win: exactly(worth.win()),
                draw: exactly(worth.draw),
                loss: exactly(worth.loss()),
            },
        }
    }
}

#[derive(Serialize)]
struct GameInfo {
    schema: &'static str,
    positions: u64,
    #[serde(flatten)]
    set: SetInfo,
}

#[derive(Serialize)]
struct GamesInfo {
    schema: &'static str,
    board: &'static str,
    classes: usize,
    sets: Vec<SetInfo>,
}

/// One set on one board.
#[derive(Serialize)]
struct SetInfo {
    board: &'static str,
    set: String,
    /// The first set that is the same game, where all are solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    like: Option<String>,
    flips: Vec<FlipInfo>,
}

#[derive(Serialize)]
struct FlipInfo {
    square: String,
    #[serde(flatten)]
    worth: Shown,
}

impl From<&SolvedGame> for SetInfo {
    fn from(game: &SolvedGame) -> SetInfo {
        let flip = |(square, worth): &(Square, Worth)| FlipInfo { square: square.to_string(), worth: worth.into() };
        SetInfo {
            board: game.board.name(),
            set: game.set.to_string(),
            like: game.like.map(|like| like.to_string()),
            flips: game.flips.iter().map(flip).collect(),
        }
    }
}

fn solve_set(board: BoardSize, set: Option<Material>, threads: NonZeroUsize, out: &mut Output) -> Result<Exit> {
    let mut solver = Solver::with_split(board, Ladder::Taiwan);
    let game = SolvedGame::solve(set.context("--set is needed")?, &mut solver, threads)?;
    let positions = solver.positions();
    let info = GameInfo { schema: "anqi-solve-1", positions, set: SetInfo::from(&game) };
    out.print(&info, |text| write!(text, "{}", solved_game_text(&game, positions)))?;
    Ok(Exit::Done)
}

fn solve_all(board: BoardSize, args: &SolveArgs, threads: NonZeroUsize, out: &mut Output) -> Result<Exit> {
    let games = SolvedGame::solve_all(board, threads)?;
    let picture = SetsPicture::of(&games);
    if let Some(file) = &args.svg {
        write_file(file, |out| Ok(out.write_all(picture.to_svg().as_bytes())?))?;
    }
    let sets = games.iter().map(SetInfo::from).collect();
    let info = GamesInfo { schema: "anqi-solve-all-1", board: board.name(), classes: picture.classes, sets };
    let shown = if args.csv { solved_games_csv } else { solved_games_text };
    out.print(&info, |text| write!(text, "{}", shown(&games)))?;
    Ok(Exit::Done)
}

#[derive(Serialize)]
struct Probed {
    schema: &'static str,
    position: String,
    #[serde(flatten)]
    worth: Shown,
    actions: Vec<Action>,
}

#[derive(Serialize)]
struct Action {
    #[serde(rename = "move")]
    mv: String,
    #[serde(flatten)]
    worth: Shown,
}

fn solve_position(
    args: &SolveArgs,
    board: Option<BoardSize>,
    text: &str,
    threads: NonZeroUsize,
    out: &mut Output,
) -> Result<Exit> {
    let position = Position::parse(text, Ladder::Taiwan).context("bad POSITION")?;
    if let Some(board) = board.filter(|&board| board != position.board()) {
        bail!("position {:?} is of the {} board, not {board}", excerpt(text), position.board());
    }
    if let Some(set) = &args.set {
        let army = *SolvedGame::rules(position.board(), *set)?.army();
        let there: Material = position.revealed().pieces().chain(position.pool().pieces()).collect();
        if let Some((piece, count)) = there.iter().find(|(piece, count)| *count > army.count(*piece)) {
            bail!(
                "position {:?} has {count} of {}, the set {army} has {}",
                excerpt(text),
                piece.char(),
                army.count(piece)
            );
        }
    }
    let mut solver = Solver::with_split(position.board(), position.ladder());
    solver.solve(&position.revealed(), position.pool(), threads)?;
    let worth = solver.probe(&position).context("the position is not solved")?;
    let actions = solver.actions(&position).context("the position is not solved")?;
    print_probed(&position, &worth, actions, out)
}

/// The best action first; the order of the moves where they are equal.
fn print_probed(position: &Position, worth: &Worth, mut actions: Vec<(Move, Worth)>, out: &mut Output) -> Result<Exit> {
    actions.sort_by_key(|(_, worth)| std::cmp::Reverse((worth.value, worth.win())));
    let listed = actions.iter().map(|(mv, worth)| Action { mv: mv.to_string(), worth: worth.into() }).collect();
    let schema = "anqi-solve-position-1";
    let probed = Probed { schema, position: position.to_string(), worth: worth.into(), actions: listed };
    out.print(&probed, |text| write!(text, "{}", solved_position_text(position, worth, &actions)))?;
    Ok(Exit::Done)
}
