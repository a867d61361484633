//! A program for tests that misbehaves in a way of your choice: `faulty-engine MODE [MARK]`.
//!
//! It speaks protocol A (in mode `uci-…` that dialect, in mode `b-…` packets) and plays legally until it does not. MARK is
//! only there to be seen in the list of processes, of its children too. It supervises, and in mode `__referee`
//! it is a referee to be killed.

#![expect(clippy::unwrap_used, reason = "whoever reads its output is a test")]

use std::io::{self, BufRead, Read, Write};
use std::net::TcpStream;
use std::process::{Command as Program, ExitCode};
use std::thread::sleep;
use std::time::Duration;
use std::{env, process};

use anqi_engine::{Limits, Resources};
use anqi_protocol::numbered::NumberedCommand;
use anqi_protocol::{Clock, Illegality, Left, Outside, OutsideSpec, ServedEngine, serve, serve_packets};
use anqi_rules::{Game, Move, Ply, Rules, Seat, Seed, Square};

fn main() -> ExitCode {
    if let Some(code) = anqi_protocol::supervise_if_asked() {
        return code;
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    let mode = arguments.first().map_or("good", String::as_str);
    let mark = arguments.get(1).cloned().unwrap_or_default();
    match mode {
        "__child" => {
            let _ = rustix::process::setsid();
            forever()
        }
        "__daemon" => {
            drop(child(&mark, "__child"));
            return ExitCode::SUCCESS;
        }
        "__referee" => referee(&arguments[1..]),
        "uci-good" | "good" => serve(&engine(), io::stdin(), io::stdout()).unwrap(),
        "logs" => serve(&engine(), Logged(std::fs::File::create(&mark).unwrap()), io::stdout()).unwrap(),
        "b-good" | "b-waits" => {
            if mode == "b-waits" {
                wait_in(&mark, &arguments);
            }
            serve_packets(&engine(), connect(&arguments), io::stderr()).unwrap();
        }
        _ if mode.starts_with("b-") => packets(mode, &arguments),
        _ if mode.starts_with("uci-") => uci(mode),
        _ => Faulty { mode, mark, game: Game::new(Rules::server()), asked: 0 }.run(),
    }
    ExitCode::SUCCESS
}

/// Standard input, written down before anybody reads it.
struct Logged(std::fs::File);

impl Read for Logged {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = io::stdin().read(buffer)?;
        self.0.write_all(&buffer[..count])?;
        Ok(count)
    }
}

fn engine() -> ServedEngine {
    ServedEngine {
        player: "random".parse().unwrap(),
        resources: Resources::default(),
        seed: Seed::from(1),
        rules: Rules::server(),
        limits: Limits::default(),
        ponder: false,
    }
}

fn forever() -> ! {
    loop {
        sleep(Duration::from_secs(1000));
    }
}

/// Another process of ours, which keeps all the streams open.
fn child(mark: &str, mode: &str) -> process::Child {
    Program::new("/proc/self/exe").args([mode, mark]).spawn().unwrap()
}

fn say(text: &str) {
    say_bytes(format!("{text}\n").as_bytes());
}

fn say_bytes(bytes: &[u8]) {
    let mut output = io::stdout().lock();
    if output.write_all(bytes).and_then(|()| output.flush()).is_err() {
        process::exit(0);
    }
}

struct Faulty<'a> {
    mode: &'a str,
    mark: String,
    game: Game,
    /// How often it was asked for a move.
    asked: u32,
}

impl Faulty<'_> {
    fn run(&mut self) {
        match self.mode {
            "silent" => forever(),
            "crash" => process::exit(3),
            "exit" => process::exit(0),
            "chatter" => say("hello, I am a program\n\n=\n= 12 a1 a1\ninfo: 1 2 3"),
            "early" => say("=12 a1 a1\n=12 a1 a1"),
            "children" => (0..5).for_each(|_| drop(Program::new("sleep").args(["1000"]).arg0_mark(&self.mark))),
            "setsid" => (0..5).for_each(|_| drop(child(&self.mark, "__child"))),
            "daemons" => (0..20).for_each(|_| drop(child(&self.mark, "__daemon").wait())),
            _ => {}
        }
        for line in io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let Ok(command) = line.parse::<NumberedCommand>() else { continue };
            if self.mode == format!("crash-{}", command.id()) {
                process::exit(3);
            }
            if self.mode == format!("silent-{}", command.id()) {
                forever();
            }
            if self.mode == format!("refuse-{}", command.id()) {
                say(&format!("?{} I do not want to", command.id()));
                continue;
            }
            match &command {
                NumberedCommand::ResetBoard => self.game = Game::new(Rules::server()),
                NumberedCommand::Move { from, to } => self.play(Ply::Step { from: *from, to: *to }),
                NumberedCommand::Flip(square, piece) => self.play(Ply::Flip(*square, *piece)),
                NumberedCommand::GenMove(_) => {
                    self.asked += 1;
                    self.answer();
                    continue;
                }
                NumberedCommand::Quit if self.mode == "ignores-quit" => continue,
                NumberedCommand::Quit => {
                    say("=5");
                    return;
                }
                _ => {}
            }
            say(&format!("={}", command.id()));
            if self.mode == "twice" {
                say(&format!("={}", command.id()));
            }
        }
        if matches!(self.mode, "ignores-quit" | "setsid" | "children") {
            forever();
        }
    }

    /// Like many a program it trusts its server.
    fn play(&mut self, ply: Ply) {
        if let Err(error) = self.game.play(ply) {
            eprintln!("what a server: {error}");
            process::exit(4);
        }
    }

    /// A move of the kind that `mode` is about, as soon as there is one; something legal before.
    fn answer(&mut self) {
        let legal = pair(self.game.legal_moves()[self.asked as usize % self.game.legal_moves().len()]);
        if let Some(kind) = self.mode.strip_prefix("illegal-") {
            return say(&format!("=12 {}", illegal(&self.game, kind).unwrap_or(legal)));
        }
        if self.asked < 3 {
            return say(&format!("=12 {legal}"));
        }
        match self.mode {
            "late" => {
                sleep(Duration::from_millis(1500));
                say(&format!("=12 {legal}"));
            }
            "abort" => process::abort(),
            "exit-mid-game" => process::exit(0),
            "endless-line" => loop {
                say_bytes(&[b'x'; 4096]);
            },
            "endless-answer" => {
                say_bytes(b"=12 ");
                loop {
                    say_bytes(&[b'a'; 4096]);
                }
            }
            "flood" => loop {
                say_bytes(&b"=13 a1 a1\n".repeat(400));
            },
            "flood-stderr" => loop {
                eprintln!("I think, therefore I print");
            },
            "noisy-stderr" => {
                (0..10_000).for_each(|number| eprintln!("thought {number}"));
                say(&format!("=12 {legal}"));
            }
            "garbage" => {
                (0..100).for_each(|number| say(&format!("{number} bananas = 12 ?12garbage")));
                forever();
            }
            "binary" => {
                say_bytes(&(0..=255).cycle().take(10_000).collect::<Vec<u8>>());
                say("");
                forever();
            }
            "nul" => say(&format!("=12 \0{legal}")),
            "close-stdout" => {
                rustix::stdio::dup2_stdout(std::fs::File::open("/dev/null").unwrap()).unwrap();
                forever();
            }
            "close-stdin" => {
                rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null").unwrap()).unwrap();
                say(&format!("=12 {legal}"));
                forever();
            }
            "wrong-id" => say(&format!("=13 {legal}")),
            "twice" => say(&format!("=12 {legal}\n=12 {legal}")),
            "dribble" => {
                format!("=12 {legal}\n").bytes().for_each(|byte| {
                    say_bytes(&[byte]);
                    sleep(Duration::from_millis(2));
                });
            }
            "slow-dribble" => {
                format!("=12 {legal}\n").bytes().for_each(|byte| {
                    say_bytes(&[byte]);
                    sleep(Duration::from_millis(200));
                });
            }
            "resigns" => say("=12 a0 a0"),
            "pass" => say("=12 pass"),
            "empty" => say("=12"),
            "one-square" => say("=12 b8"),
            "three-squares" => say("=12 b8 b8 b8"),
            "dash" => say(&format!("=12 {}", legal.replace(' ', "-"))),
            "upper-case" => say(&format!("=12 {}", legal.to_uppercase())),
            "stops" => {
                rustix::process::kill_process(rustix::process::getpid(), rustix::process::Signal::STOP).unwrap();
            }
            "orphan" => {
                drop(child(&self.mark, "__child"));
                process::exit(1);
            }
            _ => say(&format!("=12 {legal}")),
        }
    }
}

trait Marked {
    fn arg0_mark(&mut self, mark: &str) -> process::Child;
}

/// A plain child in the same group, with the mark where `ps` shows it.
impl Marked for Program {
    fn arg0_mark(&mut self, mark: &str) -> process::Child {
        use std::os::unix::process::CommandExt;
        self.arg0(format!("sleep-{mark}")).spawn().unwrap()
    }
}

fn pair(mv: Move) -> String {
    match mv {
        Move::Flip(square) => format!("{square} {square}"),
        Move::Step { from, to } => format!("{from} {to}"),
    }
}

/// A move with just this against it.
fn illegal(game: &Game, kind: &str) -> Option<String> {
    if kind == "OffBoard" {
        return Some("e5 e6".to_owned());
    }
    let all = Square::all().flat_map(|from| {
        Square::all().map(move |to| if from == to { Move::Flip(from) } else { Move::Step { from, to } })
    });
    let found =
        all.into_iter().find(|&mv| Illegality::of(game, mv).is_some_and(|reason| format!("{reason:?}") == kind));
    found.map(pair)
}

/// Tells its port in a folder, and waits there until it may connect.
fn wait_in(folder: &str, arguments: &[String]) {
    let [.., port] = arguments else { panic!("no port") };
    std::fs::write(format!("{folder}/port"), format!("{port}\n")).unwrap();
    while !std::fs::exists(format!("{folder}/go")).unwrap() {
        sleep(Duration::from_millis(2));
    }
}

fn connect(arguments: &[String]) -> TcpStream {
    let [.., ip, port] = arguments else { panic!("no address") };
    TcpStream::connect(format!("{ip}:{port}")).unwrap()
}

/// Protocol B: right until the game begins.
fn packets(mode: &str, arguments: &[String]) {
    use anqi_protocol::packets::{read_packet, write_packet};
    if mode == "b-never-connects" {
        forever();
    }
    let mut stream = connect(arguments);
    if mode == "b-flood" {
        loop {
            if stream.write_all(&[1; 4096]).is_err() {
                return;
            }
        }
    }
    for word in ["/start", "/turn"] {
        read_packet(&mut stream).unwrap();
        write_packet(&mut stream, if mode == "b-wrong-word" { "/stop" } else { word }).unwrap();
    }
    match mode {
        "b-hangs-up" => {}
        "b-silent" => forever(),
        "b-off-board" => write_packet(&mut stream, "/flip 4 8").unwrap(),
        "b-illegal" => write_packet(&mut stream, "/move 0 0 0 1").unwrap(),
        "b-half-a-packet" => stream.write_all(&[10, 0, b'/']).unwrap(),
        _ => write_packet(&mut stream, "nonsense").unwrap(),
    }
    forever();
}

/// UCI: right until it is asked for a move.
fn uci(mode: &str) {
    for line in io::stdin().lock().lines() {
        let line = line.unwrap_or_default();
        match line.split(' ').next() {
            Some("uci") => {
                say("id name faulty\nuciok");
                if mode == "uci-deaf" {
                    forever();
                }
            }
            Some("isready") => say("readyok"),
            Some("go") => match mode {
                "uci-crash" => process::exit(3),
                "uci-nonsense" => say("bestmove e2e4q"),
                "uci-resigns" => say("info depth 1\nbestmove 0000"),
                "uci-flood" => loop {
                    say("info string x");
                },
                _ => forever(),
            },
            Some("quit") => return,
            _ => {}
        }
    }
}

/// A referee in the middle of a game with the program `arguments`, waiting to be killed.
fn referee(arguments: &[String]) {
    let spec = OutsideSpec::new(arguments.to_vec());
    let mut program = Outside::launch(&spec).unwrap();
    let (game, clock) = (Game::new(Rules::server()), Clock::default());
    program.start(&game, Seat::First, Some(clock)).unwrap();
    let left = Left { own: clock.base, other: clock.base };
    program.choose(&game, Some(left), &Limits::default()).unwrap();
    println!("playing");
    io::stdout().flush().unwrap();
    forever();
}
