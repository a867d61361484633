//! `Deal`: what lies under the face-down pieces. Only a referee holds one.

use std::fmt;
use std::str::FromStr;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};

use crate::moves::{Move, Ply};
use crate::notation::{excerpt, number};
use crate::piece::Piece;
use crate::position::Position;
use crate::rules::Rules;
use crate::square::Square;

/// 256 bits from which everything random follows, by name.
///
/// Every purpose gets its own stream, so that adding one leaves the others as they were:
///
/// ```
/// use anqi_rules::Seed;
///
/// let seed = Seed::from(7);
/// assert_ne!(seed.child("deal"), seed.child("player"));
/// assert_eq!(seed.to_string().parse::<Seed>()?, seed);
/// assert_eq!("7".parse::<Seed>()?, seed);
/// # Ok::<(), anqi_rules::SeedError>(())
/// ```
#[derive(Clone, PartialEq, Eq)]
pub struct Seed([u8; 32]);

impl Seed {
    /// The seed for one purpose, game or player below this one.
    #[must_use]
    pub fn child(&self, label: impl AsRef<[u8]>) -> Seed {
        Seed(*blake3::keyed_hash(&self.0, label.as_ref()).as_bytes())
    }

    /// A generator whose values are the same in every version and on every machine.
    #[must_use]
    pub fn rng(&self) -> ChaCha8Rng {
        ChaCha8Rng::from_seed(self.0)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl From<[u8; 32]> for Seed {
    fn from(bytes: [u8; 32]) -> Seed {
        Seed(bytes)
    }
}

/// Spreads a number that a person typed over 256 bits.
impl From<u64> for Seed {
    fn from(number: u64) -> Seed {
        Seed(blake3::derive_key("anqi 2026 seed from a number", &number.to_le_bytes()))
    }
}

/// Not by accident: a seed gives its deal away. `to_string` is the deliberate way.
impl fmt::Debug for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Seed(…)")
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

/// A text that is not a seed or a commitment.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SeedError {
    /// Not a seed.
    #[error("{0:?} is not a seed, expected a number up to 18446744073709551615 or 64 hexadecimal digits")]
    Seed(String),
    /// Not a commitment.
    #[error("{0:?} is not a commitment, expected 64 hexadecimal digits")]
    Commitment(String),
}

impl FromStr for Seed {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Seed, SeedError> {
        match (read_hex(text), number::<u64>(text)) {
            (Some(bytes), _) => Ok(Seed(bytes)),
            (None, Some(number)) => Ok(Seed::from(number)),
            _ => Err(SeedError::Seed(excerpt(text))),
        }
    }
}

/// A promise about a deal: published before the first flip, checked after the last.
///
/// ```
/// use anqi_rules::{Commitment, Seed};
///
/// let (seed, nonce) = (Seed::from(7), Seed::from(8));
/// let published = Commitment::new(&seed, &nonce);
/// assert!(published.opens_to(&seed, &nonce));
/// assert!(!published.opens_to(&Seed::from(9), &nonce));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Commitment([u8; 32]);

impl Commitment {
    /// Binds to `seed` without giving it away; `nonce` is as secret as the seed until the end.
    #[must_use]
    pub fn new(seed: &Seed, nonce: &Seed) -> Commitment {
        let mut both = [0; 64];
        both[..32].copy_from_slice(&seed.0);
        both[32..].copy_from_slice(&nonce.0);
        Commitment(blake3::derive_key("anqi 2026 deal commitment", &both))
    }

    /// Whether it was made for this seed and nonce.
    #[must_use]
    pub fn opens_to(&self, seed: &Seed, nonce: &Seed) -> bool {
        *self == Commitment::new(seed, nonce)
    }
}

impl From<[u8; 32]> for Commitment {
    fn from(bytes: [u8; 32]) -> Commitment {
        Commitment(bytes)
    }
}

/// 64 hexadecimal digits.
impl fmt::Display for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write_hex(f, &self.0)
    }
}

impl FromStr for Commitment {
    type Err = SeedError;

    fn from_str(text: &str) -> Result<Commitment, SeedError> {
        read_hex(text).map(Commitment).ok_or_else(|| SeedError::Commitment(excerpt(text)))
    }
}

/// The hidden truth. It answers one question at a time and cannot be printed, copied or stored:
///
/// ```compile_fail
/// # use anqi_rules::{Deal, Rules, Seed};
/// println!("{}", Deal::new(&Rules::server(), &Seed::from(7)));
/// ```
/// ```compile_fail
/// # use anqi_rules::{Deal, Rules, Seed};
/// println!("{:?}", Deal::new(&Rules::server(), &Seed::from(7)));
/// ```
/// ```compile_fail
/// # use anqi_rules::{Deal, Rules, Seed};
/// let copy = Deal::new(&Rules::server(), &Seed::from(7)).clone();
/// ```
/// ```
/// # use anqi_rules::{Deal, Move, Rules, Seed};
/// let deal = Deal::new(&Rules::server(), &Seed::from(7));
/// println!("{}", deal.resolve(Move::Flip("a1".parse()?))?); // a flip shows what it shows
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[expect(missing_debug_implementations, reason = "nobody prints a deal by accident")]
pub struct Deal {
    pieces: [Option<Piece>; Square::COUNT],
}

/// A flip where nothing was dealt face down.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("nothing was dealt face down on {0}")]
pub struct DealError(Square);

impl Deal {
    /// Deals the army of `rules`.
    #[must_use]
    pub fn new(rules: &Rules, seed: &Seed) -> Deal {
        Deal::of(&Position::initial(rules), seed)
    }

    /// Deals the pool of `position` onto its face-down squares, every arrangement equally likely.
    #[must_use]
    pub fn of(position: &Position, seed: &Seed) -> Deal {
        let mut rng = seed.child("deal").rng();
        let mut pool: Vec<Piece> = position.pool().pieces().collect();
        let mut pieces = [None; Square::COUNT];
        for square in position.hidden() {
            let drawn = below(&mut rng, pool.len() as u32) as usize;
            pieces[square.index()] = Some(pool.swap_remove(drawn));
        }
        Deal { pieces }
    }

    /// What happens when a player makes this move.
    ///
    /// # Errors
    /// If it flips a square where nothing was dealt.
    pub fn resolve(&self, mv: Move) -> Result<Ply, DealError> {
        match mv {
            Move::Step { from, to } => Ok(Ply::Step { from, to }),
            Move::Flip(square) => {
                self.pieces[square.index()].map(|piece| Ply::Flip(square, piece)).ok_or(DealError(square))
            }
        }
    }
}

/// A number below `bound`, each equally likely (Lemire 2019).
fn below(rng: &mut impl Rng, bound: u32) -> u32 {
    loop {
        let product = u64::from(rng.next_u32()) * u64::from(bound);
        // The lowest 2^32 mod bound values of each class are one too many.
        if product as u32 >= bound.wrapping_neg() % bound {
            return (product >> 32) as u32;
        }
    }
}

fn write_hex(f: &mut fmt::Formatter<'_>, bytes: &[u8; 32]) -> fmt::Result {
    bytes.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
}

fn read_hex(text: &str) -> Option<[u8; 32]> {
    if text.len() != 64 || !text.bytes().all(|b| b.is_ascii_hexdigit()) {
        return None;
    }
    let mut bytes = [0; 32];
    for (byte, digits) in bytes.iter_mut().zip(text.as_bytes().chunks(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()?;
    }
    Some(bytes)
}
