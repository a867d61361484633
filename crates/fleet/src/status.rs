//! What the machines of a fleet say of themselves, and how it is read.

use std::collections::BTreeMap;
use std::time::{Duration, SystemTime};

use async_nats::jetstream::consumer::pull;
use futures_util::StreamExt;
use serde::{Deserialize, Serialize};
use tokio::runtime;
use tokio::time::timeout;

use crate::envelope::{Role, Subject, open, seal};
use crate::key::{FleetKey, Trusted};
use crate::queue::{FleetError, MOST_STATUS_BYTES, Queue, status_subject};
use crate::refusals::Tell;
use crate::roster::WorkerCounts;
use crate::server::NatsServer;

/// How often a machine says how it is.
pub(crate) const BEAT: Duration = Duration::from_secs(5);
/// A forger may fill the stream; no more than so many are read.
const MOST_MEMBERS: usize = 10_000;
/// How long the server may take for the next one.
const PATIENCE: Duration = Duration::from_secs(2);
/// The item of these messages.
const ITEM: &str = "status";

/// What a machine says of itself.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
#[serde(deny_unknown_fields)]
pub struct MemberStatus {
    /// `worker` or `coordinator`.
    pub role: String,
    /// Which version of the program it runs.
    pub version: String,
    /// When it said so, in seconds since 1970 by its own clock.
    pub time: u64,
    /// How many pairs it has played or collected.
    pub pairs: u64,
    /// How many tables it has built or collected.
    pub tables: u64,
    /// How many messages it has refused, by reason.
    pub refused: BTreeMap<String, u64>,
    /// The job that a coordinator has done.
    pub job: Option<JobStatus>,
    /// What a coordinator knows of its workers.
    pub workers: Vec<WorkerCounts>,
}

/// A job.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct JobStatus {
    /// Its key.
    pub key: String,
    /// What it is.
    pub title: String,
    /// How many items are done.
    pub done: u64,
    /// How many there are.
    pub all: u64,
}

/// What is known of a fleet.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct FleetStatus {
    /// Items that wait for a worker or are with one.
    pub queued: u64,
    /// Those of them that are with one.
    pub taken: u64,
    /// Results on the server.
    pub results: u64,
    /// The machines that are trusted.
    pub members: Vec<MemberSeen>,
    /// How many messages were there from machines that are not trusted, or not readable.
    pub unknown: u64,
}

/// A machine, and what it says.
#[derive(Clone, PartialEq, Serialize, Debug)]
pub struct MemberSeen {
    /// Its name here.
    pub name: String,
    /// Its public key.
    pub key: String,
    /// Seconds since it said so.
    pub age: u64,
    /// What it says.
    pub status: MemberStatus,
}

impl MemberStatus {
    pub(crate) fn new(role: Role, refused: BTreeMap<String, u64>) -> MemberStatus {
        MemberStatus {
            role: role.name().to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            time: now(),
            pairs: 0,
            tables: 0,
            refused,
            job: None,
            workers: Vec::new(),
        }
    }

    /// Puts it on the server; if that fails the next one will do.
    pub(crate) async fn publish(&self, queue: &Queue, key: &FleetKey, role: Role) {
        let Ok(text) = serde_json::to_string(self) else { return };
        let _ = queue.publish(status_subject(&key.public()), seal(key, &subject(role), &text)).await;
    }
}

const fn subject(role: Role) -> Subject<'static> {
    Subject { role, job: "-", item: ITEM, engines: "" }
}

fn now() -> u64 {
    SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |since| since.as_secs())
}

/// Reads what the machines at a server say of themselves; what those say that are not trusted is counted only.
///
/// # Errors
/// If the server is not there.
pub fn fleet_status(server: &NatsServer, trusted: &Trusted, tell: &Tell) -> Result<FleetStatus, FleetError> {
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let queue = Queue::connect(server, tell).await?;
        let unable = |reason: String| FleetError::Unable { url: server.to_string(), reason };
        let messages = |info: async_nats::jetstream::stream::Info| info.state.messages;
        let queued = queue.work.get_info().await.map(messages).map_err(|error| unable(error.to_string()))?;
        let results = queue.results.get_info().await.map(messages).map_err(|error| unable(error.to_string()))?;
        let taken = match queue.workers().await {
            Some(mut workers) => workers.info().await.map_or(0, |info| info.num_ack_pending as u64),
            None => 0,
        };
        let mut status = FleetStatus { queued, taken, results, members: Vec::new(), unknown: 0 };
        // The stream keeps the last message of each machine.
        let consumer = queue
            .status
            .create_consumer(pull::OrderedConfig::default())
            .await
            .map_err(|error| unable(error.to_string()))?;
        let mut messages = consumer.messages().await.map_err(|error| unable(error.to_string()))?;
        let there = queue.status.get_info().await.map(|info| info.state.messages).unwrap_or_default();
        for _ in 0..usize::try_from(there).unwrap_or(MOST_MEMBERS).min(MOST_MEMBERS) {
            let Ok(Some(Ok(message))) = timeout(PATIENCE, messages.next()).await else { break };
            match read(&message.payload, trusted) {
                Some(seen) => status.members.push(seen),
                None => status.unknown += 1,
            }
        }
        status.members.sort_by(|a, b| (&a.status.role, &a.name, &a.key).cmp(&(&b.status.role, &b.name, &b.key)));
        Ok(status)
    })
}

fn read(message: &[u8], trusted: &Trusted) -> Option<MemberSeen> {
    if message.len() > MOST_STATUS_BYTES {
        return None;
    }
    let (role, (signer, text)) = [Role::Coordinator, Role::Worker]
        .into_iter()
        .find_map(|role| Some((role, open(message, &subject(role), trusted).ok()?)))?;
    let status: MemberStatus =
        serde_json::from_str(text).ok().filter(|status: &MemberStatus| status.role == role.name())?;
    let name = trusted.name(&signer)?.to_owned();
    Some(MemberSeen { name, key: signer.to_string(), age: now().saturating_sub(status.time), status })
}
