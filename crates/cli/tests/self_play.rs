//! Self-play that is interrupted or killed goes on with the same command and ends with the same games.
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// An engine of Go that passes after some time, so that a game is over after two plies of its own, and knows who won.
const ENGINE: &str = "while read command rest; do case $command in\n\
    name) echo = Passer;;\nlist_commands) printf '= genmove\\nfinal_score\\nestimate_score';echo;;\n\
    genmove) sleep 0.05; echo = pass;;\nfinal_score) echo = B+1.5;;\nestimate_score) echo = B+1.5;;\n\
    quit) echo =; echo; exit;;\n*) echo =;;\nesac; echo; done\n";

fn command(dir: &Path, games: &str) -> Command {
    fs::write(dir.join("engine.sh"), ENGINE).unwrap();
    let mut command = Command::new(env!("CARGO_BIN_EXE_anqi"));
    command.current_dir(dir).args(["self-play", "--engine", "proto=gtp cmd='sh engine.sh'", "--size", "5"]);
    command.args(["--opening", "6", "--games", games, "--concurrency", "2", "-o", "games.sgf"]);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn finish(dir: &Path, games: &str) -> Output {
    let output = command(dir, games).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    output
}

/// Waits until so many games are kept, or the process has come to its end.
fn wait_for(child: &mut Child, journal: &Path, games: usize) {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        assert!(started.elapsed() < Duration::from_secs(60), "no games come");
        let lines = fs::read_to_string(journal).unwrap_or_default().lines().count();
        if lines > games {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn killed_and_interrupted_it_goes_on() {
    let whole = tempfile::tempdir().unwrap();
    finish(whole.path(), "12");
    let expected = fs::read(whole.path().join("games.sgf")).unwrap();
    assert_eq!(expected.iter().filter(|byte| **byte == b'(').count(), 12);
    assert!(!whole.path().join("games.sgf.journal").exists());

    let dir = tempfile::tempdir().unwrap();
    let (dir, journal) = (dir.path(), dir.path().join("games.sgf.journal"));
    for (games, signal) in [(2, "-KILL"), (5, "-INT"), (8, "-TERM")] {
        let mut child = command(dir, "12").spawn().unwrap();
        wait_for(&mut child, &journal, games);
        assert!(Command::new("kill").args([signal, &child.id().to_string()]).status().unwrap().success());
        let output = child.wait_with_output().unwrap();
        assert!(!output.status.success(), "{signal}");
        assert!(!dir.join("games.sgf").exists(), "{signal}");
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(signal == "-KILL" || said.contains("the same command goes on"), "{said}");
    }
    // A line that was cut off, and one that is damaged: both games are played again.
    let mut kept = fs::read(&journal).unwrap();
    let damaged = kept.iter().enumerate().filter(|(_, byte)| **byte == b'\n').nth(1).unwrap().0 + 30;
    kept[damaged] ^= 1;
    kept.truncate(kept.len() - 5);
    fs::write(&journal, kept).unwrap();
    let output = finish(dir, "12");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("of 12 games were played before"), "{said}");
    assert_eq!(fs::read(dir.join("games.sgf")).unwrap(), expected);
    assert!(!journal.exists());
    assert_eq!(String::from_utf8_lossy(&output.stdout), "12 games of 96 plies written: +12 =0 -0\n");
}

#[test]
fn games_of_something_else_are_left_alone() {
    let dir = tempfile::tempdir().unwrap();
    let (dir, journal) = (dir.path(), dir.path().join("games.sgf.journal"));
    for text in ["dear diary\n", "anqi self-play 1 proto=gtp cmd=other\n"] {
        fs::write(&journal, text).unwrap();
        let output = command(dir, "2").output().unwrap();
        assert!(!output.status.success());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains("games.sgf.journal is of other games: line 1 says"), "{said}");
        assert_eq!(fs::read_to_string(&journal).unwrap(), text);
    }
}
