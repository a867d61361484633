//! The start of a game as the match server draws it.

use std::fmt;

use anqi_rules::{BoardSize, Color, Ladder, Material, Piece, Ply, Position, Setup, SetupError, Square, SquareSet};

use crate::error::Flaw;

/// Eight rows of four squares; whose turn it is does not show.
#[derive(Clone, PartialEq, Eq, Default, Debug)]
pub(super) struct ServerBoard {
    pieces: [Option<Piece>; Square::COUNT],
    hidden: SquareSet,
}

impl ServerBoard {
    /// The board of a position.
    pub(super) fn of(position: &Position) -> ServerBoard {
        let setup = Setup::from(*position);
        ServerBoard { pieces: setup.pieces, hidden: setup.hidden }
    }

    /// Reads `X X - k` into a rank, 0 to 7.
    pub(super) fn read_row(&mut self, rank: u8, text: &str) -> Result<(), Flaw> {
        let squares: Vec<&str> = text.split_ascii_whitespace().collect();
        let bad = Flaw::Expected("four squares such as * X X - k");
        if squares.len() != usize::from(Square::FILES) {
            return Err(bad);
        }
        for (letter, file) in squares.into_iter().zip(0..) {
            let (Some(square), Ok(letter)) = (Square::new(file, rank), letter.parse()) else { return Err(bad) };
            match (letter, Piece::from_char(letter)) {
                ('-', _) => {}
                ('X', _) => self.hidden |= square.set(),
                (_, Some(piece)) => self.pieces[square.index()] = Some(piece),
                (_, None) => return Err(bad),
            }
        }
        Ok(())
    }

    /// The position, once it is known what was played from it.
    ///
    /// The counts may be of all pieces or of the face-down ones; only one of the two adds up. The
    /// side to move is nobody if nothing is revealed. Else the first step tells: before it there
    /// were only flips, so the piece that moved is known, and with it the colour of whoever moved.
    /// Without a step it cannot be told, and red is as good as black.
    pub(super) fn position(&self, counts: &Material, plies: &[Ply]) -> Result<Position, SetupError> {
        let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
        setup.pieces = self.pieces;
        setup.hidden = self.hidden;
        setup.pool = self.pool(counts);
        setup.turn = if self.revealed().next().is_some() { self.mover(plies).or(Some(Color::Red)) } else { None };
        Position::try_from(setup)
    }

    fn revealed(&self) -> impl Iterator<Item = Piece> {
        self.pieces.into_iter().flatten()
    }

    fn pool(&self, counts: &Material) -> Material {
        let mut pool = *counts;
        let all_counted = self.revealed().all(|piece| pool.remove(piece));
        if all_counted && pool.len() == self.hidden.len() { pool } else { *counts }
    }

    fn mover(&self, plies: &[Ply]) -> Option<Color> {
        let mut pieces = self.pieces;
        for (index, ply) in plies.iter().enumerate() {
            match *ply {
                Ply::Flip(square, piece) => pieces[square.index()] = Some(piece),
                Ply::Step { from, .. } => {
                    let color = pieces[from.index()]?.color;
                    return Some(if index.is_multiple_of(2) { color } else { color.other() });
                }
            }
        }
        None
    }
}

impl fmt::Display for ServerBoard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for rank in (0..Square::RANKS).rev() {
            write!(f, "*")?;
            for square in (0..Square::FILES).filter_map(|file| Square::new(file, rank)) {
                let letter = match self.pieces[square.index()] {
                    Some(piece) => piece.char(),
                    None if self.hidden.contains(square) => 'X',
                    None => '-',
                };
                write!(f, " {letter}")?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// All pieces of a position, revealed or not: what we count.
pub(super) fn all_pieces(position: &Position) -> Material {
    position.pool().pieces().chain(position.revealed().pieces()).collect()
}

/// Fourteen numbers.
pub(super) fn counts_text(counts: &Material) -> String {
    Piece::all().map(|piece| counts.count(piece).to_string()).collect::<Vec<_>>().join(" ")
}

/// Reads fourteen numbers.
pub(super) fn parse_counts(text: &str) -> Result<Material, Flaw> {
    let count = |word: &str| word.parse().ok().filter(|count| *count <= Square::COUNT);
    let numbers: Option<Vec<usize>> = text.split_ascii_whitespace().take(Piece::COUNT + 1).map(count).collect();
    match numbers {
        Some(numbers) if numbers.len() == Piece::COUNT => {
            Ok(Piece::all().zip(numbers).flat_map(|(piece, count)| std::iter::repeat_n(piece, count)).collect())
        }
        _ => Err(Flaw::Expected("fourteen counts, of K G M R N C P k g m r n c p")),
    }
}
