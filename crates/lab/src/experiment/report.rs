//! The report of a run, in Markdown: printed and measured numbers side by side, with 95 % intervals.
//!
//! A printed number *agrees* with ours if their difference is within the 95 % interval of such a difference: both come
//! from a limited number of games, and printed ones are rounded, too.

use std::fmt::Write as _;

use anqi_stats::{CrossTable, Elo, Games, Outcomes, wilson};

use super::published::Order;
use super::{
    BestMove, Experiment, ExperimentError, MatchRow, PlayoutPlan, PlayoutRow, PrintedMatch, PrintedPlayouts, Run,
};
use crate::plan::Plan;

/// Standard errors to either side.
const Z: f64 = 1.96;

impl Experiment {
    /// The report of a run of playouts, as far as it is measured.
    ///
    /// # Errors
    /// If the tables cannot be read or the report cannot be written.
    pub fn report_playouts(&self, run: &Run, plan: &PlayoutPlan) -> Result<String, ExperimentError> {
        let (printed, rows) = (self.published::<PrintedPlayouts>()?, run.playout_rows()?);
        let file = plan.file();
        let mut text = self.head(run, rows.len(), plan.cells().len(), "rows");
        let _ = writeln!(
            text,
            "Printed numbers are from {} playouts, measured ones from {}, seed {}. Intervals are 95 %; a printed \
             number *agrees* if the difference is within the interval of a difference.\n",
            file.published_playouts, file.playouts, plan.seed,
        );
        let table = Comparison { plan, printed: &printed, rows: &rows };
        table.numbers(&mut text, "Pieces left (standard deviation)", 2, |printed| printed.left, left);
        table.numbers(&mut text, "Plies (standard deviation)", 2, |printed| printed.plies, plies);
        table.numbers(&mut text, "Share of draws", 3, |printed| printed.draw_rate, draw_rate);
        table.best_moves(&mut text, "Best move and its wins/losses/draws in percent", false);
        table.best_moves(&mut text, "The same, draws decided by material", true);
        table.times(&mut text);
        run.write("report.md", text.as_bytes())?;
        Ok(text)
    }

    /// The report of a run of matches; `rows` is what was played so far.
    ///
    /// # Errors
    /// If the published table cannot be read or the report cannot be written.
    pub fn report_matches(&self, run: &Run, plan: &Plan, rows: &[MatchRow]) -> Result<String, ExperimentError> {
        let printed = self.published::<PrintedMatch>()?;
        let played: u64 = rows.iter().map(|row| row.pairs().total()).sum();
        let mut text = self.head(run, played as usize, plan.count() as usize, "pairs of games");
        let _ = writeln!(
            text,
            "Rules {}, seed {}. Score: a draw is half a point; intervals are 95 %.\n",
            plan.rules(),
            plan.seed()
        );
        text += "| player | against | games | printed +=− | score | measured +=− | score | difference |\n";
        text += "|---|---|---|---|---|---|---|---|\n";
        let (mut agree, mut compared) = (0, 0);
        for row in rows {
            let mut lines: Vec<(Option<&PrintedMatch>, MatchRow, Order)> = Vec::new();
            for one in [row.clone(), row.clone().inverted()] {
                let about = |printed: &&PrintedMatch| printed.player == one.player && printed.opponent == one.opponent;
                lines.extend(printed.iter().filter(about).map(|printed| (Some(printed), one.clone(), printed.order)));
            }
            if lines.is_empty() {
                lines.push((None, row.clone(), Order::Both));
            }
            for (printed, row, order) in lines {
                let (games, measured) = match order {
                    Order::First => (row.first(), by_games(&row.first())),
                    Order::Both => (row.games(), by_pairs(&row)),
                };
                let there = printed.and_then(|printed| by_games(&printed.games()));
                let difference = match (there, measured) {
                    (Some(there), Some(measured)) => {
                        let agrees = measured.agrees(there);
                        compared += 1;
                        agree += u32::from(agrees);
                        measured.difference(there, 3)
                    }
                    _ => "–".to_owned(),
                };
                let order = if order == Order::First { "moves first" } else { "both orders" };
                let _ = writeln!(
                    text,
                    "| {} | {} | {order} | {} | {} | {} | {} | {difference} |",
                    row.player,
                    row.opponent,
                    printed.map_or("–".to_owned(), |printed| counts(&printed.games())),
                    show(there, 3),
                    counts(&games),
                    show(measured, 3),
                );
            }
        }
        let _ = writeln!(text, "\n**{agree} of {compared} printed scores agree.**\n");
        chen_scores(&mut text, plan, rows, &printed);
        run.write("report.md", text.as_bytes())?;
        Ok(text)
    }

    fn head(&self, run: &Run, done: usize, all: usize, what: &str) -> String {
        let mut text = format!("# {}: run {}\n\n{}\n\n", self.name, run.name(), self.question);
        if done < all {
            let _ = writeln!(text, "**Not finished: {done} of {all} {what}.**\n");
        }
        text
    }
}

/// A number and its standard error.
#[derive(Clone, Copy)]
struct Number {
    value: f64,
    error: f64,
    sd: Option<f64>,
}

impl Number {
    fn agrees(self, other: Number) -> bool {
        (self.value - other.value).abs() <= Z * self.error.hypot(other.error)
    }

    fn difference(self, printed: Number, places: usize) -> String {
        let (by, margin) = (self.value - printed.value, Z * self.error.hypot(printed.error));
        let verdict = if self.agrees(printed) { "agrees" } else { "differs" };
        format!("{by:+.places$} ± {margin:.places$}, {verdict}")
    }
}

fn show(number: Option<Number>, places: usize) -> String {
    let Some(Number { value, error, sd }) = number else { return "–".to_owned() };
    let sd = sd.map_or(String::new(), |sd| format!(" ({sd:.2})"));
    format!("{value:.places$} ± {:.places$}{sd}", Z * error)
}

fn left(row: &PlayoutRow) -> Number {
    Number { value: row.left, error: row.left_sd / (row.playouts as f64).sqrt(), sd: Some(row.left_sd) }
}

fn plies(row: &PlayoutRow) -> Number {
    Number { value: row.plies, error: row.plies_sd / (row.playouts as f64).sqrt(), sd: Some(row.plies_sd) }
}

fn draw_rate(row: &PlayoutRow) -> Number {
    // Wilson's interval has a width where nothing or everything is drawn.
    let margin = wilson(row.draws, row.playouts).map_or(f64::NAN, |share| share.margin());
    Number { value: row.draws as f64 / row.playouts as f64, error: margin / Z, sd: None }
}

/// Published and measured playouts.
struct Comparison<'a> {
    plan: &'a PlayoutPlan,
    printed: &'a [PrintedPlayouts],
    rows: &'a [PlayoutRow],
}

impl Comparison<'_> {
    fn head(&self, text: &mut String, title: &str, columns: impl Fn(&str) -> String) {
        let _ = write!(text, "## {title}\n\n| position | policy | limit | printed |");
        let readings = &self.plan.file().readings;
        readings.iter().for_each(|reading| *text += &columns(reading));
        let width = 4 + readings.iter().map(|reading| columns(reading).matches('|').count()).sum::<usize>();
        let _ = writeln!(text, "\n|{}", "---|".repeat(width));
    }

    /// Every position, policy and limit in the order of the plan, with what was printed about it.
    fn lines(&self) -> impl Iterator<Item = (String, Option<&PrintedPlayouts>, Vec<Option<&PlayoutRow>>)> {
        let readings = self.plan.readings.len();
        let cells = self.plan.cells();
        let groups: Vec<_> = cells.chunks(readings).map(<[_]>::to_vec).collect();
        groups.into_iter().map(|group| {
            let (name, policy, limit) = (&group[0].name, group[0].policy.to_string(), group[0].limit);
            let about = |row: &&PrintedPlayouts| row.position == *name && row.policy == policy && row.limit == limit;
            let printed = self.printed.iter().find(about);
            let rows = group.iter().map(|cell| self.rows.iter().find(|row| row.is_of(cell))).collect();
            (format!("| {name} | {policy} | {limit} |"), printed, rows)
        })
    }

    fn numbers(
        &self,
        text: &mut String,
        title: &str,
        places: usize,
        printed: impl Fn(&PrintedPlayouts) -> Option<f64>,
        measured: impl Fn(&PlayoutRow) -> Number,
    ) {
        if !self.printed.iter().any(|row| printed(row).is_some()) {
            return;
        }
        self.head(text, title, |reading| format!(" {reading} | difference |"));
        let count = (self.plan.file().published_playouts as f64).sqrt();
        let mut tally = vec![(0, 0); self.plan.readings.len()];
        for (key, row, cells) in self.lines() {
            let value = row.and_then(&printed);
            let _ = write!(text, "{key} {} |", value.map_or("–".to_owned(), |value| format!("{value:.2}")));
            for (cell, (agree, compared)) in cells.into_iter().zip(&mut tally) {
                let number = cell.map(&measured);
                let difference = value.zip(number).map(|(value, number)| {
                    // What is printed has the spread of ours, over as many playouts, and was rounded to two places.
                    let spread = number.error * (cell.map_or(1, |cell| cell.playouts) as f64).sqrt();
                    let there = Number { value, error: (spread / count).hypot(0.005 / Z), sd: None };
                    *compared += 1;
                    *agree += u32::from(number.agrees(there));
                    number.difference(there, places)
                });
                let _ = write!(text, " {} | {} |", show(number, places), difference.unwrap_or("–".to_owned()));
            }
            text.push('\n');
        }
        text.push('\n');
        for (reading, (agree, compared)) in self.plan.file().readings.iter().zip(tally) {
            let _ = writeln!(text, "**{agree} of {compared} agree by reading `{reading}`.**");
        }
        text.push('\n');
    }

    fn best_moves(&self, text: &mut String, title: &str, eval: bool) {
        if !self.printed.iter().any(|row| row.best(eval).is_some()) {
            return;
        }
        self.head(text, title, |reading| format!(" {reading} |"));
        for (key, row, cells) in self.lines() {
            let shown = |best: Option<BestMove>| best.map_or("–".to_owned(), |best| best.shown());
            let _ = write!(text, "{key} {} |", shown(row.and_then(|row| row.best(eval))));
            for cell in cells {
                let _ = write!(text, " {} |", shown(cell.and_then(|cell| cell.best(eval))));
            }
            text.push('\n');
        }
        let best_of = self.plan.file().best_of.unwrap_or_default();
        let moves = self.plan.positions.iter().map(|(name, at)| format!("{name} {}", at.moves().len()));
        let moves = moves.collect::<Vec<_>>().join(", ");
        let _ = writeln!(text, "\n{best_of} playouts shared equally among the legal moves ({moves}).\n");
    }

    fn times(&self, text: &mut String) {
        if !self.printed.iter().any(|row| row.seconds.is_some()) {
            return;
        }
        let count = self.plan.file().published_playouts;
        let title = format!("Seconds for {count} playouts");
        self.head(text, &title, |reading| format!(" {reading} | times as fast |"));
        for (key, row, cells) in self.lines() {
            let there = row.and_then(|row| row.seconds);
            let _ = write!(text, "{key} {} |", there.map_or("–".to_owned(), |there| format!("{there:.3}")));
            for cell in cells {
                let here = cell.map(|cell| cell.seconds * count as f64 / cell.playouts as f64);
                let faster = there.zip(here).map_or("–".to_owned(), |(there, here)| format!("{:.0}", there / here));
                let _ = write!(text, " {} | {faster} |", here.map_or("–".to_owned(), |here| format!("{here:.4}")));
            }
            text.push('\n');
        }
        *text +=
            "\nOne measurement on one thread of the machine that made this run: an order of magnitude, no benchmark.\n";
    }
}

impl BestMove {
    /// `c6-c7 48/2/50`.
    fn shown(&self) -> String {
        let total = self.results.iter().sum::<u64>().max(1) as f64;
        let percent = self.results.map(|count| format!("{:.0}", 100.0 * count as f64 / total));
        format!("{} {}", self.mv, percent.join("/"))
    }
}

fn counts(games: &Games) -> String {
    format!("+{} ={} −{}", games.wins(), games.draws(), games.losses())
}

/// The score if games are independent, which is all that a printed table allows to say.
fn by_games(games: &Games) -> Option<Number> {
    let (value, variance) = games.moments()?;
    Some(Number { value, error: (variance / games.total() as f64).sqrt(), sd: None })
}

/// The score with the interval of paired games.
fn by_pairs(row: &MatchRow) -> Option<Number> {
    let score = Elo::of(&row.pairs())?.score;
    Some(Number { value: score.value, error: score.margin() / Z, sd: None })
}

/// Chen's scores and the first player's, where the printed table tells who moved first.
fn chen_scores(text: &mut String, plan: &Plan, rows: &[MatchRow], printed: &[PrintedMatch]) {
    if !printed.iter().any(|row| row.order == Order::First) {
        return;
    }
    let names: Vec<&str> = plan.contenders().iter().map(|contender| contender.name.as_str()).collect();
    let place = |name: &str| names.iter().position(|known| *known == name);
    let (mut there, mut here) = (CrossTable::new(names.len()), CrossTable::new(names.len()));
    for row in printed.iter().filter(|row| row.order == Order::First) {
        if let (Some(player), Some(opponent)) = (place(&row.player), place(&row.opponent)) {
            *there.games_mut(player, opponent) = row.games();
        }
    }
    for row in rows.iter().flat_map(|row| [row.clone(), row.clone().inverted()]) {
        if let (Some(player), Some(opponent)) = (place(&row.player), place(&row.opponent)) {
            *here.games_mut(player, opponent) = row.first();
        }
    }
    *text += "## Scores: as first player, as second player, over all\n\n";
    *text +=
        "| player | printed first | second | all | measured first | second | all |\n|---|---|---|---|---|---|---|\n";
    let score = |score: Option<f64>| score.map_or("–".to_owned(), |score| format!("{score:.4}"));
    for (player, name) in names.iter().enumerate() {
        let [there, here] = [there.scores(player), here.scores(player)];
        let scores = [there.gs_first, there.gs_second, there.ts, here.gs_first, here.gs_second, here.ts];
        let _ = writeln!(text, "| {name} | {} |", scores.map(score).join(" | "));
    }
    let all = |table: &CrossTable| {
        let all = (0..names.len()).flat_map(|first| (0..names.len()).map(move |second| (first, second)));
        all.fold(Games::default(), |sum, (first, second)| {
            Games(std::array::from_fn(|index| sum.0[index] + table.games(first, second).0[index]))
        })
    };
    for (who, table) in [("Printed", &there), ("Measured", &here)] {
        let games = all(table);
        let p = anqi_stats::sign_test(games.wins(), games.losses());
        let _ = writeln!(text, "\n{who}: whoever moves first {} (sign test p = {p:.3}).", counts(&games));
    }
}
