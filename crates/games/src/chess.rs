//! Chess: `cozy-chess` knows the moves, this file the draws that need a history.

use anqi_rules::Seat;
use cozy_chess::{Color, GameStatus, Move, Piece, util};

use crate::board::{Board, Facts, GameEnd, IllegalMove, WinOrDraw};

/// A game of chess.
///
/// ```
/// use anqi_games::{Board, Chess};
///
/// let mut board = Chess::new(None)?;
/// let mv = board.uci("Nf3")?;
/// assert_eq!(mv, "g1f3");
/// board.play(&mv)?;
/// assert_eq!(board.moves().len(), 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Chess {
    board: cozy_chess::Board,
    /// Hashes of all positions since the last capture or pawn move, this one included.
    since: Vec<u64>,
}

impl Chess {
    /// The usual position, or any other by its FEN.
    ///
    /// # Errors
    /// If the FEN is none.
    pub fn new(fen: Option<&str>) -> Result<Chess, BadFen> {
        let board = fen.map_or_else(
            || Ok(cozy_chess::Board::startpos()),
            |fen| {
                let board = cozy_chess::Board::from_fen(fen, false);
                board.map_err(|error| BadFen { fen: anqi_rules::excerpt(fen), reason: error.to_string() })
            },
        )?;
        let since = vec![board.hash()];
        Ok(Chess { board, since })
    }

    /// The position as FEN.
    #[must_use]
    pub fn fen(&self) -> String {
        self.board.to_string()
    }

    /// A move of a record in algebraic notation, as engines write it.
    ///
    /// # Errors
    /// If it is illegal, ambiguous or no move.
    pub fn uci(&self, san: &str) -> Result<String, IllegalMove> {
        // Castling with zeros is common; the crate reads letters.
        let text = san.trim_end_matches(['!', '?', '+', '#']);
        let castling = match text {
            "0-0" => "O-O",
            "0-0-0" => "O-O-O",
            other => other,
        };
        let mv = util::parse_san_move(&self.board, castling).map_err(|_| IllegalMove::new(san))?;
        if self.board.is_legal(mv) {
            Ok(util::display_uci_move(&self.board, mv).to_string())
        } else {
            Err(IllegalMove::new(san))
        }
    }

    /// A legal move of an engine in algebraic notation.
    ///
    /// # Errors
    /// If it is illegal or no move.
    pub fn san(&self, uci: &str) -> Result<String, IllegalMove> {
        Ok(util::display_san_move(&self.board, self.parse(uci)?).to_string())
    }

    fn parse(&self, uci: &str) -> Result<Move, IllegalMove> {
        let mv = util::parse_uci_move(&self.board, uci).map_err(|_| IllegalMove::new(uci))?;
        if self.board.is_legal(mv) { Ok(mv) } else { Err(IllegalMove::new(uci)) }
    }

    /// Two kings with at most one minor piece between them: no side can ever give mate.
    fn is_dead(&self) -> bool {
        let minor = self.board.pieces(Piece::Knight) | self.board.pieces(Piece::Bishop);
        let kings = self.board.pieces(Piece::King);
        self.board.occupied() == (minor | kings) && minor.len() <= 1
    }
}

/// A text that is no position.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("bad FEN {fen:?}: {reason}")]
pub struct BadFen {
    /// The text.
    pub fen: String,
    /// What is wrong with it.
    pub reason: String,
}

fn seat(color: Color) -> Seat {
    if color == Color::White { Seat::First } else { Seat::Second }
}

const VALUES: [(Piece, i32); 5] =
    [(Piece::Pawn, 1), (Piece::Knight, 3), (Piece::Bishop, 3), (Piece::Rook, 5), (Piece::Queen, 9)];

impl Board for Chess {
    fn turn(&self) -> Seat {
        seat(self.board.side_to_move())
    }

    fn moves(&self) -> Vec<String> {
        let mut moves = Vec::new();
        self.board.generate_moves(|set| {
            moves.extend(set.into_iter().map(|mv| util::display_uci_move(&self.board, mv).to_string()));
            false
        });
        moves
    }

    fn play(&mut self, mv: &str) -> Result<(), IllegalMove> {
        let mv = self.parse(mv)?;
        self.board.play_unchecked(mv);
        if self.board.halfmove_clock() == 0 {
            self.since.clear();
        }
        self.since.push(self.board.hash());
        Ok(())
    }

    /// Mate, stalemate, dead material, and at once what players would have to claim: fifty moves and the third
    /// occurrence of a position.
    fn end(&self) -> Option<GameEnd> {
        let here = self.board.hash();
        let outcome = match self.board.status() {
            GameStatus::Won => WinOrDraw::Win(self.turn().other()),
            GameStatus::Drawn => WinOrDraw::Draw,
            GameStatus::Ongoing => {
                let repeated = self.since.iter().filter(|&&hash| hash == here).count() >= 3;
                return (repeated || self.is_dead()).then_some(GameEnd::Decided(WinOrDraw::Draw));
            }
        };
        Some(GameEnd::Decided(outcome))
    }

    fn facts(&self) -> Facts {
        let own = self.board.side_to_move();
        let count = |color, piece| self.board.colored_pieces(color, piece).len() as i32;
        let mut capture = false;
        self.board.generate_moves(|set| {
            let en_passant = set.piece == Piece::Pawn && set.to.into_iter().any(|to| to.file() != set.from.file());
            capture |= en_passant || !(set.to & self.board.colors(!own)).is_empty();
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

    fn after(moves: &str) -> Chess {
        let mut board = Chess::new(None).unwrap();
        for san in moves.split_whitespace() {
            let mv = board.uci(san).unwrap();
            board.play(&mv).unwrap();
        }
        board
    }

    #[test]
    fn ends() {
        assert_eq!(after("e4 e5").end(), None);
        assert_eq!(after("f3 e5 g4 Qh4#").end(), Some(GameEnd::Decided(WinOrDraw::Win(Seat::Second))));
        let knights = "Nf3 Nf6 Ng1 Ng8 ";
        assert_eq!(after(knights).end(), None);
        assert_eq!(after(&knights.repeat(2)).end(), Some(GameEnd::Decided(WinOrDraw::Draw)));
        let bare = Chess::new(Some("8/8/4k3/8/8/3BK3/8/8 w - - 0 1")).unwrap();
        assert_eq!(bare.end(), Some(GameEnd::Decided(WinOrDraw::Draw)));
        let stalemate = Chess::new(Some("7k/5Q2/6K1/8/8/8/8/8 b - - 0 1")).unwrap();
        assert_eq!(stalemate.end(), Some(GameEnd::Decided(WinOrDraw::Draw)));
    }

    #[test]
    fn castling_promotion_and_en_passant() {
        let board = Chess::new(Some("r3k2r/P7/8/8/8/8/8/R3K2R w KQkq - 0 1")).unwrap();
        assert_eq!(board.uci("O-O").unwrap(), "e1g1");
        assert_eq!(board.uci("0-0-0").unwrap(), "e1c1");
        assert!(board.uci("a8=Q").is_err());
        let board = after("e4 a6 e5 d5");
        assert!(board.facts().capture);
        assert_eq!(board.uci("exd6").unwrap(), "e5d6");
        assert_eq!(board.san("e5d6").unwrap(), "exd6");
        for nonsense in ["", "e9", "Zf3", "e5d7", "e1e1", "0000", "Ke3", "a7a8k", "\u{fe0f}"] {
            assert!(board.uci(nonsense).is_err(), "{nonsense}");
            assert!(board.san(nonsense).is_err(), "{nonsense}");
        }
    }

    #[test]
    fn facts_of_a_position() {
        let facts = after("e4 d5 exd5").facts();
        assert_eq!(facts, Facts { turn: Seat::Second, pieces: 31, lead: -1, check: false, capture: true });
        assert!(after("e4 f5 Qh5+").facts().check);
    }
}
