//! The journal of one game: what was agreed, then everything that happened, on disk before any page is told.

use anqi_play::{Entry, Secret, Terms};
use anqi_rules::SeedError;
use anqi_store::{Framing, JournalFormat, JournalLine, LineJournal, Old, OldHead};
use serde::{Deserialize, Serialize};

use crate::seat::Seats;

/// The file of a game in play.
pub(crate) type GameJournal = LineJournal<EntriesFormat>;

/// The head of a journal: the terms, and the seeds of the deal. A reader of it knows the deal.
#[derive(Serialize, Deserialize)]
pub(crate) struct Head {
    #[serde(flatten)]
    pub(crate) terms: Terms,
    seed: String,
    nonce: String,
    /// Who holds its seats; `None` in a game that has none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) seats: Option<Seats>,
    /// By when it must have begun, in milliseconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) until: Option<u64>,
}

impl Head {
    pub(crate) fn new(terms: Terms, secret: &Secret, seats: Option<Seats>, until: Option<u64>) -> Head {
        Head { terms, seed: secret.seed().to_string(), nonce: secret.nonce().to_string(), seats, until }
    }

    pub(crate) fn secret(&self) -> Result<Secret, SeedError> {
        Secret::parse(&self.seed, &self.nonce)
    }
}

/// What happens in a game: each entry needs those before it.
pub(crate) struct EntriesFormat;

impl JournalFormat for EntriesFormat {
    const NAME: &'static str = "game";
    const ORDERED: bool = true;
    const OLD: Option<Old> = Some(Old { first_line: "", head: OldHead::Entry, framing: Framing::SumFirst });
    type Head = Head;
    type Entry = Entry;

    fn write_head(head: &Head) -> String {
        // Text keys and strings: this cannot fail.
        serde_json::to_string(head).unwrap_or_default()
    }

    fn read_head(text: &str) -> Result<Head, String> {
        serde_json::from_str(text).map_err(|error| error.to_string())
    }

    fn write(entry: &Entry) -> JournalLine<'_> {
        // Nor this.
        JournalLine::new("entry", 0, serde_json::to_string(entry).unwrap_or_default())
    }

    fn read(line: JournalLine<'_>) -> Result<Entry, String> {
        serde_json::from_str(&line.text).map_err(|error| error.to_string())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::time::Duration;

    use anqi_store::faults::{After, DamageTest, MUCH_DAMAGE, Reading, SOME_DAMAGE, SimulatedDisk, every_fault};
    use anqi_store::{Access, JournalError, Owner, Syncer};

    use super::*;

    fn head() -> Head {
        let terms = Terms {
            rules: "server".to_owned(),
            first: "person".to_owned(),
            second: "level:1".to_owned(),
            date: Some("2026.11.15".to_owned()),
            ..Terms::default()
        };
        Head { terms, seed: "1".to_owned(), nonce: "2".to_owned(), seats: None, until: None }
    }

    fn plies() -> Vec<Entry> {
        let ply = |text: &str| Entry::Ply { ply: text.parse().unwrap(), clock: Some(Duration::from_millis(5)) };
        let mut entries: Vec<Entry> = ["a1(K)", "b1(p)", "a1-a2"].map(ply).to_vec();
        entries.push(Entry::Back { plies: 1, clocks: None });
        entries
    }

    fn open(path: &Path) -> Result<(GameJournal, Vec<Entry>), JournalError> {
        let mut entries = Vec::new();
        let met = |entry, _| entries.push(entry);
        GameJournal::open_or_create(path, Owner::Alone, Access::Secret, &head(), &Syncer::by_hand(), met)
            .map(|journal| (journal, entries))
    }

    fn read(path: &Path) -> Result<(GameJournal, Vec<Entry>), JournalError> {
        let mut entries = Vec::new();
        GameJournal::read(path, |entry, _| entries.push(entry)).map(|journal| (journal, entries))
    }

    /// As c3a29fa wrote it.
    fn old_journal() -> Vec<u8> {
        let head = serde_json::to_string(&head()).unwrap().replacen('{', r#"{"entry":"game","#, 1);
        let entries = plies().iter().map(|entry| serde_json::to_string(entry).unwrap()).collect::<Vec<_>>();
        let line = |text: &String| format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes()));
        std::iter::once(&head).chain(&entries).map(line).collect::<String>().into_bytes()
    }

    #[test]
    fn an_old_journal_goes_on() {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join("game.journal");
        disk.put(&path, &old_journal());
        let (mut journal, entries) = open(&path).unwrap();
        assert_eq!((entries, &journal.head().terms, journal.head().seed.as_str()), (plies(), &head().terms, "1"));
        journal.append(&plies()[0]).unwrap();
        let file = disk.peek(&path).unwrap();
        assert_eq!(read(&path).unwrap().1.len(), 5);
        let second = old_journal().split_inclusive(|byte| *byte == b'\n').nth(1).unwrap().to_vec();
        assert_eq!(file, [old_journal(), second].concat());
    }

    #[test]
    fn every_call_may_fail() {
        for before in [None, Some(old_journal()), Some(old_journal()[..old_journal().len() - 9].to_vec())] {
            every_fault(
                |disk| {
                    if let Some(before) = &before {
                        disk.put(&disk.path().join("game.journal"), before);
                    }
                },
                |disk| {
                    let Ok((mut journal, known)) = open(&disk.path().join("game.journal")) else { return (0, 0) };
                    let mut acknowledged = known.len();
                    for entry in plies() {
                        acknowledged += usize::from(journal.append(&entry).is_ok());
                    }
                    (acknowledged, if journal.sync().is_ok() { acknowledged } else { 0 })
                },
                |disk, (acknowledged, synced), after| {
                    let path = disk.path().join("game.journal");
                    if disk.peek(&path).is_none() {
                        assert_eq!(synced, 0, "{after:?}");
                        return;
                    }
                    let (journal, entries) = read(&path).unwrap();
                    let kept = if after == After::Restart { acknowledged } else { synced };
                    assert!(entries.len() >= kept, "{after:?}: {} of {kept}", entries.len());
                    if after == After::Restart {
                        assert_eq!(journal.damages().count(), 0, "{}", journal.damages());
                        drop(journal);
                        open(&path).unwrap().0.append(&plies()[0]).unwrap();
                    }
                },
            );
        }
    }

    /// Up to the damage everything is there, nothing after it is believed, and the file keeps every byte.
    fn damaged(times: usize) {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join("game.journal");
        let (mut journal, _) = open(&path).unwrap();
        plies().iter().for_each(|entry| drop(journal.append(entry)));
        drop(journal);
        let entries: Vec<String> = plies().iter().map(|entry| format!("{entry:?}")).collect();
        for whole in [disk.peek(&path).unwrap(), old_journal()] {
            let test = DamageTest { file: "game.journal", whole: &whole, entries: &entries, most_lost: plies().len() };
            let refused = test.run(times / 2, |path| {
                let (journal, met) = match read(path) {
                    Err(error) => return Reading::Refused(error.to_string()),
                    Ok(read) => read,
                };
                assert_eq!(met, plies()[..met.len()], "what is read is the beginning");
                match open(path) {
                    Ok(_) => assert_eq!(journal.damages().count(), 0),
                    Err(error) => {
                        let told = error.to_string();
                        assert_eq!(journal.damages().count(), 1, "{told}");
                        assert!(told.contains(": line ") && told.contains("is damaged"), "{told}");
                    }
                }
                let told = journal.damages().to_string();
                Reading::Read { entries: met.iter().map(|entry| format!("{entry:?}")).collect(), told }
            });
            println!("page journal: {} damaged files, {refused} refused", times / 2);
        }
    }

    #[test]
    fn damage_is_named_and_nothing_is_shortened() {
        damaged(SOME_DAMAGE);
    }

    #[test]
    #[ignore = "long: 17,000 damaged journals"]
    fn damage_is_named_and_nothing_is_shortened_very_often() {
        damaged(MUCH_DAMAGE);
    }
}
