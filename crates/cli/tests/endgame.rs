//! Tables that are built by processes which are killed, or which share a folder, are the same, byte for byte.
//!
//! `ANQI_KILLS=200 cargo test --release -p anqi --test endgame -- --ignored --nocapture` kills 200 times.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::Duration;

use anqi_rules::Seed;
use rand_core::Rng;

const ANQI: &str = env!("CARGO_BIN_EXE_anqi");

fn build(dir: &Path, pieces: &str, threads: &str) -> Child {
    let mut command = Command::new(ANQI);
    command.args(["endgame", "build", "--pieces", pieces, "--threads", threads, "--dir"]).arg(dir);
    command.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap()
}

/// Names and contents of a folder.
fn contents(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

fn kill(times: u32, pieces: &str) {
    let whole = tempfile::tempdir().unwrap();
    assert!(build(whole.path(), pieces, "1").wait().unwrap().success());
    let expected = contents(whole.path());
    let dir = tempfile::tempdir().unwrap();
    let mut rng = Seed::from(1).rng();
    let (mut kills, mut whole) = (0, 0);
    while kills < times {
        let mut child = build(dir.path(), pieces, "2");
        thread::sleep(Duration::from_micros(u64::from(rng.next_u32() % 100_000)));
        if child.try_wait().unwrap().is_none() {
            child.kill().unwrap();
            kills += 1;
        }
        child.wait().unwrap();
        let there = contents(dir.path());
        for (name, bytes) in there.iter().filter(|(name, _)| !name.ends_with(".part")) {
            assert_eq!(Some(bytes), expected.get(name), "{name}");
        }
        if there.len() == expected.len() && there == expected {
            whole += 1;
            there.keys().for_each(|name| fs::remove_file(dir.path().join(name)).unwrap());
        }
    }
    assert!(build(dir.path(), pieces, "2").wait().unwrap().success());
    assert_eq!(contents(dir.path()), expected);
    println!("{kills} kills, {whole} builds that came through in between");
}

#[test]
fn kills_leave_no_trace() {
    kill(10, "3");
}

#[test]
#[ignore = "kills 200 builds"]
fn many_kills_leave_no_trace() {
    kill(std::env::var("ANQI_KILLS").map_or(200, |text| text.parse().unwrap()), "4");
}

#[test]
fn processes_share_a_folder() {
    let (one, shared) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    assert!(build(one.path(), "3", "1").wait().unwrap().success());
    let processes = [(); 3].map(|()| build(shared.path(), "3", "1"));
    assert!(processes.into_iter().all(|mut process| process.wait().unwrap().success()));
    assert_eq!(contents(one.path()), contents(shared.path()));
}
