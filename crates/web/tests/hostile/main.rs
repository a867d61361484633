//! Strangers at the door: visitors who want all engines, all sockets, all of the disk, and those who only want to play
//! meanwhile. Every visitor has an address of its own in 127.0.0.0/8. The long forms are in `crates/cli/tests/hostile`.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

#[path = "../common/mod.rs"]
mod common;
mod network;
mod operator;

use std::io::{Read, Write};
use std::num::NonZeroUsize;

use anqi_rules::Seed;
use anqi_web::{HouseSettings, Rate, ServerLimits, ServerSettings, Slots};
use serde_json::{Value, json};
use tungstenite::Message;

use crate::common::{Page, RUNTIME, Server, choose, connect_from, plies, start, start_network};

/// The visitor who only wants to play.
const HONEST: u8 = 200;

fn settings(seed: u64, limits: ServerLimits) -> HouseSettings {
    HouseSettings { deals: Some(Seed::from(seed)), limits, public: true, ..HouseSettings::default() }
}

/// A server whose slots do not depend on this machine.
fn server(seed: u64, mut limits: ServerLimits) -> Server {
    let number = |number| NonZeroUsize::new(number).unwrap();
    limits.slots = Slots { play: number(2), study: number(1), quick: number(1) };
    let metrics = Some(RUNTIME.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap());
    start_network(&settings(seed, limits), ServerSettings { metrics, ..ServerSettings::default() })
}

/// Bounds of a network, but for budgets that allow searches of a minute.
fn long_searches() -> ServerLimits {
    let limits = ServerLimits::public();
    ServerLimits { bots: ServerLimits::default().bots, games: Rate::per_second(1e3, 1e3), ..limits }
}

/// Plays so many moves against level 1, each answered by it.
fn play(page: &mut Page, moves: usize) {
    let mut game = page.ask(json!({ "type": "new", "first": "person", "second": "level:1" }));
    for _ in 0..moves {
        let ply = plies(&game);
        assert_eq!(page.ask(json!({ "type": "play", "move": choose(&game), "ply": ply }))["type"], "done");
        while plies(&game) < ply + 2 {
            game = page.hear();
        }
    }
}

fn wait_until(mut done: impl FnMut() -> bool) {
    while !done() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
}

fn waiting(server: &Server) -> f64 {
    ["clocked", "move", "study"]
        .into_iter()
        .flat_map(|class| ["waiting", "running"].map(|what| format!("anqi_searches_{what}{{class=\"{class}\"}}")))
        .map(|name| server.metric(&name))
        .sum()
}

/// Engines that think for a minute, in games with and without a clock, took all slots: others lost on time.
#[test]
fn games_of_long_searches_do_not_keep_others_waiting() {
    let server = server(101, long_searches());
    let bot = "mcts:chance,memory=16 movetime=60";
    let mut hogs: Vec<Page> = (1..=6).map(|address| server.page_from(address)).collect();
    for (number, hog) in hogs.iter_mut().enumerate() {
        let clock = (number % 2 == 0).then_some("60:00");
        let game = hog.ask(json!({ "type": "new", "first": bot, "second": "person", "clock": clock }));
        assert_eq!(game["type"], "game", "{game}");
    }
    wait_until(|| waiting(&server) >= 6.0);
    let mut honest = server.page_from(HONEST);
    play(&mut honest, 10);
    // A hint needs a slot for long work, and there is one for those who had little.
    assert_eq!(honest.ask(json!({ "type": "hint" }))["type"], "hint");
    // All that while the others are still at their first moves.
    for hog in &mut hogs {
        let heard = hog.ask(json!({ "type": "link" }));
        assert_eq!(heard["type"], "link");
        assert!(hog.heard.iter().all(|text| !text.contains("\"plies\":[\"")), "a search of a minute has ended");
    }
    drop(hogs);
    // Games with a clock go on without pages; the others wait.
    wait_until(|| waiting(&server) <= 3.0);
}

/// A thousand hints were all thought about, though the page that asked was gone.
#[test]
fn a_thousand_hints_of_a_page_that_leaves_cost_nothing() {
    let server = server(102, ServerLimits { messages: Rate::per_second(1e4, 1e4), ..long_searches() });
    let mut page = server.page_from(1);
    page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    for number in 0..1000 {
        page.socket.send(Message::text(json!({ "type": "hint", "re": 1_000_000 + number }).to_string())).unwrap();
    }
    // Three ran, two waited; the others were refused at once.
    let refused: Vec<Value> =
        std::iter::repeat_with(|| page.hear()).filter(|heard| heard["type"] == "error").take(900).collect();
    assert!(refused.iter().all(|refused| refused["kind"] == "busy"), "{}", refused[0]);
    assert!(refused[0]["message"].as_str().unwrap().contains("2 requests of yours wait"), "{}", refused[0]);
    drop(page);
    wait_until(|| waiting(&server) == 0.0);
    let thought = server.metric("anqi_search_wait_seconds_count{class=\"move\"}");
    assert!(thought <= 100.0, "{thought} of 1,000 hints were thought about");
    play(&mut server.page_from(HONEST), 3);
}

/// Thirty analyses kept hints, warnings and other analyses waiting.
#[test]
fn thirty_analyses_give_way() {
    let server = server(103, ServerLimits { analysis_nodes: 10_000_000, ..long_searches() });
    let mut pages: Vec<Page> = (1..=30).map(|address| server.page_from(address)).collect();
    for page in &mut pages {
        page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
        assert_eq!(page.ask(json!({ "type": "analyse", "ply": 0, "nodes": 10_000_000 }))["type"], "done");
    }
    let mut honest = server.page_from(HONEST);
    play(&mut honest, 3);
    assert_eq!(honest.ask(json!({ "type": "hint" }))["type"], "hint");
    let still = server.metric("anqi_searches_waiting{class=\"study\"}");
    assert!(still >= 20.0, "{still} analyses still wait");
    // Of one visitor two wait beside one that may run, and a further one is told so.
    let mut others: Vec<Page> = (0..4).map(|_| server.page_from(31)).collect();
    let asked: Vec<Value> = others
        .iter_mut()
        .map(|page| {
            page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
            page.ask(json!({ "type": "analyse", "ply": 0 }))["kind"].clone()
        })
        .collect();
    let busy = asked.iter().filter(|kind| **kind == json!("busy")).count();
    assert!((1..=2).contains(&busy), "{asked:?}");
    drop((pages, others));
    wait_until(|| waiting(&server) == 0.0);
}

/// Engines without a clock think while a page shows their game, and move when it is opened again.
#[test]
fn an_engine_that_no_page_shows_waits_for_one() {
    let server = server(104, long_searches());
    let mut page = server.page_from(1);
    let game = page.ask(json!({ "type": "new", "first": "mcts:chance,memory=16 movetime=60", "second": "person" }));
    wait_until(|| waiting(&server) == 1.0);
    page.ask(json!({ "type": "close" }));
    wait_until(|| waiting(&server) == 0.0);
    assert_eq!(page.ask(json!({ "type": "open", "game": game["game"] }))["plies"], json!([]));
    wait_until(|| waiting(&server) == 1.0);
}

/// Bounds are for new games: one that was begun with more is not lost when a server has less.
#[test]
fn a_game_that_was_begun_with_more_goes_on() {
    let alone = start(109);
    let new = json!({ "type": "new", "first": "mcts:chance,memory=16 movetime=60", "second": "person" });
    let mut page = alone.page();
    let game = page.ask(new.clone());
    drop(page);
    wait_until(|| waiting(&alone) == 0.0);
    let server = alone.restart(&settings(109, ServerLimits::public()));
    let mut page = server.page();
    assert_eq!(page.ask(json!({ "type": "open", "game": game["game"] }))["commitment"], game["commitment"]);
    let refused = page.ask(new);
    assert_eq!((&refused["type"], &refused["kind"]), (&json!("error"), &json!("wrong-player")));
}

/// Sockets that ask and never read held their places for ever, and those of pages were not counted.
#[test]
fn slow_readers_make_room() {
    const ROOM: usize = 48;
    let limits = ServerLimits { sockets: ROOM, sockets_each: 16, ..ServerLimits::public() };
    let server = server(105, limits);
    let mut player = server.page_from(HONEST);
    let game = player.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    let many = "GET /main.js HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".repeat(50);
    let mut slow = Vec::new();
    for number in 0..2 * ROOM {
        let address = 1 + (number / 8) as u8;
        if number % 2 == 0 {
            let mut stream = connect_from(address, server.port);
            let _ = stream.write_all(many.as_bytes());
            slow.push(stream);
        } else {
            let page = server.page_from(address).socket;
            slow.push(page.get_ref().try_clone().unwrap());
        }
    }
    // Newcomers get in, the game that is played goes on, and there are never more sockets than there is room for.
    let mut newcomer = server.page_from(HONEST + 1);
    play(&mut newcomer, 3);
    assert_eq!(player.ask(json!({ "type": "play", "move": choose(&game), "ply": 0 }))["type"], "done");
    assert!(server.metric("anqi_sockets") <= (ROOM + 1) as f64);
    assert!(server.metric("anqi_shed_total") >= ROOM as f64);
    drop(slow);
}

/// One address has a bounded number of sockets.
#[test]
fn a_visitor_has_so_many_sockets() {
    let server = server(106, ServerLimits { sockets_each: 4, ..ServerLimits::public() });
    let pages: Vec<Page> = (0..4).map(|_| server.page_from(1)).collect();
    let mut fifth = connect_from(1, server.port);
    let mut rest = Vec::new();
    assert!(fifth.read_to_end(&mut rest).is_err() || rest.is_empty(), "it is closed at once");
    play(&mut server.page_from(HONEST), 2);
    drop(pages);
    wait_until(|| server.metric("anqi_visitors") <= 2.0);
    server.page_from(1);
}

/// Messages beyond the rate wait, those of others do not.
#[test]
fn messages_beyond_the_rate_wait() {
    let server = server(107, ServerLimits { messages: Rate::per_second(50.0, 20.0), ..ServerLimits::public() });
    let mut flood = server.page_from(1);
    for _ in 0..2000 {
        flood.socket.send(Message::text(r#"{"type":"hello"}"#)).unwrap();
    }
    let mut honest = server.page_from(HONEST);
    assert_eq!(honest.ask(json!({ "type": "hello" }))["type"], "welcome");
    assert!(server.metric("anqi_messages_total") < 1000.0);
    assert_eq!(flood.hear()["type"], "welcome", "none is refused");
    wait_until(|| server.metric("anqi_throttled_total") > 0.0);
}

/// What is refused for a bound has a kind of its own.
#[test]
fn games_and_journals_are_bounded() {
    let limits = ServerLimits {
        games: Rate { burst: 3.0, per_second: 1e-6 },
        game_bytes: 2000,
        folder_games: 5,
        ..ServerLimits::public()
    };
    let server = server(108, limits);
    let mut page = server.page_from(1);
    let new = json!({ "type": "new", "first": "person", "second": "person" });
    let mut game = page.ask(new.clone());
    // Back and forth: nothing but the journal grows.
    let refused = loop {
        let done = page.ask(json!({ "type": "play", "move": choose(&game), "ply": 0 }));
        if done["type"] == "error" {
            break done;
        }
        let done = page.ask(json!({ "type": "take-back" }));
        if done["type"] == "error" {
            break done;
        }
        game = page.hear();
    };
    assert_eq!(refused["kind"], "quota", "{refused}");
    assert!(refused["message"].as_str().unwrap().contains("this game has 20"), "{refused}");
    assert_eq!([page.ask(new.clone())["type"].clone(), page.ask(new.clone())["type"].clone()], ["game", "game"]);
    let refused = page.ask(new.clone());
    assert_eq!(refused["kind"], "busy");
    assert!(refused["message"].as_str().unwrap().contains("too many new games from your address"), "{refused}");
    let mut other = server.page_from(2);
    assert_eq!([other.ask(new.clone())["type"].clone(), other.ask(new.clone())["type"].clone()], ["game", "game"]);
    let refused = other.ask(new);
    assert_eq!(
        (&refused["kind"], &refused["message"]),
        (&json!("quota"), &json!("this server has 5 games, and keeps no more"))
    );
    assert!(server.metric("anqi_refusals_total{kind=\"quota\"}") >= 2.0);
}
