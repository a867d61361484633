//! `Outline`: what a report is to say, as `report.toml` says it: claims to be judged and figures to be drawn.

use std::str::FromStr;

use anqi_rules::excerpt;
use serde::Deserialize;

use crate::facts::{Pattern, Quantity};

/// The claims and figures of an experiment.
///
/// ```
/// use anqi_experiment::Outline;
///
/// let outline: Outline = r##"
///     [[claims]]
///     says = "Longer playouts help"
///     measure = "score"
///     more = ["*-640"]
///     less = ["*-40"]
///
///     [[figures]]
///     title = "Fig. 5: draws with chance-nodes"
///     measure = "draws"
///     x = "playout size"
///     series = ["C2-R-#", "C2-CR-#"]
/// "##.parse()?;
/// assert_eq!((outline.claims.len(), outline.figures.len()), (1, 1));
///
/// let error = "[[claims]]\nsays = 'x'\nmeasure = 'score'".parse::<Outline>().unwrap_err().to_string();
/// assert!(error.contains("claim \"x\": expected `best` or `least`, or `more` and `less`"), "{error}");
/// # Ok::<(), anqi_experiment::OutlineError>(())
/// ```
#[derive(Clone, Default, Debug)]
pub struct Outline {
    /// What the paper says, in a form that numbers can answer.
    pub claims: Vec<Claim>,
    /// What is drawn.
    pub figures: Vec<FigurePlan>,
    /// The printed tables that a multiverse is held against.
    pub tables: Vec<TablePlan>,
    /// Claims that are drawn over all readings of a multiverse.
    pub curves: Vec<CurvePlan>,
}

/// A printed table that a multiverse is held against, with the claims about it.
#[derive(Clone, Debug)]
pub struct TablePlan {
    /// What it is called.
    pub title: String,
    /// The experiment whose `published.csv` and claims these are.
    pub of: String,
    /// Cells that are looked at by themselves, too.
    pub groups: Vec<GroupPlan>,
}

/// Some cells of a printed table.
#[derive(Clone, Debug)]
pub struct GroupPlan {
    /// What they are called.
    pub title: String,
    /// Which they are, by their pairings.
    pub cells: Vec<Pattern>,
}

/// A claim that is drawn over all readings.
#[derive(Clone, PartialEq, Eq, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CurvePlan {
    /// The title of the figure.
    pub title: String,
    /// What the claim says.
    pub claim: String,
}

/// One claim.
#[derive(Clone, Debug)]
pub struct Claim {
    /// In words.
    pub says: String,
    /// Where the paper says so.
    pub place: String,
    /// Of which numbers.
    pub measure: Quantity,
    /// What must hold.
    pub form: Form,
    /// Why numbers of ours cannot answer it, if they cannot: they describe something else.
    pub not_comparable: Option<String>,
}

/// What a claim comes down to.
#[derive(Clone, Debug)]
pub enum Form {
    /// One of them is above all others.
    Best(Pattern, Vec<Pattern>),
    /// One of them is below all others.
    Least(Pattern, Vec<Pattern>),
    /// The mean of the former is above the mean of the latter.
    More(Vec<Pattern>, Vec<Pattern>),
    /// The mean is above a number.
    Above(Vec<Pattern>, f64),
    /// The mean is below a number.
    Below(Vec<Pattern>, f64),
    /// The mean is this number, as far as one can see.
    Is(Vec<Pattern>, f64),
}

/// One figure.
#[derive(Clone, Debug)]
pub struct FigurePlan {
    /// Its title.
    pub title: String,
    /// What is drawn.
    pub measure: Quantity,
    /// What is drawn against what.
    pub axes: Axes,
}

/// What lies along a figure.
#[derive(Clone, Debug)]
pub enum Axes {
    /// A line for each pattern; the number that `#` stands for is the abscissa, called so.
    Lines(String, Vec<(String, String)>),
    /// A row with its interval for each name.
    Rows(Vec<Pattern>),
}

/// Why a report cannot be outlined.
#[derive(Clone, PartialEq, Debug, thiserror::Error)]
pub enum OutlineError {
    /// Not TOML, or not an outline.
    #[error("not an outline of a report: {0}")]
    Syntax(String),
    /// A claim that compares nothing, or two things at once.
    #[error(
        "claim {0:?}: expected `best` or `least`, or `more` and `less`, or one of `more`, `less` and `of` with a number (`than`, `is`)"
    )]
    Form(String),
    /// A figure without lines or rows, or with both.
    #[error("figure {0:?}: expected `series` with `x`, or `rows`")]
    Axes(String),
    /// A pattern that cannot be read.
    #[error("pattern {pattern:?}: {reason}")]
    Pattern {
        /// Which.
        pattern: String,
        /// What is wrong.
        reason: String,
    },
    /// A series without a place for its number.
    #[error("series {0:?}: expected one # where the number is")]
    Series(String),
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, default)]
#[derive(Default)]
struct OutlineFile {
    claims: Vec<ClaimFile>,
    figures: Vec<FigureFile>,
    tables: Vec<TableFile>,
    curves: Vec<CurvePlan>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TableFile {
    title: String,
    of: String,
    #[serde(default)]
    groups: Vec<GroupFile>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct GroupFile {
    title: String,
    cells: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ClaimFile {
    says: String,
    #[serde(default)]
    at: String,
    measure: Quantity,
    best: Option<String>,
    least: Option<String>,
    among: Option<Vec<String>>,
    more: Option<Vec<String>>,
    less: Option<Vec<String>>,
    than: Option<f64>,
    of: Option<Vec<String>>,
    is: Option<f64>,
    not_comparable: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct FigureFile {
    title: String,
    measure: Quantity,
    x: Option<String>,
    series: Option<Vec<String>>,
    rows: Option<Vec<String>>,
}

fn pattern(text: &str) -> Result<Pattern, OutlineError> {
    let failed = |error: globset::Error| OutlineError::Pattern { pattern: excerpt(text), reason: error.to_string() };
    Pattern::new(text).map_err(failed)
}

fn patterns(texts: &[String]) -> Result<Vec<Pattern>, OutlineError> {
    texts.iter().map(|text| pattern(text)).collect()
}

impl ClaimFile {
    fn claim(self) -> Result<Claim, OutlineError> {
        let all = |among: Option<Vec<String>>| among.unwrap_or_else(|| vec!["*".to_owned()]);
        let one = self.best.is_some() != self.least.is_some();
        let form = match (self.best.or(self.least.clone()), self.more, self.less, self.than, self.of, self.is) {
            (Some(name), None, None, None, None, None) if one => {
                let (name, among) = (pattern(&name)?, patterns(&all(self.among))?);
                if self.least.is_some() { Form::Least(name, among) } else { Form::Best(name, among) }
            }
            (None, Some(more), Some(less), None, None, None) => Form::More(patterns(&more)?, patterns(&less)?),
            (None, Some(more), None, Some(than), None, None) => Form::Above(patterns(&more)?, than),
            (None, None, Some(less), Some(than), None, None) => Form::Below(patterns(&less)?, than),
            (None, None, None, None, Some(of), Some(is)) => Form::Is(patterns(&of)?, is),
            _ => return Err(OutlineError::Form(excerpt(&self.says))),
        };
        let (says, place, measure) = (self.says, self.at, self.measure);
        Ok(Claim { says, place, measure, form, not_comparable: self.not_comparable })
    }
}

impl TableFile {
    fn table(self) -> Result<TablePlan, OutlineError> {
        let group = |GroupFile { title, cells }| Ok(GroupPlan { title, cells: patterns(&cells)? });
        let groups = self.groups.into_iter().map(group).collect::<Result<_, _>>()?;
        Ok(TablePlan { title: self.title, of: self.of, groups })
    }
}

impl FigureFile {
    fn figure(self) -> Result<FigurePlan, OutlineError> {
        let split = |text: &String| match text.split_once('#') {
            Some((before, after)) if !after.contains('#') => Ok((before.to_owned(), after.to_owned())),
            _ => Err(OutlineError::Series(excerpt(text))),
        };
        let axes = match (self.x, self.series, self.rows) {
            (Some(x), Some(series), None) => Axes::Lines(x, series.iter().map(split).collect::<Result<_, _>>()?),
            (None, None, Some(rows)) => Axes::Rows(patterns(&rows)?),
            _ => return Err(OutlineError::Axes(excerpt(&self.title))),
        };
        Ok(FigurePlan { title: self.title, measure: self.measure, axes })
    }
}

impl FromStr for Outline {
    type Err = OutlineError;

    fn from_str(text: &str) -> Result<Outline, OutlineError> {
        let file: OutlineFile =
            toml::from_str(text).map_err(|error| OutlineError::Syntax(error.to_string().trim_end().to_owned()))?;
        Ok(Outline {
            claims: file.claims.into_iter().map(ClaimFile::claim).collect::<Result<_, _>>()?,
            figures: file.figures.into_iter().map(FigureFile::figure).collect::<Result<_, _>>()?,
            tables: file.tables.into_iter().map(TableFile::table).collect::<Result<_, _>>()?,
            curves: file.curves,
        })
    }
}
