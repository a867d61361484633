//! `Facts`: all numbers of a table by name, so that claims and figures can speak of any of them.

use std::collections::BTreeMap;

use anqi_stats::{Elo, Games, Outcomes, wilson};
use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::number::{Number, Z};
use crate::{BranchingRow, MatchRow, Order, PlayoutRow, PrintedBranching, PrintedMatch, PrintedPlayouts};

/// What is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Quantity {
    /// Points a game; a draw is half a point.
    Score,
    /// The share of games won.
    Wins,
    /// The share of games lost.
    Losses,
    /// The share of games, or of playouts, drawn.
    Draws,
    /// Pieces left at the end of a playout.
    Left,
    /// Plies of a playout.
    Plies,
    /// Seconds for as many playouts as the published table times.
    Seconds,
    /// Moves of revealed pieces in a position.
    Moves,
    /// Moves, and a choice for each face-down square.
    Squares,
    /// Moves, and a choice for each face-down square and kind that may lie there.
    Branching,
}

impl Quantity {
    /// What an axis calls it.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Quantity::Score => "score",
            Quantity::Wins => "share of games won",
            Quantity::Losses => "share of games lost",
            Quantity::Draws => "share of draws",
            Quantity::Left => "pieces left",
            Quantity::Plies => "plies",
            Quantity::Seconds => "seconds",
            Quantity::Moves => "moves",
            Quantity::Squares => "moves and face-down squares",
            Quantity::Branching => "moves and flips by outcome",
        }
    }
}

/// Names that a pattern stands for: `*`, `?`, `[0-9]` and `{one,other}` as in file names. A pattern with ` v ` speaks of
/// pairings, one without of players.
#[derive(Clone, Debug)]
pub struct Pattern {
    text: String,
    matcher: GlobMatcher,
}

impl Pattern {
    /// Reads a pattern.
    ///
    /// # Errors
    /// If a bracket does not close, and the like.
    pub fn new(text: &str) -> Result<Pattern, globset::Error> {
        Ok(Pattern { text: text.to_owned(), matcher: Glob::new(text)?.compile_matcher() })
    }

    fn matches(&self, name: &str) -> bool {
        self.text.contains(" v ") == name.contains(" v ") && self.matcher.is_match(name)
    }
}

/// A weighted sum of independent numbers and a constant. Two players' scores share the games between them: as sums
/// over pairings, their difference has the right error.
#[derive(Clone, PartialEq, Default, Debug)]
pub(crate) struct Sum {
    constant: f64,
    weights: BTreeMap<usize, f64>,
}

impl Sum {
    pub(crate) fn constant(constant: f64) -> Sum {
        Sum { constant, weights: BTreeMap::new() }
    }

    fn of(place: usize) -> Sum {
        Sum { constant: 0.0, weights: BTreeMap::from([(place, 1.0)]) }
    }

    pub(crate) fn plus(mut self, factor: f64, other: &Sum) -> Sum {
        self.constant += factor * other.constant;
        for (&place, weight) in &other.weights {
            *self.weights.entry(place).or_default() += factor * weight;
        }
        self
    }
}

/// The numbers of one table.
#[derive(Clone, Default, Debug)]
pub(crate) struct Facts {
    numbers: Vec<Number>,
    named: Vec<(Quantity, String, Sum)>,
}

impl Facts {
    /// What a sum is worth.
    pub(crate) fn number(&self, sum: &Sum) -> Number {
        let value = sum.weights.iter().map(|(&place, weight)| weight * self.numbers[place].value).sum::<f64>();
        let variance = sum.weights.iter().map(|(&place, weight)| (weight * self.numbers[place].error).powi(2));
        Number::new(sum.constant + value, variance.sum::<f64>().sqrt())
    }

    /// Everything that one of the patterns stands for.
    pub(crate) fn find(&self, measure: Quantity, patterns: &[Pattern]) -> Vec<(&str, &Sum)> {
        let fits = |name: &str| patterns.iter().any(|pattern| pattern.matches(name));
        let of_measure = self.named.iter().filter(|(other, name, _)| *other == measure && fits(name));
        of_measure.map(|(_, name, sum)| (name.as_str(), sum)).collect()
    }

    /// The mean of everything that one of the patterns stands for.
    pub(crate) fn mean(&self, measure: Quantity, patterns: &[Pattern]) -> Option<Sum> {
        let found = self.find(measure, patterns);
        let share = 1.0 / found.len() as f64;
        (!found.is_empty()).then(|| found.into_iter().fold(Sum::default(), |mean, (_, sum)| mean.plus(share, sum)))
    }

    fn add(&mut self, measure: Quantity, name: String, number: Number) -> Sum {
        let sum = Sum::of(self.numbers.len());
        self.numbers.push(number);
        self.named.push((measure, name, sum.clone()));
        sum
    }

    /// Results of matches: by pairing, by player, and for whoever moves first.
    fn of_matches(results: &[Met]) -> Facts {
        let mut facts = Facts::default();
        let mut scores: Vec<(&str, Vec<Sum>)> = Vec::new();
        let mut totals: Vec<(&str, Games)> = Vec::new();
        for result in results {
            let [one, two] = [&result.player, &result.opponent];
            if let Some(score) = result.score {
                let sum = facts.add(Quantity::Score, format!("{one} v {two}"), score);
                let inverse = Sum::constant(1.0).plus(-1.0, &sum);
                facts.named.push((Quantity::Score, format!("{two} v {one}"), inverse.clone()));
                for (name, sum) in [(one, sum), (two, inverse)] {
                    entry(&mut scores, name).push(sum);
                }
            }
            for (name, other, games) in [(one, two, result.games), (two, one, result.games.inverted())] {
                facts.shares(&format!("{name} v {other}"), &games);
                let total = entry(&mut totals, name);
                *total = Games(std::array::from_fn(|index| total.0[index] + games.0[index]));
            }
        }
        for (name, sums) in scores {
            let share = 1.0 / sums.len() as f64;
            let mean = sums.iter().fold(Sum::default(), |mean, sum| mean.plus(share, sum));
            facts.named.push((Quantity::Score, name.to_owned(), mean));
        }
        totals.into_iter().for_each(|(name, games)| facts.shares(name, &games));
        facts
    }

    /// Shares of games won, lost and drawn.
    fn shares(&mut self, name: &str, games: &Games) {
        for (measure, count) in
            [(Quantity::Wins, games.wins()), (Quantity::Losses, games.losses()), (Quantity::Draws, games.draws())]
        {
            if let Some(number) = share(count, games.total()) {
                self.add(measure, name.to_owned(), number);
            }
        }
    }

    pub(crate) fn measured_matches(rows: &[MatchRow]) -> Facts {
        let result = |row: &MatchRow| Met {
            player: row.player.clone(),
            opponent: row.opponent.clone(),
            games: row.games(),
            score: by_pairs(row),
        };
        let mut facts = Facts::of_matches(&rows.iter().map(result).collect::<Vec<_>>());
        let first = rows.iter().flat_map(|row| [row.first(), row.second().inverted()]);
        facts.whoever_moves_first(first);
        facts
    }

    pub(crate) fn printed_matches(rows: &[PrintedMatch]) -> Facts {
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
        let mut facts = Facts::of_matches(&results);
        facts.whoever_moves_first(rows.iter().filter(|row| row.order == Order::First).map(PrintedMatch::games));
        facts
    }

    fn whoever_moves_first(&mut self, games: impl Iterator<Item = Games>) {
        let all = games.fold(Games::default(), |sum, games| Games(std::array::from_fn(|i| sum.0[i] + games.0[i])));
        if let Some(number) = by_games(&all) {
            self.add(Quantity::Score, "whoever moves first".to_owned(), number);
        }
    }

    /// Playouts are called `POSITION POLICY LIMIT READING`.
    pub(crate) fn measured_playouts(rows: &[PlayoutRow], timed: u64) -> Facts {
        let mut facts = Facts::default();
        for row in rows {
            let name = format!("{} {} {} {}", row.position, row.policy, row.limit, row.reading);
            facts.add(Quantity::Left, name.clone(), left(row));
            facts.add(Quantity::Plies, name.clone(), plies(row));
            facts.add(Quantity::Draws, name.clone(), draw_rate(row));
            if let Some(error) = row.seconds_error {
                let scale = timed as f64 / row.playouts as f64;
                facts.add(Quantity::Seconds, name, Number::new(row.seconds * scale, error * scale));
            }
        }
        facts
    }

    /// Printed playouts go by the names of all readings. Their spread is not printed for all, so their errors are
    /// those of measured ones over as many playouts.
    pub(crate) fn printed_playouts(rows: &[PrintedPlayouts], measured: &[PlayoutRow], count: u64) -> Facts {
        let mut facts = Facts::default();
        for row in measured {
            let about = |printed: &&PrintedPlayouts| {
                printed.position == row.position && printed.policy == row.policy && printed.limit == row.limit
            };
            let Some(printed) = rows.iter().find(about) else { continue };
            let name = format!("{} {} {} {}", row.position, row.policy, row.limit, row.reading);
            let scale = (row.playouts as f64 / count as f64).sqrt();
            for (measure, value, number) in [
                (Quantity::Left, printed.left, left(row)),
                (Quantity::Plies, printed.plies, plies(row)),
                (Quantity::Draws, printed.draw_rate, draw_rate(row)),
            ] {
                if let Some(value) = value {
                    facts.add(measure, name.clone(), Number::new(value, number.error * scale));
                }
            }
            if let Some(seconds) = printed.seconds {
                facts.add(Quantity::Seconds, name, Number::new(seconds, 0.0));
            }
        }
        facts
    }

    /// Branching goes by the number of face-down pieces, or `all`.
    pub(crate) fn measured_branching(rows: &[BranchingRow]) -> Facts {
        let mut facts = Facts::default();
        for row in rows {
            for (measure, number) in [
                (Quantity::Moves, row.moves()),
                (Quantity::Squares, row.squares()),
                (Quantity::Branching, row.branching()),
            ] {
                facts.add(measure, row.hidden.clone(), number);
            }
        }
        facts
    }

    pub(crate) fn printed_branching(rows: &[PrintedBranching]) -> Facts {
        let mut facts = Facts::default();
        for row in rows {
            for (measure, value) in [(Quantity::Moves, row.moves), (Quantity::Branching, row.branching)] {
                facts.add(measure, row.hidden.clone(), Number::new(value, 0.0));
            }
        }
        facts
    }
}

/// One pairing.
struct Met {
    player: String,
    opponent: String,
    games: Games,
    score: Option<Number>,
}

/// The value of a key, in the order in which keys came.
fn entry<'a, 'k, V: Default>(table: &'a mut Vec<(&'k str, V)>, key: &'k str) -> &'a mut V {
    let place = table.iter().position(|(known, _)| *known == key).unwrap_or_else(|| {
        table.push((key, V::default()));
        table.len() - 1
    });
    &mut table[place].1
}

/// Pieces left at the end of a playout.
#[must_use]
pub fn left(row: &PlayoutRow) -> Number {
    Number { value: row.left, error: row.left_sd / (row.playouts as f64).sqrt(), sd: Some(row.left_sd) }
}

/// Plies of a playout.
#[must_use]
pub fn plies(row: &PlayoutRow) -> Number {
    Number { value: row.plies, error: row.plies_sd / (row.playouts as f64).sqrt(), sd: Some(row.plies_sd) }
}

/// The share of drawn playouts.
#[must_use]
pub fn draw_rate(row: &PlayoutRow) -> Number {
    share(row.draws, row.playouts).unwrap_or(Number::new(f64::NAN, f64::NAN))
}

/// Wilson's interval has a width where nothing or everything is drawn.
fn share(count: u64, total: u64) -> Option<Number> {
    wilson(count, total).map(|share| Number::new(share.value, share.margin() / Z))
}

/// The score if games are independent, which is all that a printed table allows to say.
#[must_use]
pub fn by_games(games: &Games) -> Option<Number> {
    let (value, variance) = games.moments()?;
    Some(Number::new(value, (variance / games.total() as f64).sqrt()))
}

/// The score with the interval of paired games.
#[must_use]
pub fn by_pairs(row: &MatchRow) -> Option<Number> {
    let score = Elo::of(&row.pairs())?.score;
    Some(Number::new(score.value, score.margin() / Z))
}
