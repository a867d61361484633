//! Text of squares, moves, plies, material and positions. Everything here parses and prints round.

use std::fmt::{self, Write};
use std::str::FromStr;

use crate::moves::{Move, Ply};
use crate::piece::{Color, Ladder, Material, Piece};
use crate::position::{Position, Setup, SetupError};
use crate::square::{BoardSize, Square, SquareSet};

/// Why a text is not what it should be. The message shows the text.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ParseError {
    /// Not a square.
    #[error("{0:?} is not a square, expected a1 to d8")]
    Square(String),
    /// Not a drawn set of squares.
    #[error("{0:?} is not a drawn set, expected eight rows of X and .")]
    SquareSet(String),
    /// Not a move.
    #[error("{0:?} is not a move, expected c4 (a flip) or c6-c7")]
    Move(String),
    /// Not a ply.
    #[error("{0:?} is not a ply, expected c4(k) (a flip and its piece) or c6-c7")]
    Ply(String),
    /// Not a multiset of pieces.
    #[error("{0:?} is not a set of pieces, expected letters of KGMRNCPkgmrncp, or - for none")]
    Material(String),
    /// Not a reason for the end of a game.
    #[error(
        "{0:?} is not a termination, expected elimination, no action, quiet plies, repetition 3x4, time, forfeit, resignation, \
         agreement or abandoned"
    )]
    Termination(String),
    /// Not a player.
    #[error("{0:?} is not a seat, expected first or second")]
    Seat(String),
    /// A position of too many or too few fields.
    #[error("{0:?} is not a position, expected BOARD SIDE POOL [QUIET]")]
    Fields(String),
    /// A board of a shape that we do not know.
    #[error(
        "{0:?} is not a board, expected 8 rows of 4 (or one of 2x2, 3x2, 2x4, 3x4, 4x4), top row first, split by /"
    )]
    Board(String),
    /// A character that stands for nothing.
    #[error("{character:?} in row {row:?} is not a piece, x (face down), or a count of empty squares")]
    BoardCharacter {
        /// The character.
        character: char,
        /// The row it stands in.
        row: String,
    },
    /// Not a side to move.
    #[error("{0:?} is not a side to move, expected r, b, or - before the first flip")]
    Side(String),
    /// Not a count of quiet plies.
    #[error("{0:?} is not a count of quiet plies, expected 0 to 65535")]
    Quiet(String),
    /// A well-written position that cannot be.
    #[error("impossible position {text:?}: {reason}")]
    Impossible {
        /// The whole text.
        text: String,
        /// What is wrong with it.
        reason: SetupError,
    },
}

/// The beginning of a text, short enough for a message.
#[must_use]
pub fn excerpt(text: &str) -> String {
    const MOST: usize = 80;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// A number written in digits alone; the library's own parser would take a sign.
pub(crate) fn number<T: FromStr>(text: &str) -> Option<T> {
    text.bytes().all(|byte| byte.is_ascii_digit()).then(|| text.parse().ok()).flatten()
}

impl fmt::Display for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_char((b'a' + self.file()) as char)?;
        f.write_char((b'1' + self.rank()) as char)
    }
}

impl fmt::Debug for Square {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Square {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Square, ParseError> {
        match text.as_bytes() {
            [file, rank] => Square::new(file.wrapping_sub(b'a'), rank.wrapping_sub(b'1')),
            _ => None,
        }
        .ok_or_else(|| ParseError::Square(excerpt(text)))
    }
}

/// Eight rows of `X` and `.`, rank 8 first.
impl fmt::Display for SquareSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..Square::RANKS).rev() {
            for file in 0..Square::FILES {
                let inside = Square::new(file, rank).is_some_and(|square| self.contains(square));
                f.write_char(if inside { 'X' } else { '.' })?;
            }
            if rank > 0 {
                f.write_char('\n')?;
            }
        }
        Ok(())
    }
}

impl FromStr for SquareSet {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<SquareSet, ParseError> {
        let bad = || ParseError::SquareSet(excerpt(text));
        let rows: Vec<&str> = text.split_whitespace().collect();
        if rows.len() != usize::from(Square::RANKS) || rows.iter().any(|row| row.len() != usize::from(Square::FILES)) {
            return Err(bad());
        }
        let mut set = SquareSet::EMPTY;
        for (row, rank) in rows.into_iter().zip((0..Square::RANKS).rev()) {
            for (mark, file) in row.bytes().zip(0..) {
                match (mark, Square::new(file, rank)) {
                    (b'X', Some(square)) => set |= square.set(),
                    (b'.', Some(_)) => {}
                    _ => return Err(bad()),
                }
            }
        }
        Ok(set)
    }
}

/// A flip is its square, a step is written `c6-c7`.
impl fmt::Display for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Move::Flip(square) => write!(f, "{square}"),
            Move::Step { from, to } => write!(f, "{from}-{to}"),
        }
    }
}

impl fmt::Debug for Move {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Move {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Move, ParseError> {
        let parsed = match text.split_once('-') {
            None => text.parse().map(Move::Flip),
            Some((from, to)) => parse_step(from, to).map(|(from, to)| Move::Step { from, to }),
        };
        parsed.map_err(|_| ParseError::Move(excerpt(text)))
    }
}

/// `c4(k)` for a flip that showed a black king, `c6-c7` for a step.
impl fmt::Display for Ply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Ply::Flip(square, piece) => write!(f, "{square}({})", piece.char()),
            Ply::Step { from, to } => write!(f, "{from}-{to}"),
        }
    }
}

impl fmt::Debug for Ply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

impl FromStr for Ply {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Ply, ParseError> {
        parse_flip(text)
            .or_else(|| {
                let (from, to) = text.split_once('-')?;
                parse_step(from, to).ok().map(|(from, to)| Ply::Step { from, to })
            })
            .ok_or_else(|| ParseError::Ply(excerpt(text)))
    }
}

fn parse_flip(text: &str) -> Option<Ply> {
    let (square, piece) = text.strip_suffix(')')?.split_once('(')?;
    let mut letters = piece.chars();
    match (letters.next(), letters.next()) {
        (Some(letter), None) => Some(Ply::Flip(square.parse().ok()?, Piece::from_char(letter)?)),
        _ => None,
    }
}

fn parse_step(from: &str, to: &str) -> Result<(Square, Square), ParseError> {
    let step: (Square, Square) = (from.parse()?, to.parse()?);
    if step.0 == step.1 { Err(ParseError::Square(excerpt(to))) } else { Ok(step) }
}

/// Letters in the order `K G M R N C P k g m r n c p`, `-` for none.
impl fmt::Display for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_empty() {
            return f.write_char('-');
        }
        self.pieces().try_for_each(|piece| f.write_char(piece.char()))
    }
}

impl FromStr for Material {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Material, ParseError> {
        let bad = || ParseError::Material(excerpt(text));
        if text == "-" {
            return Ok(Material::EMPTY);
        }
        // A board holds 32 pieces, so no multiset of ours is larger.
        if text.is_empty() || text.len() > Square::COUNT {
            return Err(bad());
        }
        text.chars().map(|letter| Piece::from_char(letter).ok_or_else(bad)).collect()
    }
}

/// `BOARD SIDE POOL`, and the quiet plies if there are any; see `docs/FORMATS.md`.
impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..self.board().ranks()).rev() {
            let mut empty = 0;
            for square in (0..self.board().files()).filter_map(|file| Square::new(file, rank)) {
                let letter = match self.piece_at(square) {
                    Some(piece) => piece.char(),
                    None if self.hidden().contains(square) => 'x',
                    None => {
                        empty += 1;
                        continue;
                    }
                };
                write_empty(f, &mut empty)?;
                f.write_char(letter)?;
            }
            write_empty(f, &mut empty)?;
            if rank > 0 {
                f.write_char('/')?;
            }
        }
        write!(f, " {} {}", self.turn().map_or('-', Color::char), self.pool())?;
        if self.quiet() > 0 {
            write!(f, " {}", self.quiet())?;
        }
        Ok(())
    }
}

fn write_empty(f: &mut fmt::Formatter<'_>, empty: &mut u8) -> fmt::Result {
    if *empty > 0 {
        write!(f, "{empty}")?;
        *empty = 0;
    }
    Ok(())
}

impl fmt::Debug for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Read with the Taiwanese ladder; [`Position::parse`] takes another.
impl FromStr for Position {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Position, ParseError> {
        Position::parse(text, Ladder::Taiwan)
    }
}

impl Position {
    /// Reads `BOARD SIDE POOL [QUIET]`. The shape of the board tells which board it is.
    ///
    /// ```
    /// use anqi_rules::{Ladder, Position};
    ///
    /// let pos = Position::parse("xxC1/1pxG r KMp 7", Ladder::HongKong)?;
    /// assert_eq!(pos.board().name(), "2x4");
    /// assert_eq!(pos.to_string(), "xxC1/1pxG r KMp 7");
    /// # Ok::<(), anqi_rules::ParseError>(())
    /// ```
    ///
    /// # Errors
    /// If the text is not a position; the error shows the part that is wrong.
    pub fn parse(text: &str, ladder: Ladder) -> Result<Position, ParseError> {
        let fields: Vec<&str> = text.split_whitespace().take(5).collect();
        let (board, side, pool, quiet) = match fields[..] {
            [board, side, pool] => (board, side, pool, "0"),
            [board, side, pool, quiet] => (board, side, pool, quiet),
            _ => return Err(ParseError::Fields(excerpt(text))),
        };
        let mut setup = parse_board(board, ladder)?;
        setup.turn = match side {
            "r" => Some(Color::Red),
            "b" => Some(Color::Black),
            "-" => None,
            _ => return Err(ParseError::Side(excerpt(side))),
        };
        setup.pool = pool.parse()?;
        setup.quiet = number(quiet).ok_or_else(|| ParseError::Quiet(excerpt(quiet)))?;
        Position::try_from(setup).map_err(|reason| ParseError::Impossible { text: excerpt(text), reason })
    }

    /// Every square in reading order, the highest rank first: a piece's letter, `x` face down, `.` empty.
    ///
    /// ```
    /// use anqi_rules::Position;
    ///
    /// let pos: Position = "xxC1/1pxG r KMp".parse()?;
    /// assert_eq!(pos.letters().collect::<String>(), "xxC..pxG");
    /// # Ok::<(), anqi_rules::ParseError>(())
    /// ```
    pub fn letters(&self) -> impl Iterator<Item = char> {
        let squares =
            (0..self.board().ranks()).rev().flat_map(|rank| (0..self.board().files()).map(move |file| (file, rank)));
        squares.filter_map(|(file, rank)| Square::new(file, rank)).map(|square| match self.piece_at(square) {
            Some(piece) => piece.char(),
            None if self.hidden().contains(square) => 'x',
            None => '.',
        })
    }

    /// The board as people see it, with files and ranks, `X` or `〇` for face down.
    #[must_use]
    pub fn drawn(&self, faces: Faces) -> String {
        let mut picture = String::new();
        for rank in (0..self.board().ranks()).rev() {
            picture.push((b'1' + rank) as char);
            for square in (0..self.board().files()).filter_map(|file| Square::new(file, rank)) {
                let face = match self.piece_at(square) {
                    Some(piece) => faces.piece(piece),
                    None if self.hidden().contains(square) => faces.hidden(),
                    None => faces.empty(),
                };
                picture.push(' ');
                picture.push_str(&face);
            }
            picture.push('\n');
        }
        picture.push(' ');
        for file in 0..self.board().files() {
            picture.push_str(faces.label_gap());
            picture.push((b'a' + file) as char);
        }
        picture.push('\n');
        picture
    }
}

/// How a drawn board shows its pieces.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Faces {
    /// Letters, upper case red.
    Letters,
    /// The characters on the real pieces, 帥 to 兵 red and 將 to 卒 black; two columns wide.
    Chinese,
}

impl Faces {
    fn piece(self, piece: Piece) -> String {
        match self {
            Faces::Letters => piece.char().to_string(),
            Faces::Chinese => piece.glyph().to_string(),
        }
    }

    fn hidden(self) -> String {
        match self {
            Faces::Letters => "X".to_owned(),
            Faces::Chinese => "〇".to_owned(),
        }
    }

    fn empty(self) -> String {
        match self {
            Faces::Letters => ".".to_owned(),
            Faces::Chinese => "・".to_owned(),
        }
    }

    /// What stands before the letter of a file, to keep it under its column.
    fn label_gap(self) -> &'static str {
        match self {
            Faces::Letters => " ",
            Faces::Chinese => "  ",
        }
    }
}

fn parse_board(text: &str, ladder: Ladder) -> Result<Setup, ParseError> {
    let bad = || ParseError::Board(excerpt(text));
    if text.len() > Square::COUNT + usize::from(Square::RANKS) {
        return Err(bad());
    }
    let rows = text.split('/').map(parse_row).collect::<Result<Vec<_>, _>>()?;
    let files = rows.first().map_or(0, Vec::len);
    if rows.iter().any(|row| row.len() != files) {
        return Err(bad());
    }
    let board = BoardSize::from_shape(files, rows.len()).ok_or_else(bad)?;
    let mut setup = Setup::empty(board, ladder);
    for (row, rank) in rows.into_iter().rev().zip(0..) {
        for (content, file) in row.into_iter().zip(0..) {
            if let Some(square) = Square::new(file, rank) {
                match content {
                    Content::Empty => {}
                    Content::Hidden => setup.hidden |= square.set(),
                    Content::Revealed(piece) => setup.pieces[square.index()] = Some(piece),
                }
            }
        }
    }
    Ok(setup)
}

#[derive(Clone, Copy)]
enum Content {
    Empty,
    Hidden,
    Revealed(Piece),
}

/// Digits are runs of empty squares; `X` and `.` or `-` are read too, as the papers write them.
fn parse_row(row: &str) -> Result<Vec<Content>, ParseError> {
    let mut contents = Vec::new();
    for character in row.chars() {
        match character {
            'x' | 'X' => contents.push(Content::Hidden),
            '.' | '-' => contents.push(Content::Empty),
            '1'..='4' => contents.extend(std::iter::repeat_n(Content::Empty, character as usize - '0' as usize)),
            _ => match Piece::from_char(character) {
                Some(piece) => contents.push(Content::Revealed(piece)),
                None => return Err(ParseError::BoardCharacter { character, row: excerpt(row) }),
            },
        }
    }
    Ok(contents)
}
