//! `Tablebase`: what tables say about positions, wherever the tables come from.

use std::collections::HashMap;
use std::num::NonZeroUsize;
#[cfg(feature = "files")]
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError, RwLock};

use anqi_rules::{BoardSize, Color, Ladder, Piece, Position};

#[cfg(feature = "files")]
use crate::BlockCache;
#[cfg(feature = "files")]
use crate::file::{Folder, TableFile};
use crate::index::{MOST_PIECES, Placement};
use crate::{Class, Ending, Flavour, Grouping, TableError, Tables, Value};

/// Tables of one flavour: files of a folder, opened when they are first asked for, and small classes that are solved
/// when they are first asked for. Threads share it.
///
/// ```
/// use anqi_endgame::{Distance, Flavour, Tablebase, Value};
///
/// let tablebase = Tablebase::solving(Flavour::END, 4);
/// let value = tablebase.probe(&"4/4/4/4/4/4/4/NC1p r -".parse()?)?;
/// assert_eq!(value, Some(Value::win(Distance(17))));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct Tablebase {
    flavour: Flavour,
    #[cfg(feature = "files")]
    folder: Option<Folder>,
    /// Classes of so many pieces are solved if there is no file.
    solves: u32,
    /// No table is larger.
    most: u32,
    /// By what is on the board.
    found: RwLock<HashMap<Key, Option<Found>>>,
    solved: Mutex<Tables>,
}

/// How many there are of each piece, three bits each: no more than six pieces are asked for.
type Key = u64;

/// A table, and how to read a position there.
#[derive(Clone, Debug)]
struct Found {
    source: Source,
    grouping: Grouping,
}

#[derive(Clone, Debug)]
enum Source {
    #[cfg(feature = "files")]
    File(Arc<TableFile>),
    Solved(Arc<crate::Table>),
}

impl Tablebase {
    /// The tables of a flavour in a folder, with a cache of the usual size.
    ///
    /// # Errors
    /// If the folder cannot be read.
    #[cfg(feature = "files")]
    pub fn open(dir: &Path, flavour: Flavour) -> Result<Tablebase, TableError> {
        Tablebase::open_sharing(dir, flavour, Arc::default())
    }

    /// The same with a cache that other tables share.
    ///
    /// # Errors
    /// If the folder cannot be read.
    #[cfg(feature = "files")]
    pub fn open_sharing(dir: &Path, flavour: Flavour, cache: Arc<BlockCache>) -> Result<Tablebase, TableError> {
        let folder = Some(Folder::open(dir, cache)?);
        Ok(Tablebase { folder, most: MOST_PIECES as u32, ..Tablebase::solving(flavour, 0) })
    }

    /// No files: classes of up to `pieces` pieces are solved when they are first asked for, some milliseconds for one of
    /// four pieces.
    #[must_use]
    pub fn solving(flavour: Flavour, pieces: u32) -> Tablebase {
        Tablebase {
            flavour,
            #[cfg(feature = "files")]
            folder: None,
            solves: pieces,
            most: pieces,
            found: RwLock::default(),
            solved: Mutex::new(Tables::new(flavour)),
        }
    }

    /// The same, solving classes of up to `pieces` pieces where there is no file.
    #[must_use]
    pub fn and_solving(self, pieces: u32) -> Tablebase {
        Tablebase { solves: pieces, most: self.most.max(pieces), ..self }
    }

    /// What the tables say, and under which rule.
    #[must_use]
    pub const fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// The folder.
    #[cfg(feature = "files")]
    #[must_use]
    pub fn dir(&self) -> Option<&Path> {
        self.folder.as_ref().map(Folder::dir)
    }

    /// The value of a position for the side to move. `None` if a piece is face down, a side has nothing left, the board
    /// or the ladder is another one, or there is no table.
    ///
    /// # Errors
    /// If the file of the table cannot be read or is damaged.
    #[inline]
    pub fn probe(&self, position: &Position) -> Result<Option<Value>, TableError> {
        let Some(turn) = position.turn() else { return Ok(None) };
        let counts = Color::ALL.map(|color| position.pieces(color).len());
        if counts[0] + counts[1] > self.most || counts.contains(&0) || !position.hidden().is_empty() {
            return Ok(None);
        }
        if position.board() != BoardSize::FourByEight || position.ladder() != Ladder::Taiwan {
            return Ok(None);
        }
        let rungs = position.by_rung();
        let sets = Color::ALL.map(|color| rungs.map(|set| (set & position.pieces(color)).0));
        let key = sets.as_flattened().iter().fold(0, |key, set| key << 3 | Key::from(set.count_ones()));
        let found = self.found.read().unwrap_or_else(PoisonError::into_inner);
        if let Some(found) = found.get(&key) {
            return found.as_ref().map(|found| found.value(turn, &sets)).transpose();
        }
        drop(found);
        let found = self.find(position)?;
        let value = found.as_ref().map(|found| found.value(turn, &sets)).transpose();
        self.found.write().unwrap_or_else(PoisonError::into_inner).insert(key, found);
        value
    }

    #[cold]
    fn find(&self, position: &Position) -> Result<Option<Found>, TableError> {
        let Ok(ending) = Ending::try_from(position.revealed()) else { return Ok(None) };
        let grouping = Class::of(&ending);
        let solved = || if ending.len() <= self.solves { self.solve(ending).map(Source::Solved) } else { None };
        #[cfg(feature = "files")]
        let source = self.file(&grouping.class)?.map(Source::File).or_else(solved);
        #[cfg(not(feature = "files"))]
        let source = solved();
        Ok(source.map(|source| Found { source, grouping }))
    }

    /// The file of a class, if there is one.
    ///
    /// # Errors
    /// If it cannot be read or is damaged.
    #[cfg(feature = "files")]
    pub fn file(&self, class: &Class) -> Result<Option<Arc<TableFile>>, TableError> {
        self.folder.as_ref().map_or(Ok(None), |folder| folder.file(class, self.flavour))
    }

    fn solve(&self, ending: Ending) -> Option<Arc<crate::Table>> {
        let mut solved = self.solved.lock().unwrap_or_else(PoisonError::into_inner);
        solved.build([ending], NonZeroUsize::MIN).ok()?;
        solved.shared(&ending)
    }
}

impl Found {
    /// `sets` are by colour and rung.
    #[inline]
    fn value(&self, turn: Color, sets: &[[u32; 7]; 2]) -> Result<Value, TableError> {
        let mut placement = Placement { sets: [0; MOST_PIECES], turn: self.grouping.color(turn) };
        for color in Color::ALL {
            for (rung, set) in (1..).zip(sets[color as usize]) {
                if set != 0 {
                    let piece = Piece { color, kind: Ladder::Taiwan.kind(rung) };
                    placement.sets[self.grouping.part(piece.index())] |= set;
                }
            }
        }
        match &self.source {
            #[cfg(feature = "files")]
            Source::File(file) => Ok(file.value(&placement)?),
            Source::Solved(table) => Ok(table.value(&placement)),
        }
    }
}
