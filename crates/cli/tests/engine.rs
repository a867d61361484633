//! `anqi engine` and `anqi check-engine`, as real processes on both sides.

use std::io::Write;
use std::process::{Command, Output, Stdio};

const ANQI: &str = env!("CARGO_BIN_EXE_anqi");

fn anqi(args: &[&str], input: &str) -> Output {
    let mut child = Command::new(ANQI)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("anqi runs");
    child.stdin.take().expect("a pipe").write_all(input.as_bytes()).expect("it reads");
    child.wait_with_output().expect("anqi ends")
}

fn text(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn the_first_line_tells_the_protocol() {
    let output = anqi(&["engine", "--player", "random"], "\n1 name\n12 genmove unknown\nnonsense\n");
    let lines = text(&output);
    let lines: Vec<&str> = lines.lines().collect();
    assert_eq!((lines[0], &lines[1][..4], &lines[2][..2]), ("=1 anqi random", "=12 ", "? "));
    assert!(output.status.success());

    let output = anqi(&["engine", "--player", "random"], "uci\nposition startpos\ngo nodes 1\n");
    assert!(text(&output).lines().last().is_some_and(|line| line.starts_with("bestmove ")), "{}", text(&output));
    assert!(output.status.success());
}

#[test]
fn our_engine_conforms_in_every_protocol() {
    for (proto, checks) in [("a", 11), ("b", 3), ("uci", 3)] {
        let engine = format!("cmd={ANQI} engine --player chen:basic,table=1 --nodes 50");
        let proto = format!("proto={proto}");
        let output = anqi(&["check-engine", &engine, &proto, "--games", "4", "--json"], "");
        let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert_eq!(report["schema"], "anqi-check-engine-1");
        assert_eq!((report["passed"].as_u64(), report["failures"].as_u64()), (Some(checks), Some(0)), "{report:#}");
        assert_eq!(output.status.code(), Some(0));
    }
}

#[test]
fn what_does_not_conform_exits_with_1() {
    let output = anqi(&["check-engine", "cmd=cat", "patience=0.2"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("fail  handshake   no answer to \"1 name\" within 0.2 s"), "{}", text(&output));

    let output = anqi(&["check-engine", "cmd=./no-such-engine"], "");
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output).contains("No such file or directory"), "{}", text(&output));

    let output = anqi(&["check-engine", "cmd=cat", "colour=red"], "");
    assert_eq!(output.status.code(), Some(1));
    let error = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(error.contains("unknown key \"colour\", expected one of cmd, dir,"), "{error}");
}
