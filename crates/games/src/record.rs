//! `GameRecord`: a game that was played, checked move by move; `PlayedPosition`: one moment of it.

use std::fmt;

use anqi_rules::Seat;

use crate::board::{Board, Facts, IllegalMove, WinOrDraw};
use crate::chess::{BadFen, Chess};
use crate::go::{BadSize, Go};
use crate::score::EngineValue;
use crate::shogi::Shogi;

/// Which game.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum GameKind {
    /// Chess: PGN and UCI.
    Chess,
    /// Go: SGF and GTP.
    Go,
    /// Shogi: CSA and USI.
    Shogi,
}

impl fmt::Display for GameKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GameKind::Chess => "chess",
            GameKind::Go => "Go",
            GameKind::Shogi => "shogi",
        })
    }
}

/// Where a game starts.
#[derive(Clone, PartialEq, Debug)]
pub enum GameStart {
    /// Chess, from the usual position or a FEN.
    Chess(Option<String>),
    /// Shogi, from the usual position or an SFEN.
    Shogi(Option<String>),
    /// Go.
    Go {
        /// Lines of the board.
        size: usize,
        /// What White gets.
        komi: f64,
        /// Stones that are there before the first move.
        stones: Vec<(Seat, String)>,
        /// Who moves first.
        turn: Seat,
    },
}

/// A start that no game can have.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadStart {
    /// No position.
    #[error(transparent)]
    Fen(#[from] BadFen),
    /// No board.
    #[error(transparent)]
    Size(#[from] BadSize),
    /// A stone where none can be.
    #[error("a stone cannot be put on {0:?}")]
    Stone(String),
}

impl GameStart {
    /// Which game it is.
    #[must_use]
    pub const fn kind(&self) -> GameKind {
        match self {
            GameStart::Chess(_) => GameKind::Chess,
            GameStart::Shogi(_) => GameKind::Shogi,
            GameStart::Go { .. } => GameKind::Go,
        }
    }

    /// The board at the start.
    ///
    /// # Errors
    /// If there is no such position.
    pub fn board(&self) -> Result<Box<dyn Board>, BadStart> {
        Ok(match self {
            GameStart::Chess(fen) => Box::new(Chess::new(fen.as_deref())?),
            GameStart::Shogi(sfen) => Box::new(Shogi::new(sfen.as_deref())?),
            GameStart::Go { size, stones, turn, .. } => {
                let mut board = Go::new(*size)?;
                for (side, vertex) in stones {
                    board.place(*side, vertex).map_err(|IllegalMove(vertex)| BadStart::Stone(vertex))?;
                }
                board.set_turn(*turn);
                Box::new(board)
            }
        })
    }
}

/// The most plies that a record may have. The longest known games have a tenth of it.
pub const LONGEST_GAME: usize = 4096;

/// A game with a known result. All of its moves are legal.
#[derive(Clone, PartialEq, Debug)]
pub struct GameRecord {
    /// Where it starts.
    pub start: GameStart,
    /// Its moves, as engines write them.
    pub moves: Vec<String>,
    /// Who won.
    pub outcome: WinOrDraw,
    /// Who played: White and Black in chess, Black and White elsewhere.
    pub players: [Option<String>; 2],
    /// What the record itself says of its positions, by how many plies had been played.
    pub comments: Vec<Option<EngineValue>>,
    /// What stands in the place of a value and is none, with the plies that had been played.
    pub bad_values: Vec<(usize, String)>,
    /// What its positions look like, one more than there are moves.
    pub facts: Vec<Facts>,
    /// Whether the rules ended it, so that no side is to move.
    pub ended: bool,
}

impl GameRecord {
    /// All positions in which a side was to move, in order.
    pub fn positions(&self) -> impl Iterator<Item = PlayedPosition<'_>> {
        let GameRecord { start, moves, facts, comments, .. } = self;
        (0..facts.len() - usize::from(self.ended)).map(|ply| PlayedPosition {
            start,
            moves: &moves[..ply],
            facts: &facts[..=ply],
            comment: comments.get(ply).copied().flatten(),
        })
    }
}

/// A position with all that led to it.
#[derive(Clone, Copy, Debug)]
pub struct PlayedPosition<'a> {
    start: &'a GameStart,
    moves: &'a [String],
    /// What all positions up to this one look like.
    facts: &'a [Facts],
    comment: Option<EngineValue>,
}

impl<'a> PlayedPosition<'a> {
    /// Where the game started.
    #[must_use]
    pub const fn start(&self) -> &'a GameStart {
        self.start
    }

    /// How many plies have been played.
    #[must_use]
    pub const fn ply(&self) -> usize {
        self.moves.len()
    }

    /// What was played, and by whom.
    pub fn moves(&self) -> impl Iterator<Item = (Seat, &'a str)> {
        self.facts.iter().map(|facts| facts.turn).zip(self.moves.iter().map(String::as_str))
    }

    /// What it looks like.
    #[must_use]
    pub const fn facts(&self) -> Facts {
        self.facts[self.moves.len()]
    }

    /// Whose move it is.
    #[must_use]
    pub const fn turn(&self) -> Seat {
        self.facts().turn
    }

    /// What the record says of it.
    #[must_use]
    pub const fn comment(&self) -> Option<EngineValue> {
        self.comment
    }
}

/// All that an engine is told of a position, on one line; equal lines are equal questions.
impl fmt::Display for PlayedPosition<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.start {
            GameStart::Chess(None) | GameStart::Shogi(None) => f.write_str("startpos")?,
            GameStart::Chess(Some(fen)) => write!(f, "fen {fen}")?,
            GameStart::Shogi(Some(sfen)) => write!(f, "sfen {sfen}")?,
            GameStart::Go { size, komi, stones, turn } => {
                write!(f, "go {size} {komi} {}", turn.name())?;
                for (side, vertex) in stones {
                    write!(f, " {}:{vertex}", side.name())?;
                }
            }
        }
        if self.ply() > 0 {
            f.write_str(" moves")?;
        }
        self.moves.iter().try_for_each(|mv| write!(f, " {mv}"))
    }
}

/// A record on its way: every move is checked when it comes.
#[derive(Debug)]
pub struct Recorder<B> {
    start: GameStart,
    board: B,
    moves: Vec<String>,
    facts: Vec<Facts>,
    comments: Vec<Option<EngineValue>>,
    bad_values: Vec<(usize, String)>,
}

/// Why a move cannot be added.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadMove {
    /// It is against the rules.
    #[error(transparent)]
    Illegal(#[from] IllegalMove),
    /// The record is too long already.
    #[error("more than {LONGEST_GAME} moves")]
    TooMany,
}

impl Recorder<Box<dyn Board>> {
    /// A game that begins.
    ///
    /// # Errors
    /// If there is no such start.
    pub fn begin(start: GameStart) -> Result<Recorder<Box<dyn Board>>, BadStart> {
        let board = start.board()?;
        Ok(Recorder::new(start, board))
    }
}

impl<B: Board> Recorder<B> {
    pub(crate) fn new(start: GameStart, board: B) -> Recorder<B> {
        let facts = vec![board.facts()];
        Recorder { start, board, moves: Vec::new(), facts, comments: vec![None], bad_values: Vec::new() }
    }

    /// Where the game stands.
    pub const fn board(&self) -> &B {
        &self.board
    }

    /// How many plies there are.
    pub fn plies(&self) -> usize {
        self.moves.len()
    }

    /// The next move.
    ///
    /// # Errors
    /// If it is illegal or one too many; nothing has changed then.
    pub fn play(&mut self, mv: &str) -> Result<(), BadMove> {
        if self.moves.len() == LONGEST_GAME {
            return Err(BadMove::TooMany);
        }
        self.board.play(mv)?;
        self.moves.push(mv.to_owned());
        self.facts.push(self.board.facts());
        self.comments.push(None);
        Ok(())
    }

    /// The position after all moves so far.
    pub fn position(&self) -> PlayedPosition<'_> {
        PlayedPosition { start: &self.start, moves: &self.moves, facts: &self.facts, comment: None }
    }

    /// What is said of the position after so many plies; the first word counts.
    pub fn comment(&mut self, ply: usize, evaluation: EngineValue) {
        if let Some(comment) = self.comments.get_mut(ply) {
            comment.get_or_insert(evaluation);
        }
    }

    /// Something was said of the position after so many plies that is no value.
    pub(crate) fn bad_value(&mut self, ply: usize, text: &str) {
        self.bad_values.push((ply, anqi_rules::excerpt(text)));
    }

    /// Whose move it was after so many plies.
    pub fn turn(&self, ply: usize) -> Option<Seat> {
        self.facts.get(ply).map(|facts| facts.turn)
    }

    /// The game so far, with any result.
    #[must_use]
    pub fn finish(self, outcome: WinOrDraw, players: [Option<String>; 2]) -> GameRecord {
        let Recorder { start, board, moves, facts, comments, bad_values } = self;
        GameRecord { start, moves, outcome, players, comments, bad_values, facts, ended: board.end().is_some() }
    }
}

impl Recorder<Go> {
    /// Whose move it is, although the other side should be: who gets a handicap may move several times.
    pub(crate) fn set_turn(&mut self, turn: Seat) {
        self.board.set_turn(turn);
        if let Some(facts) = self.facts.last_mut() {
            *facts = self.board.facts();
        }
    }
}
