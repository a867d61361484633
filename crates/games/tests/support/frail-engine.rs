//! An engine of all three protocols that plays along until it does what its arguments say: `frail-engine PROTOCOL HOW WHEN
//! [FILE]`. HOW is `die`, `hang`, `nan`, `nonsense`, `silent` or `refuse`, WHEN the number of the question, from 1 on. With a
//! file it does so only if it can create the file: once in all processes.

use std::io::{self, BufRead, Write};
use std::process::{self, ExitCode};
use std::{env, fs, thread, time::Duration};

fn main() -> ExitCode {
    // The tests name this very program as the supervisor of engines.
    if let Some(code) = anqi_protocol::supervise_if_asked() {
        return code;
    }
    let arguments: Vec<String> = env::args().skip(1).collect();
    let text = |place: usize| arguments.get(place).map(String::as_str).unwrap_or_default();
    let (protocol, how, when) = (text(0), text(1), text(2).parse::<u64>().unwrap_or(u64::MAX));
    let mut asked = 0;
    for line in io::stdin().lock().lines().map_while(Result::ok) {
        let words: Vec<&str> = line.split_whitespace().collect();
        let is_question = matches!(words.first(), Some(&("go" | "estimate_score")));
        asked += u64::from(is_question);
        let now =
            is_question && asked == when && arguments.get(3).is_none_or(|file| fs::File::create_new(file).is_ok());
        let answer = match (protocol, words.first().copied().unwrap_or_default()) {
            _ if now && how == "die" => process::exit(3),
            _ if now && how == "hang" => {
                thread::sleep(Duration::from_secs(3600));
                continue;
            }
            (_, "quit") => process::exit(0),
            ("gtp", command) => gtp(command, now.then_some(how)),
            (_, command) => uci(command, now.then_some(how)),
        };
        let mut out = io::stdout().lock();
        if out.write_all(answer.as_bytes()).and_then(|()| out.flush()).is_err() {
            break;
        }
    }
    ExitCode::SUCCESS
}

/// Three pawns ahead, always.
fn uci(command: &str, how: Option<&str>) -> String {
    match (command, how) {
        ("uci" | "usi", _) => format!("id name Frail\noption name Nerves type spin\n{command}ok\n"),
        ("isready", _) => "readyok\n".to_owned(),
        ("go", None) => "info depth 1 score cp 300\nbestmove 0000\n".to_owned(),
        ("go", Some("nan")) => "info depth 1 score cp nan\nbestmove 0000\n".to_owned(),
        ("go", Some("nonsense")) => "info depth 1 score lots\nbestmove 0000\n".to_owned(),
        ("go", Some(_)) => "bestmove 0000\n".to_owned(),
        _ => String::new(),
    }
}

fn gtp(command: &str, how: Option<&str>) -> String {
    let answer = match (command, how) {
        ("name", _) => "= Frail",
        ("list_commands", _) => "= name\nestimate_score\nplay",
        ("estimate_score", None) => "= B+3.0 (upper bound: 3.0, lower: 3.0)",
        ("estimate_score", Some("nan")) => "= B+nan",
        ("estimate_score", Some("refuse")) => "? no",
        ("estimate_score", Some(_)) => "= rather well",
        _ => "=",
    };
    format!("{answer}\n\n")
}
