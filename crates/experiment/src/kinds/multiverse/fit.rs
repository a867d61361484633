//! Which readings explain which printed tables: likelihoods of printed cells given measured games.
//!
//! A *cell* is a printed count of wins, draws and losses. Its likelihood in a reading is the chance of these very counts given
//! the counts measured there ([`Predictive`]); that of a table is the product over its cells. It is compared with the
//! *saturated* likelihood, in which each cell has its own printed frequencies, and with what it would be on average if the
//! reading were the truth. All readings are bad where cells are not *compatible* with any: a cell is compatible unless counts as
//! unlikely as the printed ones are rare by Holm's method over all cells of the table.

use anqi_stats::{Games, Outcomes, Predictive, holm, posterior, saturated};

use super::readings::Reading;
use super::template::Setting;
use crate::{GroupPlan, PrintedMatch};

/// A printed table.
pub(super) struct PrintedTable {
    pub(super) title: String,
    pub(super) cells: Vec<PrintedMatch>,
    pub(super) groups: Vec<GroupPlan>,
}

/// How well each reading explains each table.
#[derive(Clone, PartialEq, Debug)]
pub struct Fit {
    /// The names of the axes.
    pub axes: Vec<String>,
    /// The tables, each followed by its groups of cells.
    pub columns: Vec<FitColumn>,
    /// The readings, the most likely one first; those without all cells come last.
    pub readings: Vec<FittedReading>,
}

/// A printed table, or a group of its cells.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FitColumn {
    /// What it is called.
    pub title: String,
    /// How many cells it has.
    pub cells: usize,
    /// Whether it is a whole table.
    pub whole: bool,
}

/// One reading.
#[derive(Clone, PartialEq, Debug)]
pub struct FittedReading {
    /// What it is called.
    pub name: String,
    /// The value of each axis.
    pub setting: Setting,
    /// What it says of each column; nothing if cells of it were not measured.
    pub columns: Vec<Option<Fitted>>,
    /// The log-likelihood of all tables, if all were measured.
    pub log_likelihood: Option<f64>,
    /// Its share among those that have one, if all were equally likely before.
    pub share: Option<f64>,
}

/// What a reading says of some printed cells.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Fitted {
    /// How many cells there are.
    pub cells: usize,
    /// How many of them are compatible with the reading.
    pub compatible: usize,
    /// The logarithm of the likelihood of all.
    pub log_likelihood: f64,
    /// That of the printed frequencies themselves.
    pub saturated: f64,
    /// How far the two would be apart on average if the reading were the truth.
    pub expected: f64,
}

impl Fitted {
    /// Log-likelihood a cell, relative to that of the printed frequencies: 0 or less.
    #[must_use]
    pub fn relative(&self) -> f64 {
        (self.log_likelihood - self.saturated) / self.cells as f64
    }

    /// What [`relative`](Fitted::relative) would be on average if the reading were the truth.
    #[must_use]
    pub fn relative_if_true(&self) -> f64 {
        self.expected / self.cells as f64
    }

    fn add(&mut self, cell: &FittedCell) {
        self.cells += 1;
        self.compatible += usize::from(cell.compatible);
        self.log_likelihood += cell.log_likelihood;
        self.saturated += cell.saturated;
        self.expected += cell.expected;
    }
}

/// A share of the readings, before and after the tables are looked at.
#[derive(Clone, PartialEq, Debug)]
pub struct Marginal {
    /// Which axis.
    pub axis: String,
    /// Its value.
    pub value: String,
    /// The share of the readings that have it.
    pub prior: f64,
    /// The sum of their shares after.
    pub posterior: f64,
}

#[derive(Clone, Copy)]
struct FittedCell {
    log_likelihood: f64,
    saturated: f64,
    expected: f64,
    p: f64,
    compatible: bool,
}

/// The chance that any cell of a table is called incompatible with the true reading.
const LEVEL: f64 = 0.05;

impl Fit {
    pub(super) fn new(axes: &[String], readings: &[Reading], tables: &[PrintedTable]) -> Fit {
        let columns = tables.iter().flat_map(|table| {
            let whole = FitColumn { title: table.title.clone(), cells: table.cells.len(), whole: true };
            let group = |group: &GroupPlan| {
                let cells = table.cells.iter().filter(|cell| is_of(group, cell)).count();
                FitColumn { title: group.title.clone(), cells, whole: false }
            };
            std::iter::once(whole).chain(table.groups.iter().map(group))
        });
        let columns: Vec<FitColumn> = columns.collect();
        let mut fitted: Vec<FittedReading> = readings.iter().map(|reading| reading.fitted(tables, &columns)).collect();
        let logs: Vec<f64> = fitted.iter().filter_map(|reading| reading.log_likelihood).collect();
        let mut shares = posterior(&logs).into_iter();
        for reading in fitted.iter_mut().filter(|reading| reading.log_likelihood.is_some()) {
            reading.share = shares.next();
        }
        let rank = |reading: &FittedReading| {
            let best = reading.columns.iter().flatten().map(Fitted::relative).fold(f64::NEG_INFINITY, f64::max);
            (reading.log_likelihood.unwrap_or(f64::NEG_INFINITY), best)
        };
        fitted.sort_by(|a, b| {
            let (a, b) = (rank(a), rank(b));
            b.0.total_cmp(&a.0).then(b.1.total_cmp(&a.1))
        });
        Fit { axes: axes.to_vec(), columns, readings: fitted }
    }

    /// The shares of all values of all axes with more than one value, among the readings that have a likelihood.
    #[must_use]
    pub fn marginals(&self) -> Vec<Marginal> {
        let ranked: Vec<(&Setting, f64)> =
            self.readings.iter().filter_map(|reading| Some((&reading.setting, reading.share?))).collect();
        let mut marginals: Vec<Marginal> = Vec::new();
        for axis in &self.axes {
            let mut values: Vec<&String> = ranked.iter().filter_map(|(setting, _)| setting.get(axis)).collect();
            values.sort();
            values.dedup();
            if values.len() < 2 {
                continue;
            }
            for value in values {
                let with: Vec<f64> = ranked
                    .iter()
                    .filter(|(setting, _)| setting.get(axis) == Some(value))
                    .map(|(_, share)| *share)
                    .collect();
                let prior = with.len() as f64 / ranked.len() as f64;
                let (axis, value, posterior) = (axis.clone(), value.clone(), with.iter().sum());
                marginals.push(Marginal { axis, value, prior, posterior });
            }
        }
        marginals
    }
}

impl Reading {
    fn fitted(&self, tables: &[PrintedTable], columns: &[FitColumn]) -> FittedReading {
        let mut fitted = Vec::new();
        let mut sum = Some(0.0);
        for table in tables {
            let mut cells: Vec<Option<FittedCell>> =
                table.cells.iter().map(|cell| Some(FittedCell::new(cell, &self.games(cell)?))).collect();
            let p_values: Vec<f64> = cells.iter().flatten().map(|cell| cell.p).collect();
            for (cell, adjusted) in cells.iter_mut().flatten().zip(holm(&p_values)) {
                cell.compatible = adjusted > LEVEL;
            }
            let column = |chosen: &dyn Fn(&PrintedMatch) -> bool| {
                let mut column = Fitted::default();
                for (_, cell) in table.cells.iter().zip(&cells).filter(|(printed, _)| chosen(printed)) {
                    column.add(cell.as_ref()?);
                }
                (column.cells > 0).then_some(column)
            };
            let whole = column(&|_| true);
            sum = sum.zip(whole.as_ref()).map(|(sum, whole)| sum + whole.log_likelihood);
            fitted.push(whole);
            fitted.extend(table.groups.iter().map(|group| column(&|cell| is_of(group, cell))));
        }
        debug_assert_eq!(fitted.len(), columns.len());
        let (name, setting) = (self.name.clone(), self.setting.clone());
        FittedReading { name, setting, columns: fitted, log_likelihood: sum, share: None }
    }
}

impl FittedCell {
    fn new(printed: &PrintedMatch, measured: &Games) -> FittedCell {
        let (games, predictive) = (printed.games(), Predictive::of(measured));
        FittedCell {
            log_likelihood: predictive.log_likelihood(&games),
            saturated: saturated(&games),
            expected: predictive.expected(games.total()),
            p: predictive.p(&games),
            compatible: false,
        }
    }
}

fn is_of(group: &GroupPlan, cell: &PrintedMatch) -> bool {
    let name = format!("{} v {}", cell.player, cell.opponent);
    group.cells.iter().any(|pattern| pattern.matches(&name))
}
