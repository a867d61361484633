//! Folders that c3a29fa wrote: read without a change to them, continued to the same end.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::games::without_new_tags;
use crate::json::mask;
use crate::socket::{self, Page, Server};
use crate::support::{
    compare_json, contents, copy_of, fixture, in_old_words, line_differences, output, program, root, run,
    value_differences,
};

/// The files that were there are there, each as it was.
fn assert_unchanged(dir: &Path, name: &str) {
    let (kept, now) = (copy_of(name), contents(dir));
    for (path, bytes) in contents(kept.path()) {
        assert!(now.get(&path) == Some(&bytes), "{} of {name} has changed by reading", path.display());
    }
}

/// A file that is only added to begins as it was.
fn assert_extended(path: &Path, kept: &Path) {
    let (now, kept) = (fs::read(path).unwrap(), fs::read(kept).unwrap());
    assert!(now.starts_with(&kept), "{} has lost something", path.display());
}

fn assert_same_lines(what: &str, then: &str, now: &str) {
    let differences = line_differences(then, now);
    assert!(differences.is_empty(), "{what}: {}", differences.join("\n"));
}

/// Games of the page, in play and over, with take-backs and clocks: listed, exported, opened, played to the end.
#[test]
fn games_of_the_page_open_and_go_on() {
    let dir = copy_of("page");
    let mut names: Vec<String> = contents(dir.path()).into_keys().map(|path| path.display().to_string()).collect();
    names.sort();
    let server = Server::of_program(&program(), dir.path());
    let mut told = vec![json!({ "list": server.get("/api/games") })];
    for name in &names {
        let id = name.split('.').next().unwrap();
        for kind in ["anqi", "txt", "json"] {
            told.push(
                json!({ "get": format!("{id}.{kind}"), "answer": server.get(&format!("/api/games/{id}.{kind}")) }),
            );
        }
    }
    assert_unchanged(dir.path(), "page");
    for name in &names {
        let mut page = server.page();
        let opened = page.ask(json!({ "type": "open", "game": name.split('.').next() }));
        told.push(json!({ "open": name, "game": opened }));
        if opened["inPlay"] == false {
            continue;
        }
        for _ in 0..6 {
            let (mv, ply) = (page.any_move(), page.plies());
            told.push(json!({ "play": mv, "answer": page.ask(json!({ "type": "play", "move": mv, "ply": ply })) }));
            page.wait(|page| page.plies() > ply);
        }
        page.ask(json!({ "type": "take-back" }));
        page.wait(|page| page.game["takeBacks"] != opened["takeBacks"]);
        told.push(json!({ "after a ply was taken back": page.game }));
        page.ask(json!({ "type": "resign" }));
        page.wait(Page::is_over);
        told.push(json!({ "after resignation": page.game }));
    }
    told.push(json!({ "list": server.get("/api/games") }));
    compare_json("page-opened.jsonl", &told, socket::normalise);
}

#[test]
fn a_match_goes_on_to_the_same_games() {
    let dir = copy_of("folders");
    let (path, kept) = (dir.path(), copy_of("folders"));
    // What is missing is told without a change.
    assert!(run(path, &["plan", "half"]).lines().count() > 0);
    assert_unchanged(path, "folders");
    run(path, &["match", "--resume", "half"]);
    let games = fs::read_to_string(path.join("half/games.anqi")).unwrap();
    let expected = fs::read_to_string(path.join("finished/games.anqi")).unwrap();
    assert_same_lines("half/games.anqi", &expected, &without_new_tags(&games));
    assert_extended(&path.join("half/journal"), &kept.path().join("half/journal"));
}

/// A kill in the middle of a line costs that line alone.
#[test]
fn a_match_with_a_torn_end_goes_on_to_the_same_games() {
    let dir = copy_of("folders");
    let path = dir.path();
    let journal = fs::read(path.join("half/journal")).unwrap();
    fs::write(path.join("half/journal"), &journal[..journal.len() - 100]).unwrap();
    run(path, &["match", "--resume", "half"]);
    let games = fs::read_to_string(path.join("half/games.anqi")).unwrap();
    let expected = fs::read_to_string(path.join("finished/games.anqi")).unwrap();
    assert_same_lines("half/games.anqi", &expected, &without_new_tags(&games));
}

#[test]
fn finished_matches_say_the_same() {
    let dir = copy_of("folders");
    let path = dir.path();
    run(path, &["records", "check", "finished/games.anqi", "sequential/games.anqi"]);
    run(path, &["report", "finished", "-o", "page.html"]);
    assert_unchanged(path, "folders");
    let said = run(path, &["match", "--resume", "sequential"]);
    assert_same_lines("sequential", &fixture("folders/expected/sequential.txt"), &said);
    run(path, &["tournament", "plan.toml", "--dir", "finished"]);
    for name in ["finished/journal", "sequential/journal"] {
        assert_eq!(fs::read(path.join(name)).unwrap(), fs::read(copy_of("folders").path().join(name)).unwrap());
    }
}

#[test]
fn self_play_goes_on_to_the_same_games() {
    let dir = copy_of("folders/self-play");
    let engine = "proto=gtp cmd=\"sh go.sh\"";
    let args =
        ["self-play", "--engine", engine, "--size", "5", "--opening", "6", "--games", "12", "--concurrency", "1"];
    let output = output(dir.path(), &[&args[..], &["-o", "games.sgf"]].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("9 of 12 games were played before"), "{said}");
    let games = fs::read_to_string(dir.path().join("games.sgf")).unwrap();
    assert_same_lines("games.sgf", &fixture("folders/expected/games.sgf"), &games);
}

#[test]
fn a_cache_of_values_is_read() {
    let dir = copy_of("folders/assess");
    let games = "data/games/server.anqi";
    fs::copy(root().join(games), dir.path().join("games.anqi")).unwrap();
    let args = "assess games.anqi --player eval:static --player chen:var1,table=1 --player champion,hash=1 \
                --budget nodes=100 --per-game 6 --thin 10 --resamples 50 --cache values.cache --json";
    let args: Vec<&str> = args.split_whitespace().collect();
    let mut now: Value = serde_json::from_str(&run(dir.path(), &args)).unwrap();
    let mut then: Value = serde_json::from_str(&fixture("folders/expected/assessed.json")).unwrap();
    let mut differences = Vec::new();
    mask(&mut then);
    mask(&mut now);
    value_differences("assessed", &then, &now, &mut differences);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let kept = copy_of("folders/assess");
    assert_extended(&dir.path().join("values.cache"), &kept.path().join("values.cache"));
}

#[test]
fn fitted_weights_play_the_same_games() {
    let dir = copy_of("folders/assess");
    let args = "match chen:var1,table=1,weights=tuned/mlm.weights chen:var1,table=1,weights=tuned/ls.weights --pairs 3 \
                --nodes 50 --dir played --rules server,board=3x4";
    run(dir.path(), &args.split_whitespace().collect::<Vec<_>>());
    let games = fs::read_to_string(dir.path().join("played/games.anqi")).unwrap();
    assert_same_lines("games", &fixture("folders/expected/tuned.anqi"), &without_new_tags(&games));
}

#[test]
fn a_run_of_an_experiment_goes_on_to_the_same_numbers() {
    let dir = copy_of("folders/experiment");
    let args = ["experiment", "run", "quick", "--run", "first", "--count", "20"];
    run(dir.path(), &args);
    let folder = dir.path().join("experiments/quick/runs/first");
    let text = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_same_lines("raw.csv", &fixture("folders/expected/raw.csv"), &text("raw.csv"));
    assert_same_lines("report.md", &fixture("folders/expected/report.md"), &in_old_words(&text("report.md")));
    let games = zstd::decode_all(&fs::read(folder.join("games.anqi.zst")).unwrap()[..]).unwrap();
    let games = without_new_tags(&String::from_utf8(games).unwrap());
    assert_same_lines("games.anqi.zst", &fixture("folders/expected/experiment.anqi"), &games);
}

#[test]
fn tables_are_read() {
    let (tables, solved) = (copy_of("tables"), copy_of("solve"));
    run(tables.path(), &["endgame", "verify", "--all", "--dir", "."]);
    run(tables.path(), &["endgame", "verify", "N-pp", "P-n", "--dir", ".", "--flavour", "conversion-60"]);
    run(tables.path(), &["endgame", "build", "--pieces", "3", "--dir", "."]);
    run(solved.path(), &["solve", "table", "verify", "--dir", "."]);
    assert_unchanged(tables.path(), "tables");
    assert_unchanged(solved.path(), "solve");
}

/// Games of experiments that were archived then are archived now, whatever the compression, but for texts that are
/// spelled out since.
#[test]
fn archived_games_are_the_same() {
    for line in fixture("archives.txt").lines() {
        let [name, checksum, length] = line.split(' ').collect::<Vec<_>>()[..] else { panic!("{line}") };
        let path = root().join(format!("{name}.zst"));
        let packed = fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display()));
        let text = in_old_words(&String::from_utf8(zstd::decode_all(&packed[..]).unwrap()).unwrap());
        assert_eq!(
            (format!("{:08x}", crc32fast::hash(text.as_bytes())), text.len().to_string()),
            (checksum.into(), length.into())
        );
    }
}
