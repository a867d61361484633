//! What all of these tests need: a server, keys, coordinators and workers in threads, and a hand for messages of any kind.

use std::fs;
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use anqi_engine::Resources;
use anqi_fleet::{Done, FleetKey, FleetMatch, Member, NatsServer, Tell, Trusted, Workshop, play_elsewhere, work};
use anqi_lab::{Allowed, Cast, Ended, MatchJournal, Plan, RunEvent, collect, run};
use anqi_store::{Access, write_whole};
use anqi_task::Stop;
use async_nats::jetstream::{self, Context};
use tempfile::TempDir;
use tokio::runtime::Runtime;

pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Debian's nats-server on loopback.
pub(crate) struct Server {
    pub(crate) port: u16,
    process: Child,
}

impl Server {
    /// With these lines of configuration beside port and store.
    pub(crate) fn start(dir: &Path, lines: &str) -> Server {
        let port = TcpListener::bind("127.0.0.1:0").and_then(|l| l.local_addr()).expect("a free port").port();
        let store = dir.join("store");
        let file = dir.join("nats.conf");
        let text = format!("listen: \"127.0.0.1:{port}\"\njetstream {{ store_dir: {store:?} }}\n{lines}\n");
        fs::write(&file, text).expect("room");
        let found = ["/usr/sbin/nats-server", "/usr/bin/nats-server", "/usr/local/bin/nats-server"];
        let program = found.into_iter().find(|path| Path::new(path).exists()).unwrap_or("nats-server");
        let mut command = Command::new(program);
        command.arg("--config").arg(&file).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = command.spawn().expect("nats-server is installed; ./test does it (apt-get install nats-server)");
        let mut server = Server { port, process };
        wait_until("nats-server answers", || {
            assert!(server.process.try_wait().expect("a child").is_none(), "nats-server refuses {lines}");
            TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        server
    }

    pub(crate) fn url(&self) -> String {
        self.url_for("")
    }

    /// For `USER:PASSWORD`, if it is not empty.
    fn url_for(&self, login: &str) -> String {
        format!("nats://{login}{}127.0.0.1:{}", if login.is_empty() { "" } else { "@" }, self.port)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

pub(crate) fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
    let started = Instant::now();
    while !is_so() {
        assert!(started.elapsed() < PATIENCE, "waited in vain: {what}");
        thread::sleep(Duration::from_millis(20));
    }
}

/// Lines that an operator has read.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn add(&self, line: &str) {
        println!("{line}");
        self.0.lock().expect("no panic").push(line.to_owned());
    }

    pub(crate) fn text(&self) -> String {
        self.0.lock().expect("no panic").join("\n")
    }

    /// Waits until a line has these words.
    pub(crate) fn wait_for(&self, words: &str) {
        let started = Instant::now();
        while !self.has(words) {
            assert!(started.elapsed() < PATIENCE, "waited in vain for {words:?} in\n{}", self.text());
            thread::sleep(Duration::from_millis(20));
        }
    }

    pub(crate) fn has(&self, words: &str) -> bool {
        self.text().contains(words)
    }

    fn tell(&self) -> Tell {
        let log = self.clone();
        Tell::new(move |line| log.add(line))
    }
}

/// A server and a folder.
pub(crate) struct Scene {
    pub(crate) dir: TempDir,
    pub(crate) server: Server,
    pub(crate) coordinator: FleetKey,
    runtime: Runtime,
    /// `USER:PASSWORD` of the coordinator, and of all others.
    logins: [&'static str; 2],
}

/// Runs in a thread until it is told to stop.
pub(crate) struct Worker {
    pub(crate) log: Log,
    pub(crate) done: Arc<Mutex<Vec<Done>>>,
    stop: Stop,
    thread: Option<JoinHandle<()>>,
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.stop.raise();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            assert!(thread::panicking() || ended.is_ok(), "the worker has failed: {}", self.log.text());
        }
    }
}

/// A match that workers play.
pub(crate) struct Coordinator {
    pub(crate) log: Log,
    thread: JoinHandle<Result<Ended, String>>,
    dir: PathBuf,
}

impl Coordinator {
    /// The records, once everything is played.
    pub(crate) fn finish(self) -> Vec<u8> {
        let ended =
            self.thread.join().expect("no panic").unwrap_or_else(|error| panic!("{error}\n{}", self.log.text()));
        let Ended::Complete(pairs) = ended else { panic!("it was not stopped") };
        let journal = MatchJournal::read(&self.dir).expect("a journal");
        journal.write_games(pairs).expect("room");
        fs::read(self.dir.join("games.anqi")).expect("written")
    }

    pub(crate) fn is_finished(&self) -> bool {
        self.thread.is_finished()
    }
}

/// A coordinator whose choice of pairs to be played again is the same in every run.
fn known_key(dir: &Path) -> FleetKey {
    let path = dir.join("known.key");
    let text = "anqi fleet key 1\n\
        public 422816ed40571a08a69e861db10279ad358188ae73bbcca97c8bfdcd691072d2\n\
        secret 749156a25d5d658551629e73ef70bfdad6411f5486900d8af2d32d6c55ec280f\n";
    write_whole(&path, Access::Secret, |out| out.write_all(text.as_bytes())).expect("room");
    FleetKey::read(&path).expect("a key")
}

pub(crate) fn key() -> FleetKey {
    FleetKey::new().expect("random bytes")
}

/// A list of keys with names.
pub(crate) fn trusting(keys: &[(&FleetKey, &str)]) -> Trusted {
    let mut trusted = Trusted::default();
    keys.iter().for_each(|(key, name)| trusted.add(key.public(), name));
    trusted
}

/// Two players of ours that are told apart by every change of the rules; `more` lines come first.
pub(crate) fn plan(more: &str, pairs: u64) -> Arc<Plan> {
    let text = format!(
        "{more}\nplayers = ['chen:var1', 'chen:basic']\nrules = 'chen,board=2x4'\npairs = {pairs}\nbudget = 'nodes=200'\n"
    );
    Arc::new(text.parse().expect("a plan"))
}

/// The records of a plan that was played on this machine alone.
pub(crate) fn played_here(plan: &Plan) -> Vec<u8> {
    let dir = tempfile::tempdir().expect("a folder");
    let mut journal = MatchJournal::open_or_create(dir.path(), plan).expect("room");
    let cast = Cast::new(plan, &Resources::default()).expect("players of ours");
    let Ok(Ended::Complete(pairs)) = run(&mut journal, 2, &cast, &Stop::default(), |_| {}) else {
        panic!("not played")
    };
    fs::read(journal.write_games(pairs).expect("room")).expect("written")
}

impl Scene {
    /// With a server that anyone may use.
    pub(crate) fn new() -> Scene {
        Scene::with("", "", "")
    }

    /// With these lines in the server's configuration, and `USER:PASSWORD` of the coordinator and of all others.
    pub(crate) fn with(lines: &str, boss: &'static str, others: &'static str) -> Scene {
        let dir = tempfile::tempdir().expect("a folder");
        let server = Server::start(dir.path(), lines);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        let coordinator = known_key(dir.path());
        Scene { dir, server, coordinator, runtime, logins: [boss, others] }
    }

    pub(crate) fn member(&self, key: &FleetKey, trusted: Trusted, log: &Log) -> Member {
        let login = self.logins[usize::from(key.public() != self.coordinator.public())];
        let server = NatsServer::new(&self.server.url_for(login)).expect("an address");
        Member { server, key: key.clone(), trusted, tell: log.tell() }
    }

    /// A worker that trusts the coordinator.
    pub(crate) fn worker(&self, key: &FleetKey, allowed: Allowed) -> Worker {
        let (log, stop, done) = (Log::default(), Stop::default(), Arc::new(Mutex::new(Vec::new())));
        let member = self.member(key, trusting(&[(&self.coordinator, "coordinator")]), &log);
        let dir = self.dir.path().join(format!("tables-{}", key.public()));
        fs::create_dir_all(&dir).expect("room");
        let workshop = Workshop { threads: 1, dir, resources: Resources::default(), allowed };
        let (told, does) = (stop.clone(), Arc::clone(&done));
        let thread = thread::spawn(move || {
            work(&member, &workshop, &told, |item| does.lock().expect("no panic").push(item)).expect("it goes on");
        });
        Worker { log, done, stop, thread: Some(thread) }
    }

    /// Has a plan played in a folder of this name.
    pub(crate) fn coordinate(&self, name: &str, plan: &Arc<Plan>, trusted: Trusted, again: f64) -> Coordinator {
        let (log, dir) = (Log::default(), self.dir.path().join(name));
        let member = self.member(&self.coordinator, trusted, &log);
        let (plan, folder, heard) = (Arc::clone(plan), dir.clone(), log.clone());
        let thread = thread::spawn(move || {
            let (stop, how) = (Stop::default(), FleetMatch { dir: folder.clone(), again });
            let mut journal = MatchJournal::open_or_create(&folder, &plan).expect("room");
            let cast = Cast::elsewhere(&plan, &Resources::default()).expect("no files");
            let watch = |event: RunEvent<'_>| {
                if let RunEvent::Note(line) = event {
                    heard.add(line);
                }
            };
            let play = |plan: &_, missing| play_elsewhere(&member, &how, plan, &cast, missing, &stop);
            collect(&mut journal, &cast, &stop, watch, play).map_err(|error| error.to_string())
        });
        Coordinator { log, thread, dir }
    }

    /// Does something with the server as anyone can who reaches it.
    pub(crate) fn by_hand<T>(&self, does: impl AsyncFnOnce(Context) -> T) -> T {
        self.runtime.block_on(async {
            let mut options = async_nats::ConnectOptions::new();
            if let Some((user, password)) = self.logins[1].split_once(':') {
                options = options.user_and_password(user.to_owned(), password.to_owned());
            }
            let client = options.connect(self.server.url()).await.expect("the server answers");
            let mut context = jetstream::new(client);
            context.set_timeout(Duration::from_secs(1));
            does(context).await
        })
    }

    /// Puts messages under subjects, each acknowledged by the server.
    pub(crate) fn publish(&self, messages: impl IntoIterator<Item = (String, Vec<u8>)>) {
        self.by_hand(async |context| {
            for (subject, message) in messages {
                let stored = context.publish(subject.clone(), message.into()).await.expect("the server answers").await;
                stored.unwrap_or_else(|error| panic!("{subject}: {error}"));
            }
        });
    }

    /// The key of the one job that is there, once it is.
    pub(crate) fn job_key(&self) -> String {
        let find = async |context: Context| {
            let jobs = context.get_stream("ANQI_FLEET_JOBS").await.ok()?;
            let info = jobs.get_info().await.ok()?;
            let message = jobs.get_raw_message(info.state.last_sequence).await.ok()?;
            message.subject.split('.').nth(3).map(str::to_owned)
        };
        let mut found = None;
        wait_until("a job is stored", || {
            found = self.by_hand(find);
            found.is_some()
        });
        found.expect("found")
    }
}
