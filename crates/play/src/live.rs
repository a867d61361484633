//! `LiveGame`: one game being played, and the only holder of its deal.

use std::borrow::Borrow;
use std::time::Duration;

use anqi_records::{Record, Tags};
use anqi_rules::{Commitment, Deal, Game, Move, Outcome, PlyError, Position, Seat, Seed, Termination};

use crate::bot::BotPolicy;
use crate::clock::Clock;
use crate::entry::Entry;
use crate::fault::FaultKind;
use crate::joint::{JointDeal, JointError, Void};
use crate::occupant::Occupant;
use crate::series::SeriesGame;
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
    deal: Dealt<D>,
    seats: [Occupant; 2],
    /// The invited player.
    guest: Guest,
    joint: Option<JointDeal>,
    void: Option<Void>,
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
    /// Its place in a series.
    series: Option<SeriesGame>,
}

/// What lies under the face-down pieces.
enum Dealt<D> {
    /// A deal that was there before the game.
    Given(D),
    /// One that follows from what all parties have revealed.
    Joint(Deal),
    /// Nothing is dealt until they have.
    Awaited,
}

impl<D: Borrow<Deal>> Dealt<D> {
    fn get(&self) -> Option<&Deal> {
        match self {
            Dealt::Given(deal) => Some(deal.borrow()),
            Dealt::Joint(deal) => Some(deal),
            Dealt::Awaited => None,
        }
    }
}

/// The player who is invited to a seat.
#[derive(Clone, PartialEq, Eq)]
enum Guest {
    /// The game needs no other player.
    None,
    Awaited(Seat),
    /// It has come, and is known by a key.
    Here(Seat, String),
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
    /// Take the seat to which a player is invited.
    Join {
        /// What the face knows the player by.
        key: String,
    },
    /// Commit to a part of the deal.
    Commit(Commitment),
    /// Reveal that part.
    Reveal {
        /// The part.
        seed: Seed,
        /// What hid it.
        nonce: Seed,
    },
    /// End the game before it has begun, without a result.
    Void(Void),
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
    /// The game ended before it began.
    #[error("the game is void: {0}")]
    Void(Void),
    /// A player or a part of the deal is missing.
    #[error("the game has not begun: {}", .0.map_or("its deal is not made yet", |_| "the invited player has not come"))]
    NotBegun(Option<Seat>),
    /// It has begun, so it cannot be void.
    #[error("the game has begun")]
    Begun,
    /// The seat is taken, or was never free.
    #[error("no player is invited to be the {} player", .0.name())]
    NotInvited(Seat),
    /// A part of the deal.
    #[error(transparent)]
    Joint(JointError),
    /// Two people play, each at a board of its own.
    #[error("nothing is taken back in a game of two people: what was turned up cannot be forgotten")]
    NoTakeBack,
    /// The game is one of a series.
    #[error("nothing is taken back in a game of a series")]
    InSeries,
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
    /// Something after a game was void.
    #[error("{entry:?} comes after the game was void: {void}")]
    Void {
        /// What.
        entry: Entry,
        /// Why the game was void.
        void: Void,
    },
    /// Something before the game has begun, or something that only then can happen.
    #[error("{0:?} does not belong there: it comes before the game has begun, or after")]
    Begun(Entry),
    /// No player is invited to the seat.
    #[error("no player is invited to be the {} player", .0.name())]
    NotInvited(Seat),
    /// A part of the deal.
    #[error(transparent)]
    Joint(#[from] JointError),
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
        let Agreed { game, seats, clock, joint } = terms.read(policy)?;
        let deal = match joint {
            None => Dealt::Given(Deal::of(game.position(), secret.seed())),
            Some(_) => Dealt::Awaited,
        };
        let mut live = LiveGame::new(game, deal, seats, [Allowance { clock, per_move: None }; 2], now);
        live.guest = terms.invited.map_or(Guest::None, Guest::Awaited);
        live.joint = joint;
        live.series.clone_from(&terms.series);
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
        if let Some(series) = &terms.series {
            series.record(&mut tags)?;
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
        LiveGame::new(game, Dealt::Given(deal), seats, allowances, now)
    }

    fn new(game: Game, deal: Dealt<D>, seats: [Occupant; 2], allowances: [Allowance; 2], now: Duration) -> LiveGame<D> {
        LiveGame {
            game,
            deal,
            seats,
            guest: Guest::None,
            joint: None,
            void: None,
            timers: allowances.map(Timer::new),
            since: now,
            offer: None,
            offered_at: [None; 2],
            take_backs: 0,
            fault: None,
            promise: None,
            series: None,
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

    /// Whether the game has ended, on the board or off it, or before it began.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.game.outcome().is_some() || self.void.is_some()
    }

    /// Why the game ended before it began.
    #[must_use]
    pub fn void(&self) -> Option<Void> {
        self.void
    }

    /// Whether plies can be played: all players are there and the pieces are dealt. A game that is void never begins.
    #[must_use]
    pub fn has_begun(&self) -> bool {
        self.missing().is_ok() && self.void.is_none()
    }

    /// What is missing before the first ply.
    fn missing(&self) -> Result<(), Refusal> {
        match (&self.guest, self.deal.get()) {
            (Guest::Awaited(seat), _) => Err(Refusal::NotBegun(Some(*seat))),
            (_, None) => Err(Refusal::NotBegun(None)),
            _ => Ok(()),
        }
    }

    /// The seat that waits for a player who is invited.
    #[must_use]
    pub fn invited(&self) -> Option<Seat> {
        if let Guest::Awaited(seat) = self.guest { Some(seat) } else { None }
    }

    /// The seat of the player who was invited and has come, and what it is known by.
    #[must_use]
    pub fn guest(&self) -> Option<(Seat, &str)> {
        if let Guest::Here(seat, key) = &self.guest { Some((*seat, key)) } else { None }
    }

    /// What the players contribute to the deal; `None` if the server alone deals.
    #[must_use]
    pub fn joint(&self) -> Option<&JointDeal> {
        self.joint.as_ref()
    }

    /// The place of the game in its series, if it is of one.
    #[must_use]
    pub fn series(&self) -> Option<&SeriesGame> {
        self.series.as_ref()
    }

    /// Who is to move, while the game goes on.
    #[must_use]
    pub fn to_move(&self) -> Option<&Occupant> {
        self.goes_on().then(|| self.occupant(self.game.seat()))
    }

    fn goes_on(&self) -> bool {
        self.game.outcome().is_none() && self.has_begun()
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
        if self.goes_on() {
            let running = &mut clocks[self.game.seat() as usize];
            *running = running.map(|left| left.saturating_sub(now.saturating_sub(self.since)));
        }
        clocks
    }

    /// The time control of the side to move and what its clock shows, while it runs.
    #[must_use]
    pub fn running_clock(&self, now: Duration) -> Option<(Clock, Duration)> {
        let seat = self.game.seat() as usize;
        let control = self.timers[seat].allowance.clock.filter(|_| self.goes_on())?;
        Some((control, self.clocks(now)[seat]?))
    }

    /// The last moment at which the side to move may act; after it a [`Command::Flag`] ends the game.
    #[must_use]
    pub fn deadline(&self) -> Option<Duration> {
        let most = self.timers[self.game.seat() as usize].most().filter(|_| self.goes_on())?;
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
        let entry = self.unchecked(by, command, now)?;
        match entry {
            Some(Entry::Ply { ply, .. }) if !self.game.is_legal(ply.to_move()) => Err(self.illegal(ply.to_move())),
            _ => Ok(entry),
        }
    }

    /// The same without asking whether a step is legal: [`Game::play`] asks again.
    fn unchecked(&self, by: Seat, command: &Command, now: Duration) -> Result<Option<Entry>, Refusal> {
        if let Some(outcome) = self.game.outcome() {
            return Err(Refusal::Over(outcome));
        }
        if let Some(void) = self.void {
            return Err(Refusal::Void(void));
        }
        if let Some(entry) = self.opening(by, command)? {
            return Ok(Some(entry));
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
            Command::TakeBack if self.guest != Guest::None => Err(Refusal::NoTakeBack),
            Command::TakeBack if self.series.is_some() => Err(Refusal::InSeries),
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

    /// What a command leads to that belongs before the first ply; `None` if it does not, and the game has begun.
    fn opening(&self, by: Seat, command: &Command) -> Result<Option<Entry>, Refusal> {
        let not_awaited = |error: fn(Seat) -> JointError| Err(error(by).into());
        let mut joint = self.joint.clone();
        Ok(Some(match command {
            Command::Join { key } if self.guest == Guest::Awaited(by) => Entry::Join { by, key: key.clone() },
            Command::Join { .. } => return Err(Refusal::NotInvited(by)),
            Command::Commit(commitment) => {
                let Some(joint) = joint.as_mut().filter(|joint| joint.awaits_commitment(by)) else {
                    return not_awaited(JointError::NoCommitmentAwaited);
                };
                joint.commit(by, *commitment)?;
                Entry::Commit { by, commitment: *commitment }
            }
            Command::Reveal { seed, nonce } => {
                let Some(joint) = &mut joint else { return not_awaited(JointError::NoRevealAwaited) };
                joint.reveal(by, seed, nonce)?;
                Entry::Reveal { by, seed: seed.clone(), nonce: nonce.clone() }
            }
            Command::Void(_) if self.missing().is_ok() => return Err(Refusal::Begun),
            Command::Void(why) => Entry::Void { why: *why },
            Command::Resign | Command::Abandon if self.missing().is_err() => Entry::Void { why: Void::Withdrawn },
            Command::Flag if self.missing().is_err() => return Ok(None),
            _ => return self.missing().map(|()| None),
        }))
    }

    /// A move of the side to move that took so long; the deal says what a flip shows.
    fn ply(&self, mv: Move, used: Duration) -> Result<Option<Entry>, Refusal> {
        let dealt = self.deal.get().and_then(|deal| deal.resolve(mv).ok());
        let ply = dealt.ok_or_else(|| self.illegal(mv))?;
        let Timer { allowance, left } = self.timers[self.game.seat() as usize];
        let moves = (self.game.plies().len() / 2 + 1) as u32;
        let clock = allowance.clock.zip(left).map(|(clock, left)| clock.after_move(left, used, moves));
        Ok(Some(Entry::Ply { ply, clock }))
    }

    fn illegal(&self, mv: Move) -> Refusal {
        Refusal::Illegal { mv, position: *self.game.position() }
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
        let entry = self.unchecked(by, command, now)?;
        self.commit(entry.as_slice(), now).map_err(|error| match error {
            EntryError::Ply(PlyError::Illegal { ply, .. } | PlyError::LongChase { ply, .. }) => {
                self.illegal(ply.to_move())
            }
            error => error.into(),
        })?;
        Ok(entry)
    }

    fn happen(&mut self, entry: &Entry, now: Duration) -> Result<(), EntryError> {
        if let Some(outcome) = self.game.outcome() {
            return Err(EntryError::Over { entry: entry.clone(), outcome });
        }
        if let Some(void) = self.void {
            return Err(EntryError::Void { entry: entry.clone(), void });
        }
        let is_opening =
            matches!(entry, Entry::Join { .. } | Entry::Commit { .. } | Entry::Reveal { .. } | Entry::Void { .. });
        if is_opening == self.missing().is_ok() {
            return Err(EntryError::Begun(entry.clone()));
        }
        match *entry {
            Entry::Join { by, ref key } if self.guest == Guest::Awaited(by) => {
                self.guest = Guest::Here(by, key.clone());
                self.since = now;
            }
            Entry::Join { by, .. } => return Err(EntryError::NotInvited(by)),
            Entry::Commit { by, commitment } => {
                let joint = self.joint.as_mut().ok_or(JointError::NoCommitmentAwaited(by))?;
                joint.commit(by, commitment)?;
            }
            Entry::Reveal { by, ref seed, ref nonce } => {
                let joint = self.joint.as_mut().ok_or(JointError::NoRevealAwaited(by))?;
                joint.reveal(by, seed, nonce)?;
                if let Some(seed) = self.joint_seed() {
                    self.deal = Dealt::Joint(Deal::of(self.game.position(), &seed));
                    self.since = now;
                }
            }
            Entry::Void { why } => self.void = Some(why),
            Entry::Ply { ply, clock } => {
                let seat = self.game.seat();
                let dealt = self.deal.get().and_then(|deal| deal.resolve(ply.to_move()).ok());
                if dealt.is_some_and(|dealt| dealt != ply) {
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

    /// What the deal of several parties follows from, once all of them have revealed.
    fn joint_seed(&self) -> Option<Seed> {
        let (joint, promise) = self.joint.as_ref().zip(self.promise.as_ref())?;
        Some(promise.secret.seed().joint(joint.game(), &joint.contributions()?))
    }

    /// The secret of the deal, or the server's part of it, once the game is over.
    #[must_use]
    pub fn told(&self) -> Option<&Secret> {
        self.promise.as_ref().map(|promise| &promise.secret).filter(|_| self.is_over())
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
            can_take_back: self.goes_on() && played_by_human && self.guest == Guest::None && self.series.is_none(),
            take_backs: self.take_backs,
            commitment: self.promise.as_ref().map(|promise| promise.secret.commitment()),
            told: self.told(),
        }
    }

    /// The game as a record; the seed is in it only when the game is over.
    #[must_use]
    pub fn record(&self) -> Record {
        Record::from_game(&self.game, self.tags())
    }

    /// What a record says beside the plies.
    #[must_use]
    pub fn tags(&self) -> Tags {
        let mut tags = self.promise.as_ref().map(|promise| promise.tags.clone()).unwrap_or_default();
        // Names and values of ours, short and on one line: no tag is refused.
        let mut set = |name: &str, value: &str| drop(tags.set(name, value));
        if self.take_backs > 0 {
            set("TakeBacks", &self.take_backs.to_string());
        }
        if let Some(joint) = &self.joint {
            joint.record(self.is_over(), &mut set);
        }
        if let Some(void) = self.void {
            set("Void", &void.to_string());
        }
        if let Some(secret) = self.told() {
            // The pieces are dealt by `Seed` alone.
            match &self.joint {
                None => set("Seed", &secret.seed().to_string()),
                Some(_) => {
                    set("DealSeed", &secret.seed().to_string());
                    self.joint_seed().iter().for_each(|seed| set("Seed", &seed.to_string()));
                }
            }
            set("DealNonce", &secret.nonce().to_string());
        }
        if let Some((seat, fault)) = &self.fault {
            set("Fault", &format!("{seat}: {}", anqi_rules::excerpt(fault).replace(char::is_control, " ")));
        }
        tags
    }
}

/// Takes plies back until `to` are left.
pub fn rewind(game: &mut Game, to: usize) {
    while game.plies().len() > to && game.take_back().is_some() {}
}
