//! What the operator does: looks, ends the server, copies its games, deletes old ones.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::time::{Duration, SystemTime};

use anqi_web::{BackupError, Copied, HouseSettings, ServerLimits, backup, prune, restore};
use serde_json::{Value, json};
use tungstenite::Message;
use tungstenite::protocol::frame::coding::CloseCode;

use crate::common::{RUNTIME, choose, plies, start};
use crate::{server, wait_until};

#[test]
fn a_server_that_ends_tells_its_pages_and_keeps_everything() {
    let mut server = start(141);
    let mut page = server.page();
    let game = page.ask(json!({ "type": "new", "first": "person", "second": "mcts:chance,memory=16 movetime=60" }));
    page.ask(json!({ "type": "play", "move": choose(&game), "ply": 0 }));
    // The engine thinks for a minute, and the server does not wait for it.
    server.end();
    let told = loop {
        if let Message::Close(frame) = page.socket.read().unwrap() {
            break frame.unwrap();
        }
    };
    assert_eq!((told.code, told.reason.as_str()), (CloseCode::Away, "the server is ending"));
    let journal = server.dir().join(format!("{}.journal", game["game"].as_str().unwrap()));
    assert_eq!(fs::read_to_string(journal).unwrap().lines().filter(|line| line.starts_with("entry")).count(), 1);
    // The engine's thread lets go of the game when it sees that it was stopped.
    wait_until(|| server.house().open_games() == 0);
}

#[test]
fn metrics_have_an_address_of_their_own() {
    let server = server(142, ServerLimits::public());
    assert_eq!(server.answer("GET /metrics HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n").0, 404);
    let mut page = server.page();
    page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
    page.ask(json!({ "type": "resign" }));
    page.ask(json!({ "type": "resign" }));
    let operator = crate::common::Server::get_at(server.operator, "/metrics");
    for line in
        ["anqi_sockets 1", "anqi_games_begun_total 1", "anqi_refusals_total{kind=\"over\"} 1", "anqi_visitors 1"]
    {
        assert!(operator.lines().any(|found| found == line), "{line} is not in\n{operator}");
    }
    assert_eq!(crate::common::Server::get_at(server.operator, "/healthz"), "ok\n");
    // A family is described once, and every line is a number.
    for line in operator.lines().filter(|line| !line.starts_with('#')) {
        assert!(line.rsplit(' ').next().unwrap().parse::<f64>().is_ok(), "{line}");
    }
}

/// A backup of a folder in use has every game as it stood, and is for its owner alone.
#[test]
fn a_backup_is_made_while_games_are_played() {
    let server = start(143);
    let mut page = server.page();
    let mut begun = Vec::new();
    for number in 0..4 {
        let mut game = page.ask(json!({ "type": "new", "first": "person", "second": "person" }));
        for _ in 0..3 {
            let ply = plies(&game);
            page.ask(json!({ "type": "play", "move": choose(&game), "ply": ply }));
            game = page.hear_game(ply + 1);
        }
        if number == 3 {
            page.ask(json!({ "type": "resign" }));
        }
        begun.push((game["game"].as_str().unwrap().to_owned(), game["plies"].clone()));
    }
    // The last line is being written: it is not part of the copy.
    let open = server.dir().join(format!("{}.journal", begun[0].0));
    let mut text = fs::read(&open).unwrap();
    text.extend(b"entry 4 ");
    fs::write(&open, text).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (copy, again) = (dir.path().join("copy"), dir.path().join("again"));
    let Copied { files, bytes } = backup(server.dir(), &copy).unwrap();
    assert_eq!(files, 4);
    for entry in fs::read_dir(&copy).unwrap() {
        assert_eq!(entry.unwrap().metadata().unwrap().permissions().mode() & 0o777, 0o600);
    }
    assert_eq!(fs::metadata(&copy).unwrap().permissions().mode() & 0o777, 0o700);
    assert!(!copy.join("lock").exists() && !copy.join("server.json").exists());
    assert!(matches!(backup(server.dir(), &copy), Err(BackupError::NotEmpty { .. })));
    assert!(matches!(restore(&copy, server.dir()), Err(BackupError::Locked(_))));
    assert_eq!(restore(&copy, &again).unwrap(), Copied { files, bytes });
    assert!(matches!(restore(&copy, &again), Err(BackupError::NotEmpty { .. })));

    let house = anqi_web::House::open(&again, HouseSettings::default()).unwrap();
    let listener = RUNTIME.block_on(tokio::net::TcpListener::bind("127.0.0.1:0")).unwrap();
    let port = listener.local_addr().unwrap().port();
    RUNTIME.spawn(anqi_web::serve(listener, house));
    for (name, played) in &begun {
        let game: Value =
            serde_json::from_str(&crate::common::Server::get_at(port, &format!("/api/games/{name}.json"))).unwrap();
        assert_eq!(game["plies"], *played);
        assert_eq!(game["damage"], Value::Null);
    }

    // What was changed, or is missing, is not restored.
    let other = dir.path().join("other");
    let path = copy.join(format!("{}.journal", begun[1].0));
    let whole = fs::read(&path).unwrap();
    let mut changed = whole.clone();
    changed[40] ^= 1;
    fs::write(&path, changed).unwrap();
    let error = restore(&copy, &other).unwrap_err().to_string();
    assert!(error.contains(&begun[1].0) && error.contains("nothing was restored") && !other.exists(), "{error}");
    fs::write(&path, whole).unwrap();
    let contents = copy.join("contents");
    let mut list = fs::read(&contents).unwrap();
    let at = list.len() / 2;
    list[at] ^= 1;
    fs::write(&contents, list).unwrap();
    assert!(matches!(restore(&copy, &other), Err(BackupError::Contents { .. })));
    fs::remove_file(&contents).unwrap();
    let error = restore(&copy, &other).unwrap_err().to_string();
    assert!(error.contains("not finished"), "{error}");
}

#[test]
fn old_games_are_deleted_when_that_is_asked() {
    let day = Duration::from_secs(86_400);
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, days: u32| {
        let file = fs::File::create(dir.path().join(name)).unwrap();
        file.set_modified(SystemTime::now() - days * day).unwrap();
    };
    let names = || {
        let names = fs::read_dir(dir.path()).unwrap().map(|entry| entry.unwrap().file_name().into_string().unwrap());
        let mut names: Vec<_> = names.filter(|name| name != "lock").collect();
        names.sort();
        names
    };
    file("0000000000000001.anqi", 9);
    file("0000000000000002.journal", 9);
    file("0000000000000002.anqi", 1);
    file("0000000000000003.journal", 2);
    file("notes.txt", 99);
    let before = names();
    let old = vec!["0000000000000001".to_owned()];
    assert_eq!((prune(dir.path(), 5 * day, true).unwrap(), names()), (old.clone(), before.clone()));
    assert_eq!(prune(dir.path(), 5 * day, false).unwrap(), old);
    assert_eq!(names(), before[1..]);
    assert!(prune(&dir.path().join("none"), day, false).is_err());
    let server = start(144);
    assert!(matches!(prune(server.dir(), day, false), Err(BackupError::Locked(_))));
}
