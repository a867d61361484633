//! `SolvedGame`: what the first flips of whole games on small boards are worth.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fmt::Write as _;
use std::num::NonZeroUsize;

use anqi_rules::{BoardSize, Color, Ladder, Material, Move, Position, Rules, Square};

use crate::{FairSet, Fraction, SolveError, Solver, Worth, decimal};

/// A game on a small board, solved from its first flip on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SolvedGame {
    /// The board.
    pub board: BoardSize,
    /// The pieces of one side, if both have the same; else all.
    pub set: Material,
    /// The first set that is the same game, where all sets are solved.
    pub like: Option<Material>,
    /// What a first flip on each square is worth.
    pub flips: Vec<(Square, Worth)>,
}

/// Squares that symmetry makes equal, and what a first flip there is worth.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Orbit {
    /// The squares.
    pub squares: Vec<Square>,
    /// The worth.
    pub worth: Worth,
}

impl SolvedGame {
    /// Solves the game of these pieces: of either side where they are of one colour, else of both.
    ///
    /// ```
    /// use anqi_rules::{BoardSize, Ladder};
    /// use anqi_solve::{Fraction, SolvedGame, Solver};
    ///
    /// let mut solver = Solver::with_split(BoardSize::ThreeByTwo, Ladder::Taiwan);
    /// let game = SolvedGame::solve("kpp".parse()?, &mut solver, std::num::NonZeroUsize::MIN)?;
    /// let orbits: Vec<_> = game.orbits().iter().map(|orbit| (orbit.squares.len(), orbit.worth.value)).collect();
    /// assert_eq!(orbits, [(4, Fraction::new(1, 45)), (2, Fraction::new(1, 3))]);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If the pieces do not fill the board, or the board is too large.
    pub fn solve(set: Material, solver: &mut Solver, threads: NonZeroUsize) -> Result<SolvedGame, SolveError> {
        let board = solver.board();
        let rules = SolvedGame::rules(board, set)?;
        let army = rules.army();
        solver.solve(&Material::EMPTY, army, threads)?;
        let Some(actions) = solver.actions(&Position::initial(&rules)) else {
            unreachable!("the game was just solved")
        };
        let flip = |(mv, worth)| match mv {
            Move::Flip(square) => Some((square, worth)),
            Move::Step { .. } => None,
        };
        let red: Material = army.pieces().filter(|piece| piece.color == Color::Red).collect();
        let is_fair = red.pieces().chain(red.swapped().pieces()).collect::<Material>() == *army;
        let set = if is_fair { red } else { *army };
        Ok(SolvedGame { board, set, like: None, flips: actions.into_iter().filter_map(flip).collect() })
    }

    /// The rules of a game that is solved.
    ///
    /// # Errors
    /// If the pieces do not fill the board.
    pub fn rules(board: BoardSize, set: Material) -> Result<Rules, SolveError> {
        // One side in small letters is one side, too.
        let set = if set.of(Color::Red) == 0 { set.swapped() } else { set };
        Ok(format!("chen,board={board},army={set},draw=off,repeat=off").parse()?)
    }

    /// Solves the games of all [fair sets](FairSet::all) of a board; sets that are the same game are solved once.
    ///
    /// # Errors
    /// If the board is too large.
    pub fn solve_all(board: BoardSize, threads: NonZeroUsize) -> Result<Vec<SolvedGame>, SolveError> {
        let mut solved: HashMap<Material, Vec<(Square, Worth)>> = HashMap::new();
        let mut games = Vec::new();
        for FairSet { side, like } in FairSet::all(board, Ladder::Taiwan) {
            let flips = match solved.entry(like) {
                Entry::Occupied(known) => known.into_mut(),
                Entry::Vacant(new) => {
                    let mut solver = Solver::with_split(board, Ladder::Taiwan);
                    new.insert(SolvedGame::solve(like, &mut solver, threads)?.flips)
                }
            };
            games.push(SolvedGame { board, set: side, like: Some(like), flips: flips.clone() });
        }
        Ok(games)
    }

    /// The squares that symmetry makes equal, together.
    #[must_use]
    pub fn orbits(&self) -> Vec<Orbit> {
        let mut orbits: Vec<(Square, Orbit)> = Vec::new();
        for &(square, worth) in &self.flips {
            // A square belongs to the least of those it can be turned to.
            let first = self.board.symmetries().map(|symmetry| symmetry.apply(square)).min().unwrap_or(square);
            match orbits.iter_mut().find(|(other, _)| *other == first) {
                Some((_, orbit)) => orbit.squares.push(square),
                None => orbits.push((first, Orbit { squares: vec![square], worth })),
            }
        }
        orbits.into_iter().map(|(_, orbit)| orbit).collect()
    }
}

/// The first flips of games as comma-separated values: a line for each kind of square.
///
/// ```
/// use anqi_rules::BoardSize;
/// use anqi_solve::{SolvedGame, solved_games_csv};
///
/// let games = SolvedGame::solve_all(BoardSize::TwoByTwo, std::num::NonZeroUsize::MIN)?;
/// let csv = solved_games_csv(&games);
/// assert_eq!(csv.lines().count(), 1 + games.len());
/// assert!(csv.contains("\n2x2,RC,NC,a1 a2 b1 b2,-1/3,-0.333333,1/3,0,2/3\n"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn solved_games_csv(games: &[SolvedGame]) -> String {
    let exactly = |fraction: Option<Fraction>| fraction.map_or_else(String::new, |fraction| fraction.to_string());
    let mut text = "board,set,like,squares,value,decimal,win,draw,loss\n".to_owned();
    for game in games {
        for Orbit { squares, worth } in game.orbits() {
            let Worth { value, draw } = worth;
            let squares: Vec<String> = squares.iter().map(ToString::to_string).collect();
            // Writing to a string cannot fail.
            let _ = writeln!(
                text,
                "{},{},{},{},{value},{:.6},{},{},{}",
                game.board.name(),
                game.set,
                game.like.map_or_else(String::new, |like| like.to_string()),
                squares.join(" "),
                decimal(value),
                exactly(worth.win()),
                exactly(draw),
                exactly(worth.loss())
            );
        }
    }
    text
}
