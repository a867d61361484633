//! Pieces, multisets of pieces, and who captures whom.

use std::fmt;
use std::ops::{Index, IndexMut};

/// The two colours. Upper-case letters are red, lower-case black.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Color {
    /// 帥仕相俥傌炮兵, written `K G M R N C P`.
    Red,
    /// 將士象車馬包卒, written `k g m r n c p`.
    Black,
}

impl Color {
    /// Red, then black.
    pub const ALL: [Color; 2] = [Color::Red, Color::Black];

    /// The other colour.
    #[must_use]
    pub const fn other(self) -> Color {
        match self {
            Color::Red => Color::Black,
            Color::Black => Color::Red,
        }
    }

    /// `r` or `b`.
    #[must_use]
    pub const fn char(self) -> char {
        match self {
            Color::Red => 'r',
            Color::Black => 'b',
        }
    }

    /// `red` or `black`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Color::Red => "red",
            Color::Black => "black",
        }
    }
}

/// The seven kinds of piece, in the order of the papers' letters.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Kind {
    /// 帥 將
    King,
    /// 仕 士
    Guard,
    /// 相 象
    Minister,
    /// 俥 車
    Rook,
    /// 傌 馬
    Knight,
    /// 炮 包
    Cannon,
    /// 兵 卒
    Pawn,
}

impl Kind {
    /// King to pawn.
    pub const ALL: [Kind; 7] =
        [Kind::King, Kind::Guard, Kind::Minister, Kind::Rook, Kind::Knight, Kind::Cannon, Kind::Pawn];
}

/// A kind with its colour.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Piece {
    /// Whose it is.
    pub color: Color,
    /// What it is.
    pub kind: Kind,
}

const LETTERS: [char; 14] = ['K', 'G', 'M', 'R', 'N', 'C', 'P', 'k', 'g', 'm', 'r', 'n', 'c', 'p'];
const GLYPHS: [char; 14] = ['帥', '仕', '相', '俥', '傌', '炮', '兵', '將', '士', '象', '車', '馬', '包', '卒'];

impl Piece {
    /// How many different pieces there are.
    pub const COUNT: usize = 14;

    /// All pieces in the order `K G M R N C P k g m r n c p`.
    pub fn all() -> impl DoubleEndedIterator<Item = Piece> + ExactSizeIterator {
        (0..Piece::COUNT).map(|index| Piece { color: Color::ALL[index / 7], kind: Kind::ALL[index % 7] })
    }

    /// Place in the order `K G M R N C P k g m r n c p`, from 0.
    #[must_use]
    pub const fn index(self) -> usize {
        self.color as usize * 7 + self.kind as usize
    }

    /// The letter: upper case red, lower case black.
    #[must_use]
    pub const fn char(self) -> char {
        LETTERS[self.index()]
    }

    /// The piece with this letter.
    #[must_use]
    pub fn from_char(letter: char) -> Option<Piece> {
        Piece::all().find(|piece| piece.char() == letter)
    }

    /// The character on the real piece.
    #[must_use]
    pub const fn glyph(self) -> char {
        GLYPHS[self.index()]
    }
}

impl fmt::Debug for Piece {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.char())
    }
}

/// One value for each colour.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct ByColor<T>(pub [T; 2]);

impl<T> Index<Color> for ByColor<T> {
    type Output = T;
    fn index(&self, color: Color) -> &T {
        &self.0[color as usize]
    }
}

impl<T> IndexMut<Color> for ByColor<T> {
    fn index_mut(&mut self, color: Color) -> &mut T {
        &mut self.0[color as usize]
    }
}

/// A multiset of pieces: an army, what is still face down, what has been captured.
///
/// ```
/// use anqi_rules::Material;
///
/// let pool: Material = "KPPkp".parse()?;
/// assert_eq!((pool.len(), pool.kinds()), (5, 4));
/// assert_eq!(pool.to_string(), "KPPkp");
/// # Ok::<(), anqi_rules::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Material(
    /// A word for each colour, a byte for each kind: sums and distinct kinds are one step each, and
    /// a position copies it without touching single bytes.
    ByColor<u64>,
);

const EACH_BYTE: u64 = 0x0101_0101_0101_0101;

impl Material {
    /// No piece at all.
    pub const EMPTY: Material = Material(ByColor([0; 2]));

    /// How many of `piece` there are.
    #[must_use]
    #[inline]
    pub fn count(&self, piece: Piece) -> u8 {
        (self.0[piece.color] >> (8 * piece.kind as u32)) as u8
    }

    /// How many pieces there are.
    #[must_use]
    pub fn len(&self) -> u32 {
        self.of(Color::Red) + self.of(Color::Black)
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Material::EMPTY
    }

    /// How many pieces of `color` there are.
    #[must_use]
    #[inline]
    pub fn of(&self, color: Color) -> u32 {
        (self.0[color].wrapping_mul(EACH_BYTE) >> 56) as u32
    }

    /// How many different pieces there are.
    #[must_use]
    #[inline]
    pub fn kinds(&self) -> u32 {
        // Adding 127 carries into the top bit of every byte that is not 0.
        let present = |counts: u64| ((counts + 0x7F * EACH_BYTE) & (0x80 * EACH_BYTE)).count_ones();
        present(self.0[Color::Red]) + present(self.0[Color::Black])
    }

    /// The piece number `n`, counted from 0 in the order of [`pieces`](Material::pieces).
    ///
    /// ```
    /// use anqi_rules::{Material, Piece};
    ///
    /// let pool: Material = "KPPkp".parse()?;
    /// let drawn = (0..6).map_while(|n| pool.nth(n)).map(Piece::char);
    /// assert_eq!(drawn.collect::<String>(), "KPPkp");
    /// # Ok::<(), anqi_rules::ParseError>(())
    /// ```
    #[must_use]
    #[inline]
    pub fn nth(&self, n: u32) -> Option<Piece> {
        let red = self.of(Color::Red);
        let (color, n) = if n < red { (Color::Red, n) } else { (Color::Black, n - red) };
        if n >= self.of(color) {
            return None;
        }
        // Byte i of the product counts the kinds up to i. It is at most 32, so subtracting from a byte
        // with its top bit set borrows nothing, and the bit stays where the count is above n.
        let counts = self.0[color].wrapping_mul(EACH_BYTE);
        let above = ((counts | (0x80 * EACH_BYTE)) - u64::from(n + 1) * EACH_BYTE) & (0x80 * EACH_BYTE);
        Some(Piece { color, kind: Kind::ALL[(above.trailing_zeros() / 8) as usize % 7] })
    }

    /// The different pieces with their counts, in the order `K G M R N C P k g m r n c p`.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (Piece, u8)> + use<> {
        let counts = *self;
        Piece::all().map(move |piece| (piece, counts.count(piece))).filter(|&(_, count)| count > 0)
    }

    /// Every piece by itself, in the same order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece> + use<> {
        self.iter().flat_map(|(piece, count)| std::iter::repeat_n(piece, usize::from(count)))
    }

    /// Puts one `piece` in. A board holds 32 pieces, so no multiset of ours has more.
    #[inline]
    pub fn add(&mut self, piece: Piece) {
        debug_assert!(self.of(piece.color) < u32::from(u8::MAX));
        self.0[piece.color] += 1 << (8 * piece.kind as u32);
    }

    /// Takes one `piece` out, if there is one.
    #[inline]
    pub fn remove(&mut self, piece: Piece) -> bool {
        let present = self.count(piece) > 0;
        self.0[piece.color] -= u64::from(present) << (8 * piece.kind as u32);
        present
    }

    /// The same pieces with red and black exchanged.
    #[must_use]
    pub fn swapped(&self) -> Material {
        let ByColor([red, black]) = self.0;
        Material(ByColor([black, red]))
    }
}

impl FromIterator<Piece> for Material {
    fn from_iter<I: IntoIterator<Item = Piece>>(pieces: I) -> Material {
        let mut material = Material::EMPTY;
        pieces.into_iter().for_each(|piece| material.add(piece));
        material
    }
}

impl fmt::Debug for Material {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// Who captures whom.
///
/// On both ladders a piece takes its equals and everything below, except that the king cannot
/// take a pawn and a pawn takes the king.
///
/// ```
/// use anqi_rules::{Kind::*, Ladder};
///
/// assert!(Ladder::Taiwan.takes(King, Guard) && Ladder::Taiwan.takes(Pawn, King));
/// assert!(!Ladder::Taiwan.takes(King, Pawn) && !Ladder::Taiwan.takes(Cannon, Pawn));
/// assert!(Ladder::HongKong.takes(Rook, Guard) && Ladder::HongKong.takes(Cannon, Guard));
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Ladder {
    /// K > G > M > R > N > C > P; the cannon captures anything, by jumping only.
    Taiwan,
    /// K > R > N > C > G > M > P; the cannon is a piece like the others and does not jump.
    HongKong,
}

impl Ladder {
    /// Both ladders.
    pub const ALL: [Ladder; 2] = [Ladder::Taiwan, Ladder::HongKong];

    /// The name in rule strings.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Ladder::Taiwan => "taiwan",
            Ladder::HongKong => "hongkong",
        }
    }

    /// The kinds from the top of the ladder down.
    const fn order(self) -> [Kind; 7] {
        use Kind::{Cannon, Guard, King, Knight, Minister, Pawn, Rook};
        match self {
            Ladder::Taiwan => [King, Guard, Minister, Rook, Knight, Cannon, Pawn],
            Ladder::HongKong => [King, Rook, Knight, Cannon, Guard, Minister, Pawn],
        }
    }

    /// The rung of `kind`: 7 for the king down to 1 for the pawn.
    #[must_use]
    pub const fn rung(self, kind: Kind) -> u8 {
        RUNGS[self as usize][kind as usize]
    }

    /// The kind on this rung, 1 to 7.
    #[must_use]
    pub const fn kind(self, rung: u8) -> Kind {
        ORDER[self as usize][(7 - rung) as usize]
    }

    /// Whether cannons capture by jumping (and never by stepping).
    #[must_use]
    pub const fn cannons_jump(self) -> bool {
        matches!(self, Ladder::Taiwan)
    }

    /// Whether `attacker` takes `victim` by stepping onto it.
    #[must_use]
    pub const fn takes(self, attacker: Kind, victim: Kind) -> bool {
        match (attacker, victim) {
            (Kind::King, Kind::Pawn) => false,
            (Kind::Pawn, Kind::King) => true,
            (Kind::Cannon, _) if self.cannons_jump() => false,
            _ => self.rung(attacker) >= self.rung(victim),
        }
    }
}

const ORDER: [[Kind; 7]; 2] = [Ladder::Taiwan.order(), Ladder::HongKong.order()];

const RUNGS: [[u8; 7]; 2] = {
    let mut rungs = [[0; 7]; 2];
    let mut ladder = 0;
    while ladder < 2 {
        let mut place = 0;
        while place < 7 {
            rungs[ladder][ORDER[ladder][place] as usize] = 7 - place as u8;
            place += 1;
        }
        ladder += 1;
    }
    rungs
};
