//! The house: all hosted games, their folder, and the engines that play in them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::{Duration, SystemTime};

use anqi_engine::{BuildError, Resources};
use anqi_play::{Analyst, AnalystError, Bot, BotPolicy, GameSeries, Occupant, Secret, SeriesError, Terms, TermsError};
use anqi_records::{Reader, Record};
use anqi_rules::{Seat, Seed, excerpt};
use anqi_store::{Access, FolderLock, JournalError, LockError, Syncer, create_secret_folder, remove, write_whole};
use tokio::sync::{broadcast, watch};

use crate::folder;
use crate::holder::Holder;
use crate::hosted::{Disk, HostedError, HostedGame, journal_path, record_path};
use crate::limits::{LimitError, ServerLimits};
use crate::metrics::{Metrics, count};
use crate::presence::{Timer, Waits};
use crate::retention::old_games;
use crate::scheduler::{Scheduler, Turn, Urgency};
use crate::seat::Tokens;
use crate::series::series_path;
use crate::tasks::{OwnedTask, on_disk};
use crate::thinkers::Thinkers;
use crate::view::GameView;
use crate::visitors::{Visitor, VisitorId, Visitors};
use crate::watchers::{Told, Watchers};
use crate::wire::{Imported, Listed, ListedPlayer};

/// All games of a folder. One server at a time.
#[expect(missing_debug_implementations, reason = "it holds deals")]
pub struct House {
    dir: PathBuf,
    /// Games that a page shows, in which an engine thinks or a clock runs. The others are only on disk.
    open: Mutex<HashMap<String, Weak<OpenGame>>>,
    /// Where deals come from: the system, or in tests a seed and how many there were.
    deals: Option<Seed>,
    games: AtomicU64,
    disk: Disk,
    /// What players may be that were asked for: those of kept games may have more than `limits` allow a page to ask for now.
    policy: BotPolicy,
    pub(crate) limits: ServerLimits,
    pub(crate) visitors: Visitors,
    pub(crate) scheduler: Scheduler,
    pub(crate) metrics: Arc<Metrics>,
    /// About how many games are in the folder.
    pub(crate) folder_games: AtomicU64,
    /// The last journal could not be forced to the disk.
    has_disk_trouble: AtomicBool,
    /// True when the server ends.
    closing: watch::Sender<bool>,
    /// Games that were not touched for so long are deleted.
    keep: Option<Duration>,
    thinkers: Thinkers,
    pub(crate) analyst: Analyst,
    resources: Resources,
    /// Whether a game without seats is for spectators alone.
    public: bool,
    waits: Waits,
    /// Held while a game of a series begins.
    series_turn: Mutex<()>,
    /// Where it is served, once [`House::announce`] was told.
    pub(crate) holder: OnceLock<Holder>,
}

/// What is decided when a house is opened.
#[derive(Clone, Debug, Default)]
pub struct HouseSettings {
    /// Fixes every deal, and the names of the games: for tests.
    pub deals: Option<Seed>,
    /// A folder of endgame tables, for positions of more pieces than are solved at once.
    pub tables: Option<PathBuf>,
    /// What the players share.
    pub resources: Resources,
    /// Whether strangers play here: then every new game has seats that are held by tokens, one without is only watched, and
    /// the games of others are not listed.
    pub public: bool,
    /// How long is waited for players.
    pub waits: Waits,
    /// What the server and one visitor of it may spend.
    pub limits: ServerLimits,
    /// Games that were not touched for so long are deleted, finished or not.
    pub keep: Option<Duration>,
}

/// A hosted game in memory, its watchers and what is under way in it.
pub(crate) struct OpenGame {
    hosted: Mutex<HostedGame>,
    watchers: Watchers,
    going: Mutex<Going>,
    pub(crate) timer: Timer,
    /// Whose share of the engines its engines take: the visitor who opened it or did something in it last.
    visitor: Mutex<VisitorId>,
}

/// What is under way in a game.
#[derive(Default)]
struct Going {
    /// The version of the game that it belongs to.
    version: Option<u64>,
    thinking: Option<OwnedTask>,
    flag: Option<OwnedTask>,
    /// An engine is to move when a page opens the game.
    waits_for_page: bool,
}

/// Why a house cannot be opened, or what was asked of it cannot be done.
#[derive(Debug, thiserror::Error)]
pub enum HouseError {
    /// Another server has it.
    #[error("{} keeps the games in {dir}: use it, close it, or choose another folder with --games",
        .holder.as_ref().map_or("another server".to_owned(), |holder| format!("another server ({holder})")))]
    Locked {
        /// The folder.
        dir: String,
        /// The server, as far as the folder says. It may be one that ended: see [`Holder::answers`].
        holder: Option<Box<Holder>>,
    },
    /// The folder cannot be used.
    #[error("cannot use the folder {path} for games: {error}")]
    Folder {
        /// The folder.
        path: String,
        /// What is wrong.
        error: io::Error,
    },
    /// The tables cannot be used.
    #[error("cannot use endgame tables")]
    Tables(#[from] BuildError),
    /// The name of the tables cannot stand in a player string.
    #[error(transparent)]
    Analyst(#[from] AnalystError),
}

/// The newest games that a list shows.
const MOST_LISTED: usize = 200;
/// No paste holds more games.
const MOST_IMPORTED: usize = 200;

impl House {
    /// Opens the folder, and makes it if need be.
    ///
    /// # Errors
    /// If a folder cannot be used, or another server uses it.
    pub fn open(dir: &Path, settings: HouseSettings) -> Result<Arc<House>, HouseError> {
        let failed = |error| HouseError::Folder { path: dir.display().to_string(), error };
        let tables = settings.tables.as_ref().map(|folder| folder.display().to_string());
        let analyst = Analyst::new(tables.as_deref(), &settings.resources)?;
        settings.resources.open_for(analyst.spec())?;
        create_secret_folder(dir).map_err(failed)?;
        let lock = FolderLock::take(dir).map_err(|error| match error {
            LockError::Held(dir_text) => HouseError::Locked { dir: dir_text, holder: Holder::read(dir).map(Box::new) },
            LockError::Io { error, .. } => failed(error),
        })?;
        let limits = settings.limits;
        let policy = limits.of_kept_games();
        for note in folder::tidy(dir, &policy).map_err(failed)? {
            tracing::warn!("{note}");
        }
        let folder_games = AtomicU64::new(folder::count(dir).map_err(failed)?);
        let whose: Arc<OnceLock<Weak<House>>> = Arc::default();
        let theirs = Arc::clone(&whose);
        let syncer = Syncer::start(move |journal, result| {
            if let Some(house) = theirs.get().and_then(Weak::upgrade) {
                house.hear_of_disk(journal, result);
            }
        });
        let house = Arc::new(House {
            dir: dir.to_owned(),
            open: Mutex::default(),
            deals: settings.deals,
            games: AtomicU64::new(0),
            disk: Disk { lock, syncer: syncer.map_err(failed)? },
            policy,
            visitors: Visitors::default(),
            scheduler: Scheduler::new(limits.slots, limits.waiting),
            metrics: Arc::default(),
            folder_games,
            has_disk_trouble: AtomicBool::new(false),
            closing: watch::Sender::new(false),
            keep: settings.keep,
            thinkers: Thinkers::new(limits.players_megabytes),
            limits,
            analyst,
            resources: settings.resources,
            public: settings.public,
            waits: settings.waits,
            series_turn: Mutex::default(),
            holder: OnceLock::new(),
        });
        let _ = whose.set(Arc::downgrade(&house));
        Ok(house)
    }

    /// The folder.
    #[must_use]
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Writes into the folder where this house is served, for the next server that finds the folder locked.
    ///
    /// # Errors
    /// If that cannot be written.
    pub fn announce(&self, address: SocketAddr, is_tls: bool) -> Result<(), HouseError> {
        let failed = |error| HouseError::Folder { path: self.dir.display().to_string(), error };
        let holder = Holder::new(address, is_tls).map_err(failed)?;
        holder.write(&self.dir).map_err(failed)?;
        let _ = self.holder.set(holder);
        Ok(())
    }

    /// Whether a game without seats is for spectators alone.
    pub(crate) fn is_public(&self) -> bool {
        self.public
    }

    pub(crate) fn waits(&self) -> &Waits {
        &self.waits
    }

    fn hosted_games(&self) -> MutexGuard<'_, HashMap<String, Weak<OpenGame>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A name for a new game, and where its deal comes from. They have nothing to do with each other: a name decides how
    /// engines break ties, and may not know what lies face down.
    pub(crate) fn new_name(&self) -> io::Result<(String, Seed)> {
        let random = || -> io::Result<Seed> {
            let mut bytes = [0; 32];
            getrandom::fill(&mut bytes).map_err(|error| io::Error::other(error.to_string()))?;
            Ok(Seed::from(bytes))
        };
        loop {
            let number = self.games.fetch_add(1, Ordering::Relaxed).to_le_bytes();
            let (name, secret) = match &self.deals {
                Some(deals) => (Seed::from([0; 32]).child(number), deals.child(number)),
                None => (random()?, random()?),
            };
            let id = id_of(&name);
            if !self.hosted_games().contains_key(&id) && !self.is_there(&id) && !series_path(&self.dir, &id).exists() {
                return Ok((id, secret));
            }
        }
    }

    /// Whether a game has this name.
    pub(crate) fn is_there(&self, id: &str) -> bool {
        [journal_path(&self.dir, id), record_path(&self.dir, id)].iter().any(|path| path.exists())
    }

    /// Begins a game; [`go_on`](House::go_on) lets it go on. Gives the tokens of its seats, if it has any.
    pub(crate) fn begin(&self, terms: Terms) -> Result<(Arc<OpenGame>, Option<Tokens>), HostedError> {
        // A name is used up even if nothing comes of the game: so did the first version, and its sessions replay.
        let (id, secret) = self.new_name()?;
        self.begin_as(&id, Secret::from_seed(&secret), terms)
    }

    /// Begins a game that has a name and a deal already.
    pub(crate) fn begin_as(
        &self,
        id: &str,
        secret: Secret,
        terms: Terms,
    ) -> Result<(Arc<OpenGame>, Option<Tokens>), HostedError> {
        let mut humans = [false; 2];
        for (wanted, human) in [&terms.first, &terms.second].into_iter().zip(&mut humans) {
            let occupant = Occupant::read(wanted, &self.limits.bots).map_err(TermsError::from)?;
            occupant.bot().map_or(Ok(()), |bot| self.resources.open_for(&bot.player))?;
            *human = occupant.is_human();
        }
        let mut terms = Terms { date: Some(today()), ..terms }.with_engines(&self.policy, &self.resources)?;
        let waits_for_players = terms.invited.is_some() || terms.contributes != [false; 2];
        if waits_for_players {
            id.clone_into(&mut terms.name);
        }
        let within = waits_for_players.then_some(self.waits.begin);
        let tokens =
            (self.public || terms.invited.is_some()).then(|| Tokens::new(id, humans, terms.invited)).transpose()?;
        let (seats, tokens) = tokens.unzip();
        let hosted = HostedGame::with_seats(&self.dir, id, &terms, secret, seats, within, &self.policy, &self.disk)?;
        Ok((hold(&mut self.hosted_games(), hosted), tokens))
    }

    /// A game by its name, in play or kept.
    pub(crate) fn find(&self, id: &str) -> Result<Arc<OpenGame>, HostedError> {
        let unknown = || HostedError::NoSuchGame(excerpt(id));
        if id.len() != ID_DIGITS || !id.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return Err(unknown());
        }
        // Two pages that open one game must not open its journal twice.
        let mut games = self.hosted_games();
        if let Some(open_game) = games.get(id).and_then(Weak::upgrade) {
            return Ok(open_game);
        }
        let resume = || HostedGame::resume(&self.dir, id, &self.policy, &self.disk);
        let hosted = folder::game(&self.dir, id, &self.policy, resume).ok_or_else(unknown)??;
        Ok(hold(&mut games, hosted))
    }

    /// A game whose journal is damaged goes on from there, as a new game. Asked again, it is the same new game: two with one
    /// deal would tell each other what lies face down.
    pub(crate) fn go_on_from_damage(&self, id: &str) -> Result<Arc<OpenGame>, HostedError> {
        let open_game = self.find(id)?;
        // A game in play has its deal to itself, whatever has become of its file since it was opened.
        open_game.hosted().check_can_go_on()?;
        let new = continuation(id);
        match self.find(&new) {
            Err(HostedError::NoSuchGame(_)) => {}
            found => return found,
        }
        let mut games = self.hosted_games();
        match HostedGame::go_on_from_damage(&self.dir, id, &new, &self.policy, &self.disk)? {
            Some(hosted) => Ok(hold(&mut games, hosted)),
            // Another page was faster.
            None => {
                drop(games);
                self.find(&new)
            }
        }
    }

    /// How many games are in memory.
    #[must_use]
    pub fn open_games(&self) -> usize {
        self.hosted_games().values().filter(|open_game| open_game.strong_count() > 0).count()
    }

    /// A journal has been forced to the disk, or could not be: the pages that show the game are told.
    fn hear_of_disk(&self, journal: &Path, result: Result<(), JournalError>) {
        self.has_disk_trouble.store(result.is_err(), Ordering::Relaxed);
        if let Err(error) = &result {
            count(&self.metrics.sync_failures);
            tracing::error!("{error}");
        }
        let id = journal.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let open_game = self.hosted_games().get(id).and_then(Weak::upgrade);
        if let Some(open_game) = open_game {
            open_game.tell_trouble(result.err().map(|error| error.without_folder()));
        }
    }

    /// Keeps the games of a text in any of our formats. Damaged ones are told, the others kept.
    pub(crate) fn import(&self, text: &str) -> io::Result<Imported> {
        let mut imported = Imported { schema: "anqi-import-1", games: Vec::new(), errors: Vec::new() };
        for entry in Reader::new(text.as_bytes())?.take(MOST_IMPORTED) {
            match entry {
                Err(error) => imported.errors.push(error.to_string()),
                Ok(entry) => match self.keep(&entry.record) {
                    Ok(kept) => imported.games.push(kept.id().to_owned()),
                    Err(HostedError::Io(error)) => return Err(error),
                    Err(error) => imported.errors.push(format!("line {}: {error}", entry.line)),
                },
            }
        }
        if imported.games.is_empty() && imported.errors.is_empty() {
            imported.errors.push("there is no game in this text".to_owned());
        }
        Ok(imported)
    }

    /// Keeps a record as a game, whose name is the same for the same record.
    fn keep(&self, record: &Record) -> Result<HostedGame, HostedError> {
        let text = record.to_string();
        let id = id_of(&Seed::from([7; 32]).child(&text));
        let hosted = HostedGame::of_record(&id, record, &self.policy)?;
        let path = record_path(&self.dir, &id);
        if !path.exists() {
            write_whole(&path, Access::Ordinary, |file| file.write_all(text.as_bytes()))?;
        }
        Ok(hosted)
    }

    /// Keeps a record, and opens it.
    pub(crate) fn keep_open(&self, record: &Record) -> Result<Arc<OpenGame>, HostedError> {
        let hosted = self.keep(record)?;
        let mut games = self.hosted_games();
        Ok(games.get(hosted.id()).and_then(Weak::upgrade).unwrap_or_else(|| hold(&mut games, hosted)))
    }

    /// The newest games first.
    pub(crate) fn list(&self) -> io::Result<Vec<Listed>> {
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
        Ok(found.iter().filter_map(|(_, id)| self.peek(id)).collect())
    }

    /// A game as the list shows it; `None` if it is not there any more.
    fn peek(&self, id: &str) -> Option<Listed> {
        let listed = self.look_at(id, |hosted| Listed::of(hosted, &self.policy))?;
        Some(listed.unwrap_or_else(|_| Listed::unreadable(id)))
    }

    /// What can be told of a game without sitting down at it; `None` if there is none of this name.
    pub(crate) fn look_at<T>(&self, id: &str, tell: impl FnOnce(&HostedGame) -> T) -> Option<Result<T, HostedError>> {
        let open_game = self.hosted_games().get(id).and_then(Weak::upgrade);
        if let Some(open_game) = open_game {
            return Some(Ok(tell(&open_game.hosted())));
        }
        let look = || HostedGame::look(&self.dir, id, &self.policy);
        folder::game(&self.dir, id, &self.policy, look).map(|found| found.map(|hosted| tell(&hosted)))
    }

    /// A series as it was asked for, with texts that say everything.
    pub(crate) fn agree(&self, wanted: GameSeries) -> Result<GameSeries, SeriesError> {
        let program = Occupant::read(&wanted.program, &self.limits.bots).map_err(TermsError::from)?;
        program.bot().map_or(Ok(()), |bot| self.resources.open_for(&bot.player)).map_err(TermsError::from)?;
        wanted.agreed(&self.limits.bots, &self.resources)
    }

    /// One game of a series begins at a time.
    pub(crate) fn series_turn(&self) -> MutexGuard<'_, ()> {
        self.series_turn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Tells the pages of a game what has changed, and lets an engine move and the clock run. An engine without a clock moves
    /// while a page shows the game, and waits for one otherwise.
    pub(crate) fn go_on(self: &Arc<House>, open_game: &Arc<OpenGame>) {
        let mut hosted = open_game.hosted();
        let version = hosted.version();
        let mut going = open_game.going();
        let has_news = hosted.take_news();
        match going.version {
            Some(known) if known == version => {
                if has_news {
                    open_game.watchers.tell(&hosted);
                }
                if !going.waits_for_page {
                    return;
                }
            }
            Some(_) => open_game.watchers.tell(&hosted),
            // A page that opens the game gets all of it.
            None => {}
        }
        *going = Going { version: Some(version), ..Going::default() };
        let clock = hosted.running_clock();
        if let Some((_, left)) = clock {
            let (house, open_game) = (Arc::clone(self), Arc::clone(open_game));
            going.flag = Some(OwnedTask::spawn(async move {
                tokio::time::sleep(left + Duration::from_millis(1)).await;
                on_disk(|| {
                    let fallen = open_game.at_version(version, |hosted| hosted.fall_flag(&house.dir));
                    house.after(&open_game, fallen);
                });
            }));
        }
        let Some(bot) = hosted.to_move().and_then(Occupant::bot) else { return };
        let waits_for_page = self.public && clock.is_none() && !open_game.watchers.is_watched();
        if waits_for_page || *self.closing.borrow() {
            going.waits_for_page = true;
            return;
        }
        let urgency = if clock.is_some() { Urgency::Clocked } else { Urgency::Move };
        let turn = self.scheduler.engine(open_game.visitor(), urgency, is_long(bot));
        going.thinking = Some(OwnedTask::spawn(Arc::clone(self).think(Arc::clone(open_game), turn, &hosted)));
    }

    /// Lets the engine to move think when it is its turn, and plays its move.
    fn think(
        self: Arc<House>,
        open_game: Arc<OpenGame>,
        mut turn: Turn,
        hosted: &HostedGame,
    ) -> impl Future<Output = ()> + use<> {
        let (game, version) = (hosted.game().clone(), hosted.version());
        let bot = hosted.to_move().and_then(Occupant::bot).cloned();
        // Nothing hidden goes into it: the game's public name and the ply.
        let seed = Seed::from([3; 32]).child(hosted.id()).child(game.plies().len().to_le_bytes());
        async move {
            let Some(bot) = bot.map(|bot| self.bounded(bot)) else { return };
            let (thinking, its_game) = (Arc::clone(&self), Arc::clone(&open_game));
            let thought = turn.run(move |stop| {
                // It may have waited, and its clock has run.
                let clock = its_game.at_version(version, |hosted| hosted.running_clock())?;
                let thinker = thinking.thinkers.take(&its_game, game.seat(), &bot, &thinking.resources);
                Some(thinker.map(|mut thinker| {
                    let choice = thinker.choose(&game, clock, seed.clone(), stop);
                    thinking.thinkers.put(&its_game, game.seat(), &bot, thinker);
                    choice
                }))
            });
            let thought = thought.await.flatten();
            on_disk(|| {
                // The move is of no use if the game has changed since.
                let played = match thought {
                    Some(Ok(Some(choice))) => open_game.at_version(version, |hosted| hosted.play(&self.dir, choice.mv)),
                    Some(Err(error)) => open_game.at_version(version, |_| Err(error.into())),
                    Some(Ok(None)) | None => return,
                };
                if matches!(played, Some(Ok(()))) {
                    count(&self.metrics.plies);
                }
                self.after(&open_game, played);
            });
        }
    }

    /// A bot that is bounded by its depth alone is so by nodes, too, where strangers come.
    fn bounded(&self, mut bot: Bot) -> Bot {
        let limits = &mut bot.budget.limits;
        if self.limits.bounds_depth && limits.nodes.is_none() && limits.playouts.is_none() && limits.time.is_none() {
            limits.nodes = Some(self.limits.bots.nodes);
        }
        bot
    }

    /// Deletes what was not touched for too long, but for what is in memory.
    pub(crate) fn prune(&self) {
        let Some(keep) = self.keep else { return };
        let old = match old_games(&self.dir, keep) {
            Ok(old) => old,
            Err(error) => return tracing::error!("cannot look for old games: {error}"),
        };
        let mut deleted = 0;
        for (id, files) in old {
            // As long as this is locked the game is not opened.
            let games = self.hosted_games();
            if games.get(&id).is_some_and(|open_game| open_game.strong_count() > 0) {
                continue;
            }
            match files.iter().try_for_each(|file| remove(file)) {
                Ok(()) => deleted += 1,
                Err(error) => tracing::error!("cannot delete an old game: {error}"),
            }
        }
        if deleted > 0 {
            tracing::info!(deleted, "old games were deleted");
            let less = |number: u64| Some(number.saturating_sub(deleted));
            let _ = self.folder_games.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
        }
    }

    /// Whether a visitor may begin one game more.
    pub(crate) fn check_new_game(&self, visitor: &Visitor) -> Result<(), LimitError> {
        if self.folder_games.load(Ordering::Relaxed) >= self.limits.folder_games {
            return Err(LimitError::FolderFull(self.limits.folder_games));
        }
        visitor.take_game(&self.limits)?;
        self.folder_games.fetch_add(1, Ordering::Relaxed);
        count(&self.metrics.games_begun);
        Ok(())
    }

    /// A page has closed a game. On a public server engines without a clock stop if it was the last, until a page opens the game.
    pub(crate) fn left(&self, open_game: &OpenGame) {
        let hosted = open_game.hosted();
        let mut going = open_game.going();
        let stops = self.public && !open_game.watchers.is_watched() && hosted.running_clock().is_none();
        if stops && going.thinking.is_some() {
            going.thinking = None;
            going.waits_for_page = true;
        }
    }

    /// Whether the server can do its work, or what keeps it from it.
    pub(crate) fn health(&self) -> Result<(), &'static str> {
        if *self.closing.borrow() {
            Err("the server is ending")
        } else if self.has_disk_trouble.load(Ordering::Relaxed) {
            Err("a journal could not be forced to the disk")
        } else {
            Ok(())
        }
    }

    /// True from the moment on at which the server ends.
    pub(crate) fn closing(&self) -> watch::Receiver<bool> {
        self.closing.subscribe()
    }

    /// The server ends: pages are told, and engines stop.
    pub(crate) fn close(&self) {
        self.closing.send_replace(true);
        for open_game in self.games_in_memory() {
            *open_game.going() = Going::default();
        }
    }

    /// Forces everything that was written to the disk.
    pub(crate) fn sync(&self) {
        for open_game in self.games_in_memory() {
            if let Err(error) = open_game.hosted().sync() {
                count(&self.metrics.sync_failures);
                tracing::error!("{error}");
            }
        }
    }

    fn games_in_memory(&self) -> Vec<Arc<OpenGame>> {
        self.hosted_games().values().filter_map(Weak::upgrade).collect()
    }

    /// A background task has finished: an engine's move, or a flag.
    fn after(self: &Arc<House>, open_game: &Arc<OpenGame>, done: Option<Result<(), HostedError>>) {
        let Some(done) = done else { return };
        self.go_on(open_game);
        if let Err(error) = done {
            // Opening the game again tries again.
            open_game.going().version = None;
            open_game.tell_trouble(Some(error.to_string()));
        }
    }
}

/// Makes a game findable as long as it is open, and forgets those that are closed.
fn hold(games: &mut HashMap<String, Weak<OpenGame>>, hosted: HostedGame) -> Arc<OpenGame> {
    games.retain(|_, open_game| open_game.strong_count() > 0);
    let id = hosted.id().to_owned();
    let watchers = Watchers::new(&hosted);
    let open_game = Arc::new(OpenGame {
        hosted: Mutex::new(hosted),
        watchers,
        going: Mutex::default(),
        timer: Timer::default(),
        visitor: Mutex::new(VisitorId::of(Ipv4Addr::LOCALHOST.into())),
    });
    games.insert(id, Arc::downgrade(&open_game));
    open_game
}

impl OpenGame {
    pub(crate) fn hosted(&self) -> MutexGuard<'_, HostedGame> {
        self.hosted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn going(&self) -> MutexGuard<'_, Going> {
        self.going.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// From now on its engines take this visitor's share.
    pub(crate) fn set_visitor(&self, visitor: VisitorId) {
        *self.visitor.lock().unwrap_or_else(PoisonError::into_inner) = visitor;
    }

    fn visitor(&self) -> VisitorId {
        *self.visitor.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether a page has it open.
    pub(crate) fn is_watched(&self) -> bool {
        self.watchers.is_watched()
    }

    /// The game as a page sees it now, and every change from now on.
    pub(crate) fn watch(&self) -> (GameView, broadcast::Receiver<Arc<Told>>) {
        self.watchers.watch(&self.hosted())
    }

    /// The game as a page sees it now; clocks have run since the last change.
    pub(crate) fn view(&self) -> GameView {
        self.watchers.view(&self.hosted())
    }

    /// Tells the pages what has changed, who is there among it.
    pub(crate) fn tell(&self, hosted: &HostedGame) {
        self.watchers.tell(hosted);
    }

    pub(crate) fn tell_trouble(&self, trouble: Option<String>) {
        let mut hosted = self.hosted();
        if hosted.note_trouble(trouble) {
            self.watchers.tell(&hosted);
        }
    }

    /// Does something if nothing has happened since `version`.
    fn at_version<T>(&self, version: u64, act: impl FnOnce(&mut HostedGame) -> T) -> Option<T> {
        let mut hosted = self.hosted();
        (hosted.version() == version).then(|| act(&mut hosted))
    }
}

impl Listed {
    fn of(hosted: &HostedGame, policy: &BotPolicy) -> Listed {
        let record = hosted.record();
        let tag = |name: &str| record.tags().get(name).map(str::to_owned);
        Listed {
            game: hosted.id().to_owned(),
            date: tag("Date"),
            first: ListedPlayer::of(record.player(Seat::First), policy),
            second: ListedPlayer::of(record.player(Seat::Second), policy),
            result: record.result().name(),
            reason: tag("Termination").or_else(|| tag("Void").map(|void| format!("void: {void}"))),
            plies: record.plies().len(),
            in_play: hosted.may_be_played(),
            damaged: hosted.damage().is_some(),
        }
    }

    /// A game of which nothing but its name is known.
    fn unreadable(id: &str) -> Listed {
        let unknown = || ListedPlayer { name: "?".to_owned(), level: None };
        Listed {
            game: id.to_owned(),
            date: None,
            first: unknown(),
            second: unknown(),
            result: "*",
            reason: None,
            plies: 0,
            in_play: false,
            damaged: true,
        }
    }
}

impl ListedPlayer {
    fn of(name: Option<&str>, policy: &BotPolicy) -> ListedPlayer {
        let level = name.and_then(|name| Occupant::named(name, policy).level());
        ListedPlayer { name: name.unwrap_or("?").to_owned(), level }
    }
}

/// Whether a bot may think for more than some milliseconds. What it is taken for here decides only how long it waits.
fn is_long(bot: &Bot) -> bool {
    const FEW_NODES: u64 = 5000;
    const FEW_PLAYOUTS: u64 = 2000;
    let limits = &bot.budget.limits;
    !(limits.nodes.is_some_and(|nodes| nodes <= FEW_NODES)
        || limits.playouts.is_some_and(|playouts| playouts <= FEW_PLAYOUTS))
}

pub(crate) const ID_DIGITS: usize = 16;

/// The name of the game as which a damaged one goes on.
pub(crate) fn continuation(id: &str) -> String {
    id_of(&Seed::from([8; 32]).child(id))
}

pub(crate) fn id_of(seed: &Seed) -> String {
    seed.to_string()[..ID_DIGITS].to_owned()
}

/// `2026.11.15`, as records write it.
fn today() -> String {
    let now = time::OffsetDateTime::now_utc();
    format!("{:04}.{:02}.{:02}", now.year(), u8::from(now.month()), now.day())
}
