//! `Journal`: the one file that says what was played.
//!
//! A folder of a match holds four files:
//!
//! | file | what it is |
//! |---|---|
//! | `journal` | the plan, then every pair that was played, in the order in which they were finished |
//! | `games.anqi` | all games in the order of the plan, made from the journal when everything is played |
//! | `engines` | who plays: a line for each contender of the plan, its fingerprint or `-` |
//! | `lock` | locked while a runner is at work |
//!
//! An entry of the journal is a line `pair NUMBER LENGTH CHECKSUM`, so many bytes of text (the two records), and a line
//! break; the checksum (CRC-32, eight hexadecimal digits) covers number, length and text. The journal begins with the
//! line `anqi-journal 1` and the plan as an entry `plan 0 LENGTH CHECKSUM`.
//!
//! **A pair is in the journal whole or not at all.** An entry is written with one call after both games are over. What
//! is written survives the death of the runner, however it dies. It is forced to the disk once a second and at the
//! end, so a power failure costs the pairs of the last second at most; these are played again. When a journal is opened
//! anything after its last whole entry is cut off; a damaged entry between whole ones is passed over, and its pair is
//! played again.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, BufRead, BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use anqi_rules::excerpt;

use crate::cast::Cast;
use crate::pair::{PairError, PlayedPair};
use crate::plan::{Plan, PlanError};
use crate::whole::write_whole;

const JOURNAL: &str = "journal";
const LOCK: &str = "lock";
const GAMES: &str = "games.anqi";
const ENGINES: &str = "engines";
const MAGIC: &str = "anqi-journal 1\n";
/// No pair is longer: two records of the largest size.
const LONGEST: u64 = 64 << 20;
const SYNC_EVERY: Duration = Duration::from_secs(1);
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// A journal that is open for one runner.
#[derive(Debug)]
pub struct Journal {
    dir: PathBuf,
    plan: Plan,
    file: File,
    /// Where the next entry goes.
    end: u64,
    /// Where the text of each pair is.
    pairs: BTreeMap<u64, Range<u64>>,
    synced: Instant,
    /// How many bytes were passed over or cut off when it was opened.
    damaged: u64,
    /// Held as long as the journal is.
    _lock: File,
}

/// What can go wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// Another runner is at work.
    #[error("{0}: another runner is at work in this folder")]
    Locked(String),
    /// There is no journal.
    #[error("{0}: there is no journal in this folder")]
    Missing(String),
    /// A file that is no journal of ours.
    #[error("{path}: not a journal, it begins with {beginning:?}")]
    NotAJournal {
        /// The file.
        path: String,
        /// Its beginning.
        beginning: String,
    },
    /// The plan in it is damaged.
    #[error("{0}: the plan at its beginning is damaged")]
    DamagedPlan(String),
    /// The plan in it is none.
    #[error("{path}: {error}")]
    Plan {
        /// The file.
        path: String,
        /// What is wrong.
        error: PlanError,
    },
    /// The folder belongs to another plan.
    #[error("{path} holds another match, take another folder:\n{difference}")]
    OtherPlan {
        /// The folder.
        path: String,
        /// Where the plans differ.
        difference: String,
    },
    /// The games in the folder were played by other engines.
    #[error(
        "{path} holds games of other engines:\n{strangers}go on with the engines of then (version, network and tables), or take another folder"
    )]
    OtherEngines {
        /// The folder.
        path: String,
        /// Who differs, with both fingerprints.
        strangers: String,
    },
    /// An entry is not what it should be.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// A pair that is not there.
    #[error("pair {0} is not in the journal")]
    NotPlayed(u64),
}

impl Journal {
    /// Opens the journal in a folder, or begins one there. A folder that holds another plan is left alone.
    ///
    /// # Errors
    /// If the folder belongs to another plan or runner, or cannot be written.
    pub fn open_or_create(dir: &Path, plan: &Plan) -> Result<Journal, JournalError> {
        fs::create_dir_all(dir).map_err(|error| io_error(dir, error))?;
        let lock = lock(dir)?;
        let path = dir.join(JOURNAL);
        if !path.exists() {
            let mut text = MAGIC.as_bytes().to_vec();
            text.extend(entry("plan", 0, &plan.to_string()));
            write_in(dir, JOURNAL, |out| out.write_all(&text))?;
        }
        let journal = Journal::read(dir, lock)?;
        if journal.plan != *plan {
            let difference = difference(&journal.plan.to_string(), &plan.to_string());
            return Err(JournalError::OtherPlan { path: dir.display().to_string(), difference });
        }
        Ok(journal)
    }

    /// Opens the journal in a folder.
    ///
    /// # Errors
    /// If there is none, or if it cannot be read or locked.
    pub fn open(dir: &Path) -> Result<Journal, JournalError> {
        if !dir.join(JOURNAL).exists() {
            return Err(JournalError::Missing(dir.display().to_string()));
        }
        Journal::read(dir, lock(dir)?)
    }

    fn read(dir: &Path, lock: File) -> Result<Journal, JournalError> {
        let path = dir.join(JOURNAL);
        let failed = |error| io_error(&path, error);
        let file = OpenOptions::new().read(true).write(true).open(&path).map_err(failed)?;
        let mut scan = Scan::new(&file).map_err(failed)?;
        let plan = scan.plan(&path)?;
        let pairs = scan.pairs().map_err(failed)?;
        let (end, damaged) = (scan.end, scan.damaged());
        file.set_len(end).map_err(failed)?;
        Ok(Journal { dir: dir.to_owned(), plan, file, end, pairs, synced: Instant::now(), damaged, _lock: lock })
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file itself.
    #[must_use]
    pub fn file(&self) -> PathBuf {
        self.dir.join(JOURNAL)
    }

    /// What is to be played.
    #[must_use]
    pub const fn plan(&self) -> &Plan {
        &self.plan
    }

    /// How many bytes were damaged when it was opened.
    #[must_use]
    pub const fn damaged(&self) -> u64 {
        self.damaged
    }

    /// How many pairs of the plan are there.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.pairs.len() as u64
    }

    /// Whether no pair is there.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.pairs.is_empty()
    }

    /// Whether a pair is there.
    #[must_use]
    pub fn has(&self, number: u64) -> bool {
        self.pairs.contains_key(&number)
    }

    /// The pairs that are not there, in order.
    pub fn missing(&self) -> impl Iterator<Item = u64> {
        (0..self.plan.count()).filter(|number| !self.has(*number))
    }

    /// Writes a pair down. A pair that is there already stays as it is.
    ///
    /// # Errors
    /// If the plan has no such pair or the file cannot be written; then nothing was added.
    pub fn append(&mut self, pair: &PlayedPair) -> Result<(), JournalError> {
        if self.plan.pair(pair.number).is_none() {
            return Err(PairError::NoSuchPair(pair.number).into());
        }
        if self.has(pair.number) {
            return Ok(());
        }
        let text = pair.to_text();
        let bytes = entry("pair", pair.number, &text);
        let path = self.file();
        let failed = |error| io_error(&path, error);
        self.file.seek(SeekFrom::Start(self.end)).map_err(failed)?;
        if let Err(error) = self.file.write_all(&bytes) {
            // Whatever came through of it is not an entry.
            let _ = self.file.set_len(self.end);
            return Err(failed(error));
        }
        let next = self.end + bytes.len() as u64;
        self.pairs.insert(pair.number, next - 1 - text.len() as u64..next - 1);
        self.end = next;
        if self.synced.elapsed() >= SYNC_EVERY {
            self.sync()?;
        }
        Ok(())
    }

    /// Forces everything to the disk.
    ///
    /// # Errors
    /// If that fails.
    pub fn sync(&mut self) -> Result<(), JournalError> {
        self.file.sync_data().map_err(|error| io_error(&self.file(), error))?;
        self.synced = Instant::now();
        Ok(())
    }

    /// Reads a pair back.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn pair(&self, number: u64) -> Result<PlayedPair, JournalError> {
        Ok(PlayedPair::from_text(number, &self.text(number)?)?)
    }

    fn text(&self, number: u64) -> Result<String, JournalError> {
        let place = self.pairs.get(&number).ok_or(JournalError::NotPlayed(number))?;
        let read = || -> io::Result<String> {
            let mut file = &self.file;
            file.seek(SeekFrom::Start(place.start))?;
            let mut text = String::new();
            file.take(place.end - place.start).read_to_string(&mut text)?;
            Ok(text)
        };
        read().map_err(|error| io_error(&self.file(), error))
    }

    /// Writes the games of the first `count` pairs, in order, to `games.anqi`, which appears whole.
    ///
    /// # Errors
    /// If one of them was not played, or if the file cannot be written.
    pub fn write_games(&self, count: u64) -> Result<PathBuf, JournalError> {
        let mut gap = "";
        // What was played is checked before the old file is replaced.
        let mut failure = None;
        let written = write_in(&self.dir, GAMES, |out| {
            for number in 0..count {
                let text = self.text(number).map_err(|error| {
                    let message = error.to_string();
                    failure = Some(error);
                    io::Error::other(message)
                })?;
                out.write_all(gap.as_bytes())?;
                out.write_all(text.as_bytes())?;
                gap = "\n";
            }
            Ok(())
        });
        match failure {
            Some(failure) => Err(failure),
            None => written.map(|()| self.dir.join(GAMES)),
        }
    }
}

impl Journal {
    /// Compares who is to play now with who has played what is there. In a folder without games it is written down who plays.
    /// A note if that is not known of the games that are there.
    ///
    /// # Errors
    /// If a contender is another one now, or the folder cannot be read or written.
    pub fn admit(&mut self, cast: &Cast) -> Result<Option<String>, JournalError> {
        let path = self.dir.join(ENGINES);
        match fs::read_to_string(&path) {
            Ok(lines) => {
                let strangers = cast.strangers(&self.plan, &lines);
                if strangers.is_empty() {
                    return Ok(None);
                }
                Err(JournalError::OtherEngines { path: self.dir.display().to_string(), strangers })
            }
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let unknown = !self.is_empty();
                write_in(&self.dir, ENGINES, |out| out.write_all(cast.to_lines().as_bytes()))?;
                Ok(unknown
                    .then(|| "it is not known who played the games that are there: they go on as they are".to_owned()))
            }
            Err(error) => Err(io_error(&path, error)),
        }
    }
}

/// The bytes of an entry.
fn entry(kind: &str, number: u64, text: &str) -> Vec<u8> {
    let head = format!("{kind} {number} {}", text.len());
    let checksum = checksum(&head, text.as_bytes());
    format!("{head} {checksum:08x}\n{text}\n").into_bytes()
}

fn checksum(head: &str, text: &[u8]) -> u32 {
    let mut hasher = crc32fast::Hasher::new();
    hasher.update(head.as_bytes());
    hasher.update(text);
    hasher.finalize()
}

/// Reads a journal from its beginning, past whatever is damaged.
struct Scan<'a> {
    reader: BufReader<&'a File>,
    length: u64,
    /// Where the last whole entry ends.
    end: u64,
    /// How many bytes are whole.
    whole: u64,
}

/// A whole entry.
struct Entry {
    kind: String,
    number: u64,
    text: Vec<u8>,
    place: Range<u64>,
}

impl<'a> Scan<'a> {
    fn new(file: &'a File) -> io::Result<Scan<'a>> {
        Ok(Scan { reader: BufReader::with_capacity(1 << 16, file), length: file.metadata()?.len(), end: 0, whole: 0 })
    }

    fn damaged(&self) -> u64 {
        self.length - self.whole
    }

    fn plan(&mut self, path: &Path) -> Result<Plan, JournalError> {
        let failed = |error| io_error(path, error);
        let shown = || path.display().to_string();
        let mut magic = Vec::new();
        self.reader.by_ref().take(MAGIC.len() as u64).read_to_end(&mut magic).map_err(failed)?;
        if magic != MAGIC.as_bytes() {
            let beginning = excerpt(&String::from_utf8_lossy(&magic));
            return Err(JournalError::NotAJournal { path: shown(), beginning });
        }
        self.whole = MAGIC.len() as u64;
        let entry = self.entry(self.whole).map_err(failed)?.filter(|entry| entry.kind == "plan");
        let text = entry.and_then(|entry| String::from_utf8(entry.text).ok());
        let text = text.ok_or_else(|| JournalError::DamagedPlan(shown()))?;
        text.parse().map_err(|error| JournalError::Plan { path: shown(), error })
    }

    fn pairs(&mut self) -> io::Result<BTreeMap<u64, Range<u64>>> {
        let mut pairs = BTreeMap::new();
        let mut at = self.end;
        while at < self.length {
            match self.entry(at)? {
                Some(entry) => {
                    at = self.end;
                    pairs.entry(entry.number).or_insert(entry.place);
                }
                None => at = self.next_line(at)?,
            }
        }
        Ok(pairs)
    }

    /// The entry that begins at `at`, if a whole one does.
    fn entry(&mut self, at: u64) -> io::Result<Option<Entry>> {
        self.reader.seek(SeekFrom::Start(at))?;
        let mut head = Vec::new();
        self.reader.by_ref().take(80).read_until(b'\n', &mut head)?;
        let Some((kind, number, length, expected)) = parse_head(&head) else { return Ok(None) };
        let start = at + head.len() as u64;
        let Some(end) = start.checked_add(length).filter(|&end| length <= LONGEST && end < self.length) else {
            return Ok(None);
        };
        let mut text = Vec::new();
        self.reader.by_ref().take(length + 1).read_to_end(&mut text)?;
        let sound = text.pop() == Some(b'\n') && checksum(&format!("{kind} {number} {length}"), &text) == expected;
        if !sound {
            return Ok(None);
        }
        self.end = end + 1;
        self.whole += end + 1 - at;
        Ok(Some(Entry { kind, number, text, place: start..end }))
    }

    fn next_line(&mut self, at: u64) -> io::Result<u64> {
        self.reader.seek(SeekFrom::Start(at))?;
        Ok(at + self.reader.skip_until(b'\n')? as u64)
    }
}

fn parse_head(line: &[u8]) -> Option<(String, u64, u64, u32)> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let mut words = line.split(' ');
    let kind = words.next().filter(|kind| ["plan", "pair"].contains(kind))?.to_owned();
    let head = (kind, words.next()?.parse().ok()?, words.next()?.parse().ok()?);
    let checksum = u32::from_str_radix(words.next()?, 16).ok()?;
    words.next().is_none().then_some((head.0, head.1, head.2, checksum))
}

fn lock(dir: &Path) -> Result<File, JournalError> {
    let path = dir.join(LOCK);
    let file = OpenOptions::new().create(true).truncate(false).write(true).open(&path);
    let file = file.map_err(|error| io_error(&path, error))?;
    let started = Instant::now();
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            // A runner that was killed while it started a program leaves the lock to that program until it runs.
            Err(TryLockError::WouldBlock) if started.elapsed() < LOCK_PATIENCE => thread::sleep(LOCK_PATIENCE / 50),
            Err(TryLockError::WouldBlock) => return Err(JournalError::Locked(dir.display().to_string())),
            Err(TryLockError::Error(error)) => return Err(io_error(&path, error)),
        }
    }
}

/// Writes a file of the folder, which is locked, whole.
pub(crate) fn write_in(
    dir: &Path,
    name: &str,
    fill: impl FnOnce(&mut BufWriter<File>) -> io::Result<()>,
) -> Result<(), JournalError> {
    let path = dir.join(name);
    write_whole(&path, fill).map_err(|error| io_error(&path, error))
}

fn io_error(path: &Path, error: io::Error) -> JournalError {
    JournalError::Io { path: path.display().to_string(), error }
}

/// The lines in which two plans differ.
fn difference(there: &str, here: &str) -> String {
    let only = |text: &str, other: &str, mark: &str| {
        let lines = text.lines().filter(|line| !other.lines().any(|known| known == *line));
        lines.map(|line| format!("  {mark} {line}\n")).collect::<String>()
    };
    let both = only(there, here, "there:") + &only(here, there, "here: ");
    both.trim_end().to_owned()
}
