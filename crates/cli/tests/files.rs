//! Files appear whole or not at all, and exit codes tell what happened.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

fn anqi(args: &[&str]) -> Output {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    Command::new(env!("CARGO_BIN_EXE_anqi")).args(args).current_dir(root).output().expect("anqi runs")
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ours is UTF-8")
}

struct Folder(tempfile::TempDir);

impl Folder {
    fn new() -> Folder {
        Folder(tempfile::tempdir().expect("a temporary folder"))
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn write(&self, name: &str, content: &str) -> PathBuf {
        let path = self.path(name);
        fs::write(&path, content).expect("a file");
        path
    }
}

#[test]
fn a_suite_with_a_difference_exits_with_1() {
    let folder = Folder::new();
    let right = folder.write("right.txt", "# two\n\n2K1/4/4/4/4/4/4/p3 r - ; D1 3 D2 6\n");
    let wrong = folder.write("wrong.txt", "2K1/4/4/4/4/4/4/p3 r - ; D1 3 D2 7\n");
    let broken = folder.write("broken.txt", "2K1/4/4/4/4/4/4/p3 r - ; D1\n");
    assert_eq!(anqi(&["perft", "--suite", text(&right)]).status.code(), Some(0));
    let output = anqi(&["perft", "--suite", text(&wrong)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).contains("depth 2: expected 7, counted 6"));
    let output = anqi(&["perft", "--suite", text(&broken)]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("line 1"));
}

#[test]
fn converting_goes_round_and_leaves_no_half_file() {
    let folder = Folder::new();
    let (ours, server) = (folder.path("games.anqi"), folder.path("games.txt"));
    let original = "data/games/server.txt";
    assert!(anqi(&["records", "convert", "--to", "anqi", "-o", text(&ours), original]).status.success());
    assert!(anqi(&["records", "convert", "--to", "server", "-o", text(&server), text(&ours)]).status.success());
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    assert_eq!(fs::read(&server).expect("written"), fs::read(root.join(original)).expect("ours"));

    // A missing input: the old output stays as it was.
    let before = fs::read(&ours).expect("written");
    let output = anqi(&["records", "convert", "--to", "anqi", "-o", text(&ours), original, "no-such-file"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(fs::read(&ours).expect("still there"), before);
    assert_eq!(fs::read_dir(folder.0.path()).expect("a folder").count(), 2);
}

#[test]
fn a_damaged_record_is_reported_and_the_rest_is_read() {
    let folder = Folder::new();
    let games = folder.write("games.anqi", "[First \"A\"]\n\n1. a1(K) z9 *\n\n[First \"B\"]\n\n1. a1(K) b1(k) *\n");
    let output = anqi(&["records", "check", "--json", text(&games)]);
    assert_eq!(output.status.code(), Some(1));
    let report: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!((report["games"].as_u64(), report["damaged"].as_u64()), (Some(1), Some(1)));
    assert_eq!(report["problems"][0]["line"].as_u64(), Some(3));
    assert!(report["problems"][0]["problem"].as_str().is_some_and(|problem| problem.contains("z9")));
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(env!("CARGO_BIN_EXE_anqi"))
        .args(["completions", "zsh"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("anqi runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("anqi ends");
    assert_eq!((output.status.code(), output.stderr.len()), (Some(0), 0));
}

#[test]
fn man_pages_for_every_command() {
    let folder = Folder::new();
    assert!(anqi(&["man", "--dir", text(folder.0.path())]).status.success());
    for page in ["anqi.1", "anqi-perft.1", "anqi-records-check.1", "anqi-bench-playouts.1"] {
        assert!(fs::read_to_string(folder.path(page)).expect(page).contains(".TH"), "{page}");
    }
}

#[test]
fn samples_are_whole_positions_with_results() {
    let folder = Folder::new();
    let record = "[First \"a\"]\n[Second \"b\"]\n[Rules \"server,board=2x2\"]\n\n\
                  1. a1(P) b1(k) {[%eval -7]} 2. a1-b1 a2(K) 3. b2(p) b2-b1 4. a2-a1 b1-a1 0-1\n";
    let (games, samples) = (folder.write("games.anqi", record), folder.path("samples"));
    let output = anqi(&["records", "samples", text(&games), "-o", text(&samples)]);
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    // Eight plies: the first flip has no side yet, and three are captures.
    let bytes = fs::read(&samples).expect("samples");
    assert_eq!(bytes.len(), 4 * 56);
    // Before b1(k) the second player has black: an enemy pawn on a1 (8), the rest of 2x2 face down, won, with a score.
    let first = &bytes[..56];
    assert_eq!([first[0], first[1], first[8], first[9], first[2]], [8, 15, 15, 15, 0]);
    assert_eq!(&first[46..48], &60_u16.to_le_bytes()[..]); // quiet plies until a draw
    assert_eq!((first[50], first[51], &first[52..]), (1, 1, &(-7_i32).to_le_bytes()[..]));

    let output = anqi(&["records", "samples", "missing.anqi", "-o", text(&folder.path("none"))]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).starts_with("anqi: cannot open missing.anqi"));
    assert!(!folder.path("none").exists());
}
