//! Floods of the real server, measured from the side of visitors who only want to play. Others come from many addresses of
//! 127.0.0.0/8. The short forms, with what must hold in each, are in `crates/web/tests/hostile`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::env;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

struct Server {
    process: Child,
    port: u16,
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

impl Server {
    fn start(games: &std::path::Path, args: &[&str]) -> Server {
        let mut command = Command::new(env!("CARGO_BIN_EXE_anqi"));
        command.args(["serve", "--json", "--no-open", "--port", "0", "--games"]).arg(games).args(args);
        let mut process = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let serving: Value = serde_json::from_str(&line).unwrap();
        let port = serving["url"].as_str().unwrap().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        Server { process, port }
    }

    /// The memory of its process, in MB.
    fn resident(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

/// Number `number` of the strangers: 127.1.x.y. Number 0 is the one who only wants to play.
fn address(number: usize) -> Ipv4Addr {
    let [_, _, high, low] = u32::try_from(number).unwrap().to_be_bytes();
    Ipv4Addr::new(127, 1, high, low)
}

fn connect(number: usize, port: u16) -> std::io::Result<TcpStream> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_io().build().unwrap();
    let stream = runtime.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4()?;
        socket.bind(SocketAddr::from((address(number), 0)))?;
        socket.connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await?.into_std()
    })?;
    stream.set_nonblocking(false)?;
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    Ok(stream)
}

struct Page {
    socket: WebSocket<TcpStream>,
    number: u64,
}

impl Page {
    fn open(number: usize, port: u16) -> Page {
        let request = format!("ws://127.0.0.1:{port}/socket").into_client_request().unwrap();
        let (socket, _) = tungstenite::client::client(request, connect(number, port).unwrap()).unwrap();
        Page { socket, number: 0 }
    }

    fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                return serde_json::from_str(&text).unwrap();
            }
        }
    }

    fn ask(&mut self, mut request: Value) -> Value {
        self.number += 1;
        request["re"] = self.number.into();
        self.socket.send(Message::text(request.to_string())).unwrap();
        loop {
            let heard = self.hear();
            if heard["re"] == self.number {
                return heard;
            }
        }
    }

    fn send(&mut self, request: &Value) {
        let _ = self.socket.send(Message::text(request.to_string()));
    }
}

fn plies(game: &Value) -> usize {
    game["plies"].as_array().unwrap().len()
}

/// The first flip, or else the first step.
fn any_move(game: &Value) -> String {
    let shown = &game["shown"];
    if let Some(flip) = shown["flips"].get(0) {
        return flip.as_str().unwrap().to_owned();
    }
    let (from, to) = shown["steps"].as_object().unwrap().iter().next().unwrap();
    format!("{from}-{}", to[0].as_str().unwrap())
}

/// Plays against level 1 for a while, and says how long clicks, replies and newcomers took.
fn honest(server: &Server, phase: &str, length: Duration) {
    let mut page = Page::open(0, server.port);
    let (mut clicks, mut replies, mut newcomers) = (Vec::new(), Vec::new(), Vec::new());
    let begun = Instant::now();
    let new = json!({ "type": "new", "first": "person", "second": "level:1" });
    let mut game = page.ask(new.clone());
    while begun.elapsed() < length {
        let ply = plies(&game);
        let asked = Instant::now();
        let done = page.ask(json!({ "type": "play", "move": any_move(&game), "ply": ply }));
        assert_eq!(done["type"], "done", "{done}");
        clicks.push(asked.elapsed());
        while game["outcome"].is_null() && (plies(&game) <= ply || game["yourTurn"] != json!(true)) {
            game = page.hear();
        }
        replies.push(asked.elapsed());
        if !game["outcome"].is_null() {
            // New games have a rate.
            break;
        }
        if clicks.len() % 8 == 0 {
            let came = Instant::now();
            assert_eq!(Page::open(0, server.port).ask(json!({ "type": "hello" }))["type"], "welcome");
            newcomers.push(came.elapsed());
        }
        thread::sleep(Duration::from_millis(30));
    }
    println!("\n{phase}: {:.0} MB", server.resident());
    for (what, mut times) in
        [("clicks answered", clicks), ("replies of level 1", replies), ("newcomers welcomed", newcomers)]
    {
        times.sort();
        let at = |share: f64| times[((times.len() - 1) as f64 * share) as usize].as_secs_f64() * 1000.0;
        if !times.is_empty() {
            let (median, p99, longest) = (at(0.5), at(0.99), at(1.0));
            println!(
                "  {:5} {what:20} median {median:6.1} ms  p99 {p99:6.1} ms  longest {longest:6.1} ms",
                times.len()
            );
        }
    }
}

/// Pages that answer pings and want nothing.
fn keep_open(mut pages: Vec<WebSocket<TcpStream>>, ends: Arc<AtomicBool>) -> thread::JoinHandle<usize> {
    pages.iter().for_each(|page| page.get_ref().set_nonblocking(true).unwrap());
    thread::spawn(move || {
        while !ends.load(Ordering::Relaxed) {
            pages.retain_mut(|page| {
                loop {
                    match page.read() {
                        Ok(_) => {}
                        Err(tungstenite::Error::Io(error)) if error.kind() == std::io::ErrorKind::WouldBlock => {
                            let _ = page.flush();
                            break true;
                        }
                        Err(_) => break false,
                    }
                }
            });
            thread::sleep(Duration::from_millis(500));
        }
        pages.len()
    })
}

fn number(name: &str, usual: usize) -> usize {
    env::var(name).ok().and_then(|text| text.parse().ok()).unwrap_or(usual)
}

/// One flood after the other on the same server, each beside all before it.
#[test]
#[ignore = "long: ANQI_PAGES pages and ANQI_SLOW slow readers; see benchmarks/hostile/run"]
fn floods() {
    let mut limit = rustix::process::getrlimit(rustix::process::Resource::Nofile);
    limit.current = limit.maximum;
    rustix::process::setrlimit(rustix::process::Resource::Nofile, limit).unwrap();
    let (many, slow) = (number("ANQI_PAGES", 10_000), number("ANQI_SLOW", 4200));
    let length = Duration::from_secs(number("ANQI_SECONDS", 6) as u64);
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(dir.path(), &["--public", "--log-level", "error"]);
    let port = server.port;
    honest(&server, "nothing else", length);

    let ends = Arc::new(AtomicBool::new(false));
    let mut keepers = Vec::new();
    for part in 0..many.div_ceil(2500) {
        let pages = (part * 2500..many.min((part + 1) * 2500)).map(|page| Page::open(1000 + page / 250, port).socket);
        keepers.push(keep_open(pages.collect(), Arc::clone(&ends)));
    }
    honest(&server, &format!("{many} idle pages"), length);
    let memory = server.resident();

    let many_requests = "GET /main.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".repeat(100);
    let held: Vec<TcpStream> = (0..slow)
        .filter_map(|reader| {
            let mut stream = connect(2000 + reader / 200, port).ok()?;
            stream.set_write_timeout(Some(Duration::from_millis(100))).unwrap();
            let _ = stream.write_all(many_requests.as_bytes());
            Some(stream)
        })
        .collect();
    honest(&server, &format!("and {} slow readers", held.len()), length);

    let bot = "mcts:chance,memory=16 movetime=5";
    let mut hogs = Vec::new();
    for hog in 0..20 {
        let mut page = Page::open(3000 + hog, port);
        let clock = (hog % 2 == 0).then_some("60:00");
        page.send(&json!({ "type": "new", "first": bot, "second": "person", "clock": clock }));
        hogs.push(page.socket);
    }
    for student in 0..30 {
        let mut page = Page::open(3100 + student, port);
        page.send(&json!({ "type": "new", "first": "person", "second": "person" }));
        page.send(&json!({ "type": "analyse", "ply": 0 }));
        hogs.push(page.socket);
    }
    let mut leaver = Page::open(3200, port);
    leaver.send(&json!({ "type": "new", "first": "person", "second": "person" }));
    (0..400).for_each(|_| leaver.send(&json!({ "type": "hint" })));
    drop(leaver);
    keepers.push(keep_open(hogs, Arc::clone(&ends)));
    honest(&server, "and 20 games of long searches, 30 analyses, 400 hints", length);

    let flood: Vec<_> = (0..10)
        .map(|visitor| {
            let ends = Arc::clone(&ends);
            thread::spawn(move || {
                let mut page = Page::open(3300 + visitor, port);
                page.socket.get_ref().set_write_timeout(Some(Duration::from_millis(200))).unwrap();
                page.send(&json!({ "type": "new", "first": "person", "second": "person" }));
                let mut sent = 0;
                while !ends.load(Ordering::Relaxed) {
                    match page.socket.send(Message::text(r#"{"type":"at","ply":0}"#)) {
                        Ok(()) => sent += 1,
                        Err(_) => thread::sleep(Duration::from_millis(10)),
                    }
                    // The flood comes from elsewhere: it does not take the server's cores.
                    if sent % 10 == 0 {
                        thread::sleep(Duration::from_millis(5));
                    }
                }
                sent
            })
        })
        .collect();
    honest(&server, "and 10 floods of messages", length);
    let crowded = server.resident();
    ends.store(true, Ordering::Relaxed);
    let sent: u64 = flood.into_iter().map(|flood| flood.join().unwrap()).sum();
    let open: usize = keepers.into_iter().map(|keeper| keeper.join().unwrap()).sum();
    println!("\n{sent} messages of floods sent; {open} of {} pages are still open", many + 50);
    println!("{memory:.0} MB with {many} idle pages, {crowded:.0} MB at the end");
    assert!(memory < 300.0 && crowded < 300.0);
}
