//! Weights of an evaluation fitted to game records, and what the new ones change.

use std::io;
use std::path::Path;

use anqi_engine::{Evaluation, WeightsError, play_out_captures};
use anqi_rules::{Position, Seed, excerpt};
use anqi_stats::{Block, Estimate, Games, Grouped, Points, mean_by_group, sign_test};
use anqi_store::{Damage, DamageReason, read_small, seal_object, unseal_object};
use rand_core::Rng;
use serde::{Deserialize, Serialize};

use crate::condition::Condition;
use crate::fit::{Fit, Lessons, Loss, Losses};
use crate::positions::ChosenPosition;
use crate::report::Report;
use crate::sample::Samples;
use crate::series::{Collected, Series};
use crate::settings::{Draws, Scale, Settings};
use crate::skipped::Skipped;
use crate::tag::Tag;
use crate::valuer::WorkError;
use crate::winners::Proofs;

/// What `tune.json` calls itself; before version 2 it had no checksum.
const SCHEMA: &str = "anqi-tune-2";
const UNSEALED: &str = "{\"schema\":\"anqi-tune-1\",";
/// No `tune.json` is longer.
const MOST_BYTES: usize = 16 << 20;

/// What is fitted, and to what.
#[derive(Clone, Debug)]
pub struct Tuning {
    /// Whose weights.
    pub eval: Evaluation,
    /// The weights to begin with.
    pub start: Vec<i32>,
    /// Which of them may change.
    pub free: Vec<bool>,
    /// What is made small.
    pub losses: Vec<Loss>,
    /// Whether captures are played out first.
    pub quiet: bool,
    /// The share of the games that is not learnt from.
    pub held_out: f64,
    /// How often games are resampled for the intervals of weights.
    pub refits: u32,
    /// How the curves before and after are drawn. Its seed is that of all random choices.
    pub settings: Settings,
}

/// Why nothing can be fitted.
#[derive(Debug, thiserror::Error)]
pub enum TuneError {
    /// A name that is no weight of the evaluation.
    #[error("no weight {name:?}, there are: {known}")]
    UnknownWeight {
        /// The name.
        name: String,
        /// The names of all weights.
        known: String,
    },
    /// A share that is none.
    #[error("bad --held-out {0}, expected a share from 0 to less than 1")]
    HeldOut(f64),
    /// Too few positions, or values that cannot be assessed.
    #[error(transparent)]
    Work(#[from] WorkError),
}

/// New weights, and how they do on games that were not learnt from.
#[derive(Clone, Debug, Serialize)]
pub struct Tuned {
    /// `anqi-tune-2`.
    pub schema: &'static str,
    /// What gave these numbers: version, command.
    pub facts: Vec<(String, String)>,
    /// Whose weights.
    pub eval: &'static str,
    /// Their names.
    pub names: &'static [&'static str],
    /// The weights to begin with.
    pub start: Vec<i32>,
    /// Positions that were learnt from.
    pub positions: usize,
    /// Their games.
    pub games: usize,
    /// Positions that were not learnt from.
    pub held_out_positions: usize,
    /// Their games.
    pub held_out_games: usize,
    /// One for each loss.
    pub fits: Vec<Fitted>,
    /// What was proven of results, if that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub proofs: Option<Proofs>,
    /// What was left out.
    pub skipped: Skipped,
    /// Matches between the new weights and the old ones, if they were played.
    pub check: Option<Vec<Checked>>,
}

/// A fit, what it says about games it has not seen, and its weights as players take them.
#[derive(Clone, Debug, Serialize)]
pub struct Fitted {
    /// The fit.
    #[serde(flatten)]
    pub fit: Fit,
    /// The weights as whole numbers.
    pub rounded: Vec<i32>,
    /// The old weights on the games that were not learnt from.
    pub before: Losses,
    /// The new weights on them.
    pub after: Losses,
    /// How much smaller the log loss is, by games.
    pub gain: Option<Estimate>,
}

/// A match of the self-play check.
#[derive(Clone, Debug, Serialize)]
pub struct Checked {
    /// Who played: names of losses, and `before`.
    pub players: [String; 2],
    /// The result.
    pub block: Block,
    /// The paper's test: how often a fair coin divides the decided games as unevenly.
    pub p: f64,
}

impl Checked {
    /// A match with its test.
    #[must_use]
    pub fn new(players: [String; 2], block: Block, games: &Games) -> Checked {
        Checked { players, block, p: sign_test(games.wins(), games.losses()) }
    }
}

impl Tuning {
    /// Which weights of an evaluation may change: those that are named, or all.
    ///
    /// # Errors
    /// If a name is none of a weight.
    pub fn free(eval: Evaluation, wanted: &[String]) -> Result<Vec<bool>, TuneError> {
        let names = eval.weight_names();
        if let Some(name) = wanted.iter().find(|name| !names.contains(&name.as_str())) {
            return Err(TuneError::UnknownWeight { name: excerpt(name), known: names.join(", ") });
        }
        Ok(names.iter().map(|name| wanted.is_empty() || wanted.iter().any(|wanted| wanted == name)).collect())
    }

    /// Fits weights to positions. The report and its series show the curves of the games that were not learnt from, before
    /// and after; `facts` says where all this comes from.
    ///
    /// # Errors
    /// If the share of held out games is none, or there are too few positions.
    pub fn run(
        &self,
        collected: Collected,
        proofs: Option<Proofs>,
        facts: &[(String, String)],
    ) -> Result<(Tuned, Report, Vec<Series>), TuneError> {
        if !(0.0..1.0).contains(&self.held_out) {
            return Err(TuneError::HeldOut(self.held_out));
        }
        let Collected { mut places, games, skipped, .. } = collected;
        places.retain(|place| self.settings.draws != Draws::Drop || place.result != Points::Draw);
        let (mut learnt, mut held, mut seen) = (Lessons::default(), Lessons::default(), Vec::new());
        for place in places {
            let features = self.features(place.start.position());
            let apart = self.is_held_out(place.game);
            let points = place.result.half_points() as f64 / 2.0;
            if !apart {
                learnt.push(place.game, &features, points);
            }
            // With nothing held out, everything is shown as it was learnt.
            if apart || self.held_out == 0.0 {
                held.push(place.game, &features, points);
                seen.push(place);
            }
        }
        if learnt.is_empty() || held.is_empty() {
            let few = "to learn from some and to look at others";
            let found = format!("too few positions in {} games {few}", Grouped(games));
            return Err(WorkError::Nothing { found, left_out: skipped.to_string() }.into());
        }
        let old_slope = learnt.slope(&numbers(&self.start));
        let fits: Vec<Fitted> = self.losses.iter().map(|&loss| self.fit(loss, old_slope, &learnt, &held)).collect();
        let (report, series) = self.curves(&seen, &held, &fits, facts)?;
        let tuned = Tuned {
            schema: SCHEMA,
            facts: facts.to_vec(),
            eval: self.eval.name(),
            names: self.eval.weight_names(),
            start: self.start.clone(),
            positions: learnt.len(),
            games: learnt.game_count(),
            held_out_positions: held.len(),
            held_out_games: held.game_count(),
            fits,
            proofs,
            skipped,
            check: None,
        };
        Ok((tuned, report, series))
    }

    /// How often each weight counts for the player to move, perhaps when captures have been played out.
    fn features(&self, position: &Position) -> Vec<i32> {
        let eval = self.eval;
        if !self.quiet {
            return eval.features(position);
        }
        let end = eval.with(&self.start, |eval| play_out_captures(eval, position).1);
        let mut features = eval.features(&end);
        if end.turn() != position.turn() {
            features.iter_mut().for_each(|feature| *feature = -*feature);
        }
        features
    }

    /// Whether a game is one of those that are not learnt from.
    fn is_held_out(&self, game: u64) -> bool {
        let seed = Seed::from(self.settings.seed).child("held out").child(game.to_string());
        f64::from(seed.rng().next_u32()) < self.held_out * f64::from(u32::MAX)
    }

    fn fit(&self, loss: Loss, old_slope: f64, learnt: &Lessons, held: &Lessons) -> Fitted {
        let (old, seed) = (numbers(&self.start), self.settings.seed);
        let fit = learnt.fit(loss, &old, &self.free, self.refits, seed);
        let rounded: Vec<i32> = fit.weights.iter().map(|weight| weight.value.round() as i32).collect();
        let new = numbers(&rounded);
        let gain = mean_by_group(&held.gain_by_game((&old, old_slope), (&new, fit.slope)), 1000, seed);
        Fitted { before: held.losses(&old, old_slope), after: held.losses(&new, fit.slope), fit, rounded, gain }
    }

    /// Curves of the games that were not learnt from, before and after.
    fn curves(
        &self,
        places: &[ChosenPosition],
        held: &Lessons,
        fits: &[Fitted],
        facts: &[(String, String)],
    ) -> Result<(Report, Vec<Series>), WorkError> {
        let names = self.eval.weight_names();
        let fitted: Vec<usize> = (0..names.len()).filter(|&place| self.free[place]).collect();
        // What was fitted is a condition, too: its curves are those that should move together.
        let tags: Vec<String> = fitted.iter().map(|&place| format!("{} lead", names[place])).collect();
        let columns: Vec<Vec<f64>> = fitted.iter().map(|&place| held.feature(place).collect()).collect();
        let counts: Vec<Vec<f64>> =
            (0..places.len()).map(|index| columns.iter().map(|column| column[index]).collect()).collect();
        let series = |name: &str, weights: &[i32]| -> Result<Series, WorkError> {
            let weights = numbers(weights);
            let mut samples = Samples::default();
            for ((place, value), counts) in places.iter().zip(held.values(&weights)).zip(&counts) {
                let mut sample = place.sample(value);
                sample.tags.extend(tags.iter().cloned().zip(counts.iter().copied().map(Tag::Number)));
                samples.push(sample)?;
            }
            Ok(Series { name: name.to_owned(), samples })
        };
        let mut all = vec![series("before", &self.start)?];
        for fitted in fits {
            all.push(series(&fitted.fit.loss.to_string(), &fitted.rounded)?);
        }
        let mut settings = Settings { scale: Some(Scale::Score), ..self.settings.clone() };
        settings.by.extend(tags.iter().map(|tag| Condition { tag: tag.clone(), edges: Vec::new() }));
        let mut report = Report::of(&all, &settings, facts.to_vec(), Skipped::default())?;
        report.title = "An evaluation before and after tuning".to_owned();
        Ok((report, all))
    }
}

impl Tuned {
    /// The file `tune.json`: JSON that ends with a checksum.
    ///
    /// # Errors
    /// If it cannot be written as JSON.
    pub fn to_file(&self) -> serde_json::Result<String> {
        serde_json::to_string(self).map(|json| seal_object(&json))
    }

    /// The file of weights that a fit gives.
    #[must_use]
    pub fn weights_file(&self, eval: Evaluation, fitted: &Fitted) -> String {
        format!(
            "# {} over {} positions of {} games, from {}\n# 95 % by games: {}\n{}",
            fitted.fit.loss,
            self.positions,
            self.games,
            list(&self.start),
            fitted.fit.weights.iter().map(|weight| format!("{weight:.0}")).collect::<Vec<_>>().join(", "),
            eval.weights_text(&fitted.rounded)
        )
    }

    /// One player with the new weights of each fit and with the old ones, as player strings: `player` may have a budget.
    #[must_use]
    pub fn players(&self, player: &str) -> Vec<String> {
        let (spec, rest) = anqi_play::split_player(player);
        let with = |name: &str, weights: &[i32]| format!("{spec},weights={} name={name} {rest}", list(weights));
        let new = self.fits.iter().map(|fitted| with(&fitted.fit.loss.to_string(), &fitted.rounded));
        new.chain([with("before", &self.start)]).collect()
    }
}

/// The weights of a `tune.json`, from which another fit can begin.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TunedWeights {
    eval: Evaluation,
    fits: Vec<(Loss, Vec<i32>)>,
}

/// Why a file gives no fits.
#[derive(Debug, thiserror::Error)]
pub enum TunedFileError {
    /// It cannot be read.
    #[error("cannot read {path}: {error}")]
    Unreadable {
        /// The file.
        path: String,
        /// Why not.
        error: io::Error,
    },
    /// It is not what was written.
    #[error("{path}: {damage}; fit again, or restore the file from a copy")]
    Damaged {
        /// The file.
        path: String,
        /// Where, and what is wrong there.
        damage: Damage,
    },
}

impl TunedWeights {
    /// Reads a `tune.json`; one of version 1 has no checksum and is taken as it is.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or holds something else.
    pub fn read(path: &Path) -> Result<TunedWeights, TunedFileError> {
        #[derive(Deserialize)]
        struct File {
            schema: String,
            eval: String,
            fits: Vec<FileFit>,
        }
        #[derive(Deserialize)]
        struct FileFit {
            loss: Loss,
            rounded: Vec<i32>,
        }
        let shown = || path.display().to_string();
        let bytes =
            read_small(path, MOST_BYTES).map_err(|error| TunedFileError::Unreadable { path: shown(), error })?;
        let damaged = |damage| TunedFileError::Damaged { path: shown(), damage };
        let content = |what: String| damaged(Damage { line: 1, reason: DamageReason::Content(what) });
        let is_sealed = !bytes.starts_with(UNSEALED.as_bytes());
        if is_sealed {
            unseal_object(&bytes).map_err(damaged)?;
        }
        let file: File = serde_json::from_slice(&bytes).map_err(|error| content(error.to_string()))?;
        if is_sealed && file.schema != SCHEMA {
            return Err(content(format!("its schema is {:?}, and {SCHEMA:?} was expected", excerpt(&file.schema))));
        }
        let eval = Evaluation::from_name(&file.eval);
        let eval = eval.ok_or_else(|| content(format!("{:?} is no evaluation", excerpt(&file.eval))))?;
        let fit = |FileFit { loss, rounded }| Ok((loss, eval.read_weights(&list(&rounded))?));
        let fits = file.fits.into_iter().map(fit).collect::<Result<_, WeightsError>>();
        Ok(TunedWeights { eval, fits: fits.map_err(|error| content(error.to_string()))? })
    }

    /// Whose weights.
    #[must_use]
    pub const fn eval(&self) -> Evaluation {
        self.eval
    }

    /// The weights that made a loss small, if that was fitted.
    #[must_use]
    pub fn of(&self, loss: Loss) -> Option<&[i32]> {
        self.fits.iter().find(|(fitted, _)| *fitted == loss).map(|(_, weights)| &weights[..])
    }
}

fn numbers(weights: &[i32]) -> Vec<f64> {
    weights.iter().copied().map(f64::from).collect()
}

fn list(weights: &[i32]) -> String {
    weights.iter().map(ToString::to_string).collect::<Vec<_>>().join("/")
}
