//! What is done with all records of some files, damaged ones among them.
#![cfg(feature = "files")]
#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::fs;
use std::path::PathBuf;

use anqi_records::{FileError, FileProblems, Format, Target, check_files, convert_files, count_files};

/// A game, one with an illegal ply, one with another result than the board's, one without a result.
const FILE: &str = r#"[Rules "server"]
[Position "4/4/4/4/4/4/GG2/p3 r -"]

1. b2-b1 1-0

[Rules "server"]
[Position "4/4/4/4/4/4/GG2/p3 r -"]

1. b2-b8 1-0

[Rules "server"]
[Position "4/4/4/4/4/4/GG2/p3 r -"]
[Termination "no move"]

1. b2-b1 0-1

[Rules "server"]

1. a1(P)
"#;

fn file(dir: &tempfile::TempDir) -> [PathBuf; 1] {
    let path = dir.path().join("games.anqi");
    fs::write(&path, FILE).unwrap();
    [path]
}

#[test]
fn files_are_checked() {
    let dir = tempfile::tempdir().unwrap();
    let check = check_files(&file(&dir), None).unwrap();
    let totals = check.totals;
    assert_eq!((totals.games, totals.illegal, totals.endings_differ, totals.damaged), (3, 1, 2, 1));
    let problems: Vec<String> = check.problems.named().iter().map(ToString::to_string).collect();
    let place = |line: u32| format!("{}:{line}: ", dir.path().join("games.anqi").display());
    assert!(problems[0].starts_with(&format!("{}ply 1: ", place(6))), "{problems:?}");
    assert!(problems[1].starts_with(&format!("{}ending differs: ", place(6))), "{problems:?}");
    assert!(problems[2].starts_with(&format!("{}ending differs: ", place(11))), "{problems:?}");
    assert_eq!(problems.len(), 4, "{problems:?}");

    let missing = [dir.path().join("missing")];
    assert!(matches!(check_files(&missing, None), Err(FileError::Open { .. })));
}

#[test]
fn files_are_written_in_another_format() {
    let dir = tempfile::tempdir().unwrap();
    let files = file(&dir);
    let convert = |target| {
        let mut out = Vec::new();
        let converted = convert_files::<Box<dyn std::error::Error>>(&files, target, &mut out).unwrap();
        (converted, String::from_utf8(out).unwrap())
    };
    let (converted, text) = convert(Target::Text(Format::Anqi));
    assert_eq!((converted.written, converted.problems.count()), (3, 1));
    let again = dir.path().join("again.anqi");
    fs::write(&again, &text).unwrap();
    assert_eq!(check_files(&[again], None).unwrap().totals.games, 3);
    let (converted, lines) = convert(Target::JsonLines);
    assert_eq!((converted.written, lines.lines().count()), (3, 3));
    let (converted, _) = convert(Target::Text(Format::Server));
    assert_eq!((converted.written, converted.problems.count()), (3, 1), "{:?}", converted.problems);
}

#[test]
fn files_are_counted() {
    let dir = tempfile::tempdir().unwrap();
    let (stats, problems) = count_files(&file(&dir), None).unwrap();
    assert_eq!((stats.summary().games, problems.count()), (3, 1));
}

/// So many damaged records that naming each would fill the memory: the first are named, all are counted.
#[test]
fn problems_are_bounded() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("many.anqi");
    let times = FileProblems::MOST + 2_000;
    fs::write(&path, "[Rules \"server\"]\n\n1. a1(X) *\n\n".repeat(times)).unwrap();
    let check = check_files(&[path], None).unwrap();
    assert_eq!((check.totals.damaged, check.problems.count()), (times as u64, times as u64));
    assert_eq!(check.problems.named().len(), FileProblems::MOST);
    assert!(check.problems.to_string().ends_with("\nand 2000 more\n"));
}
