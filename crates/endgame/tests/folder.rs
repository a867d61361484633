//! What a folder of tables says: which are there, whether they are right, how a position is played to its end.

use std::fs;
use std::num::NonZeroUsize;

use anqi_endgame::{Distance, Flavour, TableError, Tablebase, build, classes_up_to, present, table_path, verify_files};
use anqi_rules::Position;
use anqi_task::{Status, Stop};

#[test]
fn a_folder_is_checked_class_by_class() {
    let (dir, two) = (tempfile::tempdir().unwrap(), NonZeroUsize::new(2).unwrap());
    let classes = classes_up_to(3);
    build(dir.path(), Flavour::END, classes.values().copied(), two, &Stop::default(), ()).unwrap();
    let there = present(dir.path(), Flavour::END);
    assert_eq!(there.len(), classes.len());
    assert!(present(dir.path(), Flavour::outcome(None)).is_empty());

    let mut heard = Vec::new();
    let count = |status: &Status| heard.push(status.done.items);
    let found = verify_files(dir.path(), Flavour::END, &there, two, count).unwrap();
    assert_eq!(heard, (0..=there.len() as u64).collect::<Vec<_>>());
    assert_eq!((found.classes, found.wrong.len()), (there.len() as u64, 0));
    assert_eq!(found.positions, 240_560);

    // What captures lead to must be there.
    let small = there.iter().find(|ending| ending.len() == 2).unwrap();
    fs::remove_file(table_path(dir.path(), small, Flavour::END)).unwrap();
    let error = verify_files(dir.path(), Flavour::END, &there, two, ()).unwrap_err();
    assert!(matches!(error, TableError::Missing { .. }), "{error}");
}

#[test]
fn a_line_is_as_long_as_its_distance() {
    let tablebase = Tablebase::solving(Flavour::END, 5);
    // Fig. 7 of Chen, Shen & Hsu.
    let start: Position = "1m2/4/1g2/g3/4/4/1c2/2P1 b -".parse().unwrap();
    let line = tablebase.line(&start).unwrap().unwrap();
    assert_eq!(tablebase.judge(&start).unwrap().unwrap().distance(), Some(Distance(13)));
    assert_eq!(line.moves.len(), 13);
    assert_eq!(line.end.remaining(line.end.turn().unwrap()), 0);

    let drawn: Position = "4/4/4/4/4/4/p2p/N3 b -".parse().unwrap();
    let line = tablebase.line(&drawn).unwrap().unwrap();
    assert_eq!((line.moves.len(), line.end), (0, drawn));

    let unknown: Position = "4/4/4/4/4/4/4/Kgx1 r p".parse().unwrap();
    assert_eq!(tablebase.line(&unknown).unwrap(), Err(unknown));
}
