//! `Sample`: a position, what a search said of it and how its game ended. `Samples`: very many of them, in columns.

use std::collections::HashMap;

use anqi_stats::Points;

use crate::tag::Tag;

/// A position as this crate sees it, whatever the game: a value and a result from one point of view.
///
/// Value and result must be seen by the same player, be it the one to move or the one who began; more is better
/// for that player. A proven win is `f64::INFINITY`, a proven loss its negative.
#[derive(Clone, PartialEq, Debug)]
pub struct Sample {
    /// Which game. Positions of one game share its result and are not independent of each other.
    pub game: String,
    /// How many plies had been played.
    pub ply: u32,
    /// What the search said.
    pub value: f64,
    /// How the game ended.
    pub result: Points,
    /// What else is known of the position, by name; conditioned curves are drawn over these.
    pub tags: Vec<(String, Tag)>,
}

/// A value that is not a number has no place in any order.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the value of game {game:?} at ply {ply} is not a number")]
pub struct NotANumber {
    /// Which game.
    pub game: String,
    /// Where in it.
    pub ply: u32,
}

/// Samples in columns: a million of them take some forty megabytes.
///
/// ```
/// use anqi_assess::{Sample, Samples};
/// use anqi_stats::Points;
///
/// let mut samples = Samples::default();
/// let tags = vec![("side".to_owned(), "first".into()), ("lead".to_owned(), (-3).into())];
/// let sample = Sample { game: "1".to_owned(), ply: 12, value: 0.7, result: Points::Win, tags };
/// samples.push(sample.clone())?;
/// assert_eq!(samples.get(0), Some(sample));
/// # Ok::<(), anqi_assess::NotANumber>(())
/// ```
#[derive(Clone, PartialEq, Default, Debug)]
pub struct Samples {
    values: Vec<f64>,
    results: Vec<Points>,
    plies: Vec<u32>,
    games: Words,
    tags: Vec<(String, Words)>,
}

impl Samples {
    /// How many.
    #[must_use]
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Adds one. A tag that others do not have is empty for them.
    ///
    /// # Errors
    /// If its value is not a number; nothing is added then.
    pub fn push(&mut self, sample: Sample) -> Result<(), NotANumber> {
        if sample.value.is_nan() {
            return Err(NotANumber { game: sample.game, ply: sample.ply });
        }
        let known = self.len();
        for (name, _) in &sample.tags {
            if !self.tags.iter().any(|(tag, _)| tag == name) {
                self.tags.push((name.clone(), Words::empty(known)));
            }
        }
        for (name, words) in &mut self.tags {
            match sample.tags.iter().find(|(tag, _)| tag == name) {
                None => words.push(""),
                Some((_, Tag::Word(word))) => words.push(word),
                Some((_, Tag::Number(number))) => words.push_number(*number),
            }
        }
        self.values.push(sample.value);
        self.results.push(sample.result);
        self.plies.push(sample.ply);
        self.games.push(&sample.game);
        Ok(())
    }

    /// The one at `index`.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<Sample> {
        Some(Sample {
            value: *self.values.get(index)?,
            game: self.games.get(index).to_owned(),
            ply: self.plies[index],
            result: self.results[index],
            tags: self
                .tags
                .iter()
                .filter(|(_, words)| !words.get(index).is_empty())
                .map(|(name, words)| (name.clone(), words.get(index).to_owned().into()))
                .collect(),
        })
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = Sample> + '_ {
        (0..self.len()).filter_map(|index| self.get(index))
    }

    /// What the search said, in the order of the samples.
    #[must_use]
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// How the games ended.
    #[must_use]
    pub fn results(&self) -> &[Points] {
        &self.results
    }

    /// How many plies had been played.
    #[must_use]
    pub fn plies(&self) -> &[u32] {
        &self.plies
    }

    /// Which games.
    #[must_use]
    pub const fn games(&self) -> &Words {
        &self.games
    }

    /// The names of the tags.
    pub fn tag_names(&self) -> impl Iterator<Item = &str> {
        self.tags.iter().map(|(name, _)| name.as_str())
    }

    /// A tag of all samples.
    #[must_use]
    pub fn tag(&self, name: &str) -> Option<&Words> {
        self.tags.iter().find(|(tag, _)| tag == name).map(|(_, words)| words)
    }

    /// Those at `indices`, in that order.
    #[must_use]
    pub fn select(&self, indices: &[usize]) -> Samples {
        fn pick<T: Copy>(column: &[T], indices: &[usize]) -> Vec<T> {
            indices.iter().map(|&index| column[index]).collect()
        }
        Samples {
            values: pick(&self.values, indices),
            results: pick(&self.results, indices),
            plies: pick(&self.plies, indices),
            games: self.games.select(indices),
            tags: self.tags.iter().map(|(name, words)| (name.clone(), words.select(indices))).collect(),
        }
    }

    /// Puts other values in the place of all values, such as those of another search.
    ///
    /// # Panics
    /// If there are more or fewer of them, or one is not a number.
    #[must_use]
    pub fn with_values(mut self, values: Vec<f64>) -> Samples {
        assert!(values.len() == self.len() && !values.iter().any(|value| value.is_nan()), "a number for each sample");
        self.values = values;
        self
    }
}

/// A column of words, each kept once.
#[derive(Clone, Default, Debug)]
pub struct Words {
    codes: Vec<u32>,
    words: Vec<String>,
    numbers: Vec<Option<f64>>,
    known: HashMap<String, u32>,
    /// Codes of numbers, by their bits: a number is written as text once.
    known_numbers: HashMap<u64, u32>,
}

impl Words {
    fn empty(count: usize) -> Words {
        let mut words = Words::default();
        (0..count).for_each(|_| words.push(""));
        words
    }

    fn push(&mut self, word: &str) {
        let code = self.code(word);
        self.codes.push(code);
    }

    fn push_number(&mut self, number: f64) {
        let code = match self.known_numbers.get(&number.to_bits()) {
            Some(&code) => code,
            None => {
                let code = self.code(&number.to_string());
                self.known_numbers.insert(number.to_bits(), code);
                code
            }
        };
        self.codes.push(code);
    }

    fn code(&mut self, word: &str) -> u32 {
        if let Some(&code) = self.known.get(word) {
            return code;
        }
        let code = self.words.len() as u32;
        self.words.push(word.to_owned());
        self.numbers.push(word.parse().ok());
        self.known.insert(word.to_owned(), code);
        code
    }

    fn select(&self, indices: &[usize]) -> Words {
        Words { codes: indices.iter().map(|&index| self.codes[index]).collect(), ..self.clone() }
    }

    /// The word of a sample.
    #[must_use]
    pub fn get(&self, index: usize) -> &str {
        &self.words[self.codes[index] as usize]
    }

    /// For each sample the place of its word in [`distinct`](Words::distinct).
    #[must_use]
    pub fn codes(&self) -> &[u32] {
        &self.codes
    }

    /// All words that ever were in the column, each once, in the order in which they came.
    #[must_use]
    pub fn distinct(&self) -> &[String] {
        &self.words
    }

    /// The number that each of the [`distinct`](Words::distinct) words is, if it is one.
    #[must_use]
    pub fn numbers(&self) -> &[Option<f64>] {
        &self.numbers
    }
}

/// Equal if they say the same, whatever the codes.
impl PartialEq for Words {
    fn eq(&self, other: &Words) -> bool {
        self.codes.len() == other.codes.len() && (0..self.codes.len()).all(|index| self.get(index) == other.get(index))
    }
}
