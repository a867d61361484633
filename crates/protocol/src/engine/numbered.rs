//! Our engine speaking protocol A.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, TryRecvError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, Player, Stop};
use anqi_rules::{BoardSize, Color, Faces, Game, Ply, PlyError, Repeat, Rules, RulesSetup, Seat, Setup};

use super::{ServedEngine, go_on_after_a_draw, replayed};
use crate::lines::{InputLine, read_line};
use crate::numbered::{NAMES, NumberedCommand, NumberedReply, VERSION, is_known};
use crate::squares::SquarePair;
use anqi_play::Clock;
use anqi_play::Stock;

/// Reads line after line, the first of which is known already, and answers each. Between them it may ponder.
pub(super) fn serve(
    engine: &ServedEngine,
    first: InputLine,
    mut input: impl BufRead + Send + 'static,
    mut output: impl Write,
) -> io::Result<()> {
    let mut session = Session::new(engine)?;
    let mut next: Next = if engine.ponder {
        let inbox = Inbox::open(input);
        Box::new(move |session| inbox.next(|stop| session.ponder(stop)))
    } else {
        Box::new(move |_| read_line(&mut input))
    };
    let mut line = Some(first);
    while let Some(text) = line {
        let (reply, goes_on) = session.answer(&text);
        if let Some(reply) = reply {
            // In one piece: the other side may look at any moment.
            output.write_all(format!("{reply}\n").as_bytes())?;
            output.flush()?;
        }
        if !goes_on {
            break;
        }
        line = next(&mut session)?;
    }
    Ok(())
}

/// Where the next line comes from.
type Next = Box<dyn FnMut(&mut Session) -> io::Result<Option<InputLine>>>;

/// Lines that come in while something else is done.
struct Inbox {
    lines: Receiver<io::Result<InputLine>>,
    /// Raised by the next line.
    bell: Arc<Mutex<Stop>>,
}

/// Commands that may wait to be read; beyond that the other side waits.
const WAITING_LINES: usize = 64;

impl Inbox {
    fn open(mut input: impl BufRead + Send + 'static) -> Inbox {
        let (sender, lines) = sync_channel(WAITING_LINES);
        let inbox = Inbox { lines, bell: Arc::default() };
        let bell = Arc::clone(&inbox.bell);
        thread::spawn(move || {
            while let Some(line) = read_line(&mut input).transpose() {
                if sender.send(line).is_err() {
                    return; // the receiver is gone
                }
                bell.lock().unwrap_or_else(PoisonError::into_inner).raise();
            }
            drop(sender);
            bell.lock().unwrap_or_else(PoisonError::into_inner).raise();
        });
        inbox
    }

    /// The next line; as long as there is none, `idle` may do something that it stops when told to.
    fn next(&self, idle: impl FnOnce(&Stop)) -> io::Result<Option<InputLine>> {
        let stop = Stop::default();
        // First the new bell, then a look: a line that is not there yet will ring it.
        self.bell.lock().unwrap_or_else(PoisonError::into_inner).clone_from(&stop);
        match self.lines.try_recv() {
            Ok(line) => return line.map(Some),
            Err(TryRecvError::Disconnected) => return Ok(None),
            Err(TryRecvError::Empty) => idle(&stop),
        }
        self.lines.recv().ok().transpose()
    }
}

struct Session {
    name: String,
    player: Box<dyn Player>,
    limits: Limits,
    rules: Rules,
    game: Game,
    /// `init_board` does not say who is to move: a later command does.
    turn_is_open: bool,
    total: Duration,
    own_left: Duration,
    /// Who we are, once we were asked to move.
    seat: Option<Seat>,
}

/// The text of a good answer, or of a refusal that changed nothing.
type ReplyText = Result<String, String>;

impl Session {
    fn new(engine: &ServedEngine) -> io::Result<Session> {
        let total = Clock::default().base;
        Ok(Session {
            name: engine.name(),
            player: engine.build()?,
            limits: engine.limits,
            rules: engine.rules,
            game: Game::new(engine.rules),
            turn_is_open: false,
            total,
            own_left: total,
            seat: None,
        })
    }

    /// The answer, if any, and whether to go on.
    fn answer(&mut self, line: &InputLine) -> (Option<NumberedReply>, bool) {
        let text = match line.text() {
            Ok(text) if text.trim_ascii().is_empty() => return (None, true),
            Ok(text) => text,
            Err(text) => return (Some(NumberedReply { id: None, ok: false, text }), true),
        };
        match text.parse::<NumberedCommand>() {
            Err(error) => (Some(NumberedReply { id: error.id(), ok: false, text: error.to_string() }), true),
            Ok(command) => {
                let answer = self.carry_out(&command);
                let ok = answer.is_ok();
                let text = answer.unwrap_or_else(|refusal| refusal);
                (Some(NumberedReply { id: Some(command.id()), ok, text }), command != NumberedCommand::Quit)
            }
        }
    }

    fn carry_out(&mut self, command: &NumberedCommand) -> ReplyText {
        let done = Ok(String::new());
        match command {
            NumberedCommand::ProtocolVersion => Ok(VERSION.to_owned()),
            NumberedCommand::Name => Ok(self.name.clone()),
            NumberedCommand::Version => Ok(env!("CARGO_PKG_VERSION").to_owned()),
            NumberedCommand::KnownCommand(name) => Ok(is_known(name).to_string()),
            NumberedCommand::ListCommands => Ok(NAMES.join("\n")),
            NumberedCommand::Quit | NumberedCommand::GameOver(_) | NumberedCommand::Ready => done,
            NumberedCommand::BoardSize(a, b) => self.set_board(*a, *b),
            NumberedCommand::ResetBoard => {
                self.begin(Game::new(self.rules));
                done
            }
            NumberedCommand::NumRepetition(times) => self.set_rules(|setup| setup.repeat = Repeat::Cycle(*times)),
            NumberedCommand::NumMovesToDraw(plies) => self.set_rules(|setup| setup.draw = Some(*plies)),
            NumberedCommand::Move { from, to } => self.play(Ply::Step { from: *from, to: *to }),
            NumberedCommand::Flip(square, piece) => self.play(Ply::Flip(*square, *piece)),
            NumberedCommand::GenMove(color) => self.choose(*color),
            NumberedCommand::TimeSettings(total) => {
                self.total = Duration::from_millis(*total);
                self.own_left = self.total;
                done
            }
            NumberedCommand::TimeLeft(color, left) => {
                if self.seat.and_then(|seat| self.game.color_of(seat)) == Some(*color) {
                    self.own_left = Duration::from_millis(*left);
                }
                done
            }
            NumberedCommand::ShowBoard => Ok(self.show()),
            NumberedCommand::InitBoard(board) => {
                let rules = self.rules.on_board(BoardSize::FourByEight);
                let game = Game::from_position(rules, board.position(Color::Red)).map_err(|error| error.to_string())?;
                self.rules = rules;
                self.begin(game);
                self.turn_is_open = true;
                done
            }
        }
    }

    fn begin(&mut self, game: Game) {
        self.game = game;
        self.turn_is_open = false;
        self.own_left = self.total;
        self.seat = None;
    }

    fn set_board(&mut self, a: u8, b: u8) -> ReplyText {
        let shapes = [(a, b), (b, a)].map(|(files, ranks)| BoardSize::from_shape(files.into(), ranks.into()));
        let board = shapes.into_iter().flatten().next().ok_or_else(|| format!("there is no board of {a} by {b}"))?;
        if board != self.rules.board() {
            self.rules = self.rules.on_board(board);
            self.begin(Game::new(self.rules));
        }
        Ok(String::new())
    }

    /// Other draw rules, also for what has been played of this game.
    fn set_rules(&mut self, change: impl FnOnce(&mut RulesSetup)) -> ReplyText {
        let mut setup = RulesSetup::from(self.rules);
        change(&mut setup);
        let rules = Rules::try_from(setup).map_err(|error| error.to_string())?;
        self.game = replayed(&self.game, rules, self.game.positions()[0].into()).map_err(|error| error.to_string())?;
        self.rules = rules;
        Ok(String::new())
    }

    fn play(&mut self, ply: Ply) -> ReplyText {
        go_on_after_a_draw(&mut self.game);
        let played = self.game.play(ply).or_else(|error| {
            let mut other = self.with_the_other_turn().ok_or_else(|| error.clone())?;
            other.play(ply).map_err(|_| error)?;
            self.game = other;
            Ok(())
        });
        played.map(|()| String::new()).map_err(|error: PlyError| error.to_string())
    }

    fn choose(&mut self, color: Option<Color>) -> ReplyText {
        let started = Instant::now();
        go_on_after_a_draw(&mut self.game);
        if let (Some(asked), Some(turn)) = (color, self.game.position().turn())
            && asked != turn
        {
            self.game = self.with_the_other_turn().ok_or_else(|| format!("it is {}'s turn", turn.name()))?;
        }
        if let Some(outcome) = self.game.outcome() {
            return Err(format!("the game is over: {outcome}"));
        }
        if color.is_some() {
            self.turn_is_open = false;
        }
        let stock = Stock { left: self.own_left, increment: Duration::ZERO, moves_to_go: None };
        let limits = stock.bound(&self.limits, &self.game);
        let choice = self.player.choose(&self.game, &limits, &Stop::default());
        self.seat = Some(self.game.seat());
        self.own_left = self.own_left.saturating_sub(started.elapsed());
        choice.map(|choice| SquarePair::from(choice.mv).to_string()).ok_or_else(|| "no move was found".to_owned())
    }

    /// Thinks in the other side's time, if it is that.
    fn ponder(&mut self, stop: &Stop) {
        let waits = self.seat.is_some_and(|seat| seat != self.game.seat());
        if waits && self.game.outcome().is_none() {
            self.player.ponder(&self.game, stop);
        }
    }

    /// The same game if the other side began it, where nobody said which did.
    fn with_the_other_turn(&self) -> Option<Game> {
        let start = self.game.positions()[0];
        let swapped = Setup { turn: start.turn().map(Color::other), ..start.into() };
        if self.turn_is_open { replayed(&self.game, *self.game.rules(), swapped).ok() } else { None }
    }

    fn show(&self) -> String {
        let hash = self.game.positions().iter().fold(0_u64, |hash, position| hash.rotate_left(7) ^ position.hash());
        format!(
            "{}\n{}plies {} hash {hash:016x}",
            self.game.position(),
            self.game.position().drawn(Faces::Letters),
            self.game.plies().len()
        )
    }
}
