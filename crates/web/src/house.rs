//! The house: all tables, the folder they are kept in, and those who think.

use std::collections::{HashMap, HashSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime};

use anqi_engine::Stop;
use anqi_records::{Reader, Record};
use anqi_rules::{Seed, excerpt};
use serde::Serialize;
use tokio::sync::{Semaphore, watch};

use crate::journal::write_whole;
use crate::seat::Sitter;
use crate::study::Endings;
use crate::table::{Table, TableError, Wish, journal_path, record_path};
use crate::view::GameView;

/// All games of a folder. One server at a time.
#[expect(missing_debug_implementations, reason = "it holds deals")]
pub struct House {
    dir: PathBuf,
    tables: Mutex<HashMap<String, Arc<Seated>>>,
    /// Where deals come from: the system, or in tests a seed and how many there were.
    secret: Option<Seed>,
    games: AtomicU64,
    /// Those who choose moves, and those who study; neither waits for the other.
    pub(crate) players: Semaphore,
    pub(crate) students: Semaphore,
    pub(crate) endings: Endings,
    _lock: File,
}

/// A table, and how its pages hear of it.
pub(crate) struct Seated {
    table: Mutex<Table>,
    /// The game as JSON after every change.
    views: watch::Sender<Arc<str>>,
    /// Whoever thinks at this table now.
    thinking: Mutex<(Option<u64>, Stop)>,
}

/// Why a house cannot be opened, or what was asked of it cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum HouseError {
    /// Another server has it.
    #[error("another server keeps the games in {0}: close it, or choose another folder with --games")]
    Locked(String),
    /// The folder cannot be used.
    #[error("cannot use the folder {path} for games: {error}")]
    Folder {
        /// The folder.
        path: String,
        /// What is wrong.
        error: io::Error,
    },
}

/// One line of the list of games.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Listed {
    game: String,
    date: Option<String>,
    first: String,
    second: String,
    result: &'static str,
    reason: Option<String>,
    plies: usize,
    in_play: bool,
}

/// What came of an import.
#[derive(Default, Serialize)]
pub(crate) struct Imported {
    schema: &'static str,
    games: Vec<String>,
    errors: Vec<String>,
}

/// The newest games that a list shows.
const MOST_LISTED: usize = 200;
/// No paste holds more games.
const MOST_IMPORTED: usize = 200;

impl House {
    /// Opens the folder, and makes it if need be. `secret` fixes every deal: for tests.
    ///
    /// # Errors
    /// If the folder cannot be used, or another server uses it.
    pub fn open(dir: &Path, secret: Option<Seed>) -> Result<Arc<House>, HouseError> {
        let failed = |error| HouseError::Folder { path: dir.display().to_string(), error };
        fs::create_dir_all(dir).map_err(failed)?;
        let lock =
            OpenOptions::new().create(true).truncate(false).write(true).open(dir.join("lock")).map_err(failed)?;
        match lock.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => return Err(HouseError::Locked(dir.display().to_string())),
            Err(TryLockError::Error(error)) => return Err(failed(error)),
        }
        let cores = available_parallelism().map_or(1, usize::from);
        Ok(Arc::new(House {
            dir: dir.to_owned(),
            tables: Mutex::default(),
            secret,
            games: AtomicU64::new(0),
            players: Semaphore::new(cores),
            students: Semaphore::new(cores.div_ceil(2)),
            endings: Endings::default(),
            _lock: lock,
        }))
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    fn tables(&self) -> MutexGuard<'_, HashMap<String, Arc<Seated>>> {
        self.tables.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn new_secret(&self) -> io::Result<Seed> {
        if let Some(secret) = &self.secret {
            return Ok(secret.child(self.games.fetch_add(1, Ordering::Relaxed).to_le_bytes()));
        }
        let mut bytes = [0; 32];
        getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
        Ok(Seed::from(bytes))
    }

    /// Begins a game.
    pub(crate) fn begin(self: &Arc<House>, wish: &Wish) -> Result<Arc<Seated>, TableError> {
        let secret = self.new_secret()?;
        let id = id_of(&secret);
        let table = Table::new(&self.dir, &id, wish, &secret, today())?;
        let seated = Seated::new(table);
        self.tables().insert(id, Arc::clone(&seated));
        self.go_on(&seated);
        Ok(seated)
    }

    /// A game by its name, in play or kept.
    pub(crate) fn find(self: &Arc<House>, id: &str) -> Result<Arc<Seated>, TableError> {
        let unknown = || TableError::Wish(format!("there is no game {:?}", excerpt(id)));
        if id.len() != ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        // Two pages that open one game must not open its journal twice.
        let mut tables = self.tables();
        if let Some(seated) = tables.get(id) {
            return Ok(Arc::clone(seated));
        }
        let table = if let Ok(text) = fs::read_to_string(record_path(&self.dir, id)) {
            // The record is written before the journal goes.
            let _ = fs::remove_file(journal_path(&self.dir, id));
            Table::of_record(id, &text.parse::<Record>()?)?
        } else if journal_path(&self.dir, id).exists() {
            Table::resume(&self.dir, id)?
        } else {
            return Err(unknown());
        };
        let seated = Seated::new(table);
        tables.insert(id.to_owned(), Arc::clone(&seated));
        drop(tables);
        self.go_on(&seated);
        Ok(seated)
    }

    /// Keeps the games of a text in any of our formats. Damaged ones are told, the others kept.
    pub(crate) fn import(&self, text: &str) -> io::Result<Imported> {
        let mut imported = Imported { schema: "anqi-import-1", ..Imported::default() };
        for entry in Reader::new(text.as_bytes())?.take(MOST_IMPORTED) {
            match entry {
                Err(error) => imported.errors.push(error.to_string()),
                Ok(entry) => match self.keep(&entry.record) {
                    Ok(id) => imported.games.push(id),
                    Err(TableError::Io(error)) => return Err(error),
                    Err(error) => imported.errors.push(format!("line {}: {error}", entry.line)),
                },
            }
        }
        if imported.games.is_empty() && imported.errors.is_empty() {
            imported.errors.push("there is no game in this text".to_owned());
        }
        Ok(imported)
    }

    /// Keeps a record, and gives its name: the same for the same record.
    pub(crate) fn keep(&self, record: &Record) -> Result<String, TableError> {
        let text = record.to_string();
        let id = id_of(&Seed::from([7; 32]).child(&text));
        Table::of_record(&id, record)?;
        let path = record_path(&self.dir, &id);
        if !path.exists() {
            write_whole(&path, text.as_bytes())?;
        }
        Ok(id)
    }

    /// The newest games first.
    pub(crate) fn list(self: &Arc<House>) -> io::Result<Vec<Listed>> {
        let mut found: Vec<(SystemTime, String)> = Vec::new();
        for entry in fs::read_dir(&self.dir)? {
            let entry = entry?;
            let path = entry.path();
            let ours = path.extension().is_some_and(|extension| extension == "anqi" || extension == "journal");
            let Some(id) = path.file_stem().and_then(|stem| stem.to_str()).filter(|_| ours) else { continue };
            let changed = entry.metadata().and_then(|metadata| metadata.modified());
            found.push((changed.unwrap_or(SystemTime::UNIX_EPOCH), id.to_owned()));
        }
        found.sort_by(|a, b| b.cmp(a));
        let mut seen = HashSet::new();
        found.retain(|(_, id)| seen.insert(id.clone()));
        found.truncate(MOST_LISTED);
        // A damaged file costs the list one line, not the list.
        Ok(found.iter().filter_map(|(_, id)| Some(Listed::of(&self.peek(id)?))).collect())
    }

    /// A record of a game without sitting down at it.
    fn peek(&self, id: &str) -> Option<(String, Record, bool)> {
        // Nobody sits down meanwhile: opening a journal cuts off what is torn.
        let tables = self.tables();
        if let Some(seated) = tables.get(id) {
            let table = seated.table();
            return Some((id.to_owned(), table.record(), table.is_in_play()));
        }
        if let Ok(text) = fs::read_to_string(record_path(&self.dir, id)) {
            return Some((id.to_owned(), text.parse().ok()?, false));
        }
        let table = Table::resume(&self.dir, id).ok()?;
        Some((id.to_owned(), table.record(), table.is_in_play()))
    }

    /// Tells the pages of a table, and lets an engine move and the clock run.
    pub(crate) fn go_on(self: &Arc<House>, seated: &Arc<Seated>) {
        let table = seated.table();
        seated.publish(&table);
        let version = table.version();
        let engine = table.to_move().and_then(Sitter::engine).cloned();
        let clock = table.running_clock();
        let mut thinking = seated.thinking.lock().unwrap_or_else(PoisonError::into_inner);
        if thinking.0 == Some(version) {
            return;
        }
        thinking.1.raise();
        let stop = Stop::default();
        *thinking = (Some(version), stop.clone());
        if let Some((_, left)) = clock {
            let (house, seated) = (Arc::clone(self), Arc::clone(seated));
            tokio::spawn(async move {
                tokio::time::sleep(left + Duration::from_millis(1)).await;
                let fallen = seated.at_version(version, |table| table.fall_flag(&house.dir));
                if matches!(fallen, Some(Ok(true))) {
                    house.go_on(&seated);
                }
            });
        }
        let Some(engine) = engine else { return };
        let game = table.game().clone();
        // Nothing hidden goes into it: the game's public name and the ply.
        let seed = Seed::from([3; 32]).child(table.id()).child(game.plies().len().to_le_bytes());
        let (house, seated) = (Arc::clone(self), Arc::clone(seated));
        tokio::spawn(async move {
            let Ok(_permit) = house.players.acquire().await else { return };
            let thought = tokio::task::spawn_blocking(move || engine.choose(&game, clock, seed, &stop)).await;
            let Ok(Some(choice)) = thought else { return };
            // A table that has changed since has no use for it.
            let played = seated.at_version(version, |table| table.play(&house.dir, choice.mv));
            if played.is_some() {
                house.go_on(&seated);
            }
        });
    }
}

impl Seated {
    fn new(table: Table) -> Arc<Seated> {
        let views = watch::Sender::new(view(&table));
        Arc::new(Seated { table: Mutex::new(table), views, thinking: Mutex::default() })
    }

    pub(crate) fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Hears of every change from now on.
    pub(crate) fn views(&self) -> watch::Receiver<Arc<str>> {
        self.views.subscribe()
    }

    /// The game as a page sees it now; clocks have run since the last change.
    pub(crate) fn view(&self) -> Arc<str> {
        view(&self.table())
    }

    fn publish(&self, table: &Table) {
        self.views.send_replace(view(table));
    }

    /// Does something if nothing has happened since `version`.
    fn at_version<T>(&self, version: u64, act: impl FnOnce(&mut Table) -> T) -> Option<T> {
        let mut table = self.table();
        (table.version() == version).then(|| act(&mut table))
    }
}

fn view(table: &Table) -> Arc<str> {
    // Maps with text keys and numbers: this cannot fail.
    serde_json::to_string(&GameView::of(table)).unwrap_or_default().into()
}

impl Listed {
    fn of((id, record, in_play): &(String, Record, bool)) -> Listed {
        let tag = |name: &str| record.tags().get(name).map(str::to_owned);
        Listed {
            game: id.clone(),
            date: tag("Date"),
            first: tag("First").unwrap_or_else(|| "?".to_owned()),
            second: tag("Second").unwrap_or_else(|| "?".to_owned()),
            result: record.result().name(),
            reason: tag("Termination"),
            plies: record.plies().len(),
            in_play: *in_play,
        }
    }
}

const ID_DIGITS: usize = 16;

/// A public name; nobody finds the secret from it.
fn id_of(secret: &Seed) -> String {
    secret.child("name of a game").to_string()[..ID_DIGITS].to_owned()
}

/// `2026.11.15`, as records write it.
fn today() -> String {
    let now = time::OffsetDateTime::now_utc();
    format!("{:04}.{:02}.{:02}", now.year(), u8::from(now.month()), now.day())
}
