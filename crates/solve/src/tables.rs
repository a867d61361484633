//! `TableFolder`: endings of the 4×8 board with face-down pieces, in a folder of files.
//!
//! One file for each class of endings, named by its simplest member (`Kn+Pp.veiled`), in the container of
//! `anqi-endgame`: compressed blocks with checksums, there whole or not at all. The bytes are the values of the levels in
//! ascending order of their face-down squares, each in the order of its index, in units of 1/h! as signed bytes. Classes
//! without face-down pieces are in the folder too, because flips lead to them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

use anqi_endgame::Class;
use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Position, excerpt};
use anqi_store::{Container, ContainerError, FileClaim};
use anqi_task::{Progress, Status, Stop};

use crate::level::{SolvedLevel, successors};
use crate::solver::ClassLevels;
use crate::{Solver, ValueTally, Veiled, Worth};

/// The most pieces of a table.
pub const MOST_PIECES: u32 = 5;
/// The most of them that lie face down.
pub const MOST_HIDDEN: u32 = 2;

const BLOCK: usize = 1 << 16;

/// A folder of tables, and those of them that are in memory.
#[derive(Debug)]
pub struct TableFolder {
    dir: PathBuf,
    solver: Solver,
    /// By number of pieces and of face-down pieces.
    classes: HashMap<(u32, u32), BTreeMap<Class, (Veiled, u32)>>,
}

/// What can go wrong with tables.
#[derive(Debug, thiserror::Error)]
pub enum TablesError {
    /// The file of a table cannot be read or written.
    #[error(transparent)]
    Container(#[from] ContainerError),
    /// The file is whole, and not what its name says.
    #[error("{path}: not the table of {expected}: {found:?}")]
    Other {
        /// The file.
        path: String,
        /// What its name says.
        expected: Veiled,
        /// The beginning of what it says itself.
        found: String,
    },
    /// Something needed is not built.
    #[error("{} is not there: build the tables of {} pieces first", path.display(), .veiled.pieces().len())]
    Missing {
        /// The file.
        path: PathBuf,
        /// Which ending.
        veiled: Veiled,
    },
    /// Tables end before this.
    #[error("{0} has more than {MOST_PIECES} pieces or more than {MOST_HIDDEN} face down")]
    TooLarge(Veiled),
}

impl TableFolder {
    /// The tables of a folder. Nothing is read yet.
    #[must_use]
    pub fn new(dir: &Path) -> TableFolder {
        let solver = Solver::new(BoardSize::FourByEight, Ladder::Taiwan);
        TableFolder { dir: dir.to_owned(), solver, classes: HashMap::new() }
    }

    /// Every ending that names a class, by pieces, then by face-down pieces.
    pub fn names(&mut self, pieces: u32, hidden: u32) -> Vec<Veiled> {
        self.classes(pieces, hidden).values().map(|(name, _)| *name).collect()
    }

    /// The endings whose tables are there, by pieces, then by face-down pieces.
    pub fn present(&mut self) -> Vec<Veiled> {
        let sizes =
            (2..=MOST_PIECES).flat_map(|pieces| (0..=MOST_HIDDEN.min(pieces - 1)).map(move |hidden| (pieces, hidden)));
        let all: Vec<Veiled> = sizes.flat_map(|(pieces, hidden)| self.names(pieces, hidden)).collect();
        all.into_iter().filter(|veiled| self.path(veiled).exists()).collect()
    }

    /// How many endings the class of `veiled` has.
    pub fn members(&mut self, veiled: &Veiled) -> u32 {
        let class = veiled.grouping().class;
        self.classes(class.pieces(), class.hidden()).get(&class).map_or(0, |(_, count)| *count)
    }

    fn classes(&mut self, pieces: u32, hidden: u32) -> &BTreeMap<Class, (Veiled, u32)> {
        self.classes.entry((pieces, hidden)).or_insert_with(|| classes(pieces, hidden))
    }

    /// The file of the class of `veiled`.
    pub fn path(&mut self, veiled: &Veiled) -> PathBuf {
        let class = veiled.grouping().class;
        let name = self.classes(class.pieces(), class.hidden()).get(&class).map_or(*veiled, |(name, _)| *name);
        self.dir.join(format!("{name}.veiled"))
    }

    /// Builds all tables of up to `pieces` pieces that are not there yet, until `stop` is raised. `progress` counts tables
    /// and their positions, up to symmetry. The files are the same for any number of threads, interrupted or not.
    ///
    /// # Errors
    /// If a file cannot be read or written.
    pub fn build(
        &mut self,
        pieces: u32,
        threads: NonZeroUsize,
        stop: &Stop,
        mut progress: impl Progress,
    ) -> Result<(), TablesError> {
        let pieces = pieces.min(MOST_PIECES);
        let families: Vec<_> = (2..=pieces).flat_map(|pieces| self.families(pieces)).collect();
        let mut status = Status::default();
        families.iter().flatten().for_each(|veiled| status.all.add(self.solver.size(&veiled.grouping().class)));
        // Families do not need each other; as many at once as keep all threads busy.
        let mut rest = &families[..];
        while let Some(first) = rest.first() {
            let pieces = first[0].pieces().len();
            let alike = rest.iter().take_while(|family| family[0].pieces().len() == pieces).count();
            let (some, after) = rest.split_at(alike.min(2 * threads.get()));
            rest = after;
            if stop.is_raised() {
                break;
            }
            let some: Vec<Veiled> = some.concat();
            self.build_together(&some, threads, |positions, was_there| {
                status.add(positions, was_there);
                progress.report(&status);
            })?;
            self.solver.forget(|class| class.pieces() == pieces);
        }
        Ok(())
    }

    /// Classes of the same pieces, whatever of them is face down: flips lead from one to another.
    fn families(&mut self, pieces: u32) -> Vec<Vec<Veiled>> {
        let mut families: BTreeMap<Class, Vec<Veiled>> = BTreeMap::new();
        for hidden in 0..=MOST_HIDDEN.min(pieces - 1) {
            for name in self.names(pieces, hidden) {
                let together = Class::of_pieces(&name.pieces(), &Material::EMPTY, Ladder::Taiwan).class;
                families.entry(together).or_default().push(name);
            }
        }
        families.into_values().collect()
    }

    /// Builds tables that need each other and smaller ones.
    fn build_together(
        &mut self,
        family: &[Veiled],
        threads: NonZeroUsize,
        mut done: impl FnMut(u64, bool),
    ) -> Result<(), TablesError> {
        let mut missing = Vec::new();
        for veiled in family {
            let path = self.path(veiled);
            if anqi_store::exists(&path) {
                done(self.solver.size(&veiled.grouping().class), true);
            } else {
                missing.push((*veiled, path));
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let mut waves: BTreeMap<(u32, u32), BTreeSet<Class>> = BTreeMap::new();
        let mut files = HashMap::new();
        for (veiled, path) in missing {
            let class = veiled.grouping().class;
            waves.entry((class.pieces(), class.hidden())).or_default().insert(class.clone());
            files.insert(class, (veiled, path));
        }
        for class in files.keys() {
            for smaller in successors(class) {
                if !files.contains_key(&smaller) {
                    self.load_class(&smaller)?;
                }
            }
        }
        let mut result = Ok(());
        self.solver.solve_classes(waves, threads, |class, levels| {
            let (veiled, path) = &files[class];
            if result.is_ok() {
                result = write(path, veiled, levels);
            }
            done(levels.levels.iter().map(|level| level.values().len() as u64).sum(), false);
        });
        Ok(result?)
    }

    /// Reads the table of an ending and those that its actions lead to, as far as they are not in memory.
    ///
    /// # Errors
    /// If one is missing or damaged.
    pub fn load(&mut self, veiled: &Veiled) -> Result<(), TablesError> {
        if veiled.pieces().len() > MOST_PIECES || veiled.pool().len() > MOST_HIDDEN {
            return Err(TablesError::TooLarge(*veiled));
        }
        let class = veiled.grouping().class;
        self.load_class(&class)?;
        successors(&class).try_for_each(|smaller| self.load_class(&smaller))
    }

    fn load_class(&mut self, class: &Class) -> Result<(), TablesError> {
        if self.solver.contains(class) {
            return Ok(());
        }
        let named = self.classes(class.pieces(), class.hidden()).get(class);
        let (veiled, _) = *named.unwrap_or_else(|| unreachable!("every class of an ending has a name"));
        let path = self.path(&veiled);
        if !anqi_store::exists(&path) {
            return Err(TablesError::Missing { path, veiled });
        }
        let container = Container::open(&path)?;
        let other = || TablesError::Other {
            path: path.display().to_string(),
            expected: veiled,
            found: excerpt(container.head()),
        };
        // A small file may unpack to any number of values.
        if container.head() != head(&veiled) || container.len() != self.solver.size(class) {
            return Err(other());
        }
        let mut values = Vec::new();
        for block in 0..container.block_count() {
            values.extend(container.block(block)?.iter().map(|&byte| byte as i8));
        }
        self.solver.insert(class, &values).ok_or_else(other)
    }

    /// Forgets what is in memory, but not the files.
    pub fn clear(&mut self) {
        self.solver.forget(|_| true);
    }

    /// What a position is worth; its ending must have been [loaded](TableFolder::load).
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Worth> {
        self.solver.probe(position)
    }

    /// What every action is worth; the ending must have been [loaded](TableFolder::load).
    #[must_use]
    pub fn actions(&self, position: &Position) -> Option<Vec<(Move, Worth)>> {
        self.solver.actions(position)
    }

    /// How many placements of an ending are worth what, by the side to move.
    ///
    /// # Errors
    /// If the table is missing or damaged.
    pub fn tally(&mut self, veiled: &Veiled) -> Result<[ValueTally; 2], TablesError> {
        self.load_class(&veiled.grouping().class)?;
        Ok(Color::ALL.map(|turn| self.solver.tally(veiled, turn).unwrap_or_default()))
    }

    /// Checks the table of an ending against the rules of the game; see [`Solver::verify`].
    ///
    /// # Errors
    /// If a table is missing or damaged.
    pub fn verify(&mut self, veiled: &Veiled) -> Result<Result<u64, Position>, TablesError> {
        self.load(veiled)?;
        Ok(self.solver.verify(veiled))
    }
}

/// Endings that are the same game, by class: how many there are, and the one they are named by, which has the fewest
/// different pieces and of these the lowest.
fn classes(pieces: u32, hidden: u32) -> BTreeMap<Class, (Veiled, u32)> {
    let mut classes: BTreeMap<Class, (Veiled, u32)> = BTreeMap::new();
    for veiled in Veiled::all(pieces, hidden) {
        let kinds = |veiled: &Veiled| veiled.pieces().kinds();
        let (name, count) = classes.entry(veiled.grouping().class).or_insert((veiled, 0));
        *count += 1;
        if kinds(&veiled) < kinds(name) {
            *name = veiled;
        }
    }
    classes
}

/// What the file says about itself.
fn head(veiled: &Veiled) -> String {
    let builder = concat!("anqi-solve ", env!("CARGO_PKG_VERSION"));
    format!("anqi-veiled-2\nmaterial {veiled}\nrules board=4x8,ladder=taiwan,draw=off\nbuilder {builder}\n")
}

fn write(path: &Path, veiled: &Veiled, levels: &ClassLevels) -> Result<(), ContainerError> {
    let Some(claim) = FileClaim::new(path)? else { return Ok(()) }; // somebody else makes the same
    let bytes: Vec<u8> = levels.levels.iter().flat_map(SolvedLevel::values).map(|&value| value as i8 as u8).collect();
    claim.write(&head(veiled), BLOCK, &bytes)
}
