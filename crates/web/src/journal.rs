//! The journal of one game: what was agreed, then every ply, on disk before anybody is told.
//!
//! A text file of lines `CRC JSON`. A line that was cut short by a crash has no valid checksum: it was never
//! acknowledged, and is taken off when the file is opened again.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::iter;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, mpsc};
use std::thread;
use std::time::Duration;

use anqi_lab::write_whole;
use anqi_play::{Entry, Secret, Terms};
use anqi_rules::SeedError;
use serde::{Deserialize, Serialize};

/// One line.
#[derive(Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "lowercase")]
enum Line {
    /// What was agreed before the first ply; the first line.
    Game(Head),
    #[serde(untagged)]
    Happened(Entry),
}

/// The first line of a journal: the terms, and the seeds of the deal. Who reads it knows the deal.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    seed: String,
    nonce: String,
}

impl Head {
    pub(crate) fn new(terms: Terms, secret: &Secret) -> Head {
        Head { terms, seed: secret.seed().to_string(), nonce: secret.nonce().to_string() }
    }

    pub(crate) fn secret(&self) -> Result<Secret, SeedError> {
        Secret::parse(&self.seed, &self.nonce)
    }
}

/// A power cut may cost no more than this; a killed process costs nothing.
const SYNC_EVERY: Duration = Duration::from_secs(2);

/// The open file.
#[derive(Debug)]
pub(crate) struct Journal {
    paper: Arc<Paper>,
    end: u64,
    syncer: Syncer,
}

/// What journal and syncer share.
#[derive(Debug)]
struct Paper {
    path: PathBuf,
    file: File,
    /// Something was written that the disk may not have; the syncer knows.
    wet: AtomicBool,
    /// The game is kept elsewhere.
    removed: AtomicBool,
}

impl Paper {
    fn sync(&self) -> io::Result<()> {
        // What is written from here on waits for the next time.
        self.wet.store(false, Ordering::Relaxed);
        self.file.sync_data()?;
        if !self.path.exists() && !self.removed.load(Ordering::Acquire) {
            return Err(io::Error::new(io::ErrorKind::NotFound, "somebody has removed its file"));
        }
        Ok(())
    }
}

/// Whoever played need not wait for the disk: a thread forces to it what the journals of a house have got, and tells
/// what came of that.
#[derive(Clone, Debug)]
pub(crate) struct Syncer(mpsc::Sender<Arc<Paper>>);

impl Syncer {
    /// `report` hears of every journal by its path.
    pub(crate) fn start(report: impl Fn(&Path, io::Result<()>) + Send + 'static) -> io::Result<Syncer> {
        let (wet, papers) = mpsc::channel::<Arc<Paper>>();
        let dry = move || {
            while let Ok(first) = papers.recv() {
                thread::sleep(SYNC_EVERY);
                let all: Vec<_> = iter::once(first).chain(papers.try_iter()).collect();
                for paper in all {
                    report(&paper.path, paper.sync());
                }
            }
        };
        thread::Builder::new().name("syncer".to_owned()).spawn(dry)?;
        Ok(Syncer(wet))
    }
}

impl Journal {
    /// Begins a journal, which appears whole.
    pub(crate) fn create(path: &Path, head: Head, syncer: &Syncer) -> io::Result<Journal> {
        let text = line(&Line::Game(head))?;
        write_whole(path, |file| file.write_all(text.as_bytes()))?;
        Journal::at_end(path, text.len() as u64, syncer)
    }

    /// Opens a journal and reads it up to the first line that is not whole, from which on it is cut off.
    pub(crate) fn open(path: &Path, syncer: &Syncer) -> io::Result<(Head, Vec<Entry>, Journal)> {
        let text = fs::read(path)?;
        let (mut head, mut entries, mut end) = (None, Vec::new(), 0);
        for line in text.split_inclusive(|&byte| byte == b'\n') {
            match parse(line) {
                Some(Line::Game(first)) if head.is_none() => head = Some(first),
                Some(Line::Happened(entry)) if head.is_some() => entries.push(entry),
                _ => break,
            }
            end += line.len() as u64;
        }
        let invalid = || io::Error::new(io::ErrorKind::InvalidData, "the journal does not begin with what was agreed");
        Ok((head.ok_or_else(invalid)?, entries, Journal::at_end(path, end, syncer)?))
    }

    fn at_end(path: &Path, end: u64, syncer: &Syncer) -> io::Result<Journal> {
        let file = OpenOptions::new().append(true).open(path)?;
        file.set_len(end)?;
        let paper = Paper { path: path.to_owned(), file, wet: AtomicBool::new(false), removed: AtomicBool::new(false) };
        Ok(Journal { paper: Arc::new(paper), end, syncer: syncer.clone() })
    }

    /// Writes entries down. If that fails nothing of them stays.
    pub(crate) fn append(&mut self, entries: &[Entry]) -> io::Result<()> {
        let text = entries.iter().map(line).collect::<io::Result<String>>()?;
        let mut file = &self.paper.file;
        if let Err(error) = file.write_all(text.as_bytes()) {
            let _ = file.set_len(self.end);
            return Err(error);
        }
        self.end += text.len() as u64;
        if !self.paper.wet.swap(true, Ordering::Relaxed) {
            let gone = |_| io::Error::other("nobody is there to force it to the disk");
            self.syncer.0.send(Arc::clone(&self.paper)).map_err(gone)?;
        }
        Ok(())
    }

    /// Takes the file away: the game is kept elsewhere.
    pub(crate) fn remove(&self) -> io::Result<()> {
        self.paper.removed.store(true, Ordering::Release);
        fs::remove_file(&self.paper.path)
    }
}

fn line(entry: &impl Serialize) -> io::Result<String> {
    let json = serde_json::to_string(entry)?;
    Ok(format!("{:08x} {json}\n", crc32fast::hash(json.as_bytes())))
}

fn parse(line: &[u8]) -> Option<Line> {
    let line = std::str::from_utf8(line.strip_suffix(b"\n")?).ok()?;
    let (checksum, json) = line.split_once(' ')?;
    let checksum = u32::from_str_radix(checksum, 16).ok()?;
    if crc32fast::hash(json.as_bytes()) == checksum { serde_json::from_str(json).ok() } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head() -> Head {
        let terms = Terms {
            rules: "server".to_owned(),
            first: "person".to_owned(),
            second: "level:1".to_owned(),
            date: Some("2026.11.15".to_owned()),
            ..Terms::default()
        };
        Head { terms, seed: "1".to_owned(), nonce: "2".to_owned() }
    }

    fn ply(text: &str, clock: Option<u64>) -> Entry {
        Entry::Ply { ply: text.parse().unwrap(), clock: clock.map(Duration::from_millis) }
    }

    fn deaf() -> Syncer {
        Syncer::start(|_, _| {}).unwrap()
    }

    /// Cut anywhere, the journal holds exactly the entries whose last byte was written, and goes on from there.
    #[test]
    fn a_torn_line_never_was() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("game.journal");
        let syncer = deaf();
        let mut journal = Journal::create(&path, head(), &syncer).unwrap();
        let plies: Vec<Entry> = ["a1(K)", "b1(p)", "a1-a2"].map(|text| ply(text, None)).to_vec();
        let mut ends = vec![journal.end];
        for ply in &plies {
            journal.append(std::slice::from_ref(ply)).unwrap();
            ends.push(journal.end);
        }
        let whole = fs::read(&path).unwrap();
        for length in 0..=whole.len() {
            fs::write(&path, &whole[..length]).unwrap();
            let kept = ends.iter().filter(|&&end| end <= length as u64).count();
            match Journal::open(&path, &syncer) {
                Err(_) => assert_eq!(kept, 0),
                Ok((read, entries, mut journal)) => {
                    assert_eq!((read.terms, read.seed, read.nonce), (head().terms, head().seed, head().nonce));
                    assert_eq!(entries, plies[..kept - 1]);
                    journal.append(&[Entry::Back { plies: 1, clocks: None }]).unwrap();
                    assert_eq!(Journal::open(&path, &syncer).unwrap().1.len(), kept);
                }
            }
        }
    }

    #[test]
    fn a_flipped_bit_ends_it() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("game.journal");
        let syncer = deaf();
        let mut journal = Journal::create(&path, head(), &syncer).unwrap();
        let head = journal.end as usize;
        journal.append(&[ply("a1(K)", Some(5))]).unwrap();
        let whole = fs::read(&path).unwrap();
        for at in head..whole.len() - 1 {
            let mut damaged = whole.clone();
            damaged[at] ^= 1;
            fs::write(&path, &damaged).unwrap();
            assert!(Journal::open(&path, &syncer).unwrap().1.is_empty(), "byte {at}");
        }
    }

    /// Every two seconds somebody hears how it stands: of one that the system refuses to force to the disk, of one
    /// whose file was taken away, and of one that is over, whose file may go.
    #[test]
    fn what_does_not_reach_the_disk_is_told() {
        let dir = tempfile::tempdir().unwrap();
        let (tell, told) = mpsc::channel();
        let syncer = Syncer::start(move |path, result| {
            let name = path.file_name().unwrap().to_str().unwrap().to_owned();
            tell.send((name, result.map_err(|error| error.kind()))).unwrap();
        });
        let syncer = syncer.unwrap();
        let ply = ply("a1(K)", None);
        let begin = |name: &str, spoil: &dyn Fn(&mut Journal)| {
            let mut journal = Journal::create(&dir.path().join(name), head(), &syncer).unwrap();
            spoil(&mut journal);
            journal.append(std::slice::from_ref(&ply)).unwrap();
            journal
        };
        begin("sound", &|_| {});
        begin("refused", &|journal| {
            let paper = Arc::get_mut(&mut journal.paper).unwrap();
            paper.file = OpenOptions::new().append(true).open("/dev/null").unwrap();
        });
        fs::remove_file(begin("taken", &|_| {}).paper.path.clone()).unwrap();
        begin("over", &|_| {}).remove().unwrap();
        let mut heard: Vec<_> = (0..4).map(|_| told.recv().unwrap()).collect();
        heard.sort();
        let expected = [
            ("over", Ok(())),
            ("refused", Err(io::ErrorKind::InvalidInput)),
            ("sound", Ok(())),
            ("taken", Err(io::ErrorKind::NotFound)),
        ];
        assert_eq!(heard, expected.map(|(name, result)| (name.to_owned(), result)));
    }
}
