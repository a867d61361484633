//! `anqi assess` from the outside: results corrected by proof, bad input, and a cache that is killed.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::Duration;

use serde_json::Value;

fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anqi"));
    command.current_dir(dir).args(args).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn anqi(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let output = anqi(dir, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// Game, ply and result of every value.
fn results(dir: &Path) -> Vec<String> {
    let table = fs::read_to_string(dir.join("report/values.csv")).unwrap();
    let row = |line: &str| {
        let cells: Vec<&str> = line.split(',').collect();
        format!("{} {} {}", cells[2], cells[3], cells[1])
    };
    table.lines().skip(1).map(row).collect()
}

/// Guard, minister and rook catch one pawn and let the other go: drawn by sixty quiet plies.
fn drawn_but_won() -> String {
    let mut plies = vec!["a1-a2", "d1-d2"];
    (0..59).for_each(|ply| plies.push(["b1-a1", "d2-d3", "a1-b1", "d3-d2"][ply % 4]));
    let numbered: Vec<String> =
        plies.chunks(2).zip(1..).map(|(two, number)| format!("{number}. {}", two.join(" "))).collect();
    format!(
        "[Rules \"server,repeat=off\"]\n[Position \"4/4/4/4/4/4/p3/GMRp r -\"]\n\n{} 1/2-1/2\n\n",
        numbered.join(" ")
    )
}

const USUAL: [&str; 11] =
    ["assess", "games.anqi", "--player", "eval:static", "--draws", "half", "--thin", "1", "--resamples", "10", "-o"];

#[test]
fn tables_correct_results() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("games.anqi"), drawn_but_won()).unwrap();
    let args = [&USUAL[..], &["report"]].concat();
    let recorded = json(dir, &args);
    assert_eq!(recorded.get("proofs"), None);
    let before = results(dir);
    assert_eq!(before.len(), 61);
    assert!(before.iter().all(|row| row.ends_with(" 0.5")), "{before:?}");

    let proven = json(dir, &[&args[..], &["--prove", "tables=on"]].concat());
    let after = results(dir);
    let won = after.iter().take_while(|row| !row.ends_with(" 0.5")).count();
    // Five pieces are not solved: the first position has its result from the next one. At the end no time is left to win.
    assert!((30..60).contains(&won), "{after:?}");
    assert_eq!(after[..3], ["1 0 1", "1 1 0", "1 2 1"]);
    assert!(after[won..].iter().all(|row| row.ends_with(" 0.5")), "{after:?}");
    assert_eq!(proven["proofs"]["proven"], serde_json::json!([["tables=on", 60]]));
    assert_eq!(proven["proofs"]["corrected_positions"], won);
    assert_eq!(proven["proofs"]["corrected_games"], 1);
    assert!(fs::read_to_string(dir.join("report/report.html")).unwrap().contains("60 positions proven by tables=on"));

    // A position has the same result whichever others are looked at.
    let sampled = [&args[..], &["--prove", "tables=on", "--per-game", "7"]].concat();
    json(dir, &sampled);
    let some = results(dir);
    assert!(some.len() == 7 && some.iter().all(|row| after.contains(row)), "{some:?}");
}

#[test]
fn a_search_corrects_results() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    // The pawn could take the king at once, but the players agree to a draw; five pieces are in no table.
    let game = "[Rules \"chen\"]\n[Position \"4/1K2/1p2/4/4/4/3p/pp2 b -\"]\n\n1. d2-d3 b7-b8 2. d3-d4 1/2-1/2\n";
    fs::write(dir.join("games.anqi"), game).unwrap();
    let args = [&USUAL[..], &["report"]].concat();
    let report = json(dir, &[&args[..], &["--prove", "depth=1", "--prove", "tables=on"]].concat());
    assert_eq!(report["proofs"]["proven"], serde_json::json!([["tables=on", 0], ["depth=1", 1]]));
    assert_eq!(results(dir), ["1 0 1", "1 1 0.5", "1 2 0.5"]);
    // A position without hope is proven by a deeper search, and the text says so, too.
    let text = anqi(dir, &[&args[..], &["--prove", "nodes=20000"]].concat());
    let text = String::from_utf8(text.stdout).unwrap();
    assert!(text.contains(" positions proven by nodes=20000\n"), "{text}");
}

#[test]
fn what_cannot_prove_is_refused() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("games.anqi"), drawn_but_won()).unwrap();
    fs::create_dir(dir.join("empty")).unwrap();
    fs::write(dir.join("values.csv"), "value,result\n0.5,1\n").unwrap();
    let usual = [&USUAL[..], &["report"]].concat();
    for (prove, said) in [
        ("tables=nowhere", "expected on, or a folder that is there"),
        ("tables=empty", "no tables of flavour conversion-60 in empty"),
        ("playouts=5", "expected nodes= or depth= for a search"),
        ("movetime=1", "expected nodes= or depth= for a search"),
        ("belief", "unknown budget \"belief\""),
    ] {
        let output = anqi(dir, &[&usual[..], &["--prove", prove]].concat());
        let text = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && text.contains(said), "{prove}: {text}");
    }
    let output = anqi(dir, &["assess", "--values", "values.csv", "--prove", "tables=on"]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("a file of values has none"));
    assert!(!dir.join("report").exists());
}

#[test]
fn bad_records_of_our_own_are_named_and_counted() {
    let good = |comment: &str, result: &str| {
        format!(
            "[Rules \"server,board=2x2\"]\n\n1. a1(P) b1(k) 2. a1-b1 {{{comment}}} a2(K) 3. b2(p) b2-b1 4. a2-a1 b1-a1 {result}\n\n"
        )
    };
    let whole = good("[%eval 3]", "0-1");
    let games = [
        whole.clone(),
        whole.replace(" b1-a1 0-1", " *"),
        whole.replace("a2-a1", "a1-a2"),
        whole.replace("0-1", "1-0"),
        good("[%eval nan]", "0-1"),
        whole[..whole.len() - 12].to_owned() + "\n\n",
        whole.replace("[%eval 3]", "[%eval -2]"),
    ];
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("games.anqi"), games.concat()).unwrap();
    let args = ["assess", "games.anqi", "--from-comments", "--thin", "1", "--resamples", "10", "-o", "report"];
    let report = json(dir, &args);
    let skipped: Vec<_> = report["skipped"]
        .as_array()
        .unwrap()
        .iter()
        .map(|skip| (skip["reason"].as_str().unwrap(), skip["count"].as_u64().unwrap()))
        .collect();
    assert_eq!(
        skipped,
        [
            ("record without a result", 1),
            ("record with an illegal ply", 1),
            ("record with another result than the board's", 1),
            ("damaged record", 2)
        ]
    );
    let text = report["skipped"].to_string();
    assert!(text.contains("nan"), "{text}");
    assert_eq!(results(dir), ["1 3 1", "7 3 1"]);
}

/// A cache that is killed at any moment loses at most the value that was on its way.
#[test]
fn a_killed_run_goes_on() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::copy(Path::new(env!("CARGO_MANIFEST_DIR")).join("../../data/games/server.anqi"), dir.join("games.anqi"))
        .unwrap();
    let run = |cache: &'static str| -> Vec<&'static str> {
        vec![
            "assess",
            "games.anqi",
            "--player",
            "mcts:chance",
            "--budget",
            "playouts=300",
            "--per-game",
            "12",
            "--resamples",
            "10",
            "--thin",
            "1",
            "--concurrency",
            "2",
            "--cache",
            cache,
            "-o",
            cache_report(cache),
        ]
    };
    assert!(anqi(dir, &run("whole")).status.success());
    let lines = |cache: &str| -> Vec<String> {
        let mut lines: Vec<String> =
            fs::read_to_string(dir.join(cache)).unwrap_or_default().lines().map(str::to_owned).collect();
        lines.sort();
        lines
    };
    let expected = lines("whole");
    let mut kills = 0;
    for pause in [5, 40, 80, 120, 160, 200, 240, 280] {
        let before = lines("killed");
        let mut child = command(dir, &run("killed")).spawn().unwrap();
        thread::sleep(Duration::from_millis(pause));
        kills += u32::from(child.try_wait().unwrap().is_none());
        let _ = child.kill();
        child.wait().unwrap();
        let now = lines("killed");
        // Nothing that was known is lost, and nothing is there that a whole run does not know, but for a last line cut off.
        assert!(before.iter().filter(|line| expected.contains(line)).all(|line| now.contains(line)));
        assert!(now.iter().filter(|line| !expected.contains(line)).count() <= 1);
    }
    assert!(kills > 0, "it was never killed");
    assert!(anqi(dir, &run("killed")).status.success());
    assert_eq!(lines("killed"), expected);
    let values = |cache| fs::read(dir.join(cache_report(cache)).join("values.csv")).unwrap();
    assert_eq!(values("killed"), values("whole"));
}

fn cache_report(cache: &str) -> &'static str {
    if cache == "whole" { "report-whole" } else { "report-killed" }
}
