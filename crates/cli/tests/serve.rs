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
        Server::start_logging(games, args, Stdio::inherit())
    }

    fn start_logging(games: &Path, args: &[&str], log: Stdio) -> Server {
        let process = Command::new(env!("CARGO_BIN_EXE_anqi"))
            .args(["serve", "--json", "--no-open", "--games"])
            .arg(games)
            .args(args)
            .stdout(Stdio::piped())
            .stderr(log)
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

fn send(process: &Child, signal: rustix::process::Signal) {
    let id = rustix::process::Pid::from_raw(i32::try_from(process.id()).unwrap()).unwrap();
    rustix::process::kill_process(id, signal).unwrap();
}

/// Asked to end, a server tells its pages, stops its engines and ends well; and its log is free of what is secret.
#[test]
fn a_server_that_is_asked_to_end_does() {
    for (signal, format) in [(rustix::process::Signal::TERM, "json"), (rustix::process::Signal::INT, "text")] {
        let dir = tempfile::tempdir().unwrap();
        let log = fs::File::create(dir.path().join("log")).unwrap();
        let games = dir.path().join("games");
        let args = ["--port", "0", "--public", "--log-level", "debug", "--log-format", format];
        let mut server = Server::start_logging(&games, &args, log.into());
        let mut page = server.page();
        let game = page.ask(json!({ "type": "new", "first": "person", "second": "champion movetime=5" })).unwrap();
        let mv = game["shown"]["flips"][0].as_str().unwrap();
        assert_eq!(page.ask(json!({ "type": "play", "move": mv, "ply": 0 })).unwrap()["type"], "done");
        send(&server.process, signal);
        let closed = loop {
            match page.socket.read() {
                Ok(Message::Close(frame)) => break frame,
                Ok(_) => {}
                Err(error) => panic!("{error}"),
            }
        };
        assert_eq!(u16::from(closed.unwrap().code), 1001);
        assert_eq!(server.process.wait().unwrap().code(), Some(0));
        let log = fs::read_to_string(dir.path().join("log")).unwrap();
        assert!(log.contains("everything is on the disk"), "{log}");
        assert!(format == "text" || log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok()), "{log}");
        let name = game["game"].as_str().unwrap();
        let journal = fs::read_to_string(games.join(format!("{name}.journal"))).unwrap();
        assert_eq!(journal.lines().filter(|line| line.starts_with("entry")).count(), 1);
        let head = journal.lines().find(|line| line.starts_with("head")).unwrap();
        let head: Value = serde_json::from_str(&head[head.find('{').unwrap()..]).unwrap();
        for secret in [name, head["seed"].as_str().unwrap(), head["nonce"].as_str().unwrap()] {
            assert!(!log.contains(secret), "{log}");
        }
    }
}

/// Without enough files a server says so when it starts, with numbers.
#[test]
fn too_few_files_are_told() {
    let dir = tempfile::tempdir().unwrap();
    let start = |files: u32| {
        let line =
            format!("ulimit -n {files}; exec \"$0\" serve --no-open --port 0 --games \"$1\" --tables /nowhere/at/all");
        let mut shell = Command::new("sh");
        let output = shell.args(["-c", &line, env!("CARGO_BIN_EXE_anqi")]).arg(dir.path()).output().unwrap();
        assert_eq!(output.status.code(), Some(1));
        String::from_utf8(output.stderr).unwrap()
    };
    let told = start(400);
    assert!(
        told.contains("this process may open 400 files: 252 sockets at most are let in instead of 4,096"),
        "{told}"
    );
    assert!(told.contains("`ulimit -n 5525`") && told.contains("LimitNOFILE=5525"), "{told}");
    let told = start(100);
    assert!(told.contains("this process may open 100 files, a server needs 128 at least"), "{told}");
}

#[test]
fn what_a_network_needs_is_checked_at_the_start() {
    let dir = tempfile::tempdir().unwrap();
    for (args, expected) in [
        (&["--tls-cert", "chain.pem"][..], "--tls-key"),
        (
            &["--tls-cert", "/none/chain.pem", "--tls-key", "/none/key.pem"],
            "cannot read the certificate /none/chain.pem",
        ),
        (&["--allow-host", "https://banqi.example.org"], "is not the name of a host"),
        (&["--trust-proxy", "somewhere"], "is neither loopback, nor an address"),
        (&["--max-nodes", "0"], "--max-nodes"),
        (&["--metrics-address", "192.0.2.1:1"], "cannot listen on 192.0.2.1:1, see --metrics-address"),
    ] {
        let (output, error) = serve(dir.path(), &[&["--port", "0"], args].concat());
        assert!(!output.status.success() && error.contains(expected), "{error}");
    }
    // All who can reach a server without --public may open every game: that is said.
    let log = dir.path().join("log");
    let args = ["--port", "0", "--host", "0.0.0.0"];
    let server = Server::start_logging(dir.path(), &args, fs::File::create(&log).unwrap().into());
    drop(server.page());
    let told = fs::read_to_string(&log).unwrap();
    assert!(told.contains("WARN") && told.contains("on a network take --public"), "{told}");
}

/// Copies of a folder that a server uses, and what becomes of old games.
#[test]
fn games_are_copied_and_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let (games, copy) = (dir.path().join("games"), dir.path().join("copy"));
    let server = Server::start(&games);
    let game = server.page().ask(json!({ "type": "new", "first": "person", "second": "person" })).unwrap();
    let run = |args: &[&str], games: &Path| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anqi"));
        command.args(["--json", "games"]).args(args).arg("--games").arg(games).output().unwrap()
    };
    let copied = run(&["backup", copy.to_str().unwrap()], &games);
    let copied: Value = serde_json::from_slice(&copied.stdout).unwrap();
    assert_eq!((&copied["schema"], &copied["files"]), (&json!("anqi-games-backup-1"), &json!(1)));
    let again = run(&["backup", copy.to_str().unwrap()], &games);
    assert!(String::from_utf8(again.stderr).unwrap().contains("is there already; choose a folder that is empty"));
    let busy = run(&["prune", "--older-than", "1"], &games);
    assert!(String::from_utf8(busy.stderr).unwrap().contains("another process is at work in this folder"));
    drop(server);
    let back = dir.path().join("back");
    let restored = run(&["restore", copy.to_str().unwrap()], &back);
    assert_eq!(serde_json::from_slice::<Value>(&restored.stdout).unwrap()["files"], 1);
    let opened = Server::start(&back).page().ask(json!({ "type": "open", "game": game["game"] })).unwrap();
    assert_eq!(opened["commitment"], game["commitment"]);
    let journal = back.join(format!("{}.journal", game["game"].as_str().unwrap()));
    let old = std::time::SystemTime::now() - Duration::from_secs(3 * 86_400);
    fs::File::options().append(true).open(&journal).unwrap().set_modified(old).unwrap();
    for (args, is_there) in
        [(&["prune", "--older-than", "2", "--dry-run"][..], true), (&["prune", "--older-than", "2"], false)]
    {
        let pruned = run(args, &back);
        let pruned: Value = serde_json::from_slice(&pruned.stdout).unwrap();
        assert_eq!((&pruned["games"], journal.exists()), (&json!([game["game"]]), is_there));
    }
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
