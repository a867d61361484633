//! All kinds of experiments. A new one is a module, and a line in [`KINDS`].

mod analysis;
mod assess;
mod branching;
mod endings;
mod expected;
mod games;
mod matches;
mod multiverse;
mod playouts;
mod records;
mod series;
mod solve;
mod source;
mod tables;
mod tune;

use crate::SheetError;
use crate::kind::ExperimentKind;

pub use assess::AssessmentPage;
pub use branching::{BranchingRow, PrintedBranching};
pub use matches::{MatchRow, Order, PrintedMatch};
pub use multiverse::{
    AxisValue, ClaimInReading, Fit, FitColumn, Fitted, FittedReading, Marginal, MultiverseError, MultiverseFile,
    MultiversePlan, PartFile, Robustness, Setting, StudiedClaim, TemplateError, Universe,
};
pub use playouts::{BestMove, Cell, PlayoutPlan, PlayoutPlanFile, PlayoutRow, PositionFile, PrintedPlayouts};

/// Reads the keys of a plan.
type Read = fn(toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError>;

/// Every kind by the word that plans have for it.
pub(crate) const KINDS: &[(&str, Read)] = &[
    ("playouts", playouts::read),
    ("matches", matches::read),
    ("multiverse", multiverse::read),
    ("series", series::read),
    ("branching", branching::read),
    ("assess", assess::read),
    ("tune", tune::read),
    ("records", records::read),
    ("solve", solve::read),
    ("tables", tables::read),
    ("endings", endings::read),
    ("analysis", analysis::read),
];

/// The words as a list: `"playouts", "matches" or "branching"`.
pub(crate) fn names() -> String {
    let words: Vec<String> = KINDS.iter().map(|(word, _)| format!("{word:?}")).collect();
    match words.split_last() {
        Some((last, [])) => last.clone(),
        Some((last, before)) => format!("{} or {last}", before.join(", ")),
        None => String::new(),
    }
}
