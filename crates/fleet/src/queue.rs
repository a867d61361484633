//! What coordinator and workers agree on: streams, subjects, plans.

use std::time::Duration;

use anqi_lab::{Plan, PlanError, RunError};
use async_nats::jetstream::consumer::{AckPolicy, Consumer, pull};
use async_nats::jetstream::context::PublishErrorKind;
use async_nats::jetstream::stream::{Config, DiscardPolicy, RetentionPolicy, StorageType, Stream};
use async_nats::jetstream::{self, Context};
use async_nats::{ConnectOptions, HeaderMap, header};

const WORK: &str = "ANQI_WORK";
const RESULTS: &str = "ANQI_RESULTS";
const PLANS: &str = "ANQI_PLANS";
const WORKERS: &str = "workers";
/// How long a worker may be silent before its pair goes to another one.
const ACK_WAIT: Duration = Duration::from_secs(10);
/// How often a worker says that it is still playing.
pub(crate) const PROGRESS: Duration = Duration::from_secs(3);
/// How long to wait before something that failed is tried again.
pub(crate) const AGAIN: Duration = Duration::from_millis(300);
/// Results that nobody collected.
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
    /// A plan that this program cannot read.
    #[error("plan {key}: {error}")]
    Plan {
        /// Under which key.
        key: String,
        /// What is wrong.
        error: PlanError,
    },
    /// A plan for another version.
    #[error("plan {key} is for anqi {theirs}, this is anqi {ours}")]
    Version {
        /// Under which key.
        key: String,
        /// What the plan wants.
        theirs: String,
        /// What we are.
        ours: &'static str,
    },
    /// A program of the plan does not start here.
    #[error(transparent)]
    Program(#[from] RunError),
}

/// The streams on a server: pairs to play, pairs played, and the plans that they belong to.
#[derive(Clone)]
pub(crate) struct Queue {
    context: Context,
    pub(crate) work: Stream,
    pub(crate) results: Stream,
    plans: Stream,
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
        let plans = stream(PLANS, "anqi.plans.*", RetentionPolicy::Limits, Duration::ZERO);
        let make = async |config| context.get_or_create_stream(config).await.map_err(|error| error.to_string());
        let (work, results, plans) = (make(work).await?, make(results).await?, make(plans).await?);
        Ok(Queue { work, results, plans, context })
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

    /// Stores a plan. False if the server did not answer: try again.
    pub(crate) async fn put_plan(&self, plan: &Plan) -> bool {
        self.publish_once(plan_subject(&key(plan)), format!("{VERSION}\n{plan}")).await
    }

    /// The plan under a key; none if the server did not answer.
    pub(crate) async fn plan(&self, key: &str) -> Option<Result<Plan, FleetError>> {
        let message = self.plans.get_last_raw_message_by_subject(&plan_subject(key)).await.ok()?;
        let text = String::from_utf8_lossy(&message.payload);
        let (version, plan) = text.split_once('\n')?;
        if version != VERSION {
            let theirs = version.chars().take(40).collect();
            return Some(Err(FleetError::Version { key: key.to_owned(), theirs, ours: VERSION }));
        }
        Some(plan.parse().map_err(|error| FleetError::Plan { key: key.to_owned(), error }))
    }
}

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// What a plan is called on the server.
pub(crate) fn key(plan: &Plan) -> String {
    blake3::hash(format!("{VERSION}\n{plan}").as_bytes()).to_hex()[..32].to_owned()
}

fn plan_subject(key: &str) -> String {
    format!("anqi.plans.{key}")
}

pub(crate) fn work_subject(key: &str, number: u64) -> String {
    format!("anqi.work.{key}.{number}")
}

pub(crate) fn results_subject(key: &str, number: impl std::fmt::Display) -> String {
    format!("anqi.results.{key}.{number}")
}

/// Key and number of the pair that a subject names.
pub(crate) fn named_pair(subject: &str) -> Option<(&str, u64)> {
    let (rest, number) = subject.rsplit_once('.')?;
    Some((rest.rsplit_once('.')?.1, number.parse().ok()?))
}
