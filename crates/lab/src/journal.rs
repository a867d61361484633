//! `MatchJournal`: the one file that says what was played.
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
//! **A pair is in the journal whole or not at all.** It is one entry of an [`anqi_store::LineJournal`], written with one call
//! after both games are over. What is written survives the death of the runner, however it dies; a power failure costs the
//! pairs of the last two seconds at most. These are played again, and so is a pair whose entry is damaged.

use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};

use anqi_engine::Fingerprint;
use anqi_rules::excerpt;
use anqi_store::{
    Access, Damages, FolderLock, Framing, JournalFormat, JournalLine, LineJournal, LockError, Old, OldHead, Owner,
    Place,
};
use anqi_store::{Syncer, clear_parts, create_folders, exists, write_whole};

use crate::cast::{Cast, strangers};
use crate::pair::{PairError, PlayedPair};
use crate::plan::Plan;

const JOURNAL: &str = "journal";
const GAMES: &str = "games.anqi";
const ENGINES: &str = "engines";
/// A line for each of a thousand contenders has less.
const MOST_ENGINES_BYTES: usize = 1 << 20;

/// A journal that is open, for one runner or for reading.
#[derive(Debug)]
pub struct MatchJournal {
    dir: PathBuf,
    lines: LineJournal<MatchFormat>,
    /// Where each pair is.
    pairs: BTreeMap<u64, Place>,
    /// Held as long as the journal is, if pairs can be added.
    _lock: Option<FolderLock>,
}

/// A plan, and the texts of pairs by number; no text where a pair was discarded.
#[derive(Debug)]
struct MatchFormat;

type MatchEntry = (u64, Option<String>);

impl JournalFormat for MatchFormat {
    const NAME: &'static str = "match";
    const ORDERED: bool = false;
    const OLD: Option<Old> = Some(Old { first_line: "anqi-journal 1", head: OldHead::Entry, framing: Framing::Blocks });
    type Head = Plan;
    type Entry = MatchEntry;

    fn write_head(plan: &Plan) -> String {
        plan.to_string()
    }

    fn read_head(text: &str) -> Result<Plan, String> {
        text.parse().map_err(|error| format!("{error}"))
    }

    fn write((number, text): &MatchEntry) -> JournalLine<'_> {
        match text {
            Some(text) => JournalLine::new("pair", *number, text.as_str()),
            None => JournalLine::new("discard", *number, ""),
        }
    }

    fn read(line: JournalLine<'_>) -> Result<MatchEntry, String> {
        match &*line.kind {
            "pair" => Ok((line.number, Some(line.text.into_owned()))),
            "discard" => Ok((line.number, None)),
            kind => Err(format!("{kind:?} is neither pair nor discard")),
        }
    }
}

/// What can go wrong with a journal.
#[derive(Debug, thiserror::Error)]
pub enum MatchJournalError {
    /// A file cannot be read or written.
    #[error("{path}: {error}")]
    Io {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// Another runner is at work, or the folder cannot be made.
    #[error(transparent)]
    Lock(#[from] LockError),
    /// There is no journal.
    #[error("{0}: there is no journal in this folder")]
    Missing(String),
    /// The file is no journal of ours, is damaged, or cannot be written.
    #[error(transparent)]
    Store(#[from] anqi_store::JournalError),
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
    /// The games of a part were played by other engines.
    #[error(
        "{part} was played by other engines than {whole}:\n{strangers}merge parts that the same engines played, or play it again"
    )]
    OtherPart {
        /// The folder of the part.
        part: String,
        /// The folder that it was to be added to.
        whole: String,
        /// Who differs, with both fingerprints.
        strangers: String,
    },
    /// The file that says who plays is damaged.
    #[error("{path}: line {line} is damaged: {text:?} is neither a fingerprint nor -; restore it from a copy")]
    Engines {
        /// The file.
        path: String,
        /// Which line.
        line: usize,
        /// What it says.
        text: String,
    },
    /// An entry is not what it should be.
    #[error(transparent)]
    Pair(#[from] PairError),
    /// A pair that is not there.
    #[error("pair {0} is not in the journal")]
    NotPlayed(u64),
}

impl MatchJournal {
    /// Opens the journal in a folder, or begins one there. A folder that holds another plan is left alone.
    ///
    /// # Errors
    /// If the folder belongs to another plan or runner, or cannot be written.
    pub fn open_or_create(dir: &Path, plan: &Plan) -> Result<MatchJournal, MatchJournalError> {
        create_folders(dir).map_err(|error| io_error(dir, error))?;
        let journal = MatchJournal::open_locked(dir, |path, owner, syncer, meet| {
            LineJournal::open_or_create(path, owner, Access::Ordinary, plan, syncer, meet)
        })?;
        if journal.plan() != plan {
            let difference = difference(&journal.plan().to_string(), &plan.to_string());
            return Err(MatchJournalError::OtherPlan { path: dir.display().to_string(), difference });
        }
        Ok(journal)
    }

    /// Opens the journal in a folder, to go on with it.
    ///
    /// # Errors
    /// If there is none, or if it cannot be read or locked.
    pub fn open(dir: &Path) -> Result<MatchJournal, MatchJournalError> {
        if !exists(&dir.join(JOURNAL)) {
            return Err(MatchJournalError::Missing(dir.display().to_string()));
        }
        MatchJournal::open_locked(dir, |path, owner, syncer, meet| LineJournal::open(path, owner, syncer, meet))
    }

    /// Reads the journal in a folder, which a runner may be at work in.
    ///
    /// # Errors
    /// If there is none, or if it cannot be read.
    pub fn read(dir: &Path) -> Result<MatchJournal, MatchJournalError> {
        let path = dir.join(JOURNAL);
        if !exists(&path) {
            return Err(MatchJournalError::Missing(dir.display().to_string()));
        }
        let mut pairs = BTreeMap::new();
        let lines = LineJournal::read(&path, |entry, place| first(&mut pairs, &entry, place))?;
        Ok(MatchJournal { dir: dir.to_owned(), lines, pairs, _lock: None })
    }

    fn open_locked(
        dir: &Path,
        open: impl FnOnce(
            &Path,
            Owner<'_>,
            &Syncer,
            &mut dyn FnMut(MatchEntry, Place),
        ) -> Result<LineJournal<MatchFormat>, anqi_store::JournalError>,
    ) -> Result<MatchJournal, MatchJournalError> {
        let lock = FolderLock::take(dir)?;
        let path = dir.join(JOURNAL);
        clear_parts(dir, |name| [JOURNAL, GAMES, ENGINES].contains(&name)).map_err(|error| io_error(dir, error))?;
        // The journal keeps what goes wrong, and the next pair is refused.
        let syncer = Syncer::start(|_, _| {}).map_err(|error| io_error(&path, error))?;
        let mut pairs = BTreeMap::new();
        let lines = open(&path, Owner::Folder(&lock), &syncer, &mut |entry, place| first(&mut pairs, &entry, place))?;
        Ok(MatchJournal { dir: dir.to_owned(), lines, pairs, _lock: Some(lock) })
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
    pub fn plan(&self) -> &Plan {
        self.lines.head()
    }

    /// What was damaged when it was opened; those pairs are played again.
    #[must_use]
    pub fn damages(&self) -> &Damages {
        self.lines.damages()
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
        (0..self.plan().count()).filter(|number| !self.has(*number))
    }

    /// Writes a pair down. A pair that is there already stays as it is.
    ///
    /// # Errors
    /// If the plan has no such pair or the file cannot be written; then nothing was added. If earlier pairs could not be
    /// forced to the disk.
    pub fn append(&mut self, pair: &PlayedPair) -> Result<(), MatchJournalError> {
        if self.plan().pair(pair.number).is_none() {
            return Err(PairError::NoSuchPair(pair.number).into());
        }
        if self.has(pair.number) {
            return Ok(());
        }
        self.lines.check()?;
        let place = self.lines.append(&(pair.number, Some(pair.to_text())))?;
        self.pairs.insert(pair.number, place);
        Ok(())
    }

    /// Takes a pair out again, which must not count: its text stays in the file, and the next one of its number counts.
    ///
    /// # Errors
    /// If the file cannot be written; then nothing has changed.
    pub fn discard(&mut self, number: u64) -> Result<(), MatchJournalError> {
        if self.has(number) {
            self.lines.check()?;
            self.lines.append(&(number, None))?;
            self.pairs.remove(&number);
        }
        Ok(())
    }

    /// Forces everything to the disk.
    ///
    /// # Errors
    /// If that fails.
    pub fn sync(&mut self) -> Result<(), MatchJournalError> {
        Ok(self.lines.sync()?)
    }

    /// Reads a pair back.
    ///
    /// # Errors
    /// If it is not there or cannot be read.
    pub fn pair(&self, number: u64) -> Result<PlayedPair, MatchJournalError> {
        Ok(PlayedPair::from_text(number, &self.text(number)?)?)
    }

    fn text(&self, number: u64) -> Result<String, MatchJournalError> {
        let place = self.pairs.get(&number).ok_or(MatchJournalError::NotPlayed(number))?;
        self.lines.entry(*place)?.1.ok_or(MatchJournalError::NotPlayed(number))
    }

    /// Writes the games of the first `count` pairs, in order, to `games.anqi`, which appears whole.
    ///
    /// # Errors
    /// If one of them was not played, or if the file cannot be written.
    pub fn write_games(&self, count: u64) -> Result<PathBuf, MatchJournalError> {
        let path = self.dir.join(GAMES);
        let mut gap = "";
        // What was played is checked before the old file is replaced.
        let mut failure = None;
        let written = write_whole(&path, Access::Ordinary, |out| {
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
            None => written.map(|()| path.clone()).map_err(|error| io_error(&path, error)),
        }
    }
}

impl MatchJournal {
    /// Compares who is to play now with who has played what is there. In a folder without games it is written down who plays.
    /// A note if that is not known of the games that are there.
    ///
    /// # Errors
    /// If a contender is another one now, or the folder cannot be read or written.
    pub fn admit(&mut self, cast: &Cast) -> Result<Option<String>, MatchJournalError> {
        if let Some(lines) = self.engines()? {
            let strangers = cast.strangers(self.plan(), &lines);
            if strangers.is_empty() {
                return Ok(None);
            }
            return Err(MatchJournalError::OtherEngines { path: self.dir.display().to_string(), strangers });
        }
        self.write_engines(&cast.to_lines())?;
        let unknown = "it is not known who played the games that are there: they go on as they are";
        Ok((!self.is_empty()).then(|| unknown.to_owned()))
    }

    /// Compares who has played a part of the plan with who has played what is there, before its pairs are added. What the part
    /// knows of the players is written down. A note if one of the two does not know them.
    ///
    /// # Errors
    /// If they are others, or the folder cannot be read or written.
    pub fn admit_part(&mut self, part: &MatchJournal) -> Result<Option<String>, MatchJournalError> {
        let unknown = |dir: &Path| format!("{}: it is not known who played these games", dir.display());
        let Some(theirs) = part.engines()? else { return Ok((!part.is_empty()).then(|| unknown(&part.dir))) };
        let Some(ours) = self.engines()? else {
            self.write_engines(&theirs)?;
            return Ok((!self.is_empty()).then(|| unknown(&self.dir)));
        };
        let [whole, part] = [&self.dir, &part.dir].map(|dir| dir.display().to_string());
        let places = [&whole, &part].map(|dir| format!("in {dir}"));
        let strangers = strangers(self.plan(), [&ours, &theirs], [&places[0], &places[1]]);
        if !strangers.is_empty() {
            return Err(MatchJournalError::OtherPart { part, whole, strangers });
        }
        let known = |(ours, theirs)| if ours == "-" { theirs } else { ours };
        let both: String = ours.lines().zip(theirs.lines()).map(|lines| format!("{}\n", known(lines))).collect();
        if both != ours {
            self.write_engines(&both)?;
        }
        Ok(None)
    }

    /// Who plays, a line for each contender; `None` if that was not written down.
    fn engines(&self) -> Result<Option<String>, MatchJournalError> {
        let path = self.dir.join(ENGINES);
        let text = match anqi_store::read_text(&path, MOST_ENGINES_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            text => text.map_err(|error| io_error(&path, error))?,
        };
        let damaged = |line, text: &str| MatchJournalError::Engines {
            path: path.display().to_string(),
            line,
            text: excerpt(text),
        };
        for (number, line) in text.lines().enumerate() {
            if line != "-" && line.parse::<Fingerprint>().is_err() {
                return Err(damaged(number + 1, line));
            }
        }
        let (lines, contenders) = (text.lines().count(), self.plan().contenders().len());
        if lines == contenders { Ok(Some(text)) } else { Err(damaged(lines.min(contenders) + 1, "")) }
    }

    fn write_engines(&self, lines: &str) -> Result<(), MatchJournalError> {
        let path = self.dir.join(ENGINES);
        write_whole(&path, Access::Ordinary, |out| out.write_all(lines.as_bytes()))
            .map_err(|error| io_error(&path, error))
    }
}

/// Of two entries for one pair the first counts that was not discarded.
fn first(pairs: &mut BTreeMap<u64, Place>, (number, text): &MatchEntry, place: Place) {
    match text {
        Some(_) => drop(pairs.entry(*number).or_insert(place)),
        None => drop(pairs.remove(number)),
    }
}

fn io_error(path: &Path, error: io::Error) -> MatchJournalError {
    MatchJournalError::Io { path: path.display().to_string(), error }
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
