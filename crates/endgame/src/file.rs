//! `TableFile`: a table in a [`Container`], one file for each class, named by its ending and flavour.
//!
//! The head says what the table is, a line for each word:
//!
//! ```text
//! table 1
//! ending PP-n
//! flavour end
//! rules 4x8 taiwan
//! builder anqi 0.1.0
//! width 1
//! red 0 14872 8 -
//! black 1452 13428 0 21
//! ```
//!
//! `red` and `black` count the placements that are won, drawn and lost with that side to move, and give the longest win.
//! The bytes are the codes of [`Value`]s by place: of outcomes four to a byte, the first in the lowest bits; of distances
//! a byte each (`width 1`), or the low bytes of all of them and then the high bytes (`width 2`). A gap has the code of
//! the place before it, because that is the shortest thing to say. The order of places belongs to the format: changing
//! [`Index`] changes the version.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anqi_rules::{ByColor, Color, SquareSet, excerpt};
use anqi_store::{Container, ContainerError, FileClaim};

use crate::block::{count, free};
use crate::cache::{BLOCK, BlockCache, Ticket};
use crate::index::BLOCK_PLACES;
use crate::table::Values;
use crate::{Class, Distance, Ending, Flavour, Index, Measure, Placement, Table, TableError, TableTally, Value, Wdl};

const VERSION: &str = "1";
const RULES: &str = "4x8 taiwan";
const BUILDER: &str = concat!("anqi ", env!("CARGO_PKG_VERSION"));
/// What a table keeps unpacked that shares no cache with others.
const ALONE: usize = 16 * BLOCK;

/// The file of a class in a folder, by the ending that names the class.
#[must_use]
pub fn table_path(dir: &Path, ending: &Ending, flavour: Flavour) -> PathBuf {
    dir.join(format!("{ending}.{flavour}.table"))
}

/// A table in a file: unpacked block by block as it is asked for.
#[derive(Debug)]
pub struct TableFile {
    container: Container,
    ending: Ending,
    class: Class,
    index: Index,
    flavour: Flavour,
    width: usize,
    tally: ByColor<TableTally>,
    blocks: Box<[Ticket]>,
    cache: Arc<BlockCache>,
}

impl TableFile {
    /// Opens a file; its blocks are checked when they are asked for.
    ///
    /// # Errors
    /// If there is no such file, or it is no sound table of ours.
    pub fn open(path: &Path) -> Result<TableFile, TableError> {
        let container = Container::open(path)?;
        let wrong = |what: String| TableError::Head { path: path.display().to_string(), what };
        let field = |name: &str| {
            let line = container.head().lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
            line.ok_or_else(|| wrong(format!("its head says nothing of {name}")))
        };
        let expect = |name: &str, expected: &str| match field(name)? {
            value if value == expected => Ok(()),
            value => Err(wrong(format!("{name} {:?} is not {expected}", excerpt(value)))),
        };
        expect("table", VERSION)?;
        expect("rules", RULES)?;
        let ending: Ending = field("ending")?.parse().map_err(|error| wrong(format!("{error}")))?;
        let flavour: Flavour = field("flavour")?.parse().map_err(|error| wrong(format!("{error}")))?;
        let class = Class::of(&ending).class;
        let index = Index::new(&class).ok_or_else(|| wrong(format!("{ending} has too many pieces")))?;
        let width = match field("width")? {
            "1" => 1,
            "2" => 2,
            width => return Err(wrong(format!("width {:?} is neither 1 nor 2", excerpt(width)))),
        };
        let counts = |color: Color| {
            let text = field(color.name())?;
            read_tally(text).ok_or_else(|| wrong(format!("{:?} is no count of results", excerpt(text))))
        };
        let tally = ByColor([counts(Color::Red)?, counts(Color::Black)?]);
        let bytes = if flavour.measure() == Measure::Outcome { index.places() / 4 } else { index.places() * width };
        if container.len() != bytes as u64 {
            return Err(wrong(format!("it has {} bytes, {ending} takes {bytes}", container.len())));
        }
        if container.block_len() != BLOCK {
            return Err(wrong(format!("its blocks have {} bytes, not {BLOCK}", container.block_len())));
        }
        let blocks = (0..container.block_count()).map(|_| Ticket::default()).collect();
        let cache = Arc::new(BlockCache::new(ALONE));
        Ok(TableFile { container, ending, class, index, flavour, width, tally, blocks, cache })
    }

    /// The same with a cache that other tables share.
    #[must_use]
    pub fn sharing(self, cache: &Arc<BlockCache>) -> TableFile {
        let blocks = self.blocks.iter().map(|_| Ticket::default()).collect();
        TableFile { cache: Arc::clone(cache), blocks, ..self }
    }

    /// The file of a class in a folder, by the ending that names the class; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, is damaged, or is the table of something else.
    pub fn find(dir: &Path, ending: &Ending, flavour: Flavour) -> Result<Option<TableFile>, TableError> {
        let path = table_path(dir, ending, flavour);
        if anqi_store::exists(&path) { TableFile::open_as(&path, ending, flavour).map(Some) } else { Ok(None) }
    }

    /// The same where there must be one.
    ///
    /// # Errors
    /// As for [`TableFile::find`], and if there is none.
    pub fn need(dir: &Path, ending: &Ending, flavour: Flavour) -> Result<TableFile, TableError> {
        let missing = || TableError::Missing { ending: *ending, flavour, dir: dir.display().to_string() };
        TableFile::find(dir, ending, flavour)?.ok_or_else(missing)
    }

    /// Opens a file that must be the table of a certain class.
    pub(crate) fn open_as(path: &Path, ending: &Ending, flavour: Flavour) -> Result<TableFile, TableError> {
        let file = TableFile::open(path)?;
        if file.ending() == ending && file.flavour() == flavour {
            return Ok(file);
        }
        let what = format!("it is the table of {} ({})", file.ending(), file.flavour());
        Err(TableError::Head { path: path.display().to_string(), what })
    }

    /// The ending that names the class.
    #[must_use]
    pub const fn ending(&self) -> &Ending {
        &self.ending
    }

    /// The class.
    #[must_use]
    pub const fn class(&self) -> &Class {
        &self.class
    }

    /// What it says, and under which rule.
    #[must_use]
    pub const fn flavour(&self) -> Flavour {
        self.flavour
    }

    /// The places.
    #[must_use]
    pub const fn index(&self) -> &Index {
        &self.index
    }

    /// The results by the side to move, over all placements, as the head has them.
    #[must_use]
    pub const fn tally(&self) -> &ByColor<TableTally> {
        &self.tally
    }

    /// The checksum in the head of the file, which covers those of all blocks.
    #[must_use]
    pub const fn checksum(&self) -> u32 {
        self.container.checksum()
    }

    /// How many bytes the file has.
    #[must_use]
    pub fn file_len(&self) -> u64 {
        self.container.file_len()
    }

    /// The value of a placement for the side to move.
    ///
    /// # Errors
    /// If the block that holds it cannot be read or is damaged.
    #[inline]
    pub fn value(&self, placement: &Placement) -> Result<Value, ContainerError> {
        let place = self.index.place(placement);
        let code = match (self.flavour.measure(), self.width) {
            (Measure::Outcome, _) => u16::from(self.byte(place / 4)? >> (place % 4 * 2) & 3),
            (_, 1) => u16::from(self.byte(place)?),
            _ => u16::from_le_bytes([self.byte(place)?, self.byte(self.index.places() + place)?]),
        };
        Ok(Value::from_code(code))
    }

    #[inline]
    fn byte(&self, at: usize) -> Result<u8, ContainerError> {
        let (block, at) = (at / BLOCK, at % BLOCK);
        match self.cache.byte(&self.blocks[block], at) {
            Some(byte) => Ok(byte),
            None => self.unpack(block, at),
        }
    }

    #[cold]
    fn unpack(&self, block: usize, at: usize) -> Result<u8, ContainerError> {
        let bytes = self.container.block(block)?;
        self.cache.keep(&self.blocks[block], &bytes);
        Ok(bytes[at])
    }

    /// The whole table.
    ///
    /// # Errors
    /// If a block is damaged, or if the values are not those that the head counts.
    pub fn load(&self) -> Result<Table, TableError> {
        let mut bytes = Vec::with_capacity(self.index.places() * self.width);
        for block in 0..self.container.block_count() {
            bytes.extend(self.container.block(block)?);
        }
        let values = match (self.flavour.measure(), self.width) {
            (Measure::Outcome, _) => {
                Values::Narrow(bytes.iter().flat_map(|byte| [0, 2, 4, 6].map(|shift| byte >> shift & 3)).collect())
            }
            (_, 1) => Values::Narrow(bytes),
            _ => {
                let (low, high) = bytes.split_at(self.index.places());
                Values::Wide(low.iter().zip(high).map(|(&low, &high)| u16::from_le_bytes([low, high])).collect())
            }
        };
        let tally = tally(&self.index, &values);
        let table = Table::new(self.class.clone(), self.index.clone(), self.flavour, values, tally);
        if *table.tally() != self.tally {
            let path = self.container.path().display().to_string();
            return Err(TableError::Head { path, what: "its values are not those that its head counts".to_owned() });
        }
        Ok(table)
    }
}

/// The tables of one flavour in a folder, opened when they are first asked for.
#[derive(Debug)]
pub(crate) struct Folder {
    dir: PathBuf,
    cache: Arc<BlockCache>,
    files: Mutex<HashMap<Class, Option<Arc<TableFile>>>>,
}

impl Folder {
    pub(crate) fn open(dir: &Path, cache: Arc<BlockCache>) -> Result<Folder, TableError> {
        anqi_store::list(dir).map_err(|error| TableError::Folder { path: dir.display().to_string(), error })?;
        Ok(Folder { dir: dir.to_owned(), cache, files: Mutex::default() })
    }

    pub(crate) fn dir(&self) -> &Path {
        &self.dir
    }

    /// The file of a class, if there is one.
    pub(crate) fn file(&self, class: &Class, flavour: Flavour) -> Result<Option<Arc<TableFile>>, TableError> {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(file) = files.get(class) {
            return Ok(file.clone());
        }
        let Some(name) = class.name() else { return Ok(None) };
        let file = TableFile::find(&self.dir, &name, flavour)?.map(|file| Arc::new(file.sharing(&self.cache)));
        files.insert(class.clone(), file.clone());
        Ok(file)
    }
}

/// Writes a table into a file that was claimed, under the ending that names its class.
pub(crate) fn write(claim: FileClaim, ending: &Ending, table: &Table) -> Result<(), ContainerError> {
    let (width, bytes) = encode(table);
    let flavour = table.flavour();
    let [red, black] = Color::ALL.map(|color| written_tally(&table.tally()[color]));
    let head = format!(
        "table {VERSION}\nending {ending}\nflavour {flavour}\nrules {RULES}\nbuilder {BUILDER}\nwidth {width}\n\
         red {red}\nblack {black}\n"
    );
    claim.write(&head, BLOCK, &bytes)
}

/// Results over all placements, each as often as it is in the table.
fn tally(index: &Index, values: &Values) -> ByColor<TableTally> {
    let side = |color: Color| {
        let mut tally = TableTally::default();
        for block in 0..index.blocks() {
            let used = index.sets(block).iter().sum();
            let free = free(used);
            let first = (color as usize * index.blocks() + block) * BLOCK_PLACES;
            let mut counts = [0, 0];
            for (row, &squares) in free.iter().enumerate() {
                for square in SquareSet(squares) {
                    let value = values.get(first + row * 32 + square.index());
                    match value.wdl() {
                        Wdl::Win => {
                            counts[0] += 1;
                            tally.longest = tally.longest.max(value.distance());
                        }
                        Wdl::Draw => {}
                        Wdl::Loss => counts[1] += 1,
                    }
                }
            }
            let [win, loss] = counts.map(|count| count * index.weight(block));
            tally.win += win;
            tally.loss += loss;
            tally.draw += count(&free) * index.weight(block) - win - loss;
        }
        tally
    };
    ByColor(Color::ALL.map(side))
}

/// How many bytes a code takes, and the bytes of the file.
fn encode(table: &Table) -> (usize, Vec<u8>) {
    match table.values() {
        Values::Narrow(codes) => {
            let codes = without_gaps(table.index(), codes);
            if table.flavour().measure() == Measure::Outcome {
                let pack = |codes: &[u8]| codes.iter().rev().fold(0, |byte, code| byte << 2 | code);
                (1, codes.chunks(4).map(pack).collect())
            } else {
                (1, codes)
            }
        }
        Values::Wide(codes) => {
            let codes = without_gaps(table.index(), codes).into_iter().map(u16::to_le_bytes);
            (2, codes.clone().map(|[low, _]| low).chain(codes.map(|[_, high]| high)).collect())
        }
    }
}

/// The codes with each gap filled by the one before it.
fn without_gaps<T: Copy + Default>(index: &Index, codes: &[T]) -> Vec<T> {
    let mut codes = codes.to_vec();
    let mut last = T::default();
    for (block, codes) in codes.chunks_exact_mut(BLOCK_PLACES).enumerate() {
        let used = index.sets(block % index.blocks()).iter().sum();
        for (codes, free) in codes.chunks_exact_mut(32).zip(free(used)) {
            for (square, code) in codes.iter_mut().enumerate() {
                if free >> square & 1 == 1 {
                    last = *code;
                } else {
                    *code = last;
                }
            }
        }
    }
    codes
}

fn written_tally(tally: &TableTally) -> String {
    let longest = tally.longest.map_or("-".to_owned(), |distance| distance.0.to_string());
    format!("{} {} {} {longest}", tally.win, tally.draw, tally.loss)
}

fn read_tally(text: &str) -> Option<TableTally> {
    let mut words = text.split(' ');
    let mut number = || words.next()?.parse().ok();
    let (win, draw, loss) = (number()?, number()?, number()?);
    let longest = match words.next()? {
        "-" => None,
        plies => Some(Distance(plies.parse().ok()?)),
    };
    words.next().is_none().then_some(TableTally { win, draw, loss, longest })
}
