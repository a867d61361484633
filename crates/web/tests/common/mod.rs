//! A real server in this process, and pages that talk to it.

#![allow(dead_code, reason = "every test uses some of it")]

use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::path::Path;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anqi_rules::{Contribution, Seat, Seed};
use anqi_web::{House, HouseError, HouseSettings, ServerSettings, serve_until};
use rand_core::Rng;
use serde_json::{Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::sync::oneshot;
use tokio::task::JoinHandle;
use tungstenite::client::IntoClientRequest;
use tungstenite::{Message, WebSocket};

pub(crate) struct Server {
    pub(crate) port: u16,
    dir: Option<TempDir>,
    house: Option<Arc<House>>,
    serving: JoinHandle<std::io::Result<()>>,
    end: Option<oneshot::Sender<()>>,
    /// Where metrics are told.
    pub(crate) operator: u16,
}

/// One for all servers of a test.
pub(crate) static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

pub(crate) fn start(seed: u64) -> Server {
    start_with(&HouseSettings { deals: Some(Seed::from(seed)), ..HouseSettings::default() })
}

pub(crate) fn start_with(settings: &HouseSettings) -> Server {
    start_network(settings, ServerSettings::default())
}

pub(crate) fn start_network(settings: &HouseSettings, network: ServerSettings) -> Server {
    serve(tempfile::tempdir().unwrap(), settings, network)
}

fn serve(dir: TempDir, settings: &HouseSettings, network: ServerSettings) -> Server {
    // Connections to a server that was stopped may still be ending.
    let house = loop {
        match House::open(dir.path(), settings.clone()) {
            Err(HouseError::Locked { .. }) => std::thread::sleep(Duration::from_millis(10)),
            opened => break opened.unwrap(),
        }
    };
    let listener = RUNTIME.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    let operator = network.metrics.as_ref().map_or(port, |metrics| metrics.local_addr().unwrap().port());
    let (end, ended) = oneshot::channel::<()>();
    let serving = RUNTIME.spawn(serve_until(listener, Arc::clone(&house), network, async { drop(ended.await) }));
    Server { port, dir: Some(dir), house: Some(house), serving, end: Some(end), operator }
}

/// A connection to a server of this machine from an address of it: `127.0.0.last`.
pub(crate) fn connect_from(last: u8, port: u16) -> TcpStream {
    RUNTIME.block_on(async {
        let socket = tokio::net::TcpSocket::new_v4().unwrap();
        socket.bind(SocketAddr::from((Ipv4Addr::new(127, 0, 0, last), 0))).unwrap();
        let stream = socket.connect(SocketAddr::from((Ipv4Addr::LOCALHOST, port))).await.unwrap();
        let stream = stream.into_std().unwrap();
        stream.set_nonblocking(false).unwrap();
        stream.set_nodelay(true).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    })
}

impl Drop for Server {
    fn drop(&mut self) {
        self.serving.abort();
    }
}

impl Server {
    pub(crate) fn dir(&self) -> &Path {
        self.dir.as_ref().unwrap().path()
    }

    pub(crate) fn house(&self) -> &House {
        self.house.as_ref().unwrap()
    }

    /// Another server with the same games. All pages of this one must be closed.
    pub(crate) fn restart(mut self, settings: &HouseSettings) -> Server {
        self.serving.abort();
        drop(self.house.take());
        serve(self.dir.take().unwrap(), settings, ServerSettings::default())
    }

    /// Everything that is on the disk.
    pub(crate) fn files(&self) -> String {
        let files = std::fs::read_dir(self.dir()).unwrap().map(|entry| std::fs::read(entry.unwrap().path()).unwrap());
        files.map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).collect()
    }

    pub(crate) fn page(&self) -> Page {
        Page { socket: self.connect(None).unwrap(), number: 0, heard: Vec::new() }
    }

    /// A page of the visitor at `127.0.0.last`.
    pub(crate) fn page_from(&self, last: u8) -> Page {
        let request = format!("ws://127.0.0.1:{}/socket", self.port).into_client_request().unwrap();
        let (socket, _) = tungstenite::client::client(request, connect_from(last, self.port)).unwrap();
        Page { socket, number: 0, heard: Vec::new() }
    }

    /// Asks the server to end, and waits until it has.
    pub(crate) fn end(&mut self) {
        drop(self.end.take());
        RUNTIME.block_on(&mut self.serving).unwrap().unwrap();
    }

    /// A number that the operator is shown.
    pub(crate) fn metric(&self, name: &str) -> f64 {
        let page = Server::get_at(self.operator, "/metrics");
        let line = page.lines().find(|line| line.split(' ').next() == Some(name));
        line.unwrap_or_else(|| panic!("{name} is not in\n{page}")).rsplit(' ').next().unwrap().parse().unwrap()
    }

    /// What an address answers, without its head.
    pub(crate) fn get(&self, path: &str) -> String {
        Server::get_at(self.port, path)
    }

    /// The same of any server of this machine.
    pub(crate) fn get_at(port: u16, path: &str) -> String {
        let request = format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n");
        Server::answer_at(port, &request).1
    }

    /// The status of what a request is answered, and the answer without its head.
    pub(crate) fn answer(&self, request: &str) -> (u16, String) {
        Server::answer_at(self.port, request)
    }

    fn answer_at(port: u16, request: &str) -> (u16, String) {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.write_all(request.as_bytes()).unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        (head.split(' ').nth(1).unwrap().parse().unwrap(), body.to_owned())
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

/// Two people in a game by link, and one who watches. What each is shown is followed.
pub(crate) struct Friends {
    /// First, second, spectator.
    pub(crate) pages: [Page; 3],
    /// The game as each of them knows it.
    pub(crate) games: [Value; 3],
    pub(crate) id: String,
    /// Of the seats, and the invitation.
    pub(crate) tokens: [String; 3],
}

pub(crate) const WATCHER: usize = 2;

/// What a player contributes to the deal.
pub(crate) fn contribution(by: usize) -> Contribution {
    let seed = |number: u64| Seed::from(100 + 2 * by as u64 + number);
    Contribution { by: Seat::ALL[by], seed: seed(0), nonce: seed(1) }
}

pub(crate) fn commit(by: usize, game: &str) -> Value {
    json!({ "type": "commit", "commitment": contribution(by).commitment(game).to_string() })
}

pub(crate) fn reveal(by: usize) -> Value {
    let Contribution { seed, nonce, .. } = contribution(by);
    json!({ "type": "reveal", "seed": seed.to_string(), "nonce": nonce.to_string() })
}

impl Friends {
    /// The first player has begun a game and invited the second, who has not come.
    pub(crate) fn invited(server: &Server, mut new: Value) -> Friends {
        let mut pages = [server.page(), server.page(), server.page()];
        for page in &mut pages {
            page.ask(json!({ "type": "hello", "schema": "anqi-page-2" }));
        }
        for (name, value) in [("type", "new"), ("first", "person"), ("second", "person"), ("invite", "second")] {
            new[name] = value.into();
        }
        let game = pages[0].ask(new);
        let id = game["game"].as_str().unwrap().to_owned();
        let token = |name: &str| game["you"][name].as_str().unwrap().to_owned();
        let tokens = [token("token"), String::new(), token("invitation")];
        let watched = pages[WATCHER].ask(json!({ "type": "open", "game": id }));
        let invited = pages[1].ask(json!({ "type": "open", "game": id, "token": tokens[2] }));
        assert_eq!(
            (&watched["you"], &invited["you"]),
            (&json!({ "seats": [] }), &json!({ "seats": [], "invited": "second" }))
        );
        Friends { pages, games: [game, invited, watched], id, tokens }
    }

    /// The second player has taken the seat.
    pub(crate) fn joined(server: &Server, new: Value) -> Friends {
        let mut friends = Friends::invited(server, new);
        let joined = friends.pages[1].ask(json!({ "type": "join", "token": friends.tokens[2] }));
        assert_eq!(joined["you"]["seats"], json!(["second"]), "{joined}");
        friends.tokens[1] = joined["you"]["token"].as_str().unwrap().to_owned();
        friends.games[1] = joined;
        friends.catch_up();
        friends
    }

    /// Both have contributed to the deal, and the game has begun.
    pub(crate) fn begun(server: &Server, new: Value) -> Friends {
        let mut friends = Friends::joined(server, new);
        for by in [0, 1] {
            let id = friends.id.clone();
            friends.does(by, commit(by, &id));
        }
        for by in [1, 0] {
            friends.does(by, reveal(by));
        }
        assert_eq!(friends.games[0]["yourTurn"], json!(true));
        friends
    }

    /// Asks for something that is done, and waits until all have heard of it.
    pub(crate) fn does(&mut self, who: usize, request: Value) {
        let answer = self.pages[who].ask(request);
        assert_eq!(answer["type"], "done", "{answer}");
        self.hear(who);
        self.catch_up();
    }

    /// One page hears of the next change.
    pub(crate) fn hear(&mut self, who: usize) {
        let heard = self.pages[who].hear();
        match heard["type"].as_str().unwrap() {
            "change" => follow(&mut self.games[who], &heard),
            // A page of the first schema.
            "game" => self.games[who] = heard,
            _ => panic!("{heard}"),
        }
    }

    /// All hear what one of them knows.
    pub(crate) fn catch_up(&mut self) {
        let newest = self.games.iter().map(|game| game["version"].as_u64().unwrap()).max().unwrap();
        for who in 0..3 {
            while self.games[who]["version"] != newest {
                self.hear(who);
            }
        }
        for name in ["plies", "players", "joint", "shown"] {
            assert_eq!(self.games[0][name], self.games[1][name], "{name}");
            assert_eq!(self.games[0][name], self.games[2][name], "{name}");
        }
    }

    /// Who is to move.
    pub(crate) fn mover(&self) -> usize {
        plies(&self.games[0]) % 2
    }

    /// The next move, by what is public alone.
    pub(crate) fn play(&mut self) {
        let (mover, ply) = (self.mover(), plies(&self.games[0]));
        let mv = choose(&self.games[mover]);
        self.does(mover, json!({ "type": "play", "move": mv, "ply": ply }));
    }

    pub(crate) fn refused(&mut self, who: usize, request: Value) -> String {
        let answer = self.pages[who].ask(request);
        assert_eq!(answer["type"], "error", "{answer}");
        answer["kind"].as_str().unwrap().to_owned()
    }
}
