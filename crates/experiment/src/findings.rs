//! `Findings`: everything that a run says, as values; how it looks is for a report to say.

use anqi_lab::Plan;
use anqi_stats::Outcomes;

use crate::facts::Facts;
use crate::figure::Figure;
use crate::judge::Judged;
use crate::{
    BranchingRow, Claim, Experiment, ExperimentError, MatchRow, Outline, PlayoutPlan, PlayoutRow, PrintedBranching,
    PrintedMatch, PrintedPlayouts, Rows, Run, Sheet,
};

/// What a run found, as far as it is measured.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The name of the experiment.
    pub experiment: String,
    /// The name of the run.
    pub run: String,
    /// What the experiment asks.
    pub question: String,
    /// How much is measured, of how much, and of what.
    pub measured: (usize, usize, &'static str),
    /// The claims of the paper, each with its judgement by printed and by measured numbers.
    pub claims: Vec<(Claim, Judged, Judged)>,
    /// What is drawn.
    pub figures: Vec<Figure>,
    /// Printed and measured numbers.
    pub table: Measurements,
}

/// Printed and measured numbers of one kind of experiment.
#[derive(Clone, Debug)]
pub enum Measurements {
    /// Of playouts.
    Playouts {
        /// What is measured.
        plan: Box<PlayoutPlan>,
        /// What was printed.
        printed: Vec<PrintedPlayouts>,
        /// What was measured.
        rows: Vec<PlayoutRow>,
    },
    /// Of matches.
    Matches {
        /// What is played.
        plan: Plan,
        /// What was printed.
        printed: Vec<PrintedMatch>,
        /// What was measured.
        rows: Vec<MatchRow>,
    },
    /// Of numbers of choices.
    Branching {
        /// What is played.
        plan: Plan,
        /// What was printed.
        printed: Vec<PrintedBranching>,
        /// What was measured.
        rows: Vec<BranchingRow>,
    },
}

impl Experiment {
    /// What a run found, as far as it is measured.
    ///
    /// # Errors
    /// If a table or the outline of the report cannot be read.
    pub fn findings(&self, run: &Run, sheet: &Sheet) -> Result<Findings, ExperimentError> {
        let outline = self.outline()?;
        let (there, here, measured, table) = match (sheet, run.rows(sheet)?) {
            (Sheet::Playouts(plan), Rows::Playouts(rows)) => {
                let (printed, timed) = (self.published::<PrintedPlayouts>()?, plan.file().published_playouts);
                let there = Facts::printed_playouts(&printed, &rows, timed);
                let here = Facts::measured_playouts(&rows, timed);
                let measured = (rows.len(), plan.cells().len(), "rows");
                (there, here, measured, Measurements::Playouts { plan: Box::new(plan.clone()), printed, rows })
            }
            (Sheet::Matches(plan), Rows::Matches(rows)) => {
                let printed = self.published::<PrintedMatch>()?;
                let played: u64 = rows.iter().map(|row| row.pairs().total()).sum();
                let (there, here) = (Facts::printed_matches(&printed), Facts::measured_matches(&rows));
                let measured = (played as usize, plan.count() as usize, "pairs of games");
                (there, here, measured, Measurements::Matches { plan: plan.clone(), printed, rows })
            }
            (Sheet::Branching(plan), Rows::Branching(rows)) => {
                let printed = self.published::<PrintedBranching>()?;
                let (there, here) = (Facts::printed_branching(&printed), Facts::measured_branching(&rows));
                let measured = (usize::from(run.is_finished(sheet)), 1, "tables");
                (there, here, measured, Measurements::Branching { plan: plan.clone(), printed, rows })
            }
            _ => unreachable!("rows are of the kind of their sheet"),
        };
        let Outline { claims, figures } = outline;
        let figures = figures.iter().map(|plan| plan.figure(&there, &here)).collect();
        let judged = |claim: Claim| {
            let (there, here) = (claim.judge(&there), claim.judge(&here));
            (claim, there, here)
        };
        Ok(Findings {
            experiment: self.name.clone(),
            run: run.name(),
            question: self.question.clone(),
            measured,
            claims: claims.into_iter().map(judged).collect(),
            figures,
            table,
        })
    }
}
