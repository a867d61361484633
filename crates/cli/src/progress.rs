//! What a person sees while something takes long, on standard error.

use std::time::{Duration, Instant};

use anqi_lab::{Plan, RunEvent, Standings};
use anqi_stats::{Elo, Games, Pairs};
use anqi_task::{Amount, Progress, Status};
use indicatif::{HumanDuration, ProgressBar, ProgressFinish, ProgressStyle};

/// How much of a task is done: a bar on a terminal, a plain line now and then elsewhere.
pub(crate) struct Bar {
    bar: ProgressBar,
    what: &'static str,
    status: Status,
    said: Instant,
    began: Instant,
}

/// How often a plain line comes.
const NOW_AND_THEN: Duration = Duration::from_secs(30);

impl Bar {
    /// A bar that counts things called `what`.
    pub(crate) fn of(what: &'static str) -> Bar {
        // The bar hides itself where standard error is no terminal; it has no colours to begin with.
        let bar = ProgressBar::new(0).with_finish(ProgressFinish::AndClear);
        let style = format!("{{bar:24}} {{prefix}} {what}, {{elapsed}} + {{eta}}  {{msg}}");
        bar.set_style(ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Bar { bar, what, status: Status::default(), said: now, began: now }
    }

    /// How much is done.
    pub(crate) const fn status(&self) -> &Status {
        &self.status
    }

    /// So many things of a part of the task are done.
    pub(crate) fn show(&mut self, part: &str, done: usize, all: usize) {
        let amount = |count: usize| Amount { items: count as u64, units: count as u64 };
        if amount(done).items < self.status.done.items {
            self.began = Instant::now();
        }
        self.set(Status { done: amount(done), all: amount(all), ..Status::default() });
        self.say(|| part.to_owned());
    }

    /// Says something beside the bar.
    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(text());
        } else if self.said.elapsed() >= NOW_AND_THEN {
            self.said = Instant::now();
            let Status { done, all, .. } = self.status;
            eprintln!(
                "{}",
                format!("{} of {} {}{}  {}", done.items, all.items, self.what, self.left(), text()).trim_end()
            );
        }
    }

    /// Says something above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    /// So much is done.
    pub(crate) fn set(&mut self, status: Status) {
        // The time that is left must not be guessed from what was there before. Things differ in size: it is guessed from
        // their units.
        if status.found != self.status.found {
            self.bar.reset_eta();
        }
        self.status = status;
        self.bar.set_length(status.all.units);
        self.bar.set_position(status.done.units);
        self.bar.set_prefix(format!("{}/{}", status.done.items, status.all.items));
    }

    /// The time that the rest will take, if it is like what was done so far.
    fn left(&self) -> String {
        let made = self.status.made().units;
        let each = self.began.elapsed().as_secs_f64() / made as f64;
        let left = Duration::try_from_secs_f64(each * self.status.left().units as f64).unwrap_or_default();
        if made == 0 { String::new() } else { format!(", about {} left", HumanDuration(left)) }
    }
}

impl Progress for &mut Bar {
    fn report(&mut self, status: &Status) {
        self.set(*status);
        self.say(String::new);
    }
}

/// The bar of a match, with a live score.
pub(crate) struct MatchBar {
    bar: Bar,
    standings: Standings,
}

impl MatchBar {
    pub(crate) fn new(plan: &Plan) -> MatchBar {
        let mut bar = Bar::of("pairs");
        bar.set(Status { all: Amount { items: plan.count(), units: plan.count() }, ..Status::default() });
        MatchBar { bar, standings: Standings::new(plan) }
    }

    pub(crate) fn watch(&mut self, event: RunEvent<'_>) {
        let mut status = self.bar.status;
        match event {
            RunEvent::Known(pair) => {
                self.standings.add(pair);
                status.add(1, true);
            }
            RunEvent::Played(pair) => {
                self.standings.add(pair);
                status.add(1, false);
            }
            // Its points stay in the live score; the result is counted from the journal.
            RunEvent::Discarded(_) => {
                status.done.items = status.done.items.saturating_sub(1);
                status.done.units = status.done.units.saturating_sub(1);
            }
            RunEvent::Note(text) => self.note(text),
            RunEvent::Waiting => self.bar.bar.tick(),
        }
        self.bar.set(status);
        let standings = &self.standings;
        self.bar.say(|| score(standings));
    }

    /// Says something above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.bar.note(text);
    }
}

/// The score of a match, or the leader of a tournament.
fn score(standings: &Standings) -> String {
    let plan = standings.plan();
    if plan.contenders().len() == 2 {
        let tally = standings.tally(0);
        return describe(&plan.contenders()[0].name, &tally.pairs, &tally.games);
    }
    let scores = standings.rows().filter_map(|row| Some((row.chen.ts?, row.name)));
    let best = scores.max_by(|a, b| a.0.total_cmp(&b.0));
    best.map(|(score, name)| format!("{name} leads with {score:.3}")).unwrap_or_default()
}

fn describe(name: &str, pairs: &Pairs, games: &Games) -> String {
    let Some(Elo { score, .. }) = Elo::of(pairs) else { return String::new() };
    let (wins, draws, losses) = (games.wins(), games.draws(), games.losses());
    format!("{name} {:.3} ± {:.3} (+{wins} ={draws} -{losses})", score.value, score.margin())
}
