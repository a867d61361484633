//! `kind = "matches"`: games between players. The other keys are those of a [`PlanFile`](anqi_lab::PlanFile); a row for each
//! pairing.

use anqi_lab::{MatchJournal, MatchJournalError, Plan};
use anqi_stats::{CrossTable, Elo, Games, Outcomes, Pairs, Points};
use serde::{Deserialize, Serialize};

use super::games;
use crate::facts::{Facts, Quantity, Sum, share};
use crate::kind::{ExperimentKind, Told, Work};
use crate::number::{Number, Z, show};
use crate::section::{Section, SectionTable};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// Games between players.
#[derive(Debug)]
struct Matches(Plan);

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    Ok(Box::new(Matches(games::read_plan(table)?)))
}

impl ExperimentKind for Matches {
    fn text(&self) -> Result<String, toml::ser::Error> {
        games::text(&self.0)
    }

    fn size(&self) -> String {
        games::size(&self.0)
    }

    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        Ok(Box::new(Matches(games::with_pairs(&self.0, count)?)))
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.dir.join(RAW).is_file()
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let Some(journal) = games::play(&self.0, &run.dir, work)? else { return Ok(false) };
        games::write_records(&journal, &run.dir.join(games::GAMES))?;
        run.write_raw(&MatchRow::all(&journal)?)?;
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let rows = if self.is_finished(run) {
            run.match_rows()?
        } else {
            games::played(&run.dir)?.as_ref().map(MatchRow::all).transpose()?.unwrap_or_default()
        };
        let printed = experiment.published::<PrintedMatch>()?;
        let played: u64 = rows.iter().map(|row| row.pairs().total()).sum();
        let said = format!(
            "Rules {}, seed {}. Score: a draw is half a point; intervals are 95 %.",
            self.0.rules(),
            self.0.seed()
        );
        let names: Vec<&str> = self.0.contenders().iter().map(|contender| contender.name.as_str()).collect();
        let mut sections = vec![Section { before: said, ..results(&rows, &printed) }];
        sections.extend(chen_scores(&names, &rows, &printed));
        Ok(Told {
            measured: (played as usize, self.0.count() as usize, "pairs of games"),
            printed: printed_facts(&printed),
            facts: measured_facts(&rows),
            sections,
            ..Told::default()
        })
    }

    fn names(&self) -> Facts {
        measured_facts(&MatchRow::drawn(&self.0))
    }

    fn games(&self) -> Option<&Plan> {
        Some(&self.0)
    }
}

/// What was played: a row of `raw.csv`, from the point of view of `player`.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MatchRow {
    /// Its name.
    pub player: String,
    /// The other's name.
    pub opponent: String,
    /// Games won when it moved first.
    pub first_wins: u64,
    /// Lost.
    pub first_losses: u64,
    /// Drawn.
    pub first_draws: u64,
    /// Games won when it moved second.
    pub second_wins: u64,
    /// Lost.
    pub second_losses: u64,
    /// Drawn.
    pub second_draws: u64,
    /// Pairs of games that brought no point.
    pub pairs_0: u64,
    /// Half a point.
    pub pairs_half: u64,
    /// One point.
    pub pairs_1: u64,
    /// One and a half.
    pub pairs_1_half: u64,
    /// Both points.
    pub pairs_2: u64,
}

impl MatchRow {
    /// The pairings of a journal, as far as they were played, in the order of the plan.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn all(journal: &MatchJournal) -> Result<Vec<MatchRow>, MatchJournalError> {
        let plan = journal.plan();
        let name = |player: usize| plan.contenders()[player].name.clone();
        let row = |&[one, two]: &[usize; 2]| MatchRow { player: name(one), opponent: name(two), ..MatchRow::default() };
        let mut rows: Vec<MatchRow> = plan.pairings().iter().map(row).collect();
        for number in (0..plan.count()).filter(|&number| journal.has(number)) {
            let pairing = (number % rows.len() as u64) as usize;
            rows[pairing].add(journal.pair(number)?.points());
        }
        Ok(rows)
    }

    /// The pairings of a plan, each with one pair of drawn games.
    pub(super) fn drawn(plan: &Plan) -> Vec<MatchRow> {
        let name = |player: usize| plan.contenders()[player].name.clone();
        let row = |&[one, two]: &[usize; 2]| {
            let mut row = MatchRow { player: name(one), opponent: name(two), ..MatchRow::default() };
            row.add([Points::Draw; 2]);
            row
        };
        plan.pairings().iter().map(row).collect()
    }

    /// Counts a pair: the game in which `player` moved first, and the other.
    pub fn add(&mut self, [first, second]: [Points; 2]) {
        *match first {
            Points::Win => &mut self.first_wins,
            Points::Loss => &mut self.first_losses,
            Points::Draw => &mut self.first_draws,
        } += 1;
        *match second {
            Points::Win => &mut self.second_wins,
            Points::Loss => &mut self.second_losses,
            Points::Draw => &mut self.second_draws,
        } += 1;
        *match first.half_points() + second.half_points() {
            0 => &mut self.pairs_0,
            1 => &mut self.pairs_half,
            2 => &mut self.pairs_1,
            3 => &mut self.pairs_1_half,
            _ => &mut self.pairs_2,
        } += 1;
    }

    /// The games in which `player` moved first.
    #[must_use]
    pub const fn first(&self) -> Games {
        Games([self.first_losses, self.first_draws, self.first_wins])
    }

    /// The games in which `player` moved second.
    #[must_use]
    pub const fn second(&self) -> Games {
        Games([self.second_losses, self.second_draws, self.second_wins])
    }

    /// All games.
    #[must_use]
    pub fn games(&self) -> Games {
        Games(std::array::from_fn(|index| self.first().0[index] + self.second().0[index]))
    }

    /// The pairs by their points.
    #[must_use]
    pub const fn pairs(&self) -> Pairs {
        Pairs([self.pairs_0, self.pairs_half, self.pairs_1, self.pairs_1_half, self.pairs_2])
    }

    /// The same from the point of view of `opponent`.
    #[must_use]
    pub fn inverted(self) -> MatchRow {
        MatchRow {
            player: self.opponent,
            opponent: self.player,
            first_wins: self.second_losses,
            first_losses: self.second_wins,
            first_draws: self.second_draws,
            second_wins: self.first_losses,
            second_losses: self.first_wins,
            second_draws: self.first_draws,
            pairs_0: self.pairs_2,
            pairs_half: self.pairs_1_half,
            pairs_1: self.pairs_1,
            pairs_1_half: self.pairs_half,
            pairs_2: self.pairs_0,
        }
    }
}

impl Run {
    /// The pairings of a finished run.
    ///
    /// # Errors
    /// If the table is not there or cannot be read.
    pub fn match_rows(&self) -> Result<Vec<MatchRow>, ExperimentError> {
        read_table(&self.dir.join(RAW))
    }
}

/// A printed result. `player` and `opponent` by the names in the plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PrintedMatch {
    /// Whose wins and losses these are.
    pub player: String,
    /// Against whom.
    pub opponent: String,
    /// `first`: the games in which `player` moved first; `both`: all games.
    pub order: Order,
    /// Games won.
    pub wins: u64,
    /// Lost.
    pub losses: u64,
    /// Drawn.
    pub draws: u64,
}

/// Which games a printed result counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Order {
    /// Those in which the player moved first.
    First,
    /// All of them.
    Both,
}

impl PrintedMatch {
    /// The counts.
    #[must_use]
    pub const fn games(&self) -> Games {
        Games([self.losses, self.draws, self.wins])
    }
}

/// The numbers of measured pairings by name.
pub(in crate::kinds) fn measured_facts(rows: &[MatchRow]) -> Facts {
    let result = |row: &MatchRow| Met {
        player: row.player.clone(),
        opponent: row.opponent.clone(),
        games: row.games(),
        score: by_pairs(row),
    };
    let mut facts = facts_of(&rows.iter().map(result).collect::<Vec<_>>());
    let first = rows.iter().flat_map(|row| [row.first(), row.second().inverted()]);
    add_first_mover(&mut facts, first);
    facts
}

/// The numbers of printed results by name.
pub(in crate::kinds) fn printed_facts(rows: &[PrintedMatch]) -> Facts {
    // A table that tells who moved first gives every pairing twice.
    let mut results: Vec<Met> = Vec::new();
    for row in rows {
        let known = |result: &&mut Met| result.player == row.opponent && result.opponent == row.player;
        if let Some(result) = results.iter_mut().find(known) {
            let games = row.games().inverted();
            result.games = Games(std::array::from_fn(|index| result.games.0[index] + games.0[index]));
        } else {
            let (player, opponent) = (row.player.clone(), row.opponent.clone());
            results.push(Met { player, opponent, games: row.games(), score: None });
        }
    }
    results.iter_mut().for_each(|result| result.score = by_games(&result.games));
    let mut facts = facts_of(&results);
    add_first_mover(&mut facts, rows.iter().filter(|row| row.order == Order::First).map(PrintedMatch::games));
    facts
}

/// One pairing.
struct Met {
    player: String,
    opponent: String,
    games: Games,
    score: Option<Number>,
}

/// Results by pairing and by player.
fn facts_of(results: &[Met]) -> Facts {
    let mut facts = Facts::default();
    let mut scores: Vec<(&str, Vec<Sum>)> = Vec::new();
    let mut totals: Vec<(&str, Games)> = Vec::new();
    for result in results {
        let [one, two] = [&result.player, &result.opponent];
        if let Some(score) = result.score {
            let sum = facts.add(Quantity::Score, format!("{one} v {two}"), score);
            let inverse = Sum::constant(1.0).plus(-1.0, &sum);
            facts.name(Quantity::Score, format!("{two} v {one}"), inverse.clone());
            for (name, sum) in [(one, sum), (two, inverse)] {
                entry(&mut scores, name).push(sum);
            }
        }
        for (name, other, games) in [(one, two, result.games), (two, one, result.games.inverted())] {
            add_shares(&mut facts, &format!("{name} v {other}"), &games);
            let total = entry(&mut totals, name);
            *total = Games(std::array::from_fn(|index| total.0[index] + games.0[index]));
        }
    }
    for (name, sums) in scores {
        let share = 1.0 / sums.len() as f64;
        let mean = sums.iter().fold(Sum::default(), |mean, sum| mean.plus(share, sum));
        facts.name(Quantity::Score, name.to_owned(), mean);
    }
    totals.into_iter().for_each(|(name, games)| add_shares(&mut facts, name, &games));
    facts
}

/// Shares of games won, lost and drawn.
fn add_shares(facts: &mut Facts, name: &str, games: &Games) {
    for (measure, count) in
        [(Quantity::Wins, games.wins()), (Quantity::Losses, games.losses()), (Quantity::Draws, games.draws())]
    {
        if let Some(number) = share(count, games.total()) {
            facts.add(measure, name.to_owned(), number);
        }
    }
}

fn add_first_mover(facts: &mut Facts, games: impl Iterator<Item = Games>) {
    let all = games.fold(Games::default(), |sum, games| Games(std::array::from_fn(|i| sum.0[i] + games.0[i])));
    if let Some(number) = by_games(&all) {
        facts.add(Quantity::Score, "whoever moves first".to_owned(), number);
    }
}

/// The value of a key, in the order in which keys came.
fn entry<'a, 'k, V: Default>(table: &'a mut Vec<(&'k str, V)>, key: &'k str) -> &'a mut V {
    let place = table.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        table.push((key, V::default()));
        table.len() - 1
    });
    &mut table[place].1
}

/// The score if games are independent, which is all that a printed table allows to say.
fn by_games(games: &Games) -> Option<Number> {
    let (value, variance) = games.moments()?;
    Some(Number::new(value, (variance / games.total() as f64).sqrt()))
}

/// The score with the interval of paired games.
fn by_pairs(row: &MatchRow) -> Option<Number> {
    let score = Elo::of(&row.pairs())?.score;
    Some(Number::new(score.value, score.margin() / Z))
}

fn counts(games: &Games) -> String {
    format!("+{} ={} −{}", games.wins(), games.draws(), games.losses())
}

/// Every pairing beside what was printed of it.
pub(super) fn results(rows: &[MatchRow], printed: &[PrintedMatch]) -> Section {
    const COLUMNS: [&str; 8] =
        ["player", "against", "games", "printed +=−", "score", "measured +=−", "score", "difference"];
    let (mut agree, mut compared, mut lines) = (0, 0, Vec::new());
    for row in rows {
        let mut found: Vec<(Option<&PrintedMatch>, MatchRow, Order)> = Vec::new();
        for one in [row.clone(), row.clone().inverted()] {
            let about = |printed: &&PrintedMatch| printed.player == one.player && printed.opponent == one.opponent;
            found.extend(printed.iter().filter(about).map(|printed| (Some(printed), one.clone(), printed.order)));
        }
        if found.is_empty() {
            found.push((None, row.clone(), Order::Both));
        }
        for (printed, row, order) in found {
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
            lines.push(vec![
                row.player,
                row.opponent,
                if order == Order::First { "moves first" } else { "both orders" }.to_owned(),
                printed.map_or("–".to_owned(), |printed| counts(&printed.games())),
                show(there, 3),
                counts(&games),
                show(measured, 3),
                difference,
            ]);
        }
    }
    let after = if compared > 0 { format!("**{agree} of {compared} printed scores agree.**") } else { String::new() };
    Section { after, ..Section::table("Results", &COLUMNS, lines) }
}

/// Chen's scores and the first player's, where the printed table tells who moved first.
fn chen_scores(names: &[&str], rows: &[MatchRow], printed: &[PrintedMatch]) -> Option<Section> {
    const COLUMNS: [&str; 7] =
        ["player", "printed GS first", "GS second", "TS", "measured GS first", "GS second", "TS"];
    if !printed.iter().any(|row| row.order == Order::First) {
        return None;
    }
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
    let line = |(player, name): (usize, &&str)| {
        let cells = [&there, &here].map(|table| global_strengths(table, player, names.len())).concat();
        let cells = cells.into_iter().map(|number| show(number, 4));
        [(*name).to_owned()].into_iter().chain(cells).collect()
    };
    let all = |table: &CrossTable| {
        let all = (0..names.len()).flat_map(|first| (0..names.len()).map(move |second| (first, second)));
        all.fold(Games::default(), |sum, (first, second)| {
            Games(std::array::from_fn(|index| sum.0[index] + table.games(first, second).0[index]))
        })
    };
    let first_mover = |(who, table): (&str, &CrossTable)| {
        let games = all(table);
        let p = anqi_stats::sign_test(games.wins(), games.losses());
        format!("{who}: whoever moves first {} (sign test p = {p:.3}).", counts(&games))
    };
    Some(Section {
        title: "Scores: as first player, as second player, over all".to_owned(),
        before: "GS and TS of the paper, with 95 % intervals as if games were independent.".to_owned(),
        table: Some(SectionTable {
            columns: COLUMNS.map(str::to_owned).to_vec(),
            rows: names.iter().enumerate().map(line).collect(),
        }),
        after: [("Printed", &there), ("Measured", &here)].map(first_mover).join("\n\n"),
    })
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
