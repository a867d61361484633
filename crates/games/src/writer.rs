//! Writing records as PGN, SGF or CSA, so that [`GameReader`](crate::GameReader) gives the same back.

use std::fmt::Write as _;
use std::io;

use anqi_rules::Seat;

use crate::board::{Board, WinOrDraw};
use crate::chess::Chess;
use crate::csa::{csa_move, csa_start};
use crate::go::Go;
use crate::record::{GameRecord, GameStart};
use crate::score::EngineValue;
use crate::shogi::Shogi;

/// Writes a record in the format of its game, with its comments.
///
/// # Errors
/// If the output fails, or the record is not one that a [`Recorder`](crate::Recorder) has made.
pub fn write_record(out: &mut impl io::Write, record: &GameRecord) -> io::Result<()> {
    let text = match &record.start {
        GameStart::Chess(fen) => pgn(record, fen.as_deref()),
        GameStart::Shogi(sfen) => csa(record, sfen.as_deref()),
        GameStart::Go { size, komi, stones, .. } => sgf(record, *size, *komi, stones),
    };
    let text = text.ok_or_else(|| io::Error::new(io::ErrorKind::InvalidData, "a record with an illegal move"))?;
    out.write_all(text.as_bytes())
}

/// A name without what would end it.
fn name(record: &GameRecord, side: Seat) -> String {
    let name = record.players[usize::from(side == Seat::Second)].as_deref().unwrap_or("?");
    name.chars().filter(|c| !c.is_control() && !"\"\\[]".contains(*c)).collect()
}

/// What the record says of the position after so many plies, as [`Seat::First`] sees it.
fn seen_by_first(record: &GameRecord, ply: usize) -> Option<EngineValue> {
    let evaluation = record.comments.get(ply).copied().flatten()?;
    Some(evaluation.seen_by(record.facts.get(ply)?.turn))
}

fn pgn(record: &GameRecord, fen: Option<&str>) -> Option<String> {
    let result = match record.outcome {
        WinOrDraw::Win(Seat::First) => "1-0",
        WinOrDraw::Win(Seat::Second) => "0-1",
        WinOrDraw::Draw => "1/2-1/2",
    };
    let (white, black) = (name(record, Seat::First), name(record, Seat::Second));
    let mut text = String::from("[Event \"?\"]\n[Site \"?\"]\n[Date \"????.??.??\"]\n[Round \"?\"]\n");
    let _ = write!(text, "[White \"{white}\"]\n[Black \"{black}\"]\n[Result \"{result}\"]\n");
    if let Some(fen) = fen {
        let _ = write!(text, "[SetUp \"1\"]\n[FEN \"{fen}\"]\n");
    }
    let mut words = Vec::new();
    let mut board = Chess::new(fen).ok()?;
    // What is said of the start stands before the first move.
    words.extend(seen_by_first(record, 0).map(eval_comment));
    for (ply, mv) in record.moves.iter().enumerate() {
        let number = 1 + (ply + usize::from(record.facts.first()?.turn == Seat::Second)) / 2;
        match board.turn() {
            Seat::First => words.push(format!("{number}.")),
            Seat::Second if ply == 0 || record.comments.get(ply).copied().flatten().is_some() => {
                words.push(format!("{number}..."));
            }
            Seat::Second => {}
        }
        words.push(board.san(mv).ok()?);
        words.extend(seen_by_first(record, ply + 1).map(eval_comment));
        board.play(mv).ok()?;
    }
    words.push(result.to_owned());
    text.push('\n');
    wrap(&mut text, &words);
    text.push('\n');
    Some(text)
}

/// Pawns as White sees them.
fn eval_comment(evaluation: EngineValue) -> String {
    match evaluation {
        EngineValue::Mate { wins, distance } => {
            let distance = distance.map(|distance| distance.to_string()).unwrap_or_default();
            format!("{{[%eval #{}{distance}]}}", if wins { "+" } else { "-" })
        }
        EngineValue::Centipawns(value) | EngineValue::Lead(value) => format!("{{[%eval {}]}}", value / 100.0),
    }
}

/// Lines of at most 80 characters, as PGN wants them.
fn wrap(text: &mut String, words: &[String]) {
    let mut width = 0;
    for word in words {
        if width > 0 && width + 1 + word.len() > 80 {
            text.push('\n');
            width = 0;
        } else if width > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += word.len();
    }
    text.push('\n');
}

fn sgf(record: &GameRecord, size: usize, komi: f64, stones: &[(Seat, String)]) -> Option<String> {
    let point = |vertex: &str| {
        let (x, y) = Go::coordinates(vertex)?;
        let letter = |line: usize| Some(char::from(b'a' + u8::try_from(line).ok()?));
        Some(format!("{}{}", letter(x)?, letter((size - 1).checked_sub(y)?)?))
    };
    let color = |side| if side == Seat::First { "B" } else { "W" };
    let result = match record.outcome {
        WinOrDraw::Win(side) => format!("{}+", color(side)),
        WinOrDraw::Draw => "0".to_owned(),
    };
    let (black, white) = (name(record, Seat::First), name(record, Seat::Second));
    let mut text = format!("(;GM[1]FF[4]CA[UTF-8]SZ[{size}]KM[{komi}]PB[{black}]PW[{white}]RE[{result}]");
    for side in Seat::ALL {
        let mut own = stones.iter().filter(|stone| stone.0 == side).peekable();
        if own.peek().is_some() {
            let _ = write!(text, "A{}", color(side));
        }
        for (_, vertex) in own {
            let _ = write!(text, "[{}]", point(vertex)?);
        }
    }
    let value = |text: &mut String, ply| {
        if let Some(EngineValue::Lead(value)) = seen_by_first(record, ply) {
            let _ = write!(text, "V[{value}]");
        }
    };
    value(&mut text, 0);
    for (ply, (mv, facts)) in record.moves.iter().zip(&record.facts).enumerate() {
        let line = if ply % 10 == 0 { "\n" } else { "" };
        let point = if mv.eq_ignore_ascii_case("pass") { String::new() } else { point(mv)? };
        let _ = write!(text, "{line};{}[{point}]", color(facts.turn));
        value(&mut text, ply + 1);
    }
    text.push_str(")\n\n");
    Some(text)
}

fn csa(record: &GameRecord, sfen: Option<&str>) -> Option<String> {
    let (black, white) = (name(record, Seat::First), name(record, Seat::Second));
    let mut board = Shogi::new(sfen).ok()?;
    let mut text = format!("V2.2\nN+{black}\nN-{white}\n{}", csa_start(&board, sfen.is_none()));
    let value = |text: &mut String, ply| {
        let _ = match seen_by_first(record, ply) {
            Some(EngineValue::Centipawns(value) | EngineValue::Lead(value)) => writeln!(text, "'** {value}"),
            Some(mate) => writeln!(text, "'** {mate}"),
            None => Ok(()),
        };
    };
    value(&mut text, 0);
    for (ply, mv) in record.moves.iter().enumerate() {
        let _ = writeln!(text, "{}", csa_move(&board, mv)?);
        value(&mut text, ply + 1);
        board.play(mv).ok()?;
    }
    text.push_str(match record.outcome {
        WinOrDraw::Draw => "%SENNICHITE",
        WinOrDraw::Win(winner) if winner == board.turn() => "%KACHI",
        WinOrDraw::Win(_) => "%TORYO",
    });
    text.push_str("\n/\n");
    Some(text)
}
