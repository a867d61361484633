//! `Veiled`: an ending with face-down pieces, by name.

use std::fmt;
use std::str::FromStr;

use anqi_endgame::{Class, Ending, EndingError, Grouping};
use anqi_rules::{Ladder, Material, Piece, Position, excerpt};

/// What is left on the 4×8 board, some of it face down.
///
/// Written as what is shown, a plus sign, and the pool; `-` for none:
///
/// ```
/// use anqi_solve::Veiled;
///
/// let veiled: Veiled = "Kn+Pp".parse()?;
/// assert_eq!((veiled.shown().to_string(), veiled.pool().to_string()), ("Kn".to_owned(), "Pp".to_owned()));
/// assert_eq!(veiled.to_string(), "Kn+Pp");
/// assert!("K+P".parse::<Veiled>().is_err() && "Kn".parse::<Veiled>().is_err());
/// # Ok::<(), anqi_solve::VeiledError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Veiled {
    shown: Material,
    pool: Material,
}

/// Why a text or a pair of multisets is not a [`Veiled`] ending.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum VeiledError {
    /// Not of the form `Kn+Pp`.
    #[error("{0:?} is not an ending with face-down pieces, expected those shown and those in the pool such as Kn+Pp")]
    Text(String),
    /// Nothing is shown, so it is nobody's turn.
    #[error("{0} has nothing on the board that is face up")]
    NothingShown(Veiled),
    /// Not an ending at all.
    #[error(transparent)]
    Ending(#[from] EndingError),
}

impl Veiled {
    /// An ending with these pieces face up and these in the pool.
    ///
    /// # Errors
    /// If nothing is shown, a side has nothing, or there are more of a piece than the game has.
    pub fn new(shown: Material, pool: Material) -> Result<Veiled, VeiledError> {
        let veiled = Veiled { shown, pool };
        if shown.is_empty() {
            return Err(VeiledError::NothingShown(veiled));
        }
        Ending::try_from(veiled.pieces())?;
        Ok(veiled)
    }

    /// What is face up.
    #[must_use]
    pub const fn shown(&self) -> &Material {
        &self.shown
    }

    /// What is face down.
    #[must_use]
    pub const fn pool(&self) -> &Material {
        &self.pool
    }

    /// Both together.
    #[must_use]
    pub fn pieces(&self) -> Material {
        self.shown.pieces().chain(self.pool.pieces()).collect()
    }

    /// Every ending of so many pieces with so many of them face down.
    pub fn all(pieces: u32, hidden: u32) -> impl Iterator<Item = Veiled> {
        Ending::all(pieces).flat_map(move |ending| {
            let all = *ending.material();
            subsets(all, hidden).into_iter().filter_map(move |pool| {
                let mut shown = all;
                for piece in pool.pieces() {
                    shown.remove(piece);
                }
                Veiled::new(shown, pool).ok()
            })
        })
    }

    pub(crate) fn grouping(&self) -> Grouping {
        Class::of_pieces(&self.shown, &self.pool, Ladder::Taiwan)
    }

    /// In how many ways pieces that the solver does not tell apart can change places.
    pub(crate) fn arrangements(&self) -> u64 {
        let grouping = self.grouping();
        let mut merged = [0; Piece::COUNT];
        let mut ways = 1;
        for (piece, count) in self.shown.iter() {
            for nth in 1..=u64::from(count) {
                let group = &mut merged[grouping.part(piece.index())];
                *group += 1;
                ways = ways * *group / nth;
            }
        }
        ways
    }
}

/// The multisets of `count` pieces out of `all`.
pub(crate) fn subsets(all: Material, count: u32) -> Vec<Material> {
    let mut subsets = vec![Material::EMPTY];
    for (piece, most) in all.iter() {
        let with = |subset: Material| {
            (0..=most).map(move |copies| subset.pieces().chain((0..copies).map(|_| piece)).collect::<Material>())
        };
        subsets = subsets.into_iter().flat_map(with).filter(|subset| subset.len() <= count).collect();
    }
    subsets.retain(|subset| subset.len() == count);
    subsets
}

impl TryFrom<&Position> for Veiled {
    type Error = VeiledError;

    fn try_from(position: &Position) -> Result<Veiled, VeiledError> {
        Veiled::new(position.revealed(), *position.pool())
    }
}

impl FromStr for Veiled {
    type Err = VeiledError;

    fn from_str(text: &str) -> Result<Veiled, VeiledError> {
        let bad = || VeiledError::Text(excerpt(text));
        let (shown, pool) = text.split_once('+').ok_or_else(bad)?;
        Veiled::new(shown.parse().map_err(|_| bad())?, pool.parse().map_err(|_| bad())?)
    }
}

impl fmt::Display for Veiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}+{}", self.shown, self.pool)
    }
}

impl fmt::Debug for Veiled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
