//! What Chen, Shen & Hsu say about endings (section 2.5 and Fig. 7), as exact statements that are tested over all placements.
//!
//! A sentence of a paper can be read in more than one way; each reading is a [`Statement`] with a name. It says which
//! endings and placements it is about, so that "holds in 29,744 of 29,760" is a fact about the game and not about our choice.
//!
//! Every statement is tested twice: with no draw rule, and with the game drawn after some quiet plies. A repetition that ends the
//! game in a draw changes nothing: a winner who takes the shortest way never comes back to a position.

mod cases;
mod figure_7;
mod one_against_one;
mod petty;
mod ranks;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;

use anqi_rules::Position;

use self::cases::Test;
use crate::{Ending, Flavour, TableBuildError, Tables};

/// A sentence in one exact reading, and how often it holds.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Statement {
    /// By which it is asked for, such as `figure-2-left.even`; after the dot the reading.
    pub name: &'static str,
    /// Where the sentence stands.
    pub source: &'static str,
    /// As it is printed.
    pub sentence: &'static str,
    /// What is tested.
    pub exactly: &'static str,
    /// What one case is.
    pub unit: Unit,
    /// The endings of which every case was tested.
    pub endings: Vec<Ending>,
    /// First with no draw rule, then with one.
    pub findings: Vec<Finding>,
}

/// What is counted as one case.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Unit {
    /// A placement with a side to move.
    Positions,
    /// A placement, judged by what happens with either side to move.
    Placements,
}

/// How often a statement holds under one draw rule.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Finding {
    /// The tables that were asked.
    pub flavour: Flavour,
    /// How many cases the statement is about.
    pub cases: u64,
    /// In how many of them it holds.
    pub holds: u64,
    /// Some in which it holds.
    pub examples: Vec<Shown>,
    /// Those in which it does not, by what happens instead.
    pub exceptions: BTreeMap<String, Exceptions>,
}

/// Cases in which a statement fails in the same way.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub struct Exceptions {
    /// How many there are.
    pub count: u64,
    /// Some of them.
    pub positions: Vec<Shown>,
}

/// A case as a position, one of each four that are reflections.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Shown {
    /// With red to move where either side may be.
    pub position: Position,
    /// What it is worth.
    pub verdict: String,
}

/// What to test, and how much of it to show.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Examination {
    /// Statements about endings of any size are tested up to so many pieces, at most [`Examination::MOST_PIECES`].
    pub pieces: u32,
    /// The game is drawn after so many quiet plies, where there is a draw rule.
    pub draw: u16,
    /// Examples, and exceptions of each kind, that are kept.
    pub show: usize,
    /// How many threads share the work; the findings do not depend on them.
    pub threads: NonZeroUsize,
}

impl Examination {
    /// With five kinds of piece or more, two endings of the same order need not exist.
    pub const MOST_PIECES: u32 = 4;

    /// The names of all statements.
    pub fn names() -> impl Iterator<Item = &'static str> {
        outlines().map(|outline| outline.name)
    }

    /// Tests the statements whose names are `wanted`.
    ///
    /// ```
    /// use anqi_endgame::Examination;
    ///
    /// let all = Examination { pieces: 2, draw: 40, show: 1, threads: std::num::NonZeroUsize::MIN };
    /// let pairs = &all.run(|name| name == "one-against-one")?[0];
    /// assert_eq!((pairs.findings[0].cases, pairs.findings[0].holds), (97_216, 97_216));
    /// # Ok::<(), anqi_endgame::TableBuildError>(())
    /// ```
    ///
    /// # Errors
    /// If tables cannot be built.
    pub fn run(&self, wanted: impl Fn(&str) -> bool) -> Result<Vec<Statement>, TableBuildError> {
        let mut books = Books {
            tables: [Flavour::END, Flavour::conversion(Some(self.draw))].map(Tables::new),
            show: self.show,
            threads: self.threads,
        };
        let wanted = outlines().filter(|outline| wanted(outline.name));
        wanted.map(|outline| outline.examine(&mut books, self.pieces)).collect()
    }
}

/// The tables with no draw rule and with one, and how much of what is found there to keep.
struct Books {
    tables: [Tables; 2],
    show: usize,
    threads: NonZeroUsize,
}

impl Books {
    fn build(&mut self, endings: &[Ending]) -> Result<(), TableBuildError> {
        self.tables.iter_mut().try_for_each(|tables| tables.build(endings.iter().copied(), self.threads))
    }
}

/// A statement that was not tested yet.
struct Outline {
    name: &'static str,
    source: &'static str,
    sentence: &'static str,
    exactly: &'static str,
    test: Test,
}

/// In the order of the paper.
fn outlines() -> impl Iterator<Item = Outline> {
    ranks::outlines().chain(one_against_one::outlines()).chain(petty::outlines()).chain(figure_7::outlines())
}

impl Outline {
    fn examine(&self, books: &mut Books, pieces: u32) -> Result<Statement, TableBuildError> {
        let Outline { name, source, sentence, exactly, ref test } = *self;
        let (unit, endings, findings) = match test {
            Test::Cases(cases) => (cases.unit, cases.endings(), cases.examine(books)?),
            Test::Ranks(set) => {
                let (endings, findings) = set.examine(books, pieces)?;
                (Unit::Positions, endings, findings)
            }
        };
        Ok(Statement { name, source, sentence, exactly, unit, endings, findings })
    }
}

impl Finding {
    fn new(flavour: Flavour) -> Finding {
        Finding { flavour, cases: 0, holds: 0, examples: Vec::new(), exceptions: BTreeMap::new() }
    }

    /// Adds what was found `times` times elsewhere.
    fn add(&mut self, other: Finding, times: u64, show: usize) {
        let keep = |kept: &mut Vec<Shown>, more: Vec<Shown>| {
            let room = show - kept.len();
            kept.extend(more.into_iter().take(room));
        };
        self.cases += other.cases * times;
        self.holds += other.holds * times;
        keep(&mut self.examples, other.examples);
        for (what, Exceptions { count, positions }) in other.exceptions {
            let mine = self.exceptions.entry(what).or_default();
            mine.count += count * times;
            keep(&mut mine.positions, positions);
        }
    }

    /// Counts `weight` cases that are like this one: `what` happens instead, or the statement holds.
    fn count(&mut self, weight: u64, what: Option<String>, show: usize, shown: impl FnOnce() -> Option<Shown>) {
        self.cases += weight;
        let kept = match what {
            None => {
                self.holds += weight;
                &mut self.examples
            }
            Some(what) => {
                let exceptions = self.exceptions.entry(what).or_default();
                exceptions.count += weight;
                &mut exceptions.positions
            }
        };
        if kept.len() < show {
            kept.extend(shown());
        }
    }
}
