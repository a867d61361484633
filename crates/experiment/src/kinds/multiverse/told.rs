//! What a report says of a multiverse.

use super::claims::StudiedClaim;
use super::fit::{Fit, Fitted, FittedReading, PrintedTable};
use super::plan::MultiversePlan;
use super::readings::readings;
use super::rows::Results;
use crate::figure::{Content, CurveFigure, CurvePoint, Figure};
use crate::judge::p_value;
use crate::kind::Told;
use crate::section::Section;
use crate::{Claim, CurvePlan, Experiment, ExperimentError, Outline, Run, TablePlan};

pub(super) fn tell(plan: &MultiversePlan, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
    let results = Results::read(&run.dir, plan)?;
    let readings = readings(plan, &results);
    let Outline { tables, curves, .. } = experiment.outline()?;
    let tables = tables.into_iter().map(|table| printed(experiment, table)).collect::<Result<Vec<_>, _>>()?;
    let claims = StudiedClaim::all(&tables, &readings);
    let curves = curves.iter().map(|plan| curve(plan, &claims)).collect::<Result<Vec<_>, _>>()?;
    let tables: Vec<PrintedTable> = tables.into_iter().map(|(table, _)| table).collect();
    let fit = Fit::new(plan.axes(), &readings, &tables);
    let (done, all) = results.count(plan);
    let mut told = Told { measured: (done, all, "pairings of all universes"), ..Told::default() };
    if !fit.columns.is_empty() {
        told.sections.push(fit_table(&fit));
        told.sections.extend(marginals(&fit));
        told.sections.push(verdicts(&claims));
        told.sections.push(every_claim(&claims));
        let title = "Which readings explain which tables".to_owned();
        told.figures.push(Figure { title, measure: "log-likelihood a cell", content: Content::Fit(Box::new(fit)) });
    }
    told.figures.extend(curves);
    Ok(told)
}

/// The table and the claims of another experiment.
fn printed(experiment: &Experiment, plan: TablePlan) -> Result<(PrintedTable, Vec<Claim>), ExperimentError> {
    let other = Experiment::open(&experiment.dir.with_file_name(&plan.of))?;
    let table = PrintedTable { title: plan.title, cells: other.published()?, groups: plan.groups };
    Ok((table, other.outline()?.claims))
}

fn curve(plan: &CurvePlan, claims: &[StudiedClaim]) -> Result<Figure, ExperimentError> {
    let claim = claims.iter().find(|studied| studied.claim.says == plan.claim).ok_or_else(|| {
        let known: Vec<&str> = claims.iter().map(|studied| studied.claim.says.as_str()).collect();
        ExperimentError::Claim { claim: plan.claim.clone(), known: known.join("; ") }
    })?;
    let mut points: Vec<CurvePoint> = claim
        .numbers()
        .map(|(reading, evidence)| CurvePoint {
            reading: reading.reading.clone(),
            setting: reading.setting.clone(),
            number: evidence.number,
            judgement: reading.jointly,
        })
        .collect();
    points.sort_by(|a, b| a.number.value.total_cmp(&b.number.value));
    let neutral = claim.numbers().next().map_or(0.0, |(_, evidence)| evidence.than);
    let printed = claim.printed.evidence.map(|evidence| evidence.number);
    let content = Content::Curve(CurveFigure { points, neutral, printed });
    Ok(Figure { title: plan.title.clone(), measure: claim.claim.measure.label(), content })
}

fn fit_table(fit: &Fit) -> Section {
    let mut columns: Vec<String> = fit.axes.clone();
    columns.extend(fit.columns.iter().map(|column| format!("{} ({} cells)", column.title, column.cells)));
    columns.push("posterior".to_owned());
    let row = |reading: &FittedReading| {
        let value = |axis: &String| reading.setting.get(axis).cloned().unwrap_or("–".to_owned());
        let mut row: Vec<String> = fit.axes.iter().map(value).collect();
        row.extend(reading.columns.iter().map(|fitted| fitted.as_ref().map_or("–".to_owned(), said)));
        row.push(reading.share.map_or("–".to_owned(), |share| format!("{share:.3}")));
        row
    };
    let before = "Log-likelihood of the printed counts given the measured ones (Dirichlet-multinomial, prior ½ for each \
                  outcome), for each cell, relative to that of the printed frequencies themselves; in parentheses what it \
                  would be on average if the reading were the truth. Then the cells that are compatible with the reading: \
                  counts as unlikely as the printed ones are not rare by Holm's method over the cells of the table (5 %). \
                  Posterior: the share of a reading if all were equally likely before; it says which is the best, not that \
                  any is good.";
    let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
    let table = Section::table("Which readings explain which tables", &columns, fit.readings.iter().map(row).collect());
    Section { before: before.to_owned(), ..table }
}

fn said(fitted: &Fitted) -> String {
    let number = |value: f64| format!("{value:.2}").replace('-', "−");
    let (relative, if_true) = (number(fitted.relative()), number(fitted.relative_if_true()));
    format!("{relative} ({if_true}), {} of {}", fitted.compatible, fitted.cells)
}

fn marginals(fit: &Fit) -> Option<Section> {
    let marginals = fit.marginals();
    let rows = marginals.iter().map(|marginal| {
        let share = |share: f64| format!("{share:.3}");
        vec![marginal.axis.clone(), marginal.value.clone(), share(marginal.prior), share(marginal.posterior)]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    let before = "Sums over the readings that have all tables.".to_owned();
    let table = Section::table("Which values explain them", &["axis", "value", "share before", "share after"], rows);
    (!marginals.is_empty()).then_some(Section { before, ..table })
}

fn verdicts(claims: &[StudiedClaim]) -> Section {
    let row = |studied: &StudiedClaim| {
        let printed = format!("{} ({})", studied.printed.reason, studied.printed.judgement);
        let reason = studied.claim.not_comparable.as_ref().map_or(String::new(), |why| format!(": {why}"));
        vec![
            studied.claim.says.clone(),
            format!("{}, {}", studied.table, studied.claim.place),
            printed,
            format!("**{}**{reason}", studied.robustness()),
        ]
    };
    let before = "A claim holds in a reading if its number is surely on the side of the claim there, and is contrary if it is \
                  surely on the other side, all claims in all readings being looked at together by Holm's method (the chance \
                  of any wrong verdict is at most 5 %). Readings without the numbers of a claim are not counted.";
    let rows = claims.iter().map(row).collect();
    let table = Section::table("Claims over all readings", &["claim", "where", "printed numbers", "verdict"], rows);
    Section { before: before.to_owned(), ..table }
}

fn every_claim(claims: &[StudiedClaim]) -> Section {
    let rows = claims.iter().flat_map(|studied| {
        studied.readings.iter().map(|reading| {
            let p = reading.judged.evidence.map_or("–".to_owned(), |evidence| p_value(evidence.p));
            let alone = reading.judged.judgement.to_string();
            let (claim, name, reason) =
                (studied.claim.says.clone(), reading.reading.clone(), reading.judged.reason.clone());
            vec![claim, name, reason, p, alone, format!("**{}**", reading.jointly)]
        })
    });
    let columns = ["claim", "reading", "measured numbers", "p", "alone", "together"];
    Section::table("Every claim in every reading", &columns, rows.collect())
}
