//! Protocol A, the numbered lines of today's match server: `12 genmove red`, `=12 b8 b8`. Grammar only.

use std::fmt;
use std::str::FromStr;

use anqi_rules::{BoardSize, Color, Ladder, Material, Piece, Ply, Position, Setup, SetupError, Square, excerpt};

/// Which revision of the protocol this is.
pub(crate) const VERSION: &str = "1.1.0";

/// What a server asks of an engine.
///
/// ```
/// use anqi_protocol::numbered::NumberedCommand;
///
/// for text in ["1 name", "11 flip b8 G", "12 genmove unknown", "15 time_settings 900000", "16 time_left red 899593"] {
///     assert_eq!(text.parse::<NumberedCommand>()?.to_string(), text);
/// }
/// assert_eq!("15 time_setting 900000".parse::<NumberedCommand>()?, NumberedCommand::TimeSettings(900_000)); // the server's spelling
/// assert!("12 genmove green".parse::<NumberedCommand>().is_err());
/// # Ok::<(), anqi_protocol::numbered::CommandError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum NumberedCommand {
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
    /// A position of homework. It does not say who is to move.
    InitBoard(Box<InitBoard>),
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

impl NumberedCommand {
    /// The number.
    #[must_use]
    pub const fn id(&self) -> u32 {
        match self {
            NumberedCommand::ProtocolVersion => 0,
            NumberedCommand::Name => 1,
            NumberedCommand::Version => 2,
            NumberedCommand::KnownCommand(_) => 3,
            NumberedCommand::ListCommands => 4,
            NumberedCommand::Quit => 5,
            NumberedCommand::BoardSize(..) => 6,
            NumberedCommand::ResetBoard => 7,
            NumberedCommand::NumRepetition(_) => 8,
            NumberedCommand::NumMovesToDraw(_) => 9,
            NumberedCommand::Move { .. } => 10,
            NumberedCommand::Flip(..) => 11,
            NumberedCommand::GenMove(_) => 12,
            NumberedCommand::GameOver(_) => 13,
            NumberedCommand::Ready => 14,
            NumberedCommand::TimeSettings(_) => 15,
            NumberedCommand::TimeLeft(..) => 16,
            NumberedCommand::ShowBoard => 17,
            NumberedCommand::InitBoard(_) => 18,
        }
    }
}

impl From<Ply> for NumberedCommand {
    fn from(ply: Ply) -> NumberedCommand {
        match ply {
            Ply::Flip(square, piece) => NumberedCommand::Flip(square, piece),
            Ply::Step { from, to } => NumberedCommand::Move { from, to },
        }
    }
}

impl FromStr for NumberedCommand {
    type Err = CommandError;

    fn from_str(text: &str) -> Result<NumberedCommand, CommandError> {
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
            return InitBoard::read(&arguments)
                .ok_or_else(bad)?
                .map_err(CommandError::Board)
                .map(|board| NumberedCommand::InitBoard(Box::new(board)));
        }
        read(id, &arguments).ok_or_else(bad)
    }
}

fn read(id: u32, arguments: &[&str]) -> Option<NumberedCommand> {
    Some(match (id, arguments) {
        (0, []) => NumberedCommand::ProtocolVersion,
        (1, []) => NumberedCommand::Name,
        (2, []) => NumberedCommand::Version,
        (3, [name]) => NumberedCommand::KnownCommand((*name).to_owned()),
        (4, []) => NumberedCommand::ListCommands,
        (5, []) => NumberedCommand::Quit,
        (6, [files, ranks]) => NumberedCommand::BoardSize(number(files)?, number(ranks)?),
        (7, []) => NumberedCommand::ResetBoard,
        (8, [times]) => NumberedCommand::NumRepetition(number(times).filter(|&times| times >= 2)?),
        (9, [plies]) => NumberedCommand::NumMovesToDraw(number(plies).filter(|&plies| plies >= 1)?),
        (10, [from, to]) if from != to => NumberedCommand::Move { from: from.parse().ok()?, to: to.parse().ok()? },
        (11, [square, piece]) => NumberedCommand::Flip(square.parse().ok()?, Piece::from_char(one(piece)?)?),
        (12, ["unknown"]) => NumberedCommand::GenMove(None),
        (12, [color]) => NumberedCommand::GenMove(Some(color_named(color)?)),
        (13, result) => NumberedCommand::GameOver(result.join(" ")),
        (14, []) => NumberedCommand::Ready,
        (15, [total]) => NumberedCommand::TimeSettings(milliseconds(total)?),
        (16, [color, left]) => NumberedCommand::TimeLeft(color_named(color)?, milliseconds(left)?),
        (17, []) => NumberedCommand::ShowBoard,
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

impl fmt::Display for NumberedCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.id(), NAMES[self.id() as usize])?;
        match self {
            NumberedCommand::KnownCommand(word) => write!(f, " {word}"),
            NumberedCommand::GameOver(result) if !result.is_empty() => write!(f, " {result}"),
            NumberedCommand::BoardSize(files, ranks) => write!(f, " {files} {ranks}"),
            NumberedCommand::NumRepetition(times) => write!(f, " {times}"),
            NumberedCommand::NumMovesToDraw(plies) => write!(f, " {plies}"),
            NumberedCommand::Move { from, to } => write!(f, " {from} {to}"),
            NumberedCommand::Flip(square, piece) => write!(f, " {square} {}", piece.char()),
            NumberedCommand::GenMove(color) => write!(f, " {}", color.map_or("unknown", Color::name)),
            NumberedCommand::TimeSettings(total) => write!(f, " {total}"),
            NumberedCommand::TimeLeft(color, left) => write!(f, " {} {left}", color.name()),
            NumberedCommand::InitBoard(board) => write!(f, " {board}"),
            _ => Ok(()),
        }
    }
}

/// A 4×8 board as `init_board` carries it: 32 letters from rank 8 to rank 1, `X` face down, `-` empty, then how
/// many of `K G M R N C P k g m r n c p` lie face down. It does not say who is to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct InitBoard {
    position: Position,
}

impl InitBoard {
    /// The board of a position; `None` if the protocol cannot carry it.
    #[must_use]
    pub fn of(position: &Position) -> Option<InitBoard> {
        let fits = (position.board(), position.ladder()) == (BoardSize::FourByEight, Ladder::Taiwan);
        fits.then(|| InitBoard { position: seen_by(*position, Some(Color::Red)) })
    }

    /// The position, with this side to move.
    #[must_use]
    pub fn position(&self, turn: Color) -> Position {
        seen_by(self.position, Some(turn))
    }

    fn read(words: &[&str]) -> Option<Result<InitBoard, SetupError>> {
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
        Some(Position::try_from(setup).map(|position| InitBoard { position }))
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

impl fmt::Display for InitBoard {
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
/// use anqi_protocol::numbered::NumberedReply;
///
/// let reply: NumberedReply = "=12 b8 b8".parse()?;
/// assert_eq!((reply.id, reply.ok, reply.text.as_str()), (Some(12), true, "b8 b8"));
/// assert_eq!("=7 ".parse::<NumberedReply>()?.to_string(), "=7");
/// assert!("info: =12".parse::<NumberedReply>().is_err()); // chatter, to be skipped
/// # Ok::<(), anqi_protocol::numbered::NoReply>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NumberedReply {
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

impl FromStr for NumberedReply {
    type Err = NoReply;

    fn from_str(text: &str) -> Result<NumberedReply, NoReply> {
        let read = || {
            let ok = text.starts_with('=');
            let rest = text.strip_prefix(['=', '?'])?;
            let (id, text) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
            let id =
                if id.is_empty() && !ok { None } else { Some(Some(id).filter(|id| !id.is_empty()).and_then(number)?) };
            Some(NumberedReply { id, ok, text: text.trim_ascii().to_owned() })
        };
        read().ok_or_else(|| NoReply(excerpt(text)))
    }
}

impl fmt::Display for NumberedReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.ok { "=" } else { "?" })?;
        if let Some(id) = self.id {
            write!(f, "{id}")?;
        }
        if self.text.is_empty() { Ok(()) } else { write!(f, " {}", self.text) }
    }
}
