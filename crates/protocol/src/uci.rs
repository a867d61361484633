//! Protocol C, the UCI dialect: `position fen …`, `go movetime 1000`, `bestmove b8b8`. Grammar only.

use std::fmt;
use std::str::FromStr;
use std::time::Duration;

use anqi_engine::{Limits, OptionInfo, Score};
use anqi_rules::{Game, Move, ParseError, Piece, Ply, Position, Rules, Seat, Setup, Square, excerpt};

use crate::squares::SquarePair;

/// What a user interface or a referee says.
///
/// ```
/// use anqi_protocol::uci::UciCommand;
///
/// for text in [
///     "uci",
///     "setoption name k value 8",
///     "position startpos moves b8b8G d8d8c",
///     "position fen 2K1/4/4/4/4/4/4/p3 r - 12 57 moves c8c7",
///     "go wtime 900000 btime 899593 nodes 100000",
/// ] {
///     assert_eq!(text.parse::<UciCommand>()?.to_string(), text);
/// }
/// # Ok::<(), anqi_protocol::uci::UciError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UciCommand {
    /// Who are you, and what can be set?
    Uci,
    /// Are you there?
    IsReady,
    /// The next position is of another game.
    NewGame,
    /// An option, with its value; a button has none.
    SetOption {
        /// Its name.
        name: String,
        /// Its value.
        value: Option<String>,
    },
    /// What to look at.
    Position(StartPlacement),
    /// Think.
    Go(UciGo),
    /// Stop thinking and answer.
    Stop,
    /// Come to an end.
    Quit,
    /// Draw your board; not in UCI, but everybody has it.
    Show,
}

/// A position and how it goes on: `startpos` or `fen BOARD SIDE POOL QUIET PLIES`, then `moves` and plies as
/// `c6c7` or, for a flip and what it showed, `b8b8G`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StartPlacement {
    /// Where it starts; `None` is the beginning of a game. Read with the Taiwanese ladder.
    pub start: Option<Fen>,
    /// What was played from there.
    pub plies: Vec<Ply>,
}

/// A position, and how many plies were played before it: an even number if the first player is to move.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Fen {
    /// The position.
    pub position: Position,
    /// The plies before it.
    pub plies: u32,
}

impl StartPlacement {
    /// The game as it stands.
    #[must_use]
    pub fn of(game: &Game) -> StartPlacement {
        let start = game.positions()[0];
        let start = (start != Position::initial(game.rules())).then_some(Fen { position: start, plies: 0 });
        StartPlacement { start, plies: game.plies().to_vec() }
    }

    /// The game by these rules, and who is to move: the first player or the second.
    ///
    /// # Errors
    /// If the position or a ply does not go with the rules.
    pub fn game(&self, rules: &Rules) -> Result<(Game, Seat), UciError> {
        let (mut game, before) = match self.start {
            None => (Game::new(*rules), 0),
            Some(fen) => {
                let rules = rules.on_board(fen.position.board());
                let setup = Setup { ladder: rules.ladder(), ..Setup::from(fen.position) };
                let position = Position::try_from(setup).map_err(|error| UciError::Board(error.to_string()))?;
                (Game::from_position(rules, position).map_err(|error| UciError::Board(error.to_string()))?, fen.plies)
            }
        };
        for &ply in &self.plies {
            game.play(ply).map_err(|error| UciError::Ply(error.to_string()))?;
        }
        let seat = Seat::ALL[(before as usize + self.plies.len()) % 2];
        Ok((game, seat))
    }
}

/// How long to think. The clocks are `wtime` for the player who moves first in the game and `btime` for the other, in
/// milliseconds, and so are the increments; names kept from chess.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct UciGo {
    /// What is left on the clocks of the first and the second player.
    pub time: [Option<u64>; 2],
    /// What each move adds to them.
    pub increment: [Option<u64>; 2],
    /// Moves until more time comes.
    pub moves_to_go: Option<u32>,
    /// Milliseconds for this move.
    pub move_time: Option<u64>,
    /// Positions to look at.
    pub nodes: Option<u64>,
    /// Random games to play.
    pub playouts: Option<u64>,
    /// Plies to look ahead.
    pub depth: Option<u32>,
    /// Until `stop`. So is a `go` that sets no bound.
    pub infinite: bool,
}

impl UciGo {
    /// The bounds for one move, clocks aside.
    #[must_use]
    pub fn limits(&self) -> Limits {
        Limits {
            time: self.move_time.map(Duration::from_millis),
            nodes: self.nodes,
            depth: self.depth,
            playouts: self.playouts,
        }
    }

    fn numbers(&self) -> [(&'static str, Option<u64>); 9] {
        [
            ("wtime", self.time[0]),
            ("btime", self.time[1]),
            ("winc", self.increment[0]),
            ("binc", self.increment[1]),
            ("movestogo", self.moves_to_go.map(u64::from)),
            ("movetime", self.move_time),
            ("nodes", self.nodes),
            ("playouts", self.playouts),
            ("depth", self.depth.map(u64::from)),
        ]
    }

    fn set(&mut self, key: &str, value: u64) -> Option<()> {
        match key {
            "wtime" => self.time[0] = Some(value),
            "btime" => self.time[1] = Some(value),
            "winc" => self.increment[0] = Some(value),
            "binc" => self.increment[1] = Some(value),
            "movestogo" => self.moves_to_go = Some(u32::try_from(value).ok()?),
            "movetime" => self.move_time = Some(value),
            "nodes" => self.nodes = Some(value),
            "playouts" => self.playouts = Some(value),
            "depth" => self.depth = Some(u32::try_from(value).ok()?),
            _ => return None,
        }
        Some(())
    }

    /// Whether it sets any bound.
    #[must_use]
    pub fn is_bounded(&self) -> bool {
        !self.infinite && (self.limits() != Limits::default() || self.time.iter().any(Option::is_some))
    }
}

/// A line that means nothing here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UciError {
    /// Not a command.
    #[error("unknown command {0:?}")]
    Unknown(String),
    /// A command with wrong arguments.
    #[error("bad arguments in {text:?}, expected {usage}")]
    Arguments {
        /// The line.
        text: String,
        /// What would do.
        usage: &'static str,
    },
    /// A bad position.
    #[error("bad position: {0}")]
    Position(#[from] ParseError),
    /// A position that does not go with the rules.
    #[error("{0}")]
    Board(String),
    /// A ply that cannot be played.
    #[error("{0}")]
    Ply(String),
}

const POSITION: &str = "position startpos|fen BOARD SIDE POOL QUIET PLIES [moves c6c7 b8b8G …]";
const GO: &str = "go [wtime|btime|winc|binc|movestogo|movetime|nodes|playouts|depth N]… [infinite]";

fn number<T: FromStr>(word: &str) -> Option<T> {
    if word.bytes().all(|byte| byte.is_ascii_digit()) { word.parse().ok() } else { None }
}

impl FromStr for UciCommand {
    type Err = UciError;

    fn from_str(text: &str) -> Result<UciCommand, UciError> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let bad = |usage| UciError::Arguments { text: excerpt(text), usage };
        match words[..] {
            ["uci"] => Ok(UciCommand::Uci),
            ["isready"] => Ok(UciCommand::IsReady),
            ["ucinewgame"] => Ok(UciCommand::NewGame),
            ["stop"] => Ok(UciCommand::Stop),
            ["quit"] => Ok(UciCommand::Quit),
            ["d"] => Ok(UciCommand::Show),
            ["setoption", "name", ref rest @ ..] if !rest.is_empty() => {
                let split = rest.iter().position(|&word| word == "value").unwrap_or(rest.len());
                let name = rest[..split].join(" ");
                let value = (split < rest.len()).then(|| rest[split + 1..].join(" "));
                if name.is_empty() {
                    Err(bad("setoption name NAME value VALUE"))
                } else {
                    Ok(UciCommand::SetOption { name, value })
                }
            }
            ["setoption", ..] => Err(bad("setoption name NAME value VALUE")),
            ["position", ref rest @ ..] => read_position(rest)?.map(UciCommand::Position).ok_or_else(|| bad(POSITION)),
            ["go", ref rest @ ..] => read_go(rest).map(UciCommand::Go).ok_or_else(|| bad(GO)),
            _ => Err(UciError::Unknown(excerpt(text))),
        }
    }
}

fn read_position(words: &[&str]) -> Result<Option<StartPlacement>, UciError> {
    let (start, rest) = match words {
        ["startpos", rest @ ..] => (None, rest),
        ["fen", board, side, pool, quiet, plies, rest @ ..] => {
            let position: Position = format!("{board} {side} {pool} {quiet}").parse()?;
            let Some(plies) = number(plies) else { return Ok(None) };
            (Some(Fen { position, plies }), rest)
        }
        _ => return Ok(None),
    };
    let plies = match rest {
        [] => Some(Vec::new()),
        ["moves", plies @ ..] => plies.iter().map(|word| read_ply(word)).collect(),
        _ => None,
    };
    Ok(plies.map(|plies| StartPlacement { start, plies }))
}

fn read_go(words: &[&str]) -> Option<UciGo> {
    let mut go = UciGo::default();
    let mut words = words.iter();
    while let Some(&key) = words.next() {
        match key {
            "infinite" => go.infinite = true,
            _ => {
                let word = words.next()?;
                // A clock may stand below zero for a moment.
                let below = word.strip_prefix('-').filter(|_| key.ends_with("time"));
                go.set(key, below.map_or_else(|| number(word), |below| number::<u64>(below).map(|_| 0))?)?;
            }
        }
    }
    Some(go)
}

/// `c6c7`, or `b8b8G`.
fn read_ply(word: &str) -> Option<Ply> {
    let (from, to) = (word.get(..2)?.parse::<Square>().ok()?, word.get(2..4)?.parse::<Square>().ok()?);
    let mut rest = word.get(4..)?.chars();
    match (from == to, rest.next(), rest.next()) {
        (true, Some(letter), None) => Some(Ply::Flip(from, Piece::from_char(letter)?)),
        (false, None, None) => Some(Ply::Step { from, to }),
        _ => None,
    }
}

struct UciPly(Ply);

impl fmt::Display for UciPly {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let SquarePair(from, to) = self.0.to_move().into();
        write!(f, "{from}{to}")?;
        self.0.revealed().map_or(Ok(()), |piece| write!(f, "{}", piece.char()))
    }
}

impl fmt::Display for UciCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UciCommand::Uci => f.write_str("uci"),
            UciCommand::IsReady => f.write_str("isready"),
            UciCommand::NewGame => f.write_str("ucinewgame"),
            UciCommand::Stop => f.write_str("stop"),
            UciCommand::Quit => f.write_str("quit"),
            UciCommand::Show => f.write_str("d"),
            UciCommand::SetOption { name, value: None } => write!(f, "setoption name {name}"),
            UciCommand::SetOption { name, value: Some(value) } => write!(f, "setoption name {name} value {value}"),
            UciCommand::Position(placement) => write!(f, "position {placement}"),
            UciCommand::Go(go) => {
                f.write_str("go")?;
                for (key, number) in go.numbers() {
                    if let Some(number) = number {
                        write!(f, " {key} {number}")?;
                    }
                }
                if go.infinite { f.write_str(" infinite") } else { Ok(()) }
            }
        }
    }
}

impl fmt::Display for StartPlacement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.start {
            None => f.write_str("startpos")?,
            Some(Fen { position, plies }) => {
                write!(f, "fen {position}")?;
                // A position prints its quiet plies only if there are any.
                if position.quiet() == 0 {
                    f.write_str(" 0")?;
                }
                write!(f, " {plies}")?;
            }
        }
        if !self.plies.is_empty() {
            f.write_str(" moves")?;
        }
        self.plies.iter().try_for_each(|&ply| write!(f, " {}", UciPly(ply)))
    }
}

/// What an engine says.
///
/// ```
/// use anqi_protocol::uci::UciReply;
///
/// for text in ["uciok", "readyok", "bestmove b8b8", "bestmove 0000", "id name anqi", "info depth 3 score cp 20 nodes 7 pv b8b8"] {
///     assert_eq!(text.parse::<UciReply>()?.to_string(), text);
/// }
/// # Ok::<(), anqi_protocol::uci::UciError>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum UciReply {
    /// `id name …` or `id author …`.
    Id {
        /// `name` or `author`.
        key: String,
        /// The rest.
        value: String,
    },
    /// An option that can be set, as it is declared.
    Option(String),
    /// The end of the greeting.
    UciOk,
    /// It is there.
    ReadyOk,
    /// What it thinks.
    Info(Info),
    /// Anything it wants to say.
    Text(String),
    /// What it plays, as it is written: two squares, or `0000` to give up.
    BestMove(String),
}

/// What an engine thinks of one move.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Info {
    /// The depth searched to the end.
    pub depth: Option<u32>,
    /// The place of the move among all that are shown, from 1.
    pub multipv: Option<u32>,
    /// What it is worth to the side to move.
    pub score: Option<UciScore>,
    /// Positions looked at.
    pub nodes: Option<u64>,
    /// Random games played.
    pub playouts: Option<u64>,
    /// Positions a second.
    pub nps: Option<u64>,
    /// Milliseconds.
    pub time: Option<u64>,
    /// How it goes on.
    pub pv: Vec<Move>,
}

/// A score: `cp 35`, or `win` or `loss` if that is certain.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum UciScore {
    /// In the units of the evaluation.
    Cp(i32),
    /// Certainly won.
    Win,
    /// Certainly lost.
    Loss,
}

impl From<Score> for UciScore {
    fn from(score: Score) -> UciScore {
        match (score.is_decided(), score > Score::DRAW) {
            (true, true) => UciScore::Win,
            (true, false) => UciScore::Loss,
            _ => UciScore::Cp(score.0),
        }
    }
}

impl fmt::Display for UciScore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UciScore::Cp(score) => write!(f, "cp {score}"),
            UciScore::Win => f.write_str("win"),
            UciScore::Loss => f.write_str("loss"),
        }
    }
}

impl FromStr for UciReply {
    type Err = UciError;

    fn from_str(text: &str) -> Result<UciReply, UciError> {
        let words: Vec<&str> = text.split_ascii_whitespace().collect();
        let bad = |usage| UciError::Arguments { text: excerpt(text), usage };
        match words[..] {
            ["uciok"] => Ok(UciReply::UciOk),
            ["readyok"] => Ok(UciReply::ReadyOk),
            ["id", key @ ("name" | "author"), ref rest @ ..] => {
                Ok(UciReply::Id { key: key.to_owned(), value: rest.join(" ") })
            }
            ["option", ref rest @ ..] => Ok(UciReply::Option(rest.join(" "))),
            ["info", "string", ref rest @ ..] => Ok(UciReply::Text(rest.join(" "))),
            ["info", ref rest @ ..] => {
                read_info(rest).map(UciReply::Info).ok_or_else(|| bad("info KEY VALUE … pv MOVES"))
            }
            ["bestmove", mv, ..] => Ok(UciReply::BestMove(mv.to_owned())),
            _ => Err(UciError::Unknown(excerpt(text))),
        }
    }
}

/// What we do not know is skipped: engines tell many things.
fn read_info(words: &[&str]) -> Option<Info> {
    let mut info = Info::default();
    let mut words = words.iter().copied();
    while let Some(key) = words.next() {
        match key {
            "depth" => info.depth = Some(number(words.next()?)?),
            "multipv" => info.multipv = Some(number(words.next()?)?),
            "nodes" => info.nodes = Some(number(words.next()?)?),
            "playouts" => info.playouts = Some(number(words.next()?)?),
            "nps" => info.nps = Some(number(words.next()?)?),
            "time" => info.time = Some(number(words.next()?)?),
            "score" => {
                info.score = Some(match words.next()? {
                    "cp" => UciScore::Cp(words.next()?.parse().ok()?),
                    "win" => UciScore::Win,
                    "loss" => UciScore::Loss,
                    _ => return None,
                });
            }
            "pv" => info.pv = words.by_ref().map(read_move).collect::<Option<_>>()?,
            _ => {}
        }
    }
    Some(info)
}

fn read_move(word: &str) -> Option<Move> {
    let squares = (word.len() == 4).then(|| word.split_at_checked(2)).flatten()?;
    Some(SquarePair(squares.0.parse().ok()?, squares.1.parse().ok()?).into())
}

impl fmt::Display for UciReply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            UciReply::Id { key, value } => write!(f, "id {key} {value}"),
            UciReply::Option(declaration) => write!(f, "option {declaration}"),
            UciReply::UciOk => f.write_str("uciok"),
            UciReply::ReadyOk => f.write_str("readyok"),
            UciReply::Info(info) => write!(f, "info{info}"),
            UciReply::Text(text) => write!(f, "info string {text}"),
            UciReply::BestMove(mv) => write!(f, "bestmove {mv}"),
        }
    }
}

impl fmt::Display for Info {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut put = |key: &str, value: Option<String>| value.map_or(Ok(()), |value| write!(f, " {key} {value}"));
        put("depth", self.depth.map(|depth| depth.to_string()))?;
        put("multipv", self.multipv.map(|place| place.to_string()))?;
        put("score", self.score.map(|score| score.to_string()))?;
        put("nodes", self.nodes.map(|nodes| nodes.to_string()))?;
        put("playouts", self.playouts.map(|playouts| playouts.to_string()))?;
        put("nps", self.nps.map(|nps| nps.to_string()))?;
        put("time", self.time.map(|time| time.to_string()))?;
        let pv: Vec<String> = self.pv.iter().map(|&mv| squares(mv)).collect();
        put("pv", (!pv.is_empty()).then(|| pv.join(" ")))
    }
}

/// A move as two squares without a space.
#[must_use]
pub fn squares(mv: Move) -> String {
    let SquarePair(from, to) = mv.into();
    format!("{from}{to}")
}

/// An option of a player as UCI declares options: a switch, a number in a range, one of some names, or any text.
#[must_use]
pub fn declaration(option: &OptionInfo) -> String {
    let OptionInfo { name, default, range, .. } = option;
    let spin = || {
        let (least, most) = range.split_once(" to ")?;
        let whole = |text: &str| text.parse::<i64>().is_ok();
        (whole(least) && whole(most) && whole(default))
            .then(|| format!("type spin default {default} min {least} max {most}"))
    };
    let combo = || {
        let names: Vec<&str> = range.split(", ").collect();
        let listed = names.contains(&default.as_str()) && names.iter().all(|name| !name.contains(' '));
        listed.then(|| format!("type combo default {default} var {}", names.join(" var ")))
    };
    let check = || (range == "on or off").then(|| format!("type check default {}", default == "on"));
    let kind = check().or_else(spin).or_else(combo).unwrap_or_else(|| format!("type string default {default}"));
    format!("name {name} {kind}")
}
