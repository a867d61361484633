//! `LineJournal`: what happened, in the order in which it happened, in a file that loses nothing.
//!
//! ```text
//! anqi game 2
//! head 0 25 8c736521 {"rules":"server","date":…}
//! ply 1 18 a5e2ad0b {"ply":"c4(k)"}
//! ```
//!
//! The first line names kind and version, the second has what all entries depend on, and every other is one entry: its kind,
//! its number, the length of its text in bytes, a CRC-32 of all that, and the text. Line breaks in a text are written `\n`.
//! A file of an older version goes on in that version.

mod framing;
mod scan;

use std::fmt;
use std::io::{self, Write};
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::thread;
use std::time::Instant;

use framing::TornMark;
pub use framing::{DamageReason, Framing, JournalLine};
use scan::{Event, Scan, Tail};

use crate::FolderLock;
use crate::disk::{self, Access, Open};
use crate::lock::patiently_lock;
use crate::sync::{JournalFile, Syncer};
use crate::whole::{PATIENCE, PAUSE, Part};

const VERSION: u32 = 2;
/// More damaged lines than these are counted only.
const MOST_NAMED: usize = 100;

/// What a kind of journal holds.
pub trait JournalFormat {
    /// Names the kind in the first line.
    const NAME: &'static str;
    /// Whether each entry needs those before it, as the plies of a game do. Then reading ends at the first damaged line, and
    /// nothing is appended after it.
    const ORDERED: bool;
    /// How files of version 1 look.
    const OLD: Option<Old>;
    /// What all entries depend on.
    type Head;
    /// One entry.
    type Entry;

    /// The text of a head.
    fn write_head(head: &Self::Head) -> String;
    /// Reads what [`write_head`](JournalFormat::write_head) wrote, or what an old file has.
    ///
    /// # Errors
    /// Says what is wrong with it.
    fn read_head(text: &str) -> Result<Self::Head, String>;
    /// The text of an entry. If entries are ordered their numbers are given by the journal.
    fn write(entry: &Self::Entry) -> JournalLine<'_>;
    /// Reads what [`write`](JournalFormat::write) wrote.
    ///
    /// # Errors
    /// Says what is wrong with it.
    fn read(line: JournalLine<'_>) -> Result<Self::Entry, String>;
}

/// How files of version 1 look.
#[derive(Clone, Copy, Debug)]
pub struct Old {
    /// What the first line begins with; empty if there was none.
    pub first_line: &'static str,
    /// Where the head is.
    pub head: OldHead,
    /// How entries are written.
    pub framing: Framing,
}

/// Where the head of an old file is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OldHead {
    /// Nowhere: it is read from an empty text.
    None,
    /// After the beginning of the first line.
    FirstLine,
    /// It is the first entry.
    Entry,
}

/// Where an entry is in the file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Place {
    from: u64,
    to: u64,
}

/// A line that is not what was written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Damage {
    /// Its number, from 1.
    pub line: u64,
    /// What is wrong with it.
    pub reason: DamageReason,
}

impl fmt::Display for Damage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {} is damaged: {}", self.line, self.reason)
    }
}

/// All damage that was found, and the line that was cut off at the end, which is none.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Damages {
    named: Vec<Damage>,
    count: u64,
    torn: Option<u64>,
}

impl Damages {
    /// Whether there is nothing to tell.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0 && self.torn.is_none()
    }

    /// How many lines are damaged.
    #[must_use]
    pub fn count(&self) -> u64 {
        self.count
    }

    /// The first of them.
    #[must_use]
    pub fn named(&self) -> &[Damage] {
        &self.named
    }

    /// The number of the last line, if it was cut off. It was never acknowledged.
    #[must_use]
    pub fn torn(&self) -> Option<u64> {
        self.torn
    }

    fn add(&mut self, damage: Damage) {
        self.count += 1;
        if self.named.len() < MOST_NAMED {
            self.named.push(damage);
        }
    }
}

impl fmt::Display for Damages {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut notes: Vec<String> = self.named.iter().map(ToString::to_string).collect();
        let more = self.count - self.named.len() as u64;
        if more > 0 {
            notes.push(format!("{more} more lines are damaged"));
        }
        notes.extend(self.torn.map(|line| format!("line {line} was cut off before it was acknowledged")));
        f.write_str(&notes.join("; "))
    }
}

/// What can go wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum JournalError {
    /// The file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// There is no file.
    #[error("{0}: there is no such journal")]
    Missing(String),
    /// Another process appends to it.
    #[error("{0}: another process is using it; wait for it, or take another file")]
    InUse(String),
    /// A file of something else, which is left as it is.
    #[error("{path}: not a journal of kind {kind:?}: line 1 is {beginning:?}")]
    Foreign {
        /// The file.
        path: String,
        /// What was expected.
        kind: &'static str,
        /// Its beginning.
        beginning: String,
    },
    /// It is newer than this program.
    #[error("{path}: line 1 says version {version:?}, this program reads versions up to {VERSION}; take a newer anqi")]
    Newer {
        /// The file.
        path: String,
        /// What the first line says.
        version: String,
    },
    /// The head cannot be read: nothing is known of what the entries depend on.
    #[error("{path}: line {line}, the head, is damaged: {reason}; take another file, or restore this one from a copy")]
    Head {
        /// The file.
        path: String,
        /// Which line.
        line: u64,
        /// What is wrong with it.
        reason: DamageReason,
    },
    /// A damaged line between those that depend on one another.
    #[error("{path}: {damage}; it can be read up to there, and go on in a new file")]
    Damaged {
        /// The file.
        path: String,
        /// What is wrong.
        damage: Damage,
    },
    /// It was opened for reading.
    #[error("{0}: the journal is open for reading only")]
    ReadOnly(String),
    /// What an append that failed has left cannot be found out.
    #[error("{0}: it is not known what the last write left in the file; close it and open it again")]
    Unknown(String),
    /// The disk could not be forced.
    #[error("{path}: what was written may be lost at a power cut: {error}")]
    NotSynced {
        /// The file.
        path: String,
        /// The kind of the error.
        kind: io::ErrorKind,
        /// Its text.
        error: String,
    },
    /// The file has no name any more.
    #[error("the journal {0} was deleted while in use")]
    Gone(String),
    /// The thread that forces the disk is not there.
    #[error("{0}: the sync thread has stopped; what was written may be lost at a power cut")]
    NoThread(String),
}

impl JournalError {
    /// The message with the name of the file alone: those at the other end of a network need not know the folder.
    #[must_use]
    pub fn without_folder(&self) -> String {
        let path = match self {
            JournalError::Missing(path)
            | JournalError::InUse(path)
            | JournalError::ReadOnly(path)
            | JournalError::Unknown(path)
            | JournalError::Gone(path)
            | JournalError::NoThread(path)
            | JournalError::Io { path, .. }
            | JournalError::Foreign { path, .. }
            | JournalError::Newer { path, .. }
            | JournalError::Head { path, .. }
            | JournalError::Damaged { path, .. }
            | JournalError::NotSynced { path, .. } => path,
        };
        let name = Path::new(path).file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
        self.to_string().replacen(path.as_str(), &name, 1)
    }
}

/// How other processes are kept away from a file that is appended to.
#[derive(Clone, Copy, Debug)]
pub enum Owner<'a> {
    /// The file itself is locked.
    Alone,
    /// Its folder is.
    Folder(&'a FolderLock),
}

/// A journal that is open, for reading or for appending.
pub struct LineJournal<F: JournalFormat> {
    file: Arc<JournalFile>,
    framing: Framing,
    head: F::Head,
    /// The line of the head.
    head_line: u64,
    damages: Damages,
    writer: Option<Appender>,
    format: PhantomData<fn() -> F>,
}

/// What appending needs.
#[derive(Debug)]
struct Appender {
    syncer: Syncer,
    /// How long the file is.
    end: u64,
    /// What comes after the last line break; nothing is known of it after an error of an error.
    tail: Option<Tail>,
    /// The number of the next entry, if entries are ordered.
    next: u64,
}

impl<F: JournalFormat> LineJournal<F> {
    /// Reads a file without changing it; `meet` gets every sound entry, in order.
    ///
    /// # Errors
    /// If there is none, it is none of these, or its head is damaged. Damaged lines are no error, see
    /// [`damages`](LineJournal::damages).
    pub fn read(path: &Path, meet: impl FnMut(F::Entry, Place)) -> Result<LineJournal<F>, JournalError> {
        let handle = disk::open(path, Open::Read).map_err(|error| missing_or(path, error))?;
        LineJournal::scan(JournalFile::new(path, handle), meet).map(|(journal, ..)| journal)
    }

    /// Opens a file to append to it; `meet` gets every sound entry, in order.
    ///
    /// # Errors
    /// As [`read`](LineJournal::read); if another process uses it; or if entries are ordered and a line is damaged.
    pub fn open(
        path: &Path,
        owner: Owner<'_>,
        syncer: &Syncer,
        meet: impl FnMut(F::Entry, Place),
    ) -> Result<LineJournal<F>, JournalError> {
        let file = own(path, owner, Open::Append).map_err(|error| match error {
            JournalError::Io { error, .. } => missing_or(path, error),
            error => error,
        })?;
        LineJournal::go_on(file, syncer, meet)
    }

    /// The same, or a new file with this head if there is none yet, or one whose making was cut short.
    ///
    /// # Errors
    /// As [`open`](LineJournal::open), and if the file cannot be made. Whether it has this head is for the caller to see.
    pub fn open_or_create(
        path: &Path,
        owner: Owner<'_>,
        access: Access,
        head: &F::Head,
        syncer: &Syncer,
        meet: impl FnMut(F::Entry, Place),
    ) -> Result<LineJournal<F>, JournalError> {
        let failed = |error| io_error(path, error);
        let beginning = beginning::<F>(head);
        // A file that has only the beginning of this was being made when the process died, before files appeared whole.
        let is_there = || -> io::Result<bool> {
            if !disk::exists(path) {
                return Ok(false);
            }
            let is = first_bytes(path, beginning.len())?;
            Ok(is.len() == beginning.len() || !beginning.starts_with(&is))
        };
        let started = Instant::now();
        while !is_there().map_err(failed)? {
            match Part::begin(path, access).map_err(failed)? {
                // Another process may have made it in between.
                Some(mut part) if !is_there().map_err(failed)? => {
                    part.write_all(&beginning).map_err(failed)?;
                    part.finish().map_err(failed)?;
                }
                Some(_) => {}
                None if started.elapsed() < PATIENCE => thread::sleep(PAUSE),
                None => return Err(JournalError::InUse(path.display().to_string())),
            }
        }
        let file = own(path, owner, Open::Append)?;
        LineJournal::go_on(file, syncer, meet)
    }

    /// A new file with this head and these entries, which is there with all of them or not at all. `None` if there is a file.
    ///
    /// # Errors
    /// If it cannot be made, or another process is making it.
    pub fn create(
        path: &Path,
        owner: Owner<'_>,
        access: Access,
        head: &F::Head,
        entries: &[F::Entry],
        syncer: &Syncer,
    ) -> Result<Option<LineJournal<F>>, JournalError> {
        let failed = |error| io_error(path, error);
        let Some(mut part) = Part::begin(path, access).map_err(failed)? else {
            return Err(JournalError::InUse(path.display().to_string()));
        };
        if disk::exists(path) {
            return Ok(None);
        }
        let (lines, _) = encode_all::<F>(Framing::Lines, entries, 1);
        let bytes = [beginning::<F>(head), lines].concat();
        part.write_all(&bytes).map_err(failed)?;
        part.finish().map_err(failed)?;
        LineJournal::go_on(own(path, owner, Open::Append)?, syncer, |_, _| {}).map(Some)
    }

    fn go_on(
        file: JournalFile,
        syncer: &Syncer,
        meet: impl FnMut(F::Entry, Place),
    ) -> Result<LineJournal<F>, JournalError> {
        let (mut journal, tail, next) = LineJournal::<F>::scan(file, meet)?;
        if let (true, Some(damage)) = (F::ORDERED, journal.damages.named.first()) {
            let path = journal.file.path.display().to_string();
            return Err(JournalError::Damaged { path, damage: damage.clone() });
        }
        let failed = |error| io_error(&journal.file.path, error);
        let end = journal.file.handle.len().map_err(failed)?;
        // The process that made the file may have failed to force its name to the disk.
        disk::sync_folder(disk::folder_of(&journal.file.path)).map_err(failed)?;
        journal.writer = Some(Appender { syncer: syncer.clone(), end, tail, next });
        // The process before this one may have been killed before it forced its last entries to the disk.
        syncer.want(&journal.file);
        Ok(journal)
    }

    /// Reads the file; gives what comes after its last line break, and the number of the next entry.
    fn scan(
        file: JournalFile,
        mut meet: impl FnMut(F::Entry, Place),
    ) -> Result<(LineJournal<F>, Option<Tail>, u64), JournalError> {
        let failed = |error| io_error(&file.path, error);
        let (framing, head_text, mut scan) = Beginning::of::<F>(&file)?;
        let path = || file.path.display().to_string();
        // In old files it may be on the first line, which is behind the scan.
        let head_at = if head_text.is_some() { 1 } else { scan.line() };
        let mut head = head_text.map(|text| F::read_head(&text).map_err(DamageReason::Content));
        if head.is_none() {
            scan.run(|event| {
                head = Some(match event {
                    Event::Entry(line, ..) => F::read_head(&line.text).map_err(DamageReason::Content),
                    Event::Damaged(damage) => Err(damage.reason),
                });
                ControlFlow::Break(())
            })
            .map_err(failed)?;
        }
        let head = head.unwrap_or(Err(DamageReason::NoLineEnd));
        let head = head.map_err(|reason| JournalError::Head { path: path(), line: head_at, reason })?;
        let (mut damages, mut next) = (Damages::default(), 1);
        let tail = scan.run(|event| {
            let damage = match event {
                Event::Damaged(damage) => damage,
                Event::Entry(line, place, number) => {
                    let said = line.number;
                    let read = if F::ORDERED && framing == Framing::Lines && said != next {
                        Err(DamageReason::Number { said, expected: next })
                    } else {
                        F::read(line).map_err(DamageReason::Content)
                    };
                    match read {
                        Ok(entry) => {
                            next += 1;
                            meet(entry, place);
                            return ControlFlow::Continue(());
                        }
                        Err(reason) => Damage { line: number, reason },
                    }
                }
            };
            damages.add(damage);
            if F::ORDERED { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        let tail = tail.map_err(failed)?;
        if let Some(Tail::Torn { line, .. }) = &tail {
            damages.torn = Some(*line);
        }
        let file = Arc::new(file);
        let journal =
            LineJournal { file, framing, head, head_line: head_at, damages, writer: None, format: PhantomData };
        Ok((journal, tail, next))
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.file.path
    }

    /// What all entries depend on.
    #[must_use]
    pub fn head(&self) -> &F::Head {
        &self.head
    }

    /// The number of the line that has the head.
    #[must_use]
    pub fn head_line(&self) -> u64 {
        self.head_line
    }

    /// What was damaged when it was opened.
    #[must_use]
    pub fn damages(&self) -> &Damages {
        &self.damages
    }

    /// Reads an entry again.
    ///
    /// # Errors
    /// If it cannot be read, or was damaged since.
    pub fn entry(&self, place: Place) -> Result<F::Entry, JournalError> {
        let bytes = self.file.handle.read_range(place.from, place.to).map_err(|error| io_error(self.path(), error))?;
        let entry = self.framing.decode(&bytes).and_then(|line| F::read(line).map_err(DamageReason::Content));
        entry.map_err(|reason| {
            let error = format!("the entry at byte {} is damaged: {reason}", place.from);
            io_error(self.path(), io::Error::new(io::ErrorKind::InvalidData, error))
        })
    }

    /// Appends an entry. When this returns it survives a kill of the process, and a second or two later a power cut.
    ///
    /// # Errors
    /// If it cannot be written; then it is not in the journal.
    pub fn append(&mut self, entry: &F::Entry) -> Result<Place, JournalError> {
        self.append_all(std::slice::from_ref(entry))
    }

    /// Appends entries that belong together with one call; gives the place of the first.
    ///
    /// # Errors
    /// If they cannot be written; then none is in the journal, or the journal must be opened again to see which are.
    pub fn append_all(&mut self, entries: &[F::Entry]) -> Result<Place, JournalError> {
        let path = &self.file.path;
        let writer = self.writer.as_mut().ok_or_else(|| JournalError::ReadOnly(path.display().to_string()))?;
        let (bytes, first) = encode_all::<F>(self.framing, entries, writer.next);
        let place = writer.append(&self.file, &bytes, first)?;
        writer.next += entries.len() as u64;
        writer.syncer.want(&self.file);
        Ok(place)
    }

    /// Forces everything to the disk now.
    ///
    /// # Errors
    /// If that fails, or did before, or the file was deleted.
    pub fn sync(&self) -> Result<(), JournalError> {
        self.file.sync()
    }

    /// Whether everything that should be on the disk by now is.
    ///
    /// # Errors
    /// Says why not.
    pub fn check(&self) -> Result<(), JournalError> {
        self.file.check()
    }

    /// Takes the file away: what was in it is kept elsewhere.
    ///
    /// # Errors
    /// If that fails.
    pub fn remove(&self) -> io::Result<()> {
        self.file.set_removed();
        disk::remove(&self.file.path)
    }
}

/// The path alone: head and entries may be secret.
impl<F: JournalFormat> fmt::Debug for LineJournal<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LineJournal").field("path", &self.file.path).finish_non_exhaustive()
    }
}

impl<F: JournalFormat> Drop for LineJournal<F> {
    fn drop(&mut self) {
        // A process that ends in good order leaves nothing unsynced; `sync` tells of an error.
        if self.writer.is_some() && self.file.is_dirty() {
            let _ = self.file.sync();
        }
    }
}

impl Appender {
    /// Writes the bytes of entries, of which the first has `first`, with one call, after closing a line that was left open.
    fn append(&mut self, file: &JournalFile, entries: &[u8], first: usize) -> Result<Place, JournalError> {
        let (torn, mut bytes) = match self.tail.as_ref() {
            None => return Err(JournalError::Unknown(file.path.display().to_string())),
            Some(Tail::Ended) => (&[][..], Vec::new()),
            Some(Tail::Open) => (&[][..], b"\n".to_vec()),
            Some(Tail::Torn { bytes, .. }) => (&bytes[..], format!("{}\n", TornMark::of(bytes)).into_bytes()),
        };
        let closing = bytes.len();
        bytes.extend(entries);
        let from = self.end + closing as u64;
        let place = Place { from, to: from + (first as u64).saturating_sub(1) };
        let Err(error) = file.handle.write_all(&bytes) else {
            (self.end, self.tail) = (self.end + bytes.len() as u64, Some(Tail::Ended));
            return Ok(place);
        };
        // Whatever came through of it stays; the next append closes it.
        let written = file.handle.len().and_then(|length| file.handle.read_range(self.end, length));
        let Ok(written) = written else {
            self.tail = None;
            return Err(io_error(&file.path, error));
        };
        self.end += written.len() as u64;
        if written == bytes {
            self.tail = Some(Tail::Ended);
            return Ok(place);
        }
        if written.len() >= closing && closing > 0 || (closing == 0 && !written.is_empty()) {
            let bytes = written[closing..].to_vec();
            if bytes.len() >= first {
                // Some of the entries are there and others are not.
                self.tail = None;
                return Err(io_error(&file.path, error));
            }
            self.tail = Some(if bytes.is_empty() { Tail::Ended } else { Tail::Torn { line: 0, at: 0, bytes } });
        } else if !written.is_empty() {
            self.tail = Some(Tail::Torn { line: 0, at: 0, bytes: [torn, &written].concat() });
        }
        Err(io_error(&file.path, error))
    }
}

/// The first line of a file, read.
struct Beginning;

impl Beginning {
    /// How entries are written, the text of the head if the first line has it, and a scan of what comes next.
    fn of<F: JournalFormat>(file: &JournalFile) -> Result<(Framing, Option<String>, Scan<'_>), JournalError> {
        let path = || file.path.display().to_string();
        let mut scan = Scan::new(&file.handle, Framing::Lines);
        let mut first = Vec::new();
        let ended = scan.read_line(&mut first).map_err(|error| io_error(&file.path, error))?;
        let text = String::from_utf8_lossy(&first);
        let line = text.strip_suffix('\n').unwrap_or(&text);
        let version = line.strip_prefix("anqi ").and_then(|rest| rest.strip_prefix(F::NAME)?.strip_prefix(' '));
        if version == Some(&VERSION.to_string()) && ended {
            return Ok((Framing::Lines, None, scan));
        }
        if let Some(Old { first_line, head, framing }) = F::OLD {
            if first_line.is_empty() && version.is_none() {
                return Ok((framing, None, Scan::new(&file.handle, framing)));
            }
            let rest = line.strip_prefix(first_line).filter(|_| ended && !first_line.is_empty());
            if let Some(rest) = rest.filter(|rest| head == OldHead::FirstLine || rest.is_empty()) {
                scan.set_framing(framing);
                let head = match head {
                    OldHead::None => Some(String::new()),
                    OldHead::FirstLine => Some(rest.to_owned()),
                    OldHead::Entry => None,
                };
                return Ok((framing, head, scan));
            }
        }
        match version {
            Some(version) if ended && version.parse::<u32>().is_ok_and(|version| version > VERSION) => {
                Err(JournalError::Newer { path: path(), version: version.to_owned() })
            }
            _ => Err(JournalError::Foreign { path: path(), kind: F::NAME, beginning: crate::excerpt(line) }),
        }
    }
}

/// The lines of a new file before its entries.
fn beginning<F: JournalFormat>(head: &F::Head) -> Vec<u8> {
    let mut beginning = format!("anqi {} {VERSION}\n", F::NAME).into_bytes();
    beginning.extend(Framing::Lines.encode(&JournalLine::new("head", 0, F::write_head(head))));
    beginning
}

/// The bytes of entries, and how many of them the first has. `next` is its number, if entries are ordered.
fn encode_all<F: JournalFormat>(framing: Framing, entries: &[F::Entry], next: u64) -> (Vec<u8>, usize) {
    let (mut bytes, mut first) = (Vec::new(), None);
    for (entry, number) in entries.iter().zip(next..) {
        let mut line = F::write(entry);
        if F::ORDERED {
            line.number = number;
        }
        bytes.extend(framing.encode(&line));
        first.get_or_insert(bytes.len());
    }
    (bytes, first.unwrap_or_default())
}

/// Opens a file and keeps other processes away from it.
fn own(path: &Path, owner: Owner<'_>, how: Open) -> Result<JournalFile, JournalError> {
    let failed = |error| io_error(path, error);
    loop {
        let handle = disk::open(path, how).map_err(failed)?;
        match owner {
            Owner::Folder(lock) if disk::folder_of(path) == lock.dir() => return Ok(JournalFile::new(path, handle)),
            // A lock on another folder does not protect this file.
            Owner::Folder(_) | Owner::Alone => {}
        }
        if !patiently_lock(&handle).map_err(failed)? {
            return Err(JournalError::InUse(path.display().to_string()));
        }
        // The process that had it may have taken the file away.
        if handle.is_at(path).map_err(failed)? {
            return Ok(JournalFile::new(path, handle));
        }
    }
}

fn first_bytes(path: &Path, most: usize) -> io::Result<Vec<u8>> {
    let handle = disk::open(path, Open::Read)?;
    let length = handle.len()?.min(most as u64);
    handle.read_range(0, length)
}

fn io_error(path: &Path, error: io::Error) -> JournalError {
    JournalError::Io { path: path.display().to_string(), error }
}

fn missing_or(path: &Path, error: io::Error) -> JournalError {
    if error.kind() == io::ErrorKind::NotFound {
        return JournalError::Missing(path.display().to_string());
    }
    io_error(path, error)
}
