//! `anqi show` and `anqi moves`: a position for people, and what can be played in it.

use anqi_rules::{Color, Faces, Position};
use anyhow::Result;
use clap::{Args, ValueEnum};
use serde::Serialize;

use crate::Exit;
use crate::output::Output;
use crate::position::PositionArgs;

/// Draw a position and describe it
#[derive(Args)]
pub(crate) struct ShowArgs {
    #[command(flatten)]
    position: PositionArgs,
    /// How pieces are drawn
    #[arg(long, value_enum, default_value_t = FacesName::Letters)]
    faces: FacesName,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum FacesName {
    /// K G M R N C P red, k g m r n c p black, X face down
    Letters,
    /// 帥仕相俥傌炮兵 red, 將士象車馬包卒 black, 〇 face down
    Chinese,
}

#[derive(Serialize)]
struct Shown {
    schema: &'static str,
    position: String,
    board: &'static str,
    ladder: &'static str,
    turn: Option<&'static str>,
    quiet: u16,
    hidden: u32,
    pool: Vec<PoolEntry>,
    moves: usize,
    captures: Vec<String>,
    red_threatened: Vec<String>,
    black_threatened: Vec<String>,
    hash: String,
}

#[derive(Serialize)]
struct PoolEntry {
    piece: char,
    count: u8,
}

pub(crate) fn show(args: &ShowArgs, out: &mut Output) -> Result<Exit> {
    let position = args.position.position()?;
    let shown = describe(&position);
    let faces = match args.faces {
        FacesName::Letters => Faces::Letters,
        FacesName::Chinese => Faces::Chinese,
    };
    out.print(&shown, |text| {
        write!(text, "{}", position.drawn(faces))?;
        writeln!(text)?;
        writeln!(text, "position   {}", shown.position)?;
        writeln!(text, "to move    {}", shown.turn.unwrap_or("whoever flips first takes that colour"))?;
        writeln!(text, "face down  {}: {}", shown.hidden, position.pool())?;
        writeln!(text, "quiet      {} plies", shown.quiet)?;
        writeln!(text, "moves      {}, captures: {}", shown.moves, listed(&shown.captures))?;
        writeln!(text, "threatened red: {}, black: {}", listed(&shown.red_threatened), listed(&shown.black_threatened))
    })?;
    Ok(Exit::Done)
}

fn describe(position: &Position) -> Shown {
    let threatened = |color| position.threatened(color).iter().map(|square| square.to_string()).collect();
    Shown {
        schema: "anqi-position-1",
        position: position.to_string(),
        board: position.board().name(),
        ladder: position.ladder().name(),
        turn: position.turn().map(Color::name),
        quiet: position.quiet(),
        hidden: position.hidden().len(),
        pool: position.pool().iter().map(|(piece, count)| PoolEntry { piece: piece.char(), count }).collect(),
        moves: position.moves().len(),
        captures: position.captures().iter().map(ToString::to_string).collect(),
        red_threatened: threatened(Color::Red),
        black_threatened: threatened(Color::Black),
        hash: format!("{:016x}", position.hash()),
    }
}

fn listed(items: &[String]) -> String {
    if items.is_empty() { "none".to_owned() } else { items.join(" ") }
}

/// List the legal actions, one a line: c6-c7 moves or captures, c4 flips
#[derive(Args)]
pub(crate) struct MovesArgs {
    #[command(flatten)]
    position: PositionArgs,
}

#[derive(Serialize)]
struct Moves {
    schema: &'static str,
    position: String,
    moves: Vec<String>,
}

pub(crate) fn moves(args: &MovesArgs, out: &mut Output) -> Result<Exit> {
    let position = args.position.position()?;
    let moves = Moves {
        schema: "anqi-moves-1",
        position: position.to_string(),
        moves: position.moves().iter().map(ToString::to_string).collect(),
    };
    out.print(&moves, |text| moves.moves.iter().try_for_each(|mv| writeln!(text, "{mv}")))?;
    Ok(Exit::Done)
}
