//! Tables that must come out again as they were committed.

use std::path::Path;

use anqi_store::read_text;

use crate::section::Section;
use crate::{ExperimentError, MOST_TABLE_BYTES, io_error};

/// A table that was measured beside the one that was expected, both as comma-separated values with a line of names.
pub(super) struct Expected {
    /// Lines that are the same in both.
    equal: usize,
    /// Lines that were measured.
    measured: usize,
    /// Lines that were expected.
    expected: usize,
    /// The first lines that were measured otherwise, each with what was expected of the same key.
    different: Vec<(String, String)>,
}

/// How many differences are shown.
const MOST_SHOWN: usize = 20;

impl Expected {
    /// Compares a measured table with the committed one. The first `keys` fields of a line say what it is about. `None` if
    /// nothing was committed.
    pub(super) fn compare(path: &Path, measured: &str, keys: usize) -> Result<Option<Expected>, ExperimentError> {
        if !path.exists() {
            return Ok(None);
        }
        let expected = read_text(path, MOST_TABLE_BYTES).map_err(|error| io_error(path, error))?;
        let key = |line: &str| line.match_indices(',').nth(keys - 1).map_or(line.len(), |(place, _)| place);
        let known: std::collections::HashMap<&str, &str> =
            expected.lines().map(|line| (&line[..key(line)], line)).collect();
        let mut compared =
            Expected { equal: 0, measured: 0, expected: expected.lines().skip(1).count(), different: Vec::new() };
        for line in measured.lines().skip(1) {
            compared.measured += 1;
            match known.get(&line[..key(line)]) {
                Some(there) if *there == line => compared.equal += 1,
                there => {
                    let there = there.map_or("nothing", |there| there);
                    compared.different.push((line.to_owned(), there.to_owned()));
                }
            }
        }
        Ok(Some(compared))
    }

    /// Whether all that was measured is as expected.
    pub(super) fn is_equal(&self) -> bool {
        self.different.is_empty()
    }

    /// What came out, in words, and a table of differences.
    pub(super) fn section(&self, name: &str) -> Section {
        let Expected { equal, measured, expected, different } = self;
        let before = format!(
            "**{equal} of {measured} lines are those of `{name}`**, which has {expected}{}.",
            if self.is_equal() { "" } else { "; the others differ" }
        );
        let cell = |line: &str| format!("`{line}`");
        let rows = different.iter().take(MOST_SHOWN).map(|(here, there)| vec![cell(here), cell(there)]).collect();
        let title = format!("Compared with `{name}`");
        if self.is_equal() {
            return Section { title, before, ..Section::default() };
        }
        Section { before, ..Section::table(title, &["measured", "expected"], rows) }
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Expected;

    #[test]
    fn lines_are_found_by_their_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("known.csv");
        assert!(Expected::compare(&path, "a,b\n", 1).unwrap().is_none());
        fs::write(&path, "a,b,c\n1,2,3\n4,5,6\n7,8,9\n").unwrap();
        let compare = |text: &str, keys: usize| Expected::compare(&path, text, keys).unwrap().unwrap();
        let same = compare("a,b,c\n4,5,6\n1,2,3\n", 1);
        assert!(same.is_equal());
        assert_eq!(same.section("known.csv").before, "**2 of 2 lines are those of `known.csv`**, which has 3.");
        let other = compare("a,b,c\n4,5,7\n2,2,3\n7,8,9\n", 2);
        assert_eq!((other.equal, other.different.len()), (1, 2));
        let rows = other.section("known.csv").table.unwrap().rows;
        assert_eq!(rows, [["`4,5,7`", "`4,5,6`"], ["`2,2,3`", "`nothing`"]]);
    }
}
