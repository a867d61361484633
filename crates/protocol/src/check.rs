//! A conformance report for authors of engines: what was tried, what came back, what was expected.
//!
//! Protocol A is checked line by line; of the other two, greeting, games and clock. Nothing is taken on trust: all
//! that is judged are answers to questions that a match server may really ask, or lines that a broken one might.

use std::fmt;
use std::time::{Duration, Instant};

use anqi_engine::{Limits, Player, PlayerSpec, Resources, Stop};
use anqi_rules::{Deal, Game, Ply, Rules, Seat, Seed, Termination, excerpt};

use crate::lines::LONGEST_LINE;
use crate::numbered::{NumberedCommand, NumberedReply};
use crate::outside::{Fault, Outside, OutsideSpec, Process, Protocol};
use crate::squares::EngineAnswer;
use anqi_play::{Clock, Left};

/// How thorough to be.
#[derive(Clone, Debug)]
pub struct CheckPlan {
    /// Games against random moves.
    pub games: u32,
    /// The clock of those games, if the program's description has none.
    pub clock: Clock,
    /// Where deals and the opponent's moves come from.
    pub seed: Seed,
}

/// How a check went.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum CheckResult {
    /// As it should be.
    Pass,
    /// Matches can be played, but something is not as written.
    Warn,
    /// It will lose games by this.
    Fail,
}

impl CheckResult {
    /// `pass`, `warn` or `fail`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            CheckResult::Pass => "pass",
            CheckResult::Warn => "warn",
            CheckResult::Fail => "fail",
        }
    }
}

/// What one check found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// How it went.
    pub verdict: CheckResult,
    /// The part of the protocol that was checked.
    pub check: &'static str,
    /// What was found.
    pub text: String,
    /// Measured times, which are never twice the same.
    pub times: Option<String>,
    /// What was sent, if something is wrong.
    pub sent: Vec<String>,
    /// What came back.
    pub received: Vec<String>,
    /// What should have come back.
    pub expected: String,
}

/// Everything that was found about a program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Conformance {
    /// The program, as it was described.
    pub program: String,
    /// The protocol that was spoken.
    pub protocol: Protocol,
    /// What the program calls itself.
    pub name: Option<String>,
    /// One after the other.
    pub findings: Vec<Finding>,
}

impl Conformance {
    /// How many findings have this verdict.
    #[must_use]
    pub fn count(&self, verdict: CheckResult) -> usize {
        self.findings.iter().filter(|finding| finding.verdict == verdict).count()
    }
}

/// As people read it.
impl fmt::Display for Conformance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "program   {}", self.program)?;
        writeln!(f, "protocol  {}", self.protocol.name())?;
        writeln!(f, "name      {}\n", self.name.as_deref().unwrap_or("not told"))?;
        for finding in &self.findings {
            writeln!(f, "{}  {:<11} {}{}", finding.verdict.name(), finding.check, finding.text, Times(finding))?;
            let mut lines = |label: &str, lines: &[String]| {
                lines.iter().try_for_each(|line| writeln!(f, "      {label:<9} {line}"))
            };
            lines("sent", &finding.sent)?;
            lines("received", &finding.received)?;
            if !finding.expected.is_empty() {
                lines("expected", std::slice::from_ref(&finding.expected))?;
            }
        }
        let [passed, warnings, failures] =
            [CheckResult::Pass, CheckResult::Warn, CheckResult::Fail].map(|verdict| self.count(verdict));
        writeln!(f, "\n{passed} passed, {warnings} warned, {failures} failed")
    }
}

struct Times<'a>(&'a Finding);

impl fmt::Display for Times<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.times.as_ref().map_or(Ok(()), |times| write!(f, " ({times})"))
    }
}

/// Runs all checks.
#[must_use]
pub fn check_engine(spec: &OutsideSpec, plan: &CheckPlan) -> Conformance {
    let mut conformance =
        Conformance { program: spec.to_string(), protocol: spec.protocol, name: None, findings: Vec::new() };
    let started = Instant::now();
    match Outside::launch(spec) {
        Err(fault) => {
            conformance
                .findings
                .push(finding("handshake", CheckResult::Fail, fault.to_string()).expecting("a greeting"));
            return conformance;
        }
        Ok(mut program) => {
            conformance.name = program.name().map(str::to_owned);
            let game = Game::new(Rules::server());
            let begun = program.start(&game, Seat::First, Some(Clock::default()));
            let found = match begun {
                Ok(()) => finding("handshake", CheckResult::Pass, "greets, and is ready for a game"),
                Err(fault) => finding("handshake", CheckResult::Fail, fault.to_string()).expecting("an answer to each"),
            };
            conformance.findings.push(found.taking(format!("{} ms", started.elapsed().as_millis())));
            program.close();
        }
    }
    if spec.protocol == Protocol::Numbered {
        for check in LINE_CHECKS {
            let found = match Dialog::begin(spec) {
                Ok(mut dialog) => check(&mut dialog),
                Err(fault) => vec![finding("handshake", CheckResult::Fail, fault.to_string())],
            };
            conformance.findings.extend(found);
        }
    }
    conformance.findings.extend(play_games(spec, plan));
    conformance
}

type Check = fn(&mut Dialog) -> Vec<Finding>;

/// Each with a process of its own: what one check breaks, the next does not suffer from.
const LINE_CHECKS: [Check; 8] =
    [commands, game_start, thinking_changes_nothing, malformed, quiet_draw, repetition, hurry, quit];

fn finding(check: &'static str, verdict: CheckResult, text: impl Into<String>) -> Finding {
    Finding {
        verdict,
        check,
        text: text.into(),
        times: None,
        sent: Vec::new(),
        received: Vec::new(),
        expected: String::new(),
    }
}

impl Finding {
    fn expecting(mut self, expected: &str) -> Finding {
        expected.clone_into(&mut self.expected);
        self
    }

    fn taking(mut self, times: String) -> Finding {
        self.times = Some(times);
        self
    }

    /// With the last of what was said.
    fn showing(mut self, dialog: &Dialog) -> Finding {
        let last = |lines: &[String]| lines[lines.len().saturating_sub(3)..].to_vec();
        (self.sent, self.received) = (last(&dialog.sent), last(&dialog.received));
        self
    }

    /// With the last question and its answer.
    fn showing_answer(mut self, dialog: &Dialog) -> Finding {
        let last = |lines: &[String]| lines.last().cloned().into_iter().collect();
        (self.sent, self.received) = (last(&dialog.sent), last(&dialog.received));
        self
    }
}

/// Talk in protocol A, written down.
struct Dialog {
    process: Process,
    patience: Duration,
    sent: Vec<String>,
    received: Vec<String>,
}

/// How long we wait for an answer that may never come.
const SHORT_WAIT: Duration = Duration::from_millis(500);

impl Dialog {
    fn begin(spec: &OutsideSpec) -> Result<Dialog, Fault> {
        let process = Process::start(spec)?;
        Ok(Dialog { process, patience: spec.patience, sent: Vec::new(), received: Vec::new() })
    }

    fn send(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        let text = String::from_utf8_lossy(bytes);
        let shown = excerpt(text.trim_end_matches('\n'));
        self.sent.push(if shown.chars().any(char::is_control) { format!("{shown:?}") } else { shown.clone() });
        self.process.send(&shown, bytes)
    }

    /// The next line that is an answer at all; `None` if none comes in time.
    fn reply(&mut self, wait: Duration) -> Result<Option<NumberedReply>, Fault> {
        let deadline = Instant::now() + wait;
        loop {
            match self.process.line(deadline, wait) {
                Ok(line) => {
                    self.received.push(excerpt(line.shown()));
                    if let Ok(reply) = line.shown().parse() {
                        return Ok(Some(reply));
                    }
                }
                Err(Fault::Silent { .. }) => return Ok(None),
                Err(fault) => return Err(fault),
            }
        }
    }

    /// Sends a command and waits for its answer.
    fn ask(&mut self, command: &NumberedCommand) -> Result<NumberedReply, Fault> {
        self.send(format!("{command}\n").as_bytes())?;
        loop {
            match self.reply(self.patience)? {
                Some(reply) if reply.id == Some(command.id()) => return Ok(reply),
                Some(_) => {}
                None => return Err(Fault::Silent { asked: command.to_string(), limit: self.patience }),
            }
        }
    }

    /// Sends a command that must be carried out.
    fn tell(&mut self, command: &NumberedCommand) -> Result<(), Fault> {
        let reply = self.ask(command)?;
        let refused = || Fault::Refused { asked: command.to_string(), answer: reply.to_string() };
        if reply.ok { Ok(()) } else { Err(refused()) }
    }

    fn new_game(&mut self) -> Result<Game, Fault> {
        self.tell(&NumberedCommand::ResetBoard)?;
        self.ask(&NumberedCommand::TimeSettings(900_000))?;
        self.ask(&NumberedCommand::Ready)?;
        Ok(Game::new(Rules::server()))
    }

    fn play(&mut self, game: &mut Game, ply: Ply) -> Result<(), Fault> {
        self.tell(&ply.into())?;
        // We only dictate what is legal.
        let _ = game.play(ply);
        Ok(())
    }

    /// A legal move, or what is wrong with the answer.
    fn choose(&mut self, game: &Game) -> Result<(), Fault> {
        let reply = self.ask(&NumberedCommand::GenMove(game.position().turn()))?;
        let words: Vec<&str> = reply.text.split_ascii_whitespace().collect();
        let answer = match words[..] {
            [from, to] if reply.ok => EngineAnswer::of(from, to),
            _ => EngineAnswer::Nonsense,
        };
        crate::outside::judge(game, answer, &reply.to_string()).map(drop)
    }
}

/// A finding for how a talk went.
fn outcome(dialog: &Dialog, check: &'static str, result: Result<(), Fault>, good: &str, expected: &str) -> Finding {
    match result {
        Ok(()) => finding(check, CheckResult::Pass, good),
        Err(fault) => finding(check, CheckResult::Fail, fault.to_string()).showing(dialog).expecting(expected),
    }
}

/// What every program should know about itself.
fn commands(dialog: &mut Dialog) -> Vec<Finding> {
    let mut found = Vec::new();
    let questions = [
        (NumberedCommand::ProtocolVersion, "1.1.0"),
        (NumberedCommand::KnownCommand("genmove".to_owned()), "true"),
        (NumberedCommand::KnownCommand("dance".to_owned()), "false"),
    ];
    for (command, expected) in questions {
        match dialog.ask(&command) {
            Ok(reply) if reply.ok && reply.text == expected => {}
            Ok(_) => {
                let text = format!("unusual answer to {command}");
                found.push(
                    finding("commands", CheckResult::Warn, text)
                        .showing_answer(dialog)
                        .expecting(&format!("={} {expected}", command.id())),
                );
            }
            Err(fault) => return vec![finding("commands", CheckResult::Fail, fault.to_string()).showing(dialog)],
        }
    }
    // The list has no end of its own: it ends where the next answer begins.
    let before = dialog.received.len();
    let listed = dialog.send(format!("{}\n", NumberedCommand::ListCommands).as_bytes()).and_then(|()| {
        dialog.ask(&NumberedCommand::ProtocolVersion)?;
        Ok(dialog.received[before..].join(" "))
    });
    match listed {
        Ok(list) => {
            let words: Vec<&str> = list.split([' ', '\t']).collect();
            let missing: Vec<&str> = ["move", "flip", "genmove", "reset_board", "quit"]
                .into_iter()
                .filter(|name| !words.contains(name))
                .collect();
            if !missing.is_empty() {
                let text = format!("list_commands does not name {}", missing.join(", "));
                let mut warning = finding("commands", CheckResult::Warn, text).expecting("names, one a line");
                warning.sent = vec![NumberedCommand::ListCommands.to_string()];
                warning.received = dialog.received[before..dialog.received.len() - 1].to_vec();
                found.push(warning);
            }
        }
        Err(fault) => found.push(finding("commands", CheckResult::Fail, fault.to_string()).showing(dialog)),
    }
    for command in
        [NumberedCommand::BoardSize(4, 8), NumberedCommand::NumRepetition(3), NumberedCommand::NumMovesToDraw(60)]
    {
        if let Err(fault) = dialog.ask(&command) {
            found.push(finding("commands", CheckResult::Fail, fault.to_string()).showing(dialog).expecting("= or ?"));
            return found;
        }
    }
    if found.is_empty() {
        found.push(finding("commands", CheckResult::Pass, "knows itself and its commands"));
    }
    found
}

/// How a real game began on the match server.
fn game_start(dialog: &mut Dialog) -> Vec<Finding> {
    let result = (|| {
        let mut game = dialog.new_game()?;
        dialog.choose(&game)?;
        for (ply, time) in [("b8(G)", "red 900000"), ("d8(c)", "black 899593")] {
            if let Ok(ply) = ply.parse() {
                dialog.play(&mut game, ply)?;
            }
            if let Ok(command) = format!("16 time_left {time}").parse() {
                dialog.ask(&command)?;
            }
        }
        dialog.choose(&game)
    })();
    vec![outcome(dialog, "game start", result, "plays the start of a real game", "legal moves")]
}

/// `genmove` asks; only `move` and `flip` play.
fn thinking_changes_nothing(dialog: &mut Dialog) -> Vec<Finding> {
    let result = (|| {
        let game = dialog.new_game()?;
        dialog.choose(&game)?;
        dialog.choose(&game)?;
        let mut game = game;
        // Another move than the one it chose is played.
        for ply in ["a1(K)", "a2(g)"] {
            if let Ok(ply) = ply.parse() {
                dialog.play(&mut game, ply)?;
            }
        }
        dialog.choose(&game)
    })();
    let expected = "a legal move each time: genmove does not change the board";
    vec![outcome(dialog, "genmove", result, "does not change the board by thinking", expected)]
}

/// Lines that no server should send, each with the number that an answer would carry.
fn bad_lines() -> Vec<(Vec<u8>, Option<u32>)> {
    let text = |line: &str, id: u32| (line.as_bytes().to_vec(), Some(id));
    vec![
        text("99 dance", 99),
        text("10 move", 10),
        text("10 move a1", 10),
        text("10 move a1 a2", 10),
        text("10 move z9 a1", 10),
        text("10 move a1 a9", 10),
        text("11 flip a1", 11),
        text("11 flip a1 Q", 11),
        text("11 flip e1 K", 11),
        text("12 genmove", 12),
        text("12 genmove green", 12),
        text("15 time_settings soon", 15),
        text("16 time_left red", 16),
        text("18 init_board X X", 18),
        (b"hello".to_vec(), None),
        (b"-1 name".to_vec(), None),
        (b"99999999999999999999 name".to_vec(), None),
        (b"\x00\xff\xfe".to_vec(), None),
        (vec![b'7'; 3000], None),
        (vec![b'x'; LONGEST_LINE / 4], None),
    ]
}

fn malformed(dialog: &mut Dialog) -> Vec<Finding> {
    let mut found = Vec::new();
    let mut game = match dialog.new_game() {
        Ok(game) => game,
        Err(fault) => return vec![finding("bad lines", CheckResult::Fail, fault.to_string()).showing(dialog)],
    };
    let (mut unanswered, mut accepted) = (Vec::new(), Vec::new());
    let lines = bad_lines();
    for (line, id) in &lines {
        let mut sent = line.clone();
        sent.push(b'\n');
        let shown = excerpt(&String::from_utf8_lossy(line).escape_debug().to_string());
        let expected = id.map_or("? and a text".to_owned(), |id| format!("?{id} and a text"));
        match dialog.send(&sent).and_then(|()| dialog.reply(SHORT_WAIT)) {
            Ok(Some(reply)) if reply.ok => accepted.push(shown),
            Ok(Some(_)) => {}
            Ok(None) => unanswered.push(shown),
            Err(fault) => {
                found.push(
                    finding("bad lines", CheckResult::Fail, fault.to_string()).showing(dialog).expecting(&expected),
                );
                return found;
            }
        }
    }
    // Nothing may have changed.
    let result = (|| {
        dialog.choose(&game)?;
        for ply in ["b8(G)", "d8(c)"] {
            if let Ok(ply) = ply.parse() {
                dialog.play(&mut game, ply)?;
            }
        }
        dialog.choose(&game)
    })();
    if let Err(fault) = result {
        let text = format!("after bad lines: {fault}");
        found.push(
            finding("bad lines", CheckResult::Fail, text).showing(dialog).expecting("the game goes on unchanged"),
        );
    }
    let mut warn = |lines: Vec<String>, text: &str| {
        if !lines.is_empty() {
            let mut finding = finding("bad lines", CheckResult::Warn, format!("{} {text}", lines.len()));
            finding.sent = lines;
            found.push(finding.expecting("? with the number, if there is one, and a text"));
        }
    };
    warn(accepted, "bad lines are answered with =");
    warn(unanswered, "bad lines are not answered");
    if found.is_empty() {
        found.push(finding("bad lines", CheckResult::Pass, format!("answers all {} with ? and plays on", lines.len())));
    }
    found
}

/// Plays anything.
fn random_player(seed: Seed) -> Option<Box<dyn Player>> {
    let spec: PlayerSpec = "random".parse().ok()?;
    spec.build(seed, &Resources::default()).ok()
}

/// A game that ends in this way between two who play anything.
fn game_ending_by(wanted: fn(Termination) -> bool) -> Game {
    let random = |seed: &Seed| random_player(seed.child("player"));
    for number in 0..10_000_u64 {
        let seed = Seed::from(number);
        let mut game = Game::new(Rules::server());
        let (deal, Some(mut player)) = (Deal::new(game.rules(), &seed), random(&seed)) else { continue };
        while let Some(ply) = next_ply(&game, &deal, player.as_mut()) {
            let _ = game.play(ply);
        }
        if game.outcome().is_some_and(|outcome| wanted(outcome.termination)) {
            return game;
        }
    }
    Game::new(Rules::server())
}

fn next_ply(game: &Game, deal: &Deal, player: &mut dyn Player) -> Option<Ply> {
    let choice = player.choose(game, &Limits::default(), &Stop::default())?;
    deal.resolve(choice.mv).ok()
}

/// Dictates a whole game, asks for a move shortly before the end, and begins the next.
fn dictate(dialog: &mut Dialog, model: &Game) -> Result<(), Fault> {
    let mut game = dialog.new_game()?;
    for (number, &ply) in model.plies().iter().enumerate() {
        dialog.play(&mut game, ply)?;
        if number + 2 == model.plies().len() {
            dialog.choose(&game)?;
        }
    }
    let game = dialog.new_game()?;
    dialog.choose(&game)
}

fn quiet_draw(dialog: &mut Dialog) -> Vec<Finding> {
    let model = game_ending_by(|termination| termination == Termination::QuietPlies);
    let result = dictate(dialog, &model);
    let good = "plays up to a draw by 60 quiet plies, and then another game";
    vec![outcome(dialog, "quiet draw", result, good, "the game is followed to its end; after reset_board a new one")]
}

fn repetition(dialog: &mut Dialog) -> Vec<Finding> {
    let mut model = Game::new(Rules::server());
    // Two captures make room, then two pieces go to and fro.
    let opening = ["a1(R)", "a2(p)", "a1-a2", "d1(k)", "d2(N)", "d1-d2"];
    let dance = ["a2-a1", "d2-d1", "a1-a2", "d1-d2"];
    for ply in opening.into_iter().chain(dance.into_iter().cycle().take(12)) {
        let _ = ply.parse().map(|ply| model.play(ply));
    }
    let result = dictate(dialog, &model);
    let good = "plays up to a draw by repetition, and then another game";
    vec![outcome(dialog, "repetition", result, good, "the game is followed to its end; after reset_board a new one")]
}

/// With a second left on its clock, a program has to be quick.
fn hurry(dialog: &mut Dialog) -> Vec<Finding> {
    let mut took = Duration::ZERO;
    let result = (|| {
        let mut game = dialog.new_game()?;
        dialog.choose(&game)?;
        for (ply, time) in [("b8(G)", "red 1000"), ("d8(c)", "black 899593")] {
            if let Ok(ply) = ply.parse() {
                dialog.play(&mut game, ply)?;
            }
            if let Ok(command) = format!("16 time_left {time}").parse() {
                dialog.ask(&command)?;
            }
        }
        let started = Instant::now();
        dialog.choose(&game)?;
        took = started.elapsed();
        Ok(())
    })();
    if result.is_ok() && took >= Duration::from_secs(1) {
        let text = "takes longer than the second that time_left leaves it";
        let found = finding("hurry", CheckResult::Fail, text).showing(dialog).expecting("a move within 1000 ms");
        return vec![found.taking(format!("{} ms", took.as_millis()))];
    }
    let found = outcome(dialog, "hurry", result, "moves in time with one second left", "a move within 1000 ms");
    vec![found.taking(format!("{} ms", took.as_millis()))]
}

fn quit(dialog: &mut Dialog) -> Vec<Finding> {
    let sent = dialog.send(format!("{}\n", NumberedCommand::Quit).as_bytes());
    dialog.process.wait_for_end(Duration::from_secs(2));
    vec![match (sent, dialog.process.has_ended()) {
        (Err(fault), _) => finding("quit", CheckResult::Fail, fault.to_string()).showing(dialog),
        (_, true) => finding("quit", CheckResult::Pass, "ends when it is told to"),
        (_, false) => finding("quit", CheckResult::Warn, "still runs two seconds after quit")
            .showing(dialog)
            .expecting("=5 and the end of the process"),
    }]
}

/// After so many lost games nothing new is to be learnt.
const ENOUGH_LOST: u32 = 3;

/// Whole games against random moves, by the clock.
fn play_games(spec: &OutsideSpec, plan: &CheckPlan) -> Vec<Finding> {
    let clock = spec.clock.unwrap_or(plan.clock);
    let (mut plies, mut slowest, mut least_left) = (0, Duration::ZERO, clock.base);
    let (mut faults, mut played): (Vec<Fault>, u32) = (Vec::new(), 0);
    let mut program = None;
    for number in 0..plan.games {
        let seat = Seat::ALL[number as usize % 2];
        let mut match_ = Match {
            seat,
            clock,
            game: Game::new(Rules::server()),
            seed: plan.seed.child(format!("game {number}")),
            left: [clock.base; 2],
            slowest: Duration::ZERO,
        };
        let result = match program.take() {
            Some(program) => Ok(program),
            None => Outside::launch(spec),
        };
        let result = result.and_then(|mut running| {
            let result = match_.play(&mut running, &spec.limits);
            program = Some(running);
            result
        });
        played += 1;
        plies += match_.game.plies().len();
        slowest = slowest.max(match_.slowest);
        least_left = least_left.min(match_.left[usize::from(seat == Seat::Second)]);
        if let Err(fault) = result {
            faults.push(fault);
            if faults.len() as u32 >= ENOUGH_LOST {
                break;
            }
        }
    }
    if let Some(program) = program {
        program.close();
    }
    let (late, others): (Vec<Fault>, Vec<Fault>) =
        faults.into_iter().partition(|fault| matches!(fault, Fault::Late { .. }));
    let mut found: Vec<Finding> = others
        .iter()
        .map(|fault| finding("games", CheckResult::Fail, fault.to_string()).expecting("a legal move"))
        .collect();
    if others.is_empty() {
        found.push(finding(
            "games",
            CheckResult::Pass,
            format!("{played} games of {plies} plies together, every move legal"),
        ));
    }
    let times = format!("slowest move {} ms, least time left {} ms", slowest.as_millis(), least_left.as_millis());
    found.push(match late.first() {
        Some(fault) => {
            let text = format!("{} of {played} games lost on time with {clock} on the clock: {fault}", late.len());
            finding("clock", CheckResult::Fail, text).taking(times).expecting("less than the clock for a whole game")
        }
        None => finding("clock", CheckResult::Pass, format!("never out of time with {clock} a game")).taking(times),
    });
    found
}

struct Match {
    seat: Seat,
    clock: Clock,
    game: Game,
    seed: Seed,
    left: [Duration; 2],
    slowest: Duration,
}

impl Match {
    fn play(&mut self, program: &mut Outside, limits: &Limits) -> Result<(), Fault> {
        let deal = Deal::new(self.game.rules(), &self.seed);
        let mut opponent = random_player(self.seed.child("opponent"));
        program.start(&self.game, self.seat, Some(self.clock))?;
        while self.game.outcome().is_none() {
            let mover = usize::from(self.game.seat() == Seat::Second);
            let ply = if self.game.seat() == self.seat {
                let left = Left { own: self.left[mover], other: self.left[1 - mover] };
                let (mv, time) = program.choose(&self.game, Some(left), limits)?;
                let moves_made = (self.game.plies().len() / 2 + 1) as u32;
                self.left[mover] = self.clock.after_move(left.own, time, moves_made);
                self.slowest = self.slowest.max(time);
                deal.resolve(mv).ok()
            } else {
                opponent.as_mut().and_then(|opponent| next_ply(&self.game, &deal, opponent.as_mut()))
            };
            let Some(ply) = ply.filter(|&ply| self.game.play(ply).is_ok()) else { break };
            program.played(&self.game, ply, Some(self.left[mover]))?;
        }
        program.finish(self.game.outcome().as_ref());
        Ok(())
    }
}
