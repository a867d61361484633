//! Fixtures, and the comparison with them.

use std::collections::BTreeMap;
use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use serde_json::Value;

/// Where the fixtures are.
pub(crate) fn fixtures() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/c3a29fa")
}

/// The root of the workspace, where `data` and `experiments` are.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// The program that is compared: this build's, or the one that `ANQI_PROGRAM` names.
pub(crate) fn program() -> OsString {
    env::var_os("ANQI_PROGRAM").unwrap_or_else(|| env!("CARGO_BIN_EXE_anqi").into())
}

/// Whether fixtures are written instead of compared: at c3a29fa only.
pub(crate) fn is_writing() -> bool {
    env::var_os("ANQI_BASELINE_WRITE").is_some()
}

/// A command of the program that is compared.
pub(crate) fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(program());
    // The data folder of the user stays out of it.
    command.args(args).current_dir(dir).env("XDG_DATA_HOME", dir).stdin(Stdio::null());
    command
}

/// Runs the program; it must succeed.
pub(crate) fn run(dir: &Path, args: &[&str]) -> String {
    let output = output(dir, args);
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Runs the program.
pub(crate) fn output(dir: &Path, args: &[&str]) -> Output {
    command(dir, args).output().unwrap()
}

/// A fixture as text; `NAME.zst` if it is compressed.
pub(crate) fn fixture(name: &str) -> String {
    let path = fixtures().join(name);
    let compressed = fixtures().join(format!("{name}.zst"));
    let bytes = match fs::read(&compressed) {
        Ok(bytes) => zstd::decode_all(&bytes[..]).unwrap(),
        Err(_) => fs::read(&path).unwrap_or_else(|error| panic!("cannot read {}: {error}", path.display())),
    };
    String::from_utf8(bytes).unwrap()
}

/// Writes a fixture, compressed if it is long.
fn write_fixture(name: &str, text: &str) {
    const LONG: usize = 16 * 1024;
    let path = fixtures().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if text.len() < LONG {
        fs::write(path, text).unwrap();
    } else {
        fs::write(fixtures().join(format!("{name}.zst")), zstd::encode_all(text.as_bytes(), 19).unwrap()).unwrap();
    }
}

/// Rules that appear in fixtures and mean something else when they are typed today: `chen` had no repetition rule.
const RULES_OF_CHEN: [&str; 3] = ["chen", "chen,board=2x4", "chen,board=3x4"];

/// A command or request of then, in texts that mean the same today.
pub(crate) fn as_meant(text: &str) -> String {
    let words = text.split(' ').map(|word| match RULES_OF_CHEN.contains(&word) {
        true => format!("{word},repeat=off"),
        false => word.to_owned(),
    });
    words.collect::<Vec<_>>().join(" ")
}

/// What is written today in the words of then: since short texts have another meaning, what they meant is spelled out.
pub(crate) fn in_old_words(text: &str) -> String {
    const WORDS: [(&str, &str); 5] = [
        (",below=flips", ""),
        (",decision=shared", ""),
        (",sum=mean", ""),
        (",reading=paper,draws=lead", ",eval=on,reading=paper"), // options are written in their order
        (",draws=lead", ",eval=on"),
    ];
    let text = WORDS.iter().fold(text.to_owned(), |text, (now, then)| text.replace(now, then));
    RULES_OF_CHEN.iter().fold(text, |text, rules| text.replace(&format!("{rules},repeat=off"), rules))
}

/// Compares line by line what was said then and is said now, both after `normalise`.
pub(crate) fn compare_lines(name: &str, today: &str, normalise: impl Fn(&str) -> String) {
    if is_writing() {
        return write_fixture(name, today);
    }
    let (then, now) = (normalise(&fixture(name)), normalise(today));
    let differences = line_differences(&then, &now);
    assert!(differences.is_empty(), "{}", told(name, &differences));
}

/// Compares JSON documents, one a line, by their values. Fields may be added to objects; nothing may go or change.
pub(crate) fn compare_json(name: &str, today: &[Value], normalise: impl Fn(&mut Value)) {
    if is_writing() {
        let lines: String = today.iter().map(|value| format!("{value}\n")).collect();
        return write_fixture(name, &lines);
    }
    let text = fixture(name);
    let then: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let mut differences = Vec::new();
    if then.len() != today.len() {
        differences.push(format!("{} documents then, {} now", then.len(), today.len()));
    }
    for (number, (mut then, mut now)) in then.into_iter().zip(today.iter().cloned()).enumerate() {
        normalise(&mut then);
        normalise(&mut now);
        value_differences(&format!("{}", number + 1), &then, &now, &mut differences);
    }
    assert!(differences.is_empty(), "{}", told(name, &differences));
}

fn told(name: &str, differences: &[String]) -> String {
    const MOST: usize = 20;
    let shown = differences[..differences.len().min(MOST)].join("\n");
    format!("{name}: {} differences from c3a29fa\n{shown}", differences.len())
}

pub(crate) fn line_differences(then: &str, now: &str) -> Vec<String> {
    let (then, now): (Vec<&str>, Vec<&str>) = (then.lines().collect(), now.lines().collect());
    let line = |lines: &[&str], at: usize| lines.get(at).map_or("(nothing)".to_owned(), |line| (*line).to_owned());
    (0..then.len().max(now.len()))
        .filter(|&at| then.get(at) != now.get(at))
        .map(|at| format!("line {}\n  then: {}\n  now:  {}", at + 1, line(&then, at), line(&now, at)))
        .collect()
}

/// Every value of `then` that `now` does not have.
pub(crate) fn value_differences(path: &str, then: &Value, now: &Value, differences: &mut Vec<String>) {
    match (then, now) {
        (Value::Object(then), Value::Object(now)) => {
            for (key, value) in then {
                let path = format!("{path}.{key}");
                match now.get(key) {
                    Some(now) => value_differences(&path, value, now, differences),
                    None => differences.push(format!("{path}\n  then: {value}\n  now:  (nothing)")),
                }
            }
        }
        (Value::Array(then), Value::Array(now)) if then.len() == now.len() => {
            for (number, (then, now)) in then.iter().zip(now).enumerate() {
                value_differences(&format!("{path}[{number}]"), then, now, differences);
            }
        }
        _ if then == now => {}
        _ => differences.push(format!("{path}\n  then: {then}\n  now:  {now}")),
    }
}

/// A copy of a folder of fixtures, to be opened and changed. Compressed files are unpacked.
pub(crate) fn copy_of(name: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    copy_into(name, dir.path());
    dir
}

/// Copies a folder of fixtures.
pub(crate) fn copy_into(name: &str, to: &Path) {
    copy(&fixtures().join(name), to);
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    let mut entries: Vec<_> = fs::read_dir(from).unwrap().map(Result::unwrap).collect();
    entries.sort_by_key(fs::DirEntry::file_name);
    for entry in entries {
        let (path, name) = (entry.path(), PathBuf::from(entry.file_name()));
        if path.is_dir() {
            copy(&path, &to.join(name));
        } else if name.extension().is_some_and(|extension| extension == "zst") {
            let bytes = zstd::decode_all(&fs::read(&path).unwrap()[..]).unwrap();
            fs::write(to.join(name.with_extension("")), bytes).unwrap();
        } else {
            fs::write(to.join(name), fs::read(&path).unwrap()).unwrap();
        }
    }
}

/// Every file of a folder but locks, by its path in it.
pub(crate) fn contents(dir: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![dir.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.file_name().is_some_and(|name| name != "lock") {
                found.insert(path.strip_prefix(dir).unwrap().to_owned(), fs::read(&path).unwrap());
            }
        }
    }
    found
}

/// Keeps a folder that c3a29fa has written, its long files compressed.
pub(crate) fn keep_folder(name: &str, dir: &Path) {
    let to = fixtures().join(name);
    let _ = fs::remove_dir_all(&to);
    for (path, bytes) in contents(dir) {
        const LONG: usize = 8 * 1024;
        let path = to.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        if bytes.len() < LONG {
            fs::write(path, bytes).unwrap();
        } else {
            let mut name = path.into_os_string();
            name.push(".zst");
            fs::write(name, zstd::encode_all(&bytes[..], 19).unwrap()).unwrap();
        }
    }
}

#[test]
fn a_comparison_finds_what_changed() {
    assert_eq!(
        line_differences("a\nb\nc", "a\nB"),
        ["line 2\n  then: b\n  now:  B", "line 3\n  then: c\n  now:  (nothing)"]
    );
    let then = serde_json::json!({ "a": [1, { "b": 2 }], "c": 3 });
    let differences = |now: Value| {
        let mut found = Vec::new();
        value_differences("1", &then, &now, &mut found);
        found.len()
    };
    assert_eq!(differences(serde_json::json!({ "a": [1, { "b": 2, "new": 0 }], "c": 3 })), 0);
    assert_eq!(differences(serde_json::json!({ "a": [1, { "b": 5 }], "c": 4 })), 2);
    assert_eq!(differences(serde_json::json!({ "a": [1] })), 2);
}
