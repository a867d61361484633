//! What a person sees while games are played, on standard error.

use std::time::{Duration, Instant};

use anqi_lab::{Event, Plan, Standings};
use anqi_stats::{Elo, Games, Pairs};
use indicatif::{HumanDuration, ProgressBar, ProgressStyle};

/// A bar with a live score on a terminal, a plain line now and then elsewhere.
pub(crate) struct Progress {
    bar: ProgressBar,
    standings: Standings,
    said: Instant,
    began: Instant,
    /// How many pairs this process has played.
    played: u64,
}

/// How often a plain line comes.
const NOW_AND_THEN: Duration = Duration::from_secs(30);

impl Progress {
    pub(crate) fn new(plan: &Plan) -> Progress {
        // The bar hides itself where standard error is no terminal; it has no colours to begin with.
        let bar = ProgressBar::new(plan.count());
        let style = ProgressStyle::with_template("{bar:24} {pos}/{len} pairs, {elapsed} + {eta}  {msg}");
        bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
        let now = Instant::now();
        Progress { bar, standings: Standings::new(plan), said: now, began: now, played: 0 }
    }

    pub(crate) fn watch(&mut self, event: Event<'_>) {
        match event {
            Event::Known(pair) => {
                self.standings.add(pair);
                self.bar.inc(1);
                // The time that is left must not be guessed from what was played before.
                self.bar.reset_eta();
            }
            Event::Played(pair) => {
                self.standings.add(pair);
                self.played += 1;
                self.bar.inc(1);
                if !self.bar.is_hidden() {
                    self.bar.set_message(self.score());
                }
            }
            Event::Waiting => self.bar.tick(),
        }
        if self.bar.is_hidden() && self.said.elapsed() >= NOW_AND_THEN {
            self.said = Instant::now();
            let (done, all) = (self.standings.pairs(), self.standings.plan().count());
            eprintln!("{done} of {all} pairs{}  {}", self.left(all.saturating_sub(done)), self.score());
        }
    }

    /// Says something above the bar.
    pub(crate) fn say(&self, text: &str) {
        self.bar.suspend(|| eprintln!("{text}"));
    }

    pub(crate) fn clear(&self) {
        self.bar.finish_and_clear();
    }

    /// The time that the other pairs will take, if they are like those played so far.
    fn left(&self, pairs: u64) -> String {
        let each = self.began.elapsed().as_secs_f64() / self.played as f64;
        let left = Duration::try_from_secs_f64(each * pairs as f64).unwrap_or_default();
        if self.played == 0 { String::new() } else { format!(", about {} left", HumanDuration(left)) }
    }

    /// The score of a match, or the leader of a tournament.
    fn score(&self) -> String {
        let plan = self.standings.plan();
        if plan.contenders().len() == 2 {
            let tally = self.standings.tally(0);
            return describe(&plan.contenders()[0].name, &tally.pairs, &tally.games);
        }
        let scores = self.standings.rows().filter_map(|row| Some((row.chen.ts?, row.name)));
        let best = scores.max_by(|a, b| a.0.total_cmp(&b.0));
        best.map(|(score, name)| format!("{name} leads with {score:.3}")).unwrap_or_default()
    }
}

fn describe(name: &str, pairs: &Pairs, games: &Games) -> String {
    let Some(Elo { score, .. }) = Elo::of(pairs) else { return String::new() };
    let (wins, draws, losses) = (games.wins(), games.draws(), games.losses());
    format!("{name} {:.3} ± {:.3} (+{wins} ={draws} -{losses})", score.value, score.margin())
}
