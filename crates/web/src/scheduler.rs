//! The scheduler: whose engine works next. Every search of the server, for a move or for a page, takes a turn here.
//!
//! - **Slots.** So many long searches run at the same time ([`Slots`]): `play` for moves, hints and warnings, `study` for
//!   analyses and reviews, which moves take away when their own are taken. `quick` slots are left to short work, the moves
//!   of a few milliseconds, so that these never wait for long ones.
//! - **Order.** Play comes before analyses. It is the visitor's turn who has had the least time of late, where engines whose
//!   clock runs have a head start: they come first unless their visitor has had much more than others. What one visitor
//!   wants of one kind is done in order.
//! - **Preemption.** An analysis gives way to play at once, and so does a move without a clock to one with. Otherwise a search
//!   gives way to a visitor who has had less, after its grant, which is a second at first, or after a second if the other has
//!   had much less. It is stopped, waits for its next turn with a grant twice as long, and begins again: a search is a pure
//!   function of its position, so nothing but time is lost.
//! - **Cancelling.** Work is a future. Dropping it takes it out of the queue, or stops its search.
//! - **Bounds.** A visitor has a bounded number of requests that wait; a further one is refused.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anqi_engine::Stop;
use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::limits::{LimitError, Slots};
use crate::metrics::Histogram;
use crate::visitors::VisitorId;

/// The first grant of a search. Nearly all end within it.
const GRANT: Duration = Duration::from_secs(1);
/// No grant is longer than the first times two to the power of this.
const MOST_DOUBLINGS: u32 = 6;
/// How often grants are looked at while work waits.
const TICK: Duration = Duration::from_millis(50);
/// So much less a visitor seems to have had whose engine's clock runs.
const HEAD_START: Duration = Duration::from_secs(2);
/// A visitor that comes back is behind those who stayed by no more than this.
const MOST_DEBT: Duration = Duration::from_secs(10);

/// What a search is for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Urgency {
    /// A move while a clock runs.
    Clocked,
    /// A move, a hint or a warning.
    Move,
    /// An analysis or a review.
    Study,
}

impl Urgency {
    pub(crate) const ALL: [Urgency; 3] = [Urgency::Clocked, Urgency::Move, Urgency::Study];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Urgency::Clocked => "clocked",
            Urgency::Move => "move",
            Urgency::Study => "study",
        }
    }
}

/// What waits together: work of one urgency and length.
type Band = usize;
const BANDS: usize = 2 * Urgency::ALL.len();

fn band(urgency: Urgency, is_long: bool) -> Band {
    2 * urgency as usize + usize::from(is_long)
}

fn urgency_of(band: Band) -> Urgency {
    Urgency::ALL[band / 2]
}

fn is_long(band: Band) -> bool {
    band % 2 == 1
}

/// What comes first: play, then the visitor who has had less.
type Rank = (bool, Duration);

fn rank(urgency: Urgency, used: Duration) -> Rank {
    (urgency == Urgency::Study, if urgency == Urgency::Clocked { used } else { used + HEAD_START })
}

/// See the top of the file. Clones are the same scheduler.
#[derive(Clone, Debug)]
pub(crate) struct Scheduler(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    slots: Slots,
    most_waiting: usize,
    state: Mutex<State>,
    waits: [Histogram; Urgency::ALL.len()],
}

#[derive(Debug)]
struct State {
    accounts: HashMap<VisitorId, Account>,
    /// Whose work waits, by the time that they have had.
    ready: [BTreeSet<(Duration, VisitorId)>; BANDS],
    running: Vec<Running>,
    number: u64,
    /// The time that the last visitor whose turn it was had had.
    floor: Duration,
    is_ticking: bool,
    preemptions: u64,
    /// From this number on accounts that are only owing are forgotten.
    tidy_at: usize,
}

/// What a visitor has had, wants and has.
#[derive(Debug)]
struct Account {
    used: Duration,
    waiting: [VecDeque<Waiting>; BANDS],
    /// Requests that wait or run.
    requests: usize,
}

#[derive(Debug)]
struct Waiting {
    number: u64,
    grant: Duration,
    is_request: bool,
    since: Instant,
    start: oneshot::Sender<Slot>,
}

#[derive(Debug)]
struct Running {
    number: u64,
    visitor: VisitorId,
    urgency: Urgency,
    is_long: bool,
    is_request: bool,
    grant: Duration,
    begun: Instant,
    /// Until when its time is in the account of its visitor.
    charged: Instant,
    stop: Stop,
    is_preempted: bool,
}

/// A search that may run now, until this is dropped.
#[derive(Debug)]
struct Slot {
    shared: Arc<Shared>,
    number: u64,
    stop: Stop,
}

/// A place in the queue, given up when this is dropped.
#[derive(Debug)]
struct Place {
    shared: Arc<Shared>,
    visitor: VisitorId,
    band: Band,
    number: u64,
    slot: oneshot::Receiver<Slot>,
}

/// A piece of work with a place in the queue, which may search more than once.
#[derive(Debug)]
pub(crate) struct Turn {
    shared: Arc<Shared>,
    visitor: VisitorId,
    urgency: Urgency,
    is_long: bool,
    is_request: bool,
    place: Option<Place>,
}

/// Counts among the requests of its visitor until it is dropped.
#[derive(Debug)]
pub(crate) struct Permit {
    shared: Arc<Shared>,
    visitor: VisitorId,
}

/// Raises a stop when it is dropped.
struct RaiseOnDrop(Stop);

impl Drop for RaiseOnDrop {
    fn drop(&mut self) {
        self.0.raise();
    }
}

/// A search takes what the threads leave that answer pages. It has a thread of its own, because that cannot be taken back.
#[cfg(target_os = "linux")]
fn give_way_to_answers() {
    const NICE: i32 = 5;
    // On Linux this is the priority of the calling thread.
    let _ = rustix::process::setpriority_process(None, NICE);
}

#[cfg(not(target_os = "linux"))]
fn give_way_to_answers() {}

/// How much waits and runs, for the operator.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Load {
    pub(crate) waiting: [usize; Urgency::ALL.len()],
    pub(crate) running: [usize; Urgency::ALL.len()],
    pub(crate) preemptions: u64,
}

impl Scheduler {
    /// With these slots, and so many requests of a visitor that may wait.
    pub(crate) fn new(slots: Slots, most_waiting: usize) -> Scheduler {
        let state = State {
            accounts: HashMap::new(),
            ready: Default::default(),
            running: Vec::new(),
            number: 0,
            floor: Duration::ZERO,
            is_ticking: false,
            preemptions: 0,
            tidy_at: 0,
        };
        Scheduler(Arc::new(Shared { slots, most_waiting, state: Mutex::new(state), waits: Default::default() }))
    }

    /// A page asks for work; refused if too many of the visitor's requests wait.
    pub(crate) fn request(&self, visitor: VisitorId, urgency: Urgency) -> Result<(Permit, Turn), LimitError> {
        let mut state = self.0.state();
        let running = state.running.iter().filter(|running| running.visitor == visitor && running.is_request).count();
        let account = state.account(visitor);
        if account.requests.saturating_sub(running) >= self.0.most_waiting {
            return Err(LimitError::Busy(self.0.most_waiting));
        }
        account.requests += 1;
        drop(state);
        Ok((Permit { shared: Arc::clone(&self.0), visitor }, self.turn(visitor, urgency, true, true)))
    }

    /// The engine of a game is to move.
    pub(crate) fn engine(&self, visitor: VisitorId, urgency: Urgency, is_long: bool) -> Turn {
        self.turn(visitor, urgency, is_long, false)
    }

    fn turn(&self, visitor: VisitorId, urgency: Urgency, is_long: bool, is_request: bool) -> Turn {
        let mut turn = Turn { shared: Arc::clone(&self.0), visitor, urgency, is_long, is_request, place: None };
        turn.place = Some(turn.queue(GRANT));
        turn
    }

    pub(crate) fn load(&self) -> Load {
        let state = self.0.state();
        let mut load = Load { preemptions: state.preemptions, ..Load::default() };
        for waiting in state.accounts.values().flat_map(|account| account.waiting.iter().enumerate()) {
            load.waiting[urgency_of(waiting.0) as usize] += waiting.1.len();
        }
        for running in &state.running {
            load.running[running.urgency as usize] += 1;
        }
        load
    }

    /// How long work of each urgency has waited.
    pub(crate) fn waits(&self) -> impl Iterator<Item = (Urgency, &Histogram)> {
        Urgency::ALL.into_iter().zip(&self.0.waits)
    }
}

impl Turn {
    /// Searches when it is its turn, as often as it takes to come to an end. The stop of the search is raised when it has to
    /// give way, and when this future is dropped. `None` if the search panics, or there can be no thread for it.
    pub(crate) async fn run<T, F>(&mut self, mut search: F) -> Option<T>
    where
        F: FnMut(&Stop) -> T + Send + 'static,
        T: Send + 'static,
    {
        let mut grant = GRANT;
        let most = GRANT * 2_u32.pow(MOST_DOUBLINGS);
        loop {
            let mut place = self.place.take().unwrap_or_else(|| self.queue(grant));
            let slot = (&mut place.slot).await.ok()?;
            let _cancel = RaiseOnDrop(slot.stop.clone());
            let (done, searched) = oneshot::channel();
            let runtime = Handle::current();
            let thread = thread::Builder::new().name("search".to_owned()).spawn(move || {
                let _inside = runtime.enter();
                give_way_to_answers();
                let found = search(&slot.stop);
                // The slot is free as soon as the thread is, whether the result is still wanted or not.
                let was_preempted = slot.finish();
                drop(done.send((search, found, was_preempted)));
            });
            if let Err(error) = thread {
                tracing::error!("cannot start a search: {error}");
                return None;
            }
            let (back, found, was_preempted) = searched.await.ok()?;
            if !was_preempted {
                return Some(found);
            }
            search = back;
            self.is_long = true;
            grant = (2 * grant).min(most);
        }
    }

    fn queue(&self, grant: Duration) -> Place {
        let (start, slot) = oneshot::channel();
        let band = band(self.urgency, self.is_long);
        let mut state = self.shared.state();
        state.number += 1;
        let number = state.number;
        let waiting = Waiting { number, grant, is_request: self.is_request, since: Instant::now(), start };
        let floor = state.floor;
        let account = state.account(self.visitor);
        // Time that was not used is not saved, and what was used long ago is forgiven.
        let used = account.used.clamp(floor, floor + MOST_DEBT);
        account.waiting[band].push_back(waiting);
        state.move_account(self.visitor, used);
        self.shared.schedule(state);
        Place { shared: Arc::clone(&self.shared), visitor: self.visitor, band, number, slot }
    }
}

impl Drop for Permit {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        let account = state.account(self.visitor);
        account.requests = account.requests.saturating_sub(1);
        state.close_account(self.visitor);
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        let Some(account) = state.accounts.get_mut(&self.visitor) else { return };
        let waiting = &mut account.waiting[self.band];
        if let Some(at) = waiting.iter().position(|waiting| waiting.number == self.number) {
            waiting.remove(at);
            let used = account.used;
            state.move_account(self.visitor, used);
            state.close_account(self.visitor);
        }
    }
}

impl Slot {
    /// Frees the slot, and says whether the search had to give way.
    fn finish(self) -> bool {
        let state = self.shared.state();
        state.running.iter().any(|running| running.number == self.number && running.is_preempted)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        let mut state = self.shared.state();
        state.charge(Instant::now());
        if let Some(at) = state.running.iter().position(|running| running.number == self.number) {
            let visitor = state.running.swap_remove(at).visitor;
            state.close_account(visitor);
        }
        self.shared.schedule(state);
    }
}

impl Shared {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Gives free slots to those whose turn it is, and has a search give way if one must.
    fn schedule(self: &Arc<Shared>, mut state: MutexGuard<'_, State>) {
        let now = Instant::now();
        state.charge(now);
        let mut started = Vec::new();
        while let Some(band) = state.in_order().into_iter().find(|&band| state.has_room(band, &self.slots)) {
            let Some((visitor, waiting)) = state.next(band) else { break };
            let stop = Stop::default();
            state.running.push(Running {
                number: waiting.number,
                visitor,
                urgency: urgency_of(band),
                is_long: is_long(band),
                is_request: waiting.is_request,
                grant: waiting.grant,
                begun: now,
                charged: now,
                stop: stop.clone(),
                is_preempted: false,
            });
            self.waits[urgency_of(band) as usize].add(now.saturating_duration_since(waiting.since));
            started.push((waiting.start, Slot { shared: Arc::clone(self), number: waiting.number, stop }));
        }
        if let Some(victim) = state.victim(&self.slots, now) {
            let running = &mut state.running[victim];
            running.is_preempted = true;
            running.stop.raise();
            state.preemptions += 1;
        }
        let is_waiting = state.ready.iter().any(|ready| !ready.is_empty());
        let runtime = Handle::try_current().ok().filter(|_| is_waiting && !state.is_ticking);
        state.is_ticking |= runtime.is_some();
        drop(state);
        if let Some(runtime) = runtime {
            let shared = Arc::downgrade(self);
            // Grants end while nothing else happens.
            runtime.spawn(async move {
                loop {
                    tokio::time::sleep(TICK).await;
                    let Some(shared) = shared.upgrade() else { return };
                    let mut state = shared.state();
                    if state.ready.iter().all(BTreeSet::is_empty) {
                        state.is_ticking = false;
                        return;
                    }
                    shared.schedule(state);
                }
            });
        }
        // A slot that is not wanted any more comes back here when it is dropped: the state must be free.
        for (start, slot) in started {
            drop(start.send(slot));
        }
    }
}

impl State {
    fn account(&mut self, visitor: VisitorId) -> &mut Account {
        let floor = self.floor;
        let new = || Account { used: floor, waiting: Default::default(), requests: 0 };
        self.accounts.entry(visitor).or_insert_with(new)
    }

    /// Changes the time that a visitor has had, and its places in the order.
    fn move_account(&mut self, visitor: VisitorId, used: Duration) {
        let Some(account) = self.accounts.get_mut(&visitor) else { return };
        for (ready, waiting) in self.ready.iter_mut().zip(&account.waiting) {
            ready.remove(&(account.used, visitor));
            if !waiting.is_empty() {
                ready.insert((used, visitor));
            }
        }
        account.used = used;
    }

    /// Forgets a visitor that wants and has nothing, and whose debt is over.
    fn close_account(&mut self, visitor: VisitorId) {
        let running = &self.running;
        let is_idle = |visitor: &VisitorId, account: &Account| {
            account.requests == 0
                && account.waiting.iter().all(VecDeque::is_empty)
                && running.iter().all(|running| running.visitor != *visitor)
        };
        let Some(account) = self.accounts.get(&visitor) else { return };
        if account.used <= self.floor && is_idle(&visitor, account) {
            self.accounts.remove(&visitor);
        } else if self.accounts.len() >= self.tidy_at {
            self.accounts.retain(|visitor, account| !is_idle(visitor, account));
            self.tidy_at = (2 * self.accounts.len()).max(1024);
        }
    }

    /// Writes the time of running searches into the accounts.
    fn charge(&mut self, now: Instant) {
        for at in 0..self.running.len() {
            let running = &mut self.running[at];
            let spent = now.saturating_duration_since(running.charged);
            running.charged = now;
            // Work that was taken for short is not.
            running.is_long |= now.saturating_duration_since(running.begun) >= GRANT;
            let visitor = running.visitor;
            let used = self.account(visitor).used + spent;
            self.move_account(visitor, used);
        }
    }

    fn long_running(&self) -> usize {
        self.running.iter().filter(|running| running.is_long).count()
    }

    fn has_room(&self, band: Band, slots: &Slots) -> bool {
        let studies = self.running.iter().filter(|running| running.urgency == Urgency::Study).count();
        self.running.len() < slots.all()
            && (!is_long(band) || self.long_running() < slots.long())
            && (urgency_of(band) != Urgency::Study || studies < slots.study.get())
    }

    /// Takes the first that waits in a band.
    fn next(&mut self, band: Band) -> Option<(VisitorId, Waiting)> {
        let &(used, visitor) = self.ready[band].first()?;
        let waiting = self.accounts.get_mut(&visitor)?.waiting[band].pop_front()?;
        self.floor = self.floor.max(used);
        self.move_account(visitor, used);
        Some((visitor, waiting))
    }

    /// The bands in which something waits, and whose turn is first.
    fn in_order(&self) -> Vec<Band> {
        let first = |band: &Band| self.ready[*band].first().map(|&(used, _)| rank(urgency_of(*band), used));
        let mut bands: Vec<Band> = (0..BANDS).filter(|band| first(band).is_some()).collect();
        bands.sort_by_key(first);
        bands
    }

    /// The search that must give way, if one must; one at a time.
    fn victim(&self, slots: &Slots, now: Instant) -> Option<usize> {
        if self.running.iter().any(|running| running.is_preempted) {
            return None;
        }
        let rank_of = |running: &Running| {
            let used = self.accounts.get(&running.visitor).map_or(Duration::ZERO, |account| account.used);
            rank(running.urgency, used)
        };
        self.in_order().into_iter().find_map(|band| {
            // Short work has slots of its own, so it needs one of a long search only where that was taken for short.
            if !is_long(band) && self.long_running() <= slots.long() {
                return None;
            }
            let &(used, visitor) = self.ready[band].first()?;
            let grant = self.accounts[&visitor].waiting[band].front()?.grant;
            let urgency = urgency_of(band);
            let must = |running: &Running| {
                let ran = now.saturating_duration_since(running.begun);
                let (ours, theirs) = (rank(urgency, used), rank_of(running));
                let is_urgent = running.urgency == Urgency::Study && urgency != Urgency::Study
                    || running.urgency == Urgency::Move && urgency == Urgency::Clocked;
                let is_due = ran >= running.grant || ours.1 + grant < theirs.1;
                running.is_long && ours < theirs && (is_urgent || running.visitor != visitor && ran >= GRANT && is_due)
            };
            let victims = self.running.iter().enumerate().filter(|(_, running)| must(running));
            victims.max_by_key(|(_, running)| rank_of(running)).map(|(at, _)| at)
        })
    }
}

#[cfg(test)]
mod tests {
    use std::net::{IpAddr, Ipv4Addr};
    use std::num::NonZeroUsize;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use tokio::task::JoinHandle;

    use super::*;
    use crate::tasks::OwnedTask;

    fn scheduler(play: usize, study: usize, quick: usize) -> Scheduler {
        let number = |number| NonZeroUsize::new(number).unwrap();
        Scheduler::new(Slots { play: number(play), study: number(study), quick: number(quick) }, 2)
    }

    fn visitor(number: u8) -> VisitorId {
        VisitorId::of(IpAddr::V4(Ipv4Addr::new(10, 0, 0, number)))
    }

    /// A search that ends only when it is stopped, and how often it was begun.
    fn endless(mut turn: Turn, begun: &Arc<AtomicUsize>) -> JoinHandle<Option<()>> {
        let begun = Arc::clone(begun);
        tokio::spawn(async move {
            turn.run(move |stop| {
                begun.fetch_add(1, Ordering::SeqCst);
                while !stop.is_raised() {
                    thread::sleep(Duration::from_millis(1));
                }
            })
            .await
        })
    }

    async fn short(mut turn: Turn) {
        turn.run(|_| ()).await.unwrap();
    }

    async fn until(mut done: impl FnMut() -> bool) {
        while !done() {
            tokio::time::sleep(Duration::from_millis(1)).await;
        }
    }

    #[tokio::test]
    async fn long_searches_leave_room_for_short_work() {
        let scheduler = scheduler(1, 1, 1);
        let begun = Arc::default();
        let long: Vec<_> =
            (0..9).map(|_| endless(scheduler.engine(visitor(1), Urgency::Clocked, true), &begun)).collect();
        until(|| begun.load(Ordering::SeqCst) == 2).await;
        // None of them has had its grant, and still there is a slot for this.
        short(scheduler.engine(visitor(2), Urgency::Move, false)).await;
        let load = scheduler.load();
        assert_eq!((load.running, load.waiting, load.preemptions), ([2, 0, 0], [7, 0, 0], 0));
        long.iter().for_each(JoinHandle::abort);
        until(|| scheduler.load().running == [0; 3] && scheduler.load().waiting == [0; 3]).await;
        assert!(scheduler.0.state().ready.iter().all(BTreeSet::is_empty));
    }

    #[tokio::test]
    async fn an_analysis_gives_way_to_play_and_begins_again() {
        let scheduler = scheduler(1, 1, 1);
        let (studies, moves) = (Arc::default(), Arc::default());
        let (_permit, turn) = scheduler.request(visitor(1), Urgency::Study).unwrap();
        let study = endless(turn, &studies);
        let first = endless(scheduler.engine(visitor(1), Urgency::Move, true), &moves);
        until(|| moves.load(Ordering::SeqCst) == 1).await;
        assert_eq!(scheduler.load().preemptions, 0, "each has a slot of its own");
        let second = endless(scheduler.engine(visitor(1), Urgency::Move, true), &moves);
        until(|| moves.load(Ordering::SeqCst) == 2).await;
        assert_eq!((scheduler.load().preemptions, scheduler.load().waiting), (1, [0, 0, 1]));
        first.abort();
        until(|| studies.load(Ordering::SeqCst) == 2).await;
        assert!(!study.is_finished());
        second.abort();
        study.abort();
    }

    #[tokio::test]
    async fn a_visitor_who_had_little_comes_before_one_who_had_much() {
        let scheduler = scheduler(1, 1, 1);
        let begun = Arc::default();
        let hog: Vec<_> = (0..4).map(|_| endless(scheduler.engine(visitor(1), Urgency::Move, true), &begun)).collect();
        until(|| begun.load(Ordering::SeqCst) == 2).await;
        // Both slots are taken, and two searches of the same visitor have waited longer.
        let (_permit, turn) = scheduler.request(visitor(2), Urgency::Move).unwrap();
        short(turn).await;
        assert_eq!(scheduler.load().preemptions, 1);
        hog.iter().for_each(JoinHandle::abort);
    }

    #[tokio::test]
    async fn searches_that_give_way_come_to_an_end() {
        let scheduler = scheduler(1, 1, 1);
        // Each needs more than the first grant without a break.
        let needs = GRANT + GRANT / 2;
        let all = (1..=3).map(|number| {
            let mut turn = scheduler.engine(visitor(number), Urgency::Move, true);
            tokio::spawn(async move {
                turn.run(move |stop| {
                    let begun = Instant::now();
                    while begun.elapsed() < needs && !stop.is_raised() {
                        thread::sleep(Duration::from_millis(1));
                    }
                })
                .await
            })
        });
        for search in all.collect::<Vec<_>>() {
            assert_eq!(search.await.unwrap(), Some(()));
        }
        assert!(scheduler.load().preemptions > 0);
    }

    #[tokio::test]
    async fn a_visitor_has_two_requests_that_wait() {
        let scheduler = scheduler(1, 1, 1);
        let begun = Arc::default();
        let ask =
            || scheduler.request(visitor(1), Urgency::Study).map(|(permit, turn)| (permit, endless(turn, &begun)));
        let mut asked: Vec<_> = (0..3).map(|_| ask().unwrap()).collect();
        assert_eq!(ask().unwrap_err(), LimitError::Busy(2));
        assert!(scheduler.request(visitor(2), Urgency::Study).is_ok(), "another visitor may");
        let (permit, task) = asked.pop().unwrap();
        task.abort();
        drop(permit);
        asked.push(ask().unwrap());
        assert_eq!(ask().unwrap_err(), LimitError::Busy(2));
        asked.iter().for_each(|(_, task)| task.abort());
        drop(asked);
        until(|| scheduler.0.state().accounts.values().all(|account| account.requests == 0)).await;
    }

    #[tokio::test]
    async fn dropped_work_is_gone_at_once() {
        let scheduler = scheduler(1, 1, 1);
        let begun: Arc<AtomicUsize> = Arc::default();
        let stopped: Arc<AtomicUsize> = Arc::default();
        let mut owned = Vec::new();
        for _ in 0..50 {
            let (begun, stopped) = (Arc::clone(&begun), Arc::clone(&stopped));
            let mut turn = scheduler.engine(visitor(1), Urgency::Study, true);
            owned.push(OwnedTask::spawn(async move {
                turn.run(move |stop| {
                    begun.fetch_add(1, Ordering::SeqCst);
                    while !stop.is_raised() {
                        thread::sleep(Duration::from_millis(1));
                    }
                    stopped.fetch_add(1, Ordering::SeqCst);
                })
                .await;
            }));
        }
        until(|| begun.load(Ordering::SeqCst) == 1).await;
        drop(owned);
        until(|| scheduler.load().running == [0; 3]).await;
        assert_eq!((begun.load(Ordering::SeqCst), stopped.load(Ordering::SeqCst)), (1, 1));
        assert_eq!(scheduler.load().waiting, [0; 3]);
        assert!(scheduler.0.state().accounts.len() <= 1);
    }
}
