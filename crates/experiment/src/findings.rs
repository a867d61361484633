//! `Findings`: everything that a run says, as values; how it looks is for a report to say.

use crate::figure::Figure;
use crate::judge::{Judged, Judgement};
use crate::kind::Told;
use crate::section::Section;
use crate::{AssessmentPage, Claim, Experiment, ExperimentError, Outline, Run, Sheet};

/// What a run found, as far as it is measured.
#[derive(Clone, Debug)]
pub struct Findings {
    /// The name of the experiment.
    pub experiment: String,
    /// The name of the run.
    pub run: String,
    /// What the experiment asks.
    pub question: String,
    /// By which readings of the papers and rules the run was made, where its plan does not say it.
    pub readings: Option<String>,
    /// How much is measured, of how much, and of what.
    pub measured: (usize, usize, &'static str),
    /// The claims of the paper, each with its judgement by printed and by measured numbers.
    pub claims: Vec<(Claim, Judged, Judged)>,
    /// What is drawn.
    pub figures: Vec<Figure>,
    /// Words and tables of printed and measured numbers.
    pub sections: Vec<Section>,
    /// Assessments, each of which is a page of its own.
    pub pages: Vec<AssessmentPage>,
}

impl Experiment {
    /// What a run found, as far as it is measured.
    ///
    /// # Errors
    /// If a table or the outline of the report cannot be read.
    pub fn findings(&self, run: &Run, sheet: &Sheet) -> Result<Findings, ExperimentError> {
        let Outline { claims, figures, .. } = self.outline()?;
        let Told { measured, printed, facts, figures: drawn, sections, pages } = sheet.plan().tell(self, run)?;
        let figures = figures.iter().map(|plan| plan.figure(&printed, &facts)).chain(drawn);
        let judged = |claim: Claim| {
            let (there, here) = (claim.judge(&printed), claim.judge_measured(&facts));
            (claim, there, here)
        };
        Ok(Findings {
            experiment: self.name.clone(),
            run: run.name(),
            question: self.question.clone(),
            readings: run.readings()?,
            measured,
            claims: claims.into_iter().map(judged).collect(),
            figures: figures.collect(),
            sections,
            pages,
        })
    }

    /// Claims that name no row that a run of the plan has, as far as the plan tells the names of its rows.
    ///
    /// # Errors
    /// If the outline of the report cannot be read.
    pub fn claims_without_rows(&self) -> Result<Vec<String>, ExperimentError> {
        let names = self.sheet.plan().names();
        let mut claims = self.outline()?.claims;
        claims.retain(|claim| !names.is_empty() && claim.judge(&names).judgement == Judgement::NotMeasured);
        Ok(claims.into_iter().map(|claim| claim.says).collect())
    }
}
