//! Chess, Go and shogi from records to a report, with the real engines of Debian's packages; `./test` installs them.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const STOCKFISH: &str = "proto=uci cmd=/usr/games/stockfish option.Threads=1 option.Hash=1";
const GNU_GO: &str = "proto=gtp cmd='/usr/games/gnugo --mode gtp --level 0'";
const GPS_SHOGI: &str = "proto=usi cmd=/usr/games/gpsusi 'go=btime 0 wtime 0 byoyomi 1000' option.LimitDepth=4 option.Thread=1 option.BookDepth=0";

fn anqi(dir: &Path, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_anqi")).current_dir(dir).args(args).output().unwrap()
}

fn json(dir: &Path, args: &[&str]) -> Value {
    let output = anqi(dir, &[args, &["--json"]].concat());
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

fn error(dir: &Path, args: &[&str]) -> String {
    let output = anqi(dir, args);
    assert!(!output.status.success(), "{args:?}");
    String::from_utf8(output.stderr).unwrap()
}

/// Self-play, then values twice: the second time all from the cache, and the same.
fn check(engine: &str, file: &str, more: &[&str], budgets: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    let limited = format!("{engine}{}", if engine == STOCKFISH { " nodes=100" } else { "" });
    let played = json(dir, &[&["self-play", "--engine", &limited, "--games", "4", "-o", file], more].concat());
    assert_eq!((&played["schema"], &played["skipped"]), (&"anqi-self-play-1".into(), &Value::Array(Vec::new())));
    assert_eq!(played["games"], 4);
    let assess = ["assess", file, "--per-game", "3", "--thin", "1", "--resamples", "20", "--draws", "half"];
    let by_engine = [&assess[..], &["--engine", engine, "--cache", "values", "-o", "report"], budgets].concat();
    let first = json(dir, &by_engine);
    let cached = fs::read(dir.join("values")).unwrap();
    assert_eq!(json(dir, &by_engine), first);
    assert_eq!(fs::read(dir.join("values")).unwrap(), cached);
    let methods = first["assessments"].as_array().unwrap();
    assert_eq!(methods.len(), (budgets.len() / 2).max(1));
    let table = fs::read_to_string(dir.join("report/values.csv")).unwrap();
    assert_eq!(table.lines().next(), Some("value,result,game,ply,pieces,lead,check,capture,side,method"));
    assert_eq!(table.lines().count(), 1 + 4 * 3 * methods.len());
    // What the engine said while it played needs no engine.
    let commented = json(dir, &[&assess[..], &["--from-comments"]].concat());
    assert_eq!(commented["assessments"].as_array().unwrap().len(), 1);
}

#[test]
fn chess() {
    check(STOCKFISH, "games.pgn", &["--opening", "20"], &["--budget", "nodes=50", "--budget", "depth=1"]);
}

#[test]
fn go() {
    check(GNU_GO, "games.sgf", &["--size", "5", "--opening", "2"], &[]);
}

#[test]
fn shogi() {
    check(GPS_SHOGI, "games.csa", &["--opening", "30", "--longest", "400"], &[]);
}

const GAMES: &str = "[Event \"good\"]\n\n1. e4 {[%eval 0.3]} e5 {[%eval #-2]} 1-0\n\n[Event \"unknown\"]\n\n1. e4 *\n\n\
    [Event \"unknown too\"]\n\n1. d4 *\n\n[Event \"illegal\"]\n\n1. e4 e5 2. e6 1-0\n\n[Event \"cut\"]\n\n1. e4 {and then\n\
    [Event \"good\"]\n\n1. d4 {[%eval nan]} d5 {[%eval -0.2]} 0-1\n";

/// Go knows no mates; its values are points.
const GAMES_OF_GO: &str = "(;GM[1]SZ[9]RE[B+R];B[ee]V[3];W[ec]V[-2.5])\n(;GM[1]SZ[9]RE[?];B[ee])\n(;GM[1]SZ[9]RE[Void];B[ee])\n\
    (;GM[1]SZ[9]RE[B+R];B[ee];W[ee])\n(;GM[1]SZ[9]RE[B+R];B[ee];W[z\n(;GM[1]SZ[9]RE[W+2.5];B[ee]V[nan];W[cc]V[many];B[gc]V[-2])\n";

const GAMES_OF_SHOGI: &str = "V2.2\nPI\n+\n+7776FU\n'** 30\n-3334FU\n'** mate -2\n%TORYO\n/\nPI\n+\n+7776FU\n%CHUDAN\n/\n\
    PI\n+\n+7776FU\n%MATTA\n/\nPI\n+\n+7775FU\n%TORYO\n/\nPI\n+\n+7776FU\n/\n\
    PI\n+\n+7776FU\n'** nan\n-3334FU\n'** -20\n+2726FU\n%TORYO\n";

#[test]
fn bad_records_are_named_and_counted() {
    check_bad(
        ("games.pgn", GAMES),
        &[
            "2 × unknown result: games.pgn:5: its result is \"*\"",
            "1 × illegal move: games.pgn:13: ply 3: illegal move \"e6\"",
            "1 × truncated record: games.pgn:17: it stops after 1 plies: the end of a comment",
            "1 × value that is not a number: game 6, ply 1: \"nan\"",
        ],
        // A mate is infinite.
        &["-30,0,1,1", "-inf,1,1,2", "-20,0,6,2"],
    );
    check_bad(
        ("games.sgf", GAMES_OF_GO),
        &[
            "2 × unknown result: games.sgf:2: its result is \"?\"",
            "1 × illegal move: games.sgf:4: ply 2: illegal move \"E5\"",
            "1 × truncated record: games.sgf:5: it stops after 2 plies: the closing parenthesis",
            "2 × value that is not a number: game 6, ply 1: \"NaN\"",
        ],
        &["-3,0,1,1", "-2.5,1,1,2", "2,1,6,3"],
    );
    check_bad(
        ("games.csa", GAMES_OF_SHOGI),
        &[
            "2 × unknown result: games.csa:10: its result is \"%CHUDAN\"",
            "1 × illegal move: games.csa:20: ply 1: illegal move \"+7775FU\"",
            "1 × truncated record: games.csa:25: it stops after 1 plies: a line like %TORYO after the moves",
            "1 × value that is not a number: game 6, ply 1: \"nan\"",
        ],
        &["-30,1,1,1", "-inf,0,1,2", "-20,1,6,2"],
    );
}

/// Everything bad in a file has a name and a number, and the values of the other games are all there.
fn check_bad((file, text): (&str, &str), named: &[&str], values: &[&str]) {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join(file), text).unwrap();
    let report = json(dir, &["assess", file, "--from-comments", "--thin", "1", "--resamples", "10", "-o", "report"]);
    let shown = |skip: &Value| {
        format!("{} × {}: {}", skip["count"], skip["reason"].as_str().unwrap(), skip["first"].as_str().unwrap())
    };
    let skipped: Vec<_> = report["skipped"].as_array().unwrap().iter().map(shown).collect();
    assert_eq!(skipped, named);
    let table = fs::read_to_string(dir.join("report/values.csv")).unwrap();
    let found: Vec<_> =
        table.lines().skip(1).map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect();
    assert_eq!(found, values);
}

/// An engine of some lines, in any protocol, that dies when it is asked, as long as it can make another file.
fn mortal(dir: &Path, protocol: &str, lives: u32) -> String {
    let deaths = dir.join("deaths");
    let die =
        format!("if [ $(ls {0} | wc -l) -lt {lives} ]; then mktemp -p {0} >/dev/null; exit 9; fi", deaths.display());
    let script = match protocol {
        "gtp" => format!(
            "while read line rest; do case $line in\nname) echo = Mortal;;\nlist_commands) echo = estimate_score;;\n\
             quit) echo =; echo; exit;;\nestimate_score) {die}\necho = B+1.5;;\n*) echo =;;\nesac; echo; done\n"
        ),
        _ => format!(
            "while read line; do case $line in\n{protocol}) echo {protocol}ok;;\nisready) echo readyok;;\nquit) exit;;\n\
             go*) {die}\necho info score cp 17; echo bestmove e2e4;;\nesac; done\n"
        ),
    };
    fs::create_dir(deaths).unwrap();
    fs::write(dir.join("engine.sh"), script).unwrap();
    let limit = if protocol == "gtp" { "" } else { " nodes=1" };
    format!("proto={protocol} cmd='sh {}' name=Mortal{limit}", dir.join("engine.sh").display())
}

#[test]
fn an_engine_that_dies_is_named_and_counted() {
    for (protocol, file, text) in [
        ("uci", "games.pgn", "1. e4 e5 1-0\n\n1. d4 d5 0-1\n"),
        ("gtp", "games.sgf", "(;GM[1]SZ[9]RE[B+R];B[ee];W[ec])(;GM[1]SZ[9]RE[W+R];B[cc];W[gg])"),
        ("usi", "games.csa", "PI\n+\n+7776FU\n-3334FU\n%TORYO\n/\nPI\n+\n+2726FU\n-8384FU\n+7776FU\n%TORYO\n"),
    ] {
        // Both games begin with the same position, which is asked once.
        let positions = if protocol == "usi" { 7 } else { 6 };
        for (deaths, valued) in [(1, positions), (2, positions - 2)] {
            let dir = tempfile::tempdir().unwrap();
            let dir = dir.path();
            fs::write(dir.join(file), text).unwrap();
            let engine = mortal(dir, protocol, deaths);
            let args = ["assess", file, "--engine", &engine, "--concurrency", "1", "--thin", "1", "--resamples", "10"];
            let report = json(dir, &[&args[..], &["-o", "report"]].concat());
            let table = fs::read_to_string(dir.join("report/values.csv")).unwrap();
            assert_eq!(table.lines().count(), 1 + valued, "{protocol}");
            let (restarted, skipped) = (report["facts"].to_string(), report["skipped"].to_string());
            assert_eq!(restarted.contains("engine restarted"), deaths == 1, "{restarted}");
            assert_eq!(skipped.contains("position that Mortal"), deaths == 2, "{skipped}");
            assert!(deaths == 1 || skipped.contains("game 1, ply 0: it ended (exit code 9) when asked"), "{skipped}");
        }
    }
}

#[test]
fn what_cannot_be_done_is_said() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    fs::write(dir.join("games.pgn"), GAMES).unwrap();
    fs::write(dir.join("games.sgf"), "").unwrap();
    for (args, said) in [
        (&["assess", "games.pgn"][..], "nobody to value the positions"),
        (
            &["assess", "games.pgn", "games.sgf", "--from-comments"],
            "records of different games: games.pgn and games.sgf",
        ),
        (&["assess", "games.pgn", "--engine", GNU_GO], "records of different games: games.pgn and the engine"),
        (&["assess", "games.pgn", "--engine", STOCKFISH], "how long may stockfish think?"),
        (&["assess", "games.pgn", "--engine", STOCKFISH, "--budget", "playouts=3"], "playouts=3 means nothing"),
        (&["assess", "games.pgn", "--engine", "proto=uci cmd=./none nodes=1"], "cannot start ./none"),
        (&["assess", "games.pgn", "--engine", "proto=elf cmd=x"], "bad value \"elf\" for proto"),
        (&["assess", "none.pgn", "--from-comments"], "cannot open none.pgn"),
        (&["assess", "games.sgf", "--from-comments"], "no positions in 0 games"),
        (&["self-play", "--engine", STOCKFISH, "--size", "9", "-o", "x"], "--size and --komi are for Go"),
        (&["self-play", "--engine", GNU_GO, "--size", "3", "-o", "x"], "a board of 3 lines, expected 5 to 19"),
        (&["self-play", "--engine", GNU_GO, "--concurrency", "0", "-o", "x"], "expected a number from 1 on"),
    ] {
        let text = error(dir, args);
        assert!(text.contains(said), "{args:?}: {text}");
    }
    assert!(!dir.join("x").exists());
}
