//! Results of classes that are too many to keep as tables: a file of comma-separated values, a line for each class.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::io;
use std::path::{Path, PathBuf};

use anqi_rules::{ByColor, Color};
use anqi_store::{Access, read_text, write_whole};

use crate::{Class, Ending, Index, TableTally};

const HEADER: &str =
    "class,positions,red_win,red_draw,red_loss,red_longest,black_win,black_draw,black_loss,black_longest\n";

/// The lines of all classes of six pieces have less.
const MOST_BYTES: usize = 64 << 20;

/// A file of results, of which every line is there whole.
#[derive(Clone, Debug)]
pub struct CountsFile {
    path: PathBuf,
    text: String,
    known: BTreeSet<String>,
}

impl CountsFile {
    /// Reads the file, if there is one. What is behind its last whole line is passed over.
    ///
    /// # Errors
    /// If it cannot be read.
    pub fn open(path: &Path) -> io::Result<CountsFile> {
        let mut text = match read_text(path, MOST_BYTES) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            text => text?,
        };
        text.truncate(text.rfind('\n').map_or(0, |end| end + 1));
        if text.is_empty() {
            text = HEADER.to_owned();
        }
        let class = |line: &str| line.split_once(',').map(|(class, _)| class.to_owned());
        let known = text.lines().skip(1).filter_map(class).collect();
        Ok(CountsFile { path: path.to_owned(), text, known })
    }

    /// Whether it has the class of this name.
    #[must_use]
    pub fn has(&self, ending: &Ending) -> bool {
        self.known.contains(&ending.to_string())
    }

    /// Writes the file with one more class, whole or not at all.
    ///
    /// # Errors
    /// If it cannot be written; then it is as it was.
    pub fn add(&mut self, ending: Ending, tally: &ByColor<TableTally>) -> io::Result<()> {
        let positions = Index::new(&Class::of(&ending).class).map_or(0, |index| index.positions());
        let side = |color: Color| {
            let TableTally { win, draw, loss, longest } = tally[color];
            format!("{win},{draw},{loss},{}", longest.map_or_else(String::new, |plies| plies.0.to_string()))
        };
        let line = format!("{ending},{positions},{},{}\n", side(Color::Red), side(Color::Black));
        let mut text = self.text.clone();
        text.insert_str(self.place(&ending), &line);
        write_whole(&self.path, Access::Ordinary, |file| file.write_all(text.as_bytes()))?;
        self.text = text;
        self.known.insert(ending.to_string());
        Ok(())
    }

    /// Where the line of a class belongs: fewer pieces first, then against the order of [`Class::all`], as one thread solves them.
    fn place(&self, ending: &Ending) -> usize {
        let order = |ending: &Ending| (ending.len(), Reverse(Class::of(ending).class));
        let (new, mut place) = (order(ending), self.text.find('\n').map_or(self.text.len(), |end| end + 1));
        for line in self.text[place..].split_inclusive('\n') {
            let known = line.split(',').next().and_then(|class| class.parse::<Ending>().ok());
            if known.is_some_and(|known| order(&known) > new) {
                break;
            }
            place += line.len();
        }
        place
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::num::NonZeroUsize;

    use super::*;
    use crate::{Flavour, Tables};

    /// Threads end in any order.
    #[test]
    fn lines_do_not_depend_on_which_class_was_solved_first() {
        let dir = tempfile::tempdir().unwrap();
        let names: Vec<Ending> = Class::all(2).into_values().collect();
        let mut tables = Tables::new(Flavour::END);
        tables.build(names.iter().copied(), NonZeroUsize::MIN).unwrap();
        let written = |name: &str, order: &[Ending]| {
            let path = dir.path().join(name);
            let mut file = CountsFile::open(&path).unwrap();
            order.iter().for_each(|name| file.add(*name, tables.table(name).unwrap().0.tally()).unwrap());
            fs::read_to_string(path).unwrap()
        };
        let backwards: Vec<Ending> = names.iter().rev().copied().collect();
        assert_eq!(written("forwards.csv", &names), written("backwards.csv", &backwards));
    }

    #[test]
    fn a_torn_line_is_passed_over_and_written_again() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("counts.csv");
        let names: [Ending; 2] = ["K-p", "N-p"].map(|name| name.parse().unwrap());
        let mut tables = Tables::new(Flavour::END);
        tables.build(names, NonZeroUsize::MIN).unwrap();
        let mut file = CountsFile::open(&path).unwrap();
        for name in names {
            assert!(!file.has(&name));
            file.add(name, tables.table(&name).unwrap().0.tally()).unwrap();
        }
        let whole = fs::read_to_string(&path).unwrap();
        assert_eq!(whole.lines().count(), 3, "{whole}");

        let torn = &whole[..whole.len() - 5];
        fs::write(&path, torn).unwrap();
        let mut file = CountsFile::open(&path).unwrap();
        assert_eq!(names.map(|name| file.has(&name)), [true, false]);
        assert_eq!(fs::read_to_string(&path).unwrap(), torn, "reading changes nothing");
        file.add(names[1], tables.table(&names[1]).unwrap().0.tally()).unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), whole);
    }
}
