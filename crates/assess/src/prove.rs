//! Results of records corrected by endgame tables and by search.

use std::fmt;
use std::path::PathBuf;
use std::str::FromStr;

use anqi_play::{Budget, BudgetError};
use anqi_stats::Points;

use crate::method::Method;
use crate::positions::ChosenPosition;
use crate::valuer::{Valuer, WorkError};
use crate::winners::{Endings, Proofs, Winners};

/// What may prove a result: `tables=on`, `tables=DIR`, or a budget for a search, `depth=4`.
#[derive(Clone, PartialEq, Debug)]
pub enum Prover {
    /// Endgame tables, solved on the spot or also out of a folder.
    Tables(Option<PathBuf>),
    /// A search of everything, as far as it gets.
    Search(Budget),
}

/// A text that proves nothing.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ProverError {
    /// Tables that are not there.
    #[error("expected on, or a folder that is there")]
    NoFolder,
    /// Neither tables nor a budget.
    #[error("{0}; or tables=on, or tables= and a folder")]
    Budget(BudgetError),
    /// A budget that bounds no search.
    #[error("expected nodes= or depth= for a search")]
    Unbounded,
}

impl fmt::Display for Prover {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Prover::Tables(None) => f.write_str("tables=on"),
            Prover::Tables(Some(dir)) => write!(f, "tables={}", dir.display()),
            Prover::Search(budget) => budget.fmt(f),
        }
    }
}

impl FromStr for Prover {
    type Err = ProverError;

    fn from_str(text: &str) -> Result<Prover, ProverError> {
        if let Some(tables) = text.strip_prefix("tables=") {
            let dir = Some(PathBuf::from(tables)).filter(|_| tables != "on");
            let is_there = dir.as_ref().is_none_or(|dir| dir.is_dir());
            return if is_there { Ok(Prover::Tables(dir)) } else { Err(ProverError::NoFolder) };
        }
        let budget: Budget = text.parse().map_err(ProverError::Budget)?;
        let is_bounded =
            budget.limits.playouts.is_none() && (budget.limits.nodes.is_some() || budget.limits.depth.is_some());
        if is_bounded { Ok(Prover::Search(budget)) } else { Err(ProverError::Unbounded) }
    }
}

/// It searches every flip with everything that it may show.
const SEARCH: &str = "chen:enhance,below=flips,condition=off,eval=outcome";

/// Puts proven results in the place of recorded ones.
///
/// `all` are all positions of the games, those of `places` among them: what is proven does not depend on which are valued.
///
/// # Errors
/// If tables cannot be read, or a search cannot go on or is stopped.
pub fn prove(
    provers: &[Prover],
    places: &mut [ChosenPosition],
    all: &[ChosenPosition],
    valuer: &mut Valuer<'_>,
) -> Result<Proofs, WorkError> {
    let (mut winners, mut proofs) = (Winners::default(), Proofs::default());
    // Tables are quick and know draws, too: what they know need not be searched.
    let (tables, searches): (Vec<_>, Vec<_>) = provers.iter().partition(|prover| matches!(prover, Prover::Tables(_)));
    for prover in tables.into_iter().chain(searches) {
        let open: Vec<&ChosenPosition> = all.iter().filter(|place| !winners.holds((place.game, place.ply))).collect();
        let name = format!("--prove {prover}");
        let results: Vec<Option<Points>> = match prover {
            Prover::Tables(dir) => {
                let mut endings = Endings::new(dir.as_deref());
                let results = open.iter().map(|place| endings.result(&place.start)).collect::<Result<_, _>>();
                results.map_err(|error| WorkError::Tables { name, error })?
            }
            Prover::Search(budget) => {
                let method: Method = SEARCH.parse()?;
                let values = valuer.values(&open, &method, Some(*budget), &name)?;
                values.into_iter().map(|value| proven(&value)).collect()
            }
        };
        let mut count = 0;
        for (place, result) in open.iter().zip(results) {
            if let Some(result) = result {
                winners.add((place.game, place.ply), result);
                count += 1;
            }
        }
        proofs.proven.push((prover.to_string(), count));
    }
    (proofs.corrected_positions, proofs.corrected_games) = winners.correct(places);
    Ok(proofs)
}

/// A search proves wins and losses; no number of plies without one proves a draw.
fn proven(value: &Result<f64, String>) -> Option<Points> {
    match value {
        Ok(f64::INFINITY) => Some(Points::Win),
        Ok(f64::NEG_INFINITY) => Some(Points::Loss),
        _ => None,
    }
}
