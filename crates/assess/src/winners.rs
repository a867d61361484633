//! Winners by proof, whatever the players made of it: the paper's "exhaustive search" before the record is believed.

use std::collections::hash_map::Entry;
use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::fs;
use std::path::{Path, PathBuf};

use anqi_endgame::{Distance, Flavour, TableError, Tablebase, Value, Wdl};
use anqi_rules::{Game, Position, Repeat};
use anqi_stats::Points;
use serde::Serialize;

use crate::positions::ChosenPosition;

/// Results that are proven, for the player to move, by game and ply.
///
/// A position takes the result of the first proof from it on: its own, or the one that the game came to later. From a proof
/// on a game is decided, and mistakes after it say nothing about the positions before.
///
/// ```
/// use anqi_assess::Winners;
/// use anqi_stats::Points;
///
/// let mut winners = Winners::default();
/// winners.add((7, 30), Points::Win);
/// assert_eq!(winners.result((7, 27)), Some(Points::Loss)); // the other player is to move there
/// assert_eq!(winners.result((7, 31)), None);
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Winners(BTreeMap<(u64, u32), Points>);

/// What was proven, and what it has changed.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize)]
pub struct Proofs {
    /// How many positions were proven, by what: `tables=on`, `depth=4`.
    pub proven: Vec<(String, u64)>,
    /// Positions whose result is another one now.
    pub corrected_positions: u64,
    /// The games that they are of.
    pub corrected_games: u64,
}

/// A line for each kind of proof, and one for what they changed.
impl fmt::Display for Proofs {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (by, count) in &self.proven {
            writeln!(f, "{count} positions proven by {by}")?;
        }
        writeln!(f, "{} results corrected, in {} games", self.corrected_positions, self.corrected_games)
    }
}

impl Winners {
    /// Remembers a proof.
    pub fn add(&mut self, game_and_ply: (u64, u32), result: Points) {
        self.0.insert(game_and_ply, result);
    }

    /// Whether a position is proven itself.
    #[must_use]
    pub fn holds(&self, game_and_ply: (u64, u32)) -> bool {
        self.0.contains_key(&game_and_ply)
    }

    /// The result of the first proof from a position on, for the player to move there.
    #[must_use]
    pub fn result(&self, (game, ply): (u64, u32)) -> Option<Points> {
        let (&(_, proven), &result) = self.0.range((game, ply)..=(game, u32::MAX)).next()?;
        Some(if (proven - ply).is_multiple_of(2) { result } else { result.inverted() })
    }

    /// Puts proven results in the place of recorded ones; how many were others before, and in how many games. The places of
    /// a game follow each other.
    pub fn correct(&self, places: &mut [ChosenPosition]) -> (u64, u64) {
        let (mut positions, mut games, mut last) = (0, 0, None);
        for place in places {
            let proven = self.result((place.game, place.ply)).filter(|proven| *proven != place.result);
            if let Some(proven) = proven {
                place.result = proven;
                positions += 1;
                games += u64::from(last.replace(place.game) != Some(place.game));
            }
        }
        (positions, games)
    }
}

/// Endgame tables as proofs: under the draw rule of the game, and with its history.
#[derive(Debug)]
pub struct Endings {
    dir: Option<PathBuf>,
    opened: HashMap<Option<u16>, Tablebase>,
}

/// Why tables cannot be asked.
#[derive(Debug, thiserror::Error)]
pub enum EndingsError {
    /// A table cannot be read or is damaged.
    #[error(transparent)]
    Table(#[from] TableError),
    /// The folder has other tables or none. One that knows less of the draw rule proves nothing.
    #[error("no tables of flavour {flavour} in {dir}, which is what the rules of the records need")]
    NoTables {
        /// The folder.
        dir: String,
        /// What is needed.
        flavour: Flavour,
    },
}

impl Endings {
    /// So many pieces are solved on the spot.
    pub const SOLVED: u32 = 4;

    /// Tables of up to [`SOLVED`](Endings::SOLVED) pieces, solved when they are first asked for; with a folder also all that
    /// it has.
    #[must_use]
    pub fn new(dir: Option<&Path>) -> Endings {
        Endings { dir: dir.map(Path::to_owned), opened: HashMap::new() }
    }

    /// What the position at the end of a game is worth to the player to move, if that is proven.
    ///
    /// # Errors
    /// If the folder has no tables for the draw rule of the game, or one of them is damaged.
    pub fn result(&mut self, game: &Game) -> Result<Option<Points>, EndingsError> {
        // Tables know nothing of forbidden chases.
        if game.rules().chase() || game.outcome().is_some() {
            return Ok(None);
        }
        let draw = game.rules().draw();
        let tables = match self.opened.entry(draw) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(empty) => empty.insert(open(self.dir.as_deref(), draw)?),
        };
        let Some(value) = tables.judge(game.position())? else { return Ok(None) };
        if may_be_repeated(tables, game, value)? {
            return Ok(None);
        }
        Ok(Some(match value.wdl() {
            Wdl::Win => Points::Win,
            Wdl::Draw => Points::Draw,
            Wdl::Loss => Points::Loss,
        }))
    }
}

fn open(dir: Option<&Path>, draw: Option<u16>) -> Result<Tablebase, EndingsError> {
    // The only flavour that is exact for every count of quiet plies.
    let flavour = Flavour::conversion(draw);
    let Some(dir) = dir else { return Ok(Tablebase::solving(flavour, Endings::SOLVED)) };
    let tables = Tablebase::open(dir, flavour)?.and_solving(Endings::SOLVED);
    let folder = |error| TableError::Folder { path: dir.display().to_string(), error };
    let ending = format!(".{flavour}.table");
    for file in fs::read_dir(dir).map_err(folder)? {
        if file.map_err(folder)?.file_name().to_string_lossy().ends_with(&ending) {
            return Ok(tables);
        }
    }
    Err(EndingsError::NoTables { dir: dir.display().to_string(), flavour })
}

/// Whether the winner's way might end in a draw by repetition, because of what was played before.
///
/// On the shortest way to the next capture distances fall with every ply, so the way meets no position twice. It may meet
/// positions that were there before; those are as near to the capture as the way has still to go, or nearer.
fn may_be_repeated(tables: &Tablebase, game: &Game, value: Value) -> Result<bool, TableError> {
    let Some(Distance(plies)) = value.distance() else { return Ok(false) };
    let harmless = match game.rules().repeat() {
        Repeat::Off => return Ok(false),
        // It takes a position fewer times than its plies.
        Repeat::Cycle(_) => 0,
        Repeat::Position(times) => usize::from(times.max(2)) - 2,
    };
    let before = &game.positions()[..game.plies().len()];
    let is_near = |position: &Position| -> Result<bool, TableError> {
        Ok(tables.probe(position)?.and_then(Value::distance).is_some_and(|Distance(nearer)| nearer < plies))
    };
    for position in before {
        let times = before.iter().filter(|other| other.same_board(position)).count();
        if times > harmless && is_near(position)? {
            return Ok(true);
        }
    }
    Ok(false)
}
