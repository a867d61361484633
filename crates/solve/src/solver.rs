//! `Solver`: classes solved on top of each other, and what they say about positions.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::num::NonZeroUsize;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use anqi_endgame::{Class, Grouping};
use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Position, RulesError};
use anqi_task::together;
use num_rational::Ratio;

use crate::index::{MOST_GROUPS, VeiledPlacement};
use crate::level::{Problem, SolvedLevel, successors, unit};
use crate::turning::{Turning, orbits};
use crate::{Fraction, ValueTally, Veiled, Worth};

/// Exact values on one board, for what was [solved](Solver::solve) and everything that can become of it.
///
/// ```
/// use anqi_rules::{BoardSize, Ladder};
/// use anqi_solve::{Fraction, Solver};
///
/// // A knight beside a rook and a pawn, both face down: only b2-a2 saves half of the games.
/// let mut solver = Solver::new(BoardSize::FourByEight, Ladder::Taiwan);
/// solver.solve(&"N".parse()?, &"rp".parse()?, 1.try_into()?)?;
/// let worth = solver.probe(&"4/4/4/4/4/4/1N2/xx2 r rp".parse()?).ok_or("not solved")?;
/// assert_eq!(worth.value, Fraction::new(-1, 2));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Solver {
    board: BoardSize,
    ladder: Ladder,
    turnings: Vec<Turning>,
    split: bool,
    solved: HashMap<Class, ClassLevels>,
}

/// The levels of a class, by their face-down squares in ascending order.
#[derive(Clone, Debug)]
pub(crate) struct ClassLevels {
    pub(crate) hidden: Vec<u32>,
    pub(crate) levels: Vec<SolvedLevel>,
}

/// Why something is not solved.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SolveError {
    /// Too many pieces for the board.
    #[error("{pieces} has {} pieces, but on the {board} board at most {most} are solved", pieces.len())]
    TooManyPieces {
        /// What was asked for.
        pieces: Material,
        /// The board.
        board: BoardSize,
        /// How many can be solved.
        most: u32,
    },
    /// Too many face-down pieces for the board.
    #[error("{pool} are {} face-down pieces, but on the {board} board at most {most} are solved", pool.len())]
    TooManyHidden {
        /// What was asked for.
        pool: Material,
        /// The board.
        board: BoardSize,
        /// How many can be solved.
        most: u32,
    },
    /// One side has nothing at all.
    #[error("{0} has pieces of one side only: nothing is left to play for")]
    OneSided(Material),
    /// Pieces that are no army of the board.
    #[error(transparent)]
    Rules(#[from] RulesError),
}

/// Boards with so many squares are solved as a whole; values with more face-down squares would need wider numbers.
const SMALL: u32 = 8;
/// On larger boards: so many pieces, and so many of them face down.
const FEW_PIECES: u32 = 5;
const FEW_HIDDEN: u32 = 2;

impl Solver {
    /// A solver that knows nothing yet and finds values alone.
    #[must_use]
    pub fn new(board: BoardSize, ladder: Ladder) -> Solver {
        Solver { board, ladder, turnings: Turning::all(board), split: false, solved: HashMap::new() }
    }

    /// The same with wins, draws and losses apart.
    #[must_use]
    pub fn with_split(board: BoardSize, ladder: Ladder) -> Solver {
        Solver { split: true, ..Solver::new(board, ladder) }
    }

    /// The board.
    #[must_use]
    pub const fn board(&self) -> BoardSize {
        self.board
    }

    /// Who captures whom.
    #[must_use]
    pub const fn ladder(&self) -> Ladder {
        self.ladder
    }

    /// How many positions are solved, those alike but for symmetries and names counted once.
    #[must_use]
    pub fn positions(&self) -> u64 {
        let levels = self.solved.values().flat_map(|levels| &levels.levels);
        levels.map(|level| u64::from(level.index().len())).sum()
    }

    /// Solves all positions with the pieces `shown` on the board and the `pool` face down, and everything that can
    /// become of them, as far as it is not solved yet. With nothing shown this is a whole game from its first flip.
    /// The values do not depend on the number of threads.
    ///
    /// # Errors
    /// If the board is too large for so many pieces; nothing is solved then.
    pub fn solve(&mut self, shown: &Material, pool: &Material, threads: NonZeroUsize) -> Result<(), SolveError> {
        let class = self.class(shown, pool)?;
        self.solve_classes(self.below([class]), threads, |_, _| ());
        Ok(())
    }

    /// The class of a material, if we can solve it.
    pub(crate) fn class(&self, shown: &Material, pool: &Material) -> Result<Class, SolveError> {
        let pieces: Material = shown.pieces().chain(pool.pieces()).collect();
        let squares = self.board.squares().len();
        let (most, hidden) = if squares <= SMALL { (squares, squares) } else { (FEW_PIECES, FEW_HIDDEN) };
        if pieces.len() > most {
            return Err(SolveError::TooManyPieces { pieces, board: self.board, most });
        }
        if pool.len() > hidden {
            return Err(SolveError::TooManyHidden { pool: *pool, board: self.board, most: hidden });
        }
        if Color::ALL.into_iter().any(|color| pieces.of(color) == 0) {
            return Err(SolveError::OneSided(pieces));
        }
        Ok(Class::of_pieces(shown, pool, self.ladder).class)
    }

    /// The classes and everything that can become of them, in an order in which each follows what it needs: by pieces,
    /// then by face-down pieces. Classes with nothing on the board are left out: there is no side to move.
    pub(crate) fn below(&self, classes: impl IntoIterator<Item = Class>) -> BTreeMap<(u32, u32), BTreeSet<Class>> {
        let mut found: BTreeMap<(u32, u32), BTreeSet<Class>> = BTreeMap::new();
        let mut waiting: Vec<Class> = classes.into_iter().collect();
        while let Some(class) = waiting.pop() {
            let wave = found.entry((class.pieces(), class.hidden())).or_default();
            if !self.solved.contains_key(&class) && !wave.contains(&class) {
                waiting.extend(successors(&class));
                wave.insert(class);
            }
        }
        for wave in found.values_mut() {
            wave.retain(|class| class.shown() > 0);
        }
        found
    }

    /// Solves classes wave by wave. Classes of one wave do not need each other, nor do the levels of a class, so threads
    /// share them out. `done` hears of every class with its levels.
    pub(crate) fn solve_classes(
        &mut self,
        waves: BTreeMap<(u32, u32), BTreeSet<Class>>,
        threads: NonZeroUsize,
        mut done: impl FnMut(&Class, &ClassLevels),
    ) {
        for ((_, hidden), wave) in waves {
            let hidden = orbits(self.board, &self.turnings, hidden);
            let tasks: Vec<(&Class, u32)> =
                wave.iter().flat_map(|class| hidden.iter().map(move |&hidden| (class, hidden))).collect();
            let mut levels = self.solve_levels(&tasks, threads).into_iter();
            for class in &wave {
                let levels =
                    ClassLevels { hidden: hidden.clone(), levels: levels.by_ref().take(hidden.len()).collect() };
                done(class, &levels);
                self.solved.insert(class.clone(), levels);
            }
        }
    }

    fn solve_levels(&self, tasks: &[(&Class, u32)], threads: NonZeroUsize) -> Vec<SolvedLevel> {
        let (next, solved) = (AtomicUsize::new(0), Mutex::new(Vec::with_capacity(tasks.len())));
        together(threads.get().min(tasks.len()), |_| {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(&(class, hidden)) = tasks.get(number) else { break };
                let find = |class: &Class, hidden| self.find(class, hidden).unwrap_or_else(|| unreachable!("solved"));
                let level = Problem::new(self.board, &self.turnings, class, hidden, find).solve(self.split);
                solved.lock().unwrap_or_else(PoisonError::into_inner).push((number, level));
            }
        });
        let mut solved = solved.into_inner().unwrap_or_else(PoisonError::into_inner);
        solved.sort_unstable_by_key(|(number, _)| *number);
        solved.into_iter().map(|(_, level)| level).collect()
    }

    /// The level of a class with these squares face down, and how to turn the board for it.
    fn find(&self, class: &Class, hidden: u32) -> Option<(&SolvedLevel, Option<Turning>)> {
        let levels = self.solved.get(class)?;
        let turning = self.turnings.iter().min_by_key(|turning| turning.apply(hidden))?;
        let turned = turning.apply(hidden);
        let place = levels.hidden.binary_search(&turned).ok()?;
        Some((&levels.levels[place], Some(*turning).filter(|_| turned != hidden)))
    }

    /// What a position is worth to the side to move. `None` if it is not solved, or of another board or ladder.
    #[must_use]
    pub fn probe(&self, position: &Position) -> Option<Worth> {
        if position.board() != self.board || position.ladder() != self.ladder {
            return None;
        }
        let Some(turn) = position.turn() else {
            let actions = self.actions(position)?;
            return actions.into_iter().map(|(_, worth)| worth).max_by_key(|worth| (worth.value, worth.win()));
        };
        if position.remaining(turn) == 0 {
            return Some(Worth::decided(-1));
        }
        if position.remaining(turn.other()) == 0 {
            return Some(Worth::decided(1));
        }
        let grouping = Class::of_pieces(&position.revealed(), position.pool(), self.ladder);
        self.worth(&grouping, position)
    }

    /// What a position is worth, given how its material reads.
    pub(crate) fn worth(&self, grouping: &Grouping, position: &Position) -> Option<Worth> {
        let (level, placement) = self.placement(grouping, position)?;
        let (value, draws) = level.worth(&placement);
        let unit = unit(position.hidden().len());
        let fraction = |count: i32| Ratio::new(i64::from(count), unit);
        Some(Worth { value: fraction(value), draw: draws.map(fraction) })
    }

    /// The number of a position in its level, given how its material reads.
    pub(crate) fn number(&self, grouping: &Grouping, position: &Position) -> Option<u32> {
        let (level, placement) = self.placement(grouping, position)?;
        Some(level.index().number(&placement))
    }

    fn placement(&self, grouping: &Grouping, position: &Position) -> Option<(&SolvedLevel, VeiledPlacement)> {
        let (level, turning) = self.find(&grouping.class, position.hidden().0)?;
        let mut placement = VeiledPlacement { sets: [0; MOST_GROUPS], turn: grouping.color(position.turn()?) };
        for square in position.occupied() & !position.hidden() {
            let set = turning.as_ref().map_or(square.set().0, |turning| turning.apply(square.set().0));
            placement.sets[grouping.part(position.piece_at(square)?.index())] |= set;
        }
        Some((level, placement))
    }

    /// What every action of a position is worth to the side to move, in the order of [`Position::moves`]; `None` where
    /// the position is not solved.
    #[must_use]
    pub fn actions(&self, position: &Position) -> Option<Vec<(Move, Worth)>> {
        let moves = match position.turn() {
            Some(_) => position.moves(),
            None => position.hidden().iter().map(Move::Flip).collect(),
        };
        moves.into_iter().map(|mv| Some((mv, self.action(position, mv)?))).collect()
    }

    fn action(&self, position: &Position, mv: Move) -> Option<Worth> {
        match mv {
            Move::Step { from, to } => Some(self.probe(&position.after_step(from, to))?.for_the_other()),
            Move::Flip(square) => {
                let all = i64::from(position.hidden().len());
                let mut mean = Worth { value: Fraction::ZERO, draw: Some(Fraction::ZERO) };
                for (piece, count) in position.reveals() {
                    let after = self.probe(&position.after_flip(square, piece))?.for_the_other();
                    let share = Ratio::new(i64::from(count), all);
                    mean.value += after.value * share;
                    mean.draw = mean.draw.zip(after.draw).map(|(sum, draw)| sum + draw * share);
                }
                Some(mean)
            }
        }
    }

    /// The levels of a class with their face-down squares.
    pub(crate) fn levels(&self, class: &Class) -> Option<impl Iterator<Item = (u32, &SolvedLevel)>> {
        let levels = self.solved.get(class)?;
        Some(levels.hidden.iter().copied().zip(&levels.levels))
    }

    /// How many placements of an ending are worth what with `turn` to move; `None` if it is not solved, or has more than
    /// two face-down pieces.
    #[must_use]
    pub fn tally(&self, veiled: &Veiled, turn: Color) -> Option<ValueTally> {
        let grouping = veiled.grouping();
        let halves = match veiled.pool().len() {
            0 | 1 => 2,
            2 => 1,
            _ => return None,
        };
        let mut tally = ValueTally::default();
        for (hidden, level) in self.levels(&grouping.class)? {
            let images: BTreeSet<u32> = self.turnings.iter().map(|turning| turning.apply(hidden)).collect();
            let weight = images.len() as u64 * u64::from(level.index().weight()) * veiled.arrangements();
            let (red, black) = level.values().split_at(level.values().len() / 2);
            let values = if grouping.color(turn) == Color::Red { red } else { black };
            values.iter().for_each(|&value| tally.add(i32::from(value) * halves, weight));
        }
        Some(tally)
    }
}

/// What tables in files need.
#[cfg(feature = "files")]
impl Solver {
    /// Keeps the levels of a class that were solved elsewhere. `None` if values are missing or too many.
    pub(crate) fn insert(&mut self, class: &Class, values: &[i8]) -> Option<()> {
        let hidden = orbits(self.board, &self.turnings, class.hidden());
        let mut rest = values;
        let mut levels = Vec::with_capacity(hidden.len());
        for &hidden in &hidden {
            let index = crate::index::Index::new(self.board, &self.turnings, class, hidden);
            let (values, after) = rest.split_at_checked(index.len() as usize)?;
            levels.push(SolvedLevel::from_values(index, values.iter().copied().map(i16::from).collect())?);
            rest = after;
        }
        rest.is_empty().then(|| drop(self.solved.insert(class.clone(), ClassLevels { hidden, levels })))
    }

    /// How many positions a class has, those alike but for symmetries counted once.
    pub(crate) fn size(&self, class: &Class) -> u64 {
        let hidden = orbits(self.board, &self.turnings, class.hidden()).into_iter();
        hidden.map(|hidden| u64::from(crate::index::Index::new(self.board, &self.turnings, class, hidden).len())).sum()
    }

    pub(crate) fn contains(&self, class: &Class) -> bool {
        self.solved.contains_key(class)
    }

    pub(crate) fn forget(&mut self, which: impl Fn(&Class) -> bool) {
        self.solved.retain(|class, _| !which(class));
    }
}
