//! Tables of endings with face-down pieces: built, read, checked, damaged.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anqi_endgame::{Ending, Wdl};
use anqi_rules::{BoardSize, Color, Ladder, Material};
use anqi_solve::{Fraction, Solver, TableFolder, TablesError, ValueTally, Veiled};
use anqi_task::{Status, Stop};

fn build(dir: &Path, pieces: u32, threads: usize) -> usize {
    let mut made = 0;
    let count = |status: &Status| made = status.made().items as usize;
    TableFolder::new(dir).build(pieces, threads.try_into().unwrap(), &Stop::default(), count).unwrap();
    made
}

fn bytes(dir: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = fs::read_dir(dir).unwrap().map(|file| file.unwrap().path());
    files.map(|path| (path.file_name().unwrap().to_str().unwrap().to_owned(), fs::read(path).unwrap())).collect()
}

#[test]
fn three_pieces_whole() {
    let [one, two] = [1, 2].map(|threads| {
        let dir = tempfile::tempdir().unwrap();
        build(dir.path(), 3, threads);
        dir
    });
    let files = bytes(one.path());
    assert!(files == bytes(two.path()), "the number of threads shows");

    // What is missing is made again, as it was; what is there stays.
    let lost: Vec<&String> = files.keys().step_by(3).collect();
    for name in &lost {
        fs::remove_file(one.path().join(name)).unwrap();
    }
    assert_eq!(build(one.path(), 3, 1), lost.len());
    assert!(files == bytes(one.path()), "a table came out otherwise the second time");

    // Every table of three pieces follows from the rules, and counts every placement.
    let mut tables = TableFolder::new(one.path());
    let mut totals = BTreeMap::new();
    for hidden in 0..=2 {
        for veiled in tables.names(3, hidden) {
            let checked = tables.verify(&veiled).unwrap();
            assert!(checked.is_ok_and(|positions| positions > 0), "{veiled}: {checked:?}");
        }
        for veiled in Veiled::all(3, hidden) {
            let total: &mut ValueTally = totals.entry(hidden).or_default();
            for tally in tables.tally(&veiled).unwrap() {
                assert_eq!(tally.total(), placements(&veiled), "{veiled}");
                *total += tally;
            }
        }
    }
    // The totals of endings of three pieces without face-down pieces are known.
    assert_eq!(totals[&0].counts(), [7_822_064, 0, 5_126_256, 0, 7_050_400]);
    assert_eq!((totals[&1].half, totals[&1].minus_half), (0, 0));
}

/// In how many ways shown pieces and face-down squares can be placed.
fn placements(veiled: &Veiled) -> u64 {
    let (mut free, mut ways) = (32, 1);
    let groups = veiled.shown().iter().map(|(_, count)| u64::from(count)).chain([u64::from(veiled.pool().len())]);
    for group in groups {
        for nth in 1..=group {
            ways = ways * free / nth;
            free -= 1;
        }
    }
    ways
}

#[test]
fn revealed_endings_agree_with_endgame_tables() {
    let mut solver = Solver::new(BoardSize::FourByEight, Ladder::Taiwan);
    let mut endgames = anqi_endgame::Tables::default();
    for name in ["N-pp", "KP-kp", "C-nc"] {
        let ending: Ending = name.parse().unwrap();
        endgames.build([ending], 2.try_into().unwrap()).unwrap();
        solver.solve(ending.material(), &Material::EMPTY, 2.try_into().unwrap()).unwrap();
        let veiled = Veiled::new(*ending.material(), Material::EMPTY).unwrap();
        let expected = endgames.tally(&ending).unwrap();
        for color in Color::ALL {
            let tally = solver.tally(&veiled, color).unwrap();
            let expected = expected[color];
            assert_eq!(
                [tally.one, tally.zero, tally.minus_one],
                [expected.win, expected.draw, expected.loss],
                "{name}"
            );
        }
    }
    let position = "4/4/4/4/4/4/p2p/N3 b -".parse().unwrap();
    assert_eq!(endgames.probe(&position).unwrap().wdl(), Wdl::Draw);
    assert_eq!(solver.probe(&position).unwrap().value, Fraction::ZERO);
}

#[test]
fn damaged_and_missing_files_are_errors() {
    let dir = tempfile::tempdir().unwrap();
    build(dir.path(), 2, 1);
    let veiled: Veiled = "K+p".parse().unwrap();
    let path = TableFolder::new(dir.path()).path(&veiled);
    let whole = fs::read(&path).unwrap();
    for place in 0..whole.len() {
        for damaged in [whole[..place].to_vec(), flipped(&whole, place)] {
            fs::write(&path, damaged).unwrap();
            let error = TableFolder::new(dir.path()).load(&veiled).unwrap_err();
            assert!(error.to_string().contains("K+p") || error.to_string().contains("P+n"), "{error}");
        }
    }
    fs::remove_file(&path).unwrap();
    assert!(matches!(TableFolder::new(dir.path()).load(&veiled), Err(TablesError::Missing { .. })));
    // A whole table under another name is refused too.
    let other = TableFolder::new(dir.path()).path(&"C+c".parse().unwrap());
    fs::copy(other, &path).unwrap();
    assert!(matches!(TableFolder::new(dir.path()).load(&veiled), Err(TablesError::Other { .. })));
    let large: Veiled = "KGM+kgm".parse().unwrap();
    assert!(matches!(TableFolder::new(dir.path()).load(&large), Err(TablesError::TooLarge(_))));
}

fn flipped(bytes: &[u8], place: usize) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    bytes[place] ^= 1 << (place % 8);
    bytes
}
