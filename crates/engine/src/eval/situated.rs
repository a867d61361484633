//! The *dynamic piece value strategy* of Chen, Shen & Hsu, 2.4, with what it says of cannons and of the king.

use anqi_rules::{Color, Kind, Piece, Position, Square, neighbours};

use super::{Dynamic, Evaluate};
use crate::score::Score;

/// [`Dynamic`], and what else the section asks for, with numbers of ours:
///
/// - cannons "are very powerful when carriages exist and the pieces that can threaten them are a distance away": a cannon
///   is worth more for each step beyond the first, up to the fourth, to the nearest enemy that takes it by a step;
/// - one "limited in the surrounding of opponent pieces or unknown pieces" is easily captured: it is worth less for each
///   face-down neighbour;
/// - the king "is usually captured by pawns or cannons in early phase of a game if revealed. Therefore guards becomes as
///   important": a king face up loses its lead over a guard, by the share of the enemy's pawns and cannons that are left.
#[derive(Clone, Copy, Debug)]
pub struct Situated {
    /// What it adds to.
    pub dynamic: Dynamic,
    /// A cannon, for each step that the nearest threat is away beyond the first.
    pub distance: i32,
    /// A cannon, for each face-down neighbour.
    pub unknown: i32,
}

/// Threats that are further away make no difference.
const FAR: i32 = 4;
/// A side's pawns and cannons in the usual army.
const HUNTERS: i32 = 7;

impl Default for Situated {
    fn default() -> Situated {
        Situated { dynamic: Dynamic::default(), distance: 15, unknown: -20 }
    }
}

fn steps_between(a: Square, b: Square) -> i32 {
    i32::from(a.file().abs_diff(b.file()) + a.rank().abs_diff(b.rank()))
}

impl Situated {
    fn value(&self, position: &Position, color: Color) -> i32 {
        position.jumpers(color).iter().map(|cannon| self.cannon(position, cannon, color)).sum::<i32>()
            - self.king(position, color)
    }

    fn cannon(&self, position: &Position, cannon: Square, color: Color) -> i32 {
        let foe = color.other();
        let takes = |square: &Square| {
            let piece = position.piece_at(*square);
            piece.is_some_and(|piece| !matches!(piece.kind, Kind::Cannon | Kind::Pawn))
        };
        let threats = position.pieces(foe).iter().filter(takes);
        let nearest = threats.map(|threat| steps_between(cannon, threat)).min().unwrap_or(FAR).min(FAR);
        let unknown = (neighbours(cannon) & position.hidden()).len() as i32;
        self.distance * (nearest - 1) + self.unknown * unknown
    }

    /// What a king face up is worth less.
    fn king(&self, position: &Position, color: Color) -> i32 {
        let king = Piece { color, kind: Kind::King };
        let foe = color.other();
        if position.revealed().count(king) == 0 {
            return 0;
        }
        let hunters = position.left(foe, Kind::Pawn) + position.left(foe, Kind::Cannon);
        self.lead() * HUNTERS.min(hunters as i32) / HUNTERS
    }

    fn lead(&self) -> i32 {
        self.dynamic.place[0] - self.dynamic.place[1]
    }
}

impl Evaluate for Situated {
    fn evaluate(&self, position: &Position) -> Score {
        let Some(turn) = position.turn() else { return Score::DRAW };
        let Score(dynamic) = self.dynamic.evaluate(position);
        Score(dynamic + self.value(position, turn) - self.value(position, turn.other()))
    }

    fn bound(&self, position: &Position) -> i32 {
        let cannons = |color| position.left(color, Kind::Cannon) as i32;
        let kings = |color| position.left(color, Kind::King) as i32;
        let a_cannon = (self.distance * (FAR - 1)).abs() + 4 * self.unknown.abs();
        let more = |color| a_cannon * cannons(color) + self.lead().abs() * kings(color);
        self.dynamic.bound(position) + more(Color::Red) + more(Color::Black)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn more_than_dynamic(position: &str) -> i32 {
        let position: Position = position.parse().unwrap();
        let (Score(situated), Score(dynamic)) =
            (Situated::default().evaluate(&position), Dynamic::default().evaluate(&position));
        assert!(situated.abs() <= Situated::default().bound(&position));
        situated - dynamic
    }

    #[test]
    fn cannons_like_distance_and_dislike_unknown_neighbours() {
        // The black guard is one, two, four and six steps away from the cannon on a1.
        assert_eq!(more_than_dynamic("4/4/4/4/4/4/g3/C3 r -"), 0);
        assert_eq!(more_than_dynamic("4/4/4/4/4/4/1g2/C3 r -"), 15);
        assert_eq!(more_than_dynamic("4/4/4/4/3g/4/4/C3 r -"), 45);
        assert_eq!(more_than_dynamic("4/g3/4/4/4/4/4/C3 r -"), 45);
        // A pawn cannot take it.
        assert_eq!(more_than_dynamic("4/4/4/4/4/4/p3/C3 r -"), 45);
        // One and two neighbours are face down; the other side loses what the cannon's side gains.
        assert_eq!(more_than_dynamic("4/g3/4/4/4/4/x3/C3 r n"), 25);
        assert_eq!(more_than_dynamic("4/g3/4/4/4/4/x3/Cx2 b nn"), -5);
    }

    #[test]
    fn a_king_face_up_is_at_risk_while_its_hunters_live() {
        assert_eq!(more_than_dynamic("4/4/4/4/4/4/4/K2g r -"), 0);
        assert_eq!(more_than_dynamic("4/4/4/4/4/4/4/K2p r -"), -57);
        assert_eq!(more_than_dynamic("xxxx/xx2/4/4/4/4/4/K2p r ppppcc"), -400);
        // Face down it is safe.
        assert_eq!(more_than_dynamic("4/4/4/4/4/4/4/x2p b K"), 0);
    }
}
