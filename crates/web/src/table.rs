//! `Table`: one game with its two sides. The table is the referee and the only one who holds the deal.

use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anqi_lab::write_whole;
use anqi_play::Clock;
use anqi_records::{Record, RecordError, ReplayError, TagError, Tags, replay};
use anqi_rules::{Commitment, Deal, Game, Move, Ply, Position, Rules, Seat, Seed, Termination, excerpt};

use crate::journal::{Agreement, Entry, Journal, Syncer};
use crate::seat::{Sitter, SitterError};

/// One game, in play or kept.
pub(crate) struct Table {
    id: String,
    game: Game,
    /// What a record says about it; the seed is among it only when the game is over.
    tags: Tags,
    sitters: [Sitter; 2],
    play: Option<Play>,
    /// What the game was read from, with all that is said in it.
    read: Option<Record>,
    take_backs: u32,
    version: u64,
    /// Why the game may not be on the disk.
    trouble: Option<String>,
}

/// What only a game in play has.
struct Play {
    deal: Deal,
    seed: Seed,
    nonce: Seed,
    journal: Journal,
    clocks: Option<Clocks>,
}

/// Both clocks; the one of the side to move has been running since `since`.
#[derive(Clone, Copy, Debug)]
struct Clocks {
    control: Clock,
    left: [Duration; 2],
    since: Instant,
}

/// What a new game is to be.
#[derive(Clone, Debug, Default)]
pub(crate) struct Wish {
    pub(crate) rules: Option<String>,
    pub(crate) position: Option<String>,
    pub(crate) first: String,
    pub(crate) second: String,
    pub(crate) clock: Option<String>,
}

/// Why something cannot be done at a table.
#[derive(Debug, thiserror::Error)]
pub(crate) enum TableError {
    #[error("{0}")]
    Wish(String),
    #[error("there is no game {0:?}")]
    NoSuchGame(String),
    #[error("first or second player: {0}")]
    Sitter(#[from] SitterError),
    #[error("this game is kept, not played: start a new one from its position")]
    Kept,
    #[error("the game is over: {0}")]
    Over(anqi_rules::Outcome),
    #[error("{0:?} is not a move, expected c4 (a flip) or c6-c7")]
    NotAMove(String),
    #[error("{mv} is not legal in {position}")]
    Illegal { mv: Move, position: Position },
    #[error("the move was meant for ply {meant}, but the game stands at ply {stands}")]
    TooLate { meant: usize, stands: usize },
    #[error("it is not a person's turn")]
    NotYourTurn,
    #[error("there is nothing to take back")]
    NothingToTakeBack,
    #[error("nobody at this table can resign")]
    NobodyToResign,
    #[error("cannot write the game down: {0}")]
    Io(#[from] io::Error),
    #[error("the game cannot be read: {0}")]
    Damaged(String),
}

impl From<RecordError> for TableError {
    fn from(error: RecordError) -> TableError {
        TableError::Damaged(error.to_string())
    }
}

impl From<ReplayError> for TableError {
    fn from(error: ReplayError) -> TableError {
        TableError::Damaged(error.to_string())
    }
}

impl From<TagError> for TableError {
    fn from(error: TagError) -> TableError {
        TableError::Damaged(error.to_string())
    }
}

/// Where the journal of a game in play lies.
pub(crate) fn journal_path(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.journal"))
}

/// Where the record of a kept game lies.
pub(crate) fn record_path(dir: &Path, id: &str) -> PathBuf {
    dir.join(format!("{id}.anqi"))
}

impl Table {
    /// Sits two sides down at a new game. Its deal follows from `secret`, and is promised before the first ply.
    pub(crate) fn new(
        dir: &Path,
        id: &str,
        wish: &Wish,
        secret: &Seed,
        date: String,
        syncer: &Syncer,
    ) -> Result<Table, TableError> {
        let agreement = Agreement {
            rules: wish.rules.clone().unwrap_or_else(|| Rules::default().to_string()),
            position: wish.position.clone(),
            first: wish.first.clone(),
            second: wish.second.clone(),
            clock: wish.clock.clone(),
            date,
            seed: secret.child("deal of a game").to_string(),
            nonce: secret.child("nonce of a game").to_string(),
        };
        // Everything is read before anything is written.
        let (game, sitters, clock) = agreed(&agreement)?;
        if let Some(outcome) = game.outcome() {
            return Err(TableError::Over(outcome));
        }
        let journal = Journal::create(&journal_path(dir, id), &agreement, syncer)?;
        Table::sit(id, game, sitters, clock, &agreement, journal)
    }

    /// A game that was begun before.
    pub(crate) fn resume(dir: &Path, id: &str, syncer: &Syncer) -> Result<Table, TableError> {
        let (agreement, entries, journal) = Journal::open(&journal_path(dir, id), syncer)?;
        let (game, sitters, clock) = agreed(&agreement)?;
        let mut table = Table::sit(id, game, sitters, clock, &agreement, journal)?;
        for entry in entries {
            table.replay(&entry)?;
        }
        if table.game.outcome().is_some() {
            table.keep(dir)?;
        }
        Ok(table)
    }

    fn sit(
        id: &str,
        game: Game,
        sitters: [Sitter; 2],
        control: Option<Clock>,
        agreement: &Agreement,
        journal: Journal,
    ) -> Result<Table, TableError> {
        let read = |text: &str| text.parse::<Seed>().map_err(|error| TableError::Damaged(error.to_string()));
        let (seed, nonce) = (read(&agreement.seed)?, read(&agreement.nonce)?);
        let mut tags = Tags::new();
        tags.set("Event", "anqi")?;
        tags.set("Date", &agreement.date)?;
        tags.set("First", &sitters[0].recorded())?;
        tags.set("Second", &sitters[1].recorded())?;
        tags.set("DealCommit", &Commitment::new(&seed, &nonce).to_string())?;
        if let Some(control) = control {
            tags.set("TimeControl", &control.to_string())?;
        }
        let clocks = control.map(|control| Clocks { control, left: [control.base; 2], since: Instant::now() });
        let deal = Deal::of(game.position(), &seed);
        let play = Some(Play { deal, seed, nonce, journal, clocks });
        let id = id.to_owned();
        Ok(Table { id, game, tags, sitters, play, read: None, take_backs: 0, version: 0, trouble: None })
    }

    fn replay(&mut self, entry: &Entry) -> Result<(), TableError> {
        let damaged = |what: String| TableError::Damaged(what);
        let clocks = self.play.as_mut().and_then(|play| play.clocks.as_mut());
        match entry {
            Entry::Game(_) => return Err(damaged("two agreements in one journal".to_owned())),
            Entry::Ply { ply, clock } => {
                if let (Some(clocks), Some(clock)) = (clocks, clock) {
                    clocks.left[self.game.seat() as usize] = Duration::from_millis(*clock);
                }
                let ply: Ply = ply.parse().map_err(|error| damaged(format!("{error}")))?;
                self.game.play(ply).map_err(|error| damaged(error.to_string()))?;
            }
            Entry::Back { plies, clocks: left } => {
                let to = self.game.plies().len().saturating_sub(*plies);
                rewind(&mut self.game, to);
                self.take_backs += 1;
                if let (Some(clocks), Some(left)) = (clocks, left) {
                    clocks.left = left.map(Duration::from_millis);
                }
            }
            Entry::End { loser, why } => {
                let loser = Seat::ALL.into_iter().find(|seat| seat.name() == loser);
                let why = why.parse::<Termination>().map_err(|error| damaged(error.to_string()))?;
                self.game.lose(loser.ok_or_else(|| damaged(format!("no loser in {entry:?}")))?, why);
            }
        }
        Ok(())
    }

    /// A record as a kept game; what the rules refuse is an error.
    pub(crate) fn of_record(id: &str, record: &Record) -> Result<Table, TableError> {
        let replay = replay(record, None)?;
        if let Some(illegal) = replay.illegal {
            return Err(TableError::Damaged(format!("ply {}: {}", illegal.ply, illegal.error)));
        }
        let take_backs = record.tags().get("TakeBacks").and_then(|count| count.parse().ok()).unwrap_or(0);
        Ok(Table {
            id: id.to_owned(),
            game: replay.game,
            tags: record.tags().clone(),
            sitters: Seat::ALL.map(|seat| record.player(seat).map_or(Sitter::Person, Sitter::named)),
            play: None,
            read: Some(record.clone()),
            take_backs,
            version: 0,
            trouble: None,
        })
    }

    pub(crate) fn id(&self) -> &str {
        &self.id
    }

    pub(crate) fn game(&self) -> &Game {
        &self.game
    }

    /// Changes with everything that happens at the table.
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
        self.take_backs
    }

    pub(crate) fn is_in_play(&self) -> bool {
        self.play.is_some() && self.game.outcome().is_none()
    }

    pub(crate) fn tag(&self, name: &str) -> Option<&str> {
        self.tags.get(name)
    }

    pub(crate) fn sitter(&self, seat: Seat) -> &Sitter {
        &self.sitters[seat as usize]
    }

    /// Who is to move, while the game goes on.
    pub(crate) fn to_move(&self) -> Option<&Sitter> {
        self.is_in_play().then(|| self.sitter(self.game.seat()))
    }

    pub(crate) fn record(&self) -> Record {
        if let Some(read) = &self.read {
            return read.clone();
        }
        let mut tags = self.tags.clone();
        if self.take_backs > 0 {
            let _ = tags.set("TakeBacks", &self.take_backs.to_string());
        }
        if let (Some(play), Some(_)) = (&self.play, self.game.outcome()) {
            let _ = tags.set("Seed", &play.seed.to_string());
            let _ = tags.set("DealNonce", &play.nonce.to_string());
        }
        Record::from_game(&self.game, tags)
    }

    /// The time control, and what is left to the side to move.
    pub(crate) fn running_clock(&self) -> Option<(Clock, Duration)> {
        let clocks = self.play.as_ref()?.clocks.filter(|_| self.is_in_play())?;
        Some((clocks.control, clocks.left[self.game.seat() as usize].saturating_sub(clocks.since.elapsed())))
    }

    /// What both clocks show.
    pub(crate) fn clocks(&self) -> Option<[Duration; 2]> {
        let mut left = self.play.as_ref()?.clocks?.left;
        if let Some((_, running)) = self.running_clock() {
            left[self.game.seat() as usize] = running;
        }
        Some(left)
    }

    /// Plays a person's move that was meant for ply number `meant`.
    pub(crate) fn play_person(&mut self, dir: &Path, mv: &str, meant: usize) -> Result<(), TableError> {
        let stands = self.game.plies().len();
        if meant != stands {
            return Err(TableError::TooLate { meant, stands });
        }
        let mv = self.person_move(mv)?;
        self.play(dir, mv)
    }

    /// A person's move, if it could be played now.
    pub(crate) fn person_move(&self, mv: &str) -> Result<Move, TableError> {
        let mv: Move = mv.parse().map_err(|_| TableError::NotAMove(excerpt(mv)))?;
        match self.to_move() {
            Some(Sitter::Person) if self.game.legal_moves().contains(&mv) => Ok(mv),
            Some(Sitter::Person) => Err(TableError::Illegal { mv, position: *self.game.position() }),
            Some(_) => Err(TableError::NotYourTurn),
            None => Err(self.game.outcome().map_or(TableError::Kept, TableError::Over)),
        }
    }

    /// Plays a move: the deal says what a flip shows, the journal has it first, then the board.
    pub(crate) fn play(&mut self, dir: &Path, mv: Move) -> Result<(), TableError> {
        if let Some(outcome) = self.game.outcome() {
            return Err(TableError::Over(outcome));
        }
        if self.fall_flag(dir)? {
            return Ok(());
        }
        let position = *self.game.position();
        let illegal = || TableError::Illegal { mv, position };
        let play = self.play.as_mut().ok_or(TableError::Kept)?;
        if !self.game.legal_moves().contains(&mv) {
            return Err(illegal());
        }
        let ply = play.deal.resolve(mv).map_err(|_| illegal())?;
        let seat = self.game.seat() as usize;
        let now = Instant::now();
        let left = play.clocks.map(|clocks| {
            let moves = (self.game.plies().len() / 2 + 1) as u32;
            clocks.control.after_move(clocks.left[seat], now - clocks.since, moves)
        });
        let clock = left.map(|left| left.as_millis() as u64);
        play.journal.append(&Entry::Ply { ply: ply.to_string(), clock })?;
        if let (Some(clocks), Some(left)) = (&mut play.clocks, left) {
            clocks.left[seat] = left;
            clocks.since = now;
        }
        // It was legal a moment ago.
        self.game.play(ply).map_err(|_| illegal())?;
        self.changed(dir)
    }

    /// Takes back up to the last decision of a person.
    pub(crate) fn take_back(&mut self, dir: &Path) -> Result<(), TableError> {
        if let Some(outcome) = self.game.outcome() {
            return Err(TableError::Over(outcome));
        }
        let persons = |ply: &usize| self.sitters[ply % 2] == Sitter::Person;
        let stands = self.game.plies().len();
        let to = (0..stands).rev().find(persons).ok_or(TableError::NothingToTakeBack)?;
        let clocks = self.clocks().map(|left| left.map(|left| left.as_millis() as u64));
        let play = self.play.as_mut().ok_or(TableError::Kept)?;
        play.journal.append(&Entry::Back { plies: stands - to, clocks })?;
        if let (Some(running), Some(left)) = (&mut play.clocks, clocks) {
            running.left = left.map(Duration::from_millis);
            running.since = Instant::now();
        }
        rewind(&mut self.game, to);
        self.take_backs += 1;
        self.changed(dir)
    }

    /// A person gives up: whoever is to move, or the only person at the table.
    pub(crate) fn resign(&mut self, dir: &Path) -> Result<(), TableError> {
        let persons = Seat::ALL.into_iter().filter(|&seat| *self.sitter(seat) == Sitter::Person);
        let mover = self.game.seat();
        let loser = persons.max_by_key(|&seat| seat == mover).ok_or(TableError::NobodyToResign)?;
        self.lose(dir, loser, Termination::Resignation)
    }

    /// Ends the game if the side to move has no time left.
    pub(crate) fn fall_flag(&mut self, dir: &Path) -> Result<bool, TableError> {
        let fallen = self.running_clock().is_some_and(|(_, left)| left.is_zero());
        if fallen {
            self.lose(dir, self.game.seat(), Termination::Time)?;
        }
        Ok(fallen)
    }

    fn lose(&mut self, dir: &Path, loser: Seat, why: Termination) -> Result<(), TableError> {
        if let Some(outcome) = self.game.outcome() {
            return Err(TableError::Over(outcome));
        }
        let play = self.play.as_mut().ok_or(TableError::Kept)?;
        play.journal.append(&Entry::End { loser: loser.name().to_owned(), why: why.to_string() })?;
        self.game.lose(loser, why);
        self.changed(dir)
    }

    fn changed(&mut self, dir: &Path) -> Result<(), TableError> {
        self.version += 1;
        if self.game.outcome().is_some() { self.keep(dir) } else { Ok(()) }
    }

    /// The game is over: a record takes the place of the journal, and the deal is told.
    fn keep(&mut self, dir: &Path) -> Result<(), TableError> {
        let record = self.record();
        write_whole(&record_path(dir, &self.id), |file| file.write_all(record.to_string().as_bytes()))?;
        self.trouble = None;
        if let Some(play) = self.play.take() {
            play.journal.remove()?;
        }
        self.tags = record.into_parts().0;
        Ok(())
    }
}

/// Takes plies back until `to` are left.
pub(crate) fn rewind(game: &mut Game, to: usize) {
    while game.plies().len() > to && game.take_back().is_some() {}
}

type Agreed = (Game, [Sitter; 2], Option<Clock>);

fn agreed(agreement: &Agreement) -> Result<Agreed, TableError> {
    let wrong = |what: &str, error: &dyn std::fmt::Display| TableError::Wish(format!("{what}: {error}"));
    let mut rules: Rules = agreement.rules.parse().map_err(|error| wrong("rules", &error))?;
    let game = match &agreement.position {
        None => Game::new(rules),
        Some(text) => {
            let position = Position::parse(text, rules.ladder()).map_err(|error| wrong("position", &error))?;
            rules = rules.on_board(position.board());
            Game::from_position(rules, position).map_err(|error| wrong("position", &error))?
        }
    };
    let clock = agreement.clock.as_ref().map(|text| text.parse::<Clock>().map_err(|error| wrong("clock", &error)));
    Ok((game, [agreement.first.parse()?, agreement.second.parse()?], clock.transpose()?))
}
