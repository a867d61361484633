//! `anqi serve` as a process: killed at any moment, and full of pages.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anqi_rules::Seed;
use rand_core::Rng;
use serde_json::{Value, json};
use tungstenite::{Message, WebSocket};

struct Server {
    process: Child,
    port: u16,
}

impl Server {
    fn start(games: &Path) -> Server {
        Server::start_with(games, &["--port", "0"])
    }

    fn start_with(games: &Path, args: &[&str]) -> Server {
        let process = Command::new(env!("CARGO_BIN_EXE_anqi"))
            .args(["serve", "--json", "--no-open", "--games"])
            .arg(games)
            .args(args)
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        Server::of(process)
    }

    /// A process that serves a page, once it says where.
    fn of(mut process: Child) -> Server {
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let serving: Value = serde_json::from_str(&line).unwrap();
        let port = serving["url"].as_str().unwrap().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        Server { process, port }
    }

    fn page(&self) -> Page {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let (socket, _) = tungstenite::client::client(format!("ws://127.0.0.1:{}/socket", self.port), stream).unwrap();
        Page { socket, number: 0 }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

struct Page {
    socket: WebSocket<TcpStream>,
    number: u64,
}

impl Page {
    /// The next message; none if the server is gone.
    fn hear(&mut self) -> Option<Value> {
        loop {
            match self.socket.read() {
                Ok(Message::Text(text)) => return serde_json::from_str(&text).ok(),
                Ok(Message::Close(_)) | Err(_) => return None,
                Ok(_) => {}
            }
        }
    }

    fn ask(&mut self, mut request: Value) -> Option<Value> {
        self.number += 1;
        request["re"] = self.number.into();
        self.socket.send(Message::text(request.to_string())).ok()?;
        loop {
            let heard = self.hear()?;
            if heard["re"] == self.number {
                return Some(heard);
            }
        }
    }
}

/// `anqi serve` with these arguments, which is expected to end by itself.
fn serve(games: &Path, args: &[&str]) -> (Output, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_anqi"))
        .args(["serve", "--json", "--no-open", "--games"])
        .arg(games)
        .args(args)
        .output()
        .unwrap();
    let error = String::from_utf8(output.stderr.clone()).unwrap();
    (output, error)
}

#[test]
fn the_page_of_a_folder_is_opened_again() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let (output, error) = serve(dir.path(), &[]);
    assert!(output.status.success(), "{error}");
    let serving: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(serving["url"], format!("http://127.0.0.1:{}/", server.port));
    assert_eq!(serving["served_by"], server.process.id());

    // Another port was asked for: that cannot be had, and who has the folder is said.
    let (output, error) = serve(dir.path(), &["--port", "0"]);
    assert_eq!(output.status.code(), Some(1));
    let holder = format!("process {} at http://127.0.0.1:{}/", server.process.id(), server.port);
    assert!(error.contains(&holder) && error.contains("--games"), "{error}");
}

/// A folder that is locked, and whose server does not answer, is not opened: by a server that ended without a trace of
/// the program that has the lock, or by another one at its address.
#[test]
fn a_folder_whose_server_does_not_answer_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    drop(Server::start(dir.path()));
    let lock = fs::File::options().write(true).open(dir.path().join("lock")).unwrap();
    lock.lock().unwrap();
    let (output, error) = serve(dir.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("another server (process "), "{error}");

    let elsewhere = tempfile::tempdir().unwrap();
    let other = Server::start(elsewhere.path());
    let file = dir.path().join("server.json");
    let mut holder: Value = serde_json::from_slice(&fs::read(&file).unwrap()).unwrap();
    holder["address"] = format!("127.0.0.1:{}", other.port).into();
    fs::write(&file, holder.to_string()).unwrap();
    assert_eq!(serve(dir.path(), &[]).0.status.code(), Some(1));

    fs::write(&file, "no JSON").unwrap();
    let (output, error) = serve(dir.path(), &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains("another server keeps the games in"), "{error}");
}

#[test]
fn a_port_that_is_taken() {
    // If the usual port is taken already, that serves as well.
    let _taken = TcpListener::bind(("127.0.0.1", 8064));
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start_with(dir.path(), &[]);
    assert!((8065..8164).contains(&server.port), "{}", server.port);
    server.page();

    let port = server.port.to_string();
    let (output, error) = serve(tempfile::tempdir().unwrap().path(), &["--port", &port]);
    assert_eq!(output.status.code(), Some(1));
    assert!(error.contains(&format!("cannot listen on 127.0.0.1:{port}")), "{error}");
}

/// A table that another process shortens under a running page: the page goes on without tables and says so.
#[test]
fn a_table_that_is_shortened_does_not_end_the_page() {
    let (games, tables) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    let built = Command::new(env!("CARGO_BIN_EXE_anqi"))
        .args(["endgame", "build", "--flavour", "conversion-60", "GR-mnc", "--dir"])
        .arg(tables.path())
        .output()
        .unwrap();
    assert!(built.status.success(), "{}", String::from_utf8_lossy(&built.stderr));
    let table = fs::read_dir(tables.path()).unwrap().map(|entry| entry.unwrap().path());
    let table = table.max_by_key(|path| fs::metadata(path).unwrap().len()).unwrap();

    let mut process = Command::new(env!("CARGO_BIN_EXE_anqi"))
        .args(["serve", "--json", "--no-open", "--port", "0", "--games"])
        .arg(games.path())
        .args(["--tables-cache", "1", "--tables"])
        .arg(tables.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = BufReader::new(process.stderr.take().unwrap());
    let server = Server::of(process);
    let mut page = server.page();
    let mut analyse = |position: &str| {
        let new = json!({ "type": "new", "first": "person", "second": "person", "position": position });
        assert_eq!(page.ask(new).unwrap()["type"], "game");
        assert_eq!(page.ask(json!({ "type": "analyse", "ply": 0, "nodes": 1000 })).unwrap()["type"], "done");
        while page.hear().unwrap()["type"] != "analysis" {}
    };
    analyse("4/4/G3/4/4/1c2/2mn/R3 r -");
    fs::File::options().write(true).open(&table).unwrap().set_len(4096).unwrap();
    analyse("R3/4/4/4/n3/4/4/G1mc r -");
    analyse("n1R1/4/4/1c2/4/4/m3/3G b -");
    let mut line = String::new();
    stderr.read_line(&mut line).unwrap();
    let name = table.file_name().unwrap().to_str().unwrap();
    assert!(line.starts_with("playing without tables: ") && line.contains(name), "{line}");
    assert!(line.contains("is damaged: the file was shortened after it was opened"), "{line}");
}

fn plies(game: &Value) -> Vec<String> {
    game["plies"].as_array().unwrap().iter().map(|ply| ply.as_str().unwrap().to_owned()).collect()
}

fn any_move(game: &Value, rng: &mut impl Rng) -> String {
    let shown = &game["shown"];
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let flips = shown["flips"].as_array().unwrap().iter().map(text);
    let steps = shown["steps"].as_object().unwrap().iter();
    let steps =
        steps.flat_map(|(from, to)| to.as_array().unwrap().iter().map(move |to| format!("{from}-{}", text(to))));
    let all: Vec<String> = flips.chain(steps).collect();
    all[rng.next_u32() as usize % all.len()].clone()
}

/// Kills the server again and again while somebody plays. What was acknowledged is there afterwards.
fn kill(times: u32) {
    let dir = tempfile::tempdir().unwrap();
    let mut rng = Seed::from(11).rng();
    let mut open: Option<String> = None;
    let mut acknowledged: Vec<String> = Vec::new();
    let (mut total, mut finished) = (0, 0);
    for _ in 0..times {
        let mut server = Server::start(dir.path());
        let mut page = server.page();
        let (process, pause) = (server.process.id(), Duration::from_micros(u64::from(rng.next_u32() % 150_000)));
        let killer = thread::spawn(move || {
            thread::sleep(pause);
            let process = rustix::process::Pid::from_raw(i32::try_from(process).unwrap()).unwrap();
            rustix::process::kill_process(process, rustix::process::Signal::KILL).unwrap();
        });
        let _ = (|| -> Option<()> {
            loop {
                let mut game = match &open {
                    Some(id) => page.ask(json!({ "type": "open", "game": id }))?,
                    None => page.ask(json!({ "type": "new", "first": "person", "second": "person" }))?,
                };
                open = Some(game["game"].as_str().unwrap().to_owned());
                let found = plies(&game);
                assert!(found.starts_with(&acknowledged), "{acknowledged:?} became {found:?}");
                assert!(found.len() <= acknowledged.len() + 1);
                acknowledged = found;
                while game["outcome"].is_null() {
                    let mv = any_move(&game, &mut rng);
                    let ply = acknowledged.len();
                    let done = page.ask(json!({ "type": "play", "move": mv, "ply": ply }))?;
                    assert_eq!(done["type"], "done");
                    total += 1;
                    // The ply's text comes with the view; until then a place is kept for it.
                    game = loop {
                        let heard = page.hear();
                        match heard {
                            Some(view) if view["type"] == "game" && plies(&view).len() > ply => break view,
                            Some(_) => {}
                            None => {
                                acknowledged.push(mv.clone());
                                return None;
                            }
                        }
                    };
                    acknowledged = plies(&game);
                }
                finished += 1;
                open = None;
                acknowledged.clear();
            }
        })();
        killer.join().unwrap();
        server.process.wait().unwrap();
        // A flip that was acknowledged, but not yet seen, begins with its square.
        if let (Some(last), Some(id)) = (acknowledged.last().cloned(), &open)
            && !last.contains('-')
            && !last.contains('(')
        {
            let again = Server::start(dir.path());
            let game = again.page().ask(json!({ "type": "open", "game": id })).unwrap();
            let found = plies(&game);
            assert!(found.len() >= acknowledged.len() && found[acknowledged.len() - 1].starts_with(&last));
            acknowledged = found;
            if !game["outcome"].is_null() {
                (open, acknowledged) = (None, Vec::new());
            }
        }
    }
    drop(Server::start(dir.path()));
    let files: Vec<_> = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().path()).collect();
    let with =
        |extension: &'static str| files.iter().filter(move |path| path.extension().is_some_and(|e| e == extension));
    assert_eq!(with("part").next(), None, "a start takes away what kills left half written");
    for path in with("anqi") {
        let record = fs::read_to_string(path).unwrap().parse().unwrap();
        anqi_play::verify(&record).unwrap();
    }
    println!("{times} kills, {total} moves acknowledged, {finished} games finished, nothing lost");
}

#[test]
fn kills_lose_nothing() {
    kill(4);
}

#[test]
#[ignore = "long: ANQI_KILLS kills"]
fn many_kills_lose_nothing() {
    kill(env::var("ANQI_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(200));
}

fn resident(process: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

/// A thousand pages, a hundred of them playing a level: no page is let go, and every click is answered.
#[test]
#[ignore = "long: a thousand pages"]
fn a_thousand_pages() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path());
    let process = server.process.id();
    drop(server.page());
    let before = resident(process);
    let mut idle: Vec<Page> = (0..1000).map(|_| server.page()).collect();
    // A page answers pings when it reads.
    idle.iter_mut().for_each(|page| drop(page.ask(json!({ "type": "hello" })).unwrap()));
    thread::sleep(Duration::from_secs(1));
    let each = (resident(process).saturating_sub(before)) / 1000;

    let mut playing: Vec<(Page, Value)> = (0..100)
        .map(|_| {
            let mut page = server.page();
            let game = page.ask(json!({ "type": "new", "first": "person", "second": "level:1" })).unwrap();
            (page, game)
        })
        .collect();
    let mut analyst = server.page();
    analyst.ask(json!({ "type": "new", "first": "person", "second": "person" })).unwrap();
    let mut rng = Seed::from(12).rng();
    let (mut took, mut replies) = (Vec::new(), Vec::new());
    let begun = Instant::now();
    while begun.elapsed() < Duration::from_secs(30) {
        analyst.ask(json!({ "type": "analyse", "ply": 0 })).unwrap();
        for (page, game) in &mut playing {
            if !game["outcome"].is_null() {
                *game = page.ask(json!({ "type": "new", "first": "person", "second": "level:1" })).unwrap();
            }
            let ply = plies(game).len();
            let asked = Instant::now();
            let done = page.ask(json!({ "type": "play", "move": any_move(game, &mut rng), "ply": ply })).unwrap();
            took.push(asked.elapsed());
            assert_eq!(done["type"], "done");
            while plies(game).len() == ply || !game["yourTurn"].as_bool().unwrap() && game["outcome"].is_null() {
                *game = page.hear().unwrap();
            }
            replies.push(asked.elapsed());
        }
        // Reading answers the pings that have come meanwhile.
        for page in &mut idle {
            page.ask(json!({ "type": "hello" })).unwrap();
        }
    }
    println!("1,000 idle pages ({each} bytes each), 100 games against level 1, an analysis running:");
    for (what, times) in [("clicks answered", &mut took), ("replies of the level", &mut replies)] {
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize];
        println!("{} {what}: median {:?}, p99 {:?}, longest {:?}", times.len(), at(0.5), at(0.99), at(1.0));
    }
    assert!(each < 16 * 1024, "{each} bytes a page");
}
