//! `Report`: assessments and comparisons, and their tables for programs.

use std::io;

use serde::Serialize;

use crate::assessment::{Assessment, Measured};
use crate::comparison::Comparison;
use crate::settings::Draws;
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

impl Report {
    /// The name under which programs know the format.
    pub const SCHEMA: &'static str = "anqi-assess-1";

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
