//! `kind = "records"`: archived games replayed by several readings of the rules; a row for each reading.

use std::path::PathBuf;

use anqi_records::{EndingCheck, GameResult, replay_files};
use anqi_rules::Rules;
use anqi_stats::Grouped;
use serde::{Deserialize, Serialize};

use super::expected::Expected;
use super::source::Source;
use crate::facts::{Facts, Quantity, share};
use crate::kind::{ExperimentKind, Told, Work};
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError, read_table};

/// The keys of a plan.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordsPlan {
    version: u32,
    /// The games.
    records: Source,
    /// By which rules they are replayed.
    rules: Vec<String>,
    /// Only the first so many games; all by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    games: Option<u64>,
    /// A file beside the plan with the rows that must come out; none by default.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expected: Option<String>,
}

/// What the rules say of all games.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct RecordsRow {
    /// By which rules, as the plan says it.
    rules: String,
    /// Games that were replayed.
    games: u64,
    /// Games that end as they were recorded.
    as_played: u64,
    /// Games that end earlier.
    earlier: u64,
    /// Those of them that had been won.
    earlier_won: u64,
    /// Games that the rules do not let end, or end otherwise at the last ply.
    otherwise: u64,
    /// Games with a ply that the rules refuse.
    illegal: u64,
    /// Records that cannot be read or replayed.
    damaged: u64,
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    RecordsPlan::new(read_keys(table)?).map(|plan| Box::new(plan) as Box<dyn ExperimentKind>)
}

impl RecordsPlan {
    fn new(plan: RecordsPlan) -> Result<RecordsPlan, SheetError> {
        check_version(plan.version)?;
        plan.records.check()?;
        SheetError::check_list("rules", &plan.rules)?;
        for text in &plan.rules {
            text.parse::<Rules>().map_err(|error| SheetError::value("rules", error))?;
        }
        if plan.games == Some(0) {
            return Err(SheetError::Range { key: "games", found: 0, expected: "at least one" });
        }
        Ok(plan)
    }

    fn row(&self, files: &[PathBuf], rules: &str, work: &mut Work<'_>) -> Result<Option<RecordsRow>, ExperimentError> {
        let failed =
            |error: &dyn std::fmt::Display| ExperimentError::Work { name: rules.to_owned(), error: error.to_string() };
        let by: Rules = rules.parse().map_err(|error: anqi_rules::RulesError| failed(&error))?;
        let mut row = RecordsRow { rules: rules.to_owned(), ..RecordsRow::default() };
        for replayed in replay_files(files, Some(by)) {
            if self.games.is_some_and(|most| row.games + row.damaged >= most) {
                break;
            }
            if work.stop.is_raised() {
                return Ok(None);
            }
            let Ok((_, replay)) = replayed.map_err(|error| failed(&error))?.1 else {
                row.damaged += 1;
                continue;
            };
            row.games += 1;
            // A ply after the end that these rules see is no illegal one.
            row.illegal += u64::from(replay.illegal.is_some() && replay.board_ending.is_none());
            match replay.ending {
                EndingCheck::Differs { result, .. } if replay.unplayed > 0 && replay.board_ending.is_some() => {
                    row.earlier += 1;
                    row.earlier_won += u64::from(matches!(result, GameResult::Won(_)));
                }
                EndingCheck::Differs { .. } => row.otherwise += 1,
                EndingCheck::Equal => row.as_played += 1,
                EndingCheck::Unstated => {}
            }
        }
        Ok(Some(row))
    }

    fn rows(run: &Run) -> Result<Vec<RecordsRow>, ExperimentError> {
        let path = run.dir.join(RAW);
        if path.exists() { read_table(&path) } else { Ok(Vec::new()) }
    }
}

impl ExperimentKind for RecordsPlan {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self)
    }

    fn size(&self) -> String {
        let games = self.games.map_or("all games".to_owned(), |games| format!("{games} games"));
        format!("{games} by {} rules", self.rules.len())
    }

    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let records = self.records.with_games(count);
        // Fewer games give other numbers.
        let smaller = RecordsPlan { games: Some(count), records, expected: None, ..self.clone() };
        Ok(Box::new(RecordsPlan::new(smaller)?))
    }

    fn inputs(&self) -> Vec<&str> {
        self.records.input().into_iter().collect()
    }

    fn is_finished(&self, run: &Run) -> bool {
        RecordsPlan::rows(run).is_ok_and(|rows| rows.len() == self.rules.len())
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let Some(file) = self.records.obtain("records", run, work)? else { return Ok(false) };
        let mut rows = RecordsPlan::rows(run)?;
        let found = rows.len();
        for rules in &self.rules {
            if rows.iter().any(|row| row.rules == *rules) {
                continue;
            }
            let Some(row) = self.row(std::slice::from_ref(&file), rules, work)? else { return Ok(false) };
            rows.push(row);
            run.write_raw(&rows)?;
            work.show("rules", [rows.len(), found, self.rules.len()], rules);
        }
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        const COLUMNS: [&str; 7] =
            ["rules", "games", "end as played", "end earlier", "of those won", "end otherwise", "damaged or illegal"];
        let rows = RecordsPlan::rows(run)?;
        let mut facts = Facts::default();
        for row in &rows {
            if let Some(number) = share(row.earlier, row.games) {
                facts.add(Quantity::Earlier, row.rules.clone(), number);
            }
        }
        let line = |row: &RecordsRow| {
            let counts =
                [row.games, row.as_played, row.earlier, row.earlier_won, row.otherwise, row.damaged + row.illegal];
            let counts = counts.map(|count| Grouped(count).to_string());
            [format!("`{}`", row.rules)].into_iter().chain(counts).collect()
        };
        let mut sections = vec![Section::table("Endings", &COLUMNS, rows.iter().map(line).collect())];
        if let Some(name) = &self.expected {
            let measured = run.raw_text()?;
            sections.extend(Expected::compare(&experiment.dir.join(name), &measured, 1)?.map(|it| it.section(name)));
        }
        Ok(Told { measured: (rows.len(), self.rules.len(), "rules"), facts, sections, ..Told::default() })
    }
}
