//! What coordinator and workers agree on: streams, subjects, jobs.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use anqi_endgame::{Flavour, TableError};
use anqi_lab::{Cast, CastError, Plan, PlanError};
use anqi_rules::excerpt;
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::object_store::{self, ObjectStore};
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{ConnectOptions, HeaderMap, header};

const WORK: &str = "ANQI_WORK";
const RESULTS: &str = "ANQI_RESULTS";
const JOBS: &str = "ANQI_JOBS";
const WORKERS: &str = "workers";
/// How long a worker may be silent before what it has taken goes to another one.
const ACK_WAIT: Duration = Duration::from_secs(10);
/// How often a worker says that it is still at it.
pub(crate) const PROGRESS: Duration = Duration::from_secs(3);
/// How long to wait before something that failed is tried again.
pub(crate) const AGAIN: Duration = Duration::from_millis(300);
/// Results that were not collected.
const KEPT: Duration = Duration::from_secs(30 * 24 * 3600);

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
    /// A job that this program cannot read.
    #[error("job {key}: {reason}")]
    Job {
        /// Under which key.
        key: String,
        /// What is wrong.
        reason: String,
    },
    /// A job for another version.
    #[error("job {key} is for anqi {theirs}, this is anqi {ours}")]
    Version {
        /// Under which key.
        key: String,
        /// What the job wants.
        theirs: String,
        /// What we are.
        ours: &'static str,
    },
    /// A contender of a plan cannot play here.
    #[error(transparent)]
    Cast(#[from] CastError),
    /// A contender of a plan is another one here.
    #[error(
        "job {key} is for other engines:\n{strangers}start the worker of the coordinator's version, with its networks and tables"
    )]
    Engines {
        /// Under which key.
        key: String,
        /// Who differs, with both fingerprints.
        strangers: String,
    },
    /// A table cannot be written here, or is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// A worker could not do it, nor would another one.
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

    /// What it is called on the server.
    pub(crate) fn key(&self) -> String {
        blake3::hash(self.to_string().as_bytes()).to_hex()[..32].to_owned()
    }

    /// The job that was stored under a key.
    fn read(key: &str, text: &str) -> Result<Job, FleetError> {
        let bad = |reason: String| FleetError::Job { key: key.to_owned(), reason };
        let (version, rest) = text.split_once('\n').unwrap_or((text, ""));
        if version != VERSION {
            return Err(FleetError::Version { key: key.to_owned(), theirs: excerpt(version), ours: VERSION });
        }
        match rest.split_once('\n') {
            Some(("pairs", plan)) => {
                let (engines, plan) =
                    plan.split_once("\n\n").ok_or_else(|| bad("it does not say who plays".to_owned()))?;
                let plan = plan.parse().map_err(|error: PlanError| bad(error.to_string()))?;
                Ok(Job::Pairs(Arc::new(plan), format!("{engines}\n")))
            }
            Some(("tables", flavour)) => flavour.parse().map(Job::Tables).map_err(|error| bad(error.to_string())),
            _ => Err(bad(format!("{:?} is neither pairs nor tables", excerpt(rest)))),
        }
    }
}

/// The streams on a server: what is to be done, what was done, and the jobs that both belong to.
#[derive(Clone)]
pub(crate) struct Queue {
    context: Context,
    pub(crate) work: Stream,
    pub(crate) results: Stream,
    jobs: Stream,
}

impl Queue {
    /// Connects, and makes the streams if they are not there. From then on a lost connection is made again, for ever.
    pub(crate) async fn connect(url: &str) -> Result<Queue, FleetError> {
        let unreachable = |error: async_nats::ConnectError| FleetError::Unreachable {
            url: url.to_owned(),
            reason: error.to_string(),
        };
        let options = ConnectOptions::new().name("anqi").reconnect_delay_callback(|_| AGAIN);
        let client = options.connect(url).await.map_err(unreachable)?;
        let context = jetstream::new(client);
        Queue::make(context).await.map_err(|reason| FleetError::Unable { url: url.to_owned(), reason })
    }

    async fn make(context: Context) -> Result<Queue, String> {
        let stream = |name: &str, subjects: &str, retention, max_age| Config {
            name: name.to_owned(),
            subjects: vec![subjects.to_owned()],
            retention,
            max_age,
            max_messages_per_subject: 1,
            discard: DiscardPolicy::New,
            discard_new_per_subject: true,
            storage: StorageType::File,
            ..Config::default()
        };
        let work = stream(WORK, "anqi.work.*.*", RetentionPolicy::WorkQueue, Duration::ZERO);
        let results = stream(RESULTS, "anqi.results.*.*", RetentionPolicy::Limits, KEPT);
        let jobs = stream(JOBS, "anqi.jobs.*", RetentionPolicy::Limits, Duration::ZERO);
        let make = async |config| context.get_or_create_stream(config).await.map_err(|error| error.to_string());
        let (work, results, jobs) = (make(work).await?, make(results).await?, make(jobs).await?);
        Ok(Queue { work, results, jobs, context })
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

    /// Stores a message unless its subject has one. False if the server did not answer: try again.
    pub(crate) async fn publish_once(&self, subject: String, text: String) -> bool {
        let mut headers = HeaderMap::new();
        headers.insert(header::NATS_EXPECTED_LAST_SUBJECT_SEQUENCE, "0");
        let stored = match self.context.publish_with_headers(subject, headers, text.into()).await {
            Ok(answer) => answer.await.map(|_| ()),
            Err(error) => Err(error),
        };
        stored.map_or_else(|error| error.kind() == PublishErrorKind::WrongLastSequence, |()| true)
    }

    /// Stores a job. False if the server did not answer: try again.
    pub(crate) async fn put_job(&self, job: &Job) -> bool {
        self.publish_once(job_subject(&job.key()), job.to_string()).await
    }

    /// The job under a key; none if the server did not answer.
    pub(crate) async fn job(&self, key: &str) -> Option<Result<Job, FleetError>> {
        let message = self.jobs.get_last_raw_message_by_subject(&job_subject(key)).await.ok()?;
        Some(Job::read(key, &String::from_utf8_lossy(&message.payload)))
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
    pub(crate) async fn clear(&self, job: &Job) {
        let key = job.key();
        let _ = self.work.purge().filter(work_subject(&key, '*')).await;
        let _ = self.results.purge().filter(results_subject(&key, '*')).await;
        if let Job::Tables(_) = job {
            let _ = self.context.delete_object_store(bucket(&key)).await;
        }
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

fn job_subject(key: &str) -> String {
    format!("anqi.jobs.{key}")
}

pub(crate) fn work_subject(key: &str, item: impl fmt::Display) -> String {
    format!("anqi.work.{key}.{item}")
}

pub(crate) fn results_subject(key: &str, item: impl fmt::Display) -> String {
    format!("anqi.results.{key}.{item}")
}

/// Key and item that a subject names.
pub(crate) fn named(subject: &str) -> Option<(&str, &str)> {
    let (rest, item) = subject.rsplit_once('.')?;
    Some((rest.rsplit_once('.')?.1, item))
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
            let read = Job::read("key", &job.to_string()).expect("our own");
            assert_eq!((read.to_string(), read.key()), (job.to_string(), job.key()));
        }
        let refused = |text: &str| Job::read("key", text).err().expect(text).to_string();
        assert_eq!(
            refused(&format!("{VERSION}\ntables\nround")).split(", expected").next(),
            Some("job key: \"round\" is not a flavour of tables")
        );
        assert_eq!(refused(&format!("{VERSION}\nsongs\n")), "job key: \"songs\\n\" is neither pairs nor tables");
        assert_eq!(refused("0.0.0\ntables\nend"), format!("job key is for anqi 0.0.0, this is anqi {VERSION}"));
        assert_eq!(refused(""), format!("job key is for anqi , this is anqi {VERSION}"));
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
        assert_eq!(named(&work_subject("key", 17)), Some(("key", "17")));
        assert_eq!(named(&results_subject("key", "PP-n")), Some(("key", "PP-n")));
        assert_eq!(named("anqi"), None);
    }
}
