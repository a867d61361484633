//! Our engine speaking the UCI dialect. It listens while it thinks, so that `stop` stops.

use std::io::{self, BufRead, Write};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anqi_engine::{Choice, Limits, OptionInfo, Player, Stop};
use anqi_rules::{Faces, Game, Move, Seat};

use super::{ServedEngine, go_on_after_a_draw};
use crate::lines::{InputLine, read_line};
use crate::uci::{Info, StartPlacement, UciCommand, UciGo, UciReply, declaration, squares};
use anqi_play::Stock;

/// What the loop waits for.
enum Event {
    Line(InputLine),
    EndOfInput,
    /// The search has come to its end.
    Thought,
}

/// Commands that may wait to be read; beyond that the other side waits.
const WAITING_LINES: usize = 64;

pub(super) fn serve(
    engine: &ServedEngine,
    first: InputLine,
    mut input: impl BufRead + Send + 'static,
    output: impl Write,
) -> io::Result<()> {
    let (events, inbox) = sync_channel(WAITING_LINES);
    let lines = events.clone();
    thread::spawn(move || {
        while let Ok(Some(line)) = read_line(&mut input) {
            if lines.send(Event::Line(line)).is_err() {
                return; // the receiver is gone
            }
        }
        let _ = lines.send(Event::EndOfInput);
    });
    Session::new(engine, events, output).run(first, &inbox)
}

struct Session<W> {
    engine: ServedEngine,
    /// Away while it thinks; built anew after an option was set.
    player: Option<Box<dyn Player>>,
    game: Game,
    /// Whose clock counts when it thinks.
    seat: Seat,
    /// How many moves to tell about.
    multi_pv: usize,
    search: Option<RunningSearch>,
    events: SyncSender<Event>,
    output: W,
}

struct RunningSearch {
    thread: JoinHandle<(Box<dyn Player>, Option<Choice>)>,
    stop: Stop,
    /// The answer has to wait for `stop`.
    held: bool,
    done: bool,
}

/// Tells the loop that a search is over, even if it panics.
struct Bell(SyncSender<Event>);

impl Drop for Bell {
    fn drop(&mut self) {
        let _ = self.0.send(Event::Thought);
    }
}

impl<W: Write> Session<W> {
    fn new(engine: &ServedEngine, events: SyncSender<Event>, output: W) -> Session<W> {
        Session {
            engine: engine.clone(),
            player: None,
            game: Game::new(engine.rules),
            seat: Seat::First,
            multi_pv: 1,
            search: None,
            events,
            output,
        }
    }

    fn run(&mut self, first: InputLine, inbox: &Receiver<Event>) -> io::Result<()> {
        let mut ending = false;
        let mut event = Event::Line(first);
        loop {
            match event {
                Event::Line(line) => {
                    if !self.take(&line)? {
                        break;
                    }
                }
                Event::EndOfInput => {
                    ending = true;
                    // There will be no `stop`.
                    if self.search.as_ref().is_some_and(|search| search.held) {
                        self.stop()?;
                    }
                }
                Event::Thought => {
                    if let Some(search) = &mut self.search {
                        search.done = true;
                    }
                    self.answer_if_due()?;
                }
            }
            if ending && self.search.is_none() {
                break;
            }
            let Ok(next) = inbox.recv() else { break };
            event = next;
        }
        if let Some(search) = self.search.take() {
            search.stop.raise();
            // The search may be ringing at a full door: let it in.
            while !search.thread.is_finished() {
                let _ = inbox.recv_timeout(Duration::from_millis(1));
            }
        }
        Ok(())
    }

    /// Whether to go on.
    fn take(&mut self, line: &InputLine) -> io::Result<bool> {
        let text = match line.text() {
            Ok(text) if text.trim_ascii().is_empty() => return Ok(true),
            Ok(text) => text,
            Err(complaint) => return self.complain(complaint),
        };
        let command = match text.parse::<UciCommand>() {
            Ok(command) => command,
            Err(error) => return self.complain(error.to_string()),
        };
        match command {
            UciCommand::Quit => return Ok(false),
            UciCommand::Uci => self.introduce()?,
            UciCommand::IsReady => self.say(&[UciReply::ReadyOk])?,
            UciCommand::NewGame => self.place(&StartPlacement::default())?,
            UciCommand::Position(placement) => self.place(&placement)?,
            UciCommand::SetOption { name, value } => self.set_option(&name, value.as_deref().unwrap_or_default())?,
            UciCommand::Go(_) if self.search.is_some() => return self.complain("already thinking".to_owned()),
            UciCommand::Go(go) => self.go(&go)?,
            UciCommand::Stop => self.stop()?,
            UciCommand::Show => self.show()?,
        }
        Ok(true)
    }

    fn say(&mut self, replies: &[UciReply]) -> io::Result<()> {
        let text: String = replies.iter().map(|reply| format!("{reply}\n")).collect();
        self.output.write_all(text.as_bytes())?;
        self.output.flush()
    }

    fn complain(&mut self, text: String) -> io::Result<bool> {
        self.say(&[UciReply::Text(text)])?;
        Ok(true)
    }

    fn introduce(&mut self) -> io::Result<()> {
        let id = |key: &str, value: String| UciReply::Id { key: key.to_owned(), value };
        let own = [
            format!("name Rules type string default {}", self.engine.rules),
            format!("name Seed type string default {}", self.engine.seed),
            format!("name MultiPV type spin default {} min 1 max 256", self.multi_pv),
        ];
        let player = self.engine.player.table();
        let mut replies = vec![
            id("name", format!("{} {}", self.engine.name(), env!("CARGO_PKG_VERSION"))),
            id("author", env!("CARGO_PKG_AUTHORS").to_owned()),
        ];
        replies.extend(own.into_iter().chain(player.iter().map(declaration)).map(UciReply::Option));
        replies.push(UciReply::UciOk);
        self.say(&replies)
    }

    fn place(&mut self, placement: &StartPlacement) -> io::Result<()> {
        let rules = self.engine.rules;
        // The other side may judge draws by other counts than ours.
        match placement.game(&rules).or_else(|error| placement.game(&rules.without_draws()).map_err(|_| error)) {
            Ok((game, seat)) => (self.game, self.seat) = (game, seat),
            Err(error) => self.say(&[UciReply::Text(error.to_string())])?,
        }
        Ok(())
    }

    fn set_option(&mut self, name: &str, value: &str) -> io::Result<()> {
        let set = if self.search.is_some() {
            Err("options cannot be set while thinking".to_owned())
        } else {
            self.try_option(name, value)
        };
        match set {
            Ok(()) => Ok(()),
            Err(complaint) => self.say(&[UciReply::Text(complaint)]),
        }
    }

    fn try_option(&mut self, name: &str, value: &str) -> Result<(), String> {
        match name.to_ascii_lowercase().as_str() {
            "rules" => {
                self.engine.rules = value.parse().map_err(|error: anqi_rules::RulesError| error.to_string())?;
                (self.game, self.seat) = (Game::new(self.engine.rules), Seat::First);
            }
            "seed" => self.engine.seed = value.parse().map_err(|error: anqi_rules::SeedError| error.to_string())?,
            "multipv" => {
                let places = value.parse().ok().filter(|places| (1..=256).contains(places));
                self.multi_pv = places.ok_or_else(|| format!("bad value {value:?} for MultiPV, expected 1 to 256"))?;
            }
            _ => {
                let ours: Option<OptionInfo> =
                    self.engine.player.table().into_iter().find(|option| option.name.eq_ignore_ascii_case(name));
                let switch = ours.as_ref().is_some_and(|option| option.range == "on or off");
                let value = match value {
                    "true" if switch => "on",
                    "false" if switch => "off",
                    _ => value,
                };
                let key = ours.map_or(name, |option| option.name);
                let mut player = self.engine.player.clone();
                player.set(key, value).map_err(|error| error.to_string())?;
                self.engine.resources.open_for(&player).map_err(|error| error.to_string())?;
                self.engine.player = player;
            }
        }
        self.player = None;
        Ok(())
    }

    fn go(&mut self, go: &UciGo) -> io::Result<()> {
        go_on_after_a_draw(&mut self.game);
        let limits = self.limits(go);
        let mut player = match self.player.take() {
            Some(player) => player,
            None => self.engine.build()?,
        };
        let (game, stop, bell) = (self.game.clone(), Stop::default(), Bell(self.events.clone()));
        let held = !go.is_bounded() && self.engine.limits == Limits::default();
        let (search_stop, every_move) = (stop.clone(), self.multi_pv > 1);
        let thread = thread::spawn(move || {
            let _bell = bell;
            let choice = if every_move {
                player.analyse(&game, &limits, &search_stop)
            } else {
                player.choose(&game, &limits, &search_stop)
            };
            (player, choice)
        });
        self.search = Some(RunningSearch { thread, stop, held, done: false });
        Ok(())
    }

    fn limits(&self, go: &UciGo) -> Limits {
        let (asked, ours) = (go.limits(), self.engine.limits);
        let limits = Limits {
            time: least(asked.time, ours.time),
            nodes: least(asked.nodes, ours.nodes),
            depth: least(asked.depth, ours.depth),
            playouts: least(asked.playouts, ours.playouts),
        };
        let seat = usize::from(self.seat == Seat::Second);
        match go.time[seat].filter(|_| !go.infinite) {
            None => limits,
            Some(left) => {
                let stock = Stock {
                    left: Duration::from_millis(left),
                    increment: Duration::from_millis(go.increment[seat].unwrap_or(0)),
                    moves_to_go: go.moves_to_go,
                };
                stock.bound(&limits, &self.game)
            }
        }
    }

    fn stop(&mut self) -> io::Result<()> {
        if let Some(search) = &mut self.search {
            search.stop.raise();
            search.held = false;
        }
        self.answer_if_due()
    }

    fn answer_if_due(&mut self) -> io::Result<()> {
        let Some(search) = self.search.take_if(|search| search.done && !search.held) else { return Ok(()) };
        let (player, choice) = search.thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        self.player = Some(player);
        let replies = match choice {
            Some(choice) => self.describe(&choice),
            None => {
                let why = self
                    .game
                    .outcome()
                    .map_or("no move was found".to_owned(), |outcome| format!("the game is over: {outcome}"));
                vec![UciReply::Text(why), UciReply::BestMove("0000".to_owned())]
            }
        };
        self.say(&replies)
    }

    /// Everything that the player says about its choice, then the choice.
    fn describe(&self, choice: &Choice) -> Vec<UciReply> {
        let stats = choice.stats;
        let seconds = stats.time.as_secs_f64();
        let line = |place: usize, mv: Move, score| Info {
            depth: (stats.depth > 0).then_some(stats.depth),
            multipv: (self.multi_pv > 1).then_some(place as u32),
            score: Some(score),
            nodes: Some(stats.nodes),
            playouts: (stats.playouts > 0).then_some(stats.playouts),
            nps: (seconds > 0.0).then_some((stats.nodes as f64 / seconds) as u64),
            time: Some(stats.time.as_millis() as u64),
            pv: if mv == choice.mv { choice.pv.clone() } else { vec![mv] },
        };
        let mut replies = vec![UciReply::Info(line(1, choice.mv, choice.score.into()))];
        let others = choice.candidates.iter().filter(|candidate| candidate.mv != choice.mv);
        replies.extend(
            (2..=self.multi_pv)
                .zip(others)
                .map(|(place, other)| UciReply::Info(line(place, other.mv, other.score.into()))),
        );
        if self.multi_pv > 1 {
            for flip in choice.candidates.iter().filter(|candidate| !candidate.outcomes.is_empty()) {
                let outcomes = flip.outcomes.iter().map(|o| format!(" {}×{} {}", o.piece.char(), o.count, o.score));
                replies.push(UciReply::Text(format!(
                    "flip {} shows{}",
                    squares(flip.mv),
                    outcomes.collect::<String>()
                )));
            }
        }
        replies.push(UciReply::BestMove(squares(choice.mv)));
        replies
    }

    fn show(&mut self) -> io::Result<()> {
        let text =
            format!("{}position {}\n", self.game.position().drawn(Faces::Letters), StartPlacement::of(&self.game));
        self.output.write_all(text.as_bytes())?;
        self.output.flush()
    }
}

fn least<T: Ord>(a: Option<T>, b: Option<T>) -> Option<T> {
    [a, b].into_iter().flatten().min()
}
