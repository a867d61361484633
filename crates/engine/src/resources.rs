//! `Resources`: what players need beside their options.

use std::collections::HashMap;
use std::fmt;
#[cfg(feature = "files")]
use std::sync::OnceLock;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

#[cfg(feature = "files")]
use anqi_endgame::BlockCache;
use anqi_endgame::{Flavour, TableError, Tablebase};
use anqi_rules::{Game, excerpt};

use crate::champion::{NetOption, SmallBoards};
use crate::eval::{Network, NetworkError, NetworkFacts};
use crate::spec::PlayerSpec;
use crate::tables::{GameTables, SOLVED, TablesOption};
use crate::time::TimeSource;

/// What players need beside their options: networks and endgame tables by the names that player strings give them, a clock,
/// and what was solved on the way. Clones share all of it; a process makes one.
///
/// A player string names files, but reading it opens none. [`Resources::open_for`] opens them, or [`add_network`] and
/// [`add_tables`] bring their contents from elsewhere; [`PlayerSpec::build`] uses what is here.
///
/// [`add_network`]: Resources::add_network
/// [`add_tables`]: Resources::add_tables
///
/// ```
/// use anqi_engine::{PlayerSpec, Resources};
/// use anqi_rules::Seed;
///
/// let (resources, seed) = (Resources::default(), Seed::from(1));
/// assert!("champion".parse::<PlayerSpec>()?.build(seed.clone(), &resources).is_ok());
/// let named: PlayerSpec = "champion,net=other.net".parse()?;
/// assert!(named.build(seed, &resources).is_err()); // nobody has brought it
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Resources(Arc<Shared>);

/// Where tables come from, and its checksum once it was asked for.
#[derive(Debug)]
struct Source {
    tables: Arc<dyn TableSource>,
    checksum: Option<[u8; 32]>,
}

/// Tables by choice and draw rule.
type Opened = HashMap<(TablesOption, Option<u16>), Arc<GameTables>>;
/// Passes a notice on.
type Tell = Box<dyn Fn(&str) + Send + Sync>;

#[derive(Debug)]
struct Shared {
    time: TimeSource,
    notices: Arc<Notices>,
    networks: Mutex<HashMap<String, Arc<Network>>>,
    sources: Mutex<HashMap<String, Source>>,
    tables: Mutex<Opened>,
    /// What is unpacked of all tables in files.
    #[cfg(feature = "files")]
    tables_cache: OnceLock<Arc<BlockCache>>,
    boards: SmallBoards,
}

/// What went wrong and did not stop a player.
#[derive(Default)]
pub(crate) struct Notices {
    tell: Option<Tell>,
    list: Mutex<Vec<String>>,
}

impl Notices {
    /// Adds a notice, once.
    pub(crate) fn add(&self, text: String) {
        let mut list = lock(&self.list);
        if !list.contains(&text) {
            self.tell.iter().for_each(|tell| tell(&text));
            list.push(text);
        }
    }
}

impl fmt::Debug for Notices {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list.fmt(f)
    }
}

/// Where endgame tables come from, such as a folder of files.
pub trait TableSource: Send + Sync + fmt::Debug {
    /// The tables that say most about games that are drawn after `draw` quiet plies.
    ///
    /// # Errors
    /// If they cannot be read.
    fn open(&self, draw: Option<u16>) -> Result<Tablebase, TableError>;

    /// A hash of everything that is there, so that other tables are told apart.
    ///
    /// # Errors
    /// If it cannot be read.
    fn checksum(&self) -> Result<[u8; 32], TableError>;
}

/// Why a player cannot be built.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BuildError {
    /// A file that is not there or may not be read.
    #[error("cannot read {what} {path:?}: {reason}")]
    Unreadable {
        /// What it should be.
        what: &'static str,
        /// The file or folder.
        path: String,
        /// Why not.
        reason: String,
    },
    /// A file that is no sound network.
    #[error("cannot use network {path:?}: {error}")]
    Network {
        /// The file.
        path: String,
        /// What is wrong with it.
        error: NetworkError,
    },
    /// A name in a player string for which nothing was opened.
    #[error("{what} {name:?} was not opened")]
    NotOpened {
        /// What it should be.
        what: &'static str,
        /// The name.
        name: String,
    },
}

#[cfg(feature = "clock")]
impl Default for Resources {
    fn default() -> Resources {
        Resources::new(TimeSource::default())
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Resources {
    /// With a clock and nothing else.
    #[must_use]
    pub fn new(time: TimeSource) -> Resources {
        Resources::with(time, Notices::default())
    }

    /// The same; every [notice](Resources::notices) is given to `tell` at once.
    #[must_use]
    pub fn telling(time: TimeSource, tell: impl Fn(&str) + Send + Sync + 'static) -> Resources {
        Resources::with(time, Notices { tell: Some(Box::new(tell)), ..Notices::default() })
    }

    fn with(time: TimeSource, notices: Notices) -> Resources {
        Resources(Arc::new(Shared {
            time,
            notices: Arc::new(notices),
            networks: Mutex::default(),
            sources: Mutex::default(),
            tables: Mutex::default(),
            #[cfg(feature = "files")]
            tables_cache: OnceLock::new(),
            boards: SmallBoards::default(),
        }))
    }

    /// What went wrong while players were playing and did not stop them, such as a damaged table: each once.
    #[must_use]
    pub fn notices(&self) -> Vec<String> {
        lock(&self.0.notices.list).clone()
    }

    /// Keeps so many bytes of endgame tables in files unpacked, where 256 MB are usual. False if there is a cache already,
    /// because tables were opened before.
    #[cfg(feature = "files")]
    pub fn limit_tables_cache(&self, bytes: usize) -> bool {
        self.0.tables_cache.set(Arc::new(BlockCache::new(bytes))).is_ok()
    }

    #[cfg(feature = "files")]
    pub(crate) fn tables_cache(&self) -> &Arc<BlockCache> {
        self.0.tables_cache.get_or_init(Arc::default)
    }

    #[cfg(feature = "files")]
    pub(crate) fn notice(&self, text: String) {
        self.0.notices.add(text);
    }

    /// Brings the network that player strings call `name`.
    ///
    /// # Errors
    /// If the bytes are no sound network.
    pub fn add_network(&self, name: &str, bytes: &[u8]) -> Result<(), NetworkError> {
        let network = Arc::new(Network::read(bytes)?);
        lock(&self.0.networks).insert(name.to_owned(), network);
        Ok(())
    }

    /// Brings the tables that player strings call `name`.
    pub fn add_tables(&self, name: &str, source: Arc<dyn TableSource>) {
        lock(&self.0.sources).insert(name.to_owned(), Source { tables: source, checksum: None });
    }

    /// The checksum of the tables that player strings call `name`, as they were when it was first asked for.
    pub(crate) fn tables_checksum(&self, name: &str) -> Result<[u8; 32], BuildError> {
        let what = "folder of endgame tables";
        let mut sources = lock(&self.0.sources);
        let Some(source) = sources.get_mut(name) else {
            return Err(BuildError::NotOpened { what, name: name.to_owned() });
        };
        if let Some(checksum) = source.checksum {
            return Ok(checksum);
        }
        let unreadable =
            |error: TableError| BuildError::Unreadable { what, path: excerpt(name), reason: error.to_string() };
        Ok(*source.checksum.insert(source.tables.checksum().map_err(unreadable)?))
    }

    pub(crate) fn has_network(&self, name: &str) -> bool {
        lock(&self.0.networks).contains_key(name)
    }

    pub(crate) fn has_tables(&self, name: &str) -> bool {
        lock(&self.0.sources).contains_key(name)
    }

    /// Whether everything that a player string names is here.
    pub(crate) fn check(&self, spec: &PlayerSpec) -> Result<(), BuildError> {
        let missing = |what, name: &str| Err(BuildError::NotOpened { what, name: name.to_owned() });
        match spec.net() {
            Some(NetOption::File(name)) if !self.has_network(name) => return missing("network", name),
            _ => {}
        }
        match spec.tables() {
            Some(TablesOption::Folder(name)) if !self.has_tables(name) => missing("folder of endgame tables", name),
            _ => Ok(()),
        }
    }

    pub(crate) fn time(&self) -> &TimeSource {
        &self.0.time
    }

    pub(crate) fn boards(&self) -> &SmallBoards {
        &self.0.boards
    }

    /// The network of a choice; none where it was not opened.
    pub(crate) fn network(&self, option: &NetOption) -> Option<Arc<Network>> {
        match option {
            NetOption::Own => Network::own(),
            NetOption::Off => None,
            NetOption::File(name) => lock(&self.0.networks).get(name).cloned(),
        }
    }

    /// What is known of the network that a player has, if it has one and it is open.
    #[must_use]
    pub fn network_facts(&self, spec: &PlayerSpec) -> Option<NetworkFacts> {
        Some(self.network(spec.net()?)?.facts().clone())
    }

    /// The tables of a choice that say most about games that are drawn after `draw` quiet plies; none where it has none.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn tablebase(&self, option: &TablesOption, draw: Option<u16>) -> Result<Option<Arc<Tablebase>>, TableError> {
        Ok(self.open(option, draw)?.map(|tables| Arc::clone(tables.tablebase())))
    }

    /// The tables of a player for a game. Where they cannot be read it plays without, and a notice says so.
    pub(crate) fn tables(&self, option: &TablesOption, game: &Game) -> Option<Arc<GameTables>> {
        self.open(option, game.rules().draw()).unwrap_or_else(|error| {
            self.0.notices.add(format!("playing without tables: {error}"));
            None
        })
    }

    fn open(&self, option: &TablesOption, draw: Option<u16>) -> Result<Option<Arc<GameTables>>, TableError> {
        let key = (option.clone(), draw);
        let mut tables = lock(&self.0.tables);
        if let Some(tables) = tables.get(&key) {
            return Ok(Some(Arc::clone(tables)));
        }
        let tablebase = match option {
            TablesOption::Off => return Ok(None),
            TablesOption::On => Tablebase::solving(Flavour::conversion(draw), SOLVED),
            TablesOption::Folder(name) => match lock(&self.0.sources).get(name) {
                Some(source) => source.tables.open(draw)?,
                None => return Ok(None),
            },
        };
        let opened = Arc::new(GameTables::new(tablebase, Arc::clone(&self.0.notices)));
        tables.insert(key, Arc::clone(&opened));
        Ok(Some(opened))
    }
}
