//! What a person sees while games are played, on standard error.

use std::time::{Duration, Instant};

use anqi_lab::{Event, Plan, Standings};
use anqi_stats::{Elo, Games, Pairs};
use indicatif::{HumanDuration, ProgressBar, ProgressFinish, ProgressStyle};

/// How much of a task is done: a bar on a terminal, a plain line now and then elsewhere.
pub(crate) struct Bar {
    bar: ProgressBar,
    what: &'static str,
    said: Instant,
    began: Instant,
    /// What was there before, which took no time.
    found: u64,
}

/// How often a plain line comes.
const NOW_AND_THEN: Duration = Duration::from_secs(30);

impl Bar {
    pub(crate) fn of(what: &'static str) -> Bar {
        // The bar hides itself where standard error is no terminal; it has no colours to begin with.
        let bar = ProgressBar::new(0).with_finish(ProgressFinish::AndClear);
        let style = format!("{{bar:24}} {{pos}}/{{len}} {what}, {{elapsed}} + {{eta}}  {{msg}}");
        bar.set_style(ProgressStyle::with_template(&style).unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Bar { bar, what, said: now, began: now, found: 0 }
    }

    /// So much of the task is done.
    pub(crate) fn set(&self, done: u64, all: u64) {
        self.bar.set_length(all);
        self.bar.set_position(done);
    }

    /// So much of a part of the task is done.
    pub(crate) fn show(&mut self, part: &str, done: usize, all: usize) {
        self.set(done as u64, all as u64);
        self.say(|| part.to_owned());
    }

    /// One more was there before: the time that is left must not be guessed from it.
    pub(crate) fn find(&mut self) {
        self.found += 1;
        self.bar.inc(1);
        self.bar.reset_eta();
    }

    /// Says something beside the bar.
    pub(crate) fn say(&mut self, text: impl FnOnce() -> String) {
        if !self.bar.is_hidden() {
            self.bar.set_message(text());
        } else if self.said.elapsed() >= NOW_AND_THEN {
            self.said = Instant::now();
            let (done, all) = (self.bar.position(), self.bar.length().unwrap_or(0));
            eprintln!("{done} of {all} {}{}  {}", self.what, self.left(done, all), text());
        }
    }

    /// Says something above the bar.
    pub(crate) fn note(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    /// The time that the rest will take, if it is like what was done so far.
    fn left(&self, done: u64, all: u64) -> String {
        let made = done.saturating_sub(self.found);
        let each = self.began.elapsed().as_secs_f64() / made as f64;
        let left = Duration::try_from_secs_f64(each * all.saturating_sub(done) as f64).unwrap_or_default();
        if made == 0 { String::new() } else { format!(", about {} left", HumanDuration(left)) }
    }
}

/// The bar of a match, with a live score.
pub(crate) struct MatchBar {
    bar: Bar,
    standings: Standings,
}

impl MatchBar {
    pub(crate) fn new(plan: &Plan) -> MatchBar {
        let bar = Bar::of("pairs");
        bar.set(0, plan.count());
        MatchBar { bar, standings: Standings::new(plan) }
    }

    pub(crate) fn watch(&mut self, event: Event<'_>) {
        match event {
            Event::Known(pair) => {
                self.standings.add(pair);
                self.bar.find();
            }
            Event::Played(pair) => {
                self.standings.add(pair);
                self.bar.bar.inc(1);
            }
            Event::Waiting => self.bar.bar.tick(),
        }
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
