//! `kind = "multiverse"`: one plan of matches under every reading of its rules, players and budgets, held against printed
//! tables.
//!
//! | file of a run | what it is |
//! |---|---|
//! | `raw.csv` | a line for each universe and pairing that was played to the end: the values of the axes, the counts |
//! | `games.csv.zst` | a line for each of its games: result, termination, plies, hash of the record |
//! | `work/NUMBER` | the journal of a universe that is being played |

mod claims;
mod fit;
mod plan;
mod readings;
mod rows;
mod run;
mod template;
mod told;

pub use claims::{ClaimInReading, Robustness, StudiedClaim};
pub use fit::{Fit, FitColumn, Fitted, FittedReading, Marginal};
pub use plan::{AxisValue, MultiverseError, MultiverseFile, MultiversePlan, PartFile, Universe};
pub use template::{Setting, TemplateError};

use anqi_stats::Grouped;

use self::rows::Results;
use crate::kind::{ExperimentKind, Told, Work};
use crate::sheet::read_keys;
use crate::{Experiment, ExperimentError, Run, SheetError};

#[derive(Debug)]
struct Multiverse(MultiversePlan);

pub(super) fn read(table: toml::Table) -> Result<Box<dyn ExperimentKind>, SheetError> {
    Ok(Box::new(Multiverse(MultiversePlan::new(read_keys(table)?)?)))
}

impl ExperimentKind for Multiverse {
    fn text(&self) -> Result<String, toml::ser::Error> {
        toml::to_string(self.0.file())
    }

    fn size(&self) -> String {
        let (pairings, games) = self.0.size();
        format!("{} universes, {pairings} pairings, {} games", self.0.universes().len(), Grouped(games))
    }

    fn with_count(&self, count: u64) -> Result<Box<dyn ExperimentKind>, SheetError> {
        Ok(Box::new(Multiverse(self.0.with_pairs(count)?)))
    }

    fn is_finished(&self, run: &Run) -> bool {
        Results::read(&run.dir, &self.0).is_ok_and(|results| {
            let (there, all) = results.count(&self.0);
            there == all
        })
    }

    fn measure(&self, run: &Run, work: &mut Work<'_>) -> Result<bool, ExperimentError> {
        run::play(run, &self.0, work)
    }

    fn tell(&self, experiment: &Experiment, run: &Run) -> Result<Told, ExperimentError> {
        told::tell(&self.0, experiment, run)
    }
}
