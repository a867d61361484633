//! `Game`: rules, position and history; how a game ends and why.

use std::fmt;
use std::str::FromStr;

use crate::moves::{Move, MoveList, Ply};
use crate::notation::{ParseError, excerpt, number};
use crate::piece::Color;
use crate::position::Position;
use crate::rules::{Repeat, Rules};
use crate::square::Square;

/// The two players, by who moves first. Colours come later, with the first flip.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Seat {
    /// Who moves first.
    First,
    /// Who moves second.
    Second,
}

impl Seat {
    /// First, then second.
    pub const ALL: [Seat; 2] = [Seat::First, Seat::Second];

    /// The other player.
    #[must_use]
    pub const fn other(self) -> Seat {
        match self {
            Seat::First => Seat::Second,
            Seat::Second => Seat::First,
        }
    }

    /// `first` or `second`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Seat::First => "first",
            Seat::Second => "second",
        }
    }
}

impl fmt::Display for Seat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Seat {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Seat, ParseError> {
        Seat::ALL.into_iter().find(|seat| seat.name() == text).ok_or_else(|| ParseError::Seat(excerpt(text)))
    }
}

/// Why a game is over.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Termination {
    /// A side has nothing left, on the board or face down.
    Elimination,
    /// The side to move has no legal action.
    NoAction,
    /// Too many plies without flip or capture.
    QuietPlies,
    /// The same again and again.
    Repetition {
        /// How many times.
        times: u8,
        /// After how many plies it comes again.
        period: u16,
    },
    /// A flag fell.
    Time,
    /// A player broke the rules of the match: an illegal answer, a crash, a lost connection.
    Forfeit,
    /// A player gave up.
    Resignation,
    /// Both players agreed on a draw.
    Agreement,
    /// A player left and did not come back.
    Abandoned,
}

/// `elimination`, `no action`, `quiet plies`, `repetition 3x4` (times, period), `time`, `forfeit`, `resignation`,
/// `agreement`, `abandoned`.
impl fmt::Display for Termination {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Termination::Elimination => f.write_str("elimination"),
            Termination::NoAction => f.write_str("no action"),
            Termination::QuietPlies => f.write_str("quiet plies"),
            Termination::Repetition { times, period } => write!(f, "repetition {times}x{period}"),
            Termination::Time => f.write_str("time"),
            Termination::Forfeit => f.write_str("forfeit"),
            Termination::Resignation => f.write_str("resignation"),
            Termination::Agreement => f.write_str("agreement"),
            Termination::Abandoned => f.write_str("abandoned"),
        }
    }
}

impl FromStr for Termination {
    type Err = ParseError;

    fn from_str(text: &str) -> Result<Termination, ParseError> {
        const FIXED: [Termination; 8] = [
            Termination::Elimination,
            Termination::NoAction,
            Termination::QuietPlies,
            Termination::Time,
            Termination::Forfeit,
            Termination::Resignation,
            Termination::Agreement,
            Termination::Abandoned,
        ];
        let repetition = || {
            let (times, period) = text.strip_prefix("repetition ")?.split_once('x')?;
            Some(Termination::Repetition { times: number(times)?, period: number(period)? })
        };
        FIXED
            .into_iter()
            .find(|termination| termination.to_string() == text)
            .or_else(repetition)
            .ok_or_else(|| ParseError::Termination(excerpt(text)))
    }
}

impl Termination {
    /// How a game ends off the board for this reason: `loser` loses, or it is a draw by agreement. `None` for reasons
    /// that only the board can give, and for an agreement with a loser or another reason without one.
    #[must_use]
    pub const fn off_board(self, loser: Option<Seat>) -> Option<Outcome> {
        let winner = match (self, loser) {
            (
                Termination::Time | Termination::Forfeit | Termination::Resignation | Termination::Abandoned,
                Some(loser),
            ) => Some(loser.other()),
            (Termination::Agreement, None) => None,
            _ => return None,
        };
        Some(Outcome { winner, termination: self })
    }
}

/// How a game ended.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Outcome {
    /// Who won; `None` for a draw.
    pub winner: Option<Seat>,
    /// Why it was over.
    pub termination: Termination,
}

impl Outcome {
    /// `1-0`, `0-1` or `1/2-1/2`, the first player's points first.
    #[must_use]
    pub const fn score(self) -> &'static str {
        match self.winner {
            Some(Seat::First) => "1-0",
            Some(Seat::Second) => "0-1",
            None => "1/2-1/2",
        }
    }
}

impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.winner {
            Some(seat) => write!(f, "{} wins ({})", seat.name(), self.termination),
            None => write!(f, "draw ({})", self.termination),
        }
    }
}

/// Why a ply cannot be played.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum PlyError {
    /// The game has ended.
    #[error("{ply} comes after the end of the game: {outcome}")]
    Over {
        /// The ply.
        ply: Ply,
        /// How the game ended.
        outcome: Outcome,
    },
    /// No such move.
    #[error("{ply} is not legal in {position}")]
    Illegal {
        /// The ply.
        ply: Ply,
        /// Where it was tried.
        position: Position,
    },
    /// The piece that came up is not among those still face down.
    #[error("{ply} shows a piece that is no longer face down in {position}")]
    NotInPool {
        /// The ply.
        ply: Ply,
        /// Where it was tried.
        position: Position,
    },
    /// The move would go on with a forbidden chase.
    #[error("{ply} attacks {prey} again in a long chase in {position}")]
    LongChase {
        /// The ply.
        ply: Ply,
        /// Where the chased piece stands.
        prey: Square,
        /// Where it was tried.
        position: Position,
    },
}

/// A position that does not belong to the rules.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the position {position} is on the {} board with the {} ladder, but the rules are {rules}",
    position.board(), position.ladder().name())]
pub struct PositionMismatch {
    position: Position,
    rules: Rules,
}

/// A game: its rules, where it stands, and how it came there.
///
/// ```
/// use anqi_rules::{Game, Rules};
///
/// let mut game = Game::new(Rules::server());
/// for ply in ["b8(G)", "d8(c)", "c8(C)"] {
///     game.play(ply.parse()?)?;
/// }
/// assert_eq!(game.position().turn().map(|color| color.name()), Some("black"));
/// assert!(game.play("d8-d7".parse()?).is_err()); // d7 is not empty but face down
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Game {
    rules: Rules,
    /// The start and what came after each ply; never empty.
    positions: Vec<Position>,
    plies: Vec<Ply>,
    outcome: Option<Outcome>,
}

impl Game {
    /// A game from the beginning.
    #[must_use]
    pub fn new(rules: Rules) -> Game {
        Game::start(rules, Position::initial(&rules))
    }

    /// A game that starts from `position`; whoever is to move there is the first player.
    ///
    /// # Errors
    /// If the position has another board or ladder than the rules.
    pub fn from_position(rules: Rules, position: Position) -> Result<Game, PositionMismatch> {
        if (position.board(), position.ladder()) != (rules.board(), rules.ladder()) {
            return Err(PositionMismatch { position, rules });
        }
        Ok(Game::start(rules, position))
    }

    fn start(rules: Rules, position: Position) -> Game {
        let mut game = Game { rules, positions: vec![position], plies: Vec::new(), outcome: None };
        game.outcome = game.judge();
        game
    }

    /// The rules.
    #[must_use]
    pub const fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Where the game stands.
    #[must_use]
    pub fn position(&self) -> &Position {
        &self.positions[self.plies.len()]
    }

    /// Where it stood after each ply, the start first.
    #[must_use]
    pub fn positions(&self) -> &[Position] {
        &self.positions
    }

    /// What was played.
    #[must_use]
    pub fn plies(&self) -> &[Ply] {
        &self.plies
    }

    /// How it ended, if it has.
    #[must_use]
    pub const fn outcome(&self) -> Option<Outcome> {
        self.outcome
    }

    /// Who is to move.
    #[must_use]
    pub fn seat(&self) -> Seat {
        Seat::ALL[self.plies.len() % 2]
    }

    /// The colour of `seat`, once it has one.
    #[must_use]
    pub fn color_of(&self, seat: Seat) -> Option<Color> {
        let turn = self.position().turn()?;
        Some(if seat == self.seat() { turn } else { turn.other() })
    }

    /// What the side to move may do; nothing once the game is over.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        if self.outcome.is_some() { MoveList::new() } else { self.allowed_moves() }
    }

    /// Plays a ply, if it is legal, and judges the game.
    ///
    /// # Errors
    /// If it is not legal; the game stays as it was.
    pub fn play(&mut self, ply: Ply) -> Result<(), PlyError> {
        self.check(ply)?;
        let position = self.position();
        self.positions.push(match ply {
            Ply::Flip(square, piece) => position.after_flip(square, piece),
            Ply::Step { from, to } => position.after_step(from, to),
        });
        self.plies.push(ply);
        self.outcome = self.judge();
        Ok(())
    }

    /// Takes the last ply back.
    pub fn take_back(&mut self) -> Option<Ply> {
        let ply = self.plies.pop()?;
        self.positions.pop();
        self.outcome = self.judge();
        Some(ply)
    }

    /// Ends the game by something that did not happen on the board: time, forfeit, resignation.
    /// A game that is over stays as it ended.
    pub fn lose(&mut self, loser: Seat, termination: Termination) {
        self.end(Outcome { winner: Some(loser.other()), termination });
    }

    /// Ends the game off the board, perhaps without a winner. A game that is over stays as it ended.
    pub fn end(&mut self, outcome: Outcome) {
        self.outcome.get_or_insert(outcome);
    }

    /// Whether the side to move may play this move now.
    #[must_use]
    pub fn is_legal(&self, mv: Move) -> bool {
        let banned = || self.chase_ban().is_some_and(|ban| ban.forbids(self.position(), mv));
        self.outcome.is_none() && self.position().is_legal(mv) && !banned()
    }

    fn check(&self, ply: Ply) -> Result<(), PlyError> {
        let position = self.position();
        if let Some(outcome) = self.outcome {
            return Err(PlyError::Over { ply, outcome });
        }
        if !position.is_legal(ply.to_move()) {
            return Err(PlyError::Illegal { ply, position: *position });
        }
        match (ply, self.chase_ban()) {
            (Ply::Flip(_, piece), _) if position.pool().count(piece) == 0 => {
                Err(PlyError::NotInPool { ply, position: *position })
            }
            (_, Some(ban)) if ban.forbids(position, ply.to_move()) => {
                Err(PlyError::LongChase { ply, prey: ban.prey, position: *position })
            }
            _ => Ok(()),
        }
    }

    fn allowed_moves(&self) -> MoveList {
        let mut moves = self.position().moves();
        if let Some(ban) = self.chase_ban() {
            moves.retain(|mv| !ban.forbids(self.position(), *mv));
        }
        moves
    }

    /// How the game ends here, if it does. A side that has nothing or cannot act has lost even if
    /// a draw rule would apply at the same ply.
    fn judge(&self) -> Option<Outcome> {
        let position = self.position();
        let mover = self.seat();
        let loss = |loser: Seat, termination| Some(Outcome { winner: Some(loser.other()), termination });
        let draw = |termination| Some(Outcome { winner: None, termination });

        if let Some(turn) = position.turn() {
            if position.remaining(turn) == 0 {
                return loss(mover, Termination::Elimination);
            }
            if position.remaining(turn.other()) == 0 {
                return loss(mover.other(), Termination::Elimination);
            }
        }
        let can_act = if self.rules.chase() { !self.allowed_moves().is_empty() } else { position.has_moves() };
        if !can_act {
            return loss(mover, Termination::NoAction);
        }
        if self.rules.draw().is_some_and(|limit| position.quiet() >= limit) {
            return draw(Termination::QuietPlies);
        }
        self.repetition().and_then(draw)
    }

    fn repetition(&self) -> Option<Termination> {
        let quiet = self.plies.len().min(usize::from(self.position().quiet()));
        match self.rules.repeat() {
            Repeat::Off => None,
            Repeat::Cycle(times) => {
                let recent = &self.plies[self.plies.len() - quiet..];
                let period = (1..=quiet / usize::from(times)).find(|&period| cycles(recent, period, times))?;
                Some(Termination::Repetition { times, period: period as u16 })
            }
            Repeat::Position(times) => {
                let here = self.position();
                let recent = &self.positions[self.plies.len() - quiet..self.plies.len()];
                let mut earlier =
                    (1..=u16::MAX).zip(recent.iter().rev()).filter(|(_, position)| here.same_board(position));
                let (period, _) = earlier.next()?;
                (earlier.count() + 2 >= usize::from(times)).then_some(Termination::Repetition { times, period })
            }
        }
    }

    /// What the side to move may not do because of a long chase.
    fn chase_ban(&self) -> Option<ChaseBan> {
        if self.rules.chase() { self.long_chase() } else { None }
    }

    /// Looking back from the last ply: the prey fled, just before that the chaser had stepped to
    /// attack it, before that the prey had fled to where it was attacked, and so on.
    fn long_chase(&self) -> Option<ChaseBan> {
        let quiet = self.plies.len().min(usize::from(self.position().quiet()));
        let first = self.plies.len() - quiet;
        let mut used = Vec::new();
        let mut ban: Option<ChaseBan> = None;
        // Where prey and chaser must have arrived for the chase to go on backwards.
        let (mut prey_to, mut chaser_to) = (None, None);
        let mut at = self.plies.len();
        while at >= first + 2 {
            let (Ply::Step { from: flees, to: fled }, Ply::Step { from: came, to: attacks }) =
                (self.plies[at - 1], self.plies[at - 2])
            else {
                break;
            };
            let unbroken = prey_to.is_none_or(|to| to == fled) && chaser_to.is_none_or(|to| to == attacks);
            if !unbroken || !self.positions[at - 1].attackers_of(flees).contains(attacks) {
                break;
            }
            ban.get_or_insert(ChaseBan { chaser: attacks, prey: fled });
            used.push(flees);
            (prey_to, chaser_to) = (Some(flees), Some(came));
            at -= 2;
        }
        ban.filter(|ban| used.contains(&ban.prey))
    }
}

/// `chaser` may not step to where it attacks `prey`.
struct ChaseBan {
    chaser: Square,
    prey: Square,
}

impl ChaseBan {
    fn forbids(&self, position: &Position, mv: Move) -> bool {
        match mv {
            Move::Step { from, to } if from == self.chaser && to != self.prey => {
                position.after_step(from, to).attackers_of(self.prey).contains(to)
            }
            _ => false,
        }
    }
}

/// Whether the last `times * period` plies are the same `period` plies over and over.
fn cycles(plies: &[Ply], period: usize, times: u8) -> bool {
    let tail = &plies[plies.len() - period * usize::from(times)..];
    tail[period..].iter().zip(tail).all(|(later, earlier)| later == earlier)
}
