//! Mutated lines by the hundred thousand through the engine's loop: none ends it, each bad one is answered `?`, and
//! what is answered `?` has changed nothing.
//!
//! The long version: `cargo test --release -p anqi-protocol --test mutations -- --ignored --nocapture`.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{self, Read, Write};
use std::sync::{Arc, Mutex};

use anqi_engine::{Limits, PlayerSpec, Resources, Stop};
use anqi_protocol::numbered::{NAMES, NumberedCommand};
use anqi_protocol::{ServedEngine, serve};
use anqi_rules::{Deal, Game, Rules, Seed};
use rand_core::Rng;

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

/// A whole game as the server tells it, with everything else that it may ask in between.
fn server_lines(seed: u64) -> Vec<Vec<u8>> {
    let seed = Seed::from(seed);
    let mut player =
        "random".parse::<PlayerSpec>().unwrap().build(seed.child("player"), &Resources::default()).unwrap();
    let mut game = Game::new(Rules::server());
    let deal = Deal::new(game.rules(), &seed);
    let mut lines: Vec<String> =
        ["1 name", "2 version", "7 reset_board", "15 time_setting 900000", "14 ready"].map(str::to_owned).to_vec();
    lines.extend(
        ["3 known_command flip", "6 boardsize 4 8", "8 num_repetition 3", "9 num_moves_to_draw 60"].map(str::to_owned),
    );
    while let Some(choice) = player.choose(&game, &Limits::default(), &Stop::default()) {
        let ply = deal.resolve(choice.mv).unwrap();
        let color = game.position().turn().map_or("unknown", |color| color.name());
        lines.push(format!("12 genmove {color}"));
        lines.push(NumberedCommand::from(ply).to_string());
        game.play(ply).unwrap();
        lines.push("16 time_left red 800000".to_owned());
        if game.plies().len() == 40 {
            let board = anqi_protocol::numbered::InitBoard::of(game.position()).unwrap();
            lines.push(format!("18 init_board {board}"));
        }
    }
    lines.push("13 game_over draw".to_owned());
    lines.into_iter().map(String::into_bytes).collect()
}

struct Dice(Box<dyn Rng + Send>);

impl Dice {
    fn below(&mut self, bound: usize) -> usize {
        self.0.next_u32() as usize % bound.max(1)
    }

    /// One to four small accidents.
    fn mutated(&mut self, line: &[u8], other: &[u8]) -> Vec<u8> {
        let mut line = line.to_vec();
        for _ in 0..=self.below(4) {
            let at = self.below(line.len() + 1);
            match self.below(9) {
                0 if at < line.len() => line[at] ^= 1 << self.below(8),
                1 if at < line.len() => line[at] = self.below(256) as u8,
                2 if at < line.len() => drop(line.remove(at)),
                3 => line.insert(at, self.below(256) as u8),
                4 => line.truncate(at),
                5 => line.extend_from_slice(&other[self.below(other.len())..]),
                6 => line.splice(at..at, b" -1 99999999999 a9".iter().copied().take(self.below(18))).for_each(drop),
                7 if at + 1 < line.len() => line.swap(at, at + 1),
                8 if self.below(500) == 0 => line.extend(vec![b'z'; self.below(200_000)]),
                _ => line.insert(at, b' '),
            }
        }
        line.iter_mut().filter(|byte| **byte == b'\n').for_each(|byte| *byte = b' ');
        line
    }
}

/// Both ends of the talk. The engine reads the next line only when it has answered the last.
struct Tester {
    dice: Dice,
    /// Games, one line of which is sent as it is for every few that are mutated.
    lines: Vec<Vec<u8>>,
    next: usize,
    left: u64,
    /// What was sent and what came back since.
    sent: Vec<u8>,
    replies: Vec<String>,
    /// What `showboard` said last, and whether it must say it again.
    board: String,
    must_be_same: bool,
    phase: Phase,
    outgoing: Vec<u8>,
    refused: u64,
    accepted: u64,
}

#[derive(Clone, Copy, PartialEq)]
enum Phase {
    Before,
    Line,
    After,
}

impl Tester {
    fn new(seed: u64, count: u64) -> Tester {
        Tester {
            dice: Dice(Box::new(Seed::from(seed).child("mutations").rng())),
            lines: (0..20).flat_map(server_lines).collect(),
            next: 0,
            left: count,
            sent: Vec::new(),
            replies: Vec::new(),
            board: String::new(),
            must_be_same: false,
            phase: Phase::Before,
            outgoing: Vec::new(),
            refused: 0,
            accepted: 0,
        }
    }

    /// The next line to send; `None` at the end.
    fn step(&mut self) -> Option<Vec<u8>> {
        let replies = std::mem::take(&mut self.replies);
        match self.phase {
            Phase::Before => {
                self.phase = Phase::Line;
                Some(b"17 showboard".to_vec())
            }
            Phase::Line => {
                assert_eq!(replies.len(), 1, "one answer to showboard");
                let board = replies.concat();
                assert!(!self.must_be_same || board == self.board, "{:?} changed {} to {board}", self.sent, self.board);
                self.board = board;
                if self.left == 0 {
                    return None;
                }
                self.left -= 1;
                self.phase = Phase::After;
                let line = &self.lines[self.next % self.lines.len()];
                self.sent = if self.dice.below(3) == 0 {
                    self.next += 1;
                    line.clone()
                } else {
                    let other = &self.lines[self.dice.0.next_u32() as usize % self.lines.len()];
                    self.dice.mutated(line, other)
                };
                // Whoever says goodbye gets no answer to the next question.
                let text = String::from_utf8_lossy(&self.sent).into_owned();
                if text.parse() == Ok(NumberedCommand::Quit) {
                    self.sent = b"5 quip".to_vec();
                }
                Some(self.sent.clone())
            }
            Phase::After => {
                self.judge(&replies);
                self.must_be_same = !replies.concat().starts_with('=');
                self.phase = Phase::Before;
                self.step()
            }
        }
    }

    fn judge(&mut self, replies: &[String]) {
        let shown = String::from_utf8_lossy(&self.sent[..self.sent.len().min(200)]).into_owned();
        let good = is_well_written(&self.sent);
        let blank = std::str::from_utf8(&self.sent).is_ok_and(|text| text.trim_ascii().is_empty());
        if blank {
            assert!(replies.is_empty(), "{shown:?}: {replies:?}");
            return;
        }
        assert_eq!(replies.len(), 1, "{shown:?}: {replies:?}");
        let reply = &replies[0];
        assert!(reply.starts_with(['=', '?']) && reply.ends_with('\n'), "{shown:?}: {reply:?}");
        if reply.starts_with('=') {
            assert!(good, "{shown:?} is no command, but was answered {reply:?}");
            self.accepted += 1;
        } else {
            assert_eq!(reply.lines().count(), 1, "{shown:?}: {reply:?}");
            self.refused += 1;
        }
    }
}

/// The obvious test: a number, its name, and as many words as it takes.
fn is_well_written(line: &[u8]) -> bool {
    const WORDS: [usize; 19] = [0, 0, 0, 1, 0, 0, 2, 0, 1, 1, 2, 2, 1, usize::MAX, 0, 1, 2, 0, 46];
    let Ok(text) = std::str::from_utf8(line) else { return false };
    let words: Vec<&str> = text.split_ascii_whitespace().collect();
    let digits = words.first().filter(|word| word.bytes().all(|byte| byte.is_ascii_digit()));
    let Some(id) = digits.and_then(|word| (0..NAMES.len()).find(|id| word.trim_start_matches('0') == number(*id)))
    else {
        return false;
    };
    let named = words.get(1).is_some_and(|&name| name == NAMES[id] || (id, name) == (15, "time_setting"));
    named && line.len() <= 65_536 && (WORDS[id] == usize::MAX || words.len() == WORDS[id] + 2)
}

/// In digits, nothing for zero.
fn number(id: usize) -> String {
    if id == 0 { String::new() } else { id.to_string() }
}

#[derive(Clone)]
struct Ends(Arc<Mutex<Tester>>);

impl Read for Ends {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut tester = self.0.lock().unwrap();
        if tester.outgoing.is_empty() {
            let Some(mut line) = tester.step() else { return Ok(0) };
            line.push(b'\n');
            tester.outgoing = line;
        }
        let count = tester.outgoing.len().min(buffer.len());
        buffer[..count].copy_from_slice(&tester.outgoing[..count]);
        tester.outgoing.drain(..count);
        Ok(count)
    }
}

impl Write for Ends {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut tester = self.0.lock().unwrap();
        let reply = String::from_utf8_lossy(bytes).into_owned();
        tester.replies.push(reply);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn run(seed: u64, count: u64) -> (u64, u64) {
    let ends = Ends(Arc::new(Mutex::new(Tester::new(seed, count))));
    serve(&engine(), ends.clone(), ends.clone()).unwrap();
    let tester = ends.0.lock().unwrap();
    assert_eq!(tester.left, 0, "the engine ended before its time");
    (tester.accepted, tester.refused)
}

#[test]
fn a_hundred_thousand_mutated_lines() {
    let (accepted, refused) = run(1, 100_000);
    assert!(accepted > 20_000 && refused > 30_000, "{accepted} accepted, {refused} refused");
}

#[test]
#[ignore = "minutes: ten million lines"]
fn ten_million_mutated_lines() {
    let (accepted, refused) = run(2, 10_000_000);
    println!("10,000,000 lines: {accepted} accepted, {refused} refused, 0 exits, no refused line changed the board");
}

/// UCI has no answer to a bad line, but the engine is there after every one of them.
#[test]
fn mutated_uci_lines() {
    const LINES: [&str; 8] = [
        "isready",
        "ucinewgame",
        "setoption name MultiPV value 3",
        "position startpos moves b8b8G d8d8c",
        "position fen 2K1/4/4/4/4/4/4/p3 r - 12 57 moves c8c7",
        "go nodes 10",
        "go movetime 1 wtime 1000 btime 1000",
        "stop",
    ];
    let mut dice = Dice(Box::new(Seed::from(3).child("uci").rng()));
    let mut input = b"uci\n".to_vec();
    for _ in 0..20_000 {
        let [line, other] = [0, 1].map(|_| LINES[dice.below(LINES.len())].as_bytes());
        let line = dice.mutated(line, other);
        let quits = std::str::from_utf8(&line).is_ok_and(|text| text.trim_ascii() == "quit");
        if !quits {
            input.extend(line);
            input.push(b'\n');
        }
    }
    input.extend(b"stop\nisready\nd\n");
    let output = Arc::new(Mutex::new(Vec::new()));
    struct Shared(Arc<Mutex<Vec<u8>>>);
    impl Write for Shared {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().write(bytes)
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    serve(&engine(), io::Cursor::new(input), Shared(output.clone())).unwrap();
    let output = String::from_utf8(output.lock().unwrap().clone()).unwrap();
    let at_the_end: Vec<&str> = output.lines().rev().take(30).collect();
    assert!(at_the_end.contains(&"readyok"), "{at_the_end:?}");
    assert!(output.lines().filter(|line| line.starts_with("info string")).count() > 5_000);
}
