//! `Figure`: what is drawn, as numbers; how it looks is up to whoever draws it.

use anqi_rules::{Move, Position};

use crate::facts::{Facts, Pattern};
use crate::judge::Judgement;
use crate::number::Number;
use crate::outline::{Axes, FigurePlan};
use crate::{Fit, Setting};

/// A figure of a report.
#[derive(Clone, PartialEq, Debug)]
pub struct Figure {
    /// Its title.
    pub title: String,
    /// What the ordinate is.
    pub measure: &'static str,
    /// What is drawn.
    pub content: Content,
}

/// What a figure holds.
#[derive(Clone, PartialEq, Debug)]
pub enum Content {
    /// Lines over an abscissa with that name.
    Lines(String, Vec<FigureLine>),
    /// Names, each with what was printed and measured.
    Rows(Vec<(String, Option<Number>, Option<Number>)>),
    /// What first flips are worth on a board, with a row for each class of sets of pieces.
    Dots {
        /// The board.
        board: String,
        /// How many sets there are in all classes.
        sets: usize,
        /// The classes.
        rows: Vec<Dots>,
    },
    /// A position.
    Board(BoardFigure),
    /// Which readings explain which printed tables.
    Fit(Box<Fit>),
    /// The number that decides a claim, in every reading.
    Curve(CurveFigure),
}

/// The number that decides a claim, in every reading.
#[derive(Clone, PartialEq, Debug)]
pub struct CurveFigure {
    /// The readings in the order of their numbers.
    pub points: Vec<CurvePoint>,
    /// The number on one side of which the claim holds.
    pub neutral: f64,
    /// What was printed.
    pub printed: Option<Number>,
}

/// One reading.
#[derive(Clone, PartialEq, Debug)]
pub struct CurvePoint {
    /// What it is called.
    pub reading: String,
    /// The value of each axis.
    pub setting: Setting,
    /// The number.
    pub number: Number,
    /// What it says among all claims in all readings.
    pub judgement: Judgement,
}

/// A class of sets of pieces: what it is called, and the value of each kind of square.
#[derive(Clone, PartialEq, Debug)]
pub struct Dots {
    /// What it is called.
    pub label: String,
    /// Squares, each with P(win) − P(loss) of the player who flips there first.
    pub points: Vec<(String, f64)>,
}

/// A position with moves that are marked.
#[derive(Clone, PartialEq, Debug)]
pub struct BoardFigure {
    /// The position.
    pub position: Position,
    /// The moves.
    pub marks: Vec<Mark>,
}

/// A move that is marked.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Mark {
    /// The move.
    pub mv: Move,
    /// What is said of it.
    pub says: String,
}

/// One line.
#[derive(Clone, PartialEq, Debug)]
pub struct FigureLine {
    /// What it is called.
    pub name: String,
    /// What was printed.
    pub printed: Vec<(f64, Number)>,
    /// What was measured.
    pub measured: Vec<(f64, Number)>,
}

impl FigurePlan {
    pub(crate) fn figure(&self, printed: &Facts, measured: &Facts) -> Figure {
        let content = match &self.axes {
            Axes::Lines(axis, series) => {
                let line = |(before, after): &(String, String)| {
                    let word = |text: &str| text.trim_matches(|c: char| !c.is_alphanumeric()).to_owned();
                    let name = format!("{} {}", word(before), word(after)).trim().to_owned();
                    let points = |facts: &Facts| self.points(facts, before, after);
                    FigureLine { name, printed: points(printed), measured: points(measured) }
                };
                Content::Lines(axis.clone(), series.iter().map(line).collect())
            }
            Axes::Rows(patterns) => {
                let number = |facts: &Facts, name: &str| {
                    let found = facts.find(self.measure, patterns).into_iter().find(|(other, _)| *other == name);
                    found.map(|(_, sum)| facts.number(sum))
                };
                let mut names: Vec<&str> = Vec::new();
                for (name, _) in [measured, printed].iter().flat_map(|facts| facts.find(self.measure, patterns)) {
                    if !names.contains(&name) {
                        names.push(name);
                    }
                }
                let row = |name: &str| (name.to_owned(), number(printed, name), number(measured, name));
                Content::Rows(names.into_iter().map(row).collect())
            }
        };
        Figure { title: self.title.clone(), measure: self.measure.label(), content }
    }

    /// The numbers between `before` and `after`, and what is said about them.
    fn points(&self, facts: &Facts, before: &str, after: &str) -> Vec<(f64, Number)> {
        let Ok(everything) = Pattern::new("*") else { return Vec::new() };
        let point = |(name, sum): (&str, _)| {
            let x: f64 = name.strip_prefix(before)?.strip_suffix(after)?.parse().ok()?;
            Some((x, facts.number(sum)))
        };
        let mut points: Vec<_> = facts.find(self.measure, &[everything]).into_iter().filter_map(point).collect();
        points.sort_by(|a, b| a.0.total_cmp(&b.0));
        points
    }
}
