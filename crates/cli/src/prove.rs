//! `--prove`: results of records corrected by endgame tables and by search.

use std::fmt;
use std::path::PathBuf;

use anqi_assess::{Endings, Method, Place, Proofs, Winners};
use anqi_lab::{Budget, BudgetError};
use anqi_stats::Points;
use anyhow::{Context, Result};

use crate::assess::Pool;

/// What may prove a result.
#[derive(Clone)]
pub(crate) enum Prover {
    /// Endgame tables, solved on the spot or also out of a folder.
    Tables(Option<PathBuf>),
    /// A search of everything, as far as it gets.
    Search(Budget),
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

/// It searches every flip with everything that it may show.
const SEARCH: &str = "chen:enhance,condition=off,eval=outcome";

pub(crate) fn prover(text: &str) -> Result<Prover, String> {
    if let Some(tables) = text.strip_prefix("tables=") {
        let dir = Some(PathBuf::from(tables)).filter(|_| tables != "on");
        let is_there = dir.as_ref().is_none_or(|dir| dir.is_dir());
        return if is_there {
            Ok(Prover::Tables(dir))
        } else {
            Err("expected on, or a folder that is there".to_owned())
        };
    }
    let budget: Budget =
        text.parse().map_err(|error: BudgetError| format!("{error}; or tables=on, or tables= and a folder"))?;
    let is_bounded =
        budget.limits.playouts.is_none() && (budget.limits.nodes.is_some() || budget.limits.depth.is_some());
    if is_bounded { Ok(Prover::Search(budget)) } else { Err("expected nodes= or depth= for a search".to_owned()) }
}

/// Puts proven results in the place of recorded ones; nothing if interrupted.
///
/// `all` are all positions of the games, those of `places` among them: what is proven does not depend on which are valued.
pub(crate) fn prove(
    provers: &[Prover],
    places: &mut [Place],
    all: &[Place],
    pool: &mut Pool<'_>,
) -> Result<Option<Proofs>> {
    let (mut winners, mut proofs) = (Winners::default(), Proofs::default());
    // Tables are quick and know draws, too: what they know need not be searched.
    let (tables, searches): (Vec<_>, Vec<_>) = provers.iter().partition(|prover| matches!(prover, Prover::Tables(_)));
    for prover in tables.into_iter().chain(searches) {
        let open: Vec<&Place> = all.iter().filter(|place| !winners.holds((place.game, place.ply))).collect();
        let results: Vec<Option<Points>> = match prover {
            Prover::Tables(dir) => {
                let mut endings = Endings::new(dir.as_deref());
                let results = open.iter().map(|place| endings.result(&place.start)).collect::<Result<_, _>>();
                results.with_context(|| format!("--prove {prover}"))?
            }
            Prover::Search(budget) => {
                let method: Method = SEARCH.parse()?;
                let name = format!("--prove {prover}");
                let Some(values) = pool.values(&open, &method, Some(*budget), &name)? else { return Ok(None) };
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
    Ok(Some(proofs))
}

/// A search proves wins and losses; no number of plies without one proves a draw.
fn proven(value: &Result<f64, String>) -> Option<Points> {
    match value {
        Ok(f64::INFINITY) => Some(Points::Win),
        Ok(f64::NEG_INFINITY) => Some(Points::Loss),
        _ => None,
    }
}
