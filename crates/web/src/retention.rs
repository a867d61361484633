//! How long games are kept.

use std::collections::{BTreeMap, HashSet};
use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use anqi_store::{FolderLock, Found, list, remove};

use crate::backup::BackupError;
use crate::series::{EXTENSION, family};

/// Deletes games that were not touched for this long, finished or not, from a folder that no server uses. Gives their names;
/// a trial deletes nothing.
///
/// # Errors
/// If a server uses the folder, or a file cannot be deleted.
pub fn prune(dir: &Path, keep: Duration, is_trial: bool) -> Result<Vec<String>, BackupError> {
    let failed = |error| BackupError::Io { path: dir.display().to_string(), error };
    // A lock makes the folder if it is not there.
    list(dir).map_err(failed)?;
    let _lock = FolderLock::take(dir)?;
    let old = old_games(dir, keep).map_err(failed)?;
    if !is_trial {
        old.values().flatten().try_for_each(|file| remove(file)).map_err(failed)?;
    }
    Ok(old.into_keys().collect())
}

/// The games of a folder that were not touched for this long, with all their files.
pub(crate) fn old_games(dir: &Path, keep: Duration) -> io::Result<BTreeMap<String, Vec<PathBuf>>> {
    let Some(before) = SystemTime::now().checked_sub(keep) else { return Ok(BTreeMap::new()) };
    let mut games = BTreeMap::<String, Vec<_>>::new();
    for found in list(dir)? {
        let name = found.path.file_name().and_then(OsStr::to_str).unwrap_or_default();
        if let Some((id, _)) = name.split_once('.').filter(|(id, _)| is_id(id)) {
            games.entry(id.to_owned()).or_default().push(found);
        }
    }
    let mut young: HashSet<String> = games
        .iter()
        .filter(|(_, files)| files.iter().any(|file| file.modified >= before))
        .map(|(id, _)| id.clone())
        .collect();
    // A series is as young as the youngest of its games, and keeps all of them: its table needs them.
    let is_series = |files: &[Found]| files.iter().any(|file| file.path.extension() == Some(OsStr::new(EXTENSION)));
    for (name, _) in games.iter().filter(|(_, files)| is_series(files)) {
        let family = family(name);
        if !family.is_disjoint(&young) {
            young.extend(family);
        }
    }
    games.retain(|id, _| !young.contains(id));
    Ok(games.into_iter().map(|(id, files)| (id, files.into_iter().map(|file| file.path).collect())).collect())
}

/// Whether a text is the name of a game.
fn is_id(text: &str) -> bool {
    text.len() == crate::house::ID_DIGITS && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}
