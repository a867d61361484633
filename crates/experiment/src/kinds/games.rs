//! What kinds that play games between players share: a plan of games, its journal in a folder, and the games kept of it.

use std::io::Write;
use std::path::Path;

use anqi_lab::{Ended, MatchJournal, MatchJournalError, Plan, PlanError, PlanFile};

use crate::kind::Work;
use crate::sheet::read_keys;
use crate::{ExperimentError, SheetError, io_error, write_file};

/// The file of games in the folder of a run.
pub(super) const GAMES: &str = "games.anqi.zst";

/// Reads the keys of a plan of games.
pub(super) fn read_plan(table: toml::Table) -> Result<Plan, SheetError> {
    Ok(Plan::new(&read_keys::<PlanFile>(table)?)?)
}

/// The plan as it is written down.
pub(super) fn text(plan: &Plan) -> Result<String, toml::ser::Error> {
    toml::to_string(&plan.to_file())
}

/// How many games there are, in words.
pub(super) fn size(plan: &Plan) -> String {
    format!("{} pairings, {} games", plan.pairings().len(), 2 * plan.count())
}

/// The same plan with another number of pairs for each pairing.
pub(super) fn with_pairs(plan: &Plan, pairs: u64) -> Result<Plan, PlanError> {
    Plan::new(&PlanFile { pairs: Some(pairs), ..plan.to_file() })
}

/// Plays what is missing of a plan in a folder; the journal once it is complete.
pub(super) fn play(plan: &Plan, dir: &Path, work: &mut Work<'_>) -> Result<Option<MatchJournal>, ExperimentError> {
    let mut journal = MatchJournal::open_or_create(dir, plan)?;
    match work.host.play(&mut journal)? {
        Ended::Stopped => Ok(None),
        Ended::Complete(_) => Ok(Some(journal)),
    }
}

/// The journal of a folder, as far as it was played; `None` if nothing was begun there.
pub(super) fn played(dir: &Path) -> Result<Option<MatchJournal>, MatchJournalError> {
    if dir.join("journal").exists() { MatchJournal::read(dir).map(Some) } else { Ok(None) }
}

/// All games in the order of the plan, without comments, which follow from the plan and are most of the bytes.
pub(super) fn write_records(journal: &MatchJournal, path: &Path) -> Result<(), ExperimentError> {
    let failed = |error| io_error(path, error);
    let mut out = zstd::Encoder::new(Vec::new(), 19).map_err(failed)?;
    let mut gap = "";
    for number in 0..journal.plan().count() {
        for record in journal.pair(number)?.games {
            write!(out, "{gap}{}", record.without_comments()).map_err(failed)?;
            gap = "\n";
        }
    }
    let bytes = out.finish().map_err(failed)?;
    write_file(path, &bytes)
}
