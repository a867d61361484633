//! Every way to misbehave, each through [`Outside`]: the right fault, no waiting beyond the limit, nobody left behind.
//!
//! The long version, a hundred times each: `cargo test --release -p anqi-protocol --test faults -- --ignored --nocapture`.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use std::{fs, io, thread};

use anqi_engine::Limits;
use anqi_protocol::{Clock, Fault, Left, Outside, OutsideSpec, Protocol, supervise_with};
use anqi_rules::{Deal, Game, Rules, Seat, Seed, Termination};

const PROGRAM: &str = env!("CARGO_BIN_EXE_faulty-engine");

/// Mode, the fault's name (or `plays`), and what its text must contain.
const FAULTS: [(&str, &str, &str); 73] = [
    ("good", "plays", ""),
    ("chatter", "plays", ""),
    ("early", "plays", ""),
    ("twice", "plays", ""),
    ("dribble", "plays", ""),
    ("noisy-stderr", "plays", ""),
    ("ignores-quit", "plays", ""),
    ("children", "plays", ""),
    ("setsid", "plays", ""),
    ("daemons", "plays", ""),
    ("refuse-1", "plays", ""),
    ("refuse-15", "plays", ""),
    ("refuse-16", "plays", ""),
    ("silent", "silent", "1 name"),
    ("silent-1", "silent", "1 name"),
    ("silent-7", "silent", "7 reset_board"),
    ("silent-14", "silent", "14 ready"),
    ("silent-11", "silent", "11 flip"),
    ("silent-12", "late", "no move within 0.55 s"),
    ("crash", "crashed", "exit code 3"),
    ("exit", "crashed", "exit code 0"),
    ("crash-1", "crashed", "1 name"),
    ("crash-2", "crashed", "2 version"),
    ("crash-7", "crashed", "7 reset_board"),
    ("crash-15", "crashed", "15 time_settings"),
    ("crash-14", "crashed", "14 ready"),
    ("crash-12", "crashed", "12 genmove"),
    ("crash-11", "crashed", "11 flip"),
    ("crash-10", "crashed", "10 move"),
    ("crash-16", "crashed", "16 time_left"),
    ("exit-mid-game", "crashed", "exit code 0"),
    ("abort", "crashed", "signal 6"),
    ("orphan", "crashed", "exit code 1"),
    ("refuse-7", "refused", "?7 I do not want to"),
    ("refuse-10", "refused", "?10"),
    ("refuse-11", "refused", "?11"),
    ("refuse-12", "refused", "?12"),
    ("late", "late", ""),
    ("slow-dribble", "late", ""),
    ("garbage", "late", ""),
    ("binary", "late", ""),
    ("wrong-id", "late", ""),
    ("flood-stderr", "late", ""),
    ("stops", "late", ""),
    ("endless-line", "flood", "a line of more than 65536 bytes"),
    ("endless-answer", "flood", "a line of more than 65536 bytes"),
    ("flood", "flood", "4194304 bytes without an answer"),
    ("close-stdout", "closed", "output"),
    ("close-stdin", "closed", "input"),
    ("resigns", "resigned", ""),
    ("pass", "malformed", "\"=12 pass\""),
    ("empty", "malformed", "\"=12\""),
    ("one-square", "malformed", "\"=12 b8\""),
    ("three-squares", "malformed", "b8 b8 b8"),
    ("dash", "malformed", "-"),
    ("upper-case", "malformed", ""),
    ("nul", "malformed", ""),
    ("illegal-OffBoard", "illegal", "no such square"),
    ("illegal-NotFaceDown", "illegal", "nothing lies face down"),
    ("illegal-FaceDownPiece", "illegal", "a face-down piece cannot move"),
    ("illegal-EmptySquare", "illegal", "nothing stands there"),
    ("illegal-WrongColour", "illegal", "the opponent's"),
    ("illegal-OwnPiece", "illegal", "of its own"),
    ("illegal-FaceDownTarget", "illegal", "cannot be captured"),
    ("illegal-OutOfReach", "illegal", "out of reach"),
    ("illegal-NoScreen", "illegal", "over exactly one piece"),
    ("illegal-CannotTake", "illegal", "does not take"),
    ("b-good", "plays", ""),
    ("b-silent", "late", ""),
    ("b-off-board", "illegal", "no such square"),
    ("uci-good", "plays", ""),
    ("uci-crash", "crashed", "go"),
    ("uci-resigns", "resigned", ""),
];

/// Those that a referee meets before the game, and the rarer ones of the other protocols.
const MORE: [(&str, &str, &str); 9] = [
    ("b-never-connects", "silent", "connect"),
    ("b-hangs-up", "late", ""),
    ("b-flood", "malformed", "/start"),
    ("b-wrong-word", "malformed", "/stop"),
    ("b-illegal", "illegal", ""),
    ("b-half-a-packet", "late", ""),
    ("b-nonsense", "malformed", "nonsense"),
    ("uci-nonsense", "malformed", "e2e4q"),
    ("uci-flood", "flood", ""),
];

const PATIENCE: Duration = Duration::from_secs(2);
const CLOCK: Duration = Duration::from_millis(500);

static MARKS: AtomicUsize = AtomicUsize::new(0);

/// A word that no other process has.
fn mark() -> String {
    format!("mark-{}-{}", std::process::id(), MARKS.fetch_add(1, Ordering::Relaxed))
}

fn spec(mode: &str, mark: &str) -> OutsideSpec {
    supervise_with(PROGRAM);
    let mut spec = OutsideSpec::new([PROGRAM, mode, mark].map(str::to_owned).to_vec());
    spec.patience = PATIENCE;
    spec.protocol = match mode.split('-').next() {
        Some("b") => Protocol::Packets,
        Some("uci") => Protocol::Uci,
        _ => Protocol::Numbered,
    };
    spec
}

/// Processes that carry the mark.
fn marked(mark: &str) -> Vec<String> {
    let entries =
        fs::read_dir("/proc").unwrap().filter_map(|entry| fs::read(entry.unwrap().path().join("cmdline")).ok());
    let lines = entries.map(|line| String::from_utf8_lossy(&line).replace('\0', " "));
    lines.filter(|line| line.split(' ').any(|word| word.ends_with(mark))).collect()
}

/// Plays until the program does something wrong, against somebody who plays anything. Every move has the whole clock:
/// only a fault ends this early.
fn play(spec: &OutsideSpec, seat: Seat, seed: u64) -> Result<(), Fault> {
    let rules = Rules::server();
    let seed = Seed::from(seed);
    let (deal, mut game) = (Deal::new(&rules, &seed), Game::new(rules));
    let mut opponent = "random"
        .parse::<anqi_engine::PlayerSpec>()
        .unwrap()
        .build(seed.child("opponent"), &anqi_engine::Resources::default())
        .unwrap();
    // How fast a flood rises is not what is tested.
    let time = if spec.command[1].ends_with("flood") { Duration::from_secs(60) } else { CLOCK };
    let clock = Clock { base: time, increment: Duration::ZERO, moves: None };
    let mut program = Outside::launch(spec)?;
    program.start(&game, seat, Some(clock))?;
    while game.outcome().is_none() {
        let mv = if game.seat() == seat {
            program.choose(&game, Some(Left { own: time, other: time }), &Limits::default())?.0
        } else {
            opponent.choose(&game, &Limits::default(), &anqi_engine::Stop::default()).unwrap().mv
        };
        let ply = deal.resolve(mv).unwrap();
        game.play(ply).unwrap();
        program.played(&game, ply, Some(time))?;
    }
    program.finish(game.outcome().as_ref());
    program.close();
    Ok(())
}

fn check(&(mode, expected, text): &(&str, &str, &str), number: u64) {
    let mark = mark();
    // In protocol B the first player is asked at once; two of the kinds need a game that is under way.
    let seat = if mode.starts_with("b-") || number.is_multiple_of(2) { Seat::First } else { Seat::Second };
    let started = Instant::now();
    let result = play(&spec(mode, &mark), seat, number);
    let took = started.elapsed();
    let (name, message) = match &result {
        Ok(()) => ("plays", String::new()),
        Err(fault) => (fault.name(), fault.to_string()),
    };
    assert_eq!(name, expected, "{mode} {number}: {message}");
    assert!(message.contains(text), "{mode}: {message}");
    assert_eq!(marked(&mark), Vec::<String>::new(), "{mode} left somebody behind");
    // A machine may be slow, but nothing waits for ever.
    assert!(took < PATIENCE + Duration::from_secs(5) + Duration::from_secs(20), "{mode} took {took:?}");
    if let Err(fault) = result {
        let termination = match expected {
            "late" => Termination::Time,
            "resigned" => Termination::Resignation,
            _ => Termination::Forfeit,
        };
        assert_eq!(fault.termination(), termination, "{mode}");
    }
}

/// Most of the time they wait, so many can wait at once.
fn check_all(times: u64, threads: usize) {
    let cases: Vec<_> =
        (0..times).flat_map(|number| FAULTS.iter().chain(&MORE).map(move |case| (case, number))).collect();
    let next = AtomicUsize::new(0);
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((case, number)) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
                    check(case, *number);
                }
            });
        }
    });
}

fn resident_kilobytes() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn every_fault_is_found_and_cleaned_up() {
    check_all(1, 4);
}

#[test]
#[ignore = "several minutes: every fault a hundred times"]
fn every_fault_a_hundred_times() {
    check_all(1, 4);
    let before = resident_kilobytes();
    let started = Instant::now();
    check_all(100, 8);
    let growth = resident_kilobytes().saturating_sub(before);
    println!(
        "{} kinds, 100 times each, in {:.0} s: every fault as expected, nobody left behind, {growth} kB of memory more",
        FAULTS.len() + MORE.len(),
        started.elapsed().as_secs_f64()
    );
    assert!(growth < 16 * 1024, "{growth} kB");
}

#[test]
fn a_program_that_does_not_read_is_deaf() {
    let mark = mark();
    let mut spec = spec("uci-deaf", &mark);
    spec.options.push(("Thing".to_owned(), "x".repeat(200_000)));
    let fault = Outside::launch(&spec).unwrap_err();
    assert_eq!(fault.name(), "deaf", "{fault}");
    assert!(marked(&mark).is_empty());
}

#[test]
fn what_cannot_be_started_says_why() {
    supervise_with(PROGRAM);
    let fault = Outside::launch(&OutsideSpec::new(vec!["./no-such-program".to_owned()])).unwrap_err();
    assert_eq!(fault.to_string(), "cannot start ./no-such-program: No such file or directory (os error 2)");
    let fault = Outside::launch(&OutsideSpec::new(vec!["/".to_owned()])).unwrap_err();
    assert!(fault.to_string().contains("Permission denied"), "{fault}");
}

/// The port that a program writes into a file.
fn told(path: &Path) -> u16 {
    loop {
        match fs::read_to_string(path).unwrap_or_default().strip_suffix('\n') {
            Some(port) => return port.parse().unwrap(),
            None => thread::sleep(Duration::from_millis(2)),
        }
    }
}

/// Another process finds the port and connects before the program does: it is refused, and the program plays.
#[test]
fn another_process_that_connects_first_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let mut spec = spec("b-waits", folder.path().to_str().unwrap());
    spec.patience = Duration::from_secs(60);
    let (port, go) = (folder.path().join("port"), folder.path().join("go"));
    let intruder = thread::spawn(move || {
        let mut stream = TcpStream::connect(("127.0.0.1", told(&port))).unwrap();
        let _ = stream.write_all(b"\x06\0/start");
        assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)), "it is told something");
        fs::write(go, "").unwrap();
    });
    let mut program = Outside::launch(&spec).unwrap();
    intruder.join().unwrap();
    let mut game = Game::new(Rules::server());
    program.start(&game, Seat::First, Some(Clock::default())).unwrap();
    let left = Some(Left { own: CLOCK, other: CLOCK });
    let (mv, _) = program.choose(&game, left, &Limits::default()).unwrap();
    let ply = Deal::new(&Rules::server(), &Seed::from(1)).resolve(mv).unwrap();
    game.play(ply).unwrap();
    program.played(&game, ply, None).unwrap();
    assert!(program.last_words().contains(&"a connection of another process was refused".to_owned()));
    program.close();
}

/// A program that never connects, and another process that does: the report counts it.
#[test]
fn refused_connections_are_counted() {
    let folder = tempfile::tempdir().unwrap();
    let spec = spec("b-waits", folder.path().to_str().unwrap());
    let path = folder.path().join("port");
    let intruder = thread::spawn(move || {
        let port = told(&path);
        for _ in 0..3 {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
            assert!(matches!(stream.read(&mut [0]), Ok(0) | Err(_)));
        }
    });
    let fault = Outside::launch(&spec).unwrap_err();
    intruder.join().unwrap();
    assert_eq!(fault.name(), "silent");
    let told = "(connections of other processes, which were refused: 3)";
    assert!(fault.to_string().contains(told), "{fault}");
}

/// After a fault the next game has a fresh process; without one it has the same.
#[test]
fn the_next_game_goes_on() {
    let mark = mark();
    let game = Game::new(Rules::server());
    let left = Some(Left { own: CLOCK, other: CLOCK });
    let mut program = Outside::launch(&spec("resigns", &mark)).unwrap();
    for _ in 0..3 {
        program.start(&game, Seat::First, Some(Clock::default())).unwrap();
        for _ in 0..2 {
            program.choose(&game, left, &Limits::default()).unwrap();
        }
        assert_eq!(program.choose(&game, left, &Limits::default()), Err(Fault::Resigned));
        assert!(program.choose(&game, left, &Limits::default()).is_err()); // gone until the next start
        assert!(marked(&mark).is_empty());
    }
    let mut program = Outside::launch(&spec("good", &mark)).unwrap();
    let first = marked(&mark);
    for _ in 0..3 {
        program.start(&game, Seat::First, Some(Clock::default())).unwrap();
        program.choose(&game, left, &Limits::default()).unwrap();
        program.finish(None);
        assert_eq!(marked(&mark), first);
    }
    program.close();
    assert!(marked(&mark).is_empty());
}

/// The referee is killed with -9; neither the program nor its children survive, wherever they hide.
#[test]
fn nobody_survives_a_killed_referee() {
    for mode in ["good", "ignores-quit", "children", "setsid", "daemons"] {
        let mark = mark();
        let mut referee =
            Command::new(PROGRAM).args(["__referee", PROGRAM, mode, &mark]).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        let output = referee.stdout.take().unwrap();
        io::BufRead::read_line(&mut io::BufReader::new(output), &mut line).unwrap();
        assert_eq!(line, "playing\n");
        assert!(marked(&mark).len() >= 3, "{mode}: referee, supervisor and program: {:?}", marked(&mark));
        referee.kill().unwrap();
        referee.wait().unwrap();
        let deadline = Instant::now() + Duration::from_secs(10);
        while !marked(&mark).is_empty() {
            assert!(Instant::now() < deadline, "{mode}: {:?} survived", marked(&mark));
            thread::sleep(Duration::from_millis(5));
        }
    }
}

/// What a program receives is a function of what both players see: it is the same for two deals with the same history,
/// to the byte, until the flip that shows the difference.
#[test]
fn programs_hear_only_what_everybody_sees() {
    // The types say it already: no method of `Outside` takes a deal.
    let folder = tempfile::tempdir().unwrap();
    let heard = [1, 2].map(|seed| {
        let log = folder.path().join(format!("log-{seed}"));
        let mut spec = OutsideSpec::new([PROGRAM, "logs", log.to_str().unwrap()].map(str::to_owned).to_vec());
        supervise_with(PROGRAM);
        spec.patience = Duration::from_secs(10);
        let rules = Rules::server();
        let (deal, mut game) = (Deal::new(&rules, &Seed::from(seed)), Game::new(rules));
        let mut program = Outside::launch(&spec).unwrap();
        program.start(&game, Seat::First, Some(Clock::default())).unwrap();
        let left = Left { own: Duration::from_secs(100), other: Duration::from_secs(100) };
        let (mv, _) = program.choose(&game, Some(left), &Limits::default()).unwrap();
        let heard = fs::read(&log).unwrap();
        let ply = deal.resolve(mv).unwrap();
        game.play(ply).unwrap();
        program.played(&game, ply, Some(left.own)).unwrap();
        program.close();
        (heard, fs::read(&log).unwrap())
    });
    assert!(heard[0].0.ends_with(b"12 genmove unknown\n"));
    assert_eq!(heard[0].0, heard[1].0);
    assert_ne!(heard[0].1, heard[1].1); // the first flip shows two different pieces
}
