//! `anqi play`: a game in the terminal, for people without a browser.

use std::io::{IsTerminal, stdin, stdout};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, TryRecvError, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use anqi_engine::{BuildError, Resources, Stop};
use anqi_play::{Bot, BotPolicy, Command, LEVELS, LiveGame, Occupant, Secret, Terms, Thinker};
use anqi_rules::{Color, Game, Material, Move, Piece, Position, Seat, Seed, Square};
use anyhow::{Context, Result, bail};
use clap::Args;
use ratatui::Frame;
use ratatui::crossterm::event::{self, Event, KeyCode, KeyEventKind};
use ratatui::layout::{Constraint, Layout};
use ratatui::style::{Color as Paint, Modifier, Style};
use ratatui::text::{Line, Span};
use ratatui::widgets::{Block, Paragraph, Wrap};

use crate::Exit;
use crate::output::write_file;
use crate::position::RulesArgs;
use crate::resources::resources;

/// Play in the terminal: arrows and Enter, u takes back, h hints, r resigns, q ends
#[derive(Args)]
pub(crate) struct PlayArgs {
    /// How strong the opponent is, from 1 to 8
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(1..=LEVELS.len() as i64))]
    level: u8,
    /// Another opponent: a player string with its budget, such as 'chen:var1 depth=4'
    #[arg(long, value_name = "PLAYER", conflicts_with = "level")]
    against: Option<String>,
    /// Two people at one terminal
    #[arg(long, conflicts_with_all = ["level", "against"])]
    two: bool,
    /// Let the opponent move first
    #[arg(long)]
    second: bool,
    /// Letters instead of Chinese characters
    #[arg(long)]
    letters: bool,
    /// Where the record is written when the game ends
    #[arg(long, value_name = "FILE")]
    save: Option<PathBuf>,
    #[command(flatten)]
    rules: RulesArgs,
    /// Where the deal comes from [default: the system]
    #[arg(long)]
    seed: Option<Seed>,
}

pub(crate) fn run(args: &PlayArgs) -> Result<Exit> {
    if !stdin().is_terminal() || !stdout().is_terminal() {
        bail!("anqi play needs a terminal; `anqi match` plays without one");
    }
    let mut table = TerminalGame::new(args)?;
    let mut terminal = ratatui::init();
    let played = table.play(&mut terminal);
    ratatui::restore();
    played?;
    if let Some(path) = &args.save {
        save(path, &table.live)?;
    }
    Ok(Exit::Done)
}

/// Writes the record of a game, which is there whole or not at all.
pub(crate) fn save(path: &Path, live: &LiveGame) -> Result<()> {
    write_file(path, |file| Ok(file.write_all(live.record().to_string().as_bytes())?))
}

/// One game, the players of ours in it, and where the human looks.
struct TerminalGame {
    live: LiveGame,
    /// The player of each seat; `None` is a human.
    bots: [Option<Arc<Mutex<Thinker>>>; 2],
    /// Who hints, once it was asked.
    hinter: Option<Arc<Mutex<Thinker>>>,
    resources: Resources,
    letters: bool,
    cursor: Square,
    selected: Option<Square>,
    hint: Option<Move>,
    said: Option<String>,
    thinking: Option<Thinking>,
    over: bool,
}

/// A game in the terminal has no clock.
const TIMELESS: Duration = Duration::ZERO;

fn policy() -> BotPolicy {
    BotPolicy::page(thread::available_parallelism().map_or(1, |cores| cores.get() as u32))
}

fn at_work(bot: &Bot, resources: &Resources) -> Result<Arc<Mutex<Thinker>>, BuildError> {
    resources.open_for(&bot.player)?;
    Ok(Arc::new(Mutex::new(bot.thinker(resources)?)))
}

/// A search in another thread.
struct Thinking {
    answer: Receiver<Option<Move>>,
    stop: Stop,
    is_hint: bool,
}

impl TerminalGame {
    fn new(args: &PlayArgs) -> Result<TerminalGame> {
        let rules = args.rules.rules;
        let secret = match &args.seed {
            Some(seed) => seed.clone(),
            None => {
                let mut bytes = [0; 32];
                getrandom::fill(&mut bytes).context("the system gives no random numbers")?;
                Seed::from(bytes)
            }
        };
        let opponent = match &args.against {
            _ if args.two => "person".to_owned(),
            Some(text) => text.clone(),
            None => format!("level:{}", args.level),
        };
        let (first, second) = ("person".to_owned(), opponent);
        let (first, second) = if args.second { (second, first) } else { (first, second) };
        let terms = Terms { rules: rules.to_string(), first, second, ..Terms::default() };
        let resources = resources();
        for side in [&terms.first, &terms.second] {
            if let Some(bot) = Occupant::read(side, &policy())?.bot() {
                resources.open_for(&bot.player)?;
            }
        }
        let terms = terms.with_engines(&policy(), &resources)?;
        let live = LiveGame::begin(&terms, Secret::from_seed(&secret), &policy(), TIMELESS)?;
        let cursor = live.game().position().hidden().first().context("the board has no squares")?;
        let [first, second] =
            Seat::ALL.map(|seat| live.occupant(seat).bot().map(|bot| at_work(bot, &resources)).transpose());
        let bots = [first?, second?];
        Ok(TerminalGame {
            live,
            bots,
            hinter: None,
            resources,
            letters: args.letters,
            cursor,
            selected: None,
            hint: None,
            said: None,
            thinking: None,
            over: false,
        })
    }

    fn game(&self) -> &Game {
        self.live.game()
    }

    fn play(&mut self, terminal: &mut ratatui::DefaultTerminal) -> Result<()> {
        while !self.over {
            self.go_on();
            terminal.draw(|frame| self.draw(frame))?;
            if event::poll(Duration::from_millis(50))?
                && let Event::Key(key) = event::read()?
                && key.kind == KeyEventKind::Press
            {
                self.key(key.code);
            }
        }
        Ok(())
    }

    /// Lets an engine begin, and hears what it has found.
    fn go_on(&mut self) {
        if let Some(thinking) = &self.thinking {
            match thinking.answer.try_recv() {
                Err(TryRecvError::Empty) => return,
                answer => {
                    let is_hint = thinking.is_hint;
                    self.thinking = None;
                    match answer.ok().flatten() {
                        Some(mv) if is_hint => self.hint = Some(mv),
                        Some(mv) => self.make(mv),
                        None => self.said = Some("the engine found nothing to play".to_owned()),
                    }
                }
            }
        }
        let bot = self.bots[self.game().seat() as usize].clone();
        if let (Some(bot), None) = (bot, self.game().outcome()) {
            self.think(bot, false);
        }
    }

    fn think(&mut self, thinker: Arc<Mutex<Thinker>>, is_hint: bool) {
        let (send, answer) = channel();
        let stop = Stop::default();
        // The deal stays here: a player sees the public game.
        let (game, stopped) = (self.game().clone(), stop.clone());
        let seed = Seed::from(game.plies().len() as u64);
        thread::spawn(move || {
            // An earlier search of this player that was stopped may still be ending.
            let mut thinker = thinker.lock().unwrap_or_else(PoisonError::into_inner);
            let _ = send.send(thinker.choose(&game, None, seed, &stopped).map(|choice| choice.mv));
        });
        self.thinking = Some(Thinking { answer, stop, is_hint });
    }

    fn stop_thinking(&mut self) {
        if let Some(thinking) = self.thinking.take() {
            thinking.stop.raise();
        }
    }

    fn make(&mut self, mv: Move) {
        let command = Command::Play { mv, ply: self.game().plies().len(), used: None };
        self.said = self.live.apply(self.game().seat(), &command, TIMELESS).err().map(|refusal| refusal.to_string());
        (self.selected, self.hint) = (None, None);
    }

    fn key(&mut self, key: KeyCode) {
        self.said = None;
        match key {
            KeyCode::Left => self.go(-1, 0),
            KeyCode::Right => self.go(1, 0),
            KeyCode::Up => self.go(0, 1),
            KeyCode::Down => self.go(0, -1),
            KeyCode::Enter | KeyCode::Char(' ') => self.choose(),
            KeyCode::Esc => self.selected = None,
            KeyCode::Char('f') => self.letters = !self.letters,
            KeyCode::Char('u') => self.take_back(),
            KeyCode::Char('h') if self.thinking.is_none() && self.game().outcome().is_none() => self.ask_for_hint(),
            KeyCode::Char('r') if self.game().outcome().is_none() => {
                self.stop_thinking();
                if let Some(human) = self.live.acting_human() {
                    self.said = self.live.apply(human, &Command::Resign, TIMELESS).err().map(|error| error.to_string());
                }
            }
            KeyCode::Char('q') => {
                self.stop_thinking();
                self.over = true;
            }
            _ => {}
        }
    }

    fn ask_for_hint(&mut self) {
        if self.hinter.is_none() {
            let hinter = policy().read(LEVELS[LEVELS.len() - 1].player).map_err(|error| error.to_string());
            match hinter.and_then(|bot| at_work(&bot, &self.resources).map_err(|error| error.to_string())) {
                Ok(hinter) => self.hinter = Some(hinter),
                Err(error) => self.said = Some(error),
            }
        }
        if let Some(hinter) = self.hinter.clone() {
            self.think(hinter, true);
        }
    }

    fn go(&mut self, files: i8, ranks: i8) {
        let board = self.game().rules().board();
        let file = self.cursor.file().checked_add_signed(files).filter(|&file| file < board.files());
        let rank = self.cursor.rank().checked_add_signed(ranks).filter(|&rank| rank < board.ranks());
        if let (Some(file), Some(rank)) = (file, rank) {
            self.cursor = Square::new(file, rank).unwrap_or(self.cursor);
        }
    }

    /// Enter: flip what lies face down, pick a piece up, or put it down.
    fn choose(&mut self) {
        if !self.live.to_move().is_some_and(Occupant::is_human) {
            return;
        }
        self.stop_thinking();
        let (at, legal) = (self.cursor, self.game().legal_moves());
        let step = self.selected.map(|from| Move::Step { from, to: at });
        let wanted = step.filter(|step| legal.contains(step)).or(Some(Move::Flip(at)).filter(|mv| legal.contains(mv)));
        if let Some(mv) = wanted {
            self.make(mv);
        } else if legal.iter().any(|mv| matches!(mv, Move::Step { from, .. } if *from == at)) {
            self.selected = if self.selected == Some(at) { None } else { Some(at) };
        } else {
            self.selected = None;
            self.said = Some(format!("nothing can be played with {at}"));
        }
    }

    /// Back to the last decision of a human.
    fn take_back(&mut self) {
        let seat = self.game().seat();
        if self.live.apply(seat, &Command::TakeBack, TIMELESS).is_ok() {
            self.stop_thinking();
            (self.selected, self.hint) = (None, None);
        }
    }

    fn draw(&self, frame: &mut Frame<'_>) {
        let board = self.game().rules().board();
        let width = 4 + 5 * u16::from(board.files());
        let [left, right] = Layout::horizontal([Constraint::Length(width), Constraint::Min(30)]).areas(frame.area());
        frame.render_widget(Paragraph::new(self.board()).block(Block::bordered().title(" anqi 暗棋 ")), left);
        let about = Paragraph::new(self.about()).wrap(Wrap { trim: false });
        frame.render_widget(about.block(Block::bordered()), right);
    }

    fn board(&self) -> Vec<Line<'static>> {
        let position = self.game().position();
        let board = position.board();
        let mut lines = Vec::new();
        for rank in (0..board.ranks()).rev() {
            let mut spans = vec![Span::raw(format!("{} ", rank + 1))];
            let squares = (0..board.files()).filter_map(|file| Square::new(file, rank));
            spans.extend(squares.map(|square| self.cell(position, square)));
            lines.push(Line::from(spans));
            lines.push(Line::default());
        }
        let names: String =
            (b'a'..).take(board.files().into()).map(|file| format!(" {}   ", char::from(file))).collect();
        lines.push(Line::raw(format!("  {names}")));
        lines
    }

    fn cell(&self, position: &Position, square: Square) -> Span<'static> {
        let face = match position.piece_at(square) {
            Some(piece) => self.face(piece),
            None if position.hidden().contains(square) => if self.letters { "X " } else { "〇" }.to_owned(),
            None => "· ".to_owned(),
        };
        let color = match position.piece_at(square).map(|piece| piece.color) {
            Some(Color::Red) => Paint::LightRed,
            Some(Color::Black) => Paint::LightCyan,
            None => Paint::DarkGray,
        };
        let is_target = |from: &Square| position.targets_from(*from).contains(square);
        let hinted = match self.hint {
            Some(Move::Flip(at)) => at == square,
            Some(Move::Step { from, to }) => from == square || to == square,
            None => false,
        };
        let last = self.game().plies().last().is_some_and(|ply| match ply.to_move() {
            Move::Flip(at) => at == square,
            Move::Step { from, to } => from == square || to == square,
        });
        let mut style = Style::new().fg(color).add_modifier(Modifier::BOLD);
        if hinted {
            style = style.bg(Paint::Blue);
        } else if self.selected.as_ref().is_some_and(is_target) || self.selected == Some(square) {
            style = style.bg(Paint::Green);
        } else if last {
            style = style.bg(Paint::Rgb(70, 60, 20));
        }
        let (open, close) = if square == self.cursor { ("[", "]") } else { (" ", " ") };
        Span::styled(format!("{open}{face}{close} "), style)
    }

    /// Two columns wide.
    fn face(&self, piece: Piece) -> String {
        if self.letters { format!("{} ", piece.char()) } else { piece.glyph().to_string() }
    }

    fn about(&self) -> Vec<Line<'static>> {
        let position = self.game().position();
        let seat = self.game().seat();
        let color = |seat: Seat| self.game().color_of(seat).map_or("no colour yet", Color::name);
        let status = match (self.game().outcome(), &self.thinking) {
            (Some(outcome), _) => format!("{outcome}"),
            (None, Some(thinking)) if !thinking.is_hint => format!("the engine ({}) is thinking …", color(seat)),
            _ => format!("{} to move ({})", seat.name(), color(seat)),
        };
        let shown = |material: &Material| {
            let each = material.iter().map(|(piece, count)| format!("{}×{count}", self.face(piece).trim()));
            each.collect::<Vec<_>>().join(" ")
        };
        let limit = self.game().rules().draw().map_or_else(String::new, |draw| format!(" of {draw}"));
        let recent =
            self.game().plies().iter().rev().take(8).rev().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let mut lines = vec![
            Line::styled(status, Style::new().add_modifier(Modifier::BOLD)),
            Line::raw(self.said.clone().unwrap_or_default()),
            Line::raw(format!("face down: {}", shown(position.pool()))),
            Line::raw(format!("on board:  {}", shown(&position.revealed()))),
            Line::raw(format!("quiet plies: {}{limit}", position.quiet())),
            Line::raw(format!("{} plies: {recent}", self.game().plies().len())),
            Line::default(),
            Line::raw("arrows Enter  play      u take back   h hint"),
            Line::raw("f faces       r resign  q end"),
            Line::default(),
        ];
        if let Some(commitment) = self.live.view(TIMELESS).commitment {
            lines.push(Line::raw(format!("deal promised: {commitment}")));
        }
        if let Some(secret) = self.live.told() {
            lines.push(Line::raw(format!("its seed:      {}", secret.seed())));
            lines.push(Line::raw(format!("its nonce:     {}", secret.nonce())));
        }
        lines
    }
}

#[cfg(test)]
mod tests {
    use clap::Parser;
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;

    use super::*;

    #[derive(Parser)]
    struct Words {
        #[command(flatten)]
        args: PlayArgs,
    }

    fn table(words: &str) -> TerminalGame {
        TerminalGame::new(&Words::parse_from(words.split(' ')).args).unwrap()
    }

    fn screen(table: &TerminalGame) -> String {
        let mut terminal = Terminal::new(TestBackend::new(80, 24)).unwrap();
        terminal.draw(|frame| table.draw(frame)).unwrap();
        terminal.backend().to_string()
    }

    #[test]
    fn keys_flip_move_take_back_and_resign() {
        let mut table = table("play --two --letters --seed 7 --rules server,board=2x4");
        assert!(screen(&table).contains("X"));
        table.key(KeyCode::Enter);
        assert_eq!(table.game().plies().len(), 1);
        table.key(KeyCode::Right);
        table.key(KeyCode::Up);
        table.key(KeyCode::Enter);
        assert_eq!(table.game().plies().len(), 2);
        table.key(KeyCode::Char('u'));
        assert_eq!(table.game().plies().len(), 1);
        let secret = Secret::from_seed(&Seed::from(7)).seed().to_string();
        assert!(!screen(&table).contains(&secret[..20]), "the seed is told too early");
        table.key(KeyCode::Char('r'));
        assert!(screen(&table).contains("resignation"));
        anqi_play::verify(&table.live.record()).unwrap();
    }

    #[test]
    fn a_whole_game_by_the_keyboard_against_a_level() {
        let mut table = table("play --level 1 --seed 3 --rules server,board=2x4");
        for _ in 0..100_000 {
            if table.game().outcome().is_some() {
                break;
            }
            table.go_on();
            if table.thinking.is_some() || table.game().outcome().is_some() {
                thread::sleep(Duration::from_millis(1)); // the level may have to wait for a core
                continue;
            }
            let target = match table.game().legal_moves()[0] {
                Move::Flip(square) => square,
                Move::Step { from, to } => {
                    if table.selected == Some(from) {
                        to
                    } else {
                        from
                    }
                }
            };
            while table.cursor.file() != target.file() {
                table.key(if table.cursor.file() < target.file() { KeyCode::Right } else { KeyCode::Left });
            }
            while table.cursor.rank() != target.rank() {
                table.key(if table.cursor.rank() < target.rank() { KeyCode::Up } else { KeyCode::Down });
            }
            table.key(KeyCode::Enter);
        }
        assert!(table.game().outcome().is_some());
        assert!(table.live.record().to_string().contains("random nodes=1"));
    }
}
