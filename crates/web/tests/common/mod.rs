//! A real server in this process, and pages that talk to it.

#![allow(dead_code, reason = "every test uses some of it")]

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anqi_rules::Seed;
use anqi_web::{House, HouseSettings};
use rand_core::Rng;
use serde_json::Value;
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

pub(crate) struct Server {
    pub(crate) port: u16,
    pub(crate) dir: TempDir,
    pub(crate) house: Arc<House>,
    serving: JoinHandle<std::io::Result<()>>,
}

/// One for all servers of a test.
static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

pub(crate) fn start(seed: u64) -> Server {
    let dir = tempfile::tempdir().unwrap();
    let house =
        House::open(dir.path(), HouseSettings { deals: Some(Seed::from(seed)), ..HouseSettings::default() }).unwrap();
    let listener = RUNTIME.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let serving = RUNTIME.spawn(anqi_web::serve(listener, Arc::clone(&house)));
    Server { port, dir, house, serving }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    pub(crate) fn page(&self) -> Page {
        Page { socket: self.connect(None).unwrap(), number: 0, heard: Vec::new() }
    }

    /// What an address answers, without its head.
    pub(crate) fn get(&self, path: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let head = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        stream.write_all(head.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        answer.split_once("\r\n\r\n").unwrap().1.to_owned()
    }

    pub(crate) fn connect(&self, origin: Option<&str>) -> Result<WebSocket<TcpStream>, String> {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        let mut request = format!("ws://127.0.0.1:{}/socket", self.port).into_client_request().unwrap();
        if let Some(origin) = origin {
            request.headers_mut().insert("origin", origin.parse().unwrap());
        }
        tungstenite::client::client(request, stream).map(|(socket, _)| socket).map_err(|error| error.to_string())
    }
}

pub(crate) struct Page {
    pub(crate) socket: WebSocket<TcpStream>,
    number: u64,
    /// Everything that came in.
    pub(crate) heard: Vec<String>,
}

impl Page {
    pub(crate) fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                let heard = serde_json::from_str(&text).unwrap();
                self.heard.push(text.to_string());
                return heard;
            }
        }
    }

    /// The answer, and after a change of the game its view.
    pub(crate) fn ask(&mut self, mut request: Value) -> Value {
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

    pub(crate) fn hear_over(&mut self) -> Value {
        loop {
            let heard = self.hear();
            if heard.get("outcome").is_some_and(|outcome| !outcome.is_null()) {
                return heard;
            }
        }
    }

    pub(crate) fn hear_game(&mut self, plies: usize) -> Value {
        loop {
            let heard = self.hear();
            if heard["type"] == "game" && heard["plies"].as_array().unwrap().len() >= plies {
                return heard;
            }
        }
    }
}

/// A page's copy of a game after a `change`.
pub(crate) fn follow(game: &mut Value, change: &Value) {
    assert_eq!(change["game"], game["game"]);
    assert_eq!(change["version"].as_u64().unwrap(), game["version"].as_u64().unwrap() + 1, "no change is missing");
    let kept = change["kept"].as_u64().unwrap() as usize;
    let mut plies: Vec<Value> = game["plies"].as_array().unwrap()[..kept].to_vec();
    plies.extend(change["plies"].as_array().unwrap().iter().cloned());
    for (name, value) in change.as_object().unwrap().iter().filter(|(name, _)| *name != "type" && *name != "kept") {
        game[name] = value.clone();
    }
    game["plies"] = plies.into();
}

/// Everything that a page could play.
pub(crate) fn moves(game: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    let flips = game["shown"]["flips"].as_array().unwrap().iter().map(text);
    let steps = game["shown"]["steps"].as_object().unwrap().iter();
    let steps =
        steps.flat_map(|(from, to)| to.as_array().unwrap().iter().map(move |to| format!("{from}-{}", text(to))));
    flips.chain(steps).collect()
}

/// A choice that depends on nothing but what is public.
pub(crate) fn choose(game: &Value) -> String {
    let moves = moves(game);
    let history = game["plies"].to_string();
    let mut rng = Seed::from(5).child(&history).rng();
    moves[(rng.next_u32() as usize) % moves.len()].clone()
}

pub(crate) fn plies(game: &Value) -> usize {
    game["plies"].as_array().unwrap().len()
}
