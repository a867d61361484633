//! Protocol A, the numbered lines of today's match server: `12 genmove red`, `=12 b8 b8`. Grammar only.

use std::fmt;
use std::str::FromStr;

use anqi_rules::{BoardSize, Color, Ladder, Material, Piece, Ply, Position, Setup, SetupError, Square, excerpt};

/// Which revision of the protocol this is.
pub(crate) const VERSION: &str = "1.1.0";

/// What a server asks of an engine.
///
/// ```
/// use anqi_protocol::numbered::Command;
///
/// for text in ["1 name", "11 flip b8 G", "12 genmove unknown", "15 time_settings 900000", "16 time_left red 899593"] {
///     assert_eq!(text.parse::<Command>()?.to_string(), text);
/// }
/// assert_eq!("15 time_setting 900000".parse::<Command>()?, Command::TimeSettings(900_000)); // the server's spelling
/// assert!("12 genmove green".parse::<Command>().is_err());
/// # Ok::<(), anqi_protocol::numbered::CommandError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Which protocol?
    ProtocolVersion,
    /// Who are you?
    Name,
    /// Which version of you?
    Version,
    /// Do you know this command?
    KnownCommand(String),
    /// Which commands do you know?
    ListCommands,
    /// Come to an end.
    Quit,
    /// The board, as files and ranks or the other way round.
    BoardSize(u8, u8),
    /// A new game, all squares face down.
    ResetBoard,
    /// How many times in a row are a draw.
    NumRepetition(u8),
    /// How many quiet plies are a draw.
    NumMovesToDraw(u16),
    /// A piece moved or captured.
    Move {
        /// Where it stood.
        from: Square,
        /// Where it went.
        to: Square,
    },
    /// A piece was turned up.
    Flip(Square, Piece),
    /// What do you play? With your colour, if you have one.
    GenMove(Option<Color>),
    /// The game ended.
    GameOver(String),
    /// Are you ready?
    Ready,
    /// Milliseconds for each side and game.
    TimeSettings(u64),
    /// Milliseconds that are left for a side.
    TimeLeft(Color, u64),
    /// Draw your board.
    ShowBoard,
    /// A position of homework. Nobody says who is to move.
    InitBoard(Box<Board>),
}

/// The names in order of their numbers.
pub const NAMES: [&str; 19] = [
    "protocol_version",
    "name",
    "version",
    "known_command",
    "list_commands",
    "quit",
    "boardsize",
    "reset_board",
    "num_repetition",
    "num_moves_to_draw",
    "move",
    "flip",
    "genmove",
    "game_over",
    "ready",
    "time_settings",
    "time_left",
    "showboard",
    "init_board",
];

/// How the server really spells number 15.
const OTHER_SPELLING: (usize, &str) = (15, "time_setting");

/// Whether an engine of ours knows a command of this name.
pub(crate) fn is_known(name: &str) -> bool {
    NAMES.contains(&name) || name == OTHER_SPELLING.1
}

/// Why a line is not a command.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CommandError {
    /// It does not begin with a number, so that the answer cannot carry it.
    #[error("{0:?} does not begin with the number of a command")]
    NoNumber(String),
    /// A number that no command has.
    #[error("there is no command {0}")]
    UnknownNumber(u32),
    /// Another name than the number's.
    #[error("command {id} is {}, not {name:?}", NAMES[*id as usize])]
    WrongName {
        /// The number.
        id: u32,
        /// What was given.
        name: String,
    },
    /// The wrong arguments.
    #[error("bad arguments {arguments:?} for {}, expected {}", NAMES[*id as usize], usage(*id))]
    Arguments {
        /// The number.
        id: u32,
        /// What was given.
        arguments: String,
    },
    /// A board that cannot be.
    #[error("impossible board: {0}")]
    Board(SetupError),
}

impl CommandError {
    /// The number that the answer carries, if it could be read.
    #[must_use]
    pub const fn id(&self) -> Option<u32> {
        match self {
            CommandError::NoNumber(_) => None,
            CommandError::UnknownNumber(id)
            | CommandError::WrongName { id, .. }
            | CommandError::Arguments { id, .. } => Some(*id),
            CommandError::Board(_) => Some(18),
        }
    }
}

fn usage(id: u32) -> &'static str {
    match id {
        3 => "a name",
        6 => "two numbers",
        8 => "a count of 2 to 255",
        9 => "plies from 1 to 65535",
        10 => "two different squares",
        11 => "a square and a piece",
        12 => "red, black or unknown",
        13 => "a result",
        15 => "milliseconds",
        16 => "red or black, and milliseconds",
        18 => "32 letters and 14 counts",
        _ => "none",
    }
}

impl Command {
    /// The number.
    #[must_use]
    pub const fn id(&self) -> u32 {
        match self {
            Command::ProtocolVersion => 0,
            Command::Name => 1,
            Command::Version => 2,
            Command::KnownCommand(_) => 3,
            Command::ListCommands => 4,
            Command::Quit => 5,
            Command::BoardSize(..) => 6,
            Command::ResetBoard => 7,
            Command::NumRepetition(_) => 8,
            Command::NumMovesToDraw(_) => 9,
            Command::Move { .. } => 10,
            Command::Flip(..) => 11,
            Command::GenMove(_) => 12,
            Command::GameOver(_) => 13,
            Command::Ready => 14,
            Command::TimeSettings(_) => 15,
            Command::TimeLeft(..) => 16,
            Command::ShowBoard => 17,
            Command::InitBoard(_) => 18,
        }
    }
}

impl From<Ply> for Command {
    fn from(ply: Ply) -> Command {
        match ply {
            Ply::Flip(square, piece) => Command::Flip(square, piece),
            Ply::Step { from, to } => Command::Move { from, to },
        }
    }
}

impl FromStr for Command {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<Command, CommandError> {
        let mut words = text.split_ascii_whitespace();
        let id: u32 = words.next().and_then(number).ok_or_else(|| CommandError::NoNumber(excerpt(text)))?;
        let right = *NAMES.get(id as usize).ok_or(CommandError::UnknownNumber(id))?;
        let name = words.next().unwrap_or_default();
        if name != right && (id as usize, name) != OTHER_SPELLING {
            return Err(CommandError::WrongName { id, name: excerpt(name) });
        }
        let arguments: Vec<&str> = words.collect();
        let bad = || CommandError::Arguments { id, arguments: excerpt(&arguments.join(" ")) };
        if id == 18 {
            return Board::read(&arguments)
                .ok_or_else(bad)?
                .map_err(CommandError::Board)
                .map(|board| Command::InitBoard(Box::new(board)));
        }
        read(id, &arguments).ok_or_else(bad)
    }
}

fn read(id: u32, arguments: &[&str]) -> Option<Command> {
    Some(match (id, arguments) {
        (0, []) => Command::ProtocolVersion,
        (1, []) => Command::Name,
        (2, []) => Command::Version,
        (3, [name]) => Command::KnownCommand((*name).to_owned()),
        (4, []) => Command::ListCommands,
        (5, []) => Command::Quit,
        (6, [files, ranks]) => Command::BoardSize(number(files)?, number(ranks)?),
        (7, []) => Command::ResetBoard,
        (8, [times]) => Command::NumRepetition(number(times).filter(|&times| times >= 2)?),
        (9, [plies]) => Command::NumMovesToDraw(number(plies).filter(|&plies| plies >= 1)?),
        (10, [from, to]) if from != to => Command::Move { from: from.parse().ok()?, to: to.parse().ok()? },
        (11, [square, piece]) => Command::Flip(square.parse().ok()?, Piece::from_char(one(piece)?)?),
        (12, ["unknown"]) => Command::GenMove(None),
        (12, [color]) => Command::GenMove(Some(color_named(color)?)),
        (13, result) => Command::GameOver(result.join(" ")),
        (14, []) => Command::Ready,
        (15, [total]) => Command::TimeSettings(milliseconds(total)?),
        (16, [color, left]) => Command::TimeLeft(color_named(color)?, milliseconds(left)?),
        (17, []) => Command::ShowBoard,
        _ => return None,
    })
}

/// The only character of a word.
fn one(word: &str) -> Option<char> {
    let mut characters = word.chars();
    characters.next().filter(|_| characters.next().is_none())
}

/// Digits alone.
fn number<T: FromStr>(word: &str) -> Option<T> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) { word.parse().ok() } else { None }
}

/// Up to 1000 hours. Some servers count below zero when a flag falls: nothing is left then.
fn milliseconds(word: &str) -> Option<u64> {
    match word.strip_prefix('-') {
        Some(below) => number::<u64>(below).map(|_| 0),
        None => number(word).filter(|&total: &u64| total <= 3_600_000_000),
    }
}

fn color_named(word: &str) -> Option<Color> {
    Color::ALL.into_iter().find(|color| color.name() == word)
}

impl fmt::Display for Command {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id(), NAMES[self.id() as usize])?;
        match self {
            Command::KnownCommand(word) => write!(f, " {word}"),
            Command::GameOver(result) if !result.is_empty() => write!(f, " {result}"),
            Command::BoardSize(files, ranks) => write!(f, " {files} {ranks}"),
            Command::NumRepetition(times) => write!(f, " {times}"),
            Command::NumMovesToDraw(plies) => write!(f, " {plies}"),
            Command::Move { from, to } => write!(f, " {from} {to}"),
            Command::Flip(square, piece) => write!(f, " {square} {}", piece.char()),
            Command::GenMove(color) => write!(f, " {}", color.map_or("unknown", Color::name)),
            Command::TimeSettings(total) => write!(f, " {total}"),
            Command::TimeLeft(color, left) => write!(f, " {} {left}", color.name()),
            Command::InitBoard(board) => write!(f, " {board}"),
            _ => Ok(()),
        }
    }
}

/// A 4×8 board as `init_board` carries it: 32 letters from rank 8 to rank 1, `X` face down, `-` empty, then how
/// many of `K G M R N C P k g m r n c p` lie face down. It does not say who is to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Board {
    position: Position,
}

impl Board {
    /// The board of a position; `None` if the protocol cannot carry it.
    #[must_use]
    pub fn of(position: &Position) -> Option<Board> {
        let fits = (position.board(), position.ladder()) == (BoardSize::FourByEight, Ladder::Taiwan);
        fits.then(|| Board { position: seen_by(*position, Some(Color::Red)) })
    }

    /// The position, with this side to move.
    #[must_use]
    pub fn position(&self, turn: Color) -> Position {
        seen_by(self.position, Some(turn))
    }

    fn read(words: &[&str]) -> Option<Result<Board, SetupError>> {
        let (letters, counts) =
            words.split_at_checked(Square::COUNT).filter(|(_, counts)| counts.len() == Piece::COUNT)?;
        let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
        for (square, letter) in rows().zip(letters) {
            match one(letter)? {
                'X' => setup.hidden |= square.set(),
                '-' => {}
                letter => setup.pieces[square.index()] = Some(Piece::from_char(letter)?),
            }
        }
        let mut pool = Material::EMPTY;
        for (piece, count) in Piece::all().zip(counts) {
            let count = number(count).filter(|&count: &usize| count <= Square::COUNT)?;
            // More than a board holds is no pool; it must not overflow before that is found out.
            if pool.len() as usize + count > Square::COUNT {
                return None;
            }
            (0..count).for_each(|_| pool.add(piece));
        }
        setup.pool = pool;
        Some(Position::try_from(setup).map(|position| Board { position }))
    }
}

/// The same position with another side to move, or nobody to.
fn seen_by(position: Position, turn: Option<Color>) -> Position {
    Position::try_from(Setup { turn, quiet: 0, ..Setup::from(position) }).unwrap_or(position)
}

/// All squares, from rank 8 to rank 1.
pub(crate) fn rows() -> impl Iterator<Item = Square> {
    (0..Square::RANKS).rev().flat_map(|rank| (0..Square::FILES).filter_map(move |file| Square::new(file, rank)))
}

impl fmt::Display for Board {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for square in rows() {
            let letter = match self.position.piece_at(square) {
                Some(piece) => piece.char(),
                None if self.position.hidden().contains(square) => 'X',
                None => '-',
            };
            write!(f, "{letter} ")?;
        }
        let counts: Vec<String> = Piece::all().map(|piece| self.position.pool().count(piece).to_string()).collect();
        f.write_str(&counts.join(" "))
    }
}

/// What an engine answers. Some answers have several lines; the text then has too.
///
/// ```
/// use anqi_protocol::numbered::Reply;
///
/// let reply: Reply = "=12 b8 b8".parse()?;
/// assert_eq!((reply.id, reply.ok, reply.text.as_str()), (Some(12), true, "b8 b8"));
/// assert_eq!("=7 ".parse::<Reply>()?.to_string(), "=7");
/// assert!("info: =12".parse::<Reply>().is_err()); // chatter, to be skipped
/// # Ok::<(), anqi_protocol::numbered::NoReply>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reply {
    /// The number of the command; unknown only if it could not be read.
    pub id: Option<u32>,
    /// `=` rather than `?`.
    pub ok: bool,
    /// What comes after it.
    pub text: String,
}

/// A line that is no answer.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("{0:?} is no answer, expected =NUMBER or ?NUMBER and a text")]
pub struct NoReply(String);

impl FromStr for Reply {
    type Err = NoReply;

    fn from_str(text: &str) -> Result<Reply, NoReply> {
        let read = || {
            let ok = text.starts_with('=');
            let rest = text.strip_prefix(['=', '?'])?;
            let (id, text) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
            let id =
                if id.is_empty() && !ok { None } else { Some(Some(id).filter(|id| !id.is_empty()).and_then(number)?) };
            Some(Reply { id, ok, text: text.trim_ascii().to_owned() })
        };
        read().ok_or_else(|| NoReply(excerpt(text)))
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ok { "=" } else { "?" })?;
        if let Some(id) = self.id {
            write!(f, "{id}")?;
        }
        if self.text.is_empty() { Ok(()) } else { write!(f, " {}", self.text) }
    }
}
