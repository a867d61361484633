//! Tables that must come out again as they were committed.

use std::collections::HashMap;
use std::path::Path;

use anqi_store::read_small;

use crate::section::Section;
use crate::{ExperimentError, MOST_TABLE_BYTES, io_error};

/// A table that was measured beside the one that was expected.
pub(super) struct Expected {
    /// Rows that are the same in both.
    equal: usize,
    /// Rows that were measured.
    measured: usize,
    /// Rows that were expected.
    expected: usize,
    /// Rows that were measured otherwise, each with what was expected of the same key.
    different: Vec<(String, String)>,
}

/// How many differences are shown.
const MOST_SHOWN: usize = 20;

impl Expected {
    /// Compares a measured table with the committed one, in the columns that the committed one has; the first `keys` of them
    /// say what a row is about. `None` if nothing was committed.
    pub(super) fn compare(path: &Path, measured: &str, keys: usize) -> Result<Option<Expected>, ExperimentError> {
        if !path.exists() {
            return Ok(None);
        }
        let failed = |error| ExperimentError::Table { path: path.display().to_string(), error };
        let bytes = read_small(path, MOST_TABLE_BYTES).map_err(|error| io_error(path, error))?;
        let (names, expected) = rows(&bytes).map_err(failed)?;
        let (columns, measured) = rows(measured.as_bytes()).map_err(failed)?;
        let places: Vec<Option<usize>> =
            names.iter().map(|name| columns.iter().position(|column| column == name)).collect();
        let known: HashMap<&[String], &Vec<String>> =
            expected.iter().map(|row| (&row[..keys.min(row.len())], row)).collect();
        let mut compared =
            Expected { equal: 0, measured: measured.len(), expected: expected.len(), different: Vec::new() };
        for row in &measured {
            let field = |place: &Option<usize>| place.and_then(|place| row.get(place)).cloned().unwrap_or_default();
            let row: Vec<String> = places.iter().map(field).collect();
            match known.get(&row[..keys.min(row.len())]) {
                Some(there) if **there == row => compared.equal += 1,
                there => {
                    let there = there.map_or("nothing".to_owned(), |there| there.join(" "));
                    compared.different.push((row.join(" "), there));
                }
            }
        }
        Ok(Some(compared))
    }

    /// What came out, in words, and a table of differences.
    pub(super) fn section(&self, name: &str) -> Section {
        let Expected { equal, measured, expected, different } = self;
        let title = format!("Compared with `{name}`");
        let before = format!("**{equal} of {measured} rows are those of `{name}`**, which has {expected}.");
        if different.is_empty() {
            return Section { title, before, ..Section::default() };
        }
        let cell = |row: &str| format!("`{row}`");
        let rows = different.iter().take(MOST_SHOWN).map(|(here, there)| vec![cell(here), cell(there)]).collect();
        Section { before, ..Section::table(title, &["measured", "expected"], rows) }
    }
}

/// The names of the columns, and the rows.
fn rows(bytes: &[u8]) -> Result<(Vec<String>, Vec<Vec<String>>), csv::Error> {
    let mut reader = csv::ReaderBuilder::new().trim(csv::Trim::All).from_reader(bytes);
    let fields = |record: &csv::StringRecord| record.iter().map(str::to_owned).collect::<Vec<_>>();
    let names = fields(reader.headers()?);
    let rows = reader.records().map(|record| Ok(fields(&record?))).collect::<Result<_, csv::Error>>()?;
    Ok((names, rows))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::Expected;

    #[test]
    fn rows_are_found_by_their_key() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("known.csv");
        assert!(Expected::compare(&path, "a,b\n", 1).unwrap().is_none());
        fs::write(&path, "a,b,c\n1,2,3\n\"4,4\",5,6\n7,8,9\n").unwrap();
        let compare = |text: &str, keys: usize| Expected::compare(&path, text, keys).unwrap().unwrap();
        let same = compare("a,x,b,c\n\"4,4\",0,5,6\n1,0,2,3\n", 1);
        assert!(same.different.is_empty());
        assert_eq!(same.section("known.csv").before, "**2 of 2 rows are those of `known.csv`**, which has 3.");
        let other = compare("a,b,c\n\"4,4\",5,7\n2,2,3\n7,8,9\n", 2);
        assert_eq!((other.equal, other.different.len()), (1, 2));
        let rows = other.section("known.csv").table.unwrap().rows;
        assert_eq!(rows, [["`4,4 5 7`", "`4,4 5 6`"], ["`2 2 3`", "`nothing`"]]);
    }
}
