//! Tables of endings with face-down pieces from the command line: built, counted, verified, probed, damaged.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn solve_table(dir: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anqi"));
    command.args(["solve", "table"]).args(args).arg("--json").arg("--dir").arg(dir).output().expect("anqi runs")
}

fn json(output: &Output) -> serde_json::Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("JSON")
}

#[test]
fn tables_are_built_once_and_checked() {
    let dir = tempfile::tempdir().expect("a temporary folder");
    let dir = dir.path();
    let built = json(&solve_table(dir, &["build", "--pieces", "2"]));
    assert_eq!(
        (&built["schema"], &built["tables"], &built["made"]),
        (&"anqi-solve-build-1".into(), &built["of"], &built["of"])
    );
    assert_eq!(json(&solve_table(dir, &["build", "--pieces", "2"]))["made"], 0);

    let verified = json(&solve_table(dir, &["verify"]));
    assert_eq!((&verified["tables"], verified["wrong"].as_array().map(Vec::len)), (&built["of"], Some(0)));

    // One against one, both revealed: the stronger side to move wins 512 of 992 placements and draws 480.
    let stats = json(&solve_table(dir, &["stats", "Gp+-"]));
    assert_eq!(stats["endings"][0]["red_to_move"]["win"], 512);

    let probed = json(&solve_table(dir, &["probe", "4/4/4/4/1x2/1G2/4/4 b p"]));
    assert_eq!((probed["value"].as_f64(), &probed["exact"]["value"]), (Some(-1.0), &"-1".into()));

    let file = fs::read_dir(dir).expect("a folder").map(|file| file.expect("a file").path()).next().expect("a table");
    let mut bytes = fs::read(&file).expect("a table");
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&file, bytes).expect("a table");
    let refused = solve_table(dir, &["verify"]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is damaged"));
}
