//! `Cast`: the players of a plan, ready to play, and who they are.

use std::fmt::Write as _;

use anqi_engine::{BuildError, Fingerprint, Resources};
use anqi_protocol::{Fault, Outside, OutsideSpec};

use crate::allowed::{Allowed, NotAllowed};
use crate::contender::{Contender, Who, seeded};
use crate::plan::Plan;

/// The players of a plan with their fingerprints; the files that they name are open.
#[derive(Clone, Debug)]
pub struct Cast {
    pub(crate) resources: Resources,
    fingerprints: Vec<Option<Fingerprint>>,
    /// What is run for each contender that is an outside program, if it can be run here.
    programs: Vec<Option<OutsideSpec>>,
}

/// Why a contender cannot play here.
#[derive(Debug, thiserror::Error)]
pub enum CastError {
    /// A player of ours names a file that cannot be used.
    #[error("{name}: {error}")]
    Player {
        /// Which one.
        name: String,
        /// What is wrong.
        error: BuildError,
    },
    /// An outside program does not even start.
    #[error("{name}: {fault}")]
    Program {
        /// Which one.
        name: String,
        /// What happened.
        fault: Fault,
    },
    /// The owner of this machine has not allowed it.
    #[error(transparent)]
    NotAllowed(#[from] NotAllowed),
}

impl Cast {
    /// Opens the files of every player and starts every outside program once, so that a mistyped name costs no games.
    ///
    /// # Errors
    /// If a file cannot be used, or a program does not start.
    pub fn new(plan: &Plan, resources: &Resources) -> Result<Cast, CastError> {
        let program = |contender: &Contender| match &contender.who {
            Who::Outside(spec) => Some(spec.clone()),
            Who::Player(_) => None,
        };
        Cast::starting(plan, resources, plan.contenders().iter().map(program).collect())
    }

    /// [`Cast::new`] for a plan that comes from another machine: it uses what is allowed, and runs no program that is not.
    ///
    /// # Errors
    /// If something is not allowed, a file cannot be used, or a program does not start.
    pub fn allowing(plan: &Plan, resources: &Resources, allowed: &Allowed) -> Result<Cast, CastError> {
        let programs = plan.contenders().iter().map(|contender| allowed.program(contender));
        Cast::starting(plan, resources, programs.collect::<Result<_, _>>()?)
    }

    /// For a plan that other machines play, whose programs need not be here and may differ from ours.
    ///
    /// # Errors
    /// If a file cannot be used.
    pub fn elsewhere(plan: &Plan, resources: &Resources) -> Result<Cast, CastError> {
        Cast::known(plan, resources, vec![None; plan.contenders().len()])
    }

    fn starting(plan: &Plan, resources: &Resources, programs: Vec<Option<OutsideSpec>>) -> Result<Cast, CastError> {
        for (contender, program) in plan.contenders().iter().zip(&programs) {
            if let Some(spec) = program {
                match Outside::launch(&seeded(spec, plan.seed())) {
                    Ok(outside) => outside.close(),
                    Err(fault) => return Err(CastError::Program { name: contender.name.clone(), fault }),
                }
            }
        }
        Cast::known(plan, resources, programs)
    }

    fn known(plan: &Plan, resources: &Resources, programs: Vec<Option<OutsideSpec>>) -> Result<Cast, CastError> {
        let known = |(contender, program): (&Contender, &Option<OutsideSpec>)| match &contender.who {
            Who::Outside(_) => Ok(program.as_ref().and_then(OutsideSpec::fingerprint)),
            Who::Player(spec) => {
                let fingerprint = resources.open_for(spec).and_then(|()| spec.fingerprint(resources));
                fingerprint.map(Some).map_err(|error| CastError::Player { name: contender.name.clone(), error })
            }
        };
        let fingerprints = plan.contenders().iter().zip(&programs).map(known).collect::<Result<_, _>>()?;
        Ok(Cast { resources: resources.clone(), fingerprints, programs })
    }

    /// What is run for a contender of the plan; `None` for a player of ours, and where the program is not here.
    pub(crate) fn program(&self, contender: usize) -> Option<&OutsideSpec> {
        self.programs[contender].as_ref()
    }

    /// Who the contenders are, in the order of the plan; `None` for a program that is not here.
    #[must_use]
    pub fn fingerprints(&self) -> &[Option<Fingerprint>] {
        &self.fingerprints
    }

    /// A line for each contender: its fingerprint, or `-` where it is not known.
    #[must_use]
    pub fn to_lines(&self) -> String {
        let mut lines = String::new();
        for fingerprint in &self.fingerprints {
            // Writing to a string cannot fail.
            let _ = match fingerprint {
                Some(fingerprint) => writeln!(lines, "{fingerprint}"),
                None => writeln!(lines, "-"),
            };
        }
        lines
    }

    /// Those who are others than `lines` say, each with both fingerprints; nothing is said of those who are not known.
    #[must_use]
    pub fn strangers(&self, plan: &Plan, lines: &str) -> String {
        strangers(plan, [lines, &self.to_lines()], ["then", "now"])
    }
}

/// The contenders of whom two lists of fingerprints say different things, and where each says so.
pub(crate) fn strangers(plan: &Plan, lines: [&str; 2], places: [&str; 2]) -> String {
    let mut strangers = String::new();
    for ((contender, one), other) in plan.contenders().iter().zip(lines[0].lines()).zip(lines[1].lines()) {
        if let (Ok(one), Ok(other)) = (one.parse::<Fingerprint>(), other.parse::<Fingerprint>())
            && one != other
        {
            let _ = writeln!(strangers, "  {}: {one} {}, {other} {}", contender.name, places[0], places[1]);
        }
    }
    strangers
}
