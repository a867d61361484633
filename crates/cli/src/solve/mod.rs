//! `anqi solve`: exact values of whole games on small boards, and of any position that is small enough.

mod table;

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::io::{self, Write};
use std::num::NonZeroUsize;
use std::path::PathBuf;

use anqi_report::{Dots, SetsPicture};
use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Position, Rules, Square, excerpt};
use anqi_solve::{FairSet, Fraction, Solver, Worth};
use anyhow::{Context, Result, bail};
use clap::{Args, Subcommand};
use serde::Serialize;

use crate::Exit;
use crate::output::{Output, grouped, write_file};

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
    threads: Option<NonZeroUsize>,
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
    let threads = args.threads.or_else(|| std::thread::available_parallelism().ok()).unwrap_or(NonZeroUsize::MIN);
    match (&args.command, args.board, &args.position) {
        (Some(SolveCommand::Table(args)), ..) => table::run(args, threads, out),
        (None, board, Some(position)) => solve_position(args, board, position, threads, out),
        (None, Some(board), None) if args.all => solve_all(board, args, threads, out),
        (None, Some(board), None) => solve_set(board, args.set, threads, out),
        (None, None, None) => bail!("--board or --position is needed"),
    }
}

/// P(win) − P(loss) and its parts, as numbers and exactly.
#[derive(Clone, Serialize)]
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

#[derive(Clone, Serialize)]
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
            value: number(worth.value),
            win: worth.win().map(number),
            draw: worth.draw.map(number),
            loss: worth.loss().map(number),
            exact: Exact {
                value: worth.value.to_string(),
                win: exactly(worth.win()),
                draw: exactly(worth.draw),
                loss: exactly(worth.loss()),
            },
        }
    }
}

fn number(fraction: Fraction) -> f64 {
    *fraction.numer() as f64 / *fraction.denom() as f64
}

#[derive(Serialize)]
struct SolvedGame {
    schema: &'static str,
    positions: u64,
    #[serde(flatten)]
    set: Set,
}

#[derive(Serialize)]
struct SolvedGames {
    schema: &'static str,
    board: &'static str,
    classes: usize,
    sets: Vec<Set>,
}

/// What `--svg` draws: the first set of each class.
fn picture(games: &SolvedGames) -> SetsPicture {
    let mut rows = Vec::new();
    for set in games.sets.iter().filter(|set| set.like.as_ref() == Some(&set.set)) {
        let like = games.sets.iter().filter(|other| other.like == set.like).count();
        let label = if like == 1 { set.set.clone() } else { format!("{} and {} more", set.set, like - 1) };
        let points = set.orbits.iter().map(|orbit| (orbit.squares[0].clone(), number(orbit.worth.value))).collect();
        rows.push(Dots { label, points });
    }
    SetsPicture { board: games.board.to_owned(), sets: games.sets.len(), classes: games.classes, rows }
}

/// One set on one board.
#[derive(Clone, Serialize)]
struct Set {
    board: &'static str,
    set: String,
    /// The first set that is the same game, where all are solved.
    #[serde(skip_serializing_if = "Option::is_none")]
    like: Option<String>,
    flips: Vec<Flip>,
    #[serde(skip)]
    orbits: Vec<Orbit>,
}

#[derive(Clone, Serialize)]
struct Flip {
    square: String,
    #[serde(flatten)]
    worth: Shown,
}

/// Squares that symmetry makes equal, and what a first flip there is worth.
#[derive(Clone)]
struct Orbit {
    squares: Vec<String>,
    worth: Worth,
}

impl Set {
    fn solve(rules: &Rules, solver: &mut Solver, threads: NonZeroUsize) -> Result<Set> {
        solver.solve(&Material::EMPTY, rules.army(), threads)?;
        let worths = solver.actions(&Position::initial(rules)).context("the board is not solved")?;
        let flips = worths.iter().map(|(mv, worth)| Flip { square: mv.to_string(), worth: worth.into() }).collect();
        let red: Material = rules.army().pieces().filter(|piece| piece.color == Color::Red).collect();
        let fair = red.pieces().chain(red.swapped().pieces()).collect::<Material>() == *rules.army();
        let set = if fair { red } else { *rules.army() }.to_string();
        Ok(Set { board: rules.board().name(), set, like: None, flips, orbits: orbits(rules.board(), &worths) })
    }
}

fn orbits(board: BoardSize, worths: &[(Move, Worth)]) -> Vec<Orbit> {
    let mut orbits: Vec<(Square, Orbit)> = Vec::new();
    for (mv, worth) in worths {
        let Move::Flip(square) = mv else { continue };
        // A square belongs to the least of those it can be turned to.
        let first = board.symmetries().map(|symmetry| symmetry.apply(*square)).min().unwrap_or(*square);
        match orbits.iter_mut().find(|(other, _)| *other == first) {
            Some((_, orbit)) => orbit.squares.push(square.to_string()),
            None => orbits.push((first, Orbit { squares: vec![square.to_string()], worth: *worth })),
        }
    }
    orbits.into_iter().map(|(_, orbit)| orbit).collect()
}

fn rules(board: BoardSize, army: &Material) -> Result<Rules> {
    Ok(format!("chen,board={board},army={army},draw=off").parse::<Rules>()?)
}

fn solve_set(board: BoardSize, set: Option<Material>, threads: NonZeroUsize, out: &mut Output) -> Result<Exit> {
    let set = set.context("--set is needed")?;
    // One side in small letters is one side, too.
    let rules = rules(board, &if set.of(Color::Red) == 0 { set.swapped() } else { set })?;
    let mut solver = Solver::with_split(board, rules.ladder());
    let set = Set::solve(&rules, &mut solver, threads)?;
    let game = SolvedGame { schema: "anqi-solve-1", positions: solver.positions(), set };
    out.print(&game, |text| {
        let SolvedGame { positions, set, .. } = &game;
        let best = set.orbits.iter().map(|orbit| orbit.worth.value).max().unwrap_or_default();
        writeln!(text, "{} {}: {} positions solved", set.board, set.set, grouped(*positions))?;
        writeln!(text, "the player who flips first gets {best} ({:+.4})", number(best))?;
        writeln!(text)?;
        let rows = set.orbits.iter().map(|orbit| (orbit.squares.join(" "), orbit.worth));
        write_worths(text, "flip", &rows.collect::<Vec<_>>())
    })?;
    Ok(Exit::Done)
}

/// A line for each, with columns as wide as needed.
fn write_worths(text: &mut dyn Write, title: &str, rows: &[(String, Worth)]) -> io::Result<()> {
    let exactly = |fraction: Option<Fraction>| fraction.map_or_else(String::new, |fraction| fraction.to_string());
    let mut lines = vec![[title, "value", "", "win", "draw", "loss"].map(str::to_owned)];
    lines.extend(rows.iter().map(|(name, worth)| {
        let decimal = format!("{:+.4}", number(worth.value));
        let [win, draw, loss] = [worth.win(), worth.draw, worth.loss()].map(exactly);
        [name.clone(), worth.value.to_string(), decimal, win, draw, loss]
    }));
    let widths: Vec<usize> =
        (0..6).map(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0)).collect();
    for line in &lines {
        let cells = line.iter().zip(&widths).enumerate().map(|(column, (cell, &width))| {
            if column == 0 { format!("{cell:width$}") } else { format!("{cell:>width$}") }
        });
        writeln!(text, "{}", cells.collect::<Vec<_>>().join("  ").trim_end())?;
    }
    Ok(())
}

fn solve_all(board: BoardSize, args: &SolveArgs, threads: NonZeroUsize, out: &mut Output) -> Result<Exit> {
    let mut games = SolvedGames { schema: "anqi-solve-all-1", board: board.name(), classes: 0, sets: Vec::new() };
    let mut solved: BTreeMap<String, Set> = BTreeMap::new();
    for fair in FairSet::all(board, Ladder::Taiwan) {
        // Sets of one class are the same game.
        let like = fair.like.to_string();
        let set = match solved.entry(like.clone()) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                let mut solver = Solver::with_split(board, Ladder::Taiwan);
                new.insert(Set::solve(&rules(board, &fair.like)?, &mut solver, threads)?)
            }
        };
        games.sets.push(Set { set: fair.side.to_string(), like: Some(like), ..set.clone() });
    }
    games.classes = solved.len();
    if let Some(file) = &args.svg {
        write_file(file, |out| Ok(out.write_all(picture(&games).to_svg().as_bytes())?))?;
    }
    out.print(&games, |text| if args.csv { write_csv(text, &games) } else { write_all(text, &games) })?;
    Ok(Exit::Done)
}

fn write_all(text: &mut dyn Write, games: &SolvedGames) -> io::Result<()> {
    writeln!(text, "{}: {} fair sets of {} classes", games.board, games.sets.len(), games.classes)?;
    writeln!(text)?;
    let mut rows = Vec::new();
    for set in &games.sets {
        let row = |orbit: &Orbit| (format!("{} {}", set.set, orbit.squares.join(" ")), orbit.worth);
        rows.extend(set.orbits.iter().map(row));
    }
    write_worths(text, "set and flip", &rows)
}

fn write_csv(text: &mut dyn Write, games: &SolvedGames) -> io::Result<()> {
    writeln!(text, "board,set,like,squares,value,decimal,win,draw,loss")?;
    for set in &games.sets {
        for Orbit { squares, worth } in &set.orbits {
            let exactly =
                |fraction: Option<Fraction>| fraction.map_or_else(String::new, |fraction| fraction.to_string());
            writeln!(
                text,
                "{},{},{},{},{},{:.6},{},{},{}",
                games.board,
                set.set,
                set.like.as_deref().unwrap_or_default(),
                squares.join(" "),
                worth.value,
                number(worth.value),
                exactly(worth.win()),
                exactly(worth.draw),
                exactly(worth.loss())
            )?;
        }
    }
    Ok(())
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
        let army = *rules(position.board(), set)?.army();
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
    out.print(&probed, |text| {
        let mover = position.turn().map_or("the player who flips first", Color::name);
        writeln!(text, "{}: {mover} gets {} ({:+.4})", probed.position, worth.value, number(worth.value))?;
        writeln!(text)?;
        let rows: Vec<(String, Worth)> = actions.iter().map(|(mv, worth)| (mv.to_string(), *worth)).collect();
        write_worths(text, "action", &rows)
    })?;
    Ok(Exit::Done)
}
