//! Tables of endings, for those who want them built and for those who build them.
//!
//! A class is built on the tables of smaller ones. The coordinator queues it when it has all of these, and sees to it that
//! they are in an object store on the server. A worker has a folder of its own: it fetches what the folder lacks, builds the
//! class there, and puts its file into the store, where the coordinator and other workers find it. Fetching costs a file
//! of some megabytes where building would cost the file and everything below it again; and since every file is checked
//! block by block before it is in a folder, no class is built on damage.

use std::collections::{HashMap, HashSet};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{cmp, fs};

use anqi_endgame::{
    BuildStep, Class, Ending, Flavour, Index, SampleCheck, TableError, TableFile, adopt, build_step, steps, table_path,
};
use anqi_rules::Seed;
use anqi_task::{Progress, Status, Stop};
use async_nats::jetstream::object_store::{GetErrorKind, InfoErrorKind, ObjectStore};
use tokio::io::AsyncReadExt;
use tokio::runtime;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::coordinator::{Errand, FAILED, Taken, coordinate};
use crate::envelope::{Reason, Refused};
use crate::key::{PublicKey, from_hex, hex};
use crate::member::Member;
use crate::queue::{AGAIN, FleetError, Job, Queue};
use crate::refusals::Refusals;
use crate::roster::{Roster, worker_lines};
use crate::work_item::{FileHash, WorkItem};

/// How long the next bytes of a file may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// What the result of a class that was built begins with; the hash of the file follows.
const BUILT: &str = "table ";
/// So many positions of a new table are compared with what the rules say.
const SAMPLE: u64 = 2000;

/// Has the classes of `endings`, and all that captures lead to, built by whatever workers are at a server, now or later,
/// and collects them in `dir`: [`build`](anqi_endgame::build), elsewhere. Returns whether everything is there.
///
/// # Errors
/// If the server is not there at the beginning, the folder cannot be written to, a file in it is damaged, or a worker
/// failed in a way that others would, too.
pub fn build_elsewhere(
    member: &Member,
    dir: &Path,
    flavour: Flavour,
    endings: impl IntoIterator<Item = Ending>,
    stop: &Stop,
    mut progress: impl Progress,
) -> Result<bool, FleetError> {
    let mut missing = steps(endings)?;
    let mut status = Status::default();
    missing.iter().for_each(|step| status.all.add(step.positions));
    progress.report(&status);
    let mut there = HashSet::new();
    for step in &missing {
        if TableFile::find(dir, &step.ending, flavour)?.is_some() {
            there.insert(step.ending);
            status.add(step.positions, true);
            progress.report(&status);
        }
    }
    missing.retain(|step| !there.contains(&step.ending));
    // The smallest are needed first; of one size the largest take longest.
    missing.sort_by_key(|step| (step.ending.len(), cmp::Reverse(step.positions)));

    let stopped = || stop.is_raised();
    let job = Job::Tables(flavour);
    let refusals = Refusals::new(member.tell.clone());
    let done = runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let queue = Queue::connect(&member.server, &member.tell).await?;
        // A mistyped address leaves no folder behind.
        fs::create_dir_all(dir).map_err(|error| TableError::Folder { path: dir.display().to_string(), error })?;
        let files = loop {
            match queue.make_files(&job.key()).await {
                Some(files) => break files,
                None if stopped() => return Ok(false),
                None => sleep(AGAIN).await,
            }
        };
        let (offered, roster) = (HashMap::new(), Roster::default());
        let mut building =
            Building { member, dir, flavour, missing, there, files, offered, roster, stopped, status, progress };
        let coordinated = coordinate(member, &queue, &job, &mut building, &refusals, stopped).await;
        if building.roster.excluded().next().is_some() {
            worker_lines(&building.roster.counts(&member.trusted)).iter().for_each(|line| member.tell.line(line));
        }
        coordinated?;
        if building.is_over() {
            queue.clear(&job, &member.key.public()).await;
        }
        Ok(building.is_over())
    });
    refusals.summary().iter().for_each(|line| member.tell.line(line));
    done
}

/// The tables that a folder lacks.
struct Building<'a, S, P> {
    member: &'a Member,
    dir: &'a Path,
    flavour: Flavour,
    missing: Vec<BuildStep>,
    /// In the folder.
    there: HashSet<Ending>,
    files: ObjectStore,
    /// On the server, for all we know, with the hashes of their files.
    offered: HashMap<Ending, FileHash>,
    roster: Roster,
    stopped: S,
    status: Status,
    progress: P,
}

impl<S: Fn() -> bool, P: Progress> Errand for Building<'_, S, P> {
    type Item = Ending;

    fn is_over(&self) -> bool {
        self.missing.is_empty()
    }

    fn progress(&self) -> (u64, u64) {
        (self.status.done.items, self.status.all.items)
    }

    fn ready(&self, queued: &HashSet<Ending>, most: usize) -> Vec<Ending> {
        let can_be_built = |step: &&BuildStep| step.needs.iter().all(|needed| self.there.contains(needed));
        let ready = self.missing.iter().filter(|step| !queued.contains(&step.ending)).filter(can_be_built);
        ready.map(|step| step.ending).take(most).collect()
    }

    async fn provide(&mut self, ending: Ending) -> Result<Option<WorkItem>, FleetError> {
        let mut work = WorkItem::default();
        let Some(step) = self.missing.iter().find(|step| step.ending == ending) else { return Ok(Some(work)) };
        for &needed in &step.needs {
            let hash = match self.offered.get(&needed) {
                Some(hash) => *hash,
                None => match offer(&self.files, self.dir, self.flavour, needed).await? {
                    Some(hash) => hash,
                    None => return Ok(None),
                },
            };
            self.offered.insert(needed, hash);
            work.needs.push((needed, hash));
        }
        Ok(Some(work))
    }

    fn lost(&mut self) {
        self.offered.clear();
    }

    async fn take(&mut self, ending: Ending, worker: PublicKey, result: &str) -> Result<Taken, FleetError> {
        // Another coordinator may build other classes of the same flavour.
        let Some(number) = self.missing.iter().position(|step| step.ending == ending) else { return Ok(Taken::Done) };
        let Some(hash) = result.strip_prefix(BUILT).and_then(from_hex) else {
            return Ok(Taken::Refused(Refused::new(Reason::Content, "it does not say which table was built")));
        };
        let bytes = loop {
            match fetch(&self.files, ending, &hash).await {
                Ok(Some(bytes)) => break bytes,
                Ok(None) => return Ok(Taken::Lost),
                // It stays where it is.
                Err(_) if (self.stopped)() => return Ok(Taken::Done),
                Err(_) => sleep(AGAIN).await,
            }
        };
        let seed = Seed::from(random()?);
        let (dir, flavour, needs) = (self.dir.to_owned(), self.flavour, self.missing[number].needs.clone());
        let adopted = aside(move || {
            let sample = SampleCheck { needs: &needs, count: SAMPLE, seed: &seed };
            adopt(&dir, flavour, &ending, &bytes, Some(&sample))
        });
        if let Err(error) = adopted.await {
            let FleetError::Table(error) = error else { return Err(error) };
            if !error.is_of_contents() {
                return Err(error.into());
            }
            // The file is the one that was signed.
            let name = self.member.trusted.name(&worker).unwrap_or_default();
            let reason = format!("its table of {ending} is wrong: {error}");
            self.member.tell.line(&format!(
                "worker {name} ({worker}) is excluded: {reason}; check the others with anqi endgame verify --all"
            ));
            self.roster.exclude(worker, reason);
            remove(&self.files, ending, &hash).await;
            return Ok(Taken::Refused(Refused::new(Reason::Content, error)));
        }
        let step = self.missing.remove(number);
        self.there.insert(ending);
        self.offered.insert(ending, hash);
        self.roster.add_table(worker);
        self.status.add(step.positions, false);
        self.progress.report(&self.status);
        Ok(Taken::Done)
    }

    fn roster(&self) -> &Roster {
        &self.roster
    }
}

/// What became of an item at a worker.
pub(crate) enum Made {
    /// What is to be signed: it is built and on the server, or cannot be built.
    Result(String),
    /// It cannot be had now: the server is gone, or has lost something, or it is not wanted any more.
    NotNow,
    /// The tables that it is built on are not sound.
    Unsound(TableError),
}

/// Builds a class in a worker's folder and hands it over.
pub(crate) async fn make(
    queue: Queue,
    key: String,
    flavour: Flavour,
    ending: Ending,
    needs: Vec<(Ending, FileHash)>,
    dir: PathBuf,
) -> Result<Made, FleetError> {
    let step = steps([ending]).ok().and_then(|steps| steps.into_iter().find(|step| step.ending == ending));
    let Some(step) = step else { return Ok(Made::Result(format!("{FAILED}no class has this name"))) };
    let Some(files) = queue.files(&key).await else { return Ok(Made::NotNow) };
    if TableFile::find(&dir, &ending, flavour)?.is_none() {
        for &needed in &step.needs {
            if TableFile::find(&dir, &needed, flavour)?.is_none() {
                let Some((_, hash)) = needs.iter().find(|(ending, _)| *ending == needed) else {
                    return Ok(Made::Result(format!("{FAILED}the item does not say which table of {needed} it needs")));
                };
                let Ok(Some(bytes)) = fetch(&files, needed, hash).await else { return Ok(Made::NotNow) };
                let folder = dir.clone();
                match aside(move || adopt(&folder, flavour, &needed, &bytes, None)).await {
                    Ok(()) => {}
                    Err(FleetError::Table(error)) if error.is_of_contents() => return Ok(Made::Unsound(error)),
                    Err(error) => return Err(error),
                }
            }
        }
        let folder = dir.clone();
        aside(move || build_step(&folder, flavour, &step)).await?;
    }
    let offered = offer(&files, &dir, flavour, ending).await?;
    Ok(offered.map_or(Made::NotNow, |hash| Made::Result(format!("{BUILT}{}", hex(&hash)))))
}

/// What a file is called on the server.
fn object_name(ending: Ending, hash: &FileHash) -> String {
    format!("{ending}/{}", hex(hash))
}

/// No file of a class has more bytes: two for each place before compression, and its beginning.
fn most_bytes(ending: Ending) -> usize {
    Index::new(&Class::of(&ending).class).map_or(0, |index| index.places() * 2 + index.places() / 32 + (1 << 20))
}

/// Puts a table of a folder on the server, unless it is there, and gives the hash of its file. None if the server did not
/// answer.
async fn offer(
    files: &ObjectStore,
    dir: &Path,
    flavour: Flavour,
    ending: Ending,
) -> Result<Option<FileHash>, FleetError> {
    let dir = dir.to_owned();
    let bytes = aside(move || {
        // What is damaged here must not be built on elsewhere.
        TableFile::need(&dir, &ending, flavour)?.load()?;
        let path = table_path(&dir, &ending, flavour);
        fs::read(&path).map_err(|error| TableError::Folder { path: path.display().to_string(), error })
    });
    let bytes = bytes.await?;
    let hash = *blake3::hash(&bytes).as_bytes();
    let name = object_name(ending, &hash);
    match files.info(&name).await {
        // If it is something else its reader takes it away, and it is put there again.
        Ok(info) if !info.deleted && info.size == bytes.len() => return Ok(Some(hash)),
        Err(error) if error.kind() != InfoErrorKind::NotFound => return Ok(None),
        _ => {}
    }
    Ok(files.put(&*name, &mut &*bytes).await.is_ok().then_some(hash))
}

/// A table from the server, if it has the file with this hash; an error if the server did not answer.
async fn fetch(files: &ObjectStore, ending: Ending, hash: &FileHash) -> io::Result<Option<Vec<u8>>> {
    let name = object_name(ending, hash);
    let most = most_bytes(ending);
    match files.info(&name).await {
        Err(error) if error.kind() == InfoErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io::Error::other(error)),
        // Nothing of ours is a link, which could lead anywhere, or as large.
        Ok(info) if info.size > most || info.options.as_ref().is_some_and(|options| options.link.is_some()) => {
            remove(files, ending, hash).await;
            return Ok(None);
        }
        Ok(_) => {}
    }
    let object = match timeout(PATIENCE, files.get(&name)).await? {
        Ok(object) => object,
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io::Error::other(error)),
    };
    let mut bytes = Vec::new();
    let mut object = object.take(most as u64 + 1);
    loop {
        match timeout(PATIENCE, object.read_buf(&mut bytes)).await? {
            Ok(0) if blake3::hash(&bytes) == *hash => return Ok(Some(bytes)),
            Ok(0) => break,
            Ok(_) => {}
            // It is not what was put there.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => break,
            Err(error) => return Err(error),
        }
    }
    remove(files, ending, hash).await;
    Ok(None)
}

/// Takes away what is not the file with this hash. If that fails the next reader does it.
async fn remove(files: &ObjectStore, ending: Ending, hash: &FileHash) {
    let _ = files.delete(object_name(ending, hash)).await;
}

fn random() -> Result<[u8; 32], FleetError> {
    let mut bytes = [0; 32];
    getrandom::fill(&mut bytes).map_err(io::Error::other)?;
    Ok(bytes)
}

/// Does something long without keeping the network waiting.
async fn aside<T: Send + 'static>(
    work: impl FnOnce() -> Result<T, TableError> + Send + 'static,
) -> Result<T, FleetError> {
    match spawn_blocking(work).await {
        Ok(done) => Ok(done?),
        Err(panicked) => Err(io::Error::other(panicked).into()),
    }
}
