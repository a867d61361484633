//! Moves, and which of them a position allows.

use arrayvec::ArrayVec;

use crate::attacks::{Direction, cannon_targets, neighbours};
use crate::piece::{ByColor, Color, Piece};
use crate::position::Position;
use crate::square::{Square, SquareSet};

/// What a player decides.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Move {
    /// Turn a face-down piece up.
    Flip(Square),
    /// Move a piece, capturing what stands on the target.
    Step {
        /// Where it stands.
        from: Square,
        /// Where it goes.
        to: Square,
    },
}

/// What happened: a move with what chance answered.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Ply {
    /// A face-down piece was turned up and showed itself.
    Flip(Square, Piece),
    /// A piece moved or captured.
    Step {
        /// Where it stood.
        from: Square,
        /// Where it went.
        to: Square,
    },
}

impl Ply {
    /// The decision in it.
    #[must_use]
    pub const fn to_move(self) -> Move {
        match self {
            Ply::Flip(square, _) => Move::Flip(square),
            Ply::Step { from, to } => Move::Step { from, to },
        }
    }

    /// What came up, if this was a flip.
    #[must_use]
    pub const fn revealed(self) -> Option<Piece> {
        match self {
            Ply::Flip(_, piece) => Some(piece),
            Ply::Step { .. } => None,
        }
    }
}

/// No position has more moves: each of 32 squares is a flip, or a piece with at most one step and
/// one jump in each of four directions.
pub const MOST_MOVES: usize = Square::COUNT * 8;

/// The moves of a position.
pub type MoveList = ArrayVec<Move, MOST_MOVES>;

/// Which moves there are. Draw rules and long chases are not known here; see
/// [`Game::legal_moves`](crate::Game::legal_moves).
impl Position {
    /// All moves of the side to move: captures, then quiet steps, then flips.
    #[must_use]
    pub fn moves(&self) -> MoveList {
        let mut list = MoveList::new();
        self.captures_into(&mut list);
        self.quiet_steps_into(&mut list);
        list.extend(self.hidden().iter().map(Move::Flip));
        list
    }

    /// The captures of the side to move: steps by direction, then jumps.
    #[must_use]
    pub fn captures(&self) -> MoveList {
        let mut list = MoveList::new();
        self.captures_into(&mut list);
        list
    }

    /// Appends [`captures`](Position::captures) to `list`, which must have room for them.
    #[inline]
    pub fn captures_into(&self, list: &mut MoveList) {
        let Some(mover) = self.turn() else { return };
        self.push_captures(self.contacts().captures(self, mover), self.jumpers(mover), mover, list);
    }

    #[inline]
    fn push_captures(&self, steps: Contacts, cannons: SquareSet, mover: Color, list: &mut MoveList) {
        for direction in Direction::ALL {
            push_steps(list, steps.sources(direction), direction);
        }
        for from in cannons {
            list.extend(self.jumps(from, mover).iter().map(|to| Move::Step { from, to }));
        }
    }

    /// Appends the steps of the side to move that capture nothing to `list`, which must have room for them.
    #[inline]
    pub fn quiet_steps_into(&self, list: &mut MoveList) {
        let Some(mover) = self.turn() else { return };
        for direction in Direction::ALL {
            push_steps(list, self.steps(direction, mover), direction);
        }
    }

    /// How many moves [`moves`](Position::moves) would give, flips not among them.
    #[must_use]
    pub fn count_steps(&self) -> u32 {
        let Some(mover) = self.turn() else { return 0 };
        let steps: u32 = Direction::ALL
            .into_iter()
            .map(|direction| (self.steps(direction, mover) | self.step_captures(direction, mover)).len())
            .sum();
        let jumps: u32 = self.jumpers(mover).iter().map(|cannon| self.jumps(cannon, mover).len()).sum();
        steps + jumps
    }

    /// How many moves each side has, and the captures of the side to move: one look at the board finds both.
    #[must_use]
    #[inline]
    pub fn survey(&self) -> Survey {
        let contacts = self.contacts();
        let empty = Neighbours::of(self.empty());
        let mut survey = Survey::default();
        for color in Color::ALL {
            let (own, captures) = (Neighbours::of(self.pieces(color)), contacts.captures(self, color));
            let forward = captures.forward | own.here & empty.there;
            let backward = captures.backward | own.there & empty.here;
            let (mut jumps, mut cannons) = (0, SquareSet::EMPTY);
            for cannon in self.jumpers(color) {
                let targets = self.jumps(cannon, color);
                jumps += targets.len();
                if !targets.is_empty() {
                    cannons |= cannon.set();
                }
            }
            survey.mobility[color] = forward.count_ones() + backward.count_ones() + jumps;
            if self.turn() == Some(color) {
                (survey.steps, survey.cannons) = (captures, cannons);
            }
        }
        survey
    }

    /// Whether the side to move can do anything at all.
    #[must_use]
    pub fn has_moves(&self) -> bool {
        !self.hidden().is_empty() || self.count_steps() > 0
    }

    /// Whether [`moves`](Position::moves) contains `mv`.
    #[must_use]
    pub fn is_legal(&self, mv: Move) -> bool {
        match mv {
            Move::Flip(square) => self.hidden().contains(square),
            Move::Step { from, to } => self.piece_at(from).is_some_and(|mine| {
                // Referees and move ordering ask about single moves, so nothing is computed for the whole board.
                let adjacent = || neighbours(from).contains(to);
                Some(mine.color) == self.turn()
                    && match self.piece_at(to) {
                        None => self.empty().contains(to) && adjacent(),
                        Some(theirs) if theirs.color == mine.color => false,
                        Some(_) if self.jumpers(mine.color).contains(from) => self.jumps(from, mine.color).contains(to),
                        Some(theirs) => self.ladder().takes(mine.kind, theirs.kind) && adjacent(),
                    }
            }),
        }
    }

    /// Where the piece on `from` can go, if it belongs to the side to move.
    #[must_use]
    pub fn targets_from(&self, from: Square) -> SquareSet {
        let Some(mover) = self.turn() else { return SquareSet::EMPTY };
        let steps = Direction::ALL.into_iter().filter_map(|direction| {
            let sources = self.steps(direction, mover) | self.step_captures(direction, mover);
            if sources.contains(from) { direction.step(from) } else { None }
        });
        let jumps = if self.jumpers(mover).contains(from) { self.jumps(from, mover) } else { SquareSet::EMPTY };
        steps.collect::<SquareSet>() | jumps
    }

    /// The enemy pieces that `attacker` could capture if it were its turn.
    #[must_use]
    pub fn attacked_by(&self, attacker: Color) -> SquareSet {
        let stepped = Direction::ALL
            .into_iter()
            .map(|direction| direction.shift(self.step_captures(direction, attacker)))
            .fold(SquareSet::EMPTY, |all, set| all | set);
        let jumped = self
            .jumpers(attacker)
            .iter()
            .map(|cannon| self.jumps(cannon, attacker))
            .fold(SquareSet::EMPTY, |all, set| all | set);
        stepped | jumped
    }

    /// The pieces of `color` that could be captured if it were the enemy's turn.
    #[must_use]
    pub fn threatened(&self, color: Color) -> SquareSet {
        self.attacked_by(color.other())
    }

    /// The pieces that could capture the revealed piece on `target`.
    #[must_use]
    pub fn attackers_of(&self, target: Square) -> SquareSet {
        let Some(piece) = self.piece_at(target) else { return SquareSet::EMPTY };
        let attacker = piece.color.other();
        let steppers = Direction::ALL
            .into_iter()
            .map(|direction| direction.opposite().shift(target.set()) & self.step_captures(direction, attacker))
            .fold(SquareSet::EMPTY, |all, set| all | set);
        // Exactly one piece between is the same seen from either end.
        steppers | cannon_targets(target, self.occupied()) & self.jumpers(attacker)
    }

    /// Pieces of `mover` that can step in `direction` onto an empty square.
    #[must_use]
    #[inline]
    pub fn steps(&self, direction: Direction, mover: Color) -> SquareSet {
        self.pieces(mover) & direction.opposite().shift(self.empty())
    }

    /// Which of two neighbours takes the other by its rung, for all pairs of neighbours at once.
    #[inline]
    fn contacts(&self) -> Contacts {
        let [p0, p1, p2] = self.planes().map(|plane| Neighbours::of(SquareSet(plane)));
        let greater = p2.here & !p2.there
            | !(p2.here ^ p2.there) & (p1.here & !p1.there | !(p1.here ^ p1.there) & p0.here & !p0.there);
        let equal = !(p2.here ^ p2.there) & !(p1.here ^ p1.there) & !(p0.here ^ p0.there);
        // Rung 7 against rung 1 is wrong both ways round: the king spares the pawn, the pawn takes the king.
        let (king, pawn) = (p2.here & p1.here & p0.here, !p2.here & !p1.here & p0.here);
        let (king_there, pawn_there) = (p2.there & p1.there & p0.there, !p2.there & !p1.there & p0.there);
        let wrong = king & pawn_there | pawn & king_there;
        Contacts { forward: (greater | equal) ^ wrong, backward: !greater ^ wrong }
    }

    /// Pieces of `mover` that can capture by a step in `direction`.
    #[must_use]
    #[inline]
    pub fn step_captures(&self, direction: Direction, mover: Color) -> SquareSet {
        let enemy = self.pieces(mover.other());
        // Pull every enemy back by one step, so that it lies on the square it would be taken from.
        let pull = |plane: u32| direction.opposite().shift(SquareSet(plane) & enemy).0;
        let [a0, a1, a2] = self.planes();
        let [v0, v1, v2] = self.planes().map(pull);
        let at_least = a2 & !v2 | !(a2 ^ v2) & (a1 & !v1 | !(a1 ^ v1) & (a0 | !v0));
        // Rung 7 against rung 1 is wrong both ways round: the king spares the pawn, the pawn takes the king.
        let (king, pawn) = (a2 & a1 & a0, !a2 & !a1 & a0);
        let (king_there, pawn_there) = (v2 & v1 & v0, !v2 & !v1 & v0);
        let takes = SquareSet(at_least ^ (king & pawn_there | pawn & king_there));
        takes & self.pieces(mover) & direction.opposite().shift(enemy) & !self.jumpers(mover)
    }

    /// The cannons of `mover`, on a ladder where they jump.
    #[must_use]
    #[inline]
    pub fn jumpers(&self, mover: Color) -> SquareSet {
        if !self.ladder().cannons_jump() {
            return SquareSet::EMPTY;
        }
        self.on_rung(crate::Ladder::Taiwan.rung(crate::Kind::Cannon)) & self.pieces(mover)
    }

    /// What the cannon of `mover` on `cannon` can capture.
    #[must_use]
    #[inline]
    pub fn jumps(&self, cannon: Square, mover: Color) -> SquareSet {
        cannon_targets(cannon, self.occupied()) & self.pieces(mover.other())
    }
}

/// A set beside itself: the low half of each word pairs every square with its northern neighbour, the high half with its
/// eastern one. So two words have all neighbours of a board, each pair once.
#[derive(Clone, Copy)]
struct Neighbours {
    /// The squares of the set.
    here: u64,
    /// Those whose northern or eastern neighbour is in the set.
    there: u64,
}

impl Neighbours {
    #[inline]
    fn of(set: SquareSet) -> Neighbours {
        let both = |north: SquareSet, east: SquareSet| u64::from(north.0) | u64::from(east.0) << 32;
        Neighbours { here: both(set, set), there: both(Direction::South.shift(set), Direction::West.shift(set)) }
    }
}

/// What [`Position::survey`] finds.
#[derive(Clone, Copy, Default, Debug)]
pub struct Survey {
    /// How many moves the pieces of each colour have, whoever is to move; flips not among them.
    pub mobility: ByColor<u32>,
    /// The captures by a step of the side to move.
    steps: Contacts,
    /// Its cannons that can capture.
    cannons: SquareSet,
}

impl Survey {
    /// Whether the side to move can capture.
    #[must_use]
    #[inline]
    pub fn has_captures(&self) -> bool {
        self.steps.forward | self.steps.backward != 0 || !self.cannons.is_empty()
    }

    /// What [`Position::captures_into`] appends, of the position that was surveyed.
    #[inline]
    pub fn captures_into(&self, position: &Position, list: &mut MoveList) {
        let Some(mover) = position.turn() else { return };
        position.push_captures(self.steps, self.cannons, mover, list);
    }
}

/// Pairs of neighbours, each at its southern or western square, in the halves of [`Neighbours`].
#[derive(Clone, Copy, Default, Debug)]
struct Contacts {
    /// Where this square takes its neighbour.
    forward: u64,
    /// Where the neighbour takes this square.
    backward: u64,
}

impl Contacts {
    /// The captures of `mover` by a step.
    #[inline]
    fn captures(self, position: &Position, mover: Color) -> Contacts {
        let steppers = Neighbours::of(position.pieces(mover) & !position.jumpers(mover));
        let enemies = Neighbours::of(position.pieces(mover.other()));
        Contacts {
            forward: self.forward & steppers.here & enemies.there,
            backward: self.backward & steppers.there & enemies.here,
        }
    }

    /// From where a piece goes in `direction`.
    #[inline]
    fn sources(self, direction: Direction) -> SquareSet {
        match direction {
            Direction::North => SquareSet(self.forward as u32),
            Direction::South => Direction::North.shift(SquareSet(self.backward as u32)),
            Direction::East => SquareSet((self.forward >> 32) as u32),
            Direction::West => Direction::East.shift(SquareSet((self.backward >> 32) as u32)),
        }
    }
}

#[inline]
fn push_steps(list: &mut MoveList, sources: SquareSet, direction: Direction) {
    let targets = direction.shift(sources);
    // Shifting keeps the order of the bits, so the two sets pair up.
    list.extend(sources.iter().zip(targets).map(|(from, to)| Move::Step { from, to }));
}
