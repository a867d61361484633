//! One plan played, or one folder of tables built, by many processes is that of one, to the byte, whatever dies on the way.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use anqi_fleet::FleetKey;

const PATIENCE: Duration = Duration::from_secs(600);

fn anqi(args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_anqi"));
    command.args(args).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(args: &[&str]) -> Output {
    let output = anqi(args).output().expect("anqi runs");
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn text(path: &Path) -> &str {
    path.to_str().expect("a path of ours is UTF-8")
}

/// A process that dies with its test.
struct Process(Child);

impl Process {
    fn start(mut command: Command) -> Process {
        Process(command.stdout(Stdio::null()).spawn().expect("it starts"))
    }

    /// As `kill -9`.
    fn kill(&mut self) {
        self.0.kill().expect("it was running");
        self.0.wait().expect("it is dead");
    }

    fn finish(&mut self) {
        let started = Instant::now();
        loop {
            match self.0.try_wait().expect("a child of ours") {
                Some(status) => return assert!(status.success(), "{status}"),
                None => assert!(started.elapsed() < PATIENCE, "it does not come to an end"),
            }
            thread::sleep(Duration::from_millis(50));
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Debian's nats-server on loopback.
struct Server {
    port: u16,
    store: PathBuf,
    process: Process,
}

impl Server {
    fn new(store: PathBuf) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        Server { port, process: Server::start(port, &store), store }
    }

    fn start(port: u16, store: &Path) -> Process {
        let found = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
        let program = found.into_iter().find(|path| Path::new(path).exists()).unwrap_or("nats-server");
        let mut command = Command::new(program);
        command
            .args(["--jetstream", "--addr", "127.0.0.1", "--store_dir", text(store), "--port"])
            .arg(port.to_string());
        command.stdin(Stdio::null()).stderr(Stdio::null());
        let spawned = command.stdout(Stdio::null()).spawn();
        let process = Process(spawned.expect("nats-server is installed; ./test does it (apt-get install nats-server)"));
        let started = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            assert!(started.elapsed() < PATIENCE, "nats-server does not answer");
            thread::sleep(Duration::from_millis(50));
        }
        process
    }

    fn url(&self) -> String {
        format!("nats://127.0.0.1:{}", self.port)
    }

    fn kill_and_start_again(&mut self) {
        self.process.kill();
        thread::sleep(Duration::from_millis(500));
        self.process = Server::start(self.port, &self.store);
    }
}

/// Keys of a coordinator and three workers, who trust each other.
struct Keys {
    dir: PathBuf,
    coordinator: String,
}

impl Keys {
    fn new(dir: &Path) -> Keys {
        let make = |name: &str| {
            let key = FleetKey::new().expect("random bytes");
            key.write_new(&dir.join(name)).expect("room");
            key.public().to_string()
        };
        let coordinator = make("coordinator.key");
        let workers: String =
            (0..3).map(|number| format!("{} worker {number}\n", make(&format!("{number}.key")))).collect();
        fs::write(dir.join("workers"), workers).expect("room");
        Keys { dir: dir.to_owned(), coordinator }
    }

    /// A command of the coordinator.
    fn coordinate(&self, args: &[&str]) -> Command {
        let mut command = anqi(args);
        command.arg("--fleet-key").arg(self.dir.join("coordinator.key")).arg("--trust").arg(self.dir.join("workers"));
        command
    }

    /// A worker with one of the keys.
    fn work(&self, number: usize, args: &[&str]) -> Command {
        let mut command = anqi(&["worker", "--concurrency", "1", "--trust", &self.coordinator]);
        command.arg("--fleet-key").arg(self.dir.join(format!("{number}.key"))).args(args);
        command
    }
}

/// The numbers of the pairs in a journal, in order of their entries.
fn pairs_in(dir: &Path) -> Vec<u64> {
    let journal = fs::read(dir.join("journal")).unwrap_or_default();
    let journal = String::from_utf8_lossy(&journal);
    let numbers = journal.lines().filter_map(|line| line.strip_prefix("pair ")?.split(' ').next()?.parse().ok());
    numbers.collect()
}

fn wait_for(dir: &Path, pairs: u64) {
    let started = Instant::now();
    while (pairs_in(dir).len() as u64) < pairs {
        assert!(started.elapsed() < PATIENCE, "{} of {pairs} pairs", pairs_in(dir).len());
        thread::sleep(Duration::from_millis(20));
    }
}

fn plan(dir: &Path, pairs: u64, nodes: u64) -> PathBuf {
    let path = dir.join("plan.toml");
    let plan =
        format!("players = ['chen:var1', 'chen:basic']\nrules = 'chen'\npairs = {pairs}\nbudget = 'nodes={nodes}'\n");
    fs::write(&path, plan).expect("a plan");
    path
}

/// Everybody dies once. False if all was played before the coordinator's turn came: then nothing was shown.
fn survives(pairs: u64) -> bool {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    let plan = plan(dir.path(), pairs, 1000);
    let mut server = Server::new(path("nats"));
    let url = server.url();
    let keys = Keys::new(dir.path());
    let mut workers = [0, 1, 2].map(|number| Process::start(keys.work(number, &["--nats", &url])));
    let far = path("far");
    let mut coordinator =
        Process::start(keys.coordinate(&["tournament", text(&plan), "--dir", text(&far), "--nats", &url]));

    wait_for(&far, pairs / 5);
    workers[0].kill();
    wait_for(&far, 2 * pairs / 5);
    server.kill_and_start_again();
    wait_for(&far, 3 * pairs / 5);
    coordinator.kill();
    // Results go on to come in while nobody listens.
    thread::sleep(Duration::from_secs(1));
    if pairs_in(&far).len() as u64 == pairs {
        return false;
    }
    let mut coordinator = Process::start(keys.coordinate(&["tournament", "--resume", text(&far), "--nats", &url]));
    coordinator.finish();

    let played = pairs_in(&far);
    assert_eq!(played.len() as u64, pairs, "a pair was counted twice or never");
    assert_eq!(played.into_iter().collect::<BTreeSet<u64>>(), (0..pairs).collect());
    let near = path("near");
    run(&["tournament", text(&plan), "--dir", text(&near)]);
    let games = |dir: &Path| fs::read(dir.join("games.anqi")).expect("records");
    assert!(games(&far) == games(&near), "the records differ");
    assert_eq!(fs::read(far.join("report.html")).expect("a page"), fs::read(near.join("report.html")).expect("a page"));
    true
}

#[test]
fn workers_server_and_coordinator_die_and_nothing_is_lost() {
    // On a busy machine many results may come at once; with more pairs, some are left.
    assert!([30, 60, 120, 240].into_iter().any(survives), "the coordinator was killed too late to matter");
}

#[test]
#[ignore = "long: 200 pairs"]
fn workers_server_and_coordinator_die_and_nothing_is_lost_in_200_pairs() {
    assert!(survives(200), "the coordinator was killed too late to matter");
}

/// The tables of a folder, by name.
fn tables_in(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).into_iter().flatten().map(|file| file.expect("a file"));
    let tables = files.map(|file| (file.file_name().into_string().expect("UTF-8"), file.path()));
    let tables = tables.filter(|(name, _)| name.ends_with(".table"));
    tables.map(|(name, path)| (name, fs::read(path).expect("a table"))).collect()
}

fn wait_for_tables(dir: &Path, tables: usize) {
    let started = Instant::now();
    while tables_in(dir).len() < tables {
        assert!(started.elapsed() < PATIENCE, "{} of {tables} tables", tables_in(dir).len());
        thread::sleep(Duration::from_millis(5));
    }
}

/// Tables of up to so many pieces, while everybody dies once. False if all was built before the coordinator's turn came.
fn builds(pieces: &str) -> bool {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    let (near, far) = (path("near"), path("far"));
    run(&["endgame", "build", "--pieces", pieces, "--dir", text(&near)]);
    let expected = tables_in(&near);
    let mut server = Server::new(path("nats"));
    let url = server.url();
    let keys = Keys::new(dir.path());
    let worker = |number: usize| {
        let tables = path(&format!("tables of {number}"));
        Process::start(keys.work(number, &["--nats", &url, "--tables", text(&tables)]))
    };
    let build = |dir: &Path| {
        let args = ["endgame", "build", "--pieces", pieces, "--dir", text(dir), "--nats", &url];
        Process::start(keys.coordinate(&args))
    };
    let mut coordinator = build(&far);
    let mut workers = [worker(0), worker(1)];
    wait_for_tables(&far, expected.len() / 5);
    workers[0].kill();
    wait_for_tables(&far, 2 * expected.len() / 5);
    server.kill_and_start_again();
    wait_for_tables(&far, 3 * expected.len() / 5);
    coordinator.kill();
    let early = tables_in(&far).len() < expected.len();
    // The other worker goes on while nobody listens.
    thread::sleep(Duration::from_secs(1));
    build(&far).finish();
    assert!(tables_in(&far) == expected, "the tables differ");

    // Somebody has some of the tables, and a worker who has none fetches them.
    workers[1].kill();
    let _fresh = worker(2);
    let half = path("half");
    fs::create_dir(&half).expect("a folder");
    for (name, table) in expected.iter().step_by(2) {
        fs::write(half.join(name), table).expect("room");
    }
    build(&half).finish();
    assert!(tables_in(&half) == expected, "the tables differ");
    early
}

#[test]
fn workers_server_and_coordinator_die_and_no_table_is_lost() {
    builds("3"); // small tables are built so fast that the coordinator may come through
}

#[test]
#[ignore = "long: tables of four pieces"]
fn workers_server_and_coordinator_die_and_no_table_of_four_pieces_is_lost() {
    assert!(builds("4"), "the coordinator was killed too late to matter");
}

#[test]
fn without_a_server_there_is_an_error() {
    let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
    let url = format!("nats://127.0.0.1:{port}");
    let dir = tempfile::tempdir().expect("a folder");
    let far = dir.path().join("far");
    let keys = Keys::new(dir.path());
    let with_password = url.replace("nats://", "nats://me:secret@");
    for mut command in [
        keys.work(0, &["--nats", &with_password]),
        keys.coordinate(&["match", "random", "random", "--dir", text(&far), "--pairs", "2", "--nats", &url]),
        keys.coordinate(&["endgame", "build", "--pieces", "2", "--dir", text(&far), "--nats", &url]),
        anqi(&["fleet", "status", "--nats", &with_password]),
    ] {
        let output = command.output().expect("anqi runs");
        assert_eq!(output.status.code(), Some(1));
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(message.contains(&format!("cannot reach the NATS server at {url}")), "{message}");
        assert!(!message.contains("secret"), "{message}");
    }
}

/// A plan of outside programs: a worker runs what its owner says, and the coordinator's command line nowhere.
#[test]
fn outside_programs_are_the_owners() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    let server = Server::new(path("nats"));
    let url = server.url();
    let keys = Keys::new(dir.path());
    let trace = path("trace");
    let evil = format!("cmd=\"sh -c 'touch {}'\" name=Gold", text(&trace));
    let far = path("far");
    let args = ["match", &evil, "random", "--rules", "chen", "--pairs", "2", "--dir", text(&far), "--nats", &url];
    let mut coordinator = Process::start(keys.coordinate(&args));

    // One owner has allowed nothing, another one a program for this name.
    let mut strict = keys.work(0, &["--nats", &url]);
    let strict = strict.stdout(Stdio::null()).spawn().expect("it starts");
    let refused = Reader::of(strict);
    refused.wait_for("has not allowed an outside program \"Gold\"");
    let gold = format!("Gold={} engine --player random", env!("CARGO_BIN_EXE_anqi"));
    let mut allowing = keys.work(1, &["--nats", &url, "--allow-engine", &gold]);
    allowing.stderr(Stdio::null());
    let _allowing = Process::start(allowing);
    coordinator.finish();
    assert_eq!(pairs_in(&far).len(), 2);
    assert!(!trace.exists(), "the plan's command ran");

    // A member tells its status every few seconds.
    let read_status = || -> serde_json::Value {
        let (workers, nats) = (path("workers"), ["--nats", url.as_str()]);
        let trusted = ["--trust", text(&workers), "--trust", keys.coordinator.as_str()];
        let output = anqi(&[&["fleet", "status", "--json"][..], &nats, &trusted].concat()).output().expect("anqi runs");
        serde_json::from_slice(&output.stdout).expect("JSON")
    };
    let find = |status: &serde_json::Value, name: &str| {
        status["members"].as_array().expect("a list").iter().find(|member| member["name"] == name).cloned()
    };
    let mut asked = 0;
    let status = loop {
        let status = read_status();
        let worker = find(&status, "worker 0").expect("it was there");
        if worker["status"]["refused"]["not possible here"].as_u64() > Some(0) {
            break status;
        }
        asked += 1;
        assert!(asked < 100, "{status}");
        std::thread::sleep(std::time::Duration::from_millis(200));
    };
    let member = |name: &str| find(&status, name);
    let job = member(&keys.coordinator[..8]).expect("it was there")["status"]["job"].clone();
    assert_eq!((job["done"].as_u64(), job["all"].as_u64()), (Some(2), Some(2)), "{status}");
}

/// What a process writes to standard error.
struct Reader {
    process: Process,
    lines: mpsc::Receiver<String>,
}

impl Reader {
    fn of(mut child: Child) -> Reader {
        let (sender, lines) = mpsc::channel();
        let stderr = child.stderr.take().expect("a pipe");
        thread::spawn(move || {
            BufReader::new(stderr).lines().map_while(Result::ok).try_for_each(|line| sender.send(line))
        });
        Reader { process: Process(child), lines }
    }

    fn wait_for(&self, words: &str) {
        let mut told = Vec::new();
        while let Ok(line) = self.lines.recv_timeout(PATIENCE) {
            if line.contains(words) {
                return;
            }
            told.push(line);
        }
        panic!("process {} has not said {words:?}: {told:?}", self.process.0.id());
    }
}

#[test]
fn keys_are_made_once() {
    let dir = tempfile::tempdir().expect("a folder");
    let file = dir.path().join("new/fleet.key");
    let made = run(&["fleet", "key", text(&file)]);
    let public = String::from_utf8(made.stdout).expect("text");
    assert_eq!(public.trim_end().len(), 64);
    assert_eq!(run(&["fleet", "key", "--show", text(&file)]).stdout, public.as_bytes());
    let again = anqi(&["fleet", "key", text(&file)]).output().expect("anqi runs");
    assert_eq!(again.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&again.stderr).contains("which is not overwritten"));
    // Without trust or key nothing begins.
    let url = "nats://127.0.0.1:1";
    let none = anqi(&["worker", "--nats", url, "--fleet-key", text(&file)]).env("XDG_CONFIG_HOME", dir.path()).output();
    let none = none.expect("anqi runs");
    assert!(String::from_utf8_lossy(&none.stderr).contains("no coordinator is trusted; say whose public keys"));
    let none =
        anqi(&["worker", "--nats", url, "--trust", public.trim_end()]).env("XDG_CONFIG_HOME", dir.path()).output();
    let none = String::from_utf8(none.expect("anqi runs").stderr).expect("text");
    assert!(none.contains("make one with anqi fleet key"), "{none}");
}

#[test]
fn parts_join_to_the_same_records() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = |name: &str| dir.path().join(name);
    let plan = plan(dir.path(), 7, 100);
    let planned = run(&["plan", text(&plan), "--chunk", "3"]);
    let commands: Vec<String> = String::from_utf8_lossy(&planned.stdout).lines().map(str::to_owned).collect();
    assert_eq!(commands.len(), 3);
    let args = |command: &str| command.split(' ').skip(1).map(str::to_owned).collect::<Vec<_>>();
    let play = |command: &String| run(&args(command).iter().map(String::as_str).collect::<Vec<_>>());
    let parts: Vec<PathBuf> = ["1-3", "4-6", "7-7"].iter().map(|part| path("parts").join(part)).collect();
    // The last first, and one of them twice.
    play(&commands[2]);
    play(&commands[0]);
    let before = fs::read(parts[0].join("journal")).expect("a journal");
    play(&commands[0]);
    assert_eq!(fs::read(parts[0].join("journal")).expect("a journal"), before);

    let whole = path("whole");
    let merge = |some: &[PathBuf]| {
        let mut args = vec!["merge", text(&whole)];
        args.extend(some.iter().map(|part| text(part)));
        anqi(&args).output().expect("anqi runs")
    };
    let early = merge(&[parts[0].clone(), parts[2].clone()]);
    assert_eq!(early.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&early.stderr), "4 of 7 pairs are there; missing 4 5 6\n");
    play(&commands[1]);
    let done = merge(&parts);
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    let near = path("near");
    run(&["tournament", text(&plan), "--dir", text(&near)]);
    let file = |dir: &Path, name: &str| fs::read(dir.join(name)).expect("a file");
    assert!(file(&whole, "games.anqi") == file(&near, "games.anqi"), "the records differ");
    assert_eq!(file(&whole, "report.html"), file(&near, "report.html"));

    // A part of something else is not taken.
    let other = self::plan(&path("parts"), 7, 101);
    run(&["part", text(&other), "--pairs", "1-2", "--dir", text(&path("other"))]);
    let refused = merge(&[parts[0].clone(), path("other")]);
    assert_eq!(refused.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&refused.stderr).contains("is part of another match"));
}
