//! The findings of an experiment in Markdown: claims and their judgement, printed and measured numbers side by side, with
//! 95 % intervals.
//!
//! A printed number *agrees* with ours if their difference is within the 95 % interval of such a difference: both come
//! from a limited number of games, and printed ones are rounded, too.

use std::fmt::Write as _;

use anqi_experiment::{
    BestMove, BranchingRow, Claim, Findings, Judged, MatchRow, Measurements, Number, Order, PlayoutPlan, PlayoutRow,
    PrintedBranching, PrintedMatch, PrintedPlayouts, Z, by_games, by_pairs, draw_rate, left, plies, show,
};
use anqi_lab::Plan;
use anqi_stats::{CrossTable, Games};

/// The name of the file that the Markdown expects a figure in, counted from 1.
#[must_use]
pub fn figure_file(number: usize) -> String {
    format!("figure-{number}.svg")
}

/// Everything that a run found in words and tables; figures are images called [`figure_file`].
#[must_use]
pub fn experiment_markdown(findings: &Findings) -> String {
    let Findings { experiment, run, question, measured: (done, all, what), claims, figures, table } = findings;
    let mut text = format!("# {experiment}: run {run}\n\n{question}\n\n");
    if done < all {
        let _ = writeln!(text, "**Not finished: {done} of {all} {what}.**\n");
    }
    write_claims(&mut text, claims);
    if !figures.is_empty() {
        text += "## Figures\n\n";
    }
    for (place, figure) in figures.iter().enumerate() {
        let _ = writeln!(text, "![{}]({})\n", figure.title, figure_file(place + 1));
    }
    match table {
        Measurements::Playouts { plan, printed, rows } => playout_tables(&mut text, plan, printed, rows),
        Measurements::Matches { plan, printed, rows } => match_tables(&mut text, plan, printed, rows),
        Measurements::Branching { plan, printed, rows } => branching_table(&mut text, plan, printed, rows),
    }
    text
}

fn write_claims(text: &mut String, claims: &[(Claim, Judged, Judged)]) {
    if claims.is_empty() {
        return;
    }
    *text += "## Claims\n\n| claim | where | printed numbers | measured numbers | verdict |\n|---|---|---|---|---|\n";
    for (Claim { says, place, .. }, there, here) in claims {
        let there = match there.reason.as_str() {
            "–" => "–".to_owned(),
            reason => format!("{reason} ({})", there.judgement),
        };
        let _ = writeln!(text, "| {says} | {place} | {there} | {} | **{}** |", here.reason, here.judgement);
    }
    *text += "\nConfirmed: the whole 95 % interval is on the side of the claim; refuted: it is on the other side; \
              open: neither.\n\n";
}

fn playout_tables(text: &mut String, plan: &PlayoutPlan, printed: &[PrintedPlayouts], rows: &[PlayoutRow]) {
    let file = plan.file();
    let _ = writeln!(
        text,
        "Printed numbers are from {} playouts, measured ones from {}, seed {}. Intervals are 95 %; a printed number \
         *agrees* if the difference is within the interval of a difference.\n",
        file.published_playouts,
        file.playouts,
        plan.seed(),
    );
    let table = Comparison { plan, printed, rows };
    table.numbers(text, "Pieces left (standard deviation)", 2, |printed| printed.left, left);
    table.numbers(text, "Plies (standard deviation)", 2, |printed| printed.plies, plies);
    table.numbers(text, "Share of draws", 3, |printed| printed.draw_rate, draw_rate);
    table.best_moves(text, "Best move and its wins/losses/draws in percent", false);
    table.best_moves(text, "The same, draws decided by material", true);
    table.times(text);
}

fn match_tables(text: &mut String, plan: &Plan, printed: &[PrintedMatch], rows: &[MatchRow]) {
    let _ = writeln!(
        text,
        "## Results\n\nRules {}, seed {}. Score: a draw is half a point; intervals are 95 %.\n",
        plan.rules(),
        plan.seed()
    );
    *text += "| player | against | games | printed +=− | score | measured +=− | score | difference |\n";
    *text += "|---|---|---|---|---|---|---|---|\n";
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
                    compared += 1;
                    agree += u32::from(measured.agrees(there));
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
    text.push('\n');
    if compared > 0 {
        let _ = writeln!(text, "**{agree} of {compared} printed scores agree.**\n");
    }
    chen_scores(text, plan, rows, printed);
}

fn branching_table(text: &mut String, plan: &Plan, printed: &[PrintedBranching], rows: &[BranchingRow]) {
    let players: Vec<&str> = plan.contenders().iter().map(|contender| contender.name.as_str()).collect();
    let _ = writeln!(
        text,
        "## Branching by face-down pieces\n\n{} games between {}, rules {}, seed {}. Intervals are 95 %, over games. By \
         the formula of the paper, 2n + 4 moves for n revealed pieces, from the means of each line.\n",
        2 * plan.count(),
        players.join(", "),
        plan.rules(),
        plan.seed(),
    );
    *text += "| face down | positions | revealed | printed | kinds | printed | moves | formula | printed | with squares | \
              with outcomes | formula | printed |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|\n";
    for row in rows {
        let there = printed.iter().find(|printed| printed.hidden == row.hidden);
        let dash = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value}"));
        let hidden: Option<f64> = row.hidden.parse().ok();
        let formula = hidden.map(|hidden| (2.0 * row.revealed + 4.0, 2.0 * row.revealed + 4.0 + hidden * row.kinds));
        let tenth = |value: Option<f64>| value.map_or("–".to_owned(), |value| format!("{value:.1}"));
        let _ = writeln!(
            text,
            "| {} | {} | {:.2} | {} | {:.2} | {} | {} | {} | {} | {} | {} | {} | {} |",
            row.hidden,
            row.positions,
            row.revealed,
            dash(there.and_then(|there| there.revealed)),
            row.kinds,
            dash(there.and_then(|there| there.kinds)),
            show(Some(row.moves()), 2),
            tenth(formula.map(|formula| formula.0)),
            dash(there.map(|there| there.moves)),
            show(Some(row.squares()), 2),
            show(Some(row.branching()), 2),
            tenth(formula.map(|formula| formula.1)),
            dash(there.map(|there| there.branching)),
        );
    }
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
        let readings = self.plan.file().readings.len();
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
        let mut tally = vec![(0, 0); self.plan.file().readings.len()];
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
            let shown = |best: Option<BestMove>| best.map_or("–".to_owned(), |best| best_move(&best));
            let _ = write!(text, "{key} {} |", shown(row.and_then(|row| row.best(eval))));
            for cell in cells {
                let _ = write!(text, " {} |", shown(cell.and_then(|cell| cell.best(eval))));
            }
            text.push('\n');
        }
        let best_of = self.plan.file().best_of.unwrap_or_default();
        let moves = self.plan.positions().iter().map(|(name, at)| format!("{name} {}", at.moves().len()));
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
                let scale = cell.map_or(1.0, |cell| count as f64 / cell.playouts as f64);
                let here = cell.map(|cell| cell.seconds * scale);
                let margin = cell.and_then(|cell| cell.seconds_error).map(|error| Z * error * scale);
                let margin = margin.map_or(String::new(), |margin| format!(" ± {margin:.4}"));
                let faster = there.zip(here).map_or("–".to_owned(), |(there, here)| format!("{:.0}", there / here));
                let here = here.map_or("–".to_owned(), |here| format!("{here:.4}{margin}"));
                let _ = write!(text, " {here} | {faster} |");
            }
            text.push('\n');
        }
        *text += "\nOn one thread of the machine that made this run; the interval is that of ten batches.\n";
    }
}

/// `c6-c7 48/2/50`.
fn best_move(best: &BestMove) -> String {
    let total = best.results.iter().sum::<u64>().max(1) as f64;
    let percent = best.results.map(|count| format!("{:.0}", 100.0 * count as f64 / total));
    format!("{} {}", best.mv, percent.join("/"))
}

fn counts(games: &Games) -> String {
    format!("+{} ={} −{}", games.wins(), games.draws(), games.losses())
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
    *text += "## Scores: as first player, as second player, over all\n\n\
              GS and TS of the paper, with 95 % intervals as if games were independent.\n\n\
              | player | printed GS first | GS second | TS | measured GS first | GS second | TS |\n\
              |---|---|---|---|---|---|---|\n";
    for (player, name) in names.iter().enumerate() {
        let cells = [&there, &here].map(|table| global_strengths(table, player, names.len())).concat();
        let cells: Vec<String> = cells.into_iter().map(|number| show(number, 4)).collect();
        let _ = writeln!(text, "| {name} | {} |", cells.join(" | "));
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

/// GS as first player, GS as second player, TS.
fn global_strengths(table: &CrossTable, player: usize, players: usize) -> [Option<Number>; 3] {
    let scores = table.scores(player);
    let error = |first: bool| {
        let games = |other| if first { table.games(player, other) } else { table.games(other, player) };
        let numbers: Vec<Number> = (0..players).filter_map(|other| by_games(&games(other))).collect();
        numbers.iter().map(|number| number.error.powi(2)).sum::<f64>().sqrt() / numbers.len() as f64
    };
    let [first, second] = [error(true), error(false)];
    [(scores.gs_first, first), (scores.gs_second, second), (scores.ts, first.hypot(second) / 2.0)]
        .map(|(score, error)| score.map(|score| Number::new(score, error)))
}
