//! `Series`: the values of one search, and where they come from: records that are valued now, comments, files of values.

use std::collections::BTreeMap;
use std::path::PathBuf;

use anqi_play::Budget;
use anqi_records::{FileError, read_files};
use anqi_rules::{Rules, Seed};
use anqi_stats::Grouped;

use crate::assessment::Assessment;
use crate::comparison::Comparison;
use crate::method::Method;
use crate::only::Only;
use crate::positions::{ChosenPosition, Positions};
use crate::prove::{Prover, prove};
use crate::report::Report;
use crate::sample::{NotANumber, Sample, Samples};
use crate::settings::Settings;
use crate::skipped::Skipped;
use crate::valuer::{Valuer, WorkError};
use crate::values::ValuesFile;
use crate::winners::Proofs;

/// The values of one search.
#[derive(Clone, PartialEq, Debug)]
pub struct Series {
    /// What it is called.
    pub name: String,
    /// The values.
    pub samples: Samples,
}

/// Which positions of which games are looked at.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct Selection {
    /// Judge by these rules, whatever the records say.
    pub rules: Option<Rules>,
    /// So many positions of a game; all if not given.
    pub per_game: Option<u32>,
    /// Only positions that all of these admit.
    pub only: Vec<Only>,
    /// Only the first so many games; all if not given.
    pub games: Option<u64>,
    /// Where random choices come from.
    pub seed: u64,
}

/// What there is in records.
#[derive(Clone, Debug, Default)]
pub struct Collected {
    /// The positions to be valued.
    pub places: Vec<ChosenPosition>,
    /// All positions of their games, if results are to be proven.
    pub all: Vec<ChosenPosition>,
    /// How many records there were.
    pub games: u64,
    /// What was left out.
    pub skipped: Skipped,
}

impl Selection {
    /// How positions are chosen out of the games of `kind`.
    #[must_use]
    pub fn positions(&self, from_comments: bool) -> Positions {
        Positions {
            rules: self.rules,
            per_game: self.per_game,
            only: self.only.clone(),
            seed: Seed::from(self.seed).child("positions"),
            from_comments,
        }
    }

    /// Reads records, and counts what cannot be used. With `everything`, all positions of the games that have one to be
    /// valued are collected, too.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub fn collect(&self, files: &[PathBuf], from_comments: bool, everything: bool) -> Result<Collected, FileError> {
        let wanted = self.positions(from_comments);
        let all = Positions { per_game: None, only: Vec::new(), from_comments: false, ..self.positions(false) };
        let mut collected = Collected::default();
        for found in read_files(files) {
            let (source, record) = found?;
            if self.games.is_some_and(|most| collected.games >= most) {
                break;
            }
            collected.games += 1;
            let (game, source, skipped) = (collected.games, source.to_string(), &mut collected.skipped);
            match record {
                Ok(record) => {
                    let Some(followed) = wanted.follow(game, &record, &source, skipped) else { continue };
                    let found = wanted.choose_from(&followed, &source, skipped);
                    if everything && !found.is_empty() {
                        collected.all.extend(all.choose_from(&followed, &source, &mut Skipped::default()));
                    }
                    collected.places.extend(found);
                }
                Err(damage) => skipped.add("damaged record", || format!("{source}: {damage}")),
            }
        }
        Ok(collected)
    }
}

/// A method and its own budget if it has one, as the command line gives them.
#[derive(Clone, PartialEq, Debug)]
pub struct SearchSpec {
    /// Who values positions.
    pub method: Method,
    /// How much it may think about each.
    pub budget: Option<Budget>,
}

impl SearchSpec {
    /// `METHOD BUDGET`.
    #[must_use]
    pub fn name(&self) -> String {
        self.budget.map_or_else(|| self.method.to_string(), |budget| format!("{} {budget}", self.method))
    }

    /// Every search with its own budget, or with every budget that means something to it.
    ///
    /// # Errors
    /// If a player has none.
    pub fn with_budgets(searches: &[SearchSpec], budgets: &[Budget]) -> Result<Vec<SearchSpec>, WorkError> {
        let mut all = Vec::new();
        for search in searches {
            let Method::Player(spec) = &search.method else {
                all.push(SearchSpec { budget: None, ..search.clone() });
                continue;
            };
            // Playouts for those who play them out, nodes and depth for the others.
            let meant = |budget: &&Budget| {
                budget.limits.playouts.is_some() == spec.plays_out() && spec.is_bounded_by(&budget.limits)
            };
            let fitting: Vec<Budget> = match search.budget {
                Some(own) => vec![own],
                None => budgets.iter().filter(meant).copied().collect(),
            };
            if fitting.is_empty() {
                return Err(WorkError::NoBudget { player: spec.to_string(), plays_out: spec.plays_out() });
            }
            all.extend(fitting.into_iter().map(|budget| SearchSpec { budget: Some(budget), ..search.clone() }));
        }
        Ok(all)
    }
}

/// Records to be valued, and how.
#[derive(Clone, Debug)]
pub struct Records<'a> {
    /// The files.
    pub files: &'a [PathBuf],
    /// Which positions.
    pub selection: &'a Selection,
    /// The searches that value them; empty for the values that the records hold in their comments.
    pub searches: &'a [SearchSpec],
    /// What may correct results.
    pub provers: &'a [Prover],
}

/// The values of records.
#[derive(Clone, Debug)]
pub struct Valued {
    /// One for each search.
    pub series: Vec<Series>,
    /// How many records were read.
    pub games: u64,
    /// How many positions were looked at.
    pub positions: u64,
    /// What was proven, if that was asked for.
    pub proofs: Option<Proofs>,
    /// What was left out.
    pub skipped: Skipped,
}

impl Records<'_> {
    /// Collects positions, proves results and values the positions.
    ///
    /// # Errors
    /// If records cannot be read, there are no positions, values cannot be worked out, or it is told to stop.
    pub fn value(&self, valuer: &mut Valuer<'_>) -> Result<Valued, WorkError> {
        let from_comments = self.searches.is_empty();
        // A mistyped name costs no time.
        self.searches.iter().try_for_each(|search| valuer.open(&search.method))?;
        let collected = self.selection.collect(self.files, from_comments, !self.provers.is_empty())?;
        let Collected { mut places, all, games, mut skipped } = collected;
        if places.is_empty() {
            let found = format!("no positions in {} games", Grouped(games));
            return Err(WorkError::Nothing { found, left_out: skipped.to_string() });
        }
        let proofs = match self.provers {
            [] => None,
            provers => Some(prove(provers, &mut places, &all, valuer)?),
        };
        let series = if from_comments {
            commented(&places, &mut skipped)
        } else {
            let (asked, mut series): (Vec<&ChosenPosition>, _) = (places.iter().collect(), Vec::new());
            for search in self.searches {
                let name = search.name();
                let values = valuer.values(&asked, &search.method, search.budget, &name)?;
                let mut samples = Samples::default();
                for (place, value) in places.iter().zip(values) {
                    match value {
                        Ok(value) => samples.push(place.sample(value))?,
                        Err(reason) => skipped.add(&format!("position that {name} did not value"), || {
                            format!("game {}, ply {}: {reason}", place.game, place.ply)
                        }),
                    }
                }
                series.push(Series { name, samples });
            }
            series
        };
        Ok(Valued { series, games, positions: places.len() as u64, proofs, skipped })
    }
}

impl ChosenPosition {
    /// The place with a value.
    #[must_use]
    pub fn sample(&self, value: f64) -> Sample {
        Sample {
            game: self.game.to_string(),
            ply: self.ply,
            value,
            result: self.result,
            tags: self.tags.iter().map(|(name, word)| ((*name).to_owned(), word.clone())).collect(),
        }
    }
}

/// The values that the records hold themselves, a series for each player who said them.
fn commented(places: &[ChosenPosition], skipped: &mut Skipped) -> Vec<Series> {
    let mut series: BTreeMap<String, Samples> = BTreeMap::new();
    for place in places {
        let Some((who, value)) = &place.comment else { continue };
        if series.entry(who.clone()).or_default().push(place.sample(*value)).is_err() {
            skipped.add("value that is not a number", || format!("game {}, ply {}", place.game, place.ply));
        }
    }
    series.into_iter().map(|(name, samples)| Series { name, samples }).collect()
}

impl Series {
    /// The values of files, divided by their tag `method`, and what was left out.
    ///
    /// # Errors
    /// If a file cannot be read, or there are no values.
    pub fn from_files(files: &[PathBuf]) -> Result<(Vec<Series>, Skipped), WorkError> {
        let (mut series, mut skipped) = (Vec::new(), Skipped::default());
        for path in files {
            let shown = path.display().to_string();
            let file = ValuesFile::read(path).map_err(|error| WorkError::Values { file: shown.clone(), error })?;
            skipped.extend(&file.skipped);
            let samples = file.samples;
            let stem = path.file_stem().map_or(shown, |stem| stem.to_string_lossy().into_owned());
            let Some(methods) = samples.tag("method") else {
                series.push(Series { name: stem, samples });
                continue;
            };
            let mut places: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
            for (index, &code) in methods.codes().iter().enumerate() {
                places.entry(code).or_default().push(index);
            }
            for (code, places) in places {
                let name = methods.distinct()[code as usize].clone();
                series.push(Series { name, samples: samples.select(&places) });
            }
        }
        if series.iter().all(|series| series.samples.is_empty()) {
            let found = format!("no values in {} files", files.len());
            return Err(WorkError::Nothing { found, left_out: skipped.to_string() });
        }
        Ok((series, skipped))
    }

    /// All series as one, told apart by the tag `method`.
    ///
    /// # Errors
    /// If a value is not a number.
    pub fn together(all: &[Series]) -> Result<Samples, NotANumber> {
        let mut together = Samples::default();
        for series in all {
            for mut sample in series.samples.iter() {
                sample.tags.retain(|(name, _)| name != "method");
                sample.tags.push(("method".to_owned(), series.name.clone().into()));
                together.push(sample)?;
            }
        }
        Ok(together)
    }
}

impl Report {
    /// Everything that series say, alone and side by side: each with the one before it, and with the first.
    ///
    /// # Errors
    /// If one of them cannot be assessed.
    pub fn of(
        series: &[Series],
        settings: &Settings,
        facts: Vec<(String, String)>,
        skipped: Skipped,
    ) -> Result<Report, WorkError> {
        let assess = |series: &Series| {
            Assessment::new(&series.name, &series.samples, settings)
                .map_err(|error| WorkError::Assess { name: series.name.clone(), error })
        };
        let assessments = series.iter().map(assess).collect::<Result<Vec<_>, _>>()?;
        let mut pairs: Vec<[usize; 2]> = (1..series.len()).flat_map(|next| [[next - 1, next], [0, next]]).collect();
        pairs.dedup();
        let compare = |&[one, two]: &[usize; 2]| {
            let (one, two) = (&series[one], &series[two]);
            Comparison::new([&one.name, &two.name], [&one.samples, &two.samples], settings)
        };
        // Searches without common positions are not compared.
        let comparisons = pairs.iter().filter_map(|pair| compare(pair).ok()).collect();
        Ok(Report {
            schema: Report::SCHEMA,
            title: "Search methods by game records".to_owned(),
            facts,
            proofs: None,
            skipped,
            draws: settings.draws,
            assessments,
            comparisons,
        })
    }
}
