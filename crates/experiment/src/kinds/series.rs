//! `kind = "series"`: several matches or tournaments, each with its own players, number of pairs and budget.

use std::collections::BTreeSet;

use anqi_lab::{Plan, PlanFile, SeedText};
use anqi_rules::excerpt;
use anqi_stats::Outcomes;
use serde::{Deserialize, Serialize};

use super::games;
use super::matches::{MatchRow, PrintedMatch, measured_facts, printed_facts, results};
use super::source::is_name;
use crate::facts::Facts;
use crate::kind::{ExperimentKind, Told, Work};
use crate::section::Section;
use crate::sheet::{check_version, read_keys};
use crate::{Experiment, ExperimentError, RAW, Run, SheetError};

/// Matches with names.
#[derive(Debug)]
struct Series {
    matches: Vec<(String, Plan)>,
}

/// The keys of a plan. Those of all matches may be given once, beside their list.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SeriesFile {
    version: u32,
    #[serde(skip_serializing_if = "Option::is_none")]
    rules: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<SeedText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pairs: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    budget: Option<String>,
    matches: Vec<toml::Table>,
}

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    let file: SeriesFile = read_keys(table)?;
    check_version(file.version)?;
    let mut matches = Vec::new();
    for mut table in file.matches {
        let name = match table.remove("name") {
            Some(toml::Value::String(name)) if is_name(&name) => name,
            Some(name) => {
                let text = excerpt(&name.to_string());
                return Err(SheetError::value("name", format!("{text} is not a name of letters, digits, - and _")));
            }
            None => return Err(SheetError::value("matches", "one has no name")),
        };
        let mut plan: PlanFile = read_keys(table)?;
        // Texts in a plan of version 2 mean what they mean today.
        plan.version = PlanFile::TODAY;
        plan.event = plan.event.or_else(|| Some(name.clone()));
        plan.rules = plan.rules.or_else(|| file.rules.clone());
        plan.seed = plan.seed.or_else(|| file.seed.clone());
        plan.pairs = plan.pairs.or(file.pairs);
        plan.budget = plan.budget.or_else(|| file.budget.clone());
        let plan = Plan::new(&plan).map_err(|error| SheetError::value(format!("match {name:?}"), error))?;
        matches.push((name, plan));
    }
    Series::new(matches).map(|series| Box::new(series) as Box<dyn ExperimentKind>)
}

impl Series {
    /// Names tell the matches apart, and pairings the rows.
    fn new(matches: Vec<(String, Plan)>) -> Result<Series, SheetError> {
        let names: Vec<String> = matches.iter().map(|(name, _)| name.clone()).collect();
        SheetError::check_list("matches", &names)?;
        let mut met = BTreeSet::new();
        for (_, plan) in &matches {
            for pairing in plan.pairings() {
                let mut both = pairing.map(|player| plan.contenders()[player].name.as_str());
                both.sort_unstable();
                if !met.insert(both) {
                    return Err(SheetError::Twice { key: "pairings", name: both.join(" v ") });
                }
            }
        }
        Ok(Series { matches })
    }
}

impl ExperimentKind for Series {
    fn text(&self) -> Result<String, toml::ser::Error> {
        let table = |(name, plan): &(String, Plan)| {
            let mut table = toml::Table::try_from(plan.to_file())?;
            table.insert("name".to_owned(), name.clone().into());
            Ok(table)
        };
        let matches = self.matches.iter().map(table).collect::<Result<_, toml::ser::Error>>()?;
        toml::to_string(&SeriesFile { version: 2, rules: None, seed: None, pairs: None, budget: None, matches })
    }

    fn size(&self) -> String {
        let games: u64 = self.matches.iter().map(|(_, plan)| 2 * plan.count()).sum();
        format!("{} matches, {games} games", self.matches.len())
    }

    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        let plan = |(name, plan): &(String, Plan)| Ok((name.clone(), games::with_pairs(plan, count)?));
        let matches = self.matches.iter().map(plan).collect::<Result<_, SheetError>>()?;
        Ok(Box::new(Series::new(matches)?))
    }

    fn names(&self) -> Facts {
        let rows: Vec<MatchRow> = self.matches.iter().flat_map(|(_, plan)| MatchRow::drawn(plan)).collect();
        measured_facts(&rows)
    }

    fn is_finished(&self, run: &Run) -> bool {
        run.dir.join(RAW).is_file()
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        let mut rows = Vec::new();
        for (name, plan) in &self.matches {
            let dir = run.work_dir()?.join(name);
            let Some(journal) = games::play(plan, &dir, work)? else { return Ok(false) };
            games::write_records(&journal, &run.dir.join(format!("{name}.anqi.zst")))?;
            rows.extend(MatchRow::all(&journal)?);
        }
        run.write_raw(&rows)?;
        Ok(true)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        let mut rows = Vec::new();
        if self.is_finished(run) {
            rows = run.match_rows()?;
        } else {
            for (name, _) in &self.matches {
                if let Some(journal) = games::played(&run.dir.join("work").join(name))? {
                    rows.extend(MatchRow::all(&journal)?);
                }
            }
        }
        let printed = experiment.published::<PrintedMatch>()?;
        let played: u64 = rows.iter().map(|row| row.pairs().total()).sum();
        let all: u64 = self.matches.iter().map(|(_, plan)| plan.count()).sum();
        let line = |(name, plan): &(String, Plan)| {
            let budget = |player: usize| plan.budget_of(player).to_string();
            let players = plan.contenders().iter().enumerate();
            let players: Vec<String> = players.map(|(player, one)| format!("`{one}` {}", budget(player))).collect();
            vec![name.clone(), plan.rules().to_string(), plan.seed().to_string()[..8].to_owned(), players.join("<br>")]
        };
        let said = "Score: a draw is half a point; intervals are 95 %.".to_owned();
        let lines = self.matches.iter().map(line).collect();
        Ok(Told {
            measured: (played as usize, all as usize, "pairs of games"),
            printed: printed_facts(&printed),
            facts: measured_facts(&rows),
            sections: vec![
                Section { before: said, ..results(&rows, &printed) },
                Section::table("Matches", &["match", "rules", "seed", "players and budgets"], lines),
            ],
            ..Told::default()
        })
    }
}
