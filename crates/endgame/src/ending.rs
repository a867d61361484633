//! `Ending`: which pieces are left, by name.

use std::fmt;
use std::str::FromStr;

use anqi_rules::{Color, Kind, Material, Piece, Square, excerpt};

/// What is left on a board without face-down pieces: at least one piece a side, at most two full armies.
///
/// Written red pieces, a hyphen, black pieces, each from the king down:
///
/// ```
/// use anqi_endgame::Ending;
///
/// let ending: Ending = "N-pp".parse()?;
/// assert_eq!((ending.len(), ending.to_string()), (3, "N-pp".to_owned()));
/// assert_eq!(ending.swapped().to_string(), "PP-n");
/// assert!("N-".parse::<Ending>().is_err() && "KK-p".parse::<Ending>().is_err());
/// # Ok::<(), anqi_endgame::EndingError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Ending(Material);

/// Why a text or a multiset of pieces is not an [`Ending`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum EndingError {
    /// Not of the form `N-pp`.
    #[error("{0:?} is not an ending, expected red and black pieces such as N-pp")]
    Text(String),
    /// One side has nothing.
    #[error("{0} is not an ending: one side has no piece")]
    OneSided(Material),
    /// More of a piece than the game has.
    #[error("{material} is not an ending: {} has at most {most} of {}", .piece.color.name(), .piece.char())]
    TooMany {
        /// What was given.
        material: Material,
        /// The piece there are too many of.
        piece: Piece,
        /// How many an army has.
        most: u8,
    },
}

/// How many of each kind an army has: one king, two of each officer, five pawns.
const ARMY: [u8; Kind::ALL.len()] = [1, 2, 2, 2, 2, 2, 5];

impl Ending {
    /// How many pieces are left.
    #[must_use]
    #[expect(clippy::len_without_is_empty, reason = "an ending is never empty")]
    pub fn len(&self) -> u32 {
        self.0.len()
    }

    /// The pieces as a multiset.
    #[must_use]
    pub const fn material(&self) -> &Material {
        &self.0
    }

    /// The same ending with red and black exchanged.
    #[must_use]
    pub fn swapped(&self) -> Ending {
        Ending(self.0.swapped())
    }

    /// Every ending of `pieces` pieces, in a fixed order that starts with the lowest pieces.
    pub fn all(pieces: u32) -> impl Iterator<Item = Ending> {
        let reds = sides(Color::Red);
        // By size, so that only those are met that fit.
        let mut blacks: Vec<Vec<Material>> = vec![Vec::new(); Square::COUNT];
        sides(Color::Black).into_iter().for_each(|black| blacks[black.len() as usize].push(black));
        reds.into_iter().filter(move |red| red.len() < pieces).flat_map(move |red| {
            let both = move |black: Material| Ending(red.pieces().chain(black.pieces()).collect());
            blacks.get((pieces - red.len()) as usize).cloned().unwrap_or_default().into_iter().map(both)
        })
    }
}

/// Every choice of at least one piece from the army of `color`.
fn sides(color: Color) -> Vec<Material> {
    let mut sides = vec![Material::EMPTY];
    for (kind, most) in Kind::ALL.into_iter().zip(ARMY) {
        let with = |side: Material| {
            (0..=most).map(move |count| side.pieces().chain((0..count).map(|_| Piece { color, kind })).collect())
        };
        sides = sides.into_iter().flat_map(with).collect();
    }
    sides.retain(|side| !side.is_empty());
    sides
}

impl TryFrom<Material> for Ending {
    type Error = EndingError;

    fn try_from(material: Material) -> Result<Ending, EndingError> {
        if Color::ALL.into_iter().any(|color| material.of(color) == 0) {
            return Err(EndingError::OneSided(material));
        }
        for (piece, count) in material.iter() {
            let most = ARMY[piece.kind as usize];
            if count > most {
                return Err(EndingError::TooMany { material, piece, most });
            }
        }
        Ok(Ending(material))
    }
}

impl FromStr for Ending {
    type Err = EndingError;

    fn from_str(text: &str) -> Result<Ending, EndingError> {
        let bad = || EndingError::Text(excerpt(text));
        let (red, black) = text.split_once('-').ok_or_else(bad)?;
        // No more letters than a board has squares: a multiset counts in bytes.
        if red.len() + black.len() > Square::COUNT || red.is_empty() || black.is_empty() {
            return Err(bad());
        }
        let side = |letters: &str, color: Color| -> Option<Vec<Piece>> {
            letters.chars().map(|letter| Piece::from_char(letter).filter(|piece| piece.color == color)).collect()
        };
        let red = side(red, Color::Red).ok_or_else(bad)?;
        let black = side(black, Color::Black).ok_or_else(bad)?;
        Ending::try_from(red.into_iter().chain(black).collect::<Material>())
    }
}

impl fmt::Display for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |color| self.0.pieces().filter(move |piece| piece.color == color).map(Piece::char);
        write!(f, "{}-{}", side(Color::Red).collect::<String>(), side(Color::Black).collect::<String>())
    }
}

impl fmt::Debug for Ending {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}
