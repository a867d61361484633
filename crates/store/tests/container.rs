//! Files are there whole or not at all, and a damaged one gives an error or the right bytes.

use std::fs;
use std::path::Path;

use anqi_store::{Container, ContainerError, FileClaim};
use proptest::prelude::*;

fn write(path: &Path, head: &str, block_len: usize, bytes: &[u8]) {
    FileClaim::new(path).expect("a folder").expect("nobody else").write(head, block_len, bytes).expect("room");
}

fn read(path: &Path) -> Result<(String, Vec<u8>), ContainerError> {
    let container = Container::open(path)?;
    let mut bytes = Vec::new();
    for block in 0..container.block_count() {
        bytes.extend(container.block(block)?);
    }
    assert_eq!(bytes.len() as u64, container.len());
    Ok((container.head().to_owned(), bytes))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]

    #[test]
    fn what_is_written_is_read(head in ".{0,40}", block_len in 1..400usize, bytes in prop::collection::vec(0..3u8, 0..2000)) {
        let dir = tempfile::tempdir().expect("a folder");
        let path = dir.path().join("table");
        write(&path, &head, block_len, &bytes);
        prop_assert_eq!(read(&path).expect("sound"), (head, bytes));
        prop_assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
    }
}

/// Every bit of a small file, and every length.
#[test]
fn damage_is_noticed() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("table");
    let bytes: Vec<u8> = (0..300u32).map(|n| (n * n / 7) as u8).collect();
    write(&path, "head", 80, &bytes);
    let sound = fs::read(&path).expect("written");
    let damaged = dir.path().join("damaged");
    for bit in 0..8 * sound.len() {
        let mut copy = sound.clone();
        copy[bit / 8] ^= 1 << (bit % 8);
        fs::write(&damaged, copy).expect("room");
        let error = read(&damaged).expect_err("a bit is wrong").to_string();
        assert!(error.contains("byte "), "{error}");
    }
    for length in 0..sound.len() {
        fs::write(&damaged, &sound[..length]).expect("room");
        let error = read(&damaged).expect_err("a piece is missing").to_string();
        assert!(error.contains("byte "), "{error}");
    }
    fs::write(&damaged, [&sound[..], b"x"].concat()).expect("room");
    assert!(read(&damaged).is_err());
    fs::write(&damaged, b"something else").expect("room");
    assert_eq!(
        read(&damaged).expect_err("no table").to_string(),
        format!("{}: not a table: it does not begin with anqitab1 at byte 0", damaged.display())
    );
    let mut copy = sound.clone();
    *copy.last_mut().expect("bytes") ^= 1;
    fs::write(&damaged, copy).expect("room");
    let error = read(&damaged).expect_err("wrong").to_string();
    let expected = "block 3 is damaged: it does not fit its checksum (its bytes begin at byte ";
    assert!(error.starts_with(&format!("{}: {expected}", damaged.display())), "{error}");
}

#[test]
fn one_at_a_time_makes_a_file() {
    let dir = tempfile::tempdir().expect("a folder");
    let path = dir.path().join("table");
    let first = FileClaim::new(&path).expect("a folder").expect("nobody else");
    assert!(FileClaim::new(&path).expect("a folder").is_none());
    drop(first); // as if it had died
    let second = FileClaim::new(&path).expect("a folder").expect("nobody else any more");
    second.write("", 10, b"something").expect("room");
    assert!(FileClaim::new(&path).expect("a folder").is_none());
    assert_eq!(read(&path).expect("sound"), (String::new(), b"something".to_vec()));
    assert_eq!(fs::read_dir(dir.path()).expect("a folder").count(), 1);
}
