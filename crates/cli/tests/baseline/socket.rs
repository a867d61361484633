//! A session at the page's socket and its HTTP addresses, with every kind of request, over a server with fixed deals.

use std::ffi::OsStr;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use anqi_rules::Seed;
use anqi_web::{House, HouseSettings};
use rand_core::Rng;
use serde_json::{Map, Value, json};
use tempfile::TempDir;
use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tungstenite::{Message, WebSocket};

use crate::games::without_new_tags;
use crate::support::{as_meant, compare_json, in_old_words, is_writing, keep_folder};

static RUNTIME: LazyLock<Runtime> =
    LazyLock::new(|| tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap());

/// A server over a folder of games; `deals` fixes all deals and the names of games.
pub(crate) struct Server {
    port: u16,
    serving: Serving,
}

enum Serving {
    Here(JoinHandle<std::io::Result<()>>),
    Process(Child),
}

impl Server {
    pub(crate) fn start(dir: &TempDir, deals: u64) -> Server {
        let house =
            House::open(dir.path(), HouseSettings { deals: Some(Seed::from(deals)), ..HouseSettings::default() })
                .unwrap();
        let listener = RUNTIME.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
        let port = listener.local_addr().unwrap().port();
        Server { port, serving: Serving::Here(RUNTIME.spawn(anqi_web::serve(listener, Arc::clone(&house)))) }
    }

    /// A process that serves a folder of games.
    pub(crate) fn of_program(program: &OsStr, games: &Path) -> Server {
        let mut command = Command::new(program);
        command.args(["serve", "--json", "--no-open", "--port", "0", "--games"]).arg(games);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.as_mut().unwrap()).read_line(&mut line).unwrap();
        let serving: Value = serde_json::from_str(&line).unwrap();
        let port = serving["url"].as_str().unwrap().trim_end_matches('/').rsplit(':').next().unwrap().parse().unwrap();
        Server { port, serving: Serving::Process(process) }
    }

    pub(crate) fn page(&self) -> Page {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.set_nodelay(true).unwrap();
        let address = format!("ws://127.0.0.1:{}/socket", self.port);
        let (socket, _) = tungstenite::client::client(address, stream).unwrap();
        Page { socket, number: 0, game: Value::Null, news: Vec::new() }
    }

    /// The status, the type and the text of an answer over HTTP.
    fn http(&self, head: &str, body: &str) -> Value {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        let length = body.len();
        write!(
            stream,
            "{head} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nContent-Type: text/plain\r\n\
             Content-Length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).unwrap();
        let (answered, text) = answer.split_once("\r\n\r\n").unwrap();
        let field = |name: &str| {
            let line =
                answered.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix(name).map(str::to_owned));
            line.map(|value| value.trim().to_owned())
        };
        let text = serde_json::from_str(text).unwrap_or_else(|_| Value::from(text));
        json!({ "status": answered.lines().next(), "type": field("content-type:"), "file": field("content-disposition:"), "text": text })
    }

    pub(crate) fn get(&self, path: &str) -> Value {
        self.http(&format!("GET {path}"), "")
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        match &mut self.serving {
            Serving::Here(serving) => serving.abort(),
            Serving::Process(process) => {
                let _ = process.kill();
                let _ = process.wait();
            }
        }
    }
}

/// One page, which knows the game that it has open.
pub(crate) struct Page {
    socket: WebSocket<TcpStream>,
    number: u64,
    /// The open game as it was told last.
    pub(crate) game: Value,
    /// What came unasked, but for games.
    news: Vec<Value>,
}

impl Page {
    /// The next message. This is where events about a game are put together.
    fn hear(&mut self) -> Value {
        loop {
            if let Message::Text(text) = self.socket.read().unwrap() {
                let heard: Value = serde_json::from_str(&text).unwrap();
                if heard["type"] == "game" {
                    self.game = heard.clone();
                } else if heard["type"] == "change" {
                    self.follow(&heard);
                } else if heard["re"].is_null() {
                    self.news.push(heard.clone());
                }
                return heard;
            }
        }
    }

    /// Puts a change of schema `anqi-page-2` into the open game.
    fn follow(&mut self, change: &Value) {
        let kept = change["kept"].as_u64().unwrap() as usize;
        let plies = self.game["plies"].as_array().unwrap()[..kept].iter().chain(change["plies"].as_array().unwrap());
        let plies: Vec<Value> = plies.cloned().collect();
        for (name, value) in change.as_object().unwrap().iter().filter(|(name, _)| *name != "type" && *name != "kept") {
            self.game[name] = value.clone();
        }
        self.game["plies"] = plies.into();
    }

    fn send(&mut self, text: String) {
        self.socket.send(Message::text(text)).unwrap();
    }

    pub(crate) fn ask(&mut self, mut request: Value) -> Value {
        self.number += 1;
        request["re"] = self.number.into();
        self.send(request.to_string());
        loop {
            let heard = self.hear();
            if heard["re"] == self.number {
                return heard;
            }
        }
    }

    pub(crate) fn wait(&mut self, is_there: impl Fn(&Page) -> bool) {
        while !is_there(self) {
            self.hear();
        }
    }

    pub(crate) fn plies(&self) -> usize {
        self.game["plies"].as_array().unwrap().len()
    }

    pub(crate) fn is_over(&self) -> bool {
        !self.game["outcome"].is_null()
    }

    /// Everything that can be played.
    fn moves(&self) -> Vec<String> {
        let text = |value: &Value| value.as_str().unwrap().to_owned();
        let flips = self.game["shown"]["flips"].as_array().unwrap().iter().map(text);
        let steps = self.game["shown"]["steps"].as_object().unwrap().iter();
        let steps =
            steps.flat_map(|(from, to)| to.as_array().unwrap().iter().map(move |to| format!("{from}-{}", text(to))));
        flips.chain(steps).collect()
    }

    /// A move that depends on the plies played alone.
    pub(crate) fn any_move(&self) -> String {
        let moves = self.moves();
        let mut rng = Seed::from(5).child(self.game["plies"].to_string().as_str()).rng();
        moves[rng.next_u32() as usize % moves.len()].clone()
    }
}

/// A session and what came of it.
struct Session {
    page: Page,
    told: Vec<Value>,
}

impl Session {
    fn ask(&mut self, request: Value) -> Value {
        let answer = self.page.ask(request.clone());
        self.told.push(Value::from_iter([("request", request), ("answer", answer.clone())]));
        answer
    }

    /// The open game as it stands.
    fn note_game(&mut self) {
        self.told.push(json!({ "game": self.page.game }));
    }

    fn new_game(&mut self, request: Value) -> String {
        let answer = self.ask(request);
        assert_eq!(answer["type"], "game", "{answer}");
        answer["game"].as_str().unwrap().to_owned()
    }

    /// A person's move; the game is noted when the ply, and the engine's answer if there is one, have been played.
    fn play(&mut self, plies: usize) {
        let (mv, ply) = (self.page.any_move(), self.page.plies());
        let answer = self.ask(json!({ "type": "play", "move": mv, "ply": ply }));
        assert_eq!(answer["type"], "done", "{answer}");
        self.page.wait(|page| page.plies() >= ply + plies || page.is_over());
        self.note_game();
    }

    /// What came unasked, up to the first message of which `is_last` is true.
    fn note_news(&mut self, is_last: impl Fn(&Value) -> bool) {
        self.page.wait(|page| page.news.iter().any(&is_last));
        for news in self.page.news.drain(..) {
            self.told.push(json!({ "news": news }));
        }
    }
}

/// Parts of texts that were rewritten since: what they were, and what they are.
const REWORDED: [(&str, &str); 5] = [
    // A message is read into its type at once, so errors of its syntax name what was expected there.
    ("expected a map", "expected an object with a type"),
    // `hello` takes a schema.
    ("unknown field `more`, there are no fields", "unknown field `more`, expected `schema`"),
    // A damaged game goes on as a new one.
    ("`close`, `play`", "`close`, `go-on`, `play`"),
    // Draws can be agreed on.
    ("`resign`, `hint`", "`resign`, `offer-draw`, `accept-draw`, `decline-draw`, `hint`"),
    // Seats are taken by links, and players contribute to deals.
    (
        "`link`; the message",
        "`link`, `join`, `commit`, `reveal`, `claim`, `begin-series`, `series`, `next-game`; the message",
    ),
];

/// Errors of syntax name the place since messages are read into their types at once.
fn without_places(text: &str) -> String {
    let Some((before, rest)) = text.split_once(" at line ") else { return text.to_owned() };
    let after = rest.trim_start_matches(|character: char| character.is_ascii_digit());
    let Some(after) = after.strip_prefix(" column ") else { return text.to_owned() };
    format!("{before}{}", after.trim_start_matches(|character: char| character.is_ascii_digit()))
}

/// An analysis of schema `anqi-page-2` with what `anqi-page-1` has elsewhere: the choice beside the analysis, six moves, and
/// flips apart from them. What a flip may show is put in one order.
fn analysis_of_page_1(fields: &mut Map<String, Value>) {
    const MOST_LINES: usize = 6;
    if let (Some(root), None) = (fields.get("rootInfo").cloned(), fields.get("nodes")) {
        for name in ["nodes", "depth", "move", "pv"] {
            fields.insert(name.to_owned(), root[name].clone());
        }
        let infos = fields["moveInfos"].as_array().unwrap().clone();
        let flips = infos
            .iter()
            .filter(|info| !info["move"].as_str().unwrap().contains('-'))
            .map(|info| json!({ "square": info["move"], "winrate": info["winrate"], "outcomes": info["outcomes"] }));
        fields.insert("flips".to_owned(), flips.collect());
        fields.insert("moveInfos".to_owned(), infos.into_iter().take(MOST_LINES).collect());
    }
    for flip in fields.get_mut("flips").and_then(Value::as_array_mut).into_iter().flatten() {
        if let Some(outcomes) = flip.get_mut("outcomes").and_then(Value::as_array_mut) {
            outcomes.sort_by_key(|outcome| outcome["piece"].to_string());
        }
    }
}

/// What a message means: without numbers of requests, versions, dates, and what clocks show.
pub(crate) fn normalise(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for name in ["re", "version", "schema", "date", "left"] {
                if let Some(value) = fields.get_mut(name) {
                    *value = "masked".into();
                }
            }
            if fields.get("type").is_some_and(|kind| kind == "analysis") {
                analysis_of_page_1(fields);
            }
            fields.values_mut().for_each(normalise);
        }
        Value::Array(values) => {
            values.iter_mut().for_each(normalise);
            // The list of games: those changed within one tick of the file system's clock come in any order.
            if values.iter().all(|value| value["inPlay"].is_boolean() && value["shown"].is_null()) {
                values.sort_by_key(|value| value["game"].to_string());
            }
        }
        Value::String(text) => {
            if let Some((before, rest)) = text.split_once("[Date \"")
                && let Some((_, after)) = rest.split_once('"')
            {
                *text = format!("{before}[Date \"masked\"{after}");
            }
            *text =
                REWORDED.iter().fold(in_old_words(&without_places(text)), |text, (then, now)| text.replace(then, now));
            if text.starts_with("[Event ") {
                *text = without_new_tags(text);
            }
        }
        _ => {}
    }
}

/// Requests that cannot be done, on a server of their own: whether a refused game takes a name is not compared.
#[test]
fn requests_that_cannot_be_done_are_refused() {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir, 1);
    let mut session = Session { page: server.page(), told: Vec::new() };
    session.told.push(json!({ "get": "/api/games", "answer": server.get("/api/games") }));
    session.ask(json!({ "type": "hello" }));
    for text in
        ["", "[]", "{\"type\":\"hello\"", "{\"type\":\"hello\",\"re\":-1}", "{\"type\":\"dance\"}", "{\"re\":\"x\"}"]
    {
        session.page.send(text.to_owned());
        let heard = session.page.hear();
        session.page.news.clear();
        session.told.push(json!({ "sent": text, "answer": heard }));
    }
    for kind in ["take-back", "resign", "hint", "review", "link", "stop-analysis", "close"] {
        session.ask(json!({ "type": kind }));
    }
    let person = json!("person");
    for request in [
        json!({ "type": "play", "move": "a1", "ply": 0 }),
        json!({ "type": "play", "move": "a1", "ply": 0, "teach": true }),
        json!({ "type": "play", "move": "a1" }),
        json!({ "type": "at", "ply": 0 }),
        json!({ "type": "analyse", "ply": 0 }),
        json!({ "type": "analyse", "ply": 0, "nodes": 10_000_001 }),
        json!({ "type": "hello", "more": 1 }),
        json!({ "type": "open", "game": "0123456789abcdef" }),
        json!({ "type": "open", "game": "../../etc/passwd" }),
        json!({ "type": "open-link", "link": "server" }),
        json!({ "type": "open-link", "link": "server~~~A" }),
        json!({ "type": "open-link", "link": "server~~~__" }),
        json!({ "type": "new", "first": "nobody", "second": person }),
        json!({ "type": "new", "first": "level:9", "second": person }),
        json!({ "type": "new", "first": "chen:var1 tc=15:00", "second": person }),
        json!({ "type": "new", "first": "chen:var1 nodes=99999999", "second": person }),
        json!({ "type": "new", "first": "mcts:chance,memory=65536", "second": person }),
        json!({ "type": "new", "first": person, "second": "cmd=./x" }),
        json!({ "type": "new", "first": person, "second": person, "rules": "go" }),
        json!({ "type": "new", "first": person, "second": person, "clock": "soon" }),
        json!({ "type": "new", "first": person, "second": person, "position": "xx" }),
        json!({ "type": "new", "first": person, "second": person, "position": "4/4/4/4/4/4/4/K3 r -" }),
    ] {
        session.ask(request);
    }
    compare_json("socket-errors.jsonl", &session.told, normalise);
}

/// A game of two people from the first ply to its review, with a move taken back on the way.
fn a_game_of_two_people(session: &mut Session) -> String {
    let two = json!({ "type": "new", "first": "person", "second": "person", "rules": "server,board=2x4,draw=20" });
    let id = session.new_game(two);
    session.ask(json!({ "type": "take-back" }));
    session.ask(json!({ "type": "review" }));
    for request in [
        json!({ "type": "play", "move": "z9", "ply": 0 }),
        json!({ "type": "play", "move": "a1-a2", "ply": 0 }),
        json!({ "type": "play", "move": "a8", "ply": 0 }),
        json!({ "type": "play", "move": "a1", "ply": 3 }),
        json!({ "type": "at", "ply": 1 }),
        json!({ "type": "analyse", "ply": 1 }),
    ] {
        session.ask(request);
    }
    (0..4).for_each(|_| session.play(1));
    session.ask(json!({ "type": "take-back" }));
    session.page.wait(|page| page.plies() == 3);
    session.note_game();
    session.ask(json!({ "type": "link" }));
    while !session.page.is_over() {
        session.play(1);
    }
    for kind in ["take-back", "resign", "hint", "link"] {
        session.ask(json!({ "type": kind }));
    }
    session.ask(json!({ "type": "play", "move": "a1", "ply": 0 }));
    for ply in 0..=session.page.plies() {
        session.ask(json!({ "type": "at", "ply": ply }));
    }
    session.ask(json!({ "type": "review" }));
    session.note_news(|news| news["type"] == "review");
    let link = session.ask(json!({ "type": "link" }))["link"].clone();
    session.ask(json!({ "type": "close" }));
    session.ask(json!({ "type": "open", "game": id }));
    session.ask(json!({ "type": "open-link", "link": link }));
    id
}

/// A game against a player, with hints and analysis, resigned in the end.
fn a_game_against(session: &mut Session, first: &str, second: &str) -> String {
    let id = session
        .new_game(json!({ "type": "new", "first": first, "second": second, "rules": as_meant("chen,board=3x4") }));
    session.page.wait(|page| page.plies() == usize::from(first != "person"));
    session.note_game();
    (0..5).for_each(|_| session.play(2));
    session.ask(json!({ "type": "hint" }));
    session.ask(json!({ "type": "take-back" }));
    let plies = 8 + usize::from(first != "person");
    session.page.wait(|page| page.plies() == plies);
    session.note_game();
    session.ask(json!({ "type": "analyse", "ply": 3, "nodes": 30_000 }));
    session.note_news(|news| news["type"] == "analysis" && news["isDuringSearch"] == false);
    session.ask(json!({ "type": "stop-analysis" }));
    session.play(2);
    session.ask(json!({ "type": "resign" }));
    session.page.wait(Page::is_over);
    session.note_game();
    id
}

/// A player that learns is warned, and plays on with what is no blunder.
fn teaching(session: &mut Session) {
    let position = "4/4/4/4/4/4/g3/N2P r -";
    session.new_game(json!({ "type": "new", "first": "person", "second": "person", "position": position }));
    session.ask(json!({ "type": "analyse", "ply": 0, "nodes": 4000 }));
    session.note_news(|news| news["type"] == "analysis" && news["isDuringSearch"] == false);
    for mv in session.page.moves() {
        let answer = session.ask(json!({ "type": "play", "move": mv, "ply": 0, "teach": true }));
        if answer["type"] == "done" {
            session.page.wait(|page| page.plies() == 1);
            session.note_game();
            return;
        }
    }
    unreachable!("every move is a blunder");
}

#[test]
fn a_session_says_the_same() {
    session("anqi-page-1");
}

/// A page that is sent changes knows the same games as one that is sent whole games.
#[test]
fn a_session_of_changes_says_the_same() {
    session("anqi-page-2");
}

fn session(schema: &str) {
    let dir = tempfile::tempdir().unwrap();
    let server = Server::start(&dir, 2026);
    let mut session = Session { page: server.page(), told: Vec::new() };
    if !is_writing() {
        session.page.ask(json!({ "type": "hello", "schema": schema }));
    }
    let mut games = vec![a_game_of_two_people(&mut session)];
    games.push(a_game_against(&mut session, "level:1", "person"));
    games.push(a_game_against(&mut session, "person", "mcts:chance,memory=1 playouts=40"));
    teaching(&mut session);

    // Two players play by themselves.
    let two = json!({ "type": "new", "first": "chen:var1,table=1 depth=2", "second": "champion,hash=1 nodes=300", "rules": "server,board=2x4" });
    games.push(session.page.ask(two)["game"].as_str().unwrap().to_owned());
    session.page.wait(Page::is_over);
    session.note_game();

    // A clock, of which a move is taken back; a flag that falls.
    let clock = json!({ "type": "new", "first": "person", "second": "person", "clock": "15:00+3", "rules": "olympiad,ladder=hongkong,chase=on" });
    games.push(session.new_game(clock));
    (0..3).for_each(|_| session.play(1));
    session.ask(json!({ "type": "take-back" }));
    session.page.wait(|page| page.plies() == 2);
    session.note_game();
    session.play(1);
    games.push(session.new_game(json!({ "type": "new", "first": "person", "second": "level:1", "clock": "0.2" })));
    session.page.wait(Page::is_over);
    session.note_game();
    // A whole board, some plies of it, against nobody's clock.
    games.push(session.new_game(json!({ "type": "new", "first": "person", "second": "person" })));
    (0..12).for_each(|_| session.play(1));
    session.ask(json!({ "type": "analyse", "ply": 12, "nodes": 4000 }));
    session.note_news(|news| news["type"] == "analysis" && news["isDuringSearch"] == false);
    session.ask(json!({ "type": "link" }));
    // A second page sees the same game, and hears of a change.
    let mut other = server.page();
    let opened = other.ask(json!({ "type": "open", "game": games.last().unwrap() }));
    session.play(1);
    other.wait(|page| page.plies() == 13);
    session.told.push(json!({ "second page": opened, "and then": other.game }));

    for id in &games {
        for kind in ["anqi", "txt", "json", "csv"] {
            let path = format!("/api/games/{id}.{kind}");
            session.told.push(json!({ "get": path, "answer": server.get(&path) }));
        }
    }
    for path in ["/api/games/0123456789abcdef.anqi", "/api/games/none", "/nothing"] {
        session.told.push(json!({ "get": path, "answer": server.get(path) }));
    }
    for path in ["/", "/main.js", "/verify.js"] {
        let mut answer = server.get(path);
        answer["text"] = (!answer["text"].as_str().unwrap().is_empty()).into();
        session.told.push(json!({ "get": path, "answer": answer }));
    }
    let data = |name: &str| std::fs::read_to_string(crate::support::root().join("data/games").join(name)).unwrap();
    let damaged = data("server.txt").replacen("* 3. ", "* 3. x9 ", 1);
    for (what, text) in
        [("server.anqi", data("server.anqi")), ("damaged server.txt", damaged), ("nothing", String::new())]
    {
        let answer = server.http("POST /api/games", &text);
        if let Some(id) = answer["text"]["games"][0].as_str() {
            session.ask(json!({ "type": "open", "game": id }));
        }
        session.told.push(json!({ "import": what, "answer": answer }));
    }
    session.told.push(json!({ "get": "/api/games", "answer": server.get("/api/games") }));
    compare_json("socket.jsonl", &session.told, normalise);
    if is_writing() {
        keep_page_folder(&dir, &games);
    }
}

/// The games that were played, in play and over, as the server left them.
fn keep_page_folder(dir: &TempDir, games: &[String]) {
    let kept = tempfile::tempdir().unwrap();
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let path = entry.unwrap().path();
        if games.iter().any(|id| path.file_stem().is_some_and(|stem| stem == id.as_str())) {
            std::fs::copy(&path, kept.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    keep_folder("page", kept.path());
}
