//! The findings of an experiment in Markdown: claims and their judgement, printed and measured numbers side by side, with
//! 95 % intervals.
//!
//! A printed number *agrees* with ours if their difference is within the 95 % interval of such a difference: both come
//! from a limited number of games, and printed ones are rounded, too.

use std::fmt::Write as _;

use anqi_experiment::{Claim, Findings, Judged, Section, SectionTable, after_holm, p_value};

/// The name of the file that the Markdown expects a figure in, counted from 1.
#[must_use]
pub fn figure_file(number: usize) -> String {
    format!("figure-{number}.svg")
}

/// Everything that a run found in words and tables; figures are images called [`figure_file`].
#[must_use]
pub fn experiment_markdown(findings: &Findings) -> String {
    let Findings {
        experiment, run, question, readings, measured: (done, all, what), claims, figures, sections, ..
    } = findings;
    let mut text = format!("# {experiment}: run {run}\n\n{question}\n\n");
    if let Some(readings) = readings {
        let _ = writeln!(text, "Readings: {readings}\n");
    }
    if done < all {
        let _ = writeln!(text, "**Not finished: {done} of {all} {what}.**\n");
    }
    write_claims(&mut text, claims);
    if !figures.is_empty() {
        text += "## Figures\n\n";
    }
    for (place, figure) in figures.iter().enumerate() {
        let _ = writeln!(text, "![{}]({})\n", figure.title, figure_file(place + 1));
    }
    sections.iter().for_each(|section| write_section(&mut text, section));
    text
}

fn write_section(text: &mut String, Section { title, before, table, after }: &Section) {
    if !title.is_empty() {
        let _ = writeln!(text, "## {title}\n");
    }
    if !before.is_empty() {
        let _ = writeln!(text, "{before}\n");
    }
    if let Some(table) = table {
        write_table(text, table);
    }
    if !after.is_empty() {
        let _ = writeln!(text, "{after}\n");
    }
}

fn write_table(text: &mut String, SectionTable { columns, rows }: &SectionTable) {
    let line = |cells: &[String]| {
        let cells: Vec<String> = cells.iter().map(|cell| cell.replace('|', "\\|")).collect();
        format!("| {} |\n", cells.join(" | "))
    };
    let _ = writeln!(text, "{}|{}", line(columns), "---|".repeat(columns.len()));
    rows.iter().for_each(|row| *text += &line(row));
    text.push('\n');
}

fn write_claims(text: &mut String, claims: &[(Claim, Judged, Judged)]) {
    if claims.is_empty() {
        return;
    }
    // A claim that is alone is not judged otherwise among all.
    let several = claims.iter().filter(|(_, _, here)| here.evidence.is_some()).count() > 1;
    let (names, lines) = if several { (" p | verdict | together |", "---|---|---|") } else { (" verdict |", "---|") };
    let _ = writeln!(
        text,
        "## Claims\n\n| claim | where | printed numbers | measured numbers |{names}\n|---|---|---|---|{lines}"
    );
    let measured: Vec<&Judged> = claims.iter().map(|(_, _, here)| here).collect();
    for ((Claim { says, place, .. }, there, here), together) in claims.iter().zip(after_holm(&measured)) {
        let there = match there.reason.as_str() {
            "–" => "–".to_owned(),
            reason => format!("{reason} ({})", there.judgement),
        };
        let (reason, alone) = (&here.reason, here.judgement);
        let _ = write!(text, "| {says} | {place} | {there} | {reason} |");
        let _ = if several {
            let p = here.evidence.map_or("–".to_owned(), |evidence| p_value(evidence.p));
            writeln!(text, " {p} | **{alone}** | {together} |")
        } else {
            writeln!(text, " **{alone}** |")
        };
    }
    *text += "\nConfirmed: the whole 95 % interval is on the side of the claim; refuted: it is on the other side; \
              open: neither.";
    if several {
        *text += " Together: the same if all claims of this table are looked at, by Holm's method, so that the chance of any \
                  wrong verdict is at most 5 %.";
    }
    *text += "\n\n";
}
