//! `Facts`: all numbers of a table by name, so that claims and figures can speak of any of them.

use std::collections::BTreeMap;
use std::fmt;

use anqi_stats::wilson;
use globset::{Glob, GlobMatcher};
use serde::{Deserialize, Serialize};

use crate::number::{Number, Z};

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
    /// The share of games that other rules end earlier.
    Earlier,
    /// What a move or a position is worth, in the units of its table.
    Value,
    /// The rank of a move among all.
    Rank,
    /// How well values predict results: the area under the ROC curve.
    Roc,
    /// The share of won and lost positions that values tell apart.
    Acc,
    /// The mean squared error of values as chances.
    Brier,
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
            Quantity::Earlier => "share of games that end earlier",
            Quantity::Value => "value",
            Quantity::Rank => "rank",
            Quantity::Roc => "ROC",
            Quantity::Acc => "ACC",
            Quantity::Brier => "Brier",
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

    /// Whether a name is one that it stands for.
    pub(crate) fn matches(&self, name: &str) -> bool {
        self.text.contains(" v ") == name.contains(" v ") && self.matcher.is_match(name)
    }
}

impl fmt::Display for Pattern {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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

    /// The names of everything that a pattern stands for.
    pub(crate) fn names(&self, measure: Quantity, pattern: &Pattern) -> Vec<&str> {
        self.find(measure, std::slice::from_ref(pattern)).into_iter().map(|(name, _)| name).collect()
    }

    /// The mean of everything that one of the patterns stands for.
    pub(crate) fn mean(&self, measure: Quantity, patterns: &[Pattern]) -> Option<Sum> {
        let found = self.find(measure, patterns);
        let share = 1.0 / found.len() as f64;
        (!found.is_empty()).then(|| found.into_iter().fold(Sum::default(), |mean, (_, sum)| mean.plus(share, sum)))
    }

    /// Whether there are none.
    pub(crate) const fn is_empty(&self) -> bool {
        self.named.is_empty()
    }

    /// A number under a name.
    pub(crate) fn add(&mut self, measure: Quantity, name: String, number: Number) -> Sum {
        let sum = Sum::of(self.numbers.len());
        self.numbers.push(number);
        self.named.push((measure, name, sum.clone()));
        sum
    }

    /// What follows from other numbers under a name.
    pub(crate) fn name(&mut self, measure: Quantity, name: String, sum: Sum) {
        self.named.push((measure, name, sum));
    }
}

/// Wilson's interval has a width where nothing or everything is drawn.
pub(crate) fn share(count: u64, total: u64) -> Option<Number> {
    wilson(count, total).map(|share| Number::new(share.value, share.margin() / Z))
}
