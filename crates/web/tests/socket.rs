//! The real server over real sockets: whole games, what is kept of them, strangers.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::time::{Duration, Instant};

use anqi_play::verify;
use anqi_rules::Seed;
use rand_core::Rng;
use serde_json::{Value, json};
use tungstenite::Message;

use crate::common::{Page, choose, follow, moves, plies, start};

#[test]
fn a_whole_game_is_kept_and_its_deal_proven() {
    let server = start(1);
    let mut page = server.page();
    assert_eq!(page.ask(json!({ "type": "hello" }))["levels"].as_array().unwrap().len(), 8);
    let mut game = page.ask(json!({ "type": "new", "first": "person", "second": "person", "clock": "15:00" }));
    let commitment = game["commitment"].clone();
    while game["outcome"].is_null() {
        assert_eq!(game["deal"], Value::Null);
        let (mv, ply) = (choose(&game), plies(&game));
        assert_eq!(page.ask(json!({ "type": "play", "move": mv, "ply": ply }))["type"], "done");
        game = page.hear_game(ply + 1);
    }
    let path = server.dir().join(format!("{}.anqi", game["game"].as_str().unwrap()));
    let record = std::fs::read_to_string(&path).unwrap().parse().unwrap();
    assert!(verify(&record).unwrap().committed);
    assert_eq!(record.deal_commit().unwrap().unwrap().to_string(), commitment.as_str().unwrap());
    assert!(!path.with_extension("journal").exists(), "one game, one file");
    // What was changed afterwards is found.
    let text = record.to_string();
    let at = text.find("(").unwrap() + 1;
    let other = if &text[at..=at] == "P" { "p" } else { "P" };
    let switched = format!("{}{other}{}", &text[..at], &text[at + 1..]);
    assert!(verify(&switched.parse().unwrap()).is_err());
}

#[test]
fn engines_move_and_people_take_back() {
    let server = start(2);
    let mut page = server.page();
    let mut game = page.ask(json!({ "type": "new", "first": "level:1", "second": "person" }));
    if plies(&game) == 0 {
        game = page.hear_game(1);
    }
    assert!(game["yourTurn"].as_bool().unwrap());
    let first = game["plies"][0].clone();
    page.ask(json!({ "type": "play", "move": choose(&game), "ply": 1 }));
    game = page.hear_game(3);
    page.ask(json!({ "type": "take-back" }));
    let back = page.hear();
    assert_eq!((back["plies"].clone(), back["takeBacks"].clone()), (json!([first]), json!(1)));
    assert!(plies(&game) == 3 && back["yourTurn"].as_bool().unwrap());
    // A move that was meant for another state of the game is refused.
    assert_eq!(page.ask(json!({ "type": "play", "move": choose(&back), "ply": 3 }))["type"], "error");
    page.ask(json!({ "type": "resign" }));
    let over = page.hear();
    assert_eq!(over["outcome"]["text"], "first wins (resignation)");
    assert_eq!(page.ask(json!({ "type": "take-back" }))["type"], "error");
}

#[test]
fn engines_play_on_without_a_page() {
    let server = start(17);
    let mut page = server.page();
    let game = page.ask(json!({ "type": "new", "first": "level:1", "second": "level:1" }));
    let path = server.dir().join(format!("{}.anqi", game["game"].as_str().unwrap()));
    drop(page);
    while !path.exists() {
        std::thread::sleep(Duration::from_millis(10));
    }
}

#[test]
fn draws_are_offered_declined_and_agreed() {
    let server = start(13);
    let (mut page, mut other) = (server.page(), server.page());
    let game = page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    other.ask(json!({ "type": "open", "game": game["game"] }));
    let refused = page.ask(json!({ "type": "accept-draw" }));
    assert_eq!((&refused["type"], &refused["kind"]), (&json!("error"), &json!("no-offer")));
    assert_eq!(page.ask(json!({ "type": "offer-draw" }))["type"], "done");
    assert_eq!(other.hear()["offer"], "first");
    other.ask(json!({ "type": "decline-draw" }));
    assert_eq!((page.hear()["offer"].clone(), page.hear()["offer"].clone()), (json!("first"), Value::Null));
    assert_eq!(page.ask(json!({ "type": "offer-draw" }))["kind"], "offered-already");
    page.ask(json!({ "type": "play", "move": choose(&game), "ply": 0 }));
    page.ask(json!({ "type": "offer-draw" }));
    // An offer that stands survives as long as the game does: it is in the journal.
    let journal = server.dir().join(format!("{}.journal", game["game"].as_str().unwrap()));
    assert!(std::fs::read_to_string(journal).unwrap().contains(r#"{"entry":"offer","by":"second"}"#));
    other.ask(json!({ "type": "accept-draw" }));
    let over = page.hear_over();
    assert_eq!((&over["outcome"]["reason"], &over["outcome"]["score"]), (&json!("agreement"), &json!("1/2-1/2")));
    assert!(over["deal"]["seed"].is_string());
    let record = server.get(&format!("/api/games/{}.anqi", game["game"].as_str().unwrap()));
    assert!(record.contains("[Termination \"agreement\"]") && verify(&record.parse().unwrap()).unwrap().committed);
    // Engines decline at once.
    page.ask(json!({ "type": "new", "first": "person", "second": "level:1" }));
    assert_eq!(page.ask(json!({ "type": "offer-draw" }))["type"], "done");
    assert_eq!(page.hear()["offer"], Value::Null);
}

#[test]
fn a_flag_falls_by_itself() {
    let server = start(7);
    let mut page = server.page();
    let game = page.ask(json!({ "type": "new", "first": "person", "second": "level:1", "clock": "0.2" }));
    assert_eq!(game["clocks"]["running"], "first");
    let over = page.hear();
    assert_eq!(over["outcome"]["text"], "second wins (time)");
    assert_eq!(page.ask(json!({ "type": "play", "move": "a1", "ply": 0 }))["type"], "error");
}

/// Two pages in one game: what one is told as whole games the other is told as changes, and both show the same.
#[test]
fn changes_add_up_to_the_whole_game() {
    let server = start(13);
    let (mut whole, mut changes) = (server.page(), server.page());
    assert_eq!(whole.ask(json!({ "type": "hello" }))["schema"], "anqi-page-1");
    assert_eq!(changes.ask(json!({ "type": "hello", "schema": "anqi-page-2" }))["schema"], "anqi-page-2");
    let refused = changes.ask(json!({ "type": "hello", "schema": "anqi-page-3" }));
    assert!(refused["message"].as_str().unwrap().contains("anqi-page-3"), "{refused}");
    for rules in ["server,board=2x4", "server"] {
        let mut game = whole.ask(json!({ "type": "new", "first": "person", "second": "level:1", "rules": rules }));
        let mut copy = changes.ask(json!({ "type": "open", "game": game["game"] }));
        copy.as_object_mut().unwrap().remove("re");
        let mut longest = 0;
        while game["outcome"].is_null() {
            if game["yourTurn"] == json!(true) {
                let ply = plies(&game);
                let request = match ply {
                    4 if game["takeBacks"] == json!(0) => json!({ "type": "take-back" }),
                    60 => json!({ "type": "resign" }),
                    _ => json!({ "type": "play", "move": choose(&game), "ply": ply }),
                };
                assert_eq!(whole.ask(request)["type"], "done");
            }
            game = whole.hear();
            let change = changes.hear();
            assert_eq!((&game["type"], &change["type"]), (&json!("game"), &json!("change")));
            assert!(change["plies"].as_array().unwrap().len() <= 1, "{change}");
            longest = longest.max(changes.heard.last().unwrap().len());
            follow(&mut copy, &change);
            assert_eq!(copy, game);
        }
        assert_eq!(game["takeBacks"], 1);
        assert!(game["deal"].is_object() && longest < 2500, "{longest} bytes");
    }
}

/// What cannot be done is said in words, and as a kind for programs.
#[test]
fn refusals_have_a_kind() {
    let server = start(14);
    let mut page = server.page();
    let kind = |page: &mut Page, request: Value| {
        let refused = page.ask(request);
        assert!(refused["type"] == "error" && !refused["message"].as_str().unwrap().is_empty(), "{refused}");
        refused["kind"].as_str().unwrap().to_owned()
    };
    assert_eq!(kind(&mut page, json!({ "type": "castle" })), "malformed");
    assert_eq!(kind(&mut page, json!({ "type": "resign" })), "nothing-open");
    assert_eq!(kind(&mut page, json!({ "type": "open", "game": "0123456789abcdef" })), "no-such-game");
    assert_eq!(kind(&mut page, json!({ "type": "open-link", "link": "server~~~A" })), "wrong-link");
    let new = |first: &str, rules: &str| json!({ "type": "new", "first": first, "second": "person", "rules": rules });
    assert_eq!(kind(&mut page, new("level:99", "server")), "wrong-player");
    assert_eq!(kind(&mut page, new("person", "chess")), "wrong-setup");
    page.ask(new("person", "server"));
    assert_eq!(kind(&mut page, json!({ "type": "play", "move": "z9", "ply": 0 })), "not-a-move");
    assert_eq!(kind(&mut page, json!({ "type": "play", "move": "a1-a2", "ply": 0 })), "illegal");
    assert_eq!(kind(&mut page, json!({ "type": "play", "move": "a1", "ply": 4 })), "other-ply");
    assert_eq!(kind(&mut page, json!({ "type": "take-back" })), "nothing-to-take-back");
    assert_eq!(kind(&mut page, json!({ "type": "at", "ply": 1 })), "no-such-ply");
    assert_eq!(kind(&mut page, json!({ "type": "review" })), "still-played");
    assert_eq!(kind(&mut page, json!({ "type": "analyse", "ply": 0, "nodes": 10_000_001 })), "too-many-nodes");
    page.ask(json!({ "type": "resign" }));
    page.hear();
    assert_eq!(kind(&mut page, json!({ "type": "play", "move": "a1", "ply": 0 })), "over");
    assert_eq!(kind(&mut page, json!({ "type": "hint" })), "nothing-to-play");
    // A game of a link is kept, not played.
    assert_eq!(page.ask(json!({ "type": "open-link", "link": "server~~~" }))["inPlay"], json!(false));
    assert_eq!(kind(&mut page, json!({ "type": "play", "move": "a1", "ply": 0 })), "kept");
}

/// Positions looked at in all stages of an analysis, each of which maps every flip.
fn stages(page: &mut Page, request: Value, flips: usize) -> Vec<u64> {
    assert_eq!(page.ask(request)["type"], "done");
    let mut nodes = Vec::new();
    loop {
        let study = page.hear();
        nodes.push(study["nodes"].as_u64().unwrap());
        assert_eq!(study["flips"].as_array().unwrap().len(), flips);
        if !study["isDuringSearch"].as_bool().unwrap() {
            return nodes;
        }
    }
}

#[test]
fn analysis_and_review_stream() {
    let server = start(8);
    let mut page = server.page();
    let rules = "server,board=2x2";
    let mut game = page.ask(json!({ "type": "new", "first": "person", "second": "person", "rules": rules }));
    assert_eq!(page.ask(json!({ "type": "review" }))["type"], "error");
    // A small board is proven sooner or later, and then there is nothing more to say.
    let small = stages(&mut page, json!({ "type": "analyse", "ply": 0 }), 4);
    assert!(small.len() < 5 && small.is_sorted(), "{small:?}");
    while game["outcome"].is_null() {
        let ply = plies(&game);
        page.ask(json!({ "type": "play", "move": choose(&game), "ply": ply }));
        game = page.hear_game(ply + 1);
    }
    page.ask(json!({ "type": "review" }));
    for ply in 0..plies(&game) {
        let heard = page.hear();
        assert_eq!((heard["type"].as_str().unwrap(), &heard["review"]["ply"]), ("review-ply", &json!(ply)));
    }
    let review = page.hear();
    let moves = |side: usize| review["sides"][side]["moves"].as_u64().unwrap();
    assert_eq!(moves(0) + moves(1), plies(&game) as u64);
    page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    let large = stages(&mut page, json!({ "type": "analyse", "ply": 0, "nodes": 50_000 }), 32);
    assert_eq!(large, [4000, 20_000, 50_000]);
    let refused = page.ask(json!({ "type": "analyse", "ply": 0, "nodes": 10_000_001 }));
    assert!(refused["message"].as_str().unwrap().contains("10000001 nodes are too many"));
}

/// One document in both schemas; the older has some of it twice, where it was before.
#[test]
fn an_analysis_is_the_same_document_in_both_schemas() {
    let server = start(15);
    let (mut older, mut page) = (server.page(), server.page());
    page.ask(json!({ "type": "hello", "schema": "anqi-page-2" }));
    let game = older.ask(json!({ "type": "new", "first": "person", "second": "person", "rules": "server,board=2x4" }));
    page.ask(json!({ "type": "open", "game": game["game"] }));
    let request = json!({ "type": "analyse", "ply": 0, "nodes": 4000 });
    let [older, now] = [&mut older, &mut page].map(|page| {
        assert_eq!(page.ask(request.clone())["type"], "done");
        page.hear()
    });
    assert_eq!((&now["schema"], &now["isDuringSearch"]), (&json!("anqi-analysis-1"), &json!(false)));
    for (name, value) in now.as_object().unwrap().iter().filter(|(name, _)| *name != "moveInfos") {
        assert_eq!(*value, older[name], "{name}");
    }
    for name in ["nodes", "depth", "move", "pv"] {
        assert_eq!(older[name], now["rootInfo"][name], "{name}");
    }
    let (infos, flips) = (now["moveInfos"].as_array().unwrap(), older["flips"].as_array().unwrap());
    assert_eq!((infos.len(), flips.len()), (8, 8));
    assert_eq!(older["moveInfos"].as_array().unwrap()[..], infos[..6]);
    for (info, flip) in infos.iter().zip(flips) {
        assert_eq!((&info["move"], &info["winrate"]), (&flip["square"], &flip["winrate"]));
        let outcomes = |of: &Value| -> Vec<Value> {
            let all = of["outcomes"].as_array().unwrap().iter();
            all.map(|outcome| json!([outcome["piece"], outcome["count"], outcome["probability"], outcome["winrate"]]))
                .collect()
        };
        assert_eq!(outcomes(info), outcomes(flip));
    }
    assert!(now["rootInfo"].get("seconds").is_none() && now.get("flips").is_none());
}

/// A game is in memory while somebody looks at it, thinks in it or has a clock running; it is on the disk all the time.
#[test]
fn games_that_nobody_has_open_are_on_the_disk_alone() {
    const GAMES: usize = 300;
    let server = start(11);
    let mut page = server.page();
    let mut begun = Vec::new();
    for number in 0..GAMES {
        let game = page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
        page.ask(json!({ "type": "play", "move": moves(&game)[number % 32], "ply": 0 }));
        let game = page.hear_game(1);
        begun.push((game["game"].clone(), game["plies"].clone()));
        assert!(server.house().open_games() <= 1, "the one before is let go");
    }
    for (number, (name, played)) in begun.iter().enumerate() {
        let game = page.ask(json!({ "type": "open", "game": name }));
        assert_eq!(game["plies"], *played);
        if number % 3 == 0 {
            page.ask(json!({ "type": "play", "move": choose(&game), "ply": 1 }));
            assert_eq!(page.hear_game(2)["plies"][0], played[0], "the same deal");
        }
    }
    assert_eq!(server.house().open_games(), 1);
    // Two pages in one game hear of each other, though one came when the game was only on disk.
    let mut other = server.page();
    let game = other.ask(json!({ "type": "open", "game": begun[1].0 }));
    page.ask(json!({ "type": "open", "game": begun[1].0 }));
    page.ask(json!({ "type": "play", "move": choose(&game), "ply": 1 }));
    assert_eq!(other.hear_game(2)["plies"], page.hear_game(2)["plies"]);
    other.ask(json!({ "type": "close" }));
    page.ask(json!({ "type": "close" }));
    assert_eq!(server.house().open_games(), 0);
    // A clock runs on when everybody has left.
    page.ask(json!({ "type": "new", "first": "person", "second": "person", "clock": "0.3" }));
    page.ask(json!({ "type": "close" }));
    assert_eq!(server.house().open_games(), 1);
    while server.house().open_games() > 0 {
        std::thread::sleep(Duration::from_millis(20));
    }
    let list: Value = serde_json::from_str(&server.get("/api/games")).unwrap();
    let reasons = list["games"].as_array().unwrap().iter().filter(|game| game["reason"] == "time").count();
    assert_eq!(reasons, 1);
}

/// Nobody goes on playing in the belief that the game is kept.
#[test]
fn a_game_that_is_not_on_the_disk_says_so() {
    let server = start(12);
    let mut page = server.page();
    let game = page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    assert_eq!(game["trouble"], Value::Null);
    std::fs::remove_dir_all(server.dir()).unwrap();
    page.ask(json!({ "type": "play", "move": choose(&game), "ply": 0 }));
    assert_eq!(page.hear_game(1)["trouble"], Value::Null, "the system has not been asked yet");
    let told = page.hear();
    assert!(told["trouble"].as_str().unwrap().contains("deleted while in use"), "{told}");
    // What cannot be begun at all is refused at once.
    let refused = page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    assert!(refused["message"].as_str().unwrap().contains("cannot write the game down"), "{refused}");
    // Who comes later hears of it, too; and at the end the record cannot be written.
    let again = page.ask(json!({ "type": "open", "game": game["game"] }));
    assert!(again["trouble"].is_string());
    let refused = page.ask(json!({ "type": "resign" }));
    assert!(refused["message"].as_str().unwrap().contains("cannot write the game down"), "{refused}");
    assert_eq!(page.hear()["outcome"]["reason"], "resignation");
}

/// A message with something wrong in it, mostly.
fn mangled(rng: &mut impl Rng) -> String {
    const SOUND: [&str; 12] = [
        r#"{"type":"play","move":"a1-a2","ply":0}"#,
        r#"{"type":"open","game":"0123456789abcdef"}"#,
        r#"{"type":"at","ply":1}"#,
        r#"{"type":"open-link","link":"server~~~AA"}"#,
        r#"{"type":"take-back","re":3}"#,
        r#"{"type":"analyse","ply":999}"#,
        r#"{"type":"new","first":"nobody","second":"person","rules":"chen","clock":null}"#,
        r#"{"type":"link","re":18446744073709551615}"#,
        r#"{"type":"open","game":"0123456789abcdef","token":"0123456789abcdef0123456789abcdef"}"#,
        r#"{"type":"join","token":"0123456789abcdef0123456789abcdef"}"#,
        r#"{"type":"commit","commitment":"00"}"#,
        r#"{"type":"reveal","seed":"1","nonce":"2"}"#,
    ];
    let mut bytes = SOUND[rng.next_u32() as usize % SOUND.len()].as_bytes().to_vec();
    for _ in 0..1 + rng.next_u32() % 4 {
        let at = rng.next_u32() as usize % bytes.len().max(1);
        let byte = 32 + (rng.next_u32() % 95) as u8;
        match rng.next_u32() % 4 {
            0 => bytes[at] = byte,
            1 => bytes.insert(at, byte),
            2 if bytes.len() > 1 => drop(bytes.remove(at)),
            _ => bytes.truncate(at.max(1)),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

fn fuzz(messages: u64) {
    let server = start(4);
    let mut page = server.page();
    let game = page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    let mut rng = Seed::from(6).rng();
    let mut errors = 0;
    for _ in 0..messages {
        let text = mangled(&mut rng);
        page.socket.send(Message::text(text.clone())).unwrap();
        let answer = page.hear();
        let kind = answer["type"].as_str().unwrap_or_else(|| panic!("{text} was answered with {answer}")).to_owned();
        errors += u64::from(kind == "error");
        page.heard.clear();
    }
    assert!(errors * 10 > messages * 8, "{errors} of {messages} were errors");
    let still = page.ask(json!({ "type": "open", "game": game["game"] }));
    assert_eq!(still["plies"], game["plies"]);
    println!("{messages} messages, {errors} answered with an error, nothing lost");
}

#[test]
fn strange_messages_are_answered() {
    fuzz(3000);
}

#[test]
#[ignore = "long: a million messages"]
fn a_million_strange_messages_are_answered() {
    fuzz(1_000_000);
}

#[test]
fn foreign_pages_and_long_messages_are_refused() {
    let server = start(5);
    assert!(server.connect(Some("http://evil.example")).unwrap_err().contains("403"));
    assert!(server.connect(Some(&format!("http://127.0.0.1:{}", server.port))).is_ok());

    let mut page = server.page();
    let long = format!(r#"{{"type":"open","game":"{}"}}"#, "x".repeat(17 * 1024));
    let _ = page.socket.send(Message::text(long));
    let closed = loop {
        match page.socket.read() {
            Ok(Message::Close(_)) | Err(_) => break true,
            Ok(Message::Text(_)) => break false,
            Ok(_) => {}
        }
    };
    assert!(closed);
    let near = format!(r#"{{"type":"open","game":"{}"}}"#, "x".repeat(15 * 1024));
    let mut page = server.page();
    page.socket.send(Message::text(near)).unwrap();
    let answer = page.hear();
    assert_eq!(answer["type"], "error");
    assert!(answer["message"].as_str().unwrap().len() < 500, "errors show an excerpt");
}

#[test]
#[ignore = "long: waits for what is silent"]
fn whoever_is_silent_or_slow_is_let_go() {
    let server = start(6);
    let begun = Instant::now();
    // A socket that answers no ping, a connection that asks nothing, one that stops in the middle of asking.
    let socket = server.connect(None).unwrap();
    let mut quiet = vec![socket.get_ref().try_clone().unwrap()];
    for text in [
        "",
        "GET / HTTP/1.1\r\nHost: 127",
        "POST /api/games HTTP/1.1\r\nHost: 127.0.0.1\r\ncontent-type: text/plain\r\ncontent-length: 90\r\n\r\n",
    ] {
        let mut stream = TcpStream::connect(("127.0.0.1", server.port)).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        quiet.push(stream);
    }
    for (number, mut stream) in quiet.into_iter().enumerate() {
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut rest = Vec::new();
        let ended = stream.read_to_end(&mut rest);
        let closed = ended.as_ref().map_or_else(|error| error.kind() == ErrorKind::ConnectionReset, |_| true);
        let after = begun.elapsed();
        assert!(closed && after < Duration::from_secs(17), "connection {number}: {ended:?} after {after:?}");
        println!("connection {number} closed after {after:.1?}");
    }
}
