//! `kind = "endings"`: what Chen et al. say about endings, tested over all placements; a row for each statement and draw rule.

use anqi_endgame::{Examination, Finding, Statement, Unit};
use anqi_store::read_text;
use serde::{Deserialize, Serialize};

use super::expected::Expected;
use crate::kind::{ExperimentKind, Told, Work};
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, MOST_TABLE_BYTES, RAW, Run, SheetError, io_error, read_table};

/// The keys of a plan. `claims.csv` beside it is what must come out.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndingsPlan {
    version: u32,
    /// Statements about endings of any size are tested up to so many pieces.
    pieces: u32,
    /// Quiet plies after which the game is drawn, where there is a draw rule.
    draw: u16,
}

/// How often a statement holds under one draw rule.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct EndingsRow {
    statement: String,
    /// The draw rule, or `none`.
    draw: String,
    /// `positions` or `placements`.
    unit: String,
    cases: u64,
    holds: u64,
    /// How it fails: a count and what happens instead, the most frequent first, with `; ` between them.
    exceptions: String,
}

const EXPECTED: &str = "claims.csv";

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    EndingsPlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

impl EndingsPlan {
    fn new(plan: EndingsPlan) -> Result<EndingsPlan, SheetError> {
        check_version(plan.version)?;
        if !(2..=Examination::MOST_PIECES).contains(&plan.pieces) {
            return Err(SheetError::Range { key: "pieces", found: plan.pieces.into(), expected: "2 to 4" });
        }
        if plan.draw == 0 {
            return Err(SheetError::Range { key: "draw", found: 0, expected: "at least one quiet ply" });
        }
        Ok(plan)
    }
}

impl EndingsRow {
    fn all(statement: &Statement) -> impl Iterator<Item = EndingsRow> + '_ {
        statement.findings.iter().map(|finding| EndingsRow::new(statement, finding))
    }

    fn new(statement: &Statement, finding: &Finding) -> EndingsRow {
        let mut exceptions: Vec<(u64, &str)> =
            finding.exceptions.iter().map(|(what, exceptions)| (exceptions.count, what.as_str())).collect();
        exceptions.sort_by_key(|&(count, what)| (std::cmp::Reverse(count), what));
        let exceptions: Vec<String> = exceptions.into_iter().map(|(count, what)| format!("{count} {what}")).collect();
        EndingsRow {
            statement: statement.name.to_owned(),
            draw: finding.flavour.draw().map_or("none".to_owned(), |draw| draw.to_string()),
            unit: match statement.unit {
                Unit::Positions => "positions",
                Unit::Placements => "placements",
            }
            .to_owned(),
            cases: finding.cases,
            holds: finding.holds,
            exceptions: exceptions.join("; "),
        }
    }

    fn cells(&self) -> Vec<String> {
        let name = format!("`{}`", self.statement);
        let holds = format!("{} of {} {}", self.holds, self.cases, self.unit);
        vec![name, self.draw.clone(), holds, self.exceptions.clone()]
    }
}

impl ExperimentKind for EndingsPlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    fn size(&self) -> String {
        format!("{} statements about endings of up to {} pieces", Examination::names().count(), self.pieces)
    }

    /// Endings of fewer pieces.
    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let pieces = u32::try_from(count).unwrap_or(u32::MAX);
        Ok(Box::new(EndingsPlan::new(EndingsPlan { pieces, ..self.clone() })?))
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.dir.join(RAW).is_file()
    }

    /// All at once: it takes seconds.
    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        if self.is_finished(run) {
            return Ok(true);
        }
        if work.stop.is_raised() {
            return Ok(false);
        }
        let examination = Examination { pieces: self.pieces, draw: self.draw, show: 0, threads: work.threads };
        let statements = examination
            .run(|_| true)
            .map_err(|error| ExperimentError::Work { name: "endings".to_owned(), error: error.to_string() })?;
        let rows: Vec<EndingsRow> = statements.iter().flat_map(EndingsRow::all).collect();
        run.write_raw(&rows)?;
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let all = 2 * Examination::names().count();
        if !self.is_finished(run) {
            return Ok(Told { measured: (0, all, "rows"), ..Told::default() });
        }
        let path = run.dir.join(RAW);
        let rows: Vec<EndingsRow> = read_table(&path)?;
        let table = rows.iter().map(EndingsRow::cells).collect();
        let mut told = Told { measured: (rows.len(), all, "rows"), ..Told::default() };
        told.sections.push(Section {
            before: "What each statement says is printed by `anqi endgame claims NAME`.".to_owned(),
            ..Section::table("Statements", &["statement", "draw rule", "holds in", "otherwise"], table)
        });
        let text = read_text(&path, MOST_TABLE_BYTES).map_err(|error| io_error(&path, error))?;
        let compared = Expected::compare(&experiment.dir.join(EXPECTED), &text, 2)?;
        told.sections.extend(compared.map(|it| it.section(EXPECTED)));
        Ok(told)
    }
}
