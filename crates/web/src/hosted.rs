//! `HostedGame`: one game of the server, in play with its journal or kept as a record.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anqi_engine::BuildError;
use anqi_play::{BotPolicy, Clock, Command, Entry, EntryError, LiveGame, Occupant, Refusal, Secret, Terms, TermsError};
use anqi_records::{Record, RecordError, ReplayError, replay};
use anqi_rules::{Game, Move, Outcome, Seat, SeedError, excerpt};
use anqi_store::{Access, DamageReason, FolderLock, JournalError, Owner, Syncer, write_whole};

use crate::journal::{GameJournal, Head};

/// One game, in play or kept.
pub(crate) struct HostedGame {
    id: String,
    state: State,
    version: u64,
    /// Why the game may not be on the disk.
    trouble: Option<String>,
    /// What is wrong with its files.
    damage: Option<FileDamage>,
}

/// A file of a game that is not what was written. It is left as it is.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct FileDamage {
    /// Its name in the folder.
    pub(crate) file: String,
    /// Which line, if one can be named.
    pub(crate) line: Option<u64>,
    /// What is wrong there, without any text of the file.
    pub(crate) reason: String,
}

enum State {
    Live(Box<Live>),
    Kept(Box<Kept>),
}

/// A game in play, and where it is written down.
struct Live {
    game: LiveGame,
    journal: GameJournal,
    /// The times that the game is told are counted from here.
    start: Instant,
}

/// A game that is not played any more, with all that its record says.
struct Kept {
    record: Record,
    game: Game,
    seats: [Occupant; 2],
    take_backs: u32,
    /// Whether it was read from its record, not from a journal.
    is_record: bool,
}

/// Why something cannot be done in a hosted game.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HostedError {
    #[error("there is no game {0:?}")]
    NoSuchGame(String),
    #[error(transparent)]
    Terms(#[from] TermsError),
    #[error("first or second player: {0}")]
    Player(#[from] BuildError),
    #[error(transparent)]
    Refused(#[from] Refusal),
    #[error("this game is kept, not played: start a new one from its position")]
    Kept,
    #[error("{0:?} is not a move, expected c4 (a flip) or c6-c7")]
    NotAMove(String),
    #[error("it is not a person's turn")]
    NotYourTurn,
    #[error("no human sits at this table: only engines play")]
    NoHuman,
    #[error("cannot write the game down: {0}")]
    Io(#[from] io::Error),
    #[error("cannot write the game down: {}", .0.without_folder())]
    Journal(#[from] JournalError),
    #[error("the game cannot be read: {0}")]
    Damaged(String),
    #[error(
        "the game cannot be read: {file}: line {line}, the head, is damaged: {}; the deal was in it, so the game can neither be \
         shown nor go on, unless the file is restored from a copy", .reason.without_text()
    )]
    NoHead { file: String, line: u64, reason: DamageReason },
    #[error("no line of this game is damaged: it goes on as it is")]
    NotDamaged,
}

/// What games need to be written down in a folder.
pub(crate) struct Disk {
    pub(crate) lock: FolderLock,
    pub(crate) syncer: Syncer,
}

/// Errors of what a file holds.
macro_rules! damaged {
    ($($error:ty),*) => {
        $(impl From<$error> for HostedError {
            fn from(error: $error) -> HostedError {
                HostedError::Damaged(error.to_string())
            }
        })*
    };
}

damaged!(RecordError, ReplayError, EntryError, SeedError);

/// Why a journal cannot be read. Its text may hold the seeds of the deal, so none of it is told.
fn unreadable(path: &Path, error: JournalError) -> HostedError {
    match error {
        JournalError::Head { line, reason, .. } => HostedError::NoHead { file: file_name(path), line, reason },
        JournalError::Foreign { .. } => {
            HostedError::Damaged(format!("{}: line 1 is not that of a game", file_name(path)))
        }
        error => HostedError::Damaged(error.without_folder()),
    }
}

fn file_name(path: &Path) -> String {
    path.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned())
}

/// Where the journal of a game in play lies.
pub(crate) fn journal_path(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.journal"))
}

/// Where the record of a kept game lies.
pub(crate) fn record_path(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.anqi"))
}

impl Live {
    /// In whole milliseconds, as the journal keeps them: so a game that is read again has the same clocks.
    fn now(&self) -> Duration {
        Duration::from_millis(self.start.elapsed().as_millis() as u64)
    }
}

impl HostedGame {
    /// A new game on these terms. Its deal follows from the secret, and is promised before the first ply.
    pub(crate) fn new(
        dir: &Path,
        id: &str,
        terms: &Terms,
        secret: Secret,
        policy: &BotPolicy,
        disk: &Disk,
    ) -> Result<HostedGame, HostedError> {
        // The journal's first line is made before the secret is given away, and written when the terms are known to be good.
        let head = Head::new(terms.clone(), &secret);
        let game = LiveGame::begin(terms, secret, policy, Duration::ZERO)?;
        let owner = Owner::Folder(&disk.lock);
        let path = journal_path(dir, id);
        let journal = GameJournal::open_or_create(&path, owner, Access::Secret, &head, &disk.syncer, |_, _| {})?;
        Ok(HostedGame::live(id, game, journal))
    }

    /// A game that was begun before. If a line of its journal is damaged it is read up to there, and only shown.
    pub(crate) fn resume(dir: &Path, id: &str, policy: &BotPolicy, disk: &Disk) -> Result<HostedGame, HostedError> {
        let mut entries = Vec::new();
        let met = |entry, _| entries.push(entry);
        let path = journal_path(dir, id);
        let journal = match GameJournal::open(&path, Owner::Folder(&disk.lock), &disk.syncer, met) {
            Err(JournalError::Damaged { .. }) => return HostedGame::look(dir, id, policy),
            journal => journal.map_err(|error| unreadable(&path, error))?,
        };
        let mut game = LiveGame::begin(&journal.head().terms, journal.head().secret()?, policy, Duration::ZERO)?;
        game.commit(&entries, Duration::ZERO)?;
        let mut hosted = HostedGame::live(id, game, journal);
        if hosted.game().outcome().is_some() {
            hosted.keep(dir)?;
        }
        Ok(hosted)
    }

    /// A game that was begun before, read and not played.
    pub(crate) fn look(dir: &Path, id: &str, policy: &BotPolicy) -> Result<HostedGame, HostedError> {
        let (journal, _, game) = HostedGame::replay(dir, id, policy)?;
        let damage = journal.damages().named().first().map(|damage| FileDamage {
            file: file_name(journal.path()),
            line: Some(damage.line),
            reason: damage.reason.without_text().to_string(),
        });
        Ok(HostedGame { damage, ..HostedGame::new_state(id, HostedGame::kept(&game)) })
    }

    /// A journal that stays as it is, its entries up to the first damage, and the game that they give.
    fn replay(dir: &Path, id: &str, policy: &BotPolicy) -> Result<(GameJournal, Vec<Entry>, LiveGame), HostedError> {
        let (path, mut entries) = (journal_path(dir, id), Vec::new());
        let journal = GameJournal::read(&path, |entry, _| entries.push(entry));
        let journal = journal.map_err(|error| unreadable(&path, error))?;
        let mut game = LiveGame::begin(&journal.head().terms, journal.head().secret()?, policy, Duration::ZERO)?;
        game.commit(&entries, Duration::ZERO)?;
        Ok((journal, entries, game))
    }

    /// A game whose journal is damaged goes on from there as game `new`: its terms, its deal and what happened before the
    /// damage become a journal of their own, which is there whole or not at all. `None` if there is one already.
    ///
    /// # Errors
    /// If its journal cannot be read or is not damaged, the game was over before the damage, or the new one cannot be written.
    pub(crate) fn go_on_from_damage(
        dir: &Path,
        id: &str,
        new: &str,
        policy: &BotPolicy,
        disk: &Disk,
    ) -> Result<Option<HostedGame>, HostedError> {
        let (damaged, entries, game) = HostedGame::replay(dir, id, policy)?;
        if damaged.damages().count() == 0 {
            return Err(HostedError::NotDamaged);
        }
        if let Some(outcome) = game.game().outcome() {
            return Err(Refusal::Over(outcome).into());
        }
        let (path, owner) = (journal_path(dir, new), Owner::Folder(&disk.lock));
        let journal = GameJournal::create(&path, owner, Access::Secret, damaged.head(), &entries, &disk.syncer)?;
        Ok(journal.map(|journal| HostedGame::live(new, game, journal)))
    }

    /// What the files of a game give where both a record and a journal have its name. A kill leaves them so, after it was over
    /// and before its journal was taken away. A sound journal has checksums and a record has none, so the journal is right.
    pub(crate) fn of_both(
        record: Result<HostedGame, String>,
        journal: Result<HostedGame, HostedError>,
    ) -> Result<HostedGame, HostedError> {
        let is_whole = |journal: &HostedGame| journal.damage.is_none() && journal.game().outcome().is_some();
        let (flaw, mut game) = match (record, journal) {
            (Ok(record), Ok(journal)) if is_whole(&journal) && !record.is_same_game(&journal) => {
                ("it is not the game of its journal".to_owned(), journal)
            }
            (Ok(record), _) => return Ok(record),
            (Err(flaw), Ok(journal)) => (flaw, journal),
            (Err(flaw), Err(_)) => return Err(HostedError::Damaged(flaw)),
        };
        if game.damage.is_none() {
            let file = file_name(&record_path(Path::new(""), &game.id));
            game.damage = Some(FileDamage { file, line: None, reason: flaw });
        }
        Ok(game)
    }

    fn is_same_game(&self, other: &HostedGame) -> bool {
        self.game().plies() == other.game().plies() && self.game().outcome() == other.game().outcome()
    }

    fn new_state(id: &str, state: State) -> HostedGame {
        HostedGame { id: id.to_owned(), state, version: 0, trouble: None, damage: None }
    }

    /// What is wrong with the files of the game.
    pub(crate) fn damage(&self) -> Option<&FileDamage> {
        self.damage.as_ref()
    }

    /// Whether the damaged game can go on as a new one, or why not.
    pub(crate) fn check_can_go_on(&self) -> Result<(), HostedError> {
        match self.game().outcome() {
            Some(outcome) => Err(Refusal::Over(outcome).into()),
            None if self.can_go_on() => Ok(()),
            None => Err(HostedError::NotDamaged),
        }
    }

    /// Whether the damaged game can go on as a new one.
    pub(crate) fn can_go_on(&self) -> bool {
        let in_journal = |damage: &FileDamage| damage.file == file_name(&journal_path(Path::new(""), &self.id));
        self.damage.as_ref().is_some_and(in_journal) && self.game().outcome().is_none()
    }

    /// A live game as one that is not played any more.
    fn kept(game: &LiveGame) -> State {
        State::Kept(Box::new(Kept {
            game: game.game().clone(),
            seats: Seat::ALL.map(|seat| game.occupant(seat).clone()),
            take_backs: game.take_backs(),
            record: game.record(),
            is_record: false,
        }))
    }

    fn live(id: &str, game: LiveGame, journal: GameJournal) -> HostedGame {
        let live = Live { game, journal, start: Instant::now() };
        HostedGame::new_state(id, State::Live(Box::new(live)))
    }

    /// A record as a kept game; what the rules refuse is an error.
    pub(crate) fn of_record(id: &str, record: &Record, policy: &BotPolicy) -> Result<HostedGame, HostedError> {
        let replay = replay(record, None)?;
        if let Some(illegal) = replay.illegal {
            return Err(HostedError::Damaged(format!("ply {}: {}", illegal.ply, illegal.error)));
        }
        let occupant = |seat| record.player(seat).map_or(Occupant::Human, |name| Occupant::named(name, policy));
        let kept = Kept {
            game: replay.game,
            seats: Seat::ALL.map(occupant),
            take_backs: record.tags().get("TakeBacks").and_then(|count| count.parse().ok()).unwrap_or(0),
            record: record.clone(),
            is_record: true,
        };
        Ok(HostedGame::new_state(id, State::Kept(Box::new(kept))))
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn game(&self) -> &Game {
        match &self.state {
            State::Live(live) => live.game.game(),
            State::Kept(kept) => &kept.game,
        }
    }

    /// Changes with everything that happens in the game.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Why the game may not be on the disk.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// Notes whether the game is on the disk, and says whether that is new.
    pub(crate) fn note_trouble(&mut self, trouble: Option<String>) -> bool {
        let is_new = trouble != self.trouble;
        self.trouble = trouble;
        is_new
    }

    pub(crate) fn take_backs(&self) -> u32 {
        match &self.state {
            State::Live(live) => live.game.take_backs(),
            State::Kept(kept) => kept.take_backs,
        }
    }

    pub(crate) fn is_in_play(&self) -> bool {
        matches!(self.state, State::Live(_)) && self.game().outcome().is_none()
    }

    pub(crate) fn occupant(&self, seat: Seat) -> &Occupant {
        match &self.state {
            State::Live(live) => live.game.occupant(seat),
            State::Kept(kept) => &kept.seats[seat as usize],
        }
    }

    /// Whether it is known by its record alone.
    pub(crate) fn is_record(&self) -> bool {
        matches!(&self.state, State::Kept(kept) if kept.is_record)
    }

    /// Who is to move, while the game goes on.
    pub(crate) fn to_move(&self) -> Option<&Occupant> {
        self.is_in_play().then(|| self.occupant(self.game().seat()))
    }

    /// The game as a record; the seed is in it only when the game is over.
    pub(crate) fn record(&self) -> Record {
        match &self.state {
            State::Live(live) => live.game.record(),
            State::Kept(kept) => kept.record.clone(),
        }
    }

    /// What a record calls a side.
    pub(crate) fn name(&self, seat: Seat) -> String {
        match &self.state {
            State::Live(live) => live.game.occupant(seat).recorded(),
            State::Kept(kept) => kept.record.player(seat).unwrap_or("?").to_owned(),
        }
    }

    /// What was promised about the deal.
    pub(crate) fn commitment(&self) -> Option<String> {
        match &self.state {
            State::Live(live) => live.game.view(live.now()).commitment.map(|commitment| commitment.to_string()),
            State::Kept(kept) => kept.record.tags().get("DealCommit").map(str::to_owned),
        }
    }

    /// Seed and nonce of the deal, once the game is over.
    pub(crate) fn deal(&self) -> Option<[String; 2]> {
        match &self.state {
            State::Live(live) => {
                live.game.told().map(|secret| [secret.seed(), secret.nonce()].map(ToString::to_string))
            }
            State::Kept(kept) => {
                let tag = |name| kept.record.tags().get(name).map(str::to_owned);
                Some([tag("Seed")?, tag("DealNonce")?])
            }
        }
    }

    /// Whether there is a decision of a human to take back.
    pub(crate) fn can_take_back(&self) -> bool {
        matches!(&self.state, State::Live(live) if live.game.view(live.now()).can_take_back)
    }

    /// The time control, and what is left to the side to move.
    pub(crate) fn running_clock(&self) -> Option<(Clock, Duration)> {
        match &self.state {
            State::Live(live) => live.game.running_clock(live.now()),
            State::Kept(_) => None,
        }
    }

    /// What both clocks show.
    pub(crate) fn clocks(&self) -> Option<[Duration; 2]> {
        let State::Live(live) = &self.state else { return None };
        let [first, second] = live.game.clocks(live.now());
        Some([first?, second?])
    }

    /// Plays a human's move that was meant for ply number `meant`.
    pub(crate) fn play_person(&mut self, dir: &Path, mv: &str, meant: usize) -> Result<(), HostedError> {
        let stands = self.game().plies().len();
        if meant != stands {
            return Err(Refusal::TooLate { meant, stands }.into());
        }
        let mv = self.person_move(mv)?;
        self.play(dir, mv)
    }

    /// A human's move, if it could be played now.
    pub(crate) fn person_move(&self, mv: &str) -> Result<Move, HostedError> {
        let mv: Move = mv.parse().map_err(|_| HostedError::NotAMove(excerpt(mv)))?;
        match self.to_move() {
            Some(Occupant::Human) if self.game().is_legal(mv) => Ok(mv),
            Some(Occupant::Human) => Err(Refusal::Illegal { mv, position: *self.game().position() }.into()),
            Some(_) => Err(HostedError::NotYourTurn),
            None => Err(self.ended()),
        }
    }

    /// Plays a move of the side to move.
    pub(crate) fn play(&mut self, dir: &Path, mv: Move) -> Result<(), HostedError> {
        let (seat, ply) = (self.game().seat(), self.game().plies().len());
        self.apply(dir, seat, &Command::Play { mv, ply, used: None })
    }

    /// Takes back up to the last decision of a human.
    pub(crate) fn take_back(&mut self, dir: &Path) -> Result<(), HostedError> {
        self.apply(dir, self.game().seat(), &Command::TakeBack)
    }

    /// A human gives up: the one to move, or the only one in the game.
    pub(crate) fn resign(&mut self, dir: &Path) -> Result<(), HostedError> {
        let State::Live(live) = &self.state else { return Err(self.ended()) };
        let loser = live.game.acting_human().ok_or(HostedError::NoHuman)?;
        self.apply(dir, loser, &Command::Resign)
    }

    /// The human to move, or the only one, offers a draw. Engines decline at once.
    pub(crate) fn offer_draw(&mut self, dir: &Path) -> Result<(), HostedError> {
        let State::Live(live) = &self.state else { return Err(self.ended()) };
        let by = live.game.acting_human().ok_or(HostedError::NoHuman)?;
        self.apply(dir, by, &Command::Offer)?;
        match self.occupant(by.other()) {
            Occupant::Human => Ok(()),
            _ if self.offer() == Some(by) => self.apply(dir, by.other(), &Command::Decline),
            _ => Ok(()),
        }
    }

    /// The other human accepts or declines the draw that is offered.
    pub(crate) fn answer_draw(&mut self, dir: &Path, answer: &Command) -> Result<(), HostedError> {
        // Without an offer the refusal says so to the side to move.
        let by = self.offer().map_or(self.game().seat(), Seat::other);
        self.apply(dir, by, answer)
    }

    /// Who has offered a draw that stands.
    pub(crate) fn offer(&self) -> Option<Seat> {
        if let State::Live(live) = &self.state { live.game.offer() } else { None }
    }

    /// Ends the game if the side to move has no time left.
    pub(crate) fn fall_flag(&mut self, dir: &Path) -> Result<(), HostedError> {
        self.apply(dir, self.game().seat(), &Command::Flag)
    }

    /// Carries a command out: its entry is in the journal first, then in the game.
    fn apply(&mut self, dir: &Path, by: Seat, command: &Command) -> Result<(), HostedError> {
        let ended = self.ended();
        let State::Live(live) = &mut self.state else { return Err(ended) };
        let now = live.now();
        let Some(entry) = live.game.propose(by, command, now)? else { return Ok(()) };
        let entries = [entry];
        live.journal.append_all(&entries)?;
        live.game.commit(&entries, now).map_err(Refusal::from)?;
        self.version += 1;
        if self.game().outcome().is_some() { self.keep(dir) } else { Ok(()) }
    }

    /// Why nothing can be done any more.
    fn ended(&self) -> HostedError {
        self.game().outcome().map_or(HostedError::Kept, |outcome: Outcome| Refusal::Over(outcome).into())
    }

    /// The game is over: a record takes the place of the journal, and the deal is told.
    fn keep(&mut self, dir: &Path) -> Result<(), HostedError> {
        let State::Live(live) = &self.state else { return Ok(()) };
        let record = live.game.record();
        write_whole(&record_path(dir, &self.id), Access::Ordinary, |file| {
            file.write_all(record.to_string().as_bytes())
        })?;
        self.trouble = None;
        let kept = HostedGame::kept(&live.game);
        let removed = live.journal.remove();
        self.state = kept;
        Ok(removed?)
    }
}
