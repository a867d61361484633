//! Shogi: `haitaka` knows the moves, this file repetition and perpetual check.

use anqi_rules::Seat;
use haitaka::{Color, Move, Piece};

use crate::board::{Board, Facts, GameEnd, IllegalMove, WinOrDraw};
use crate::chess::BadFen;

/// A game of shogi. Black (sente) is [`Seat::First`].
///
/// The values behind [`Facts::lead`]: pawn 1, lance 3, knight 4, silver 5, gold 6, bishop 8, rook 10; promoted pawn,
/// lance, knight and silver 6, horse 10, dragon 12; in hand as on the board.
#[derive(Clone, Debug)]
pub struct Shogi {
    board: haitaka::Board,
    /// Every position so far, this one included, and whether its mover is in check.
    past: Vec<(u64, bool)>,
}

impl Shogi {
    /// The usual position, or any other by its SFEN.
    ///
    /// # Errors
    /// If the SFEN is none.
    pub fn new(sfen: Option<&str>) -> Result<Shogi, BadFen> {
        let board = sfen.map_or_else(
            || Ok(haitaka::Board::startpos()),
            |sfen| {
                let board = haitaka::Board::from_sfen(sfen);
                board.map_err(|error| BadFen { fen: anqi_rules::excerpt(sfen), reason: error.to_string() })
            },
        )?;
        let past = vec![(board.hash(), !board.checkers().is_empty())];
        Ok(Shogi { board, past })
    }

    /// The position as SFEN.
    #[must_use]
    pub fn sfen(&self) -> String {
        self.board.to_string()
    }

    /// The piece on a square by file and rank from 1 to 9, and whose it is.
    pub(crate) fn piece(&self, file: u8, rank: u8) -> Option<(Seat, Piece)> {
        let square = square_name(file, rank)?.parse().ok()?;
        Some((seat(self.board.color_on(square)?), self.board.piece_on(square)?))
    }

    /// How many of a piece a side has in hand.
    pub(crate) fn held(&self, side: Seat, piece: Piece) -> u8 {
        let color = if side == Seat::First { Color::Black } else { Color::White };
        self.board.num_in_hand(color, piece)
    }
}

/// `7g`.
pub(crate) fn square_name(file: u8, rank: u8) -> Option<String> {
    let valid = 1..=9;
    (valid.contains(&file) && valid.contains(&rank)).then(|| format!("{file}{}", char::from(b'a' + rank - 1)))
}

fn seat(color: Color) -> Seat {
    if color == Color::Black { Seat::First } else { Seat::Second }
}

const VALUES: [(Piece, i32); 13] = [
    (Piece::Pawn, 1),
    (Piece::Lance, 3),
    (Piece::Knight, 4),
    (Piece::Silver, 5),
    (Piece::Gold, 6),
    (Piece::Bishop, 8),
    (Piece::Rook, 10),
    (Piece::Tokin, 6),
    (Piece::PLance, 6),
    (Piece::PKnight, 6),
    (Piece::PSilver, 6),
    (Piece::PBishop, 10),
    (Piece::PRook, 12),
];

impl Board for Shogi {
    fn turn(&self) -> Seat {
        seat(self.board.side_to_move())
    }

    fn moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        self.board.generate_moves(|set| {
            moves.extend(set.into_iter().map(|mv| mv.to_string()));
            false
        });
        moves
    }

    fn play(&mut self, mv: &str) -> Result<(), IllegalMove> {
        let parsed: Move = mv.parse().map_err(|_| IllegalMove::new(mv))?;
        // The crate's own test of legality does not look into the hand: it would drop pieces that are not there.
        if !self.board.generate_moves(|set| set.into_iter().any(|legal| legal == parsed)) {
            return Err(IllegalMove::new(mv));
        }
        self.board.play_unchecked(parsed);
        self.past.push((self.board.hash(), !self.board.checkers().is_empty()));
        Ok(())
    }

    /// No legal move loses. The fourth occurrence of a position is a draw, but who has given check with every move since the
    /// first loses.
    fn end(&self) -> Option<GameEnd> {
        if !self.board.generate_moves(|_| true) {
            return Some(GameEnd::Decided(WinOrDraw::Win(self.turn().other())));
        }
        let here = self.past.last()?.0;
        let occurrences = self.past.iter().filter(|past| past.0 == here).count();
        if occurrences < 4 {
            return None;
        }
        let first = self.past.iter().position(|past| past.0 == here)?;
        let since = &self.past[first..];
        // From here back, every second position is this side's.
        let always = |offset: usize| since.iter().rev().skip(offset).step_by(2).all(|past| past.1);
        Some(GameEnd::Decided(match (always(0), always(1)) {
            (true, _) => WinOrDraw::Win(self.turn()),
            (_, true) => WinOrDraw::Win(self.turn().other()),
            _ => WinOrDraw::Draw,
        }))
    }

    fn facts(&self) -> Facts {
        let own = self.board.side_to_move();
        let theirs = self.board.colors(!own);
        let count = |color, piece: Piece| {
            let held = if piece.is_promoted() { 0 } else { self.board.num_in_hand(color, piece) };
            self.board.colored_pieces(color, piece).len() as i32 + i32::from(held)
        };
        let mut capture = false;
        self.board.generate_board_moves(|set| {
            capture |= set.into_iter().any(|mv| theirs.has(mv.to()));
            capture
        });
        Facts {
            turn: self.turn(),
            pieces: self.board.occupied().len(),
            lead: VALUES.iter().map(|&(piece, value)| value * (count(own, piece) - count(!own, piece))).sum(),
            check: !self.board.checkers().is_empty(),
            capture,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn perft(game: &Shogi, depth: u32) -> u64 {
        let after = |mv: &String| {
            let mut next = game.clone();
            next.play(mv).unwrap();
            perft(&next, depth - 1)
        };
        if depth == 0 { 1 } else { game.moves().iter().map(after).sum() }
    }

    /// The published counts of the usual position, and of the position with the most moves.
    #[test]
    fn counts_are_the_published_ones() {
        let start = Shogi::new(None).unwrap();
        assert_eq!([1, 2, 3].map(|depth| perft(&start, depth)), [30, 900, 25_470]);
        let most = "R8/2K1S1SSk/4B4/9/9/9/9/9/1L1L1L3 b RBGSNLP3g3n17p 1";
        assert_eq!(perft(&Shogi::new(Some(most)).unwrap(), 1), 593);
    }
}
