//! Assessments and fits of weights as text for a terminal.

use std::fmt::{self, Write as _};

use anqi_assess::{Assessment, Curve, Report, Scale, Split, Tuned};
use anqi_stats::Grouped;

use crate::assessment::{TABLES, shown};

/// An assessment.
#[must_use]
pub fn assessment_text(report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_assessment(&mut text, report);
    text
}

/// New weights, and what they change; `report` has the curves before and after.
#[must_use]
pub fn tuned_text(tuned: &Tuned, report: &Report) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_tuned(&mut text, tuned, report);
    text
}

fn write_assessment(text: &mut String, report: &Report) -> fmt::Result {
    let width = report.assessments.iter().map(|a| a.name.chars().count()).max().unwrap_or(0).max(6);
    for Assessment { name, positions, games, dropped_draws, clamped, limit, scale, base_rate, .. } in
        &report.assessments
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
    if let Some(proofs) = &report.proofs {
        write!(text, "{proofs}")?;
    }
    for (title, names) in TABLES {
        writeln!(text, "\n{title}")?;
        write!(text, "{:<width$}", "method")?;
        names.iter().try_for_each(|name| write!(text, " {name:>15}"))?;
        writeln!(text)?;
        for assessment in &report.assessments {
            write!(text, "{:<width$}", assessment.name)?;
            for value in names.iter().filter_map(|name| assessment.metric(name)) {
                write!(text, " {:>15}", shown(value))?;
            }
            writeln!(text)?;
        }
    }
    let split = |curve: &&Curve| curve.split.is_some_and(|split| split.p_holm < 0.05);
    if report.assessments.iter().any(|assessment| assessment.curves.iter().any(|curve| split(&curve))) {
        writeln!(text, "\nCurves that split (p < 0.05 after Holm), the farthest first")?;
        for assessment in &report.assessments {
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
    for comparison in &report.comparisons {
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
    if !report.skipped.is_empty() {
        write!(text, "\nLeft out\n{}", report.skipped)?;
    }
    Ok(())
}

fn write_tuned(text: &mut String, tuned: &Tuned, report: &Report) -> fmt::Result {
    writeln!(
        text,
        "{} positions of {} games learnt from, {} positions of {} games held out\n",
        Grouped(tuned.positions as u64),
        Grouped(tuned.games as u64),
        Grouped(tuned.held_out_positions as u64),
        Grouped(tuned.held_out_games as u64)
    )?;
    write!(text, "{:<14} {:>8}", tuned.eval, "before")?;
    tuned.fits.iter().try_for_each(|row| write!(text, " {:>18}", row.fit.loss.to_string()))?;
    writeln!(text)?;
    for (place, name) in tuned.names.iter().enumerate() {
        write!(text, "{name:<14} {:>8}", tuned.start[place])?;
        for row in &tuned.fits {
            write!(text, " {:>18}", format!("{:.0}", row.fit.weights[place]))?;
        }
        writeln!(text)?;
    }
    for row in &tuned.fits {
        write!(
            text,
            "\n{}: log loss {:.5} → {:.5}, Brier {:.5} → {:.5} on the games held out",
            row.fit.loss, row.before.log_loss, row.after.log_loss, row.before.brier, row.after.brier
        )?;
        if let Some(gain) = row.gain {
            write!(text, "; log loss smaller by {:.5} [{:.5}, {:.5}]", gain.value, gain.low, gain.high)?;
        }
    }
    writeln!(text, "\n\nMean distance of conditioned curves from the total curve, and what noise would make")?;
    for assessment in &report.assessments {
        let splits: Vec<_> =
            assessment.curves.iter().filter_map(|curve| Some((curve.positions as f64, curve.split?))).collect();
        let all: f64 = splits.iter().map(|(positions, _)| positions).sum();
        let mean = |part: &dyn Fn(&Split) -> f64| {
            splits.iter().map(|(positions, split)| positions / all * part(split)).sum::<f64>()
        };
        writeln!(
            text,
            "{:<8} {:.4} (noise {:.4}), {} of {} curves split",
            assessment.name,
            mean(&|split| split.distance),
            mean(&|split| split.noise),
            splits.iter().filter(|(_, split)| split.p_holm < 0.05).count(),
            splits.len()
        )?;
    }
    for checked in tuned.check.iter().flatten() {
        writeln!(text, "\n{} against {}\n{}", checked.players[0], checked.players[1], checked.block)?;
        writeln!(text, "sign test over decided games: p = {:.4}", checked.p)?;
    }
    if let Some(proofs) = &tuned.proofs {
        write!(text, "\n{proofs}")?;
    }
    if !tuned.skipped.is_empty() {
        write!(text, "\nLeft out\n{}", tuned.skipped)?;
    }
    Ok(())
}
