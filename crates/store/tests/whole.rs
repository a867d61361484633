//! A file that is written whole is there whole or not at all, whatever fails.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::mpsc;

use anqi_store::faults::{DiskFault, SimulatedDisk, every_fault};
use anqi_store::{
    Access, Container, FileClaim, FolderLock, JournalError, JournalFormat, JournalLine, LineJournal, LockError, Old,
    Owner, Syncer, create_folders, read_text, write_whole,
};

fn read(path: &Path) -> io::Result<Vec<u8>> {
    anqi_store::read_small(path, usize::MAX)
}

fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, Access::Ordinary, |out| out.write_all(bytes))
}

#[test]
fn every_call_of_write_whole_may_fail() {
    let (old, new) = (vec![b'o'; 1000], vec![b'n'; 200_000]);
    let runs = every_fault(
        |disk| disk.put(&disk.path().join("file"), &old),
        |disk| write(&disk.path().join("file"), &new).is_ok(),
        |disk, was_written, after| {
            let path = disk.path().join("file");
            let left = read(&path).unwrap();
            assert!(left == old || left == new, "{after:?}: {} bytes", left.len());
            assert!(!was_written || left == new, "{after:?}");
            // What was left behind is no obstacle.
            write(&path, b"again").unwrap();
            assert_eq!((read(&path).unwrap().as_slice(), disk.names()), (&b"again"[..], vec![path]));
        },
    );
    assert!(runs > 100, "{runs}");
}

#[test]
fn every_call_of_a_claim_may_fail() {
    let bytes: Vec<u8> = (0..30_000u32).map(|n| (n * n / 7) as u8).collect();
    let made = |path: &Path| -> Result<bool, Box<dyn std::error::Error>> {
        create_folders(path.parent().unwrap())?;
        let Some(claim) = FileClaim::new(path)? else { return Ok(false) };
        claim.write("head", 1000, &bytes)?;
        Ok(true)
    };
    let sound = |path: &Path| {
        let container = Container::open(path).unwrap();
        let blocks = (0..container.block_count()).flat_map(|block| container.block(block).unwrap().into_vec());
        assert_eq!(blocks.collect::<Vec<u8>>(), bytes);
    };
    every_fault(
        |_| {},
        |disk| made(&disk.path().join("a/b/table")).unwrap_or(false),
        |disk, was_made, after| {
            let path = disk.path().join("a/b/table");
            if disk.peek(&path).is_some() {
                sound(&path);
            } else {
                assert!(!was_made, "{after:?}");
            }
            let is_missing = disk.peek(&path).is_none();
            assert_eq!(made(&path).unwrap(), is_missing);
            sound(&path);
        },
    );
}

#[test]
fn a_secret_is_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let mode = |name: &str, access| {
        let path = dir.path().join(name);
        write_whole(&path, access, |out| out.write_all(b"x")).unwrap();
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    };
    let usual = dir.path().join("usual");
    fs::write(&usual, "as the umask says").unwrap();
    let usual = fs::metadata(usual).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("secret", Access::Secret), mode("ordinary", Access::Ordinary)), (0o600, usual));
}

#[test]
fn what_is_in_the_way_stays() {
    let dir = tempfile::tempdir().unwrap();
    let (path, part) = (dir.path().join("file"), dir.path().join("file.part"));
    // A link that leads to a file of somebody else.
    let other = dir.path().join("other");
    fs::write(&other, "precious").unwrap();
    std::os::unix::fs::symlink(&other, &part).unwrap();
    let error = write(&path, b"x").unwrap_err().to_string();
    assert!(error.ends_with("file.part is in the way"), "{error}");
    assert_eq!(fs::read(&other).unwrap(), b"precious");
    fs::remove_file(&part).unwrap();
    // What a killed writer has left.
    fs::write(&part, "half").unwrap();
    write(&path, b"x").unwrap();
    assert!(!part.exists());
    // No file at all.
    fs::create_dir(dir.path().join("folder")).unwrap();
    assert_eq!(write(&dir.path().join("folder"), b"x").unwrap_err().to_string(), "it is there and not a file");
    // An error of the one who fills it leaves nothing.
    let failed = write_whole(&path, Access::Ordinary, |_| Err(io::Error::other("no more"))).unwrap_err();
    assert_eq!((failed.to_string().as_str(), fs::read(&path).unwrap().as_slice()), ("no more", &b"x"[..]));
    assert!(!part.exists());
}

#[test]
fn one_process_at_a_time_in_a_folder() {
    let disk = SimulatedDisk::mount(1);
    let dir = disk.path().join("games");
    let lock = FolderLock::take(&dir).unwrap();
    assert!(matches!(FolderLock::take(&dir), Err(LockError::Held(_))));
    drop(lock);
    drop(FolderLock::take(&dir).unwrap());
    let _abandoned = FolderLock::take(&dir).unwrap();
    disk.restart();
    FolderLock::take(&dir).unwrap();
}

struct Lines;

impl JournalFormat for Lines {
    const NAME: &'static str = "lines";
    const ORDERED: bool = true;
    const OLD: Option<Old> = None;
    type Head = ();
    type Entry = String;

    fn write_head((): &()) -> String {
        String::new()
    }

    fn read_head(_: &str) -> Result<(), String> {
        Ok(())
    }

    fn write(entry: &String) -> JournalLine<'_> {
        JournalLine::new("line", 0, entry.as_str())
    }

    fn read(line: JournalLine<'_>) -> Result<String, String> {
        Ok(line.text.into_owned())
    }
}

/// After a second it is told how it stands: of a journal that is sound, of one whose file was deleted, and of one that is
/// over, whose file may go. An open journal keeps what went wrong.
#[test]
fn what_does_not_reach_the_disk_is_told() {
    let dir = tempfile::tempdir().unwrap();
    let (tell, told) = mpsc::channel();
    let syncer = Syncer::start(move |path, result| {
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        tell.send((name, result.is_ok())).unwrap();
    });
    let syncer = syncer.unwrap();
    let begin = |name: &str| {
        let path = dir.path().join(name);
        let mut journal: LineJournal<Lines> =
            LineJournal::open_or_create(&path, Owner::Alone, Access::Secret, &(), &syncer, |_, _| {}).unwrap();
        journal.append(&"one".to_owned()).unwrap();
        journal
    };
    let (_sound, taken, over) = (begin("sound"), begin("taken"), begin("over"));
    fs::remove_file(taken.path()).unwrap();
    over.remove().unwrap();
    let mut heard: Vec<_> = (0..3).map(|_| told.recv().unwrap()).collect();
    heard.sort();
    assert_eq!(heard, [("over".to_owned(), true), ("sound".to_owned(), true), ("taken".to_owned(), false)]);
    let error = taken.check().unwrap_err();
    assert!(matches!(error, JournalError::Gone(_)), "{error}");
    assert!(error.to_string().ends_with("taken was deleted while in use"), "{error}");
}

#[test]
fn a_sync_that_failed_stays_failed() {
    let disk = SimulatedDisk::mount(1);
    let path = disk.path().join("journal");
    let mut journal: LineJournal<Lines> =
        LineJournal::open_or_create(&path, Owner::Alone, Access::Ordinary, &(), &Syncer::by_hand(), |_, _| {}).unwrap();
    journal.append(&"one".to_owned()).unwrap();
    disk.fail(0, DiskFault::Error);
    assert!(matches!(journal.sync(), Err(JournalError::NotSynced { .. })));
    let error = journal.sync().unwrap_err().to_string();
    assert!(error.ends_with("journal: what was written may be lost at a power cut: simulated fault"), "{error}");
    // It is in the file all the same.
    journal.append(&"two".to_owned()).unwrap();
    let mut count = 0;
    let _reading: LineJournal<Lines> = LineJournal::read(&path, |_, _| count += 1).unwrap();
    assert_eq!(count, 2);
}

/// A file that is larger than it may be is refused, and so is one that does not say how large it is.
#[test]
fn a_large_file_is_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large");
    fs::File::create(&path).unwrap().set_len(1 << 40).unwrap();
    let told = "it has more than 1000 bytes, the most that such a file may have; check that it is the right file";
    for path in [&path, Path::new("/dev/zero")] {
        let error = anqi_store::read_small(path, 1000).unwrap_err();
        assert_eq!((error.kind(), error.to_string().as_str()), (std::io::ErrorKind::FileTooLarge, told));
    }
    fs::write(&path, [b'x'; 1000]).unwrap();
    assert_eq!(read_text(&path, 1000).unwrap().len(), 1000);
    assert!(read_text(&path, 999).is_err());
    fs::write(&path, b"\xff").unwrap();
    assert!(read_text(&path, 1000).unwrap_err().to_string().contains("utf-8"));
}
