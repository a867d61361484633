//! Protocol B, packets over TCP: `/start …`, `/turn 1 2`, `/flip 1 7`. Grammar only.

use std::fmt;
use std::io::{self, Read, Write};
use std::str::FromStr;

use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Piece, Ply, Position, Setup, SetupError, Square, excerpt};

use crate::numbered::rows;

/// The most characters that two bytes of length can announce.
pub const LONGEST: usize = 127 + 128 * 255;

/// Writes one packet: the length modulo 128, the length divided by 128, and the characters.
///
/// # Errors
/// If it cannot be written, or is longer than [`LONGEST`].
pub fn write_packet(output: &mut impl Write, text: &str) -> io::Result<()> {
    let length = text.len();
    if length > LONGEST {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "a packet holds at most 32767 characters"));
    }
    let mut packet = vec![(length % 128) as u8, (length / 128) as u8];
    packet.extend_from_slice(text.as_bytes());
    output.write_all(&packet)?;
    output.flush()
}

/// How many characters a packet has that begins with these bytes.
pub(crate) fn announced(header: [u8; 2]) -> usize {
    usize::from(header[0]) + 128 * usize::from(header[1])
}

/// Reads one packet; `None` at the end of the input.
///
/// # Errors
/// If the input fails or ends within the packet.
pub fn read_packet(input: &mut impl Read) -> io::Result<Option<String>> {
    let mut header = [0; 2];
    match input.read_exact(&mut header[..1]) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    input.read_exact(&mut header[1..])?;
    let mut text = vec![0; announced(header)];
    input.read_exact(&mut text)?;
    Ok(Some(String::from_utf8_lossy(&text).into_owned()))
}

/// What the server says.
///
/// ```
/// use anqi_protocol::packets::FromServer;
///
/// for text in ["/turn 1 2", "/flip 1 7 2 899000", "/move 2 7 0 7 1234"] {
///     assert_eq!(text.parse::<FromServer>()?.to_string(), text);
/// }
/// # Ok::<(), anqi_protocol::packets::PacketError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum FromServer {
    /// A game begins.
    Start(Box<StartPacket>),
    /// Whether you begin, and your colour if you have one.
    Turn {
        /// You begin.
        first: bool,
        /// Your colour.
        color: Option<Color>,
    },
    /// A move of either side, and the milliseconds that it has left.
    Played(Ply, u64),
}

/// What the engine says.
///
/// ```
/// use anqi_protocol::packets::FromEngine;
///
/// for text in ["/start", "/turn", "/flip 1 7", "/move 2 7 0 7"] {
///     assert_eq!(text.parse::<FromEngine>()?.to_string(), text);
/// }
/// # Ok::<(), anqi_protocol::packets::PacketError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum FromEngine {
    /// The board is understood.
    Start,
    /// So is whose turn it is.
    Turn,
    /// What it plays.
    Plays(Move),
}

/// The board, the pieces that are alive, the moves that led to it, and the time of each side.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StartPacket {
    /// Red is to move in it if the sides have colours: the packet does not say who is.
    position: Position,
    /// As the server writes them; the board is that after them.
    pub earlier: Vec<String>,
    /// Milliseconds for each side and game.
    pub total: u64,
}

impl StartPacket {
    /// A game that goes on from `position`; `None` if the protocol cannot carry it.
    #[must_use]
    pub fn new(position: &Position, total: u64) -> Option<StartPacket> {
        let fits = (position.board(), position.ladder()) == (BoardSize::FourByEight, Ladder::Taiwan);
        fits.then(|| StartPacket { position: with_turn(*position, Some(Color::Red)), earlier: Vec::new(), total })
    }

    /// The position with this side to move.
    #[must_use]
    pub fn position(&self, turn: Option<Color>) -> Position {
        with_turn(self.position, turn)
    }
}

/// Nobody needs to have the turn on a board of face-down pieces only; elsewhere red stands in.
fn with_turn(position: Position, turn: Option<Color>) -> Position {
    Position::try_from(Setup { turn, quiet: 0, ..Setup::from(position) }).unwrap_or(position)
}

/// A packet that means nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PacketError {
    /// Not a packet of this side.
    #[error("{0:?} is not a packet, expected /start, /turn, /flip or /move and their numbers")]
    Unknown(String),
    /// A board that cannot be.
    #[error("impossible board in {text:?}: {reason}")]
    Board {
        /// The packet.
        text: String,
        /// What is wrong with it.
        reason: SetupError,
    },
    /// More pieces on the board than are alive.
    #[error("more of {} are on the board than alive in {text:?}", piece.char())]
    Alive {
        /// The packet.
        text: String,
        /// The piece.
        piece: Piece,
    },
}

/// 1 to 7 for `K G M R N C P`, 9 to 15 for `k g m r n c p`.
fn code(piece: Piece) -> usize {
    piece.index() + if piece.color == Color::Red { 1 } else { 2 }
}

fn piece(code: usize) -> Option<Piece> {
    Piece::all().find(|&piece| self::code(piece) == code)
}

const EMPTY: usize = 0;
const FACE_DOWN: usize = 8;

fn number<T: FromStr>(word: &str) -> Option<T> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) { word.parse().ok() } else { None }
}

fn square(file: &str, rank: &str) -> Option<Square> {
    Square::new(number(file)?, number(rank)?)
}

struct Xy(Square);

impl fmt::Display for Xy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.0.file(), self.0.rank())
    }
}

fn read_move(words: &[&str]) -> Option<Move> {
    match words {
        ["/flip", x, y] => Some(Move::Flip(square(x, y)?)),
        ["/move", x1, y1, x2, y2] => {
            let (from, to) = (square(x1, y1)?, square(x2, y2)?);
            (from != to).then_some(Move::Step { from, to })
        }
        _ => None,
    }
}

impl FromStr for FromServer {
    type Err = PacketError;

    fn from_str(text: &str) -> Result<FromServer, PacketError> {
        let unknown = || PacketError::Unknown(excerpt(text));
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words[..] {
            ["/start", list] => read_start(text, list).map(|start| FromServer::Start(Box::new(start))),
            ["/turn", first, color] => {
                let first = match first {
                    "0" => false,
                    "1" => true,
                    _ => return Err(unknown()),
                };
                let color = match color {
                    "0" => Some(Color::Red),
                    "1" => Some(Color::Black),
                    "2" => None,
                    _ => return Err(unknown()),
                };
                Ok(FromServer::Turn { first, color })
            }
            ["/flip", x, y, code, left] => {
                let read = || Some(Ply::Flip(square(x, y)?, piece(number(code)?)?));
                read().zip(number(left)).map(|(ply, left)| FromServer::Played(ply, left)).ok_or_else(unknown)
            }
            ["/move", _, _, _, _, left] => match (read_move(&words[..5]), number(left)) {
                (Some(Move::Step { from, to }), Some(left)) => Ok(FromServer::Played(Ply::Step { from, to }, left)),
                _ => Err(unknown()),
            },
            _ => Err(unknown()),
        }
    }
}

fn read_start(text: &str, list: &str) -> Result<StartPacket, PacketError> {
    let unknown = || PacketError::Unknown(excerpt(text));
    let numbers: Vec<&str> = list.split(',').collect();
    let (codes, rest) = numbers.split_at_checked(Square::COUNT).ok_or_else(unknown)?;
    let (alive, rest) = rest.split_at_checked(Piece::COUNT).ok_or_else(unknown)?;
    let (count, rest) = rest.split_first().ok_or_else(unknown)?;
    let count: usize = number(count).ok_or_else(unknown)?;
    let (total, earlier) = rest.split_last().filter(|(_, earlier)| earlier.len() == count).ok_or_else(unknown)?;

    let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
    let mut revealed = Material::EMPTY;
    for (square, code) in rows().zip(codes) {
        match number(code).ok_or_else(unknown)? {
            EMPTY => {}
            FACE_DOWN => setup.hidden |= square.set(),
            code => {
                let piece = piece(code).ok_or_else(unknown)?;
                setup.pieces[square.index()] = Some(piece);
                revealed.add(piece);
            }
        }
    }
    for (piece, alive) in Piece::all().zip(alive) {
        let alive = number(alive).filter(|&alive: &u8| usize::from(alive) <= Square::COUNT).ok_or_else(unknown)?;
        let hidden = alive
            .checked_sub(revealed.count(piece))
            .ok_or_else(|| PacketError::Alive { text: excerpt(text), piece })?;
        // More than a board holds is no pool; it must not overflow before that is found out.
        if setup.pool.len() as usize + usize::from(hidden) > Square::COUNT {
            return Err(unknown());
        }
        (0..hidden).for_each(|_| setup.pool.add(piece));
    }
    let position = Position::try_from(setup).map_err(|reason| PacketError::Board { text: excerpt(text), reason })?;
    let total = number(total).ok_or_else(unknown)?;
    Ok(StartPacket { position, earlier: earlier.iter().map(|&mv| mv.to_owned()).collect(), total })
}

impl fmt::Display for FromServer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FromServer::Start(start) => write!(f, "/start {start}"),
            FromServer::Turn { first, color } => {
                write!(f, "/turn {} {}", u8::from(*first), color.map_or(2, |color| color as u8))
            }
            FromServer::Played(Ply::Flip(square, piece), left) => {
                write!(f, "/flip {} {} {left}", Xy(*square), code(*piece))
            }
            FromServer::Played(Ply::Step { from, to }, left) => write!(f, "/move {} {} {left}", Xy(*from), Xy(*to)),
        }
    }
}

impl fmt::Display for StartPacket {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for square in rows() {
            let code = match self.position.piece_at(square) {
                Some(piece) => code(piece),
                None if self.position.hidden().contains(square) => FACE_DOWN,
                None => EMPTY,
            };
            write!(f, "{code},")?;
        }
        let revealed = self.position.revealed();
        for piece in Piece::all() {
            write!(f, "{},", revealed.count(piece) + self.position.pool().count(piece))?;
        }
        write!(f, "{},", self.earlier.len())?;
        self.earlier.iter().try_for_each(|mv| write!(f, "{mv},"))?;
        write!(f, "{}", self.total)
    }
}

impl FromStr for FromEngine {
    type Err = PacketError;

    fn from_str(text: &str) -> Result<FromEngine, PacketError> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        match words[..] {
            ["/start"] => Ok(FromEngine::Start),
            ["/turn"] => Ok(FromEngine::Turn),
            _ => read_move(&words).map(FromEngine::Plays).ok_or_else(|| PacketError::Unknown(excerpt(text))),
        }
    }
}

impl fmt::Display for FromEngine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            FromEngine::Start => f.write_str("/start"),
            FromEngine::Turn => f.write_str("/turn"),
            FromEngine::Plays(Move::Flip(square)) => write!(f, "/flip {}", Xy(*square)),
            FromEngine::Plays(Move::Step { from, to }) => write!(f, "/move {} {}", Xy(*from), Xy(*to)),
        }
    }
}
