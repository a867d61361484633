//! Series of games of a person against a program over real sockets: order, progress, kills, what is refused, and the table.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

mod common;

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;

use anqi_play::{SeriesResult, verify};
use anqi_records::{Reader, Record};
use anqi_rules::Seed;
use anqi_web::HouseSettings;
use serde_json::{Value, json};

use crate::common::{Page, Server, choose, plies, start, start_with};

fn settings(seed: u64) -> HouseSettings {
    HouseSettings { deals: Some(Seed::from(seed)), ..HouseSettings::default() }
}

fn begin(page: &mut Page, each: u32) -> Value {
    let request =
        json!({ "type": "begin-series", "person": "Alice", "rank": 2, "program": "chen:var1 depth=1", "each": each });
    let series = page.ask(request);
    assert_eq!(series["type"], "series", "{series}");
    series
}

fn name(series: &Value) -> String {
    series["series"].as_str().unwrap().to_owned()
}

fn next(page: &mut Page, series: &str) -> Value {
    let game = page.ask(json!({ "type": "next-game", "series": series }));
    assert_eq!(game["type"], "game", "{game}");
    game
}

fn refused(page: &mut Page, request: Value) -> (String, String) {
    let answer = page.ask(request);
    assert_eq!(answer["type"], "error", "{answer}");
    (answer["kind"].as_str().unwrap().to_owned(), answer["message"].as_str().unwrap().to_owned())
}

/// Waits for the person's turn, plays so many moves and then resigns, unless the game is over by then.
fn play_and_resign(page: &mut Page, mut game: Value, moves: usize) -> Value {
    for _ in 0..moves {
        while game["yourTurn"] != json!(true) && game["outcome"].is_null() {
            game = page.hear();
        }
        if game["outcome"].is_null() {
            let before = plies(&game);
            let answer = page.ask(json!({ "type": "play", "move": choose(&game), "ply": before }));
            assert_eq!(answer["type"], "done", "{answer}");
            game = page.hear_game(before + 1);
        }
    }
    if game["outcome"].is_null() {
        page.ask(json!({ "type": "resign" }));
        game = page.hear_over();
    }
    game
}

fn file(server: &Server, name: &str) -> PathBuf {
    server.dir().join(format!("{name}.series"))
}

/// Ten games by default, five in each order, with all deals promised before the first; a server that is killed between two
/// games or in one goes on where it was; at the end the table is that of the games.
#[test]
fn a_series_is_played_to_its_end_through_kills() {
    let mut server = start(31);
    let mut page = server.page();
    let begun = begin(&mut page, 5);
    let series = name(&begun);
    assert_eq!(begun["games"].as_array().unwrap().len(), 10);
    assert_eq!((&begun["next"], &begun["rules"]), (&json!(1), &json!("chen,repeat=position:3")));
    assert_eq!((&begun["person"], &begun["rank"], &begun["table"]), (&json!("Alice"), &json!(2), &json!([])));
    let first = |number: usize| begun["games"][number - 1]["first"].clone();
    assert_eq!((1..=10).filter(|&number| first(number) == "person").count(), 5);
    assert!(
        begun["games"].as_array().unwrap().iter().all(|game| game["stands"] == "waiting" && game["game"].is_null())
    );
    assert_eq!(fs::metadata(file(&server, &series)).unwrap().permissions().mode() & 0o777, 0o600, "it holds the seed");
    for number in 1..=10 {
        let game = next(&mut page, &series);
        let place = &game["series"];
        assert_eq!((&place["number"], &place["of"], &place["person"]), (&json!(number), &json!(10), &json!("Alice")));
        let own = usize::from(first(number) != "person");
        assert_eq!(
            (&game["players"][own]["person"], &game["players"][1 - own]["name"]),
            (&json!(true), &json!("chen:var1 depth=1"))
        );
        assert_eq!(game["commitment"], begun["games"][number - 1]["commitment"], "the deal that was promised");
        let game = if number == 3 || number == 7 {
            // A kill in a game: another page asks for the next one and gets this one, with its plies.
            let mut game = game;
            while game["yourTurn"] != json!(true) {
                game = page.hear();
            }
            page.ask(json!({ "type": "play", "move": choose(&game), "ply": plies(&game) }));
            let played = page.hear_game(plies(&game) + 1);
            drop(page);
            server = server.restart(&settings(99));
            page = server.page();
            let again = next(&mut page, &series);
            assert_eq!(again["game"], played["game"]);
            assert_eq!(again["plies"].as_array().unwrap()[..plies(&played)], played["plies"].as_array().unwrap()[..]);
            let mut other = server.page();
            assert_eq!(next(&mut other, &series)["game"], played["game"]);
            again
        } else {
            game
        };
        // A game that is left waits; only resigning it loses it.
        page.ask(json!({ "type": "close" }));
        let stands = page.ask(json!({ "type": "series", "series": series }));
        assert_eq!((&stands["games"][number - 1]["stands"], &stands["next"]), (&json!("in-play"), &json!(number)));
        let again = next(&mut page, &series);
        assert_eq!(again["game"], game["game"]);
        let over = play_and_resign(&mut page, again, 2);
        let stands = page.ask(json!({ "type": "series", "series": series }));
        let row = &stands["games"][number - 1];
        let won = over["outcome"]["winner"] == ["first", "second"][own];
        assert_eq!((&row["stands"], &row["result"]), (&json!("over"), &json!(if won { "won" } else { "lost" })));
        if number == 5 {
            drop(page);
            server = server.restart(&settings(98));
            page = server.page();
        }
    }
    let (kind, message) = refused(&mut page, json!({ "type": "next-game", "series": series }));
    assert_eq!((kind.as_str(), message.as_str()), ("series-over", "all 10 games of the series are over"));
    let stands = page.ask(json!({ "type": "series", "series": series }));
    assert_eq!(stands["next"], Value::Null);
    let row = &stands["table"][0];
    assert_eq!(stands["table"].as_array().unwrap().len(), 1);
    for order in ["computerFirst", "humanFirst"] {
        assert_eq!(row[order].as_array().unwrap().iter().map(|count| count.as_u64().unwrap()).sum::<u64>(), 5);
    }
    let lost = stands["games"].as_array().unwrap().iter().filter(|game| game["result"] == "lost").count() as f64;
    assert!((row["ts"].as_f64().unwrap() - lost / 10.0).abs() < 1e-9, "{row}");

    let csv = server.get(&format!("/api/series/{series}.csv"));
    assert!(csv.lines().nth(1).unwrap().starts_with("chen:var1 depth=1,\"chen,repeat=position:3\",p1-"), "{csv}");
    let games = server.get(&format!("/api/series/{series}-games.csv"));
    assert_eq!(games.lines().count(), 11);
    assert!(games.lines().nth(4).unwrap().starts_with(&format!("{series},4,10,Alice,2,chen:var1 depth=1,")), "{games}");
    assert_eq!([server.get("/api/series/all.csv"), server.get("/api/series/all-games.csv")], [csv, games]);
    let records = server.get(&format!("/api/series/{series}.anqi"));
    let records: Vec<Record> = Reader::new(records.as_bytes()).unwrap().map(|entry| entry.unwrap().record).collect();
    let numbers: Vec<u32> =
        records.iter().map(|record| SeriesResult::of_record(record).unwrap().unwrap().game.number).collect();
    assert_eq!(numbers, (1..=10).collect::<Vec<u32>>());
    for record in &records {
        assert!(verify(record).unwrap().committed);
    }
    let listed: Value = serde_json::from_str(&server.get("/api/series")).unwrap();
    assert_eq!((&listed["schema"], &listed["series"][0]["series"]), (&json!("anqi-series-list-1"), &json!(series)));
}

/// While a game of a series is in play nothing helps: for this page, for another one, and after the server was started again.
#[test]
fn nothing_helps_while_a_game_of_a_series_is_in_play() {
    let mut server = start(32);
    let mut page = server.page();
    let series = name(&begin(&mut page, 1));
    let mut game = next(&mut page, &series);
    for restarted in [false, true] {
        if restarted {
            drop(page);
            server = server.restart(&settings(32));
            page = server.page();
            game = next(&mut page, &series);
        }
        while game["yourTurn"] != json!(true) {
            game = page.hear();
        }
        let id = game["game"].clone();
        let mut other = server.page();
        other.ask(json!({ "type": "open", "game": id }));
        for page in [&mut page, &mut other] {
            for request in [
                json!({ "type": "hint" }),
                json!({ "type": "analyse", "ply": 0 }),
                json!({ "type": "play", "move": choose(&game), "ply": plies(&game), "teach": true }),
            ] {
                let (kind, message) = refused(page, request);
                assert_eq!(kind, "in-series", "{message}");
                assert!(message.contains("no hints, warnings and analyses"), "{message}");
            }
            assert_eq!(refused(page, json!({ "type": "review" })).0, "still-played");
        }
        page.ask(json!({ "type": "play", "move": choose(&game), "ply": plies(&game) }));
        game = page.hear_game(plies(&game) + 1);
        while game["yourTurn"] != json!(true) {
            game = page.hear();
        }
        assert_eq!(game["canTakeBack"], json!(false));
        let (kind, message) = refused(&mut page, json!({ "type": "take-back" }));
        assert_eq!((kind.as_str(), message.as_str()), ("in-series", "nothing is taken back in a game of a series"));
    }
    // When it is over everything may be looked at.
    page.ask(json!({ "type": "resign" }));
    page.hear_over();
    assert_eq!(page.ask(json!({ "type": "analyse", "ply": 0, "nodes": 4000 }))["type"], "done");
    assert_eq!(page.ask(json!({ "type": "review" }))["type"], "done");
}

#[test]
fn what_cannot_be_played_is_refused() {
    let server = start(33);
    let mut page = server.page();
    let sound = json!({ "type": "begin-series", "person": "Alice", "program": "chen:var1 depth=1" });
    for (field, value, kind, message) in [
        ("person", json!(" "), "wrong-setup", "\"\" is not the name of a person"),
        ("program", json!("person"), "wrong-player", "a series is played against a program"),
        ("program", json!("chen:var9"), "wrong-player", "chen:var9"),
        ("program", json!("chen:var1 movetime=61"), "wrong-player", "asks for too much"),
        ("rules", json!("go"), "wrong-setup", "\"go\""),
        ("clock", json!("fast"), "wrong-setup", "\"fast\""),
        ("each", json!(0), "wrong-setup", "0 games in each order, expected 1 to 50"),
    ] {
        let mut request = sound.clone();
        request[field] = value;
        let (said, words) = refused(&mut page, request);
        assert_eq!(said, kind, "{words}");
        assert!(words.contains(message), "{words}");
    }
    for unknown in ["0123456789abcdef", "x", "../../etc/passwd", ""] {
        let (kind, message) = refused(&mut page, json!({ "type": "series", "series": unknown }));
        assert_eq!(kind, "no-such-series", "{message}");
        assert_eq!(refused(&mut page, json!({ "type": "next-game", "series": unknown })).0, "no-such-series");
    }
    assert!(
        fs::read_dir(server.dir()).unwrap().all(|file| file
            .unwrap()
            .path()
            .extension()
            .is_none_or(|end| end != "series"))
    );
    assert_eq!(server.get("/api/series"), r#"{"schema":"anqi-series-list-1","series":[]}"#);

    let public = start_with(&HouseSettings { public: true, ..settings(34) });
    let (kind, message) = refused(&mut public.page(), sound);
    assert_eq!(kind, "wrong-setup");
    assert!(message.starts_with("a public server keeps no series"), "{message}");
}

/// A damaged file of a series is named without its text; its finished games are whole. A damaged game goes on as another
/// one, which takes its place in the series, and one that cannot be read is passed over.
#[test]
fn damage_is_named_and_costs_no_other_game() {
    let mut server = start(35);
    let mut page = server.page();
    let series = name(&begin(&mut page, 2));
    let game = next(&mut page, &series);
    play_and_resign(&mut page, game, 0);
    let mut game = next(&mut page, &series);
    for _ in 0..3 {
        while game["yourTurn"] != json!(true) {
            game = page.hear();
        }
        page.ask(json!({ "type": "play", "move": choose(&game), "ply": plies(&game) }));
        game = page.hear_game(plies(&game) + 1);
    }
    while game["yourTurn"] != json!(true) {
        game = page.hear();
    }
    let journal = server.dir().join(format!("{}.journal", game["game"].as_str().unwrap()));
    drop(page);
    server = server.restart(&settings(35));
    let whole = fs::read(&journal).unwrap();
    let mut bytes = whole.clone();
    let at = String::from_utf8(whole.clone()).unwrap().find("\nentry 3 ").unwrap();
    bytes[at + 30] ^= 1;
    fs::write(&journal, &bytes).unwrap();

    let mut page = server.page();
    let damaged = next(&mut page, &series);
    assert_eq!((&damaged["game"], plies(&damaged)), (&game["game"], 2));
    // It may go on, so it is not looked into.
    assert_eq!(refused(&mut page, json!({ "type": "analyse", "ply": 0 })).0, "in-series");
    assert_eq!(refused(&mut page, json!({ "type": "review" })).0, "in-series");
    let gone_on = page.ask(json!({ "type": "go-on" }));
    assert_eq!((&gone_on["series"], &gone_on["commitment"]), (&damaged["series"], &damaged["commitment"]));
    assert_eq!(next(&mut page, &series)["game"], gone_on["game"]);
    play_and_resign(&mut page, gone_on, 0);
    let third = next(&mut page, &series);
    let journal = server.dir().join(format!("{}.journal", third["game"].as_str().unwrap()));
    drop(page);
    server = server.restart(&settings(35));
    // Its head is gone: nothing is known of the deal.
    fs::write(&journal, "anqi game 2\nhead 0 7 00000000 {}\n").unwrap();
    let mut page = server.page();
    let stands = page.ask(json!({ "type": "series", "series": series }));
    let how: Vec<&str> =
        stands["games"].as_array().unwrap().iter().map(|game| game["stands"].as_str().unwrap()).collect();
    assert_eq!((how, &stands["next"]), (vec!["over", "over", "unreadable", "waiting"], &json!(4)));
    let fourth = next(&mut page, &series);
    assert_eq!(fourth["series"]["number"], 4);
    play_and_resign(&mut page, fourth, 0);
    assert_eq!(server.get(&format!("/api/series/{series}-games.csv")).lines().count(), 4);

    let path = file(&server, &series);
    let whole = fs::read_to_string(&path).unwrap();
    let seed = whole.split("\"seed\":\"").nth(1).unwrap()[..64].to_owned();
    for cut in [whole[..whole.len() / 2].to_owned(), whole.replacen("Alice", "Alicf", 1), String::new()] {
        fs::write(&path, cut).unwrap();
        let (kind, message) = refused(&mut page, json!({ "type": "series", "series": series }));
        assert_eq!(kind, "damaged");
        assert!(message.starts_with(&format!("{series}.series: ")), "{message}");
        assert!(!message.contains(&seed[..16]) && message.contains("its finished games are whole"), "{message}");
        assert_eq!(server.get("/api/series"), r#"{"schema":"anqi-series-list-1","series":[]}"#);
    }
    let records: usize = fs::read_dir(server.dir())
        .unwrap()
        .filter(|file| file.as_ref().unwrap().path().extension().is_some_and(|end| end == "anqi"))
        .count();
    assert_eq!(records, 3);
}

/// A backup has all that a series needs, and what it brings back goes on with the same deals.
#[test]
fn a_backup_brings_a_series_back() {
    let server = start(37);
    let mut page = server.page();
    let series = name(&begin(&mut page, 2));
    let game = next(&mut page, &series);
    play_and_resign(&mut page, game, 1);
    let second = next(&mut page, &series);
    let before = page.ask(json!({ "type": "series", "series": series }));
    let dir = tempfile::tempdir().unwrap();
    let (copy, back) = (dir.path().join("copy"), dir.path().join("back"));
    anqi_web::backup(server.dir(), &copy).unwrap();
    anqi_web::restore(&copy, &back).unwrap();
    drop(page);
    for file in fs::read_dir(server.dir()).unwrap() {
        let path = file.unwrap().path();
        if ["anqi", "journal", "series"].iter().any(|end| path.extension().is_some_and(|extension| extension == *end)) {
            fs::remove_file(&path).unwrap();
        }
    }
    let server = server.restart(&settings(38));
    assert_eq!(server.get("/api/series"), r#"{"schema":"anqi-series-list-1","series":[]}"#);
    for file in fs::read_dir(&back).unwrap() {
        let path = file.unwrap().path();
        if path.extension().is_some() {
            fs::copy(&path, server.dir().join(path.file_name().unwrap())).unwrap();
        }
    }
    let mut page = server.page();
    let mut after = page.ask(json!({ "type": "series", "series": series }));
    after["re"] = before["re"].clone();
    assert_eq!(after, before);
    let again = next(&mut page, &series);
    assert_eq!((&again["game"], &again["commitment"]), (&second["game"], &second["commitment"]));
}

/// A series is deleted with its games, and not before the youngest of them is old.
#[test]
fn a_series_is_as_young_as_its_youngest_game() {
    use std::time::{Duration, SystemTime};
    let server = start(36);
    let mut page = server.page();
    let series = name(&begin(&mut page, 1));
    let game = next(&mut page, &series);
    let id = game["game"].as_str().unwrap().to_owned();
    play_and_resign(&mut page, game, 0);
    drop(page);
    let server = server.restart(&settings(36));
    let dir = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(server.dir()).unwrap() {
        let path = entry.unwrap().path();
        if ["anqi", "series"].contains(&path.extension().unwrap_or_default().to_str().unwrap()) {
            fs::copy(&path, dir.path().join(path.file_name().unwrap())).unwrap();
        }
    }
    let age = |name: &str, days: u64| {
        let file = fs::File::options().append(true).open(dir.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(86_400 * days)).unwrap();
    };
    let prune = || anqi_web::prune(dir.path(), Duration::from_secs(86_400 * 10), true).unwrap();
    age(&format!("{series}.series"), 30);
    assert!(prune().is_empty(), "its game is of today");
    age(&format!("{id}.anqi"), 30);
    age(&format!("{series}.series"), 1);
    assert!(prune().is_empty());
    age(&format!("{series}.series"), 30);
    let mut both = vec![series, id];
    both.sort();
    assert_eq!(prune(), both);
}
