//! Opening the files that player strings name.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anqi_endgame::{BlockCache, Flavour, TableError, TableFile, Tablebase, classes_up_to, table_path};
use anqi_rules::excerpt;

use crate::champion::NetOption;
use crate::resources::{BuildError, Resources, TableSource};
use crate::spec::PlayerSpec;
use crate::tables::{SOLVED, TablesOption};

/// No network has more.
const MOST_BYTES: usize = 1 << 24;

impl Resources {
    /// Opens what a player string names and is not here yet: networks are read, folders of tables must be there. What is open
    /// stays as it was read.
    ///
    /// # Errors
    /// If a file cannot be read or is something else.
    pub fn open_for(&self, spec: &PlayerSpec) -> Result<(), BuildError> {
        if let Some(NetOption::File(path)) = spec.net()
            && !self.has_network(path)
        {
            let bytes = anqi_store::read_small(Path::new(path), MOST_BYTES)
                .map_err(|error| unreadable("network", path, &error))?;
            self.add_network(path, &bytes).map_err(|error| BuildError::Network { path: excerpt(path), error })?;
            if self.network_facts(spec).is_some_and(|facts| !facts.checked) {
                let path = excerpt(path);
                self.notice(format!(
                    "{path} has no header: nothing vouches for its weights (training/network_file.py adds one)"
                ));
            }
        }
        match spec.tables() {
            Some(tables) => self.open_tables(tables),
            None => Ok(()),
        }
    }

    /// Opens the folder of a choice of tables.
    ///
    /// # Errors
    /// If there is no such folder, or it cannot be read.
    pub fn open_tables(&self, option: &TablesOption) -> Result<(), BuildError> {
        if let TablesOption::Folder(path) = option
            && !self.has_tables(path)
        {
            fs::read_dir(path).map_err(|error| unreadable("folder of endgame tables", path, &error))?;
            let cache = Arc::clone(self.tables_cache());
            self.add_tables(path, Arc::new(Folder { dir: PathBuf::from(path), cache }));
        }
        Ok(())
    }
}

fn unreadable(what: &'static str, path: &str, error: &io::Error) -> BuildError {
    BuildError::Unreadable { what, path: excerpt(path), reason: error.to_string() }
}

/// A folder of tables.
#[derive(Debug)]
struct Folder {
    dir: PathBuf,
    cache: Arc<BlockCache>,
}

impl TableSource for Folder {
    fn open(&self, draw: Option<u16>) -> Result<Tablebase, TableError> {
        let cache = Arc::clone(&self.cache);
        Ok(Tablebase::open_sharing(&self.dir, flavour(&self.dir, draw), cache)?.and_solving(SOLVED))
    }

    /// Of the names of the tables and the checksums in their heads, which cover those of their blocks.
    fn checksum(&self) -> Result<[u8; 32], TableError> {
        let folder = |error| TableError::Folder { path: self.dir.display().to_string(), error };
        let mut tables = Vec::new();
        for entry in fs::read_dir(&self.dir).map_err(folder)? {
            let path = entry.map_err(folder)?.path();
            if path.extension().is_some_and(|extension| extension == "table") {
                // A damaged file has no checksum; a player meets it as a missing table.
                let checksum = TableFile::open(&path).ok().map(|file| file.checksum());
                tables.push((path.file_name().unwrap_or_default().to_string_lossy().into_owned(), checksum));
            }
        }
        tables.sort();
        let mut hasher = blake3::Hasher::new();
        for (name, checksum) in tables {
            hasher.update(format!("{name} {checksum:08x?}\n").as_bytes());
        }
        Ok(hasher.finalize().into())
    }
}

/// The flavour of a folder that says most under a draw rule.
fn flavour(dir: &Path, draw: Option<u16>) -> Flavour {
    let exact = Flavour::conversion(draw);
    let wanted = [exact, Flavour::conversion(None), Flavour::END, Flavour::outcome(draw), Flavour::outcome(None)];
    let names: Vec<_> = classes_up_to(3).into_values().collect();
    let there = |flavour: &Flavour| names.iter().any(|ending| table_path(dir, ending, *flavour).exists());
    wanted.into_iter().find(there).unwrap_or(exact)
}
