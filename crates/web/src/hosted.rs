//! `HostedGame`: one game of the server, in play with its journal or kept as a record.

use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anqi_engine::BuildError;
use anqi_play::{
    BotPolicy, Clock, Command, Entry, EntryError, JointDeal, LiveGame, Occupant, Refusal, Secret, SeriesGame, Terms,
    TermsError, Void,
};
use anqi_records::{Record, RecordError, ReplayError, Tags, replay};
use anqi_rules::{Commitment, Game, Move, Seat, Seed, SeedError, excerpt};
use anqi_store::{Access, DamageReason, FolderLock, JournalError, Owner, Syncer, write_whole};

use crate::journal::{GameJournal, Head};
use crate::presence::{Place, Presence, Waits};
use crate::seat::{Held, Seats, Token, TokenUse};

/// One game, in play or kept.
pub(crate) struct HostedGame {
    id: String,
    state: State,
    version: u64,
    /// Why the game may not be on the disk.
    trouble: Option<String>,
    /// The last write, if it failed.
    failed_write: Option<String>,
    /// Whether the pages have not heard of that.
    has_news: bool,
    /// What is wrong with its files.
    damage: Option<FileDamage>,
    /// Who holds its seats; `None` in a game that has none.
    seats: Option<Seats>,
    /// By when it must have begun, in milliseconds since 1970.
    until: Option<u64>,
    /// Who is there.
    places: [Place; 2],
    /// Since when all that is missing are players who are there and do not reveal their part of the deal.
    silent_since: Option<Instant>,
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
    joint: Option<JointDeal>,
    /// Whether all was there for its first ply.
    has_begun: bool,
    /// What the player was known by who was invited and has come.
    guest: Option<(Seat, String)>,
    series: Option<SeriesGame>,
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
    #[error("you are watching this game: only its players can do that")]
    NotSeated,
    #[error("this is a game of a series: no hints, warnings and analyses until it is over")]
    InSeries,
    #[error("this link holds no seat of this game: open the game without it to watch")]
    WrongToken,
    #[error("the invitation was used: another player has the seat; open the game without it to watch")]
    Taken,
    #[error("{0}")]
    NoPart(SeedError),
    #[error("there is no other player in this game whose seat could be claimed")]
    NothingToClaim,
    #[error("the {} player is not away: a game can be claimed when it has been away for {after} seconds", .seat.name())]
    NotAway { seat: Seat, after: u64 },
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
    #[cfg(test)]
    pub(crate) fn new(
        dir: &Path,
        id: &str,
        terms: &Terms,
        secret: Secret,
        policy: &BotPolicy,
        disk: &Disk,
    ) -> Result<HostedGame, HostedError> {
        HostedGame::with_seats(dir, id, terms, secret, None, None, policy, disk)
    }

    /// A new game whose seats are held by tokens, and which must begin in so much time, if that is given.
    #[expect(clippy::too_many_arguments, reason = "what a game is made of")]
    pub(crate) fn with_seats(
        dir: &Path,
        id: &str,
        terms: &Terms,
        secret: Secret,
        seats: Option<Seats>,
        within: Option<Duration>,
        policy: &BotPolicy,
        disk: &Disk,
    ) -> Result<HostedGame, HostedError> {
        let until = within.map(|within| milliseconds_now().saturating_add(within.as_millis() as u64));
        // The journal's first line is made before the secret is given away, and written when the terms are known to be good.
        let head = Head::new(terms.clone(), &secret, seats, until);
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
        if hosted.is_over() {
            // If that fails its journal still has it all.
            let kept = hosted.keep(dir);
            hosted.note_write(&kept);
        } else if hosted.is_too_late() {
            // A write that fails is noted, and tried again when the game is opened next.
            drop(hosted.make_void(dir, Void::Expired));
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
        let seats = journal.head().seats.clone();
        let until = journal.head().until;
        Ok(HostedGame { damage, seats, until, ..HostedGame::new_state(id, HostedGame::kept(&game)) })
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
        if let Some(void) = game.void() {
            return Err(Refusal::Void(void).into());
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
        let is_whole = |journal: &HostedGame| journal.damage.is_none() && journal.is_over();
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
        HostedGame {
            id: id.to_owned(),
            state,
            version: 0,
            trouble: None,
            failed_write: None,
            has_news: false,
            damage: None,
            seats: None,
            until: None,
            places: [Place::default(); 2],
            silent_since: None,
        }
    }

    /// What is wrong with the files of the game.
    pub(crate) fn damage(&self) -> Option<&FileDamage> {
        self.damage.as_ref()
    }

    /// Whether the damaged game can go on as a new one, or why not.
    pub(crate) fn check_can_go_on(&self) -> Result<(), HostedError> {
        match self.can_go_on() {
            true => Ok(()),
            false if self.is_over() => Err(self.ended()),
            false => Err(HostedError::NotDamaged),
        }
    }

    /// Whether the damaged game can go on as a new one.
    pub(crate) fn can_go_on(&self) -> bool {
        let in_journal = |damage: &FileDamage| damage.file == file_name(&journal_path(Path::new(""), &self.id));
        self.damage.as_ref().is_some_and(in_journal) && !self.is_over()
    }

    /// A live game as one that is not played any more.
    fn kept(game: &LiveGame) -> State {
        State::Kept(Box::new(Kept {
            game: game.game().clone(),
            seats: Seat::ALL.map(|seat| game.occupant(seat).clone()),
            take_backs: game.take_backs(),
            joint: game.joint().cloned(),
            has_begun: game.has_begun(),
            guest: game.guest().map(|(seat, key)| (seat, key.to_owned())),
            series: game.series().cloned(),
            record: game.record(),
            is_record: false,
        }))
    }

    fn live(id: &str, game: LiveGame, journal: GameJournal) -> HostedGame {
        let (seats, until) = (journal.head().seats.clone(), journal.head().until);
        let live = Live { game, journal, start: Instant::now() };
        HostedGame { seats, until, ..HostedGame::new_state(id, State::Live(Box::new(live))) }
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
            // What does not fit is found when the deal is checked.
            joint: JointDeal::of_record(record.tags()).ok().flatten(),
            has_begun: true,
            guest: None,
            // What is wrong with it is found when its series is looked at.
            series: SeriesGame::of_record(record.tags()).ok().flatten(),
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

    /// Forces what was written to the disk.
    pub(crate) fn sync(&self) -> Result<(), JournalError> {
        if let State::Live(live) = &self.state { live.journal.sync() } else { Ok(()) }
    }

    /// Changes with everything that happens in the game.
    pub(crate) fn version(&self) -> u64 {
        self.version
    }

    /// Why the game may not be on the disk.
    pub(crate) fn trouble(&self) -> Option<&str> {
        self.failed_write.as_deref().or(self.trouble.as_deref())
    }

    /// A write that fails is told to all pages of the game, until one succeeds.
    fn note_write<T>(&mut self, written: &Result<T, HostedError>) {
        let failed = match written {
            Ok(_) => None,
            Err(error @ (HostedError::Io(_) | HostedError::Journal(_))) => Some(error.to_string()),
            Err(_) => return,
        };
        self.has_news |= failed != self.failed_write;
        self.failed_write = failed;
    }

    /// Whether the pages should hear of a write that failed, or that succeeds again.
    pub(crate) fn take_news(&mut self) -> bool {
        std::mem::take(&mut self.has_news)
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
        matches!(self.state, State::Live(_)) && !self.is_over()
    }

    /// Whether it is in play, or would be if a page opened it.
    pub(crate) fn may_be_played(&self) -> bool {
        let is_left = self.damage.is_none() && !self.is_over() && !self.is_record() && !self.is_too_late();
        self.is_in_play() || is_left
    }

    /// The place of the game in its series, if it is of one.
    pub(crate) fn series(&self) -> Option<&SeriesGame> {
        match &self.state {
            State::Live(live) => live.game.series(),
            State::Kept(kept) => kept.series.as_ref(),
        }
    }

    /// Refuses to think for a player of a series, whose game is not over; a damaged one may go on.
    pub(crate) fn check_no_help(&self) -> Result<(), HostedError> {
        if self.series().is_some() && !self.is_over() { Err(HostedError::InSeries) } else { Ok(()) }
    }

    /// Whether the game has ended, or is void.
    pub(crate) fn is_over(&self) -> bool {
        self.game().outcome().is_some() || self.void().is_some()
    }

    /// Why the game ended before it began.
    pub(crate) fn void(&self) -> Option<Void> {
        match &self.state {
            State::Live(live) => live.game.void(),
            State::Kept(kept) => kept.record.tags().get("Void").and_then(|void| void.parse().ok()),
        }
    }

    /// What the players contribute to the deal; `None` if the server alone deals.
    pub(crate) fn joint(&self) -> Option<&JointDeal> {
        match &self.state {
            State::Live(live) => live.game.joint(),
            State::Kept(kept) => kept.joint.as_ref(),
        }
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
        if let State::Live(live) = &self.state { live.game.to_move() } else { None }
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

    /// Seed and nonce that the server has promised, once the game is over.
    pub(crate) fn deal(&self) -> Option<[String; 2]> {
        let seed = if self.joint().is_some() { "DealSeed" } else { "Seed" };
        let told = |tags: &Tags| {
            let tag = |name| tags.get(name).map(str::to_owned);
            Some([tag(seed)?, tag("DealNonce")?])
        };
        match &self.state {
            State::Live(live) => live.game.told().and_then(|_| told(&live.game.tags())),
            State::Kept(kept) => told(kept.record.tags()),
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
    pub(crate) fn play_person(&mut self, dir: &Path, held: Held, mv: &str, meant: usize) -> Result<(), HostedError> {
        let stands = self.game().plies().len();
        if meant != stands {
            return Err(Refusal::TooLate { meant, stands }.into());
        }
        let mv = self.person_move(held, mv)?;
        self.play(dir, mv)
    }

    /// A human's move, if it could be played now.
    pub(crate) fn person_move(&self, held: Held, mv: &str) -> Result<Move, HostedError> {
        let mv: Move = mv.parse().map_err(|_| HostedError::NotAMove(excerpt(mv)))?;
        let seat = self.game().seat();
        match self.to_move() {
            Some(Occupant::Human) if !held.holds(seat) => Err(Refusal::NotYourTurn(seat.other()).into()),
            Some(Occupant::Human) if self.game().is_legal(mv) => Ok(mv),
            Some(Occupant::Human) => Err(Refusal::Illegal { mv, position: *self.game().position() }.into()),
            Some(_) => Err(HostedError::NotYourTurn),
            None => Err(self.stands_still()),
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

    /// The human who acts for a connection with these seats: the one to move, or the only one.
    fn acting_human(&self, held: Held) -> Result<Seat, HostedError> {
        if !matches!(self.state, State::Live(_)) {
            return Err(self.ended());
        }
        let humans = held.seats().filter(|&seat| self.occupant(seat).is_human());
        humans.max_by_key(|&seat| seat == self.game().seat()).ok_or(HostedError::NoHuman)
    }

    /// A human gives up: the one to move, or the only one in the game.
    pub(crate) fn resign(&mut self, dir: &Path, held: Held) -> Result<(), HostedError> {
        let loser = self.acting_human(held)?;
        self.apply(dir, loser, &Command::Resign)
    }

    /// The human to move, or the only one, offers a draw. Engines decline at once.
    pub(crate) fn offer_draw(&mut self, dir: &Path, held: Held) -> Result<(), HostedError> {
        let by = self.acting_human(held)?;
        self.apply(dir, by, &Command::Offer)?;
        match self.occupant(by.other()) {
            Occupant::Human => Ok(()),
            _ if self.offer() == Some(by) => self.apply(dir, by.other(), &Command::Decline),
            _ => Ok(()),
        }
    }

    /// The other human accepts or declines the draw that is offered.
    pub(crate) fn answer_draw(&mut self, dir: &Path, held: Held, answer: &Command) -> Result<(), HostedError> {
        // Without an offer to one of these seats the refusal says so.
        let asked = self.offer().map_or(self.game().seat(), Seat::other);
        let by = if held.holds(asked) { asked } else { asked.other() };
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

    /// Carries a command out, and notes whether it could be written down.
    fn apply(&mut self, dir: &Path, by: Seat, command: &Command) -> Result<(), HostedError> {
        let before = self.version;
        let done = self.carry_out(dir, by, command);
        // What leads to no entry writes nothing.
        if done.is_err() || self.version != before {
            self.note_write(&done);
        }
        done
    }

    /// Carries a command out: its entry is in the journal first, then in the game.
    fn carry_out(&mut self, dir: &Path, by: Seat, command: &Command) -> Result<(), HostedError> {
        let ended = self.ended();
        let State::Live(live) = &mut self.state else { return Err(ended) };
        let now = live.now();
        let Some(entry) = live.game.propose(by, command, now)? else { return Ok(()) };
        let entries = [entry];
        live.journal.append_all(&entries)?;
        live.game.commit(&entries, now).map_err(Refusal::from)?;
        self.version += 1;
        self.note_silence();
        if self.is_over() { self.keep(dir) } else { Ok(()) }
    }

    /// Why nothing can be done any more.
    fn ended(&self) -> HostedError {
        match (self.game().outcome(), self.void()) {
            (Some(outcome), _) => Refusal::Over(outcome).into(),
            (None, Some(void)) => Refusal::Void(void).into(),
            (None, None) => HostedError::Kept,
        }
    }

    /// Why there is no side to move.
    fn stands_still(&self) -> HostedError {
        match &self.state {
            State::Live(live) if !live.game.is_over() => Refusal::NotBegun(live.game.invited()).into(),
            _ => self.ended(),
        }
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

/// Seats, and what happens before the first ply.
impl HostedGame {
    /// Whether its seats are held by tokens.
    pub(crate) fn has_seats(&self) -> bool {
        self.seats.is_some()
    }

    /// Which seats a connection acts for that shows this token, or none. `is_public` says that a game without seats is for
    /// spectators alone.
    ///
    /// # Errors
    /// If the token is good for nothing here.
    pub(crate) fn seats_of(&self, token: Option<&str>, is_public: bool) -> Result<Held, HostedError> {
        let (Some(seats), Some(token)) = (&self.seats, token) else {
            // A game that is over needs no seats any more, whatever the page remembers.
            return match token.is_some() && !self.is_over() {
                true => Err(HostedError::WrongToken),
                false => Ok(if self.has_seats() || is_public { Held::NONE } else { Held::ALL }),
            };
        };
        match seats.use_of(token, self.guest()) {
            TokenUse::Holds(held) => Ok(held),
            TokenUse::Invites if self.invited().is_some() => Ok(Held::NONE),
            _ if self.is_over() => Ok(Held::NONE),
            TokenUse::Invites => Err(HostedError::Taken),
            TokenUse::Nothing => Err(HostedError::WrongToken),
        }
    }

    fn guest(&self) -> Option<(Seat, &str)> {
        match &self.state {
            State::Live(live) => live.game.guest(),
            State::Kept(kept) => kept.guest.as_ref().map(|(seat, key)| (*seat, key.as_str())),
        }
    }

    /// The seat that waits for a player who is invited.
    pub(crate) fn invited(&self) -> Option<Seat> {
        if let State::Live(live) = &self.state { live.game.invited() } else { None }
    }

    /// Gives the free seat, and a token for it, to the first who shows the invitation.
    pub(crate) fn join(&mut self, dir: &Path, invitation: &str) -> Result<(Held, Token), HostedError> {
        let seats = self.seats.as_ref().ok_or(HostedError::WrongToken)?;
        if seats.use_of(invitation, self.guest()) != TokenUse::Invites {
            return Err(HostedError::WrongToken);
        }
        let Some(seat) = self.invited() else {
            return Err(if self.is_over() { self.ended() } else { HostedError::Taken });
        };
        let token = Token::random()?;
        let key = token.key(&seats.game).text();
        self.apply(dir, seat, &Command::Join { key })?;
        Ok((Held::only(seat), token))
    }

    /// A player commits to its part of the deal.
    pub(crate) fn commit(&mut self, dir: &Path, held: Held, commitment: &str) -> Result<(), HostedError> {
        let commitment: Commitment = commitment.parse().map_err(HostedError::NoPart)?;
        let by = self.contributor(held, JointDeal::awaits_commitment)?;
        self.apply(dir, by, &Command::Commit(commitment))
    }

    /// A player reveals its part.
    pub(crate) fn reveal(&mut self, dir: &Path, held: Held, seed: &str, nonce: &str) -> Result<(), HostedError> {
        let read = |text: &str| text.parse::<Seed>().map_err(HostedError::NoPart);
        let (seed, nonce) = (read(seed)?, read(nonce)?);
        let by = self.contributor(held, JointDeal::awaits_reveal)?;
        self.apply(dir, by, &Command::Reveal { seed, nonce })
    }

    /// The seat of these that is asked for something, or else the first of them, to which it is refused.
    fn contributor(&self, held: Held, asked: impl Fn(&JointDeal, Seat) -> bool) -> Result<Seat, HostedError> {
        let is_asked = |seat: &Seat| self.joint().is_some_and(|joint| asked(joint, *seat));
        held.seats().find(is_asked).or_else(|| held.seats().next()).ok_or(HostedError::NotSeated)
    }

    /// The other player has left: the game is lost for it.
    pub(crate) fn claim(&mut self, dir: &Path, held: Held, waits: &Waits) -> Result<(), HostedError> {
        let other = self.acting_human(held)?.other();
        if !self.has_seats() || held.holds(other) || !self.occupant(other).is_human() {
            return Err(HostedError::NothingToClaim);
        }
        if self.to_move().is_none() {
            return Err(self.stands_still());
        }
        if !self.places[other as usize].has_been_away_for(waits.away) {
            return Err(HostedError::NotAway { seat: other, after: waits.away.as_secs() });
        }
        self.apply(dir, other, &Command::Abandon)
    }

    /// Ends the game before its first ply, because it was waited for in vain.
    pub(crate) fn make_void(&mut self, dir: &Path, why: Void) -> Result<(), HostedError> {
        self.apply(dir, self.game().seat(), &Command::Void(why))
    }

    /// A connection of these seats comes or goes. Says whether that is news to the pages.
    pub(crate) fn note_presence(&mut self, held: Held, comes: bool) -> bool {
        let is_news = held.seats().filter(|&seat| self.places[seat as usize].note(comes)).count() > 0;
        self.note_silence();
        is_news && self.has_seats()
    }

    /// Whether the player of a seat is there; `None` where there is no such seat, or it does not matter any more.
    pub(crate) fn presence(&self, seat: Seat) -> Option<Presence> {
        let is_held = self.has_seats() && self.is_in_play() && self.occupant(seat).is_human();
        let place = self.places[seat as usize];
        is_held.then(|| if self.invited() == Some(seat) { Presence::Invited } else { place.presence() })
    }

    /// The players who are away, and may come back.
    fn away(&self) -> Vec<Seat> {
        Seat::ALL.into_iter().filter(|&seat| self.presence(seat) == Some(Presence::Away)).collect()
    }

    /// Tells apart who has been away for so long that the game may be claimed. Says whether that is news to the pages.
    pub(crate) fn note_gone(&mut self, after: Duration) -> bool {
        self.away().into_iter().filter(|&seat| self.places[seat as usize].note_gone(after)).count() > 0
    }

    /// Notes since when players who are there do not reveal their part of the deal.
    fn note_silence(&mut self) {
        let awaited = |seat: &Seat| self.joint().is_some_and(|joint| joint.awaits_reveal(*seat));
        let here = |seat: Seat| self.places[seat as usize].presence() == Presence::Here;
        let contributors: Vec<Seat> = Seat::ALL
            .into_iter()
            .filter(|&seat| self.joint().is_some_and(|joint| joint.part(seat).is_some()))
            .collect();
        let is_silent = self.is_in_play()
            && self.has_seats()
            && contributors.iter().any(awaited)
            && contributors.iter().all(|&seat| here(seat));
        self.silent_since = is_silent.then(|| self.silent_since.unwrap_or_else(Instant::now));
    }

    /// How long nothing changes for those who wait; `None` if nothing is waited for.
    pub(crate) fn next_wait(&self, waits: &Waits) -> Option<Duration> {
        let gone = self.away().into_iter().filter_map(|seat| self.places[seat as usize].until_gone(waits.away));
        gone.chain(self.opening_wait(waits).map(|(_, left)| left)).min()
    }

    /// What becomes of the game if it does not begin, and in what time.
    pub(crate) fn opening_wait(&self, waits: &Waits) -> Option<(Void, Duration)> {
        let State::Live(live) = &self.state else { return None };
        if live.game.is_over() || live.game.has_begun() {
            return None;
        }
        let left = self.until.map(|until| Duration::from_millis(until.saturating_sub(milliseconds_now())));
        let expiry = left.map(|left| (Void::Expired, left));
        let silence = self.silent_since.map(|since| (Void::NotRevealed, waits.reveal.saturating_sub(since.elapsed())));
        [expiry, silence].into_iter().flatten().min_by_key(|(_, left)| *left)
    }

    /// Whether the game has not begun, and the time for that is over.
    pub(crate) fn is_too_late(&self) -> bool {
        let has_begun = match &self.state {
            State::Live(live) => live.game.has_begun(),
            State::Kept(kept) => kept.has_begun,
        };
        !self.is_over() && !has_begun && self.until.is_some_and(|until| until <= milliseconds_now())
    }
}

fn milliseconds_now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64)
}
