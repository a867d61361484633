//! The house: all hosted games, their folder, and the engines that play in them.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::thread::available_parallelism;
use std::time::{Duration, SystemTime};

use anqi_engine::{BuildError, Choice, Resources, Stop};
use anqi_play::{Analyst, AnalystError, BotPolicy, Occupant, Secret, Terms, TermsError};
use anqi_records::{Reader, Record};
use anqi_rules::{Game, Seat, Seed, excerpt};
use anqi_store::{Access, FolderLock, JournalError, LockError, Syncer, create_secret_folder, write_whole};
use tokio::sync::{Semaphore, broadcast};
use tokio::task::AbortHandle;

use crate::folder;
use crate::holder::Holder;
use crate::hosted::{Disk, HostedError, HostedGame, journal_path, record_path};
use crate::presence::{Timer, Waits};
use crate::seat::Tokens;
use crate::thinkers::Thinkers;
use crate::view::GameView;
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
    /// What a page may ask of players.
    policy: BotPolicy,
    thinkers: Thinkers,
    /// Slots for playing engines and for analysis; neither waits for the other.
    pub(crate) play_slots: Semaphore,
    pub(crate) study_slots: Semaphore,
    pub(crate) analyst: Analyst,
    resources: Resources,
    /// Whether a game without seats is for spectators alone.
    public: bool,
    waits: Waits,
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
    /// Whether strangers play here: then every new game has seats that are held by tokens, and one without is only watched.
    pub public: bool,
    /// How long is waited for players.
    pub waits: Waits,
}

/// A hosted game in memory, its watchers and what is under way in it.
pub(crate) struct OpenGame {
    hosted: Mutex<HostedGame>,
    watchers: Watchers,
    going: Mutex<Going>,
    pub(crate) timer: Timer,
}

/// What is under way in a game.
#[derive(Default)]
struct Going {
    /// The version of the game that it belongs to.
    version: Option<u64>,
    thinking: Stop,
    flag: Option<AbortHandle>,
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
        let cores = available_parallelism().map_or(1, usize::from);
        let policy = BotPolicy::page(u32::try_from(cores).unwrap_or(u32::MAX));
        for note in folder::tidy(dir, &policy).map_err(failed)? {
            eprintln!("{note}");
        }
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
            thinkers: Thinkers::default(),
            play_slots: Semaphore::new(cores),
            study_slots: Semaphore::new(cores.div_ceil(2)),
            analyst,
            resources: settings.resources,
            public: settings.public,
            waits: settings.waits,
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
    pub fn announce(&self, address: SocketAddr) -> Result<(), HouseError> {
        let failed = |error| HouseError::Folder { path: self.dir.display().to_string(), error };
        let holder = Holder::new(address).map_err(failed)?;
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
    fn new_name(&self) -> io::Result<(String, Seed)> {
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
            if !self.hosted_games().contains_key(&id)
                && ![journal_path(&self.dir, &id), record_path(&self.dir, &id)].iter().any(|path| path.exists())
            {
                return Ok((id, secret));
            }
        }
    }

    /// Begins a game; [`go_on`](House::go_on) lets it go on. Gives the tokens of its seats, if it has any.
    pub(crate) fn begin(&self, terms: Terms) -> Result<(Arc<OpenGame>, Option<Tokens>), HostedError> {
        // A name is used up even if nothing comes of the game: so did the first version, and its sessions replay.
        let (id, secret) = self.new_name()?;
        let mut humans = [false; 2];
        for (wanted, human) in [&terms.first, &terms.second].into_iter().zip(&mut humans) {
            let occupant = Occupant::read(wanted, &self.policy).map_err(TermsError::from)?;
            occupant.bot().map_or(Ok(()), |bot| self.resources.open_for(&bot.player))?;
            *human = occupant.is_human();
        }
        let mut terms = Terms { date: Some(today()), ..terms }.with_engines(&self.policy, &self.resources)?;
        let waits_for_players = terms.invited.is_some() || terms.contributes != [false; 2];
        if waits_for_players {
            terms.name.clone_from(&id);
        }
        let within = waits_for_players.then_some(self.waits.begin);
        let tokens =
            (self.public || terms.invited.is_some()).then(|| Tokens::new(&id, humans, terms.invited)).transpose()?;
        let (seats, tokens) = tokens.unzip();
        let secret = Secret::from_seed(&secret);
        let hosted = HostedGame::with_seats(&self.dir, &id, &terms, secret, seats, within, &self.policy, &self.disk)?;
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
        let new = id_of(&Seed::from([8; 32]).child(id));
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
        if let Err(error) = &result {
            eprintln!("{error}");
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

    /// A game as the list shows it, without sitting down at it; `None` if it is not there any more.
    fn peek(&self, id: &str) -> Option<Listed> {
        let open_game = self.hosted_games().get(id).and_then(Weak::upgrade);
        if let Some(open_game) = open_game {
            let hosted = open_game.hosted();
            return Some(Listed::of(&hosted, hosted.is_in_play(), &self.policy));
        }
        let look = || HostedGame::look(&self.dir, id, &self.policy);
        Some(match folder::game(&self.dir, id, &self.policy, look)? {
            Ok(hosted) => {
                let in_play =
                    hosted.damage().is_none() && !hosted.is_over() && !hosted.is_record() && !hosted.is_too_late();
                Listed::of(&hosted, in_play, &self.policy)
            }
            Err(_) => Listed::unreadable(id),
        })
    }

    /// Tells the pages of a game what has changed, and lets an engine move and the clock run.
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
                return;
            }
            Some(_) => open_game.watchers.tell(&hosted),
            // A page that opens the game gets all of it.
            None => {}
        }
        going.thinking.raise();
        if let Some(flag) = going.flag.take() {
            flag.abort();
        }
        *going = Going { version: Some(version), ..Going::default() };
        let clock = hosted.running_clock();
        if let Some((_, left)) = clock {
            let (house, open_game) = (Arc::clone(self), Arc::clone(open_game));
            let flag = tokio::spawn(async move {
                tokio::time::sleep(left + Duration::from_millis(1)).await;
                let fallen = open_game.at_version(version, |hosted| hosted.fall_flag(&house.dir));
                house.after(&open_game, fallen);
            });
            going.flag = Some(flag.abort_handle());
        }
        let Some(bot) = hosted.to_move().and_then(Occupant::bot).cloned() else { return };
        let seat = hosted.game().seat();
        let (game, stop) = (hosted.game().clone(), going.thinking.clone());
        // Nothing hidden goes into it: the game's public name and the ply.
        let seed = Seed::from([3; 32]).child(hosted.id()).child(game.plies().len().to_le_bytes());
        let (house, open_game) = (Arc::clone(self), Arc::clone(open_game));
        tokio::spawn(async move {
            let Ok(_permit) = house.play_slots.acquire().await else { return };
            let (thinking, its_game) = (Arc::clone(&house), Arc::clone(&open_game));
            let thought = tokio::task::spawn_blocking(move || {
                let mut thinker = thinking.thinkers.take(&its_game, seat, &bot, &thinking.resources)?;
                let choice = thinker.choose(&game, clock, seed, &stop);
                thinking.thinkers.put(&its_game, seat, &bot, thinker);
                Ok::<_, BuildError>(choice)
            });
            let thought = thought.await;
            // The move is of no use if the game has changed since.
            let played = match thought {
                Ok(Ok(Some(choice))) => open_game.at_version(version, |hosted| hosted.play(&house.dir, choice.mv)),
                Ok(Err(error)) => open_game.at_version(version, |_| Err(error.into())),
                Ok(Ok(None)) | Err(_) => return,
            };
            house.after(&open_game, played);
        });
    }

    /// Lets the analyst think as soon as it is its turn among `those` who think.
    pub(crate) async fn think(
        self: &Arc<House>,
        those: &Semaphore,
        game: Game,
        nodes: u64,
        stop: Stop,
    ) -> Option<Choice> {
        let _permit = those.acquire().await.ok()?;
        let house = Arc::clone(self);
        tokio::task::spawn_blocking(move || house.analyst.think(&game, nodes, &stop)).await.ok()?
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
    let open_game =
        Arc::new(OpenGame { hosted: Mutex::new(hosted), watchers, going: Mutex::default(), timer: Timer::default() });
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
    fn of(hosted: &HostedGame, in_play: bool, policy: &BotPolicy) -> Listed {
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
            in_play,
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

const ID_DIGITS: usize = 16;

fn id_of(seed: &Seed) -> String {
    seed.to_string()[..ID_DIGITS].to_owned()
}

/// `2026.11.15`, as records write it.
fn today() -> String {
    let now = time::OffsetDateTime::now_utc();
    format!("{:04}.{:02}.{:02}", now.year(), u8::from(now.month()), now.day())
}
