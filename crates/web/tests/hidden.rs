//! The hidden truth: two games with the same name, the same moves and different deals. Until the flip that tells them
//! apart, everything that the server sends is the same, byte for byte, but for the fingerprints of the deals.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::env;

use anqi_rules::{Deal, Game, Ply, Rules, Seed};
use rand_core::Rng;
use serde_json::{Value, json};

use crate::common::{Friends, Page, WATCHER, choose, contribution, follow, plies, start};

/// Who plays, and what a page asks for before every move.
#[derive(Clone, Copy, Debug)]
struct Mode {
    rules: &'static str,
    first: &'static str,
    second: &'static str,
    /// Positions, links, moves that are refused, and everything over HTTP.
    looks: bool,
    thinks: Thinks,
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Thinks {
    No,
    /// An analysis, waited for.
    Analysis,
    /// An analysis that goes on while the game does.
    Meanwhile,
    /// An analysis, a hint, and a teacher who warns.
    Everything,
}

const LARGE: &str = "server";
const SMALL: &str = "server,board=2x4";
const NODES: u64 = 8000;

/// What came in at a page, in this order, and when the flip with this number was first seen.
struct Transcript {
    heard: Vec<String>,
    flips: Vec<Ply>,
    told: Option<usize>,
}

fn flips(game: &Value) -> Vec<Ply> {
    let plies = game["plies"].as_array().unwrap().iter().map(|ply| ply.as_str().unwrap().parse().unwrap());
    plies.filter(|ply| matches!(ply, Ply::Flip(..))).collect()
}

/// Plays by what is public alone until `most` flips have been seen.
fn transcript(mode: Mode, seed: u64, most: usize) -> Transcript {
    let server = start(seed);
    let mut page = server.page();
    let asked = json!({ "type": "new", "first": mode.first, "second": mode.second, "rules": mode.rules });
    let mut game = until_asked(&mut page, None, asked);
    let commitment = game["commitment"].as_str().unwrap().to_owned();
    while flips(&game).len() < most && game["outcome"].is_null() {
        let ply = plies(&game);
        let chance = Seed::from(9).child(game["plies"].to_string()).rng().next_u32();
        if mode.looks {
            page.ask(json!({ "type": "at", "ply": ply / 2 }));
            page.ask(json!({ "type": "link" }));
            page.ask(json!({ "type": "play", "move": "a9", "ply": ply }));
            for kind in ["json", "anqi", "txt"] {
                let path = format!("/api/games/{}.{kind}", game["game"].as_str().unwrap());
                page.heard.push(server.get(&path));
            }
            page.heard.push(server.get("/api/games"));
        }
        if mode.thinks != Thinks::No {
            page.ask(json!({ "type": "analyse", "ply": ply, "nodes": NODES }));
        }
        if matches!(mode.thinks, Thinks::Analysis | Thinks::Everything) {
            while page.hear()["isDuringSearch"] != json!(false) {}
        }
        if mode.thinks == Thinks::Everything {
            page.ask(json!({ "type": "hint" }));
        }
        let (mv, teach) = (choose(&game), mode.thinks == Thinks::Everything);
        if ply >= 2 && game["takeBacks"] == json!(0) && chance % 4 == 0 {
            game = until_asked(&mut page, Some(&game), json!({ "type": "take-back" }));
            continue;
        }
        let request = json!({ "type": "play", "move": mv, "ply": ply, "teach": teach });
        game = until_asked(&mut page, Some(&game), request);
        if plies(&game) == ply {
            // Warned, and not convinced.
            game = until_asked(&mut page, Some(&game), json!({ "type": "play", "move": mv, "ply": ply }));
        }
    }
    let heard: Vec<String> = page.heard.iter().map(|text| text.replace(&commitment, "COMMITMENT")).collect();
    let shows = |text: &String| {
        serde_json::from_str::<Value>(text).is_ok_and(|value| value["type"] == "game" && flips(&value).len() >= most)
    };
    let told = heard.iter().position(shows);
    Transcript { heard, flips: flips(&game), told }
}

/// Asks, and hears until a person is to move or the game is over. A warning leaves the game as it was.
fn until_asked(page: &mut Page, before: Option<&Value>, request: Value) -> Value {
    let answer = page.ask(request);
    let mut game = match (answer["type"].as_str().unwrap(), before) {
        ("game", _) => answer,
        ("warning", Some(game)) => return game.clone(),
        ("done", _) => Value::Null,
        _ => panic!("{answer}"),
    };
    while game["yourTurn"] != json!(true) && game.get("outcome").is_none_or(Value::is_null) {
        let heard = page.hear();
        if heard["type"] == "game" {
            game = heard;
        }
    }
    game
}

/// A seed whose first deal agrees with these flips but for the last.
fn paired(rules: &str, flips: &[Ply], mut seed: u64) -> u64 {
    let start = *Game::new(rules.parse::<Rules>().unwrap()).position();
    let (last, before) = flips.split_last().unwrap();
    loop {
        seed += 1;
        let secret = Seed::from(seed).child(0_u64.to_le_bytes()).child("deal of a game");
        let deal = Deal::of(&start, &secret);
        let same = |ply: &Ply| deal.resolve(ply.to_move()).unwrap() == *ply;
        if before.iter().all(same) && !same(last) {
            return seed;
        }
    }
}

/// Plays a pair, and counts the messages that were compared.
fn compare(mode: Mode, number: u64) -> usize {
    let most = 1 + (number % 4) as usize;
    let seed = 1_000_000 * (number + 1);
    let one = transcript(mode, seed, most);
    if one.flips.len() < most {
        return 0;
    }
    let other = transcript(mode, paired(mode.rules, &one.flips[..most], seed), most);
    let is_analysis = |text: &&String| text.starts_with(r#"{"type":"analysis""#);
    let [(mut a, thought_a), (mut b, thought_b)] = [&one, &other].map(|transcript| {
        let before = &transcript.heard[..transcript.told.unwrap()];
        let (thoughts, rest): (Vec<_>, Vec<_>) =
            before.iter().partition(|text| mode.thinks == Thinks::Meanwhile && is_analysis(text));
        (rest, thoughts)
    });
    let count = a.len();
    assert_eq!((a.len(), one.flips[most - 1].to_move()), (b.len(), other.flips[most - 1].to_move()));
    while let (Some(a), Some(b)) = (a.pop(), b.pop()) {
        assert_eq!(a, b, "{mode:?}, pair {number}");
    }
    assert_ne!(one.heard[one.told.unwrap()], other.heard[other.told.unwrap()], "this flip tells them apart");
    // How far an analysis gets while the game goes on is a matter of time; what it says is not.
    let mut thoughts = 0;
    for a in &thought_a {
        let what = |text: &str| {
            let value: Value = serde_json::from_str(text).unwrap();
            (value["ply"].clone(), value["nodes"].clone())
        };
        for b in thought_b.iter().filter(|b| what(b) == what(a)) {
            assert_eq!(a, b, "{mode:?}, pair {number}");
            thoughts += 1;
        }
    }
    count + thoughts
}

const PERSON: &str = "person";

/// So many pairs of deals, each in the next of these modes.
fn pairs(count: u64, modes: &[Mode]) {
    let mut compared = vec![0; modes.len()];
    for number in 0..count {
        let index = (number % modes.len() as u64) as usize;
        compared[index] += compare(modes[index], number / modes.len() as u64);
    }
    for (mode, compared) in modes.iter().zip(compared) {
        println!("{compared} messages compared: {mode:?}");
        assert!(compared > 0, "{mode:?}");
    }
}

const fn mode(rules: &'static str, first: &'static str, second: &'static str, looks: bool, thinks: Thinks) -> Mode {
    Mode { rules, first, second, looks, thinks }
}

/// What a page that hears of changes is sent until it has seen `most` flips, and those flips. Another page plays, and takes back.
fn changes(rules: &str, seed: u64, most: usize) -> (Vec<String>, Vec<Ply>) {
    let server = start(seed);
    let (mut player, mut page) = (server.page(), server.page());
    let asked = json!({ "type": "new", "first": PERSON, "second": "level:2", "rules": rules });
    let mut game = until_asked(&mut player, None, asked);
    page.ask(json!({ "type": "hello", "schema": "anqi-page-2" }));
    let commitment = game["commitment"].as_str().unwrap().to_owned();
    let mut copy = page.ask(json!({ "type": "open", "game": game["game"] }));
    while flips(&game).len() < most && game["outcome"].is_null() {
        let ply = plies(&game);
        let request = if ply == 4 && game["takeBacks"] == json!(0) {
            json!({ "type": "take-back" })
        } else {
            json!({ "type": "play", "move": choose(&game), "ply": ply })
        };
        game = until_asked(&mut player, Some(&game), request);
        while copy["version"] != game["version"] && flips(&copy).len() < most {
            let change = page.hear();
            follow(&mut copy, &change);
        }
    }
    (page.heard.iter().map(|text| text.replace(&commitment, "COMMITMENT")).collect(), flips(&copy))
}

#[test]
fn nothing_hidden_is_in_a_change() {
    let mut compared = 0;
    for number in 0..40 {
        let (rules, most) = (if number % 2 == 0 { LARGE } else { SMALL }, 1 + (number / 2 % 4) as usize);
        let seed = 7_000_000 + 1_000_000 * number;
        let (one, shown) = changes(rules, seed, most);
        if shown.len() < most {
            continue;
        }
        let (other, _) = changes(rules, paired(rules, &shown[..most], seed), most);
        let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        // The last message of each shows the flip that tells them apart.
        assert_eq!((same, one.len()), (one.len() - 1, other.len()), "pair {number}");
        compared += same;
    }
    println!("{compared} messages compared");
    assert!(compared > 80, "{compared}");
}

/// What two players by link and a spectator are sent until they have seen `most` flips, and those flips. Nothing that only one of
/// them may know differs between two deals: tokens are random, and masked.
fn between_friends(rules: &str, seed: u64, most: usize) -> ([Vec<String>; 3], Vec<Ply>, String) {
    let server = start(seed);
    let mut friends = Friends::begun(&server, json!({ "rules": rules }));
    let id = friends.id.clone();
    let commitment = friends.games[0]["commitment"].as_str().unwrap().to_owned();
    while flips(&friends.games[0]).len() < most && friends.games[0]["outcome"].is_null() {
        let ply = plies(&friends.games[0]);
        for page in &mut friends.pages {
            page.ask(json!({ "type": "at", "ply": ply / 2 }));
            page.ask(json!({ "type": "play", "move": "a9", "ply": ply }));
            page.ask(json!({ "type": "reveal", "seed": "1", "nonce": "2" }));
        }
        if ply == 2 {
            let by = friends.mover();
            friends.does(by, json!({ "type": "offer-draw" }));
        }
        if ply == 3 {
            // A player drops out and comes back.
            friends.pages[0].ask(json!({ "type": "close" }));
            friends.games[0] = friends.pages[0].ask(json!({ "type": "open", "game": id, "token": friends.tokens[0] }));
            friends.catch_up();
        }
        for kind in ["json", "anqi", "txt"] {
            let text = server.get(&format!("/api/games/{id}.{kind}"));
            friends.pages[WATCHER].heard.push(text);
        }
        friends.play();
    }
    let masked = |text: &String| {
        let tokens = friends.tokens.iter().filter(|token| !token.is_empty());
        tokens.fold(text.replace(&commitment, "COMMITMENT"), |text, token| text.replace(token, "TOKEN"))
    };
    let heard = [0, 1, 2].map(|who| friends.pages[who].heard.iter().map(masked).collect());
    let shown = flips(&friends.games[0]);
    (heard, shown, id)
}

/// A seed whose first deal between friends agrees with these flips but for the last.
fn paired_between_friends(rules: &str, flips: &[Ply], id: &str, mut seed: u64) -> u64 {
    let start = *Game::new(rules.parse::<Rules>().unwrap()).position();
    let (last, before) = flips.split_last().unwrap();
    let parts = [0, 1].map(contribution);
    loop {
        seed += 1;
        let server = Seed::from(seed).child(0_u64.to_le_bytes()).child("deal of a game");
        let deal = Deal::of(&start, &server.joint(id, &parts));
        let same = |ply: &Ply| deal.resolve(ply.to_move()).unwrap() == *ply;
        if before.iter().all(same) && !same(last) {
            return seed;
        }
    }
}

/// What a page is told of a series, and in its first game until it has seen `most` flips; and those flips.
fn in_a_series(rules: &str, seed: u64, most: usize) -> (Vec<String>, Vec<Ply>) {
    let server = start(seed);
    let mut page = server.page();
    let begin = json!({ "type": "begin-series", "person": "Alice", "program": "level:2", "rules": rules, "each": 3 });
    let begun = page.ask(begin);
    let series = begun["series"].as_str().unwrap().to_owned();
    let mut game = until_asked(&mut page, None, json!({ "type": "next-game", "series": series }));
    while flips(&game).len() < most && game["outcome"].is_null() {
        let ply = plies(&game);
        page.ask(json!({ "type": "series", "series": series }));
        for refused in ["hint", "take-back", "review"] {
            assert_eq!(page.ask(json!({ "type": refused }))["type"], "error");
        }
        for file in ["", "/all.csv", "/all-games.csv", "/all.anqi"] {
            page.heard.push(server.get(&format!("/api/series{file}")));
        }
        page.heard.push(server.get(&format!("/api/games/{}.anqi", game["game"].as_str().unwrap())));
        game = until_asked(&mut page, Some(&game), json!({ "type": "play", "move": choose(&game), "ply": ply }));
    }
    let games = begun["games"].as_array().unwrap();
    let masked = |text: &String| {
        let commitments = games.iter().map(|game| game["commitment"].as_str().unwrap());
        commitments.fold(text.clone(), |text, commitment| text.replace(commitment, "COMMITMENT"))
    };
    let heard: Vec<String> = page.heard.iter().map(masked).collect();
    let shows = |text: &String| {
        serde_json::from_str::<Value>(text).is_ok_and(|value| value["type"] == "game" && flips(&value).len() >= most)
    };
    let told = heard.iter().position(shows).map_or(heard.len(), |told| told + 1);
    (heard[..told].to_vec(), flips(&game))
}

/// A seed whose series has a first deal that agrees with these flips but for the last.
fn paired_in_a_series(rules: &str, flips: &[Ply], mut seed: u64) -> u64 {
    let start = *Game::new(rules.parse::<Rules>().unwrap()).position();
    let (last, before) = flips.split_last().unwrap();
    loop {
        seed += 1;
        let series = Seed::from(seed).child(0_u64.to_le_bytes());
        let deal = Deal::of(&start, &series.child(1_u32.to_le_bytes()).child("deal of a game"));
        let same = |ply: &Ply| deal.resolve(ply.to_move()).unwrap() == *ply;
        if before.iter().all(same) && !same(last) {
            return seed;
        }
    }
}

/// The order of the games, their names and everything else that is told of a series do not depend on its deals.
#[test]
fn nothing_hidden_is_told_of_a_series() {
    let mut compared = 0;
    for number in 0..24 {
        let (rules, most) = (if number % 2 == 0 { LARGE } else { SMALL }, 1 + (number / 2 % 4) as usize);
        let seed = 11_000_000 + 1_000_000 * number;
        let (one, shown) = in_a_series(rules, seed, most);
        if shown.len() < most {
            continue;
        }
        let (other, _) = in_a_series(rules, paired_in_a_series(rules, &shown[..most], seed), most);
        let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        // The last message of each shows the flip that tells them apart.
        assert_eq!((same, one.len()), (one.len() - 1, other.len()), "pair {number}: {:?}", one.get(same));
        compared += same;
    }
    println!("{compared} messages compared in series");
    assert!(compared > 200, "{compared}");
}

/// So many pairs of deals between friends.
fn pairs_between_friends(count: u64) {
    let mut compared = 0;
    for number in 0..count {
        let (rules, most) = (if number % 2 == 0 { LARGE } else { SMALL }, 1 + (number / 2 % 4) as usize);
        let seed = 9_000_000 + 1_000_000 * number;
        let (one, shown, id) = between_friends(rules, seed, most);
        if shown.len() < most {
            continue;
        }
        let (other, ..) = between_friends(rules, paired_between_friends(rules, &shown[..most], &id, seed), most);
        for (who, (one, other)) in one.iter().zip(&other).enumerate() {
            let same = one.iter().zip(other).take_while(|(a, b)| a == b).count();
            // The last message shows the flip that tells them apart.
            assert_eq!(
                (same, one.len()),
                (one.len() - 1, other.len()),
                "pair {number}, page {who}: {:?}",
                one.get(same)
            );
            compared += same;
        }
    }
    println!("{compared} messages compared between friends");
    assert!(compared > 20 * count as usize, "{compared}");
}

#[test]
fn nothing_hidden_is_sent_between_friends() {
    pairs_between_friends(24);
}

#[test]
#[ignore = "long: ANQI_DEALS pairs"]
fn nothing_hidden_is_sent_between_friends_at_length() {
    pairs_between_friends(env::var("ANQI_DEALS").ok().and_then(|text| text.parse().ok()).unwrap_or(1000));
}

#[test]
fn nothing_hidden_is_sent() {
    pairs(120, &[mode(LARGE, PERSON, PERSON, true, Thinks::No), mode(SMALL, PERSON, "level:1", true, Thinks::No)]);
    pairs(
        80,
        &[
            mode(LARGE, PERSON, "level:2", false, Thinks::Analysis),
            mode(LARGE, "level:4", PERSON, false, Thinks::Meanwhile),
            mode(SMALL, PERSON, "level:3", false, Thinks::Everything),
            mode(SMALL, "chen:var1 depth=3", PERSON, true, Thinks::Analysis),
        ],
    );
}

#[test]
#[ignore = "long: ANQI_DEALS pairs"]
fn nothing_hidden_is_sent_at_length() {
    let count = env::var("ANQI_DEALS").ok().and_then(|text| text.parse().ok()).unwrap_or(2000);
    pairs(
        count,
        &[
            mode(LARGE, PERSON, PERSON, true, Thinks::Everything),
            mode(LARGE, PERSON, "level:1", true, Thinks::Everything),
            mode(LARGE, "level:2", PERSON, false, Thinks::Meanwhile),
            mode(LARGE, PERSON, "level:3", true, Thinks::Analysis),
            mode(LARGE, "level:4", PERSON, true, Thinks::Everything),
            mode(LARGE, PERSON, "level:5", false, Thinks::Meanwhile),
            mode(LARGE, "level:6", PERSON, true, Thinks::Analysis),
            mode(LARGE, PERSON, "level:7", false, Thinks::No),
            mode(LARGE, "level:8", PERSON, false, Thinks::No),
            mode(LARGE, PERSON, "chen:var2 depth=3", true, Thinks::Analysis),
            mode(SMALL, PERSON, PERSON, true, Thinks::Everything),
            mode(SMALL, "level:5", PERSON, true, Thinks::Everything),
            mode(SMALL, PERSON, "level:1", true, Thinks::Meanwhile),
        ],
    );
}
