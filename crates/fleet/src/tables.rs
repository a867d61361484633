//! Tables of endings, for those who want them built and for those who build them.
//!
//! A class is built on the tables of smaller ones. The coordinator queues it when it has all of these, and sees to it that
//! they are in an object store on the server. A worker has a folder of its own: it fetches what the folder lacks, builds the
//! class there, and puts its file into the store, where the coordinator and other workers find it. Fetching costs a file
//! of some megabytes where building would cost the file and everything below it again; and since every file is checked
//! block by block before it is in a folder, no class is built on damage.

use std::collections::HashSet;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;
use std::{cmp, fs};

use anqi_endgame::{BuildStep, Ending, Flavour, TableError, TableFile, adopt, build_step, steps, table_path};
use anqi_task::{Progress, Status, Stop};
use async_nats::jetstream::object_store::{GetErrorKind, InfoErrorKind, ObjectStore};
use tokio::io::AsyncReadExt;
use tokio::runtime;
use tokio::task::spawn_blocking;
use tokio::time::{sleep, timeout};

use crate::coordinator::{Errand, FAILED, coordinate};
use crate::queue::{AGAIN, FleetError, Job, Queue};

/// How long the next bytes of a file may take.
const PATIENCE: Duration = Duration::from_secs(10);

/// Has the classes of `endings`, and all that captures lead to, built by whatever workers are at a server, now or later,
/// and collects them in `dir`: [`build`](anqi_endgame::build), elsewhere. Returns whether everything is there.
///
/// # Errors
/// If the server is not there at the beginning, the folder cannot be written to, a file in it is damaged, or a worker
/// failed in a way that others would, too.
pub fn build_elsewhere(
    url: &str,
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
    runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
        let queue = Queue::connect(url).await?;
        // A mistyped address leaves no folder behind.
        fs::create_dir_all(dir).map_err(|error| TableError::Folder { path: dir.display().to_string(), error })?;
        let files = loop {
            match queue.make_files(&job.key()).await {
                Some(files) => break files,
                None if stopped() => return Ok(false),
                None => sleep(AGAIN).await,
            }
        };
        let offered = HashSet::new();
        let mut building = Building { dir, flavour, missing, there, files, offered, stopped, status, progress };
        coordinate(&queue, &job, &mut building, stopped).await?;
        if building.is_over() {
            queue.clear(&job).await;
        }
        Ok(building.is_over())
    })
}

/// The tables that a folder lacks.
struct Building<'a, S, P> {
    dir: &'a Path,
    flavour: Flavour,
    missing: Vec<BuildStep>,
    /// In the folder.
    there: HashSet<Ending>,
    files: ObjectStore,
    /// On the server, for all we know.
    offered: HashSet<Ending>,
    stopped: S,
    status: Status,
    progress: P,
}

impl<S: Fn() -> bool, P: Progress> Errand for Building<'_, S, P> {
    type Item = Ending;

    fn is_over(&self) -> bool {
        self.missing.is_empty()
    }

    fn ready(&self, queued: &HashSet<Ending>, most: usize) -> Vec<Ending> {
        let can_be_built = |step: &&BuildStep| step.needs.iter().all(|needed| self.there.contains(needed));
        let ready = self.missing.iter().filter(|step| !queued.contains(&step.ending)).filter(can_be_built);
        ready.map(|step| step.ending).take(most).collect()
    }

    async fn provide(&mut self, ending: Ending) -> Result<bool, FleetError> {
        let Some(step) = self.missing.iter().find(|step| step.ending == ending) else { return Ok(true) };
        for needed in &step.needs {
            if !self.offered.contains(needed) {
                if !offer(&self.files, self.dir, self.flavour, *needed).await? {
                    return Ok(false);
                }
                self.offered.insert(*needed);
            }
        }
        Ok(true)
    }

    fn lost(&mut self) {
        self.offered.clear();
    }

    async fn take(&mut self, ending: Ending, result: Result<&str, &str>) -> Result<bool, FleetError> {
        // Another coordinator may build other classes of the same flavour.
        let Some(number) = self.missing.iter().position(|step| step.ending == ending) else { return Ok(true) };
        let failed = |reason: &str| FleetError::Failed { what: ending.to_string(), reason: reason.to_owned() };
        result.map_err(failed)?;
        let bytes = loop {
            match fetch(&self.files, ending).await {
                Ok(Some(bytes)) => break bytes,
                Ok(None) => return Ok(false),
                // It stays where it is.
                Err(_) if (self.stopped)() => return Ok(true),
                Err(_) => sleep(AGAIN).await,
            }
        };
        if let Err(error) = put_down(self.dir, self.flavour, ending, bytes).await {
            let _ = self.files.delete(ending.to_string()).await;
            return Err(error);
        }
        let step = self.missing.remove(number);
        self.there.insert(ending);
        self.offered.insert(ending);
        self.status.add(step.positions, false);
        self.progress.report(&self.status);
        Ok(true)
    }
}

/// Builds a class in a worker's folder and hands it over. None if it cannot be had now: the server is gone, or has lost
/// something, or it is not wanted any more.
pub(crate) async fn make(
    queue: Queue,
    key: String,
    flavour: Flavour,
    ending: Ending,
    dir: PathBuf,
) -> Result<Option<String>, FleetError> {
    let Some(step) = steps([ending])?.into_iter().find(|step| step.ending == ending) else {
        return Ok(Some(format!("{FAILED}no class has this name")));
    };
    let Some(files) = queue.files(&key).await else { return Ok(None) };
    if TableFile::find(&dir, &ending, flavour)?.is_none() {
        for &needed in &step.needs {
            if TableFile::find(&dir, &needed, flavour)?.is_none() {
                let Ok(Some(bytes)) = fetch(&files, needed).await else { return Ok(None) };
                put_down(&dir, flavour, needed, bytes).await?;
            }
        }
        let folder = dir.clone();
        aside(move || build_step(&folder, flavour, &step)).await?;
    }
    Ok(offer(&files, &dir, flavour, ending).await?.then(String::new))
}

/// Puts a table of a folder on the server, unless it is there. False if the server did not answer.
async fn offer(files: &ObjectStore, dir: &Path, flavour: Flavour, ending: Ending) -> Result<bool, FleetError> {
    let name = ending.to_string();
    match files.info(&name).await {
        Ok(info) if !info.deleted => return Ok(true),
        Err(error) if error.kind() != InfoErrorKind::NotFound => return Ok(false),
        _ => {}
    }
    let dir = dir.to_owned();
    let bytes = aside(move || {
        // What is damaged here must not be built on elsewhere.
        TableFile::need(&dir, &ending, flavour)?.load()?;
        let path = table_path(&dir, &ending, flavour);
        fs::read(&path).map_err(|error| TableError::Folder { path: path.display().to_string(), error })
    });
    Ok(files.put(&*name, &mut &*bytes.await?).await.is_ok())
}

/// A table from the server; none if it is not there, an error if the server did not answer.
async fn fetch(files: &ObjectStore, ending: Ending) -> io::Result<Option<Vec<u8>>> {
    let name = ending.to_string();
    let mut object = match files.get(&name).await {
        Ok(object) => object,
        Err(error) if error.kind() == GetErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io::Error::other(error)),
    };
    let mut bytes = Vec::with_capacity(object.info().size);
    loop {
        match timeout(PATIENCE, object.read_buf(&mut bytes)).await? {
            Ok(0) => return Ok(Some(bytes)),
            Ok(_) => {}
            // It is not what was put there.
            Err(error) if error.kind() == io::ErrorKind::InvalidData => {
                let _ = files.delete(&name).await;
                return Ok(None);
            }
            Err(error) => return Err(error),
        }
    }
}

/// Checks a table that was fetched and puts it into a folder.
async fn put_down(dir: &Path, flavour: Flavour, ending: Ending, bytes: Vec<u8>) -> Result<(), FleetError> {
    let dir = dir.to_owned();
    aside(move || adopt(&dir, flavour, &ending, &bytes)).await
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
