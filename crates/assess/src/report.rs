//! `Report`: assessments and comparisons as a page that needs nothing but itself, and as tables for programs.

use std::fmt::{self, Display, Write as _};
use std::io;

use anqi_stats::Estimate;
use serde::Serialize;

use crate::assessment::{Assessment, Measured};
use crate::comparison::Comparison;
use crate::curve::Curve;
use crate::metrics::METRICS;
use crate::plot;
use crate::settings::{Draws, Scale};
use crate::skipped::Skipped;
use crate::winners::Proofs;

/// Everything that was found out, in the order in which it is shown.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Report {
    /// `anqi-assess-1`.
    pub schema: &'static str,
    /// What the page is called.
    pub title: String,
    /// What gave these numbers: version, command, settings.
    pub facts: Vec<(String, String)>,
    /// What was proven of results, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Proofs>,
    /// What was left out.
    pub skipped: Skipped,
    /// How draws counted.
    pub draws: Draws,
    /// One for each search.
    pub assessments: Vec<Assessment>,
    /// Searches side by side.
    pub comparisons: Vec<Comparison>,
}

/// Metrics of the paper's Table I and of its Table II, with what belongs to them.
const TABLES: [(&str, &[&str]); 3] = [
    ("Table I", &["ACC", "FSC", "LFT", "LFT (tables)", "lift", "ROC", "APR", "AP", "BEP"]),
    ("Table II", &["tau", "tau (tables)", "tau-b", "E(v)", "E(v)/sd"]),
    ("Calibration", &["Brier", "reliability", "resolution", "uncertainty", "log loss", "ECE"]),
];

impl Report {
    /// The name under which programs know the format.
    pub const SCHEMA: &'static str = "anqi-assess-1";

    /// For people at a terminal.
    #[must_use]
    pub fn to_text(&self) -> String {
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_text(&mut text);
        text
    }

    fn write_text(&self, text: &mut String) -> fmt::Result {
        let width = self.assessments.iter().map(|a| a.name.chars().count()).max().unwrap_or(0).max(6);
        for Assessment { name, positions, games, dropped_draws, clamped, limit, scale, base_rate, .. } in
            &self.assessments
        {
            write!(text, "{name:<width$}  {positions} positions of {games} games, {scale}, base rate {base_rate:.3}")?;
            if *dropped_draws > 0 {
                write!(text, ", {dropped_draws} positions of drawn games left out")?;
            }
            if *clamped > 0 {
                write!(
                    text,
                    ", {clamped} proofs or outliers counted as ±{}",
                    if *scale == Scale::Score { *limit } else { 1.0 }
                )?;
            }
            writeln!(text)?;
        }
        if let Some(proofs) = &self.proofs {
            write!(text, "{proofs}")?;
        }
        for (title, names) in TABLES {
            writeln!(text, "\n{title}")?;
            write!(text, "{:<width$}", "method")?;
            names.iter().try_for_each(|name| write!(text, " {name:>15}"))?;
            writeln!(text)?;
            for assessment in &self.assessments {
                write!(text, "{:<width$}", assessment.name)?;
                for value in names.iter().filter_map(|name| assessment.metric(name)) {
                    write!(text, " {:>15}", shown(value))?;
                }
                writeln!(text)?;
            }
        }
        let split = |curve: &&Curve| curve.split.is_some_and(|split| split.p_holm < 0.05);
        if self.assessments.iter().any(|assessment| assessment.curves.iter().any(|curve| split(&curve))) {
            writeln!(text, "\nCurves that split (p < 0.05 after Holm), the farthest first")?;
            for assessment in &self.assessments {
                let mut curves: Vec<&Curve> = assessment.curves.iter().filter(split).collect();
                let far = |curve: &Curve| curve.split.map_or(0.0, |split| split.distance - split.noise);
                curves.sort_by(|a, b| far(b).total_cmp(&far(a)));
                for curve in curves {
                    if let Some(split) = curve.split {
                        writeln!(
                            text,
                            "{:<width$}  {:<26} distance {:.3} (noise {:.3})  shift {:+.3}",
                            assessment.name,
                            curve.name(),
                            split.distance,
                            split.noise,
                            split.shift.value
                        )?;
                    }
                }
            }
        }
        for comparison in &self.comparisons {
            let [one, two] = &comparison.names;
            writeln!(text, "\n{two} less {one}, {} common positions", comparison.positions)?;
            for name in ["ACC", "ROC", "tau (tables)", "E(v)", "E(v)/sd", "Brier"] {
                let difference = comparison.differences.iter().find(|d| d.more.metric.name == name);
                if let Some(difference) = difference {
                    let value = difference.more.value;
                    writeln!(text, "  {name:<13} {value:.4}  p {:.4}", difference.p)?;
                }
            }
        }
        if !self.skipped.is_empty() {
            write!(text, "\nLeft out\n{}", self.skipped)?;
        }
        Ok(())
    }

    /// The page.
    #[must_use]
    pub fn to_html(&self) -> String {
        let mut page = String::new();
        // Writing to a string cannot fail.
        let _ = self.write_html(&mut page);
        page
    }

    fn write_html(&self, page: &mut String) -> fmt::Result {
        let title = Escaped(&self.title);
        writeln!(
            page,
            "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<title>{title}</title>"
        )?;
        writeln!(page, "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">")?;
        writeln!(
            page,
            "<style>\n{}</style>\n</head>\n<body>\n<h1>{title}</h1>\n<dl class=\"facts\">",
            include_str!("page.css")
        )?;
        for (name, value) in &self.facts {
            writeln!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(name), Escaped(value))?;
        }
        writeln!(page, "</dl>")?;
        if let Some(proofs) = &self.proofs {
            writeln!(page, "<h2>Results by proof</h2>\n<pre>{}</pre>", Escaped(proofs))?;
        }
        if !self.skipped.is_empty() {
            writeln!(page, "<h2>Left out</h2>\n<pre>{}</pre>", Escaped(&self.skipped))?;
        }
        self.tables(page)?;
        self.total_curves(page)?;
        self.assessments.iter().try_for_each(|assessment| self.conditioned(page, assessment))?;
        self.comparisons.iter().try_for_each(|comparison| compared(page, comparison))?;
        writeln!(page, "<h2>What the numbers are</h2>\n<dl class=\"facts\">")?;
        for metric in &METRICS {
            writeln!(page, "<dt>{}</dt><dd>{}</dd>", Escaped(metric.name), Escaped(metric.help))?;
        }
        writeln!(page, "</dl>\n</body>\n</html>")
    }

    fn tables(&self, page: &mut String) -> fmt::Result {
        for (title, names) in TABLES {
            writeln!(page, "<h2>{title}</h2>\n<div class=\"wide\"><table>\n<thead><tr><th>method</th>")?;
            names.iter().try_for_each(|name| write!(page, "<th>{}</th>", Escaped(name)))?;
            writeln!(page, "</tr></thead>\n<tbody>")?;
            for assessment in &self.assessments {
                write!(page, "<tr><th scope=\"row\">{}</th>", Escaped(&assessment.name))?;
                for value in names.iter().filter_map(|name| assessment.metric(name)) {
                    write!(page, "<td title=\"{:.4} to {:.4}\">{}</td>", value.low, value.high, shown(value))?;
                }
                writeln!(page, "</tr>")?;
            }
            writeln!(page, "</tbody></table></div>")?;
        }
        writeln!(page, "<p class=\"note\">± is half of a 95 % interval from resampled games.</p>")
    }

    fn total_curves(&self, page: &mut String) -> fmt::Result {
        writeln!(page, "<h2>Total curves</h2>\n<div class=\"plots\">")?;
        for scale in [Scale::Probability, Scale::Score] {
            let same: Vec<&Assessment> =
                self.assessments.iter().filter(|assessment| assessment.scale == scale).collect();
            // Scores of different searches have different units.
            let pictures = if scale == Scale::Score { same.chunks(1).map(<[_]>::to_vec).collect() } else { vec![same] };
            for picture in pictures {
                let names: Vec<&str> = picture.iter().map(|assessment| assessment.name.as_str()).collect();
                figure(page, &names.join(", "), &plot::totals(&picture))?;
            }
        }
        let all: Vec<&Assessment> = self.assessments.iter().collect();
        figure(page, "ROC curves", &plot::roc(&all))?;
        figure(page, "Precision and recall", &plot::precision_recall(&all))?;
        writeln!(page, "</div>")
    }

    fn conditioned(&self, page: &mut String, assessment: &Assessment) -> fmt::Result {
        writeln!(page, "<h2>{}</h2>", Escaped(&assessment.name))?;
        write!(page, "<p class=\"note\">{} positions of {} games, ", assessment.positions, assessment.games)?;
        writeln!(page, "share of the points {:.3}, bins of {}.", assessment.base_rate, assessment.delta)?;
        if let Some(total) = assessment.curves.first() {
            let monotone = total.monotone;
            writeln!(
                page,
                "The total curve falls {} times, {} of them surely; its distance from a rising curve is {:.4}.",
                monotone.falls, monotone.sure_falls, monotone.distance
            )?;
            writeln!(page, "{} positions are in bins too thin to be drawn.", total.thin)?;
        }
        writeln!(page, "</p>\n<div class=\"plots\">")?;
        if self.draws == Draws::Three {
            figure(page, "Won, drawn and lost", &plot::outcomes(assessment))?;
        }
        let mut conditions: Vec<&String> =
            assessment.curves.iter().filter_map(|curve| curve.condition.as_ref()).collect();
        conditions.dedup();
        for condition in &conditions {
            let curves: Vec<&Curve> = assessment
                .curves
                .iter()
                .filter(|curve| curve.condition.as_ref().is_none_or(|c| c == *condition))
                .collect();
            figure(page, condition, &plot::curves(assessment, &curves))?;
        }
        writeln!(page, "</div>")?;
        if !conditions.is_empty() {
            splits(page, assessment)?;
        }
        Ok(())
    }

    /// Metrics as CSV: a line for each search and metric.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_metrics_csv(&self, output: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(["method", "metric", "value", "low", "high"])?;
        for assessment in &self.assessments {
            for Measured { metric, value } in &assessment.metrics {
                let [v, low, high] = [value.value, value.low, value.high].map(|number| number.to_string());
                writer.write_record([&assessment.name, metric.name, &v, &low, &high])?;
            }
        }
        Ok(writer.flush()?)
    }

    /// Curves as CSV: a line for each point.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_curves_csv(&self, output: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record([
            "method",
            "condition",
            "group",
            "value",
            "positions",
            "wins",
            "draws",
            "losses",
            "score",
            "low",
            "high",
        ])?;
        for assessment in &self.assessments {
            for curve in &assessment.curves {
                for point in &curve.points {
                    let (condition, group) = (curve.condition.as_deref(), curve.group.as_deref());
                    let names = [&assessment.name, condition.unwrap_or("total"), group.unwrap_or_default()];
                    let counts =
                        [point.positions, point.wins, point.draws, point.losses].map(|count| count.to_string());
                    let numbers =
                        [point.score.value, point.score.low, point.score.high].map(|number| number.to_string());
                    let value = point.value.to_string();
                    let fields = names.into_iter().chain([value.as_str()]);
                    writer.write_record(fields.chain(counts.iter().chain(&numbers).map(String::as_str)))?;
                }
            }
        }
        Ok(writer.flush()?)
    }

    /// Splits as CSV: a line for each conditioned curve.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_splits_csv(&self, output: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record([
            "method",
            "condition",
            "group",
            "positions",
            "distance",
            "noise",
            "shift",
            "shift_low",
            "shift_high",
            "p",
            "p_holm",
        ])?;
        for assessment in &self.assessments {
            for curve in &assessment.curves {
                let (Some(condition), Some(group), Some(split)) = (&curve.condition, &curve.group, curve.split) else {
                    continue;
                };
                let shift = split.shift;
                let numbers = [split.distance, split.noise, shift.value, shift.low, shift.high, split.p, split.p_holm];
                let numbers = numbers.map(|number| number.to_string());
                let positions = curve.positions.to_string();
                let names = [&assessment.name, condition, group, &positions];
                writer.write_record(names.into_iter().chain(&numbers))?;
            }
        }
        Ok(writer.flush()?)
    }

    /// Comparisons as CSV: a line for each two searches and metric.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write_comparisons_csv(&self, output: impl io::Write) -> Result<(), csv::Error> {
        let mut writer = csv::Writer::from_writer(output);
        writer.write_record(["first", "second", "positions", "metric", "second_less_first", "low", "high", "p"])?;
        for comparison in &self.comparisons {
            for difference in &comparison.differences {
                let Measured { metric, value } = difference.more;
                let numbers = [value.value, value.low, value.high, difference.p].map(|number| number.to_string());
                let [first, second] = &comparison.names;
                let names = [first, second, &comparison.positions.to_string(), metric.name];
                writer.write_record(names.into_iter().chain(numbers.iter().map(String::as_str)))?;
            }
        }
        Ok(writer.flush()?)
    }
}

/// A number with half its interval, or a dash where there is none.
fn shown(value: Estimate) -> String {
    if value.value.is_nan() { "–".to_owned() } else { format!("{value:.3}") }
}

fn figure(page: &mut String, caption: &str, svg: &str) -> fmt::Result {
    if svg.is_empty() {
        return Ok(());
    }
    writeln!(page, "<figure><figcaption>{}</figcaption>\n{svg}\n</figure>", Escaped(caption))
}

fn splits(page: &mut String, assessment: &Assessment) -> fmt::Result {
    writeln!(
        page,
        "<div class=\"wide\"><table>\n<thead><tr><th>curve</th><th>positions</th><th>distance</th><th>noise</th>"
    )?;
    writeln!(page, "<th>shift</th><th>p</th><th>p (Holm)</th><th>falls</th><th>surely</th></tr></thead>\n<tbody>")?;
    for curve in &assessment.curves {
        write!(page, "<tr><th scope=\"row\">{}</th><td>{}</td>", Escaped(curve.name()), curve.positions)?;
        match curve.split {
            Some(split) => {
                let sure = if split.p_holm < 0.05 { " class=\"sure\"" } else { "" };
                write!(
                    page,
                    "<td{sure}>{:.4}</td><td>{:.4}</td><td>{:.4}</td>",
                    split.distance, split.noise, split.shift
                )?;
                write!(page, "<td>{:.4}</td><td>{:.4}</td>", split.p, split.p_holm)?;
            }
            None => write!(page, "<td></td><td></td><td></td><td></td><td></td>")?,
        }
        writeln!(page, "<td>{}</td><td>{}</td></tr>", curve.monotone.falls, curve.monotone.sure_falls)?;
    }
    writeln!(page, "</tbody></table></div>")
}

fn compared(page: &mut String, comparison: &Comparison) -> fmt::Result {
    let [one, two] = &comparison.names;
    writeln!(page, "<h2>{} less {}</h2>", Escaped(two), Escaped(one))?;
    writeln!(
        page,
        "<p class=\"note\">{} common positions, {} of one only.</p>",
        comparison.positions, comparison.unpaired
    )?;
    writeln!(
        page,
        "<div class=\"wide\"><table>\n<thead><tr><th>metric</th><th>difference</th><th>p</th></tr></thead>\n<tbody>"
    )?;
    for difference in &comparison.differences {
        let sure = if difference.p < 0.05 { " class=\"sure\"" } else { "" };
        let Measured { metric, value } = difference.more;
        writeln!(
            page,
            "<tr><th scope=\"row\">{}</th><td{sure}>{value:.4}</td><td>{:.4}</td></tr>",
            Escaped(metric.name),
            difference.p
        )?;
    }
    writeln!(page, "</tbody></table></div>")
}

/// A text that shows as it is.
struct Escaped<T>(T);

impl<T: Display> Display for Escaped<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for c in self.0.to_string().chars() {
            match c {
                '<' => f.write_str("&lt;")?,
                '>' => f.write_str("&gt;")?,
                '&' => f.write_str("&amp;")?,
                '"' => f.write_str("&quot;")?,
                c => f.write_char(c)?,
            }
        }
        Ok(())
    }
}
