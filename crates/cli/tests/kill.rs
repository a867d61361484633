//! Matches that are killed and interrupted at random moments lose nothing and double nothing.
//!
//! A match is started, hit by a signal at a random moment, and continued, over and over until it comes through. Then its
//! record file must be that of an undisturbed run, byte for byte, and its journal must hold every pair exactly once.
//!
//! `ANQI_KILLS=1000 cargo test --release -p anqi --test kill -- --ignored --nocapture` does it with 1,000 of each signal.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anqi_rules::Seed;
use rand_core::Rng;
use rustix::process::{Pid, Signal, kill_process};

const ANQI: &str = env!("CARGO_BIN_EXE_anqi");
const PAIRS: usize = 30;

/// What is played, and what comes out when nobody disturbs it.
struct Match {
    args: Vec<String>,
    games: Vec<u8>,
    /// How long it takes.
    time: Duration,
}

impl Match {
    fn new(dir: &Path, name: &str, players: [&str; 2], seed: u64, more: &[&str]) -> Match {
        let mut args: Vec<String> = ["match", players[0], players[1]].map(str::to_owned).to_vec();
        args.extend(["--pairs".to_owned(), PAIRS.to_string(), "--seed".to_owned(), seed.to_string()]);
        args.extend(more.iter().map(|&word| word.to_owned()));
        let mut this = Match { args, games: Vec::new(), time: Duration::ZERO };
        let dir = dir.join(format!("undisturbed-{name}-{seed}"));
        // Once on one thread, once more on three: threads change nothing.
        for threads in ["1", "3"] {
            let _ = fs::remove_dir_all(&dir);
            let started = Instant::now();
            let output = this.command(&dir).args(["--concurrency", threads]).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
            this.time = started.elapsed();
            let games = fs::read(dir.join("games.anqi")).unwrap();
            assert!(this.games.is_empty() || this.games == games, "{name}: threads change the games");
            this.games = games;
        }
        let text = String::from_utf8(this.games.clone()).unwrap();
        let rounds: Vec<&str> =
            text.lines().filter_map(|line| line.strip_prefix("[Round \"")?.strip_suffix("\"]")).collect();
        let scheduled: Vec<String> = (1..=PAIRS).flat_map(|pair| [format!("{pair}.1"), format!("{pair}.2")]).collect();
        assert_eq!(rounds, scheduled);
        this
    }

    fn command(&self, dir: &Path) -> Command {
        let mut command = Command::new(ANQI);
        command.args(&self.args).arg("--dir").arg(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
        command
    }

    /// The match comes through however often it is hit; gives how many hits it took.
    fn survive(&self, dir: &Path, signal: Signal, most: usize, rng: &mut impl Rng) -> usize {
        let mut hits = 0;
        loop {
            let resume = dir.join("journal").exists() && rng.next_u32().is_multiple_of(2);
            let mut command = self.command(dir);
            if resume {
                command = Command::new(ANQI);
                command.args(["match", "--resume"]).arg(dir).stdout(Stdio::piped()).stderr(Stdio::piped());
            }
            let threads = 1 + rng.next_u32() % 3;
            let child = command.args(["--concurrency", &threads.to_string()]).spawn().unwrap();
            // Now and then it would be over before it is hit.
            let share = f64::from(rng.next_u32()) / f64::from(u32::MAX);
            let after = if hits < most { self.time.mul_f64(1.1 * share) } else { Duration::from_secs(600) };
            if !hit(child, signal, after) {
                return hits;
            }
            hits += 1;
        }
    }
}

/// Lets a run go on for a while and sends a signal; false if it came through before.
fn hit(mut child: Child, signal: Signal, after: Duration) -> bool {
    let started = Instant::now();
    while child.try_wait().unwrap().is_none() {
        if started.elapsed() >= after {
            kill_process(Pid::from_child(&child), signal).unwrap();
            break;
        }
        thread::sleep(Duration::from_millis(1).min(after.saturating_sub(started.elapsed())));
    }
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    match output.status.code() {
        Some(0) => false,
        Some(130) => {
            assert!(signal == Signal::INT && errors.contains("continue with\n  anqi match --resume "), "{errors}");
            let counted = errors.split("the first ").nth(1).and_then(|rest| rest.split(' ').next()).unwrap();
            let pairs: u64 = counted.parse().unwrap();
            let result = String::from_utf8_lossy(&output.stdout);
            assert_eq!(result.is_empty(), pairs == 0, "{errors}{result}");
            assert!(pairs == 0 || result.contains(&format!("Games: {}, ", 2 * pairs)), "{errors}{result}");
            true
        }
        // Killed; or interrupted before it could listen, with nothing to save yet.
        None => true,
        code => panic!("exit code {code:?}: {errors}"),
    }
}

fn check(this: &Match, dir: &Path) {
    assert!(fs::read(dir.join("games.anqi")).unwrap() == this.games, "the games differ: {}", dir.display());
    let journal = fs::read_to_string(dir.join("journal")).unwrap();
    let entries = journal.lines().filter_map(|line| line.strip_prefix("pair ")?.split(' ').next()?.parse().ok());
    let pairs: Vec<usize> = entries.collect();
    assert_eq!((pairs.len(), pairs.iter().collect::<BTreeSet<_>>().len()), (PAIRS, PAIRS), "{pairs:?}");
    let left: BTreeSet<_> = fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(
        left,
        ["engines", "games.anqi", "journal", "lock", "report.html"]
            .map(Into::into)
            .into_iter()
            .collect::<BTreeSet<_>>()
    );
}

/// Hits matches of both kinds with each signal `times` times.
fn harness(times: usize) {
    let dir = tempfile::tempdir().unwrap();
    let outside = format!("cmd='{ANQI} engine --player random --seed {{seed}}' name=outsider");
    let matches: Vec<(&str, Match)> = (1..=2)
        .flat_map(|seed| {
            let inside = Match::new(dir.path(), "inside", ["chen:var1", "random"], seed, &["--nodes", "60"]);
            let outside = Match::new(dir.path(), "outside", [&outside, "chen:basic"], seed, &["--nodes", "20"]);
            [("in-process", inside), ("outside", outside)]
        })
        .collect();
    let mut rng = Seed::from(2026).child("kill").rng();
    for (signal, name) in [(Signal::KILL, "SIGKILL"), (Signal::INT, "SIGINT")] {
        let (mut hits, mut played, mut by_kind) = (0, 0, [0, 0]);
        let started = Instant::now();
        while hits < times {
            let (_, this) = &matches[played % matches.len()];
            let folder: PathBuf = dir.path().join(format!("{name}-{played}"));
            let more = this.survive(&folder, signal, times - hits, &mut rng);
            check(this, &folder);
            fs::remove_dir_all(&folder).unwrap();
            hits += more;
            by_kind[played % 2] += more;
            played += 1;
        }
        println!(
            "{name}: {hits} hits over {played} matches of {} games ({} hits on in-process players, {} with an outside \
             program), {:.0} s: every game there exactly once, all record files identical to the undisturbed run",
            2 * PAIRS,
            by_kind[0],
            by_kind[1],
            started.elapsed().as_secs_f64()
        );
    }
}

#[test]
fn killed_and_interrupted() {
    harness(10);
}

#[test]
#[ignore = "long: 1,000 of each by default"]
fn killed_and_interrupted_very_often() {
    harness(std::env::var("ANQI_KILLS").map_or(1000, |times| times.parse().unwrap()));
}
