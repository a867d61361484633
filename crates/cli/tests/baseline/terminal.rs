//! `anqi play` in a real terminal: what is on the screen after each step, and the record that is saved.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File, OpenOptions};
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use anqi_rules::{Game, Move, Rules, Seed, Square};
use rand_core::Rng;
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

use crate::games::without_new_tags;
use crate::support::{as_meant, compare_lines, program};

const ROWS: u16 = 30;
const COLUMNS: u16 = 120;

/// The program in a terminal of its own.
struct Terminal {
    child: Child,
    keys: File,
    screen: Arc<Mutex<vt100::Parser>>,
}

impl Terminal {
    fn start(dir: &Path, args: &str) -> Terminal {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        tcsetwinsize(&master, Winsize { ws_row: ROWS, ws_col: COLUMNS, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap().into_string().unwrap();
        let slave = || OpenOptions::new().read(true).write(true).open(&name).unwrap();
        // The program asks its controlling terminal for the size of the screen.
        let mut command = Command::new("setsid");
        command.args(["--ctty", "--wait"]).arg(program()).arg("play").args(args.split(' '));
        command.current_dir(dir).env("TERM", "xterm-256color").env("XDG_DATA_HOME", dir);
        let child = command.stdin(slave()).stdout(slave()).stderr(slave()).spawn().unwrap();
        let screen = Arc::new(Mutex::new(vt100::Parser::new(ROWS.try_into().unwrap(), COLUMNS.try_into().unwrap(), 0)));
        let keys = File::from(master);
        let (mut output, shown) = (keys.try_clone().unwrap(), Arc::clone(&screen));
        thread::spawn(move || {
            let mut bytes = [0; 4096];
            // Reading fails when the program has gone.
            while let Ok(count @ 1..) = output.read(&mut bytes) {
                shown.lock().unwrap().process(&bytes[..count]);
            }
        });
        Terminal { child, keys, screen }
    }

    fn text(&self) -> String {
        let shown = self.screen.lock().unwrap();
        shown.screen().contents()
    }

    /// Squares that are marked by a background, by its colour.
    fn marks(&self) -> String {
        let shown = self.screen.lock().unwrap();
        let mut marked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for row in 0..ROWS {
            for column in 0..COLUMNS {
                let cell = shown.screen().cell(row, column).unwrap();
                // A square is five columns wide.
                if cell.bgcolor() != vt100::Color::Default && column % 5 == 3 {
                    marked.entry(format!("{:?}", cell.bgcolor())).or_default().push(format!("{row},{column}"));
                }
            }
        }
        marked.into_iter().map(|(color, cells)| format!("{color}: {}", cells.join(" "))).collect::<Vec<_>>().join("; ")
    }

    /// Types keys and waits for a text, and until the whole screen has been drawn.
    fn type_until(&mut self, keys: &str, is_there: impl Fn(&str) -> bool) {
        self.keys.write_all(keys.as_bytes()).unwrap();
        let started = Instant::now();
        let mut before = String::new();
        loop {
            thread::sleep(Duration::from_millis(60));
            let text = self.text();
            if is_there(&text) && text == before {
                return;
            }
            assert!(started.elapsed() < Duration::from_secs(60), "after {keys:?} the screen stays\n{text}");
            before = text;
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A person at a terminal, who sees the board and knows the rules.
struct Person {
    terminal: Terminal,
    game: Game,
    cursor: Square,
    told: String,
}

impl Person {
    fn start(dir: &Path, rules: &str, args: &str) -> Person {
        let rules: Rules = rules.parse().unwrap();
        let terminal = Terminal::start(dir, args);
        Person { terminal, game: Game::new(rules), cursor: Square::new(0, 0).unwrap(), told: String::new() }
    }

    /// Types keys, waits until so many plies have been played, and notes the screen.
    fn step(&mut self, keys: &str, what: &str, is_there: impl Fn(&str) -> bool) {
        self.terminal.type_until(keys, is_there);
        let text = self.terminal.text();
        writeln!(self.told, "== {what}\n{text}\nmarked: {}\n", self.terminal.marks()).unwrap();
        let (count, plies) = shown_plies(&text).unwrap();
        while self.game.plies().len() > count {
            self.game.take_back();
        }
        let known = self.game.plies().len();
        for ply in &plies[plies.len() - (count - known)..] {
            self.game.play(ply.parse().unwrap()).unwrap();
        }
    }

    fn go_to(&mut self, square: Square) -> String {
        let across = i32::from(square.file()) - i32::from(self.cursor.file());
        let up = i32::from(square.rank()) - i32::from(self.cursor.rank());
        self.cursor = square;
        let arrow = |count: i32, more: &str, less: &str| {
            if count > 0 { more } else { less }.repeat(count.unsigned_abs() as usize)
        };
        arrow(across, "\x1b[C", "\x1b[D") + &arrow(up, "\x1b[A", "\x1b[B")
    }

    /// Plays a move that depends on the game alone; `plies` are played until it is the person's turn again.
    fn play(&mut self, plies: usize) {
        let moves = self.game.legal_moves();
        let history: Vec<String> = self.game.plies().iter().map(ToString::to_string).collect();
        let mut rng = Seed::from(5).child(history.join(" ").as_str()).rng();
        let mv = moves[rng.next_u32() as usize % moves.len()];
        let keys = match mv {
            Move::Flip(square) => self.go_to(square) + "\r",
            Move::Step { from, to } => self.go_to(from) + "\r" + &self.go_to(to) + "\r",
        };
        let expected = self.game.plies().len() + plies;
        self.step(&keys, &format!("{mv}"), |text| {
            count_of(text) == Some(expected) && !text.contains("thinking") || is_over(text)
        });
    }

    fn is_over(&self) -> bool {
        is_over(&self.terminal.text())
    }
}

/// The seed is told when a game is over.
fn is_over(text: &str) -> bool {
    text.contains("its seed:")
}

/// How many plies were played, and the last ones of them: `12 plies: c4(k) …`.
fn shown_plies(text: &str) -> Option<(usize, Vec<&str>)> {
    text.lines().find_map(|line| {
        let (before, plies) = line.split_once(" plies: ").or(line.split_once(" plies:"))?;
        let count = before.rsplit([' ', '│']).next()?.parse().ok()?;
        Some((count, plies.split_whitespace().filter(|word| word.is_ascii()).collect()))
    })
}

fn count_of(text: &str) -> Option<usize> {
    shown_plies(text).map(|(count, _)| count)
}

/// Texts that were reworded since, each with its reason.
const REWORDED: [(&str, &str); 0] = [];

/// The record has what every record of the page has: how many plies were taken back.
fn normalise(text: &str) -> String {
    let lines = without_new_tags(text);
    let text = lines.split_inclusive('\n').filter(|line| !line.starts_with("[TakeBacks ")).collect::<String>();
    REWORDED.iter().fold(text, |text, (then, now)| text.replace(then, now))
}

#[test]
fn two_people_see_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let rules = "server,board=2x4";
    let mut person =
        Person::start(dir.path(), rules, "--two --letters --seed 7 --rules server,board=2x4 --save game.anqi");
    person.step("", "the beginning", |text| count_of(text) == Some(0));
    (0..5).for_each(|_| person.play(1));
    person.step("u", "taken back", |text| count_of(text) == Some(4));
    person.step("f", "Chinese faces", |text| text.contains('〇'));
    for _ in 0..200 {
        if person.is_over() {
            break;
        }
        person.play(1);
    }
    assert!(person.is_over());
    person.terminal.keys.write_all(b"q").unwrap();
    assert!(person.terminal.child.wait().unwrap().success());
    person.told.push_str(&fs::read_to_string(dir.path().join("game.anqi")).unwrap());
    compare_lines("terminal-two.txt", &person.told, normalise);
}

#[test]
fn a_person_and_a_player_see_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let args = as_meant("--against chen:var1,table=1 --second --seed 9 --rules chen --save game.anqi");
    let mut person = Person::start(dir.path(), &as_meant("chen"), &args);
    person.step("", "the player begins", |text| count_of(text) == Some(1) && !text.contains("thinking"));
    (0..6).for_each(|_| person.play(2));
    person.step("u", "taken back", |text| count_of(text) == Some(11));
    let marks = person.terminal.marks();
    person.terminal.keys.write_all(b"h").unwrap();
    let started = Instant::now();
    while person.terminal.marks() == marks {
        assert!(started.elapsed() < Duration::from_secs(60), "no hint comes");
        thread::sleep(Duration::from_millis(20));
    }
    person.step("", "a hint", |_| true);
    person.play(2);
    person.step("r", "resigned", is_over);
    person.terminal.keys.write_all(b"q").unwrap();
    assert!(person.terminal.child.wait().unwrap().success());
    person.told.push_str(&fs::read_to_string(dir.path().join("game.anqi")).unwrap());
    compare_lines("terminal-player.txt", &person.told, normalise);
}
