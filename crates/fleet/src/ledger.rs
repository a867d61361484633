//! `Ledger`: who has played which pair, and who is excluded, in the folder of a match.
//!
//! The journal of a match says what was played, to the byte the same wherever it was played. This file, `fleet`, says by whom,
//! so that the pairs of a worker that turns out to lie can be found and played again. An entry is written before its pair is.

use std::collections::BTreeMap;
use std::path::Path;

use anqi_store::{Access, JournalError, JournalFormat, JournalLine, LineJournal, Old, Owner, Syncer};

use crate::key::PublicKey;
use crate::roster::Roster;

const FILE: &str = "fleet";

#[derive(Debug)]
struct LedgerFormat;

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
enum LedgerEntry {
    /// A worker has played a pair, which brought the contender named first so many half points.
    Pair(u64, PublicKey, usize),
    /// The same, and another worker or the coordinator has played it again with the same result.
    Checked(u64, PublicKey, usize),
    /// Nothing of a worker counts any more.
    Excluded(PublicKey, String),
}

impl JournalFormat for LedgerFormat {
    const NAME: &'static str = "fleet";
    const ORDERED: bool = false;
    const OLD: Option<Old> = None;
    /// The id of the plan.
    type Head = String;
    type Entry = LedgerEntry;

    fn write_head(plan: &String) -> String {
        plan.clone()
    }

    fn read_head(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn write(entry: &LedgerEntry) -> JournalLine<'_> {
        match entry {
            LedgerEntry::Pair(number, worker, points) => {
                JournalLine::new("pair", *number, format!("{worker} {points}"))
            }
            LedgerEntry::Checked(number, worker, points) => {
                JournalLine::new("checked", *number, format!("{worker} {points}"))
            }
            LedgerEntry::Excluded(worker, reason) => JournalLine::new("excluded", 0, format!("{worker} {reason}")),
        }
    }

    fn read(line: JournalLine<'_>) -> Result<LedgerEntry, String> {
        let (worker, rest) = line.text.split_once(' ').ok_or("it names no worker")?;
        let worker = worker.parse().map_err(|error| format!("{error}"))?;
        let points =
            || rest.parse().ok().filter(|points| *points <= 4).ok_or_else(|| format!("{rest:?} is not 0 to 4"));
        match &*line.kind {
            "pair" => Ok(LedgerEntry::Pair(line.number, worker, points()?)),
            "checked" => Ok(LedgerEntry::Checked(line.number, worker, points()?)),
            "excluded" => Ok(LedgerEntry::Excluded(worker, rest.to_owned())),
            kind => Err(format!("{kind:?} is neither pair, checked nor excluded")),
        }
    }
}

/// Who has played what.
pub(crate) struct Ledger {
    journal: LineJournal<LedgerFormat>,
    /// The worker of each pair that no other one has played, and its half points.
    pairs: BTreeMap<u64, (PublicKey, usize)>,
    pub(crate) roster: Roster,
}

impl Ledger {
    /// Opens the ledger in the folder of a match, or begins one.
    pub(crate) fn open(dir: &Path, plan_id: &str) -> Result<Ledger, JournalError> {
        let path = dir.join(FILE);
        // The journal keeps what goes wrong; the next entry is refused then.
        let syncer =
            Syncer::start(|_, _| {}).map_err(|error| JournalError::Io { path: path.display().to_string(), error })?;
        let (mut pairs, mut roster) = (BTreeMap::new(), Roster::default());
        let head = plan_id.to_owned();
        let journal =
            LineJournal::open_or_create(&path, Owner::Alone, Access::Ordinary, &head, &syncer, |entry, _| {
                enter(&mut pairs, &mut roster, entry);
            })?;
        Ok(Ledger { journal, pairs, roster })
    }

    /// A worker has played a pair; `checked` if another one has played the same.
    pub(crate) fn played(
        &mut self,
        number: u64,
        worker: PublicKey,
        half_points: usize,
        checked: bool,
    ) -> Result<(), JournalError> {
        let entry = if checked { LedgerEntry::Checked } else { LedgerEntry::Pair };
        self.append(entry(number, worker, half_points))
    }

    /// Nothing of a worker counts any more. Gives the pairs that only it has played.
    pub(crate) fn exclude(&mut self, worker: PublicKey, reason: String) -> Result<Vec<u64>, JournalError> {
        self.append(LedgerEntry::Excluded(worker, reason))?;
        Ok(self.only_by_excluded())
    }

    /// The pairs that no one but excluded workers has played.
    pub(crate) fn only_by_excluded(&self) -> Vec<u64> {
        let pairs = self.pairs.iter().filter(|(_, (worker, _))| self.roster.is_excluded(worker));
        pairs.map(|(number, _)| *number).collect()
    }

    fn append(&mut self, entry: LedgerEntry) -> Result<(), JournalError> {
        self.journal.append(&entry)?;
        enter(&mut self.pairs, &mut self.roster, entry);
        Ok(())
    }
}

fn enter(pairs: &mut BTreeMap<u64, (PublicKey, usize)>, roster: &mut Roster, entry: LedgerEntry) {
    match entry {
        LedgerEntry::Pair(number, worker, points) => {
            if let Some((before, points)) = pairs.insert(number, (worker, points)) {
                roster.remove_pair(before, points);
            }
            roster.add_pair(worker, points);
        }
        LedgerEntry::Checked(number, worker, points) => {
            if let Some((before, points)) = pairs.remove(&number) {
                roster.remove_pair(before, points);
            }
            roster.add_pair(worker, points);
        }
        LedgerEntry::Excluded(worker, reason) => roster.exclude(worker, reason),
    }
}

#[cfg(test)]
mod tests {
    use super::Ledger;
    use crate::FleetKey;

    #[test]
    fn it_knows_whose_pairs_must_be_played_again() {
        let dir = tempfile::tempdir().expect("a folder");
        let [one, two] = [(); 2].map(|()| FleetKey::new().expect("random").public());
        let open = || Ledger::open(dir.path(), "plan").expect("room");
        let mut ledger = open();
        for number in 0..4 {
            ledger.played(number, one, 4, number == 3).expect("room");
        }
        ledger.played(2, two, 1, false).expect("room"); // played again after the first was discarded
        ledger.played(5, two, 2, false).expect("room");
        drop(ledger);
        let mut ledger = open();
        assert!(ledger.only_by_excluded().is_empty());
        assert_eq!(ledger.exclude(one, "it lies".to_owned()).expect("room"), [0, 1]);
        drop(ledger);
        let ledger = open();
        assert!(ledger.roster.is_excluded(&one) && !ledger.roster.is_excluded(&two));
        assert_eq!(ledger.only_by_excluded(), [0, 1]);
    }
}
