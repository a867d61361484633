//! `Roster`: what a coordinator knows of its workers.

use std::collections::BTreeMap;

use anqi_stats::Homogeneity;
use serde::{Deserialize, Serialize};

use crate::key::{PublicKey, Trusted};

/// Results of a worker are suspicious if chance makes them so different with a smaller probability than this, divided by the
/// number of workers that are compared.
const ALARM: f64 = 0.001;

/// The workers that have answered, and those that are excluded.
#[derive(Clone, Default, Debug)]
pub(crate) struct Roster {
    workers: BTreeMap<PublicKey, Counted>,
    excluded: BTreeMap<PublicKey, String>,
}

#[derive(Clone, Copy, Default, Debug)]
struct Counted {
    /// Lost, even and won, for the contender that the plan names first.
    pairs: [u64; 3],
    tables: u64,
}

/// What a worker has brought to a job.
#[derive(Clone, PartialEq, Serialize, Deserialize, Debug)]
pub struct WorkerCounts {
    /// Its name with the coordinator.
    pub name: String,
    /// Its public key.
    pub key: String,
    /// Pairs that were lost, even and won for the contender that the plan names first.
    pub pairs: [u64; 3],
    /// Tables.
    pub tables: u64,
    /// How probable it is that results differ so much from those of the others by chance; none if there are too few.
    pub p: Option<f64>,
    /// Whether that is so improbable that a person should look.
    pub alarm: bool,
    /// Why nothing of it counts any more.
    pub excluded: Option<String>,
}

impl Roster {
    /// Counts a pair of a worker by the half points that it brought the contender named first.
    pub(crate) fn add_pair(&mut self, worker: PublicKey, half_points: usize) {
        self.workers.entry(worker).or_default().pairs[category(half_points)] += 1;
    }

    /// A pair that was counted does not count.
    pub(crate) fn remove_pair(&mut self, worker: PublicKey, half_points: usize) {
        let count = &mut self.workers.entry(worker).or_default().pairs[category(half_points)];
        *count = count.saturating_sub(1);
    }

    pub(crate) fn add_table(&mut self, worker: PublicKey) {
        self.workers.entry(worker).or_default().tables += 1;
    }

    /// Nothing of this worker counts from now on.
    pub(crate) fn exclude(&mut self, worker: PublicKey, reason: String) {
        self.excluded.entry(worker).or_insert(reason);
    }

    pub(crate) fn is_excluded(&self, worker: &PublicKey) -> bool {
        self.excluded.contains_key(worker)
    }

    pub(crate) fn excluded(&self) -> impl Iterator<Item = PublicKey> {
        self.excluded.keys().copied()
    }

    /// What each worker has brought, and whether it differs from what the others have.
    pub(crate) fn counts(&self, names: &Trusted) -> Vec<WorkerCounts> {
        let sum = |left_out: &PublicKey| {
            let others = self.workers.iter().filter(|(key, _)| *key != left_out && !self.is_excluded(key));
            others.fold([0; 3], |sum: [u64; 3], (_, counted)| {
                std::array::from_fn(|place| sum[place] + counted.pairs[place])
            })
        };
        let known: BTreeMap<PublicKey, Counted> =
            self.excluded.keys().map(|key| (*key, Counted::default())).chain(self.workers.clone()).collect();
        let level = ALARM / known.len().max(1) as f64;
        let counts = known.into_iter().map(|(key, Counted { pairs, tables })| {
            let p = Homogeneity::of(pairs, sum(&key)).map(|test| test.p);
            WorkerCounts {
                name: names.name(&key).unwrap_or_default().to_owned(),
                key: key.to_string(),
                pairs,
                tables,
                p,
                alarm: p.is_some_and(|p| p < level),
                excluded: self.excluded.get(&key).cloned(),
            }
        });
        counts.collect()
    }
}

/// Lost, even or won, by the half points of a pair: 2 of 4 are even.
fn category(half_points: usize) -> usize {
    match half_points {
        0 | 1 => 0,
        2 => 1,
        _ => 2,
    }
}

/// The lines of a report on workers, for people.
#[must_use]
pub fn worker_lines(workers: &[WorkerCounts]) -> Vec<String> {
    let line = |worker: &WorkerCounts| {
        let WorkerCounts { name, key, pairs: [lost, even, won], tables, p, alarm, excluded } = worker;
        let mut line = format!("{name} ({}…): +{won} ={even} -{lost} pairs", &key[..key.len().min(8)]);
        if *tables > 0 {
            line += &format!(", {tables} tables");
        }
        if let Some(p) = p {
            line += &format!(
                ", p = {p:.2e}{}",
                if *alarm { ": ALARM, its results differ from those of the others" } else { "" }
            );
        }
        if let Some(reason) = excluded {
            line += &format!("; EXCLUDED: {reason}");
        }
        line
    };
    workers.iter().map(line).collect()
}

#[cfg(test)]
mod tests {
    use super::Roster;
    use crate::{FleetKey, Trusted};

    #[test]
    fn a_worker_with_other_results_raises_an_alarm() {
        let keys: Vec<_> = (0..4).map(|_| FleetKey::new().expect("random").public()).collect();
        let mut roster = Roster::default();
        for number in 0..900 {
            // Three with a third of each, and one whose pairs are always won.
            roster.add_pair(keys[number % 3], number / 3 % 5);
        }
        let names = Trusted::default();
        assert!(roster.counts(&names).iter().all(|worker| worker.p.is_some() && !worker.alarm));
        (0..40).for_each(|_| roster.add_pair(keys[3], 4));
        let alarmed = |roster: &Roster| -> Vec<String> {
            roster.counts(&names).into_iter().filter(|worker| worker.alarm).map(|worker| worker.key).collect()
        };
        assert_eq!(alarmed(&roster), [keys[3].to_string()]);
        (0..40).for_each(|_| roster.remove_pair(keys[3], 4));
        assert!(alarmed(&roster).is_empty());
    }
}
