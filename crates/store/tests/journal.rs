//! A journal keeps what was acknowledged, through kills, power cuts, full disks and damage.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::io;
use std::path::Path;

use anqi_store::faults::{After, Mount, SimulatedDisk, damage, every_fault};
use anqi_store::{
    Access, DamageReason, Framing, JournalError, JournalFormat, JournalLine, LineJournal, Old, OldHead, Owner, Place,
    Syncer,
};
use proptest::prelude::*;

fn read(path: &Path) -> io::Result<Vec<u8>> {
    anqi_store::read_small(path, usize::MAX)
}

/// A journal of texts under a title, in any framing.
struct Texts<const ORDERED: bool, const FRAMING: usize>;

const FRAMINGS: [Framing; 4] = [Framing::Lines, Framing::SumFirst, Framing::SumLast, Framing::Blocks];
const BLOCKS: usize = 3;

impl<const ORDERED: bool, const FRAMING: usize> JournalFormat for Texts<ORDERED, FRAMING> {
    const NAME: &'static str = "texts";
    const ORDERED: bool = ORDERED;
    const OLD: Option<Old> = Some(Old { first_line: "anqi texts 1", head: OldHead::Entry, framing: FRAMINGS[FRAMING] });
    type Head = String;
    type Entry = String;

    fn write_head(head: &String) -> String {
        head.clone()
    }

    fn read_head(text: &str) -> Result<String, String> {
        Ok(text.to_owned())
    }

    fn write(entry: &String) -> JournalLine<'_> {
        JournalLine::new("text", 7, entry.as_str())
    }

    fn read(line: JournalLine<'_>) -> Result<String, String> {
        if line.text == "nonsense" { Err("it is nonsense".to_owned()) } else { Ok(line.text.into_owned()) }
    }
}

type Ordered = Texts<true, 0>;
type Loose = Texts<false, 0>;

fn texts(count: usize) -> Vec<String> {
    (0..count).map(|number| format!("entry {number}\n{}", "a\\ü".repeat(number % 7))).collect()
}

fn open<F: JournalFormat<Head = String, Entry = String>>(
    path: &Path,
) -> Result<(LineJournal<F>, Vec<String>), JournalError> {
    let mut met = Vec::new();
    let (head, syncer) = ("a title".to_owned(), Syncer::by_hand());
    LineJournal::open_or_create(path, Owner::Alone, Access::Ordinary, &head, &syncer, |text, _| met.push(text))
        .map(|journal| (journal, met))
}

fn read_all<F: JournalFormat<Entry = String>>(path: &Path) -> Result<(LineJournal<F>, Vec<String>), JournalError> {
    let mut met = Vec::new();
    LineJournal::read(path, |text, _| met.push(text)).map(|journal| (journal, met))
}

/// A file of an old framing as its writers made it.
fn old_file(framing: usize, texts: &[String]) -> Vec<u8> {
    let mut file = b"anqi texts 1\n".to_vec();
    for (number, text) in std::iter::once("a title").chain(texts.iter().map(String::as_str)).enumerate() {
        let line = match FRAMINGS[framing] {
            Framing::SumFirst => format!("{:08x} {text}\n", crc32fast::hash(text.as_bytes())),
            Framing::SumLast => format!("{text} {:08x}\n", crc32fast::hash(text.as_bytes())),
            _ => {
                let head = format!("text {number} {}", text.len());
                format!("{head} {:08x}\n{text}\n", crc32fast::hash(format!("{head}{text}").as_bytes()))
            }
        };
        file.extend(line.into_bytes());
    }
    file
}

fn append_all<F: JournalFormat<Head = String, Entry = String>>(journal: &mut LineJournal<F>, texts: &[String]) {
    for text in texts {
        journal.append(text).unwrap();
    }
}

fn new_file(texts: &[String]) -> (Mount, std::path::PathBuf) {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("journal");
    let (mut journal, _) = open::<Loose>(&path).unwrap();
    append_all(&mut journal, texts);
    (disk, path)
}

#[test]
fn what_is_written_is_read() {
    let texts = texts(20);
    let (_disk, path) = new_file(&texts);
    let mut places: Vec<Place> = Vec::new();
    let journal: LineJournal<Loose> = LineJournal::read(&path, |_, place| places.push(place)).unwrap();
    assert_eq!(journal.head(), "a title");
    assert_eq!((journal.damages().count(), journal.damages().torn()), (0, None));
    for (text, place) in texts.iter().zip(places) {
        assert_eq!(journal.entry(place).unwrap(), *text);
    }
    let file = String::from_utf8(read(&path).unwrap()).unwrap();
    assert_eq!(file.lines().count(), 22, "one entry a line");
    assert_eq!(file.lines().nth(2).unwrap(), "text 7 9 272f6839 entry 0\\n");
}

/// Cut anywhere, a journal holds exactly the entries whose last byte was written, tells of the piece that was cut off, goes on
/// from there, and keeps every byte.
fn cut_anywhere<F: JournalFormat<Head = String, Entry = String>>(whole: &[u8], texts: &[String], ends: &[usize]) {
    for length in ends[0]..=whole.len() {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join("journal");
        disk.put(&path, &whole[..length]);
        let kept = ends.iter().filter(|&&end| end <= length).count() - 1;
        let (journal, met) = read_all::<F>(&path).unwrap();
        assert_eq!(met, texts[..kept], "cut at {length}");
        assert_eq!(journal.damages().count(), 0, "cut at {length}: {}", journal.damages());
        assert_eq!(journal.damages().torn().is_some(), !ends.contains(&length), "cut at {length}");
        assert_eq!(disk.peek(&path).unwrap(), &whole[..length], "reading changes nothing");
        let (mut journal, _) = open::<F>(&path).unwrap();
        assert_eq!(disk.peek(&path).unwrap(), &whole[..length], "opening changes nothing");
        journal.append(&"one more".to_owned()).unwrap();
        drop(journal);
        // Killed once more, while the next entry was written.
        let file = disk.peek(&path).unwrap();
        for cut in [file.len() - 3, file.len() - 12, length + 2] {
            disk.put(&path, &file[..cut.min(file.len())]);
            let (mut journal, met) = open::<F>(&path).unwrap();
            assert_eq!(met, texts[..kept], "cut at {length} and {cut}");
            journal.append(&"another".to_owned()).unwrap();
            drop(journal);
            let (journal, met) = read_all::<F>(&path).unwrap();
            assert_eq!((met.len(), met.last().unwrap().as_str()), (kept + 1, "another"), "cut at {length} and {cut}");
            let context =
                || format!("cut at {length} and {cut}: {}", String::from_utf8_lossy(&disk.peek(&path).unwrap()));
            assert_eq!((journal.damages().count(), journal.damages().torn()), (0, None), "{}", context());
        }
        disk.put(&path, &file);
        let (journal, met) = read_all::<F>(&path).unwrap();
        assert_eq!((met.len(), met.last().unwrap().as_str()), (kept + 1, "one more"), "cut at {length}");
        assert_eq!((journal.damages().count(), journal.damages().torn()), (0, None), "{}", journal.damages());
        assert!(file.starts_with(&whole[..length]), "the torn piece stays");
    }
}

#[test]
fn a_torn_line_never_was() {
    let texts = texts(4);
    let (_disk, path) = new_file(&texts);
    let whole = read(&path).unwrap();
    let line_ends = |whole: &[u8]| -> Vec<usize> {
        whole.iter().enumerate().filter(|(_, byte)| **byte == b'\n').map(|(at, _)| at + 1).skip(1).collect()
    };
    cut_anywhere::<Loose>(&whole, &texts, &line_ends(&whole));
    // Old lines have no escapes.
    let plain: Vec<String> = texts.iter().map(|text| text.replace('\n', ":")).collect();
    let whole = old_file(1, &plain);
    cut_anywhere::<Texts<true, 1>>(&whole, &plain, &line_ends(&whole));
    let whole = old_file(2, &plain);
    cut_anywhere::<Texts<false, 2>>(&whole, &plain, &line_ends(&whole));
    let whole = old_file(BLOCKS, &texts);
    let ends: Vec<usize> = (0..=texts.len()).map(|count| old_file(BLOCKS, &texts[..count]).len()).collect();
    cut_anywhere::<Texts<false, BLOCKS>>(&whole, &texts, &ends);
}

/// Damages a file over and over. Nothing panics, no file changes, what is read was written, and the message names the line;
/// where entries are independent at most `most_lost` are lost.
fn damaged<F: JournalFormat<Head = String, Entry = String>>(
    whole: &[u8],
    texts: &[String],
    times: usize,
    most_lost: usize,
) {
    for damaged in damage(whole, 24).take(times) {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join("journal");
        disk.put(&path, &damaged.bytes);
        let context = format!("byte {}, cut {}", damaged.at, damaged.is_cut);
        let line = 1 + whole[..damaged.at].iter().filter(|&&byte| byte == b'\n').count() as u64;
        match read_all::<F>(&path) {
            Err(error) => {
                let message = error.to_string();
                assert!(message.contains("journal: ") && message.contains("line "), "{context}: {message}");
            }
            Ok((journal, met)) => {
                let damages = journal.damages();
                let mut all = texts.iter();
                assert!(met.iter().all(|text| all.any(|known| known == text)), "{context}: {met:?}");
                if damaged.is_cut {
                    assert_eq!(damages.count(), 0, "{context}: {damages}");
                } else if F::ORDERED {
                    assert_eq!((damages.count(), damages.torn()), (1, None), "{context}: {damages}");
                } else {
                    assert!(met.len() + most_lost >= texts.len(), "{context}: {damages}");
                    let named = damages.named().first().map(|damage| damage.line).or(damages.torn()).unwrap();
                    assert!(named.abs_diff(line) <= 2, "{context}: {damages}");
                    assert!(damages.to_string().contains(&format!("line {named} ")), "{context}: {damages}");
                }
            }
        }
        match open::<F>(&path) {
            Ok((mut journal, met)) => {
                journal.append(&"one more".to_owned()).unwrap();
                let (_, after) = read_all::<F>(&path).unwrap();
                assert_eq!(after, [&met[..], &["one more".to_owned()]].concat(), "{context}");
            }
            Err(JournalError::Damaged { .. }) => assert!(F::ORDERED && !damaged.is_cut, "{context}"),
            Err(error) => {
                assert!(error.to_string().contains("line 1") || error.to_string().contains("line 2"), "{error}");
            }
        }
        let left = disk.peek(&path).unwrap();
        assert!(left.starts_with(&damaged.bytes), "{context}: the file was changed");
    }
}

/// A hundred thousand damaged files in all.
#[test]
fn damage_is_named_and_nothing_is_shortened() {
    let times = 20_000;
    let texts = texts(12);
    let plain: Vec<String> = texts.iter().map(|text| text.replace('\n', ":")).collect();
    let (_disk, path) = new_file(&texts);
    let whole = read(&path).unwrap();
    damaged::<Loose>(&whole, &texts, times, 1);
    damaged::<Texts<false, 1>>(&old_file(1, &plain), &plain, times, 2);
    damaged::<Texts<false, 2>>(&old_file(2, &plain), &plain, times, 2);
    damaged::<Texts<false, BLOCKS>>(&old_file(BLOCKS, &texts), &texts, times, 2);
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("journal");
    let (mut journal, _) = open::<Ordered>(&path).unwrap();
    append_all(&mut journal, &texts);
    drop(journal);
    damaged::<Ordered>(&read(&path).unwrap(), &texts, times, 12);
}

#[test]
fn ordered_entries_end_at_the_first_damage() {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("journal");
    let (mut journal, _) = open::<Ordered>(&path).unwrap();
    append_all(&mut journal, &["a", "b", "c"].map(str::to_owned));
    drop(journal);
    let whole = String::from_utf8(read(&path).unwrap()).unwrap();
    let lines: Vec<&str> = whole.split_inclusive('\n').collect();
    // A line is missing.
    disk.put(&path, [&lines[..3], &lines[4..]].concat().concat().as_bytes());
    let (journal, met) = read_all::<Ordered>(&path).unwrap();
    assert_eq!(
        (met.join(""), journal.damages().named()[0].reason.clone()),
        ("a".to_owned(), DamageReason::Number { said: 3, expected: 2 })
    );
    let error = open::<Ordered>(&path).unwrap_err().to_string();
    assert!(
        error.ends_with(
            "journal: line 4 is damaged: its number is 3, and 2 was expected; it can be read up to there, \
                             and go on in a new file"
        ),
        "{error}"
    );
    // One is whole and says what it may not.
    let mut journal = {
        disk.put(&path, lines[..3].concat().as_bytes());
        open::<Ordered>(&path).unwrap().0
    };
    journal.append(&"nonsense".to_owned()).unwrap();
    journal.append(&"d".to_owned()).unwrap();
    let (journal, met) = read_all::<Ordered>(&path).unwrap();
    assert_eq!(
        (met.join(""), journal.damages().to_string().as_str()),
        ("a".to_owned(), "line 4 is damaged: it is nonsense")
    );
}

#[test]
fn refuses_what_is_not_its_own() {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("journal");
    let message = |bytes: &[u8]| {
        disk.put(&path, bytes);
        let messages = [read_all::<Loose>(&path).err().unwrap(), open::<Loose>(&path).err().unwrap()];
        assert_eq!(disk.peek(&path).unwrap(), bytes);
        assert_eq!(messages[0].to_string(), messages[1].to_string());
        messages[0].to_string().split_once("journal: ").unwrap().1.to_owned()
    };
    assert_eq!(message(b"my diary\n"), "not a journal of kind \"texts\": line 1 is \"my diary\"");
    assert_eq!(
        message(b"anqi values 2\nhead 0 0 00000000 \n"),
        "not a journal of kind \"texts\": line 1 is \"anqi values 2\""
    );
    assert_eq!(
        message(b"anqi texts 3\n"),
        "line 1 says version \"3\", this program reads versions up to 2; take a newer anqi"
    );
    let error = message(b"anqi texts 2\nhead 0 7 00000000 a title\n");
    assert!(
        error.starts_with("line 2, the head, is damaged: its checksum is 00000000, and that of its text "),
        "{error}"
    );
    assert!(matches!(read_all::<Loose>(&disk.path().join("none")), Err(JournalError::Missing(_))));
    let (mut reading, _) = {
        disk.put(&path, b"");
        drop(open::<Loose>(&path).unwrap());
        read_all::<Loose>(&path).unwrap()
    };
    assert!(matches!(reading.append(&String::new()), Err(JournalError::ReadOnly(_))));
    let (_journal, _) = open::<Loose>(&path).unwrap();
    assert!(matches!(open::<Loose>(&path), Err(JournalError::InUse(_))));
}

/// Every call of making a journal, filling it and reading it again fails once, in every way; then the process dies or the power
/// is cut. Entries that were acknowledged are there after a kill, those that were synced after a power cut, none is there that
/// was refused in good order, and the journal goes on.
fn survives<F: JournalFormat<Head = String, Entry = String>>(before: Option<&[u8]>) {
    struct Outcome {
        acknowledged: Vec<String>,
        synced: Vec<String>,
        failed: bool,
    }
    let begun = before.map(|_| ());
    let runs = every_fault(
        |disk| {
            if let Some(before) = before {
                disk.put(&disk.path().join("journal"), before);
            }
        },
        |disk| {
            let path = disk.path().join("journal");
            let mut outcome = Outcome { acknowledged: Vec::new(), synced: Vec::new(), failed: false };
            for round in 0..2 {
                let Ok((mut journal, _)) = open::<F>(&path) else { continue };
                // After a sync that failed nothing is promised of what it was to force to the disk.
                let mut waiting = Vec::new();
                for number in 0..3 {
                    let text = format!("round {round} number {number}");
                    if journal.append(&text).is_ok() {
                        waiting.push(text.clone());
                        outcome.acknowledged.push(text);
                    }
                    if number > 0 {
                        let synced = journal.sync().is_ok();
                        outcome.failed |= !synced;
                        // Nor, where entries depend on one another, of those after it.
                        let promised = synced && !(F::ORDERED && outcome.failed);
                        outcome.synced.extend(waiting.drain(..).filter(|_| promised));
                    }
                }
            }
            outcome
        },
        |disk, outcome, after| {
            let path = disk.path().join("journal");
            let (journal, met) = match open::<F>(&path) {
                Ok(opened) => opened,
                // In a journal of dependent entries a power cut may leave a gap among those that were not synced.
                Err(JournalError::Damaged { .. }) => {
                    assert!(F::ORDERED && after != After::Restart);
                    let (journal, met) = read_all::<F>(&path).unwrap();
                    (journal, met)
                }
                Err(error) => panic!("{after:?}: {error}: {:?}", disk.peek(&path)),
            };
            assert_eq!((journal.head().as_str(), begun.is_none() || before.is_some()), ("a title", true));
            let kept: Vec<&String> = met.iter().filter(|text| text.starts_with("round")).collect();
            if after == After::Restart {
                assert!(journal.damages().count() == 0, "{}", journal.damages());
                let acknowledged: Vec<&String> =
                    kept.iter().filter(|text| outcome.acknowledged.contains(text)).copied().collect();
                assert_eq!(acknowledged, outcome.acknowledged.iter().collect::<Vec<_>>(), "acknowledged entries");
                // What the process could not hear of any more may be there: the last one.
                assert!(kept.len() <= outcome.acknowledged.len() + 1, "{kept:?} {:?}", outcome.acknowledged);
            } else {
                for text in &outcome.synced {
                    assert!(kept.contains(&text), "{after:?}: {text} was synced: {kept:?}");
                }
            }
            drop(journal);
            if let Ok((mut journal, _)) = open::<F>(&path) {
                journal.append(&"after".to_owned()).unwrap();
                assert_eq!(read_all::<F>(&path).unwrap().1.last().unwrap(), "after");
            }
        },
    );
    assert!(runs > 500, "{runs}");
}

#[test]
fn every_call_may_fail() {
    survives::<Loose>(None);
    survives::<Ordered>(None);
    let texts = texts(3);
    survives::<Texts<false, BLOCKS>>(Some(&old_file(BLOCKS, &texts)));
    let whole = old_file(BLOCKS, &texts);
    survives::<Texts<false, BLOCKS>>(Some(&whole[..whole.len() - 3]));
    let plain: Vec<String> = texts.iter().map(|text| text.replace('\n', ":")).collect();
    let whole = old_file(1, &plain);
    survives::<Texts<true, 1>>(Some(&whole[..whole.len() - 3]));
    survives::<Texts<false, 2>>(Some(&old_file(2, &plain)));
}

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..300), frame in 0..3usize) {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join("journal");
        let file = [&b"anqi texts 1\n"[..], &bytes].concat();
        disk.put(&path, &file);
        match frame {
            0 => drop(read_all::<Texts<false, BLOCKS>>(&path)),
            1 => drop(read_all::<Texts<false, 1>>(&path)),
            _ => drop(read_all::<Texts<true, 2>>(&path)),
        }
        let file = [&b"anqi texts 2\nhead 0 0 9be6baa7 \n"[..], &bytes].concat();
        disk.put(&path, &file);
        drop(read_all::<Loose>(&path));
        prop_assert_eq!(disk.peek(&path).unwrap(), file);
    }

    #[test]
    fn any_text_goes_round(texts in prop::collection::vec(".*\\PC*[\\\\\n\r]?", 0..6)) {
        let disk = SimulatedDisk::mount(1);
        let path = disk.path().join("journal");
        let (mut journal, _) = open::<Loose>(&path).unwrap();
        append_all(&mut journal, &texts);
        drop(journal);
        let expected: Vec<String> = texts.into_iter().filter(|text| text != "nonsense").collect();
        prop_assert_eq!(read_all::<Loose>(&path).unwrap().1, expected);
    }
}
