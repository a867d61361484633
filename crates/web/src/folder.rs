//! The folder of games: what its files give, and how it is put in order when a server opens it.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};

use anqi_play::BotPolicy;
use anqi_records::Record;
use anqi_store::{clear_parts, exists, is_open_to_others, list, make_secret, read_text, remove};

use crate::hosted::{HostedError, HostedGame, journal_path, record_path};
use crate::series;

/// The most that the record of a game may have, which is the most that the reader of records takes.
const MOST_RECORD_BYTES: usize = 16 << 20;

/// The game that has this name in the folder, by its record or by its journal, which `read_journal` reads; `None` if there is
/// none. No file is written or taken away.
pub(crate) fn game(
    dir: &Path,
    id: &str,
    policy: &BotPolicy,
    read_journal: impl FnOnce() -> Result<HostedGame, HostedError>,
) -> Option<Result<HostedGame, HostedError>> {
    let has_journal = exists(&journal_path(dir, id));
    let record = match read_text(&record_path(dir, id), MOST_RECORD_BYTES) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return has_journal.then(read_journal),
        Err(error) => Err(error.to_string()),
        Ok(text) => match text.parse::<Record>() {
            Err(error) => Err(error.to_string()),
            Ok(record) => HostedGame::of_record(id, &record, policy).map_err(|error| match error {
                HostedError::Damaged(flaw) => flaw,
                error => error.to_string(),
            }),
        },
    };
    if !has_journal {
        return Some(record.map_err(|flaw| HostedError::Damaged(format!("{id}.anqi: {flaw}"))));
    }
    // The game is over, or its record would not be there: its journal is only looked at.
    Some(HostedGame::of_both(record, HostedGame::look(dir, id, policy)))
}

/// What a server does with a folder that it has locked, before anything is read for a page: journals, which hold seeds of deals,
/// are for their owner alone, and so is the folder if nothing else is in it; a journal whose game was kept and what was half
/// written are taken away, as a killed server may have left them. Gives notes for the user.
pub(crate) fn tidy(dir: &Path, policy: &BotPolicy) -> io::Result<Vec<String>> {
    let mut notes = Vec::new();
    if let Err(error) = clear_parts(dir, |name| {
        name == "server.json" || [".journal", ".anqi", ".series"].iter().any(|end| name.ends_with(end))
    }) {
        notes.push(format!("{}: what a killed server left half written cannot be removed: {error}", dir.display()));
    }
    let files: Vec<PathBuf> = list(dir)?.into_iter().map(|found| found.path).collect();
    for journal in files.iter().filter(|path| extension(path) == "journal") {
        if let Err(error) = secure(journal) {
            notes.push(format!("{}: others may read the seed of its deal: {error}", journal.display()));
        }
        let id = journal.file_stem().and_then(OsStr::to_str).unwrap_or_default();
        if is_superfluous(dir, id, policy)
            && let Err(error) = remove(journal)
        {
            notes.push(format!("{}: its game is kept, and it cannot be removed: {error}", journal.display()));
        }
    }
    if is_open_to_others(dir)? {
        if let Some(other) = files.iter().find(|path| !is_ours(path)) {
            notes.push(format!(
                "{}: others may look into this folder; it is left so because {} is in it, and the journals of games are for \
                 you alone",
                dir.display(),
                other.file_name().unwrap_or_default().display()
            ));
        } else if let Err(error) = make_secret(dir) {
            notes.push(format!("{}: others may look into this folder: {error}", dir.display()));
        }
    }
    Ok(notes)
}

/// How many games are in the folder.
pub(crate) fn count(dir: &Path) -> io::Result<u64> {
    let files = list(dir)?;
    Ok(files.iter().filter(|found| ["journal", "anqi"].contains(&extension(&found.path))).count() as u64)
}

fn secure(path: &Path) -> io::Result<()> {
    if is_open_to_others(path)? { make_secret(path) } else { Ok(()) }
}

/// Whether a journal is whole, its game over, and its record to the letter the one that follows from it.
fn is_superfluous(dir: &Path, id: &str, policy: &BotPolicy) -> bool {
    let Ok(kept) = read_text(&record_path(dir, id), MOST_RECORD_BYTES) else { return false };
    HostedGame::look(dir, id, policy)
        .is_ok_and(|journal| journal.damage().is_none() && journal.is_over() && journal.record().to_string() == kept)
}

fn extension(path: &Path) -> &str {
    path.extension().and_then(OsStr::to_str).unwrap_or_default()
}

/// Whether a file is one of those that a server makes in its folder.
fn is_ours(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default();
    name == "lock" || name == "server.json" || ["journal", "anqi", "part", series::EXTENSION].contains(&extension(path))
}
