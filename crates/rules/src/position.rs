//! `Position`: what both players can see, and nothing else.

use crate::piece::{ByColor, Color, Kind, Ladder, Material, Piece};
use crate::rules::Rules;
use crate::square::{BoardSize, Square, SquareSet, Symmetry};
use crate::zobrist;

/// Public information: the revealed pieces, which squares are face down, the pool of what may lie
/// there, whose turn it is and how many quiet plies have passed.
///
/// A small `Copy` value without history; playing a move gives a new one. Draw rules are judged by
/// [`Game`](crate::Game); board and ladder come along because moves depend on them.
///
/// ```
/// use anqi_rules::{Position, Square};
///
/// let pos: Position = "2K1/4/4/4/4/4/4/p3 r -".parse()?;
/// assert_eq!(pos.moves().len(), 3);
/// let next = pos.after_step("c8".parse()?, "c7".parse()?);
/// assert_eq!(next.to_string(), "4/2K1/4/4/4/4/4/p3 b - 1");
/// # Ok::<(), anqi_rules::ParseError>(())
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct Position {
    /// Bit `i` of each revealed piece's rung on the ladder, 1 to 7; 0 where nothing is revealed.
    /// Three planes in place of seven sets: rungs compare by a short carry chain for all squares
    /// at once, and a move shifts three bits without asking what moved.
    planes: [u32; 3],
    colors: ByColor<SquareSet>,
    hidden: SquareSet,
    hash: u64,
    pool: Material,
    quiet: u16,
    turn: Option<Color>,
    board: BoardSize,
    ladder: Ladder,
}

/// Any arrangement, to be checked by [`Position::try_from`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Setup {
    /// The board.
    pub board: BoardSize,
    /// Who captures whom.
    pub ladder: Ladder,
    /// Revealed pieces by [`Square::index`].
    pub pieces: [Option<Piece>; Square::COUNT],
    /// The face-down squares.
    pub hidden: SquareSet,
    /// What lies face down.
    pub pool: Material,
    /// Who moves; `None` before the first flip.
    pub turn: Option<Color>,
    /// Plies since the last flip or capture.
    pub quiet: u16,
}

impl Setup {
    /// An empty board, red to move.
    #[must_use]
    pub fn empty(board: BoardSize, ladder: Ladder) -> Setup {
        Setup {
            board,
            ladder,
            pieces: [None; Square::COUNT],
            hidden: SquareSet::EMPTY,
            pool: Material::EMPTY,
            turn: Some(Color::Red),
            quiet: 0,
        }
    }

    fn revealed(&self) -> SquareSet {
        Square::all().filter(|square| self.pieces[square.index()].is_some()).collect()
    }
}

/// Why a [`Setup`] is not a position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum SetupError {
    /// A piece, revealed or face down, outside the board.
    #[error("square {0} is not on the {1} board")]
    OffBoard(Square, BoardSize),
    /// A square both revealed and face down.
    #[error("square {0} is both revealed and face down")]
    Overlap(Square),
    /// Pool and face-down squares differ in number.
    #[error("face-down squares: {hidden}, but pieces in the pool {pool}: {}", pool.len())]
    PoolSize {
        /// Face-down squares.
        hidden: u32,
        /// The pool given.
        pool: Material,
    },
    /// Pieces are revealed, so colours must have been assigned.
    #[error("the side to move is unknown although {0} is revealed")]
    NoSide(Square),
}

impl TryFrom<Setup> for Position {
    type Error = SetupError;

    fn try_from(setup: Setup) -> Result<Position, SetupError> {
        let revealed = setup.revealed();
        if let Some(square) = ((revealed | setup.hidden) & !setup.board.squares()).first() {
            return Err(SetupError::OffBoard(square, setup.board));
        }
        if let Some(square) = (revealed & setup.hidden).first() {
            return Err(SetupError::Overlap(square));
        }
        if setup.hidden.len() != setup.pool.len() {
            return Err(SetupError::PoolSize { hidden: setup.hidden.len(), pool: setup.pool });
        }
        if let (None, Some(square)) = (setup.turn, revealed.first()) {
            return Err(SetupError::NoSide(square));
        }
        let mut position = Position {
            planes: [0; 3],
            colors: ByColor::default(),
            hidden: setup.hidden,
            hash: 0,
            pool: setup.pool,
            quiet: setup.quiet,
            turn: setup.turn,
            board: setup.board,
            ladder: setup.ladder,
        };
        for square in revealed {
            if let Some(piece) = setup.pieces[square.index()] {
                position.put(piece, square);
            }
        }
        position.hash = position.fresh_hash();
        Ok(position)
    }
}

impl From<Position> for Setup {
    fn from(position: Position) -> Setup {
        let mut setup = Setup::empty(position.board, position.ladder);
        for square in Square::all() {
            setup.pieces[square.index()] = position.piece_at(square);
        }
        Setup { hidden: position.hidden, pool: position.pool, turn: position.turn, quiet: position.quiet, ..setup }
    }
}

/// What can be seen.
impl Position {
    /// The whole army face down, nobody with a colour yet.
    #[must_use]
    pub fn initial(rules: &Rules) -> Position {
        let mut position = Position {
            planes: [0; 3],
            colors: ByColor::default(),
            hidden: rules.board().squares(),
            hash: 0,
            pool: *rules.army(),
            quiet: 0,
            turn: None,
            board: rules.board(),
            ladder: rules.ladder(),
        };
        position.hash = position.fresh_hash();
        position
    }

    /// The colour to move; `None` before the first flip, when the mover takes the colour it flips.
    #[must_use]
    pub const fn turn(&self) -> Option<Color> {
        self.turn
    }

    /// The face-down squares.
    #[must_use]
    pub const fn hidden(&self) -> SquareSet {
        self.hidden
    }

    /// What is still face down.
    #[must_use]
    pub const fn pool(&self) -> &Material {
        &self.pool
    }

    /// Plies since the last flip or capture.
    #[must_use]
    pub const fn quiet(&self) -> u16 {
        self.quiet
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

    /// The revealed pieces of `color`.
    #[must_use]
    pub fn pieces(&self, color: Color) -> SquareSet {
        self.colors[color]
    }

    /// The revealed pieces of `kind`, of both colours.
    #[must_use]
    pub fn of_kind(&self, kind: Kind) -> SquareSet {
        self.on_rung(self.ladder.rung(kind))
    }

    /// The revealed pieces of both colours by rung, the pawns of rung 1 first.
    #[must_use]
    #[inline]
    pub fn by_rung(&self) -> [SquareSet; 7] {
        let [p0, p1, p2] = self.planes;
        let (low, high) = ([!p1 & p0, p1 & !p0, p1 & p0], [!p1 & !p0, !p1 & p0, p1 & !p0, p1 & p0]);
        let [r1, r2, r3] = low.map(|set| SquareSet(set & !p2));
        let [r4, r5, r6, r7] = high.map(|set| SquareSet(set & p2));
        [r1, r2, r3, r4, r5, r6, r7]
    }

    /// The bits of the rungs of all revealed pieces, lowest bit first; see [`Ladder::rung`].
    #[must_use]
    pub const fn planes(&self) -> [u32; 3] {
        self.planes
    }

    /// Every square that holds a piece, revealed or not.
    #[must_use]
    #[inline]
    pub fn occupied(&self) -> SquareSet {
        self.colors[Color::Red] | self.colors[Color::Black] | self.hidden
    }

    /// The squares of the board without a piece.
    #[must_use]
    #[inline]
    pub fn empty(&self) -> SquareSet {
        self.board.squares() & !self.occupied()
    }

    /// The revealed piece on `square`.
    #[must_use]
    pub fn piece_at(&self, square: Square) -> Option<Piece> {
        let color = Color::ALL.into_iter().find(|&color| self.colors[color].contains(square))?;
        Some(Piece { color, kind: self.ladder.kind(self.rung_at(square)) })
    }

    /// What `color` still has, on the board and face down.
    #[must_use]
    pub fn remaining(&self, color: Color) -> u32 {
        self.colors[color].len() + self.pool.of(color)
    }

    /// How many pieces of `kind` `color` still has, on the board and face down.
    #[must_use]
    #[inline]
    pub fn left(&self, color: Color, kind: Kind) -> u32 {
        (self.of_kind(kind) & self.colors[color]).len() + u32::from(self.pool.count(Piece { color, kind }))
    }

    /// All revealed pieces.
    #[must_use]
    pub fn revealed(&self) -> Material {
        (self.colors[Color::Red] | self.colors[Color::Black])
            .iter()
            .filter_map(|square| self.piece_at(square))
            .collect()
    }

    /// What a flip may show, with exact weights out of [`hidden`](Position::hidden)`().len()`;
    /// the same for every face-down square.
    pub fn reveals(&self) -> impl Iterator<Item = (Piece, u8)> + use<> {
        self.pool.iter()
    }

    /// A 64-bit hash of pieces, pool and turn, kept up to date by every move. The quiet plies are not in
    /// it, nor board and ladder, which never change within a game.
    #[must_use]
    pub const fn hash(&self) -> u64 {
        self.hash
    }

    /// The same hash, computed from nothing.
    #[must_use]
    pub fn fresh_hash(&self) -> u64 {
        let revealed =
            Square::all().filter_map(|at| Some(zobrist::piece(self.piece_at(at)?.color, self.rung_at(at), at)));
        let hidden = self.hidden.iter().map(zobrist::hidden);
        let pool = self.pool.iter().map(|(piece, count)| zobrist::pool(piece, count));
        zobrist::turn(self.turn) ^ revealed.chain(hidden).chain(pool).fold(0, |hash, key| hash ^ key)
    }

    /// Whether the two look the same but for the quiet plies: the test for repetition.
    #[must_use]
    pub fn same_board(&self, other: &Position) -> bool {
        self.hash == other.hash && Position { quiet: 0, ..*self } == Position { quiet: 0, ..*other }
    }

    #[inline]
    pub(crate) fn on_rung(&self, rung: u8) -> SquareSet {
        let plane = |i: usize| if rung >> i & 1 == 1 { self.planes[i] } else { !self.planes[i] };
        SquareSet(plane(0) & plane(1) & plane(2)) & (self.colors[Color::Red] | self.colors[Color::Black])
    }

    /// The rung of the revealed piece on `square`; 0 if there is none.
    #[must_use]
    #[inline]
    pub fn rung_at(&self, square: Square) -> u8 {
        let bit = |i: usize| (self.planes[i] >> square.index() & 1) as u8;
        bit(0) | bit(1) << 1 | bit(2) << 2
    }

    #[inline]
    fn put(&mut self, piece: Piece, square: Square) {
        let rung = u32::from(self.ladder.rung(piece.kind));
        for (i, plane) in self.planes.iter_mut().enumerate() {
            *plane |= (rung >> i & 1) << square.index();
        }
        self.colors[piece.color] |= square.set();
    }
}

/// What comes next. These trust their caller; [`Game::play`](crate::Game::play) checks.
impl Position {
    /// After the piece on `from` goes to `to`, capturing what stands there.
    #[must_use]
    #[inline]
    pub fn after_step(&self, from: Square, to: Square) -> Position {
        let mover = self.turn.unwrap_or(Color::Red); // nothing is revealed before there is a turn
        let captures = self.colors[mover.other()].contains(to);
        let rung = self.rung_at(from);

        let mut next = *self;
        next.hash ^= zobrist::piece(mover, rung, from)
            ^ zobrist::piece(mover, rung, to)
            ^ zobrist::turn(Some(mover))
            ^ zobrist::turn(Some(mover.other()));
        if captures {
            next.hash ^= zobrist::piece(mover.other(), self.rung_at(to), to);
        }
        let (from_set, to_set) = (from.set(), to.set());
        for plane in &mut next.planes {
            let bit = *plane >> from.index() & 1;
            *plane = *plane & !(from_set | to_set).0 | bit << to.index();
        }
        next.colors[mover] ^= from_set | to_set;
        next.colors[mover.other()] &= !to_set;
        next.quiet = if captures { 0 } else { self.quiet.saturating_add(1) };
        next.turn = Some(mover.other());
        next
    }

    /// After the face-down piece on `square` turns out to be `piece`, which must be in the pool.
    #[must_use]
    #[inline]
    pub fn after_flip(&self, square: Square, piece: Piece) -> Position {
        let mover = self.turn.unwrap_or(piece.color);
        let count = self.pool.count(piece);

        let mut next = *self;
        next.hash ^= zobrist::hidden(square)
            ^ zobrist::piece(piece.color, self.ladder.rung(piece.kind), square)
            ^ zobrist::pool(piece, count)
            ^ zobrist::pool(piece, count.saturating_sub(1))
            ^ zobrist::turn(self.turn)
            ^ zobrist::turn(Some(mover.other()));
        next.hidden &= !square.set();
        next.put(piece, square);
        next.pool.remove(piece);
        next.quiet = 0;
        next.turn = Some(mover.other());
        next
    }

    /// The same board with the other side to move. The rules know no pass; searches use it for a flip
    /// somewhere else, so it starts the quiet plies anew as a flip would.
    #[must_use]
    #[inline]
    pub fn after_pass(&self) -> Position {
        let turn = self.turn.map(Color::other);
        let hash = self.hash ^ zobrist::turn(self.turn) ^ zobrist::turn(turn);
        Position { turn, hash, quiet: 0, ..*self }
    }

    /// The same position with the board turned onto itself.
    #[must_use]
    pub fn transformed(&self, symmetry: Symmetry) -> Position {
        let mut turned = Position { planes: [0; 3], colors: ByColor::default(), ..*self };
        turned.hidden = self.hidden.iter().map(|square| symmetry.apply(square)).collect();
        for square in self.colors[Color::Red] | self.colors[Color::Black] {
            if let Some(piece) = self.piece_at(square) {
                turned.put(piece, symmetry.apply(square));
            }
        }
        turned.hash = turned.fresh_hash();
        turned
    }

    /// The same position with red and black exchanged.
    #[must_use]
    pub fn swapped(&self) -> Position {
        let ByColor([red, black]) = self.colors;
        let mut swapped = Position {
            colors: ByColor([black, red]),
            pool: self.pool.swapped(),
            turn: self.turn.map(Color::other),
            ..*self
        };
        swapped.hash = swapped.fresh_hash();
        swapped
    }
}
