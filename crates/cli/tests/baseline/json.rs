//! Every command that prints JSON, in one folder where one command works with what another has left.

use std::env;
use std::fs;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::support::{as_meant, compare_json, copy_into, fixtures, in_old_words, program, root};

/// A command of then as it is given today.
fn command_of_today(line: &str) -> String {
    // A checksum is of the words of then.
    as_meant(line).replace("/games.anqi | cksum", "/games.anqi | sed 's/,repeat=off//' | cksum")
}

/// What a command printed; JSON is a value, anything else a text.
fn run(dir: &Path, line: &str) -> Value {
    let path = format!("{}:{}", dir.join("bin").display(), env::var("PATH").unwrap());
    let mut command = Command::new("sh");
    command
        .args(["-c", &command_of_today(line)])
        .current_dir(dir)
        .env("PATH", path)
        .env("XDG_DATA_HOME", dir)
        .stdin(Stdio::null());
    let output = command.output().unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed = serde_json::from_str(&printed).unwrap_or(Value::String(printed));
    let mut told = json!({ "command": line, "code": output.status.code(), "printed": printed });
    if !output.status.success() {
        told["error"] = String::from_utf8(output.stderr).unwrap().into();
    }
    told
}

/// Exit codes that have changed: the command, the code now, and why.
const OTHER_CODES: [(&str, i64, &str); 1] = [(
    "anqi analyse start --player champion,net=no-such-file --nodes 10 --json",
    1,
    "files that a player names are opened when it is built, not when its name is read",
)];

/// Without what depends on time and machine, and without the words of help. Errors may be reworded as long as they show the
/// same offending texts.
fn normalise(value: &mut Value) {
    let is_bench = value["command"].as_str().is_some_and(|command| command.starts_with("anqi bench"));
    if is_bench {
        mask_numbers(&mut value["printed"]);
    }
    if let Some((_, code, _)) = OTHER_CODES.iter().find(|(command, ..)| value["command"] == *command) {
        value["code"] = (*code).into();
    }
    if let Some(error) = value["error"].as_str() {
        let shown: Vec<&str> = error.split('"').skip(1).step_by(2).collect();
        value["error"] = json!(shown);
    }
    // Fits are sealed since: JSON says so in its schema, text in a first and a last line.
    if value["printed"]["schema"] == "anqi-tune-2" {
        value["printed"]["schema"] = "anqi-tune-1".into();
    }
    if let Some(text) = value["printed"].as_str() {
        let is_seal = |line: &str| line == "anqi weights 2" || line.starts_with("end ");
        value["printed"] =
            text.split_inclusive('\n').filter(|line| !is_seal(line.trim_end())).collect::<String>().into();
    }
    // Mutual zugzwangs were listed in another order, and more than once where pieces are alike.
    if value["command"].as_str().is_some_and(|command| command.starts_with("anqi endgame mutual"))
        && let Some(positions) = value["printed"]["positions"].as_array_mut()
    {
        positions.sort_by_key(|position| position["position"].to_string());
    }
    // The usual folder of a match is named after all texts of its plan.
    if let Some(path) = value["printed"]["records"].as_str().filter(|path| path.starts_with("matches/")) {
        let folder = path.rsplit_once('-').map_or(path, |(folder, _)| folder);
        value["printed"]["records"] = folder.into();
    }
    mask(value);
}

pub(crate) fn mask(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                let is_timed = name.to_ascii_lowercase().contains("second") && value.is_number();
                if is_timed || ["version", "times", "help", "range"].contains(&name.as_str()) {
                    *value = "masked".into();
                }
                // Commands may be added.
                if name == "commands"
                    && let Some(commands) = value.as_array()
                {
                    *value = commands.iter().map(|command| (command.as_str().unwrap(), true)).collect();
                }
                // So may options.
                if name == "options"
                    && let Some(options) = value.as_array()
                {
                    let named =
                        |option: &Value| (option["name"].as_str().unwrap_or_default().to_owned(), option.clone());
                    // `eval=on|off` of the Monte Carlo players is called `draws` now.
                    let is_renamed = |option: &&Value| option["name"] == "eval" && option["default"] == "off";
                    *value = options.iter().filter(|option| !is_renamed(option)).map(named).collect();
                }
                mask(value);
            }
        }
        Value::Array(values) => values.iter_mut().for_each(mask),
        Value::String(text) => *text = in_old_words(text),
        _ => {}
    }
}

fn mask_numbers(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.remove("path");
            fields.values_mut().for_each(mask_numbers);
        }
        Value::Array(values) => values.iter_mut().for_each(mask_numbers),
        Value::Number(_) => *value = "a number".into(),
        _ => {}
    }
}

#[test]
fn commands_print_the_same() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path();
    copy_into("json/work", path);
    copy_into("tables", &path.join("tables"));
    copy_into("solve", &path.join("solve"));
    fs::create_dir(path.join("bin")).unwrap();
    symlink(program(), path.join("bin/anqi")).unwrap();
    fs::create_dir(path.join("games")).unwrap();
    for entry in fs::read_dir(root().join("data/games")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), path.join("games").join(entry.file_name())).unwrap();
    }
    fs::copy(root().join("crates/cli/tests/data/values.csv"), path.join("values.csv")).unwrap();
    let commands = fs::read_to_string(fixtures().join("json/commands.txt")).unwrap();
    let commands = commands.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let told: Vec<Value> = commands.map(|line| run(path, line)).collect();
    compare_json("json/printed.jsonl", &told, normalise);
}

#[test]
fn what_depends_on_the_machine_is_masked_and_nothing_else() {
    let said = |seconds: f64, nodes: u64| json!({ "command": "anqi x", "error": format!("anqi: bad \"{nodes}\""), "printed": { "seconds": seconds, "second_wins": "no", "nodes": nodes } });
    let normal = |mut value: Value| {
        normalise(&mut value);
        value
    };
    assert_eq!(normal(said(0.5, 7)), normal(said(0.7, 7)));
    assert_ne!(normal(said(0.5, 7)), normal(said(0.5, 8)));
    let reworded = json!({ "command": "anqi x", "error": "anqi: \"7\" is bad", "printed": { "seconds": 1, "second_wins": "no", "nodes": 7 } });
    assert_eq!(normal(said(0.5, 7)), normal(reworded));
}
