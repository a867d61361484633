//! Talks with our engine, and reports about engines, in `tests/golden`.
//!
//! In `a-*`, `b-*` and `uci-*` lines after `> ` are sent (in `b-*` as packets), `#` starts a comment, `= ` at the top
//! names the player, and everything else is what comes back. `UPDATE=1 cargo test` writes the answers anew.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};
use std::{env, fs};

use anqi_engine::{Limits, Resources};
use anqi_protocol::packets::{read_packet, write_packet};
use anqi_protocol::uci::UciCommand;
use anqi_protocol::{CheckPlan, Clock, OutsideSpec, ServedEngine, check_engine, serve, serve_packets, supervise_with};
use anqi_rules::{Rules, Seed};

/// What was said by both sides, in order.
#[derive(Clone, Default)]
struct Log(Arc<(Mutex<String>, Condvar)>);

impl Log {
    fn add(&self, text: &str) {
        self.0.0.lock().unwrap().push_str(text);
        self.0.1.notify_all();
    }

    fn count(&self, word: &str) -> usize {
        self.0.0.lock().unwrap().lines().filter(|line| line.starts_with(word)).count()
    }

    /// Waits until more than `before` lines start with `word`.
    fn wait_for(&self, word: &str, before: usize) {
        let more = |text: &mut String| text.lines().filter(|line| line.starts_with(word)).count() <= before;
        drop(self.0.1.wait_while(self.0.0.lock().unwrap(), more).unwrap());
    }

    fn text(&self) -> String {
        self.0.0.lock().unwrap().clone()
    }
}

impl Write for Log {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.add(&String::from_utf8_lossy(bytes));
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Hands out one line after another, the next only when the last is answered.
struct Script {
    lines: std::vec::IntoIter<String>,
    log: Log,
    uci: bool,
    /// What UCI waits for: a word, and how often it was there.
    awaited: Option<(&'static str, usize)>,
    /// Sent to know that everything before is done, and not written down.
    probe: bool,
}

impl Read for Script {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some((word, before)) = self.awaited.take() {
            self.log.wait_for(word, before);
        }
        let text = if std::mem::take(&mut self.probe) {
            self.awaited = Some(("readyok", self.log.count("readyok")));
            "isready\n".to_owned()
        } else {
            let Some(line) = self.lines.next() else { return Ok(0) };
            self.log.add(&format!("> {line}\n"));
            let thinks = match line.parse() {
                Ok(UciCommand::Go(go)) => go.is_bounded(),
                command => command == Ok(UciCommand::Stop),
            };
            if self.uci && thinks {
                self.awaited = Some(("bestmove", self.log.count("bestmove")));
            } else if line == "isready" {
                self.awaited = Some(("readyok", self.log.count("readyok")));
            } else if self.uci && line != "quit" {
                self.probe = true;
            }
            line.replace("\\0", "\0").replace("\\xff", "\u{fffd}") + "\n"
        };
        // U+FFFD stands for a byte that no text has.
        let mut bytes = Vec::new();
        for part in text.split_inclusive('\u{fffd}') {
            bytes.extend(part.trim_end_matches('\u{fffd}').bytes());
            bytes.extend(part.ends_with('\u{fffd}').then_some(0xff));
        }
        buffer[..bytes.len()].copy_from_slice(&bytes);
        Ok(bytes.len())
    }
}

/// Packets in, packets out.
struct Wire {
    script: std::vec::IntoIter<String>,
    incoming: Vec<u8>,
    outgoing: Vec<u8>,
    log: Log,
}

impl Read for Wire {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.incoming.is_empty()
            && let Some(line) = self.script.next()
        {
            self.log.add(&format!("> {line}\n"));
            write_packet(&mut self.incoming, &line)?;
        }
        let count = self.incoming.len().min(buffer.len());
        buffer[..count].copy_from_slice(&self.incoming[..count]);
        self.incoming.drain(..count);
        Ok(count)
    }
}

impl Write for Wire {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.outgoing.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        while let Some(packet) = read_packet(&mut self.outgoing.drain(..).collect::<Vec<u8>>().as_slice())? {
            self.log.add(&format!("{packet}\n"));
        }
        Ok(())
    }
}

/// Times are never twice the same.
fn without_times(text: &str) -> String {
    let mut words: Vec<String> = Vec::new();
    for word in text.split(' ') {
        let timed = words.last().is_some_and(|last| last == "nps" || last == "time");
        words.push(if timed { "*".to_owned() } else { word.to_owned() });
    }
    // A search that took no time has no speed.
    words.join(" ").replace(" nps *", "")
}

fn answered(name: &str, text: &str) -> String {
    let header: Vec<&str> = text.lines().take_while(|line| line.starts_with(['#', '='])).collect();
    let player = header.iter().find_map(|line| line.strip_prefix("= ")).unwrap_or("random");
    let engine = ServedEngine {
        player: player.parse().unwrap(),
        resources: Resources::default(),
        seed: Seed::from(1),
        rules: Rules::server(),
        limits: Limits::default(),
        ponder: false,
    };
    let lines: Vec<String> = text.lines().filter_map(|line| line.strip_prefix("> ")).map(str::to_owned).collect();
    let log = Log::default();
    if name.starts_with("b-") {
        let wire = Wire { script: lines.into_iter(), incoming: Vec::new(), outgoing: Vec::new(), log: log.clone() };
        serve_packets(&engine, wire, log.clone()).unwrap();
    } else {
        let uci = name.starts_with("uci-");
        let script = Script { lines: lines.into_iter(), log: log.clone(), uci, awaited: None, probe: false };
        serve(&engine, script, log.clone()).unwrap();
    }
    let body: Vec<String> = log.text().lines().filter(|line| *line != "readyok").map(without_times).collect();
    format!("{}\n{}\n", header.join("\n"), body.join("\n"))
}

fn compare(path: &Path, actual: &str) {
    if env::var_os("UPDATE").is_some() {
        fs::write(path, actual).unwrap();
    } else {
        let expected = fs::read_to_string(path).unwrap_or_default();
        for (number, (actual, expected)) in actual.lines().zip(expected.lines()).enumerate() {
            assert_eq!(actual, expected, "\n{}:{} (UPDATE=1 accepts)", path.display(), number + 1);
        }
        assert_eq!(actual, expected, "\n{} (UPDATE=1 accepts)", path.display());
    }
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden")
}

#[test]
fn talks() {
    let mut checked = 0;
    for entry in fs::read_dir(folder()).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !name.starts_with("check-") {
            compare(&path, &answered(&name, &fs::read_to_string(&path).unwrap()));
            checked += 1;
        }
    }
    assert!(checked >= 7, "only {checked}");
}

#[test]
fn reports() {
    const PROGRAM: &str = env!("CARGO_BIN_EXE_faulty-engine");
    supervise_with(PROGRAM);
    for (mode, proto) in [
        ("good", "a"),
        ("uci-good", "uci"),
        ("b-good", "b"),
        ("crash-12", "a"),
        ("illegal-CannotTake", "a"),
        ("ignores-quit", "a"),
        ("silent", "a"),
        ("uci-resigns", "uci"),
    ] {
        let spec: OutsideSpec = format!("cmd=\"{PROGRAM} {mode}\" proto={proto} patience=5").parse().unwrap();
        let plan = CheckPlan { games: 4, clock: Clock::default(), seed: Seed::from(1) };
        let mut report = check_engine(&spec, &plan);
        report.program = spec.to_string().replace(PROGRAM, "faulty-engine");
        report.findings.iter_mut().for_each(|finding| finding.times = None);
        compare(&folder().join(format!("check-{mode}.txt")), &report.to_string());
    }
}
