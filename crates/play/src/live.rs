//! `LiveGame`: one game being played, and the only holder of its deal.

use std::borrow::Borrow;
use std::time::Duration;

use anqi_records::{Record, Tags};
use anqi_rules::{Deal, Game, Move, Outcome, PlyError, Position, Seat, Termination};

use crate::bot::BotPolicy;
use crate::clock::Clock;
use crate::entry::Entry;
use crate::fault::FaultKind;
use crate::occupant::Occupant;
use crate::terms::{Agreed, Secret, Terms, TermsError};
use crate::view::View;

/// A game being played: who sits where, the clocks, the deal, and what has happened.
///
/// It changes through [`Entry`]s alone. [`propose`](LiveGame::propose) says which entry a command leads to and changes
/// nothing; the caller writes it down; [`commit`](LiveGame::commit) makes it happen. A write that fails has changed
/// nothing, and a game that is replayed from its entries equals the one that was played.
///
/// It has no clock of its own: every `now` is a time since some start that the caller chooses, and never goes back.
///
/// ```
/// use std::time::Duration;
///
/// use anqi_play::{Command, LiveGame, BotPolicy, Secret, Terms};
/// use anqi_rules::{Seat, Seed};
///
/// let terms = Terms { rules: "server".into(), first: "person".into(), second: "level:1".into(), ..Terms::default() };
/// let policy = BotPolicy::page(2);
/// let begin = || LiveGame::begin(&terms, Secret::from_seed(&Seed::from(7)), &policy, Duration::ZERO);
/// let mut live = begin()?;
/// let flip = Command::Play { mv: "c4".parse()?, ply: 0, used: None };
/// let entry = live.apply(Seat::First, &flip, Duration::from_secs(3))?;
///
/// let mut again = begin()?;
/// again.commit(entry.as_slice(), Duration::ZERO)?;
/// assert_eq!(again.game().plies(), live.game().plies());
/// assert!(live.told().is_none()); // the deal is told when the game is over
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// It holds the deal, so it cannot be printed, copied or serialised:
///
/// ```compile_fail
/// fn shown(live: &anqi_play::LiveGame) -> String { format!("{live:?}") }
/// ```
/// ```compile_fail
/// fn copied(live: &anqi_play::LiveGame) -> anqi_play::LiveGame { live.clone() }
/// ```
/// ```compile_fail
/// fn stored(live: &anqi_play::LiveGame) -> String { serde_json::to_string(live).unwrap() }
/// ```
/// ```
/// fn public(live: &anqi_play::LiveGame) -> String { format!("{:?}", live.game()) }
/// ```
#[expect(missing_debug_implementations, reason = "it holds the deal")]
pub struct LiveGame<D: Borrow<Deal> = Deal> {
    game: Game,
    deal: D,
    seats: [Occupant; 2],
    timers: [Timer; 2],
    /// When the clock of the side to move was started.
    since: Duration,
    /// Who has offered a draw that stands.
    offer: Option<Seat>,
    /// At which ply each side offered a draw last.
    offered_at: [Option<usize>; 2],
    take_backs: u32,
    fault: Option<(Seat, String)>,
    promise: Option<Promise>,
}

/// What a game has that was begun by [`LiveGame::begin`].
struct Promise {
    secret: Secret,
    /// What its record says from the beginning on.
    tags: Tags,
}

/// What a side may spend.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Allowance {
    /// For the game.
    pub clock: Option<Clock>,
    /// For each move; who takes longer loses on time.
    pub per_move: Option<Duration>,
}

/// An allowance that is being spent.
#[derive(Clone, Copy)]
struct Timer {
    allowance: Allowance,
    left: Option<Duration>,
}

impl Timer {
    fn new(allowance: Allowance) -> Timer {
        Timer { allowance, left: allowance.clock.map(|clock| clock.base) }
    }

    /// The longest time that the next move may take.
    fn most(&self) -> Option<Duration> {
        [self.left, self.allowance.per_move].into_iter().flatten().min()
    }
}

/// What a side wants to do.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Command {
    /// Play a move.
    Play {
        /// The move.
        mv: Move,
        /// How many plies had been played when it was meant.
        ply: usize,
        /// What it took, if the side's own supervisor measured and judged that; then it is not judged again.
        used: Option<Duration>,
    },
    /// Take back up to the last decision of a human.
    TakeBack,
    /// Offer a draw.
    Offer,
    /// Accept the draw that the other side has offered.
    Accept,
    /// Decline it.
    Decline,
    /// Give up.
    Resign,
    /// Nothing but a look at the clock: the side to move loses if its time is up.
    Flag,
    /// The side has left and does not come back.
    Abandon,
    /// The side is a program that failed.
    Fail {
        /// How.
        kind: FaultKind,
        /// What it did, for the record.
        text: String,
    },
}

/// Why a command is not carried out; the game stays as it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum Refusal {
    /// The game has ended.
    #[error("the game is over: {0}")]
    Over(Outcome),
    /// The other side is to move.
    #[error("the {} player is not to move", .0.name())]
    NotYourTurn(Seat),
    /// The move was meant for another position.
    #[error("the move was meant for ply {meant}, but the game stands at ply {stands}")]
    TooLate {
        /// Where it was meant to be played.
        meant: usize,
        /// Where the game stands.
        stands: usize,
    },
    /// The rules forbid the move.
    #[error("{mv} is not legal in {position}")]
    Illegal {
        /// The move.
        mv: Move,
        /// Where it was tried.
        position: Position,
    },
    /// No human has decided anything yet.
    #[error("there is nothing to take back")]
    NothingToTakeBack,
    /// The other side has offered no draw.
    #[error("no draw is offered to the {} player", .0.name())]
    NoOffer(Seat),
    /// An offer stands, or was made at this ply before.
    #[error("a draw was offered at this ply already")]
    OfferedAlready,
    /// No player can be blamed for that.
    #[error("{0} is no way to lose a game: break it off")]
    NotALoss(FaultKind),
    /// The entries do not fit the game.
    #[error(transparent)]
    Entry(#[from] EntryError),
}

/// Why an entry cannot have happened in this game.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EntryError {
    /// Something after the end.
    #[error("{entry:?} comes after the end of the game: {outcome}")]
    Over {
        /// What.
        entry: Entry,
        /// How the game ended.
        outcome: Outcome,
    },
    /// A ply that the rules refuse.
    #[error(transparent)]
    Ply(#[from] PlyError),
    /// A flip that shows another piece than the deal has.
    #[error("{shown} does not agree with the deal")]
    NotDealt {
        /// The ply.
        shown: anqi_rules::Ply,
    },
    /// More plies taken back than there are.
    #[error("{taken} plies are taken back, but there are {plies}")]
    Back {
        /// How many were taken back.
        taken: usize,
        /// How many there are.
        plies: usize,
    },
    /// An answer to no offer.
    #[error("the {} player declines a draw that nobody has offered", .0.name())]
    Decline(Seat),
    /// An end that is none.
    #[error("{why} is no end off the board for {}", loser.map_or("both players", Seat::name))]
    End {
        /// Who lost.
        loser: Option<Seat>,
        /// Why.
        why: Termination,
    },
}

impl LiveGame {
    /// A new game on these terms. Its deal follows from the secret and is promised before the first ply.
    ///
    /// # Errors
    /// If no game can be played on these terms.
    pub fn begin(terms: &Terms, secret: Secret, policy: &BotPolicy, now: Duration) -> Result<LiveGame, TermsError> {
        let Agreed { game, seats, clock } = terms.read(policy)?;
        let deal = Deal::of(game.position(), secret.seed());
        let mut live = LiveGame::with_deal(game, deal, seats, [Allowance { clock, per_move: None }; 2], now);
        let mut tags = Tags::new();
        tags.set("Event", "anqi")?;
        if let Some(date) = &terms.date {
            tags.set("Date", date)?;
        }
        tags.set("First", &live.seats[0].recorded())?;
        tags.set("Second", &live.seats[1].recorded())?;
        for (name, engine) in ["FirstEngine", "SecondEngine"].into_iter().zip(&terms.engines) {
            engine.iter().try_for_each(|engine| tags.set(name, engine))?;
        }
        tags.set("DealCommit", &secret.commitment().to_string())?;
        if let Some(clock) = clock {
            tags.set("TimeControl", &clock.to_string())?;
        }
        live.promise = Some(Promise { secret, tags });
        Ok(live)
    }
}

impl<D: Borrow<Deal>> LiveGame<D> {
    /// A game with a deal from elsewhere, which must agree with what it has shown.
    pub fn with_deal(
        game: Game,
        deal: D,
        seats: [Occupant; 2],
        allowances: [Allowance; 2],
        now: Duration,
    ) -> LiveGame<D> {
        LiveGame {
            game,
            deal,
            seats,
            timers: allowances.map(Timer::new),
            since: now,
            offer: None,
            offered_at: [None; 2],
            take_backs: 0,
            fault: None,
            promise: None,
        }
    }

    /// The game as both sides see it.
    #[must_use]
    pub fn game(&self) -> &Game {
        &self.game
    }

    /// The game itself; the deal is gone.
    #[must_use]
    pub fn into_game(self) -> Game {
        self.game
    }

    /// Who sits at a side.
    #[must_use]
    pub fn occupant(&self, seat: Seat) -> &Occupant {
        &self.seats[seat as usize]
    }

    /// Who is to move, while the game goes on.
    #[must_use]
    pub fn to_move(&self) -> Option<&Occupant> {
        self.game.outcome().is_none().then(|| self.occupant(self.game.seat()))
    }

    /// The human who acts for the faces that do not say who they are: the one to move, or the only one.
    #[must_use]
    pub fn acting_human(&self) -> Option<Seat> {
        let humans = Seat::ALL.into_iter().filter(|&seat| self.occupant(seat).is_human());
        humans.max_by_key(|&seat| seat == self.game.seat())
    }

    /// How many take-backs there were.
    #[must_use]
    pub fn take_backs(&self) -> u32 {
        self.take_backs
    }

    /// Who has offered a draw that stands.
    #[must_use]
    pub fn offer(&self) -> Option<Seat> {
        self.offer
    }

    /// What a side's clock showed when it last stood still.
    #[must_use]
    pub fn left(&self, seat: Seat) -> Option<Duration> {
        self.timers[seat as usize].left
    }

    /// What both clocks show.
    #[must_use]
    pub fn clocks(&self, now: Duration) -> [Option<Duration>; 2] {
        let mut clocks = self.timers.map(|timer| timer.left);
        if self.game.outcome().is_none() {
            let running = &mut clocks[self.game.seat() as usize];
            *running = running.map(|left| left.saturating_sub(now.saturating_sub(self.since)));
        }
        clocks
    }

    /// The time control of the side to move and what its clock shows, while it runs.
    #[must_use]
    pub fn running_clock(&self, now: Duration) -> Option<(Clock, Duration)> {
        let seat = self.game.seat() as usize;
        let control = self.timers[seat].allowance.clock.filter(|_| self.game.outcome().is_none())?;
        Some((control, self.clocks(now)[seat]?))
    }

    /// The last moment at which the side to move may act; after it a [`Command::Flag`] ends the game.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let most = self.timers[self.game.seat() as usize].most().filter(|_| self.game.outcome().is_none())?;
        Some(self.since + most)
    }

    /// Starts the clock of the side to move now: after a pause, or because it was told late that it is to move.
    pub fn start_clock(&mut self, now: Duration) {
        self.since = now;
    }

    /// What a command of `by` leads to; nothing has changed yet.
    ///
    /// No entry means that nothing is to be done. Whoever acts after its time is up loses on time instead.
    ///
    /// # Errors
    /// If the command cannot be carried out.
    pub fn propose(&self, by: Seat, command: &Command, now: Duration) -> Result<Option<Entry>, Refusal> {
        if let Some(outcome) = self.game.outcome() {
            return Err(Refusal::Over(outcome));
        }
        let end = |loser, why| Ok(Some(Entry::End { loser, why, fault: None }));
        let mover = self.game.seat();
        let late = self.deadline().is_some_and(|deadline| now > deadline);
        match command {
            Command::Resign => return end(Some(by), Termination::Resignation),
            Command::Abandon => return end(Some(by), Termination::Abandoned),
            Command::Fail { kind, text } => {
                let why = kind.termination().ok_or(Refusal::NotALoss(*kind))?;
                return Ok(Some(Entry::End { loser: Some(by), why, fault: Some(format!("{kind}: {text}")) }));
            }
            Command::Play { used: Some(_), .. } => {}
            _ if late => return end(Some(mover), Termination::Time),
            _ => {}
        }
        match *command {
            Command::Play { mv, ply, used } => {
                let stands = self.game.plies().len();
                if ply != stands {
                    return Err(Refusal::TooLate { meant: ply, stands });
                }
                if by != mover {
                    return Err(Refusal::NotYourTurn(by));
                }
                self.ply(mv, used.unwrap_or_else(|| now.saturating_sub(self.since)))
            }
            Command::TakeBack => {
                let stands = self.game.plies().len();
                let human = |ply: &usize| self.seats[ply % 2].is_human();
                let to = (0..stands).rev().find(human).ok_or(Refusal::NothingToTakeBack)?;
                let clocks = self.clocks(now);
                let clocks = (clocks != [None; 2]).then_some(clocks);
                Ok(Some(Entry::Back { plies: stands - to, clocks }))
            }
            Command::Offer if self.offer.is_some() => Err(Refusal::OfferedAlready),
            Command::Offer if self.offered_at[by as usize] == Some(self.game.plies().len()) => {
                Err(Refusal::OfferedAlready)
            }
            Command::Offer => Ok(Some(Entry::Offer { by })),
            Command::Accept | Command::Decline if self.offer != Some(by.other()) => Err(Refusal::NoOffer(by)),
            Command::Accept => end(None, Termination::Agreement),
            Command::Decline => Ok(Some(Entry::Decline { by })),
            _ => Ok(None),
        }
    }

    /// A move of the side to move that took so long; the deal says what a flip shows.
    fn ply(&self, mv: Move, used: Duration) -> Result<Option<Entry>, Refusal> {
        let ply = self.deal.borrow().resolve(mv).ok().filter(|_| self.game.is_legal(mv));
        let ply = ply.ok_or_else(|| Refusal::Illegal { mv, position: *self.game.position() })?;
        let Timer { allowance, left } = self.timers[self.game.seat() as usize];
        let moves = (self.game.plies().len() / 2 + 1) as u32;
        let clock = allowance.clock.zip(left).map(|(clock, left)| clock.after_move(left, used, moves));
        Ok(Some(Entry::Ply { ply, clock }))
    }

    /// Makes entries happen that were proposed, or that a journal holds. The clock of the side to move starts anew.
    ///
    /// # Errors
    /// If an entry cannot have happened; those before it have.
    pub fn commit(&mut self, entries: &[Entry], now: Duration) -> Result<(), EntryError> {
        entries.iter().try_for_each(|entry| self.happen(entry, now))
    }

    /// Proposes and commits, for callers who keep nothing.
    ///
    /// # Errors
    /// If the command cannot be carried out.
    pub fn apply(&mut self, by: Seat, command: &Command, now: Duration) -> Result<Option<Entry>, Refusal> {
        let entry = self.propose(by, command, now)?;
        self.commit(entry.as_slice(), now)?;
        Ok(entry)
    }

    fn happen(&mut self, entry: &Entry, now: Duration) -> Result<(), EntryError> {
        if let Some(outcome) = self.game.outcome() {
            return Err(EntryError::Over { entry: entry.clone(), outcome });
        }
        match *entry {
            Entry::Ply { ply, clock } => {
                let seat = self.game.seat();
                if self.deal.borrow().resolve(ply.to_move()).is_ok_and(|dealt| dealt != ply) {
                    return Err(EntryError::NotDealt { shown: ply });
                }
                self.game.play(ply)?;
                let left = &mut self.timers[seat as usize].left;
                *left = left.and(clock.or(*left));
                // A ply is an answer to the other side's offer.
                self.offer = self.offer.filter(|&by| by == seat);
                self.since = now;
            }
            Entry::Back { plies: taken, clocks } => {
                let plies = self.game.plies().len();
                let to = plies.checked_sub(taken).ok_or(EntryError::Back { taken, plies })?;
                rewind(&mut self.game, to);
                for (timer, clock) in self.timers.iter_mut().zip(clocks.unwrap_or_default()) {
                    timer.left = timer.left.and(clock.or(timer.left));
                }
                self.offer = None;
                self.take_backs += 1;
                self.since = now;
            }
            Entry::Offer { by } => {
                self.offer = Some(by);
                self.offered_at[by as usize] = Some(self.game.plies().len());
            }
            Entry::Decline { by } if self.offer == Some(by.other()) => self.offer = None,
            Entry::Decline { by } => return Err(EntryError::Decline(by)),
            Entry::End { loser, why, ref fault } => {
                self.game.end(why.off_board(loser).ok_or(EntryError::End { loser, why })?);
                self.fault = loser.zip(fault.clone());
            }
        }
        if self.game.outcome().is_some() {
            self.offer = None;
        }
        Ok(())
    }

    /// The secret of the deal, once the game is over.
    #[must_use]
    pub fn told(&self) -> Option<&Secret> {
        self.promise.as_ref().map(|promise| &promise.secret).filter(|_| self.game.outcome().is_some())
    }

    /// Everything that a face may show.
    #[must_use]
    pub fn view(&self, now: Duration) -> View<'_> {
        let played_by_human = (0..self.game.plies().len().min(2)).any(|ply| self.seats[ply].is_human());
        View {
            game: &self.game,
            seats: &self.seats,
            clocks: self.clocks(now),
            running: self.running_clock(now).map(|_| self.game.seat()),
            offer: self.offer,
            can_take_back: self.game.outcome().is_none() && played_by_human,
            take_backs: self.take_backs,
            commitment: self.promise.as_ref().map(|promise| promise.secret.commitment()),
            told: self.told(),
        }
    }

    /// The game as a record; the seed is in it only when the game is over.
    #[must_use]
    pub fn record(&self) -> Record {
        let mut tags = self.promise.as_ref().map(|promise| promise.tags.clone()).unwrap_or_default();
        // Names and values of ours, short and on one line: no tag is refused.
        let mut set = |name: &str, value: &str| drop(tags.set(name, value));
        if self.take_backs > 0 {
            set("TakeBacks", &self.take_backs.to_string());
        }
        if let Some(secret) = self.told() {
            set("Seed", &secret.seed().to_string());
            set("DealNonce", &secret.nonce().to_string());
        }
        if let Some((seat, fault)) = &self.fault {
            set("Fault", &format!("{seat}: {}", anqi_rules::excerpt(fault).replace(char::is_control, " ")));
        }
        Record::from_game(&self.game, tags)
    }
}

/// Takes plies back until `to` are left.
pub fn rewind(game: &mut Game, to: usize) {
    while game.plies().len() > to && game.take_back().is_some() {}
}
