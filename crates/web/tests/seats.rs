//! Games of two people over real sockets: who may act, what strangers can do, and what happens when players leave.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::time::Duration;

use anqi_play::verify;
use anqi_records::Record;
use anqi_rules::Seed;
use anqi_web::{HouseSettings, Waits};
use serde_json::{Value, json};

use crate::common::{Friends, Page, Server, WATCHER, choose, commit, contribution, plies, reveal, start, start_with};

const SOON: Duration = Duration::from_millis(80);
/// Long enough for some requests.
const LATER: Duration = Duration::from_millis(800);

fn settings(waits: Waits) -> HouseSettings {
    HouseSettings { deals: Some(Seed::from(17)), waits, ..HouseSettings::default() }
}

fn small() -> Value {
    json!({ "rules": "server,board=2x4" })
}

fn record(server: &Server, id: &str) -> Record {
    server.get(&format!("/api/games/{id}.anqi")).parse().unwrap()
}

#[test]
fn two_people_play_by_link_and_their_deal_is_proven() {
    let server = start(1);
    let mut friends = Friends::begun(&server, json!({ "clock": "15:00" }));
    let commitments: Vec<Value> =
        [0, 1].map(|seat| friends.games[0]["joint"]["parts"][seat]["commitment"].clone()).to_vec();
    while friends.games[0]["outcome"].is_null() && plies(&friends.games[0]) < 60 {
        friends.play();
    }
    friends.does(1, json!({ "type": "resign" }));
    let over = &friends.games[WATCHER];
    assert_eq!(over["outcome"]["winner"], "first");
    for seat in [0, 1] {
        let told = &over["deal"]["contributions"][seat];
        let own = contribution(seat);
        assert_eq!((&told["seed"], &told["nonce"]), (&json!(own.seed.to_string()), &json!(own.nonce.to_string())));
        assert_eq!(commitments[seat], json!(own.commitment(&friends.id).to_string()));
    }
    let verified = verify(&record(&server, &friends.id)).unwrap();
    assert_eq!((verified.committed, verified.contributed), (true, [true; 2]));
    assert!(verified.flips > 0);
    // What the page is told of a kept game is the same.
    let again = server.page().ask(json!({ "type": "open", "game": friends.id, "token": friends.tokens[0] }));
    assert_eq!((&again["deal"], &again["joint"]), (&over["deal"], &over["joint"]));
    assert_eq!(again["you"]["seats"], json!(["first"]));
}

#[test]
fn only_a_seat_acts() {
    let server = start(2);
    let mut friends = Friends::begun(&server, small());
    let before = friends.games[0].clone();
    let mv = choose(&before);
    let play = json!({ "type": "play", "move": mv, "ply": 0 });
    let teach = json!({ "type": "play", "move": mv, "ply": 0, "teach": true });
    for request in [&play, &teach] {
        assert_eq!(friends.refused(WATCHER, request.clone()), "not-seated");
        assert_eq!(friends.refused(1, request.clone()), "not-your-turn");
    }
    for kind in ["resign", "take-back", "offer-draw", "accept-draw", "decline-draw", "claim", "go-on"] {
        assert_eq!(friends.refused(WATCHER, json!({ "type": kind })), "not-seated", "{kind}");
    }
    for request in [commit(1, &friends.id), reveal(1)] {
        assert_eq!(friends.refused(WATCHER, request), "not-seated");
    }
    // A spectator may look.
    assert_eq!(friends.pages[WATCHER].ask(json!({ "type": "at", "ply": 0 }))["type"], "position");
    assert_eq!(friends.pages[WATCHER].ask(json!({ "type": "link" }))["type"], "link");
    assert_eq!(server.page().ask(json!({ "type": "open", "game": friends.id }))["version"], before["version"]);
    // A draw is answered by the other player alone, and nothing is taken back.
    friends.play();
    assert_eq!(friends.refused(1, json!({ "type": "take-back" })), "no-take-back");
    assert_eq!(friends.games[0]["canTakeBack"], json!(false));
    friends.does(0, json!({ "type": "offer-draw" }));
    assert_eq!(friends.games[1]["offer"], "first");
    assert_eq!(friends.refused(0, json!({ "type": "accept-draw" })), "no-offer");
    friends.does(1, json!({ "type": "accept-draw" }));
    assert_eq!(friends.games[WATCHER]["outcome"]["reason"], "agreement");
}

#[test]
fn tokens_cannot_be_guessed_replayed_or_used_twice() {
    let server = start(3);
    let mut friends = Friends::invited(&server, small());
    let other = Friends::joined(&server, small());
    let (id, invitation) = (friends.id.clone(), friends.tokens[2].clone());
    let open = |token: &str| json!({ "type": "open", "game": id, "token": token });
    let join = |token: &str| json!({ "type": "join", "token": token });
    let journal = std::fs::read_to_string(server.dir().join(format!("{id}.journal"))).unwrap();
    let hash = journal.split(['"', ' ']).find(|word| word.len() == 64).unwrap().to_owned();
    let mut stranger = server.page();
    for token in [
        "",
        "0",
        "none",
        &"0".repeat(32),
        &"f".repeat(32),
        &hash,
        &hash[..32],
        &invitation[..31],
        &format!("{invitation}0"),
        &other.tokens[0],
        &other.tokens[1],
        &other.tokens[2],
    ] {
        assert_eq!(stranger.ask(open(token))["kind"], "wrong-token", "{token}");
        assert_eq!(friends.refused(WATCHER, join(token)), "wrong-token", "{token}");
    }
    // The seat of the first player is no invitation.
    assert_eq!(friends.refused(WATCHER, join(&friends.tokens[0])), "wrong-token");
    assert_eq!(stranger.ask(join(&invitation))["kind"], "nothing-open");
    // The first who comes has the seat; the link is used.
    let mut both = [server.page(), server.page()];
    for page in &mut both {
        assert_eq!(page.ask(open(&invitation))["you"]["invited"], "second");
    }
    let token = both[1].ask(join(&invitation))["you"]["token"].as_str().unwrap().to_owned();
    assert_ne!(token, invitation);
    assert_eq!(both[0].ask(join(&invitation))["kind"], "taken");
    assert_eq!(both[1].ask(join(&invitation))["kind"], "taken");
    assert_eq!(stranger.ask(open(&invitation))["kind"], "taken");
    assert_eq!(both[0].ask(json!({ "type": "resign" }))["kind"], "not-seated");
    // The fresh token opens the seat anywhere, here and in no other game.
    assert_eq!(stranger.ask(open(&token))["you"]["seats"], json!(["second"]));
    assert_eq!(stranger.ask(json!({ "type": "open", "game": other.id, "token": token }))["kind"], "wrong-token");
}

#[test]
fn a_deal_is_made_in_order_or_not_at_all() {
    let server = start(4);
    let mut friends = Friends::invited(&server, small());
    let id = friends.id.clone();
    let play = json!({ "type": "play", "move": "a1", "ply": 0 });
    assert_eq!(friends.refused(0, play.clone()), "not-begun");
    assert_eq!(friends.refused(0, json!({ "type": "claim" })), "not-begun");
    assert_eq!(friends.refused(0, reveal(0)), "not-awaited");
    assert_eq!(friends.refused(1, commit(1, &id)), "not-seated");
    friends.does(0, commit(0, &id));
    assert_eq!(friends.refused(0, commit(0, &id)), "not-awaited");
    assert_eq!(friends.refused(0, reveal(0)), "not-awaited");
    let joined = friends.pages[1].ask(json!({ "type": "join", "token": friends.tokens[2] }));
    friends.games[1] = joined;
    friends.catch_up();
    assert_eq!(friends.refused(0, reveal(0)), "not-awaited");
    assert_eq!(friends.refused(1, play.clone()), "not-begun");
    // A commitment that was made for another game, or by the other player, cannot be opened.
    friends.does(1, commit(0, &id));
    assert_eq!(friends.refused(1, reveal(0)), "not-opened");
    assert_eq!(friends.refused(1, reveal(1)), "not-opened");
    assert_eq!(friends.refused(1, commit(1, &id)), "not-awaited");
    for request in [
        json!({ "type": "reveal", "seed": "x", "nonce": "1" }),
        json!({ "type": "commit", "commitment": "12" }),
        json!({ "type": "reveal", "seed": "1" }),
    ] {
        assert_eq!(friends.refused(1, request), "malformed");
    }
    friends.does(0, reveal(0));
    assert_eq!(friends.refused(0, reveal(0)), "not-awaited");
    assert_eq!(friends.refused(0, play), "not-begun");
    // It is called off: void, without a result, and what was promised is told.
    friends.does(0, json!({ "type": "resign" }));
    let void = &friends.games[WATCHER];
    assert_eq!((&void["void"], &void["outcome"], &void["inPlay"]), (&json!("withdrawn"), &Value::Null, &json!(false)));
    assert!(void["deal"]["seed"].is_string() && void["deal"]["contributions"][0]["seed"].is_string());
    assert_eq!(void["deal"]["contributions"][1], Value::Null);
    assert_eq!(friends.refused(1, reveal(1)), "void");
    let kept = record(&server, &id);
    assert!(verify(&kept).unwrap().committed && kept.tags().get("Seed").is_none());
    let list: Value = serde_json::from_str(&server.get("/api/games")).unwrap();
    assert_eq!((&list["games"][0]["inPlay"], &list["games"][0]["reason"]), (&json!(false), &json!("void: withdrawn")));
}

/// No token is sent to another page, and nothing but hashes is on the disk.
#[test]
fn tokens_are_for_their_holders_alone() {
    let server = start(5);
    let mut friends = Friends::begun(&server, small());
    let mut public = Vec::new();
    for number in 0..4 {
        friends.play();
        if number == 2 {
            friends.pages[WATCHER].ask(json!({ "type": "hello", "schema": "anqi-page-1" }));
            friends.pages[WATCHER].ask(json!({ "type": "open", "game": friends.id }));
        }
        for path in ["json", "anqi", "txt"].map(|kind| format!("/api/games/{}.{kind}", friends.id)) {
            public.push(server.get(&path));
        }
        public.extend([server.get("/api/games"), server.get("/api/server"), server.files()]);
    }
    friends.pages[0].ask(json!({ "type": "resign" }));
    public.extend([server.get(&format!("/api/games/{}.anqi", friends.id)), server.files()]);
    let told =
        |text: &String| -> Vec<usize> { (0..3).filter(|&token| text.contains(&friends.tokens[token])).collect() };
    for text in public.iter().chain(&friends.pages[WATCHER].heard) {
        assert!(told(text).is_empty(), "{text}");
    }
    // Each token was told once, to its holder.
    let heard =
        |who: usize| friends.pages[who].heard.iter().map(told).filter(|told| !told.is_empty()).collect::<Vec<_>>();
    assert_eq!((heard(0), heard(1)), (vec![vec![0, 2]], vec![vec![1]]));
}

/// Waits until a page shows this of the second player.
fn until(friends: &mut Friends, who: usize, presence: &str) {
    while friends.games[who]["players"][1]["presence"] != presence {
        friends.hear(who);
    }
}

#[test]
fn a_player_who_has_left_loses_its_game_when_the_other_claims_it() {
    let server = start_with(&settings(Waits { away: SOON, ..Waits::default() }));
    let mut friends = Friends::begun(&server, small());
    friends.play();
    assert_eq!(friends.games[0]["players"][0]["presence"], "here");
    until(&mut friends, 0, "here");
    assert_eq!(friends.refused(0, json!({ "type": "claim" })), "not-away");
    // A second page of the same player keeps it here.
    let token = friends.tokens[1].clone();
    let open = json!({ "type": "open", "game": friends.id, "token": token });
    let mut second = server.page();
    second.ask(open.clone());
    friends.pages[1].ask(json!({ "type": "close" }));
    second.ask(open.clone());
    std::thread::sleep(2 * SOON);
    assert_eq!(friends.refused(0, json!({ "type": "claim" })), "not-away");
    drop(second);
    until(&mut friends, 0, "away");
    // It comes back by the same token, and leaves for good.
    assert_eq!(friends.pages[1].ask(open)["players"][1]["presence"], "here");
    until(&mut friends, 0, "here");
    friends.pages[1].ask(json!({ "type": "close" }));
    until(&mut friends, 0, "away");
    until(&mut friends, 0, "gone");
    assert_eq!(friends.refused(WATCHER, json!({ "type": "claim" })), "not-seated");
    assert_eq!(friends.pages[0].ask(json!({ "type": "claim" }))["type"], "done");
    friends.hear(0);
    let outcome = &friends.games[0]["outcome"];
    assert_eq!((&outcome["reason"], &outcome["winner"]), (&json!("abandoned"), &json!("first")));
    assert!(verify(&record(&server, &friends.id)).unwrap().committed);
}

fn until_void(friends: &mut Friends, who: usize) {
    while friends.games[who]["void"].is_null() {
        friends.hear(who);
    }
}

#[test]
fn a_player_who_is_there_and_does_not_reveal_voids_the_game() {
    let server = start_with(&settings(Waits { reveal: SOON, ..Waits::default() }));
    let mut friends = Friends::joined(&server, small());
    let id = friends.id.clone();
    friends.does(0, commit(0, &id));
    friends.does(1, commit(1, &id));
    until_void(&mut friends, 0);
    assert_eq!((&friends.games[0]["void"], &friends.games[0]["outcome"]), (&json!("not revealed"), &Value::Null));
    assert_eq!(friends.refused(0, reveal(0)), "void");
    assert_eq!(friends.refused(0, json!({ "type": "play", "move": "a1", "ply": 0 })), "void");
    assert!(verify(&record(&server, &id)).unwrap().committed);
    // Who is away is waited for, and has as long when it is back.
    let mut friends = Friends::joined(&server, small());
    let id = friends.id.clone();
    friends.does(0, commit(0, &id));
    friends.pages[0].ask(json!({ "type": "close" }));
    friends.pages[1].ask(commit(1, &id));
    std::thread::sleep(3 * SOON);
    assert_eq!(friends.pages[1].ask(reveal(1))["type"], "done");
    friends.games[0] = friends.pages[0].ask(json!({ "type": "open", "game": id, "token": friends.tokens[0] }));
    assert_eq!(
        (&friends.games[0]["void"], &friends.games[0]["joint"]["parts"][0]["awaits"]),
        (&Value::Null, &json!("reveal"))
    );
    until_void(&mut friends, 0);
}

#[test]
fn an_invitation_that_is_not_taken_expires_and_its_promise_is_told() {
    let server = start_with(&settings(Waits { begin: LATER, ..Waits::default() }));
    let mut friends = Friends::invited(&server, small());
    until_void(&mut friends, 0);
    let void = &friends.games[0];
    assert_eq!((&void["void"], &void["inPlay"]), (&json!("expired"), &json!(false)));
    assert!(void["deal"]["nonce"].is_string());
    assert_eq!(friends.refused(1, json!({ "type": "join", "token": friends.tokens[2] })), "void");
    assert!(verify(&record(&server, &friends.id)).unwrap().committed);
    // Without a page that shows it: as soon as it is looked at.
    let mut friends = Friends::invited(&server, small());
    for page in &mut friends.pages {
        page.ask(json!({ "type": "close" }));
    }
    std::thread::sleep(2 * LATER);
    let list: Value = serde_json::from_str(&server.get("/api/games")).unwrap();
    assert!(list["games"].as_array().unwrap().iter().all(|game| game["inPlay"] == json!(false)), "{list}");
    let late = friends.pages[1].ask(json!({ "type": "open", "game": friends.id, "token": friends.tokens[2] }));
    assert_eq!((&late["void"], late["deal"]["seed"].is_string()), (&json!("expired"), true));
}

#[test]
fn seats_survive_a_restart() {
    let server = start_with(&settings(Waits::default()));
    let mut friends = Friends::begun(&server, json!({}));
    (0..3).for_each(|_| friends.play());
    let waiting = Friends::invited(&server, json!({}));
    let (id, tokens, game) = (friends.id.clone(), friends.tokens.clone(), friends.games[0].clone());
    let (waiting_id, waiting_tokens) = (waiting.id.clone(), waiting.tokens.clone());
    drop((friends, waiting));
    let server = server.restart(&settings(Waits::default()));
    let mut pages = [server.page(), server.page(), server.page()];
    for (page, token) in pages.iter_mut().zip(&tokens[..2]) {
        let again = page.ask(json!({ "type": "open", "game": id, "token": token }));
        assert_eq!((&again["plies"], &again["joint"]), (&game["plies"], &game["joint"]));
        assert_eq!(again["you"]["seats"].as_array().unwrap().len(), 1);
    }
    assert_eq!(pages[2].ask(json!({ "type": "open", "game": id, "token": tokens[2] }))["kind"], "taken");
    let play = |page: &mut Page| page.ask(json!({ "type": "play", "move": choose(&game), "ply": 3 }));
    assert_eq!(play(&mut pages[0])["kind"], "not-your-turn");
    assert_eq!(play(&mut pages[1])["type"], "done");
    // An invitation is good for as long as it was.
    let open = json!({ "type": "open", "game": waiting_id, "token": waiting_tokens[2] });
    assert_eq!(pages[2].ask(open)["you"]["invited"], "second");
    let joined = pages[2].ask(json!({ "type": "join", "token": waiting_tokens[2] }));
    assert_eq!(joined["you"]["seats"], json!(["second"]));
}

#[test]
fn a_person_alone_contributes_to_the_deal() {
    let server = start(8);
    let mut page = server.page();
    for (first, second, seat) in [("person", "level:1", 0), ("level:1", "person", 1), ("person", "person", 0)] {
        let new =
            json!({ "type": "new", "first": first, "second": second, "contribute": true, "rules": "server,board=2x4" });
        let game = page.ask(new);
        assert_eq!((&game["yourTurn"], game.get("you")), (&json!(false), None));
        assert_eq!(game["joint"]["parts"][seat], json!({ "commitment": null, "awaits": "reveal", "revealed": false }));
        assert_eq!(page.ask(json!({ "type": "play", "move": "a1", "ply": 0 }))["kind"], "not-begun");
        assert_eq!(page.ask(commit(seat, game["game"].as_str().unwrap()))["kind"], "not-awaited");
        page.ask(reveal(seat));
        let mut game = page.hear();
        while game["yourTurn"] != json!(true) {
            game = page.hear();
        }
        let ply = plies(&game);
        page.ask(json!({ "type": "play", "move": choose(&game), "ply": ply }));
        page.ask(json!({ "type": "resign" }));
        let over = page.hear_over();
        let verified = verify(&record(&server, over["game"].as_str().unwrap())).unwrap();
        assert_eq!(verified.contributed, [seat == 0, seat == 1]);
        assert!(verified.committed && verified.flips > 0);
    }
}

/// With strangers on the server every game has seats; on one's own every page plays.
#[test]
fn on_a_public_server_a_page_without_a_seat_watches() {
    let settings = |public| HouseSettings { public, ..settings(Waits::default()) };
    let server = start_with(&settings(false));
    let (mut page, mut other) = (server.page(), server.page());
    let own = page.ask(json!({ "type": "new", "first": "person", "second": "level:1", "rules": "server,board=2x4" }));
    assert_eq!(own.get("you"), None);
    other.ask(json!({ "type": "open", "game": own["game"] }));
    assert_eq!(other.ask(json!({ "type": "play", "move": "a1", "ply": 0 }))["type"], "done");
    drop((page, other));
    let server = server.restart(&settings(true));
    let (mut page, mut other) = (server.page(), server.page());
    let open = |game: &Value, token: &Value| json!({ "type": "open", "game": game["game"], "token": token });
    // What was begun before has no seats.
    assert_eq!(page.ask(open(&own, &Value::Null))["you"], json!({ "seats": [] }));
    assert_eq!(page.ask(json!({ "type": "resign" }))["kind"], "not-seated");
    for (first, second, seats) in
        [("level:1", "person", json!(["second"])), ("person", "person", json!(["first", "second"]))]
    {
        let game = page.ask(json!({ "type": "new", "first": first, "second": second }));
        let token = &game["you"]["token"];
        assert_eq!(game["you"], json!({ "seats": seats, "token": token }));
        assert_eq!(other.ask(open(&game, &Value::Null))["you"], json!({ "seats": [] }));
        for kind in ["resign", "take-back", "offer-draw"] {
            assert_eq!(other.ask(json!({ "type": kind }))["kind"], "not-seated");
        }
        // Another page with the token is the same player.
        assert_eq!(other.ask(open(&game, token))["you"]["seats"], seats);
        assert_eq!(other.ask(json!({ "type": "resign" }))["type"], "done");
    }
}

/// A spectator that never reads does not hold a player up.
#[test]
fn a_spectator_that_does_not_read_delays_no_player() {
    let server = start(9);
    let mut friends = Friends::begun(&server, json!({}));
    let mut deaf: Vec<Page> = (0..20).map(|_| server.page()).collect();
    for page in &mut deaf {
        page.ask(json!({ "type": "open", "game": friends.id }));
        // Whole games fill its buffers sooner than changes.
        for _ in 0..200 {
            let look = json!({ "type": "open", "game": friends.id });
            page.socket.send(tungstenite::Message::text(look.to_string())).unwrap();
        }
    }
    while friends.games[0]["outcome"].is_null() && plies(&friends.games[0]) < 100 {
        friends.play();
    }
}
