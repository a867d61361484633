//! CSA: games of shogi. The crate `csa` reads position and moves; endings, comments and what it would stumble over are read
//! here.

use anqi_rules::{Seat, excerpt};
use csa::{Action, Color, PieceType, Square};
use haitaka::Piece;

use crate::board::{Board, IllegalMove, WinOrDraw};
use crate::reader::{Cut, GameFlaw, Splitter};
use crate::record::{GameRecord, GameStart, Recorder};
use crate::score::{EngineValue, finite, mate_from};
use crate::shogi::{Shogi, square_name};

/// A record ends with a line `/`, or where another begins: with a version, or with any other head after moves.
#[derive(Debug, Default)]
pub(crate) struct CsaLines {
    has_begun: bool,
    in_moves: bool,
}

impl Splitter for CsaLines {
    fn line(&mut self, line: &[u8]) -> Cut {
        let statement = line.trim_ascii_end();
        if statement == b"/" {
            *self = CsaLines::default();
            return Cut::After(line.len());
        }
        let is_version = statement.starts_with(b"V");
        let is_head = is_version || statement.starts_with(b"N+") || statement.starts_with(b"PI");
        if self.in_moves && is_head || self.has_begun && is_version {
            *self = CsaLines::default();
            return Cut::Before;
        }
        self.has_begun |= !statement.is_empty() && !statement.starts_with(b"'");
        self.in_moves |= is_move(statement) || statement.starts_with(b"%");
        Cut::Nowhere
    }
}

fn is_move(statement: &[u8]) -> bool {
    matches!(statement, [b'+' | b'-', b'0'..=b'9', ..])
}

/// Reads the text of one game.
pub(crate) fn parse(text: &str) -> Result<GameRecord, GameFlaw> {
    let sheet = Sheet::read(text)?;
    let record = csa::parse_csa(&sheet.text).map_err(|_| sheet.no_record(text))?;
    let usual = sheet.text.lines().any(|line| line.starts_with("PI"));
    let sfen = sfen(&record.start_pos, usual)?;
    let board = Shogi::new(sfen.as_deref()).map_err(|bad| GameFlaw::BadStart(bad.into()))?;
    let mut game = Recorder::new(GameStart::Shogi(sfen), board);
    for (action, text) in record.moves.iter().map(|record| record.action).zip(&sheet.moves) {
        let ply = game.plies() + 1;
        let illegal = || GameFlaw::BadMove { ply, bad: IllegalMove::new(text).into() };
        let mv = usi(game.board(), action, game.turn(ply - 1)).ok_or_else(illegal)?;
        game.play(&mv).map_err(|bad| match bad {
            crate::record::BadMove::Illegal(_) => illegal(),
            bad => GameFlaw::BadMove { ply, bad },
        })?;
    }
    // The crate stops without a word at a move that it cannot read.
    if let Some(unread) = sheet.moves.get(record.moves.len()) {
        return Err(GameFlaw::BadMove { ply: record.moves.len() + 1, bad: IllegalMove::new(unread).into() });
    }
    sheet.bad_values.iter().for_each(|(ply, text)| game.bad_value(*ply, text));
    for (ply, evaluation) in sheet.comments {
        if let Some(turn) = game.turn(ply) {
            game.comment(ply, evaluation.seen_by(turn));
        }
    }
    let missing = "a line like %TORYO after the moves";
    let ending = sheet.ending.ok_or(GameFlaw::Truncated { plies: game.plies(), missing })?;
    let turn = game.turn(game.plies()).unwrap_or(Seat::First);
    let outcome = outcome(&ending, turn).ok_or_else(|| GameFlaw::UnknownResult(excerpt(&ending)))?;
    Ok(game.finish(outcome, [record.black_player, record.white_player]))
}

/// The statements of a record, sorted.
#[derive(Default)]
struct Sheet {
    /// What the crate gets: names, position, moves. It panics at long times, and knows neither all endings nor two
    /// statements on a line.
    text: String,
    moves: Vec<String>,
    ending: Option<String>,
    /// Evaluations by ply, seen by Black, in hundredths of a pawn.
    comments: Vec<(usize, EngineValue)>,
    /// What stands in their place and is none.
    bad_values: Vec<(usize, String)>,
}

impl Sheet {
    fn read(text: &str) -> Result<Sheet, GameFlaw> {
        let mut sheet = Sheet::default();
        for line in text.lines().map(str::trim_end) {
            match line.as_bytes() {
                [] | [b'T' | b'$' | b'/' | b'V', ..] => {}
                [b'\'', ..] => sheet.comment(line),
                // An empty square at the end of a row ends with a space, which editors love to remove.
                [b'P', b'1'..=b'9', ..] => sheet.pass_on(&format!("{line:<29}")),
                [b'N' | b'P', ..] | [b'+' | b'-'] => sheet.pass_on(line),
                _ => line.split(',').try_for_each(|statement| sheet.statement(statement))?,
            }
        }
        Ok(sheet)
    }

    fn pass_on(&mut self, line: &str) {
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn statement(&mut self, statement: &str) -> Result<(), GameFlaw> {
        match statement.as_bytes() {
            [b'T', ..] => {}
            [b'%', ..] => {
                self.ending.get_or_insert_with(|| statement.to_owned());
            }
            bytes if is_move(bytes) => {
                self.moves.push(statement.to_owned());
                self.pass_on(statement);
            }
            _ => return Err(GameFlaw::syntax("no statement of CSA:", statement)),
        }
        Ok(())
    }

    /// `'** 123 +7776FU …`: what is said of the position after the move, seen by Black. `'** mate -3` is a habit of our own.
    fn comment(&mut self, line: &str) {
        let Some(text) = line.strip_prefix("'**") else { return };
        let mut words = text.split_whitespace();
        let evaluation = match words.next() {
            Some("mate") => words.next().and_then(mate_from),
            value => value.and_then(finite).map(EngineValue::Centipawns),
        };
        match evaluation {
            Some(evaluation) => self.comments.push((self.moves.len(), evaluation)),
            None => self.bad_values.push((self.moves.len(), text.trim().to_owned())),
        }
    }

    fn no_record(&self, text: &str) -> GameFlaw {
        if self.text.lines().any(|line| line == "+" || line == "-") {
            GameFlaw::syntax("no position in", text)
        } else {
            GameFlaw::Truncated { plies: 0, missing: "a line + or - that says who moves first" }
        }
    }
}

/// Who won by the last statement, with `turn` to move: `%TORYO` is said by who gives up, `%KACHI` by who has won.
fn outcome(ending: &str, turn: Seat) -> Option<WinOrDraw> {
    Some(match ending {
        "%TORYO" | "%TSUMI" | "%TIME_UP" => WinOrDraw::Win(turn.other()),
        "%KACHI" => WinOrDraw::Win(turn),
        "%ILLEGAL_MOVE" => WinOrDraw::Win(turn.other()),
        "%+ILLEGAL_ACTION" => WinOrDraw::Win(Seat::Second),
        "%-ILLEGAL_ACTION" => WinOrDraw::Win(Seat::First),
        "%SENNICHITE" | "%JISHOGI" | "%HIKIWAKE" => WinOrDraw::Draw,
        _ => return None,
    })
}

fn seat(color: Color) -> Seat {
    if color == Color::Black { Seat::First } else { Seat::Second }
}

fn color(seat: Seat) -> Color {
    if seat == Seat::First { Color::Black } else { Color::White }
}

/// What CSA, the rules and SFEN call a piece, and how many of it there are.
const PIECES: [(PieceType, Piece, &str, u8); 14] = [
    (PieceType::Pawn, Piece::Pawn, "p", 18),
    (PieceType::Lance, Piece::Lance, "l", 4),
    (PieceType::Knight, Piece::Knight, "n", 4),
    (PieceType::Silver, Piece::Silver, "s", 4),
    (PieceType::Gold, Piece::Gold, "g", 4),
    (PieceType::Bishop, Piece::Bishop, "b", 2),
    (PieceType::Rook, Piece::Rook, "r", 2),
    (PieceType::King, Piece::King, "k", 2),
    (PieceType::ProPawn, Piece::Tokin, "+p", 0),
    (PieceType::ProLance, Piece::PLance, "+l", 0),
    (PieceType::ProKnight, Piece::PKnight, "+n", 0),
    (PieceType::ProSilver, Piece::PSilver, "+s", 0),
    (PieceType::Horse, Piece::PBishop, "+b", 0),
    (PieceType::Dragon, Piece::PRook, "+r", 0),
];

/// A move of a record as engines write it: CSA names the piece after the move, USI the promotion.
fn usi(board: &Shogi, action: Action, turn: Option<Seat>) -> Option<String> {
    let Action::Move(color, from, to, piece) = action else { return None };
    let (_, after, letter, _) = PIECES.into_iter().find(|known| known.0 == piece)?;
    let target = square_name(to.file, to.rank)?;
    if turn != Some(seat(color)) {
        return None;
    }
    if from == Square::new(0, 0) {
        return Some(format!("{}*{target}", letter.to_ascii_uppercase()));
    }
    let (_, before) = board.piece(from.file, from.rank)?;
    let promotion = match before == after {
        true => "",
        false if after.is_promoted() && after.unpromote() == before => "+",
        false => return None,
    };
    Some(format!("{}{target}{promotion}", square_name(from.file, from.rank)?))
}

/// A move of an engine as records write it, before it is played.
pub(crate) fn csa_move(board: &Shogi, usi: &str) -> Option<String> {
    let sign = color(board.turn());
    let square = |name: &str| {
        let [file @ b'1'..=b'9', rank @ b'a'..=b'i'] = name.as_bytes() else { return None };
        Some(Square::new(file - b'0', rank - b'a' + 1))
    };
    if let Some((letter, to)) = usi.split_once('*') {
        let dropped = PIECES.iter().find(|known| known.2.eq_ignore_ascii_case(letter))?;
        return Some(Action::Move(sign, Square::new(0, 0), square(to)?, dropped.0).to_string());
    }
    let (from, to) = (square(usi.get(..2)?)?, square(usi.get(2..4)?)?);
    let (_, piece) = board.piece(from.file, from.rank)?;
    let piece = if usi.ends_with('+') { piece.promote() } else { piece };
    let named = PIECES.iter().find(|known| known.1 == piece)?;
    Some(Action::Move(sign, from, to, named.0).to_string())
}

/// The position in which a record starts, with the line that says who moves first.
pub(crate) fn csa_start(board: &Shogi, is_usual: bool) -> String {
    let name = |piece| PIECES.iter().find(|known| known.1 == piece).map_or(PieceType::All, |known| known.0);
    let mut text = if is_usual { "PI\n".to_owned() } else { String::new() };
    for rank in (1..=9).filter(|_| !is_usual) {
        let square = |file| {
            board.piece(file, rank).map_or(" * ".to_owned(), |(side, piece)| format!("{}{}", color(side), name(piece)))
        };
        text.push_str(&format!("P{rank}{}\n", (1..=9).rev().map(square).collect::<String>()));
    }
    for side in Seat::ALL {
        let held =
            PIECES[..7].iter().map(|&(piece, kind, ..)| format!("00{piece}").repeat(board.held(side, kind).into()));
        let held: String = held.collect();
        if !held.is_empty() {
            text.push_str(&format!("P{}{held}\n", color(side)));
        }
    }
    text.push_str(&format!("{}\n", color(board.turn())));
    text
}

type Grid = [[Option<(Color, PieceType)>; 9]; 9];

/// The start of a record as SFEN; `None` for the usual one.
fn sfen(position: &csa::Position, usual: bool) -> Result<Option<String>, GameFlaw> {
    let mut grid: Grid = position.bulk.unwrap_or_default();
    if usual {
        set_up(&mut grid);
        for (square, _) in &position.drop_pieces {
            *place(&mut grid, *square)? = None;
        }
    }
    let mut hands = [[0_u8; 7]; 2];
    let hand = |color| usize::from(color == Color::White);
    for &(color, square, piece) in &position.add_pieces {
        if square != Square::new(0, 0) {
            *place(&mut grid, square)? = Some((color, piece));
        } else if piece == PieceType::All {
            hands[hand(color)] = rest(&grid, &hands);
        } else {
            let kind = PIECES[..7].iter().position(|known| known.0 == piece);
            let count = &mut hands[hand(color)]
                [kind.ok_or_else(|| GameFlaw::syntax("no piece to hold:", &piece.to_string()))?];
            *count = count.saturating_add(1);
        }
    }
    let turn = if position.side_to_move == Color::Black { "b" } else { "w" };
    let text = format!("{} {turn} {} 1", grid_text(&grid)?, hands_text(&hands));
    let usual = Shogi::new(None).is_ok_and(|board| board.sfen() == text);
    Ok((!usual).then_some(text))
}

fn place(grid: &mut Grid, square: Square) -> Result<&mut Option<(Color, PieceType)>, GameFlaw> {
    let bad = || GameFlaw::syntax("no square:", &square.to_string());
    let row = grid.get_mut(usize::from(square.rank).wrapping_sub(1)).ok_or_else(bad)?;
    row.get_mut(9_usize.wrapping_sub(usize::from(square.file))).ok_or_else(bad)
}

/// The usual position.
fn set_up(grid: &mut Grid) {
    use PieceType::{Bishop, Gold, King, Knight, Lance, Pawn, Rook, Silver};
    let back = [Lance, Knight, Silver, Gold, King, Gold, Silver, Knight, Lance];
    grid[0] = back.map(|piece| Some((Color::White, piece)));
    grid[8] = back.map(|piece| Some((Color::Black, piece)));
    (grid[1][1], grid[1][7]) = (Some((Color::White, Rook)), Some((Color::White, Bishop)));
    (grid[7][1], grid[7][7]) = (Some((Color::Black, Bishop)), Some((Color::Black, Rook)));
    grid[2] = [Some((Color::White, Pawn)); 9];
    grid[6] = [Some((Color::Black, Pawn)); 9];
}

/// The pieces that are neither on the board nor in a hand.
fn rest(grid: &Grid, hands: &[[u8; 7]; 2]) -> [u8; 7] {
    std::array::from_fn(|kind| {
        let (piece, _, letter, all) = PIECES[kind];
        let promoted = format!("+{letter}");
        let is_kind = |on: PieceType| on == piece || PIECES.iter().any(|known| known.0 == on && known.2 == promoted);
        let on_board = grid.iter().flatten().flatten().filter(|(_, on)| is_kind(*on)).count() as u8;
        all.saturating_sub(on_board).saturating_sub(hands[0][kind]).saturating_sub(hands[1][kind])
    })
}

fn grid_text(grid: &Grid) -> Result<String, GameFlaw> {
    let rows = grid.iter().map(|row| {
        let (mut text, mut empty) = (String::new(), 0);
        for square in row {
            let Some((color, piece)) = square else {
                empty += 1;
                continue;
            };
            let known = PIECES.iter().find(|known| known.0 == *piece);
            let letter = known.ok_or_else(|| GameFlaw::syntax("no piece:", &piece.to_string()))?.2;
            push_count(&mut text, std::mem::take(&mut empty));
            text.push_str(&if *color == Color::Black { letter.to_ascii_uppercase() } else { letter.to_owned() });
        }
        push_count(&mut text, empty);
        Ok(text)
    });
    Ok(rows.collect::<Result<Vec<_>, GameFlaw>>()?.join("/"))
}

fn push_count(text: &mut String, count: u8) {
    if count > 0 {
        text.push_str(&count.to_string());
    }
}

/// Rook, bishop, gold, silver, knight, lance, pawn, as SFEN wants it.
fn hands_text(hands: &[[u8; 7]; 2]) -> String {
    let mut text = String::new();
    for (color, hand) in hands.iter().enumerate() {
        for kind in [6, 5, 4, 3, 2, 1, 0] {
            let (count, letter) = (hand[kind], PIECES[kind].2);
            if count > 0 {
                push_count(&mut text, if count > 1 { count } else { 0 });
                text.push_str(&if color == 0 { letter.to_ascii_uppercase() } else { letter.to_owned() });
            }
        }
    }
    if text.is_empty() { "-".to_owned() } else { text }
}
