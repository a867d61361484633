//! Published and exact counts of material classes.

use std::collections::HashSet;

use anqi_endgame::{Class, Ending};

#[test]
fn counts_of_classes() {
    let counts: Vec<usize> = (2..=7).map(|pieces| Class::all(pieces).len()).collect();
    assert_eq!(counts, [5, 20, 75, 233, 709, 1998]);
}

/// Chen et al. count endings of 3 to 8 pieces; 5.82 % of them remain.
#[test]
fn classes_of_three_to_eight_pieces() {
    let endings: usize = (3..=8).map(|pieces| Ending::all(pieces).count()).sum();
    let classes: Vec<usize> = (3..=8).map(|pieces| Class::all(pieces).len()).collect();
    assert_eq!((endings, classes[5], classes.iter().sum::<usize>()), (144_158, 5348, 8383));
}

/// Every combination of revealed pieces but the 49 of one against one: 28.93 % remain.
#[test]
#[ignore = "canonises 8.5 million endings"]
fn classes_of_all_revealed_endings() {
    let mut endings = 0;
    let mut classes = HashSet::new();
    for pieces in 3..=32 {
        for ending in Ending::all(pieces) {
            endings += 1;
            classes.insert(Class::of(&ending).class);
        }
    }
    assert_eq!((endings, classes.len()), (8_497_176, 2_458_641));
}

#[test]
fn names_are_read_and_printed() {
    for pieces in 2..=4 {
        for ending in Ending::all(pieces) {
            assert_eq!(ending.to_string().parse(), Ok(ending));
        }
    }
    for bad in ["", "-", "N", "N-", "-p", "N-P", "n-p", "N-pp-", "KK-p", "N-pppppp", "Nx-p", "N–p", &"P-p".repeat(99)]
    {
        let error = bad.parse::<Ending>().expect_err(bad).to_string();
        assert!(error.len() < 300, "{error}");
    }
}
