//! Which search is right? Evaluation curves and metrics of search methods from game records.
//!
//! The method of Takeuchi, Kaneko & Yamaguchi, for any game: a [`Sample`] is a position with the value that a search
//! gave it and the result of its game. A good search gives equal values to positions that are won equally often,
//! whatever else they are. An [`Assessment`] says how far that holds, and never a number without its interval:
//! positions of one game share a result, so whole games are resampled.

mod assessment;
mod cache;
mod comparison;
mod condition;
mod curve;
mod evaluate;
mod fit;
mod frame;
mod logistic;
mod method;
mod metrics;
mod only;
mod positions;
mod prove;
mod report;
mod rows;
mod sample;
mod series;
mod settings;
mod skipped;
mod tag;
mod tune;
mod valuer;
mod values;
mod winners;

pub use assessment::{AssessError, Assessment, Measured};
pub use cache::{Cache, Key};
pub use comparison::{Comparison, Difference};
pub use condition::{Condition, ConditionError};
pub use curve::{Curve, CurvePoint, Monotone, Split};
pub use evaluate::{EvaluateError, Evaluated, Judge, Valuation, evaluate};
pub use fit::{Fit, Lessons, Loss, Losses};
pub use method::{Method, MethodError, MethodJudge};
pub use metrics::{METRICS, Metric};
pub use only::{Only, OnlyError};
pub use positions::{ChosenPosition, Positions, TAGS, USUAL_CONDITIONS, tags};
pub use prove::{Prover, ProverError, prove};
pub use report::Report;
pub use rows::{RowsWritten, TrainingRow, write_rows};
pub use sample::{NotANumber, Sample, Samples, Words};
pub use series::{Collected, Records, SearchSpec, Selection, Series, Valued};
pub use settings::{Draws, Scale, Settings, UnknownChoice};
pub use skipped::{Skip, Skipped};
pub use tag::Tag;
pub use tune::{Checked, Fitted, TuneError, Tuned, TunedFileError, TunedWeights, Tuning};
pub use valuer::{Valuer, WorkError};
pub use values::{ValuesError, ValuesFile};
pub use winners::{Endings, EndingsError, Proofs, Winners};
