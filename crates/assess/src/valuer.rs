//! `Valuer`: values of positions by any method, remembered in a cache.

use std::num::NonZeroUsize;

use anqi_engine::{BuildError, Resources, Stop};
use anqi_play::Budget;
use anqi_records::FileError;
use anqi_rules::Seed;

use crate::assessment::AssessError;
use crate::cache::{Cache, Key};
use crate::evaluate::{EvaluateError, Judge, Valuation, evaluate};
use crate::method::{Method, MethodError};
use crate::positions::ChosenPosition;
use crate::sample::NotANumber;
use crate::values::ValuesError;
use crate::winners::EndingsError;

/// Works out values of positions on several threads.
pub struct Valuer<'a> {
    cache: Cache,
    threads: NonZeroUsize,
    seed: u64,
    resources: Resources,
    stop: &'a Stop,
    watch: &'a mut dyn FnMut(&str, usize, usize),
}

/// Why there is no assessment.
#[derive(Debug, thiserror::Error)]
pub enum WorkError {
    /// It was told to stop; the values that are known are in the cache.
    #[error("stopped")]
    Stopped,
    /// Records that cannot be read.
    #[error(transparent)]
    Records(#[from] FileError),
    /// A file of values that cannot be read.
    #[error("cannot read {file}: {error}")]
    Values {
        /// Which file.
        file: String,
        /// The reason.
        error: ValuesError,
    },
    /// Nothing to look at.
    #[error("{found}{}", if left_out.is_empty() { String::new() } else { format!("; left out:\n{}", left_out.trim_end()) })]
    Nothing {
        /// What is missing.
        found: String,
        /// What was left out, a line for each reason.
        left_out: String,
    },
    /// No values can be worked out.
    #[error("{name}: {error}")]
    Evaluate {
        /// By which method.
        name: String,
        /// The reason.
        error: EvaluateError,
    },
    /// Tables that prove nothing.
    #[error("{name}: {error}")]
    Tables {
        /// Which.
        name: String,
        /// The reason.
        error: EndingsError,
    },
    /// Values that cannot be assessed.
    #[error("{name}: {error}")]
    Assess {
        /// Whose values.
        name: String,
        /// The reason.
        error: AssessError,
    },
    /// A player without a budget that bounds it.
    #[error("no budget for {player}: give --budget {}", if *plays_out { "playouts=" } else { "nodes= or depth=" })]
    NoBudget {
        /// The player.
        player: String,
        /// Whether it plays games out.
        plays_out: bool,
    },
    /// A player names a file that cannot be used.
    #[error(transparent)]
    Build(#[from] BuildError),
    /// A bad method.
    #[error(transparent)]
    Method(#[from] MethodError),
    /// A value that has no place in any order.
    #[error(transparent)]
    NotANumber(#[from] NotANumber),
}

impl<'a> Valuer<'a> {
    /// Values come out of `cache`, or from `threads` judges whose random choices come from `seed` and whose files from `resources`. `watch` is told the
    /// method, how many unknown positions are done, and how many there are.
    #[must_use]
    pub fn new(
        cache: Cache,
        threads: NonZeroUsize,
        seed: u64,
        resources: &Resources,
        stop: &'a Stop,
        watch: &'a mut dyn FnMut(&str, usize, usize),
    ) -> Valuer<'a> {
        Valuer { cache, threads, seed, resources: resources.clone(), stop, watch }
    }

    /// Opens the files that a method names.
    ///
    /// # Errors
    /// If one cannot be used.
    pub(crate) fn open(&self, method: &Method) -> Result<(), WorkError> {
        match method {
            Method::Player(spec) => Ok(self.resources.open_for(spec)?),
            Method::Evaluation { .. } => Ok(()),
        }
    }

    /// A value for each place, or why there is none.
    ///
    /// # Errors
    /// If a file that the method names was not opened, the cache cannot be written, or it is told to stop.
    pub fn values(
        &mut self,
        places: &[&ChosenPosition],
        method: &Method,
        budget: Option<Budget>,
        name: &str,
    ) -> Result<Vec<Result<f64, String>>, WorkError> {
        self.open(method)?;
        let player = method.identity(&self.resources)?;
        let budget_text = budget.map(|budget| budget.to_string()).unwrap_or_default();
        let told = format!("{budget_text} seed={}", self.seed);
        let task = |place: &&ChosenPosition| Valuation {
            key: Key::new(&place.text(), &player, &told),
            position: place.start.clone(),
        };
        let tasks: Vec<_> = places.iter().map(task).collect();
        let limits = budget.unwrap_or_default().limits;
        let seed = Seed::from(self.seed).child("values");
        let resources = self.resources.clone();
        let judge = || method.judge(limits, seed.clone(), &resources).map_err(|error| error.to_string());
        self.judge(&tasks, judge, name)
    }

    /// What a judge of any game says of each task.
    ///
    /// # Errors
    /// If no judge can be made, the cache cannot be written, or it is told to stop.
    pub fn judge<J: Judge>(
        &mut self,
        tasks: &[Valuation<J::Position>],
        judge: impl Fn() -> Result<J, String> + Sync,
        name: &str,
    ) -> Result<Vec<Result<f64, String>>, WorkError> {
        let watch = |done, all| (self.watch)(name, done, all);
        match evaluate(tasks, &mut self.cache, self.threads.get(), self.stop, judge, watch) {
            Ok(evaluated) => Ok(evaluated.values),
            Err(EvaluateError::Stopped) => Err(WorkError::Stopped),
            Err(error) => Err(WorkError::Evaluate { name: name.to_owned(), error }),
        }
    }
}
