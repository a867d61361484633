//! Files of a gigabyte of zeros, which take no room on the disk: every command that reads a file refuses it or passes over
//! it in bounded memory, and says which file and why. The process may have 600 MB of addresses, so that one which reads
//! such a file whole dies.

#![cfg(target_os = "linux")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

const LARGE: u64 = 1 << 30;
/// In kilobytes, as `ulimit -v` has it.
const MEMORY: &str = "600000";

fn anqi(args: &[&str], dir: &Path, input: Stdio) -> Output {
    Command::new("sh")
        .args(["-c", &format!("ulimit -v {MEMORY}; exec \"$0\" \"$@\""), env!("CARGO_BIN_EXE_anqi")])
        .args(args)
        .current_dir(dir)
        .stdin(input)
        .output()
        .unwrap()
}

/// Large files under all names that commands look for.
fn folder() -> TempDir {
    let dir = tempfile::tempdir().unwrap();
    for name in [
        "large",
        "large.json",
        "large.pgn",
        "large.csv",
        "match/journal",
        "tables/P-p.end.table",
        "experiments/one/plan.toml",
        "experiments/two/report.toml",
    ] {
        let path = dir.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        File::create(&path).unwrap().set_len(LARGE).unwrap();
    }
    fs::write(
        dir.path().join("experiments/two/plan.toml"),
        "kind = \"matches\"\nplayers = [\"random\", \"random name=b\"]\n",
    )
    .unwrap();
    fs::create_dir_all(dir.path().join("experiments/two/runs/a")).unwrap();
    fs::copy(dir.path().join("experiments/two/plan.toml"), dir.path().join("experiments/two/runs/a/plan.toml"))
        .unwrap();
    File::create(dir.path().join("experiments/two/runs/a/raw.csv")).unwrap().set_len(LARGE).unwrap();
    // A gigabyte that is packed into some kilobytes.
    let packed = File::create(dir.path().join("bomb.anqi.zst")).unwrap();
    zstd::stream::copy_encode(io::repeat(0).take(LARGE), packed, 1).unwrap();
    dir
}

/// The command line, and what it says.
const CASES: [(&str, &str); 23] = [
    ("tournament large", "more than 1048576 bytes"),
    ("plan large", "more than 1048576 bytes"),
    ("part large --pairs 1-1 --dir part", "more than 1048576 bytes"),
    ("plan match", "line 1 is"),
    ("report match", "line 1 is"),
    ("merge whole match", "line 1 is"),
    ("perft --suite large", "more than 67108864 bytes"),
    ("perft --suite /dev/zero", "more than 67108864 bytes"),
    ("records check large", "a line of more than 65536 bytes"),
    ("records check bomb.anqi.zst", "a line of more than 65536 bytes"),
    ("records convert --to jsonl large", "a line of more than 65536 bytes"),
    ("verify-deal large", "a line of more than 65536 bytes"),
    ("match champion,net=large random --pairs 1", "more than 16777216 bytes"),
    ("match champion,net=/dev/zero random --pairs 1", "more than 16777216 bytes"),
    ("match chen:var1,weights=large random --pairs 1", "more than 65536 bytes"),
    ("tune --eval static --start large --fit ls large", "more than 65536 bytes"),
    ("tune --eval static --start large.json --fit ls large", "more than"),
    ("assess --values large.csv", "a row has more than 1048576 bytes"),
    ("assess --from-comments large.pgn", "longer than 1048576 bytes"),
    ("endgame count --pieces 2 --dir counted --csv large", "more than 67108864 bytes"),
    ("endgame probe --dir tables 4/4/4/4/4/4/4/P2p r -", "not a table"),
    ("experiment --root experiments report one", "more than 1048576 bytes"),
    ("experiment --root experiments report two", "bytes"),
];

#[test]
fn large_files_are_refused_in_little_memory() {
    let dir = folder();
    let mut wrong = String::new();
    for (line, told) in CASES {
        let mut args: Vec<&str> = line.split(' ').collect();
        if let Some(at) = args.iter().position(|word| word.starts_with("4/4")) {
            args.truncate(at);
            args.push(line.split_once("tables ").unwrap().1);
        }
        let output = anqi(&args, dir.path(), Stdio::null());
        let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
        if !said.contains(told) || !matches!(output.status.code(), Some(0..=2)) {
            let said: String = said.chars().take(1000).collect();
            wrong += &format!("{line}: {:?}: {said}\n", output.status);
        }
    }
    assert!(wrong.is_empty(), "{wrong}");
}

/// The same on standard input, for programs that talk over it and for records.
#[test]
fn endless_input_is_read_in_little_memory() {
    let dir = folder();
    for args in [&["records", "check", "-"][..], &["engine", "random"], &["engine", "--protocol", "uci", "random"]] {
        let output = anqi(args, dir.path(), File::open(dir.path().join("large")).unwrap().into());
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(output.status.code(), Some(0..=2)), "{args:?}: {:?}: {said}", output.status);
    }
}
