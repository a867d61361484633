//! `match`, `tournament` and `serve-match` as a person runs them, with real programs as players.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

const ANQI: &str = env!("CARGO_BIN_EXE_anqi");

fn anqi(dir: &Path, args: &[&str]) -> Output {
    Command::new(ANQI).args(args).current_dir(dir).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn done(dir: &Path, args: &[&str]) -> String {
    let output = anqi(dir, args);
    assert_eq!(output.status.code(), Some(0), "{args:?}: {}", text(&output.stderr));
    text(&output.stdout)
}

/// A program that speaks protocol A until it is asked for a move, and then does this.
fn asked_for_a_move(then: &str) -> String {
    format!(
        "cmd=\"sh -c 'while read id rest; do case $id in 12) {then};; *) echo \\\"=$id x\\\";; esac; done'\" name=bad"
    )
}

#[test]
fn a_match_prints_what_engine_authors_read() {
    let dir = tempfile::tempdir().unwrap();
    let args = ["match", "chen:var1", "random", "--pairs", "10", "--nodes", "50", "--rules", "chen,board=2x4"];
    let first = done(dir.path(), &args);
    for beginning in [
        "chen:var1 against random",
        "Elo: ",
        "LOS: ",
        "Games: 20, Wins: ",
        "Ptnml(0-2): [",
        "Score: 0.",
        "Luck-adjusted: ",
        "First player: ",
        "Endings: ",
        "Records: matches/chen-var1-vs-random-",
    ] {
        assert!(first.lines().any(|line| line.starts_with(beginning)), "{beginning}: {first}");
    }
    // The same again plays nothing and says the same; so does --resume.
    assert_eq!(done(dir.path(), &args), first);
    let folder = fs::read_dir(dir.path().join("matches")).unwrap().next().unwrap().unwrap().path();
    let folder = folder.strip_prefix(dir.path()).unwrap().to_str().unwrap();
    assert_eq!(done(dir.path(), &["match", "--resume", folder]), first);

    let json = done(dir.path(), &[&args[..], &["--json"]].concat());
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["schema"], "anqi-match-1");
    assert_eq!(json["pairs"], 10);
    assert_eq!(json["pairings"][0]["luck"]["value"], "static-captures-2");

    // What was written down is what the rules say.
    let check = done(dir.path(), &["records", "check", &format!("{folder}/games.anqi")]);
    assert!(check.contains("endings equal   20"), "{check}");
}

#[test]
fn exit_codes_tell_what_happened() {
    let dir = tempfile::tempdir().unwrap();
    let code = |args: &[&str]| {
        let output = anqi(dir.path(), args);
        (output.status.code(), text(&output.stderr) + &text(&output.stdout))
    };
    let small = ["--pairs", "3", "--rules", "chen,board=2x2"];
    for (then, why) in [
        ("exit 3", "forfeit: crashed"),
        ("echo \"=12 a1 d8\"", "forfeit: illegal"),
        ("echo \"=12 hello\"", "forfeit: malformed"),
        ("echo \"=12 a0 a0\"", "resignation"),
    ] {
        let bad = asked_for_a_move(&then.replace('"', "\\\""));
        let (status, output) = code(&["match", &bad, "random", "--pairs", "1", "--strict"]);
        assert!(output.contains(&format!("Endings: {why} 2")), "{then}: {output}");
        assert!(output.contains("Losses: 2"), "{output}");
        assert_eq!(status, Some(if why == "resignation" { 0 } else { 3 }), "{output}");
    }
    let (status, output) =
        code(&[&["match", "random", "chen:var1", "--sprt", "elo0=0", "elo1=50", "--gate"], &small[2..]].concat());
    assert_eq!(status, Some(4), "{output}");
    assert!(output.contains("LLR: -"), "{output}");
    let (status, output) = code(&["match", "cmd=./no-such-program", "random"]);
    assert_eq!(status, Some(1));
    assert!(output.starts_with("anqi: no-such-program: cannot start"), "{output}");
    assert!(!dir.path().join("matches").join("no-such-program").exists());
    // A game that a protocol has no words for is nobody's loss.
    let outside = format!("cmd='{ANQI} engine --player random'");
    let (status, output) = code(&[&["match", &outside, "random", "--dir", "small"], &small[..]].concat());
    assert_eq!(status, Some(1), "{output}");
    assert!(output.contains("cannot play") && output.contains("board"), "{output}");
    let (status, output) = code(&["match", "--resume", "nowhere"]);
    assert_eq!((status, output.as_str()), (Some(1), "anqi: nowhere: there is no journal in this folder\n"));
    assert_eq!(code(&["match", "random"]).0, Some(2));
    assert_eq!(code(&["match", "random", "chaos"]).0, Some(2));
    assert!(!dir.path().join("nowhere").exists());
}

#[test]
fn tournaments_have_a_table() {
    let dir = tempfile::tempdir().unwrap();
    fs::write(
        dir.path().join("plan.toml"),
        "players = ['chen:var1 name=var1', 'chen:basic', 'random']\npairs = 4\nrules = 'chen,board=2x4'\nbudget = 'nodes=40'\n",
    )
    .unwrap();
    let table = done(dir.path(), &["tournament", "plan.toml"]);
    assert!(table.contains("GS_first GS_second     TS"), "{table}");
    assert_eq!(table.lines().filter(|line| line.contains(" 16 ")).count(), 3, "{table}");
    let json: Value = serde_json::from_str(&done(dir.path(), &["tournament", "plan.toml", "--json"])).unwrap();
    assert_eq!((&json["schema"], &json["pairs"]), (&Value::from("anqi-tournament-1"), &Value::from(12)));
    assert_eq!(json["ratings"]["players"].as_array().unwrap().len(), 3);
    // Flags override the plan.
    let json: Value =
        serde_json::from_str(&done(dir.path(), &["tournament", "plan.toml", "--pairs", "2", "--json"])).unwrap();
    assert_eq!(json["pairs"], 6);
    // A gauntlet says what the first scored against each.
    let plan = fs::read_to_string(dir.path().join("plan.toml")).unwrap();
    fs::write(dir.path().join("gauntlet.toml"), format!("format = 'gauntlet'\n{plan}")).unwrap();
    let gauntlet = done(dir.path(), &["tournament", "gauntlet.toml"]);
    for beginning in ["var1 against chen:basic      8 games 0.", "var1 against random          8 games 0."] {
        assert!(gauntlet.contains(beginning) && !table.contains(beginning), "{gauntlet}");
    }

    fs::write(dir.path().join("bad.toml"), "players = ['random', 'random']\ngames = 4\n").unwrap();
    let output = anqi(dir.path(), &["tournament", "bad.toml"]);
    assert_eq!(output.status.code(), Some(1));
    let error = text(&output.stderr);
    assert!(
        error.contains("unknown field `games`, expected one of `version`, `event`, `rules`, `seed`, `pairs`"),
        "{error}"
    );
}

/// All three protocols with real processes give the games that the same player gives in process.
#[test]
fn programs_play_as_the_same_players_do_inside() {
    let dir = tempfile::tempdir().unwrap();
    let engine = format!("{ANQI} engine --player chen:var1 --nodes 60 --seed {{seed}}");
    let plies = |player: &str| {
        let folder = player.len().to_string();
        let args = ["match", player, "random", "--pairs", "3", "--nodes", "60", "--dir", &folder];
        done(dir.path(), &args);
        let games = fs::read_to_string(dir.path().join(folder).join("games.anqi")).unwrap();
        let games: Vec<anqi_records::Record> =
            anqi_records::Reader::new(games.as_bytes()).unwrap().map(|entry| entry.unwrap().record).collect();
        games.iter().map(|game| game.plies().iter().map(|played| played.ply).collect::<Vec<_>>()).collect::<Vec<_>>()
    };
    let inside = plies("chen:var1");
    assert_eq!(inside.len(), 6);
    assert!(plies(&format!("cmd='{engine}' name=by-a")) == inside, "A");
    assert!(plies(&format!("cmd='{engine}' name=by-uci proto=uci")) == inside, "UCI");
    let connecting = format!("cmd=\"sh -c '{engine} --connect $0:$1'\" name=by-tcp proto=b");
    assert!(plies(&connecting) == inside, "B");
}

#[test]
fn the_match_server_is_played() {
    let dir = tempfile::tempdir().unwrap();
    let alice = format!("cmd='{ANQI} engine --player random --seed {{seed}}' name=alice");
    let bob = format!("cmd=\"sh -c '{ANQI} engine --player random --connect $0:$1'\" name=bob proto=b");
    let sheet = done(dir.path(), &["serve-match", &alice, &bob]);
    assert!(sheet.starts_with("INITIAL\n* alice vs bob\n* 1 2 2 2 2 2 5 1 2 2 2 2 2 5\n* X X X X\n"), "{sheet}");
    assert_eq!(sheet.matches("\n* time 900\n").count(), 2);
    done(dir.path(), &["serve-match", &alice, &bob, "--output", "games.txt"]);
    assert_eq!(fs::read_to_string(dir.path().join("games.txt")).unwrap(), sheet);
    let check = done(dir.path(), &["records", "check", "games.txt"]);
    assert!(check.contains("games           2") && check.contains("endings equal   2"), "{check}");
}
