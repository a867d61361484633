//! Assessments and comparisons of search methods as a page.

use anqi_assess::{Assessment, Comparison, Curve, Difference, Draws, METRICS, Measured, Report, Scale};
use anqi_stats::Estimate;
use maud::{Markup, html};

use crate::chart::curves as plot;
use crate::page::{facts, figure, titled};

/// Metrics of the paper's Table I and of its Table II, with what belongs to them.
pub(crate) const TABLES: [(&str, &[&str]); 3] = [
    ("Table I", &["ACC", "FSC", "LFT", "LFT (tables)", "lift", "ROC", "APR", "AP", "BEP"]),
    ("Table II", &["tau", "tau (tables)", "tau-b", "E(v)", "E(v)/sd"]),
    ("Calibration", &["Brier", "reliability", "resolution", "uncertainty", "log loss", "ECE"]),
];

/// The page.
#[must_use]
pub fn assessment_html(report: &Report) -> String {
    let body = html! {
        (facts(report.facts.iter().map(|(name, value)| (name.as_str(), value.clone()))))
        @if let Some(proofs) = &report.proofs {
            h2 { "Results by proof" }
            pre { (proofs) }
        }
        @if !report.skipped.is_empty() {
            h2 { "Left out" }
            pre { (report.skipped) }
        }
        (tables(report))
        (total_curves(report))
        @for assessment in &report.assessments { (conditioned(report, assessment)) }
        @for comparison in &report.comparisons { (compared(comparison)) }
        h2 { "What the numbers are" }
        (facts(METRICS.iter().map(|metric| (metric.name, metric.help.to_owned()))))
    };
    titled(&report.title, &body)
}

fn tables(report: &Report) -> Markup {
    let row = |assessment: &Assessment, names: &[&str]| {
        html! {
            tr {
                th scope="row" { (assessment.name) }
                @for value in names.iter().filter_map(|name| assessment.metric(name)) {
                    td title=(format!("{:.4} to {:.4}", value.low, value.high)) { (shown(value)) }
                }
            }
        }
    };
    html! {
        @for (title, names) in TABLES {
            h2 { (title) }
            div.wide {
                table {
                    thead { tr { th { "method" } @for name in names { th { (name) } } } }
                    tbody { @for assessment in &report.assessments { (row(assessment, names)) } }
                }
            }
        }
        p.note { "± is half of a 95 % interval from resampled games." }
    }
}

fn total_curves(report: &Report) -> Markup {
    let mut pictures: Vec<Vec<&Assessment>> = Vec::new();
    for scale in [Scale::Probability, Scale::Score] {
        let same: Vec<&Assessment> = report.assessments.iter().filter(|assessment| assessment.scale == scale).collect();
        // Scores of different searches have different units.
        if scale == Scale::Score {
            pictures.extend(same.chunks(1).map(<[_]>::to_vec));
        } else {
            pictures.push(same);
        }
    }
    let names = |picture: &[&Assessment]| {
        picture.iter().map(|assessment| assessment.name.as_str()).collect::<Vec<_>>().join(", ")
    };
    let all: Vec<&Assessment> = report.assessments.iter().collect();
    html! {
        h2 { "Total curves" }
        div.plots {
            @for picture in &pictures { (figure(&names(picture), &plot::totals(picture))) }
            (figure("ROC curves", &plot::roc(&all)))
            (figure("Precision and recall", &plot::precision_recall(&all)))
        }
    }
}

fn conditioned(report: &Report, assessment: &Assessment) -> Markup {
    let mut conditions: Vec<&String> = assessment.curves.iter().filter_map(|curve| curve.condition.as_ref()).collect();
    conditions.dedup();
    let under = |condition: &String| {
        let fits = |curve: &&Curve| curve.condition.as_ref().is_none_or(|other| other == condition);
        assessment.curves.iter().filter(fits).collect::<Vec<_>>()
    };
    html! {
        h2 { (assessment.name) }
        p.note {
            (assessment.positions) " positions of " (assessment.games) " games, share of the points "
            (format!("{:.3}", assessment.base_rate)) ", bins of " (assessment.delta) "."
            @if let Some(total) = assessment.curves.first() {
                " The total curve falls " (total.monotone.falls) " times, " (total.monotone.sure_falls)
                " of them surely; its distance from a rising curve is " (format!("{:.4}", total.monotone.distance)) ". "
                (total.thin) " positions are in bins too thin to be drawn."
            }
        }
        div.plots {
            @if report.draws == Draws::Three { (figure("Won, drawn and lost", &plot::outcomes(assessment))) }
            @for condition in &conditions { (figure(condition, &plot::curves(assessment, &under(condition)))) }
        }
        @if !conditions.is_empty() { (splits(assessment)) }
    }
}

fn splits(assessment: &Assessment) -> Markup {
    let heads = ["curve", "positions", "distance", "noise", "shift", "p", "p (Holm)", "falls", "surely"];
    html! {
        div.wide {
            table {
                thead { tr { @for head in heads { th { (head) } } } }
                tbody {
                    @for curve in &assessment.curves {
                        tr {
                            th scope="row" { (curve.name()) }
                            td { (curve.positions) }
                            @if let Some(split) = curve.split {
                                td.sure[split.p_holm < 0.05] { (format!("{:.4}", split.distance)) }
                                td { (format!("{:.4}", split.noise)) }
                                td { (format!("{:.4}", split.shift)) }
                                td { (format!("{:.4}", split.p)) }
                                td { (format!("{:.4}", split.p_holm)) }
                            } @else {
                                @for _ in 0..5 { td {} }
                            }
                            td { (curve.monotone.falls) }
                            td { (curve.monotone.sure_falls) }
                        }
                    }
                }
            }
        }
    }
}

fn compared(comparison: &Comparison) -> Markup {
    let [one, two] = &comparison.names;
    let row = |difference: &Difference| {
        let Measured { metric, value } = difference.more;
        html! {
            tr {
                th scope="row" { (metric.name) }
                td.sure[difference.p < 0.05] { (format!("{value:.4}")) }
                td { (format!("{:.4}", difference.p)) }
            }
        }
    };
    html! {
        h2 { (two) " less " (one) }
        p.note { (comparison.positions) " common positions, " (comparison.unpaired) " of one only." }
        div.wide {
            table {
                thead { tr { @for head in ["metric", "difference", "p"] { th { (head) } } } }
                tbody { @for difference in &comparison.differences { (row(difference)) } }
            }
        }
    }
}

/// A number with half its interval, or a dash where there is none.
pub(crate) fn shown(value: Estimate) -> String {
    if value.value.is_nan() { "–".to_owned() } else { format!("{value:.3}") }
}
