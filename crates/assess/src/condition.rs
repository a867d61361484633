//! `Condition`: which positions belong together on a conditioned curve.

use std::fmt;
use std::str::FromStr;

use anqi_rules::excerpt;
use serde::{Serialize, Serializer};

use crate::sample::{Samples, Words};

/// A tag, or the ply, with the numbers at which a new group begins: `capture`, `ply=20,40,60`.
///
/// Without numbers every word is a group of its own; a tag of many different numbers falls into quarters.
///
/// ```
/// use anqi_assess::Condition;
///
/// for text in ["capture", "ply=20,40,60", "lead=-100,100"] {
///     assert_eq!(text.parse::<Condition>()?.to_string(), text);
/// }
/// assert!("ply=40,20".parse::<Condition>().is_err());
/// # Ok::<(), anqi_assess::ConditionError>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct Condition {
    /// The tag, or `ply`.
    pub tag: String,
    /// Where groups of numbers begin, in rising order; empty for words.
    pub edges: Vec<f64>,
}

/// A text that is no condition.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("bad condition {0:?}, expected a tag, or a tag and rising numbers such as ply=20,40,60")]
pub struct ConditionError(String);

/// More curves than these do not fit into one picture.
const MOST_WORDS: usize = 12;

impl FromStr for Condition {
    type Err = ConditionError;

    fn from_str(text: &str) -> Result<Condition, ConditionError> {
        let bad = || ConditionError(excerpt(text));
        let (tag, edges) = match text.split_once('=') {
            None => (text, Vec::new()),
            Some((tag, list)) => {
                let edges = list.split(',').map(|edge| edge.trim().parse::<f64>().ok().filter(|edge| edge.is_finite()));
                (tag, edges.collect::<Option<Vec<_>>>().ok_or_else(bad)?)
            }
        };
        let rising = edges.windows(2).all(|two| two[0] < two[1]);
        if tag.trim().is_empty() || !rising { Err(bad()) } else { Ok(Condition { tag: tag.trim().to_owned(), edges }) }
    }
}

impl fmt::Display for Condition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.tag)?;
        let mut gap = "=";
        for edge in &self.edges {
            write!(f, "{gap}{edge}")?;
            gap = ",";
        }
        Ok(())
    }
}

impl Serialize for Condition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// A condition applied to samples: the names of the groups, and for each sample its group if it has one.
pub(crate) struct Groups {
    pub(crate) names: Vec<String>,
    pub(crate) of: Vec<Option<u32>>,
}

impl Condition {
    /// Which samples belong where; `None` if they have no such tag.
    pub(crate) fn apply(&self, samples: &Samples) -> Option<Groups> {
        if let Some(words) = samples.tag(&self.tag) {
            let used = used(words.codes(), words.distinct().len());
            if self.edges.is_empty() && used.iter().filter(|used| **used).count() <= MOST_WORDS {
                return Some(by_word(words, &used));
            }
            let number = |index: usize| words.numbers()[words.codes()[index] as usize];
            Some(self.by_number(samples.len(), number))
        } else if self.tag == "ply" {
            Some(self.by_number(samples.len(), |index| Some(f64::from(samples.plies()[index]))))
        } else {
            None
        }
    }

    fn by_number(&self, count: usize, number: impl Fn(usize) -> Option<f64>) -> Groups {
        let edges = if self.edges.is_empty() { quarters(count, &number) } else { self.edges.clone() };
        let group = |number: f64| edges.iter().take_while(|edge| **edge <= number).count() as u32;
        let mut names = Vec::new();
        for place in 0..=edges.len() {
            names.push(match (place.checked_sub(1).map(|below| edges[below]), edges.get(place)) {
                (None, Some(high)) => format!("below {high}"),
                (Some(low), Some(high)) => format!("{low} to {high}"),
                (Some(low), None) => format!("from {low}"),
                (None, None) => "all".to_owned(),
            });
        }
        Groups { names, of: (0..count).map(|index| number(index).map(group)).collect() }
    }
}

fn used(codes: &[u32], count: usize) -> Vec<bool> {
    let mut used = vec![false; count];
    codes.iter().for_each(|&code| used[code as usize] = true);
    used
}

/// Every word a group, in order; samples without a word belong to none.
fn by_word(column: &Words, used: &[bool]) -> Groups {
    let (words, codes) = (column.distinct(), column.codes());
    let mut order: Vec<usize> = (0..words.len()).filter(|&code| used[code] && !words[code].is_empty()).collect();
    let number = |code: usize| column.numbers()[code].unwrap_or(f64::INFINITY);
    order.sort_by(|&a, &b| number(a).total_cmp(&number(b)).then_with(|| words[a].cmp(&words[b])));
    let mut place = vec![None; words.len()];
    order.iter().enumerate().for_each(|(group, &code)| place[code] = Some(group as u32));
    Groups {
        names: order.iter().map(|&code| words[code].clone()).collect(),
        of: codes.iter().map(|&code| place[code as usize]).collect(),
    }
}

/// Three numbers that leave a quarter of the samples on each side of each, as far as ties allow.
fn quarters(count: usize, number: &impl Fn(usize) -> Option<f64>) -> Vec<f64> {
    let mut numbers: Vec<f64> = (0..count).filter_map(number).filter(|number| number.is_finite()).collect();
    numbers.sort_by(f64::total_cmp);
    let mut edges: Vec<f64> = (1..4).filter_map(|quarter| numbers.get(numbers.len() * quarter / 4).copied()).collect();
    edges.dedup();
    edges
}
