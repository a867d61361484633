//! What coordinator and workers agree on: streams, subjects, jobs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anqi_endgame::{Flavour, TableError};
use anqi_lab::{Cast, Plan};
use anqi_rules::excerpt;
use anqi_store::JournalError;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{HeaderMap, header};
use tokio::time::sleep;

use crate::envelope::{MOST_BYTES, Reason, Refused};
use crate::key::PublicKey;
use crate::refusals::Tell;
use crate::server::NatsServer;

const WORK: &str = "ANQI_FLEET_WORK";
const RESULTS: &str = "ANQI_FLEET_RESULTS";
const JOBS: &str = "ANQI_FLEET_JOBS";
const STATUS: &str = "ANQI_FLEET_STATUS";
const WORKERS: &str = "workers";
/// How long a worker may be silent before what it has taken goes to another one.
const ACK_WAIT: Duration = Duration::from_secs(10);
/// How often a worker says that it is still at it.
pub(crate) const PROGRESS: Duration = Duration::from_secs(3);
/// How long to wait before something that failed is tried again.
pub(crate) const AGAIN: Duration = Duration::from_millis(300);
/// How often a stream that cannot be made is tried again.
const MOST_TRIES: u32 = 4;
/// Results that were not collected.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

/// A machine that has said nothing for so long is not listed any more.
const SEEN: Duration = Duration::from_secs(24 * 3600);
/// An item with every worker of a large fleet excepted.
pub(crate) const MOST_WORK_BYTES: usize = 100_000;
pub(crate) const MOST_STATUS_BYTES: usize = 100_000;

/// What can go wrong between machines.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    /// Threads for the network cannot be had.
    #[error("cannot start: {0}")]
    Runtime(#[from] std::io::Error),
    /// No server there.
    #[error("cannot reach the NATS server at {url}: {reason}")]
    Unreachable {
        /// Where.
        url: String,
        /// Why not.
        reason: String,
    },
    /// The server does not do what we need.
    #[error("the NATS server at {url} has no JetStream for us ({reason}); start it with --jetstream")]
    Unable {
        /// Where.
        url: String,
        /// Why not.
        reason: String,
    },
    /// A text that is no address of a server.
    #[error("{shown:?} is not the address of a NATS server: {what}")]
    Address {
        /// The text, without what may be a password.
        shown: String,
        /// What is wrong.
        what: String,
    },
    /// A file with a secret or a certificate that cannot be used.
    #[error("{path}: {what}")]
    Login {
        /// The file.
        path: String,
        /// What is wrong.
        what: String,
    },
    /// No message of another machine would count.
    #[error("no {0} is trusted; say whose public keys are (--trust)")]
    TrustsNone(&'static str),
    /// The file that says who has played what cannot be used.
    #[error(transparent)]
    Ledger(#[from] JournalError),
    /// A table cannot be written here, or is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// Workers could not do it.
    #[error("{what}: {reason}")]
    Failed {
        /// What it was to do.
        what: String,
        /// Why not.
        reason: String,
    },
}

/// Work for many machines, item by item.
#[derive(Clone)]
pub(crate) enum Job {
    /// The pairs of a plan, by number, and who is to play them: a line for each contender, its fingerprint or `-`.
    Pairs(Arc<Plan>, String),
    /// Tables of a flavour, by the endings that name their classes.
    Tables(Flavour),
}

impl fmt::Display for Job {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Job::Pairs(plan, engines) => write!(f, "{VERSION}\npairs\n{engines}\n{plan}"),
            Job::Tables(flavour) => write!(f, "{VERSION}\ntables\n{flavour}"),
        }
    }
}

impl Job {
    pub(crate) fn pairs(plan: &Arc<Plan>, cast: &Cast) -> Job {
        Job::Pairs(Arc::clone(plan), cast.to_lines())
    }

    /// What it is called on the server: a hash of all that it says.
    pub(crate) fn key(&self) -> String {
        key_of(&self.to_string())
    }

    /// What it says of those who do it: results are signed for this.
    pub(crate) fn engines(&self) -> &str {
        match self {
            Job::Pairs(_, engines) => engines,
            Job::Tables(_) => "",
        }
    }

    /// The job that was stored under a key, from another machine.
    pub(crate) fn read(key: &str, text: &str) -> Result<Job, Refused> {
        let bad = |what: String| Refused::new(Reason::Content, what);
        if key_of(text) != key {
            return Err(Refused::new(Reason::Job, format!("{key} is not the hash of the job, {}", key_of(text))));
        }
        let (version, rest) = text.split_once('\n').unwrap_or((text, ""));
        if version != VERSION {
            let what = format!("the job is for anqi {}, this is anqi {VERSION}", excerpt(version));
            return Err(Refused::new(Reason::Impossible, what));
        }
        match rest.split_once('\n') {
            Some(("pairs", plan)) => {
                let (engines, plan) =
                    plan.split_once("\n\n").ok_or_else(|| bad("it does not say who plays".to_owned()))?;
                let plan = Plan::received(plan).map_err(|error| bad(error.to_string()))?;
                Ok(Job::Pairs(Arc::new(plan), format!("{engines}\n")))
            }
            Some(("tables", flavour)) => flavour.parse().map(Job::Tables).map_err(|error| bad(format!("{error}"))),
            _ => Err(bad(format!("{:?} is neither pairs nor tables", excerpt(rest)))),
        }
    }

    /// In a line, for people.
    pub(crate) fn title(&self) -> String {
        match self {
            Job::Pairs(plan, _) => format!("{} pairs of {}", plan.count(), plan.event()),
            Job::Tables(flavour) => format!("tables of endings ({flavour})"),
        }
    }
}

fn key_of(text: &str) -> String {
    blake3::hash(text.as_bytes()).to_hex()[..32].to_owned()
}

/// The streams on a server: what is to be done, what was done, the jobs that both belong to, and who is there.
#[derive(Clone)]
pub(crate) struct Queue {
    context: Context,
    pub(crate) work: Stream,
    pub(crate) results: Stream,
    pub(crate) jobs: Stream,
    pub(crate) status: Stream,
}

impl Queue {
    /// Connects, and makes the streams if they are not there. From then on a lost connection is made again, for ever.
    pub(crate) async fn connect(server: &NatsServer, tell: &Tell) -> Result<Queue, FleetError> {
        let client = server.connect(tell).await?;
        let context = jetstream::new(client);
        Queue::make(context).await.map_err(|reason| FleetError::Unable { url: server.to_string(), reason })
    }

    async fn make(context: Context) -> Result<Queue, String> {
        let stream = |name: &str, subjects: &str, most_bytes: usize| Config {
            name: name.to_owned(),
            subjects: vec![subjects.to_owned()],
            max_message_size: i32::try_from(most_bytes).unwrap_or(i32::MAX),
            storage: StorageType::File,
            ..Config::default()
        };
        // An item is queued once at a time.
        let work = Config {
            retention: RetentionPolicy::WorkQueue,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            ..stream(WORK, "anqi.fleet.work.*.*.*", MOST_WORK_BYTES)
        };
        // A subject takes any number of results: the first one may be forged.
        let results = Config { max_age: KEPT, ..stream(RESULTS, "anqi.fleet.results.*.*.*", MOST_BYTES) };
        // The last one counts, so what was put there in between does not stay.
        let last = |config| Config { max_messages_per_subject: 1, discard: DiscardPolicy::Old, ..config };
        let jobs = last(stream(JOBS, "anqi.fleet.jobs.*.*", MOST_BYTES));
        let status = Config { max_age: SEEN, ..last(stream(STATUS, "anqi.fleet.status.*", MOST_STATUS_BYTES)) };
        // Of several members that make a stream at the same time all but one may be refused, and find it the next time.
        let make = async |config: Config| {
            let mut tries = 0;
            loop {
                match context.get_or_create_stream(config.clone()).await {
                    Ok(stream) => return Ok(stream),
                    Err(error) if tries == MOST_TRIES => return Err(error.to_string()),
                    Err(_) => sleep(AGAIN).await,
                }
                tries += 1;
            }
        };
        let (work, results, jobs) = (make(work).await?, make(results).await?, make(jobs).await?);
        Ok(Queue { work, results, jobs, status: make(status).await?, context })
    }

    /// The consumer that all workers share.
    pub(crate) async fn workers(&self) -> Option<Consumer<pull::Config>> {
        let config = pull::Config {
            durable_name: Some(WORKERS.to_owned()),
            ack_policy: AckPolicy::Explicit,
            ack_wait: ACK_WAIT,
            max_ack_pending: 100_000,
            ..pull::Config::default()
        };
        self.work.get_or_create_consumer(WORKERS, config).await.ok()
    }

    /// Queues an item unless it is queued. False if the server did not answer: try again.
    pub(crate) async fn publish_once(&self, subject: String, message: Vec<u8>) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
        let stored = match self.context.publish_with_headers(subject, headers, message.into()).await {
            Ok(answer) => answer.await.map(|_| ()),
            Err(error) => Err(error),
        };
        stored.map_or_else(|error| error.kind() == PublishErrorKind::WrongLastSequence, |()| true)
    }

    /// Stores a message. False if the server did not answer: try again.
    pub(crate) async fn publish(&self, subject: String, message: Vec<u8>) -> bool {
        match self.context.publish(subject, message.into()).await {
            Ok(answer) => answer.await.is_ok(),
            Err(_) => false,
        }
    }

    /// The message in which `signer` has stored a job; none if there is none or the server did not answer.
    pub(crate) async fn job(&self, key: &str, signer: &PublicKey) -> Option<Vec<u8>> {
        let message = self.jobs.get_last_raw_message_by_subject(&job_subject(key, signer)).await.ok()?;
        Some(message.payload.to_vec())
    }

    /// A room for the files of a job; none if the server did not answer.
    pub(crate) async fn make_files(&self, key: &str) -> Option<ObjectStore> {
        let config = object_store::Config { bucket: bucket(key), max_age: KEPT, ..object_store::Config::default() };
        self.context.create_object_store(config).await.ok()
    }

    /// The room for the files of a job; none if the server did not answer, or the job is done and cleared away.
    pub(crate) async fn files(&self, key: &str) -> Option<ObjectStore> {
        self.context.get_object_store(bucket(key)).await.ok()
    }

    /// Takes everything about a job off the server: what stays there costs room, no more.
    pub(crate) async fn clear(&self, job: &Job, signer: &PublicKey) {
        let key = job.key();
        let _ = self.work.purge().filter(work_subject(&key, "*.*")).await;
        let _ = self.results.purge().filter(results_subject(&key, '*', '*')).await;
        let _ = self.jobs.purge().filter(job_subject(&key, signer)).await;
        if let Job::Tables(_) = job {
            let _ = self.context.delete_object_store(bucket(&key)).await;
        }
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

pub(crate) fn job_subject(key: &str, signer: impl fmt::Display) -> String {
    format!("anqi.fleet.jobs.{key}.{signer}")
}

/// `item` has two parts: what is to be done, and for the how manyth time.
pub(crate) fn work_subject(key: &str, item: impl fmt::Display) -> String {
    format!("anqi.fleet.work.{key}.{item}")
}

pub(crate) fn results_subject(key: &str, item: impl fmt::Display, worker: impl fmt::Display) -> String {
    format!("anqi.fleet.results.{key}.{item}.{worker}")
}

pub(crate) fn status_subject(signer: &PublicKey) -> String {
    format!("anqi.fleet.status.{signer}")
}

/// Key, item, and what comes after it, that the subject of work or a result names.
pub(crate) fn named(subject: &str) -> Option<[&str; 3]> {
    let (rest, last) = subject.rsplit_once('.')?;
    let (rest, item) = rest.rsplit_once('.')?;
    Some([rest.rsplit_once('.')?.1, item, last])
}

fn bucket(key: &str) -> String {
    format!("anqi_files_{key}")
}

#[cfg(test)]
mod tests {
    use anqi_engine::Evaluation;

    use super::*;

    #[test]
    fn jobs_are_read_as_they_were_stored() {
        let plan: Plan = "players = ['chen:var1', 'chen:basic']".parse().expect("a plan");
        let cast = Cast::new(&plan, &anqi_engine::Resources::default()).expect("no files");
        for job in
            [Job::pairs(&Arc::new(plan), &cast), Job::Tables(Flavour::END), Job::Tables(Flavour::outcome(Some(60)))]
        {
            let read = Job::read(&job.key(), &job.to_string()).expect("our own");
            assert_eq!((read.to_string(), read.key()), (job.to_string(), job.key()));
        }
        let refused = |text: &str| Job::read(&key_of(text), text).err().expect(text);
        for (text, reason, what) in [
            (format!("{VERSION}\ntables\nround"), Reason::Content, "\"round\" is not a flavour of tables"),
            (format!("{VERSION}\nsongs\n"), Reason::Content, "\"songs\\n\" is neither pairs nor tables"),
            (
                format!("{VERSION}\npairs\n-\n-\n\nplayers = ['random', 'chen:var1,weights=/etc/passwd']"),
                Reason::Content,
                "player 2: weights \"/etc/passwd\": a plan that is sent",
            ),
            ("0.0.0\ntables\nend".to_owned(), Reason::Impossible, "the job is for anqi 0.0.0, this is anqi"),
            (String::new(), Reason::Impossible, "the job is for anqi , this is anqi"),
        ] {
            let refused = refused(&text);
            assert_eq!(refused.reason, reason);
            assert!(refused.what.starts_with(what), "{refused}");
        }
        // Under any other key it is not that job.
        let text = Job::Tables(Flavour::END).to_string();
        assert_eq!(Job::read(&key_of("x"), &text).err().map(|refused| refused.reason), Some(Reason::Job));
    }

    /// Who is to play belongs to a job: other engines have another key.
    #[test]
    fn another_network_is_another_job() {
        let dir = tempfile::tempdir().expect("a folder");
        let net = dir.path().join("a.net");
        let plan = format!("budget = 'nodes=9'\nplayers = ['champion,net={}', 'random']", net.display());
        let plan: Arc<Plan> = Arc::new(plan.parse().expect("a plan"));
        let network = include_bytes!("../../engine/src/champion/champion.net");
        let job = |bytes: &[u8]| {
            std::fs::write(&net, bytes).expect("room");
            Job::pairs(&plan, &Cast::new(&plan, &anqi_engine::Resources::default()).expect("a sound network"))
        };
        let mut other = network[network.len() - 351_712..].to_vec();
        other[1000] ^= 1;
        let (own, same, other) = (job(network), job(network), job(&other));
        assert_eq!(own.key(), same.key());
        assert_ne!(own.key(), other.key());
        let (Job::Pairs(plan, engines), Job::Pairs(..)) = (own, other) else { unreachable!("both are plans") };
        let here = Cast::new(&plan, &anqi_engine::Resources::default()).expect("a sound network");
        let strangers = here.strangers(&plan, &engines);
        let then = engines.lines().next().expect("a line for each contender");
        assert!(strangers.contains(then) && strangers.lines().count() == 1, "{strangers}");
    }

    /// So do other weights in a file, and other tables in a folder.
    #[test]
    fn other_weights_and_other_tables_are_another_job() {
        let dir = tempfile::tempdir().expect("a folder");
        let (weights, tables) = (dir.path().join("own.weights"), dir.path().join("tables"));
        let key = |change: i32, pieces: u32| {
            let mut list = Evaluation::Static.weights();
            list[0] += change;
            std::fs::write(&weights, Evaluation::Static.weights_text(&list)).expect("room");
            let (classes, one) = (anqi_endgame::classes_up_to(pieces).into_values(), std::num::NonZeroUsize::MIN);
            anqi_endgame::build(&tables, Flavour::END, classes, one, &anqi_task::Stop::default(), ()).expect("room");
            let player = format!("chen:var1,weights={},tables={}", weights.display(), tables.display());
            let plan = format!("budget = 'nodes=9'\nplayers = ['{player}', 'random']");
            let plan: Arc<Plan> = Arc::new(plan.parse().expect("a plan"));
            Job::pairs(&plan, &Cast::new(&plan, &anqi_engine::Resources::default()).expect("sound files")).key()
        };
        let before = key(0, 2);
        assert_eq!(before, key(0, 2));
        let heavier = key(1, 2);
        assert_ne!(before, heavier);
        assert_ne!(heavier, key(1, 3));
    }

    #[test]
    fn subjects_name_key_and_item() {
        assert_eq!(named(&work_subject("key", "17.0")), Some(["key", "17", "0"]));
        assert_eq!(named(&results_subject("key", "PP-n", "who")), Some(["key", "PP-n", "who"]));
        assert_eq!(named("anqi"), None);
    }
}
