//! Go: stones, captures, ko. Counting is left to engines, which know what is dead.

use std::collections::HashSet;

use anqi_rules::Seat;

use crate::board::{Board, Facts, GameEnd, IllegalMove};

/// The columns of a board as GTP names them: there is no I.
const COLUMNS: &[u8; 19] = b"ABCDEFGHJKLMNOPQRST";

/// A point by its index, row by row from the lower left corner.
type Point = usize;

/// The stones on a board.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
struct Stones {
    size: usize,
    at: Vec<Option<Seat>>,
}

impl Stones {
    fn neighbours(&self, point: Point) -> impl Iterator<Item = Point> + use<> {
        let (size, x) = (self.size, point % self.size);
        let left = (x > 0).then(|| point - 1);
        let right = (x + 1 < size).then(|| point + 1);
        let up = (point + size < size * size).then_some(point + size);
        [left, right, point.checked_sub(size), up].into_iter().flatten()
    }

    /// The stones connected with the one at `point`, and their liberties.
    fn group(&self, point: Point) -> (Vec<Point>, Vec<Point>) {
        let (mut group, mut liberties) = (vec![point], Vec::new());
        let mut reached = vec![false; self.at.len()];
        reached[point] = true;
        let mut next = 0;
        while let Some(&stone) = group.get(next) {
            next += 1;
            for neighbour in self.neighbours(stone) {
                if std::mem::replace(&mut reached[neighbour], true) {
                    continue;
                }
                match self.at[neighbour] {
                    None => liberties.push(neighbour),
                    owner if owner == self.at[point] => group.push(neighbour),
                    Some(_) => {}
                }
            }
        }
        (group, liberties)
    }

    fn is_choked(&self, point: Point) -> bool {
        self.at[point].is_some() && self.group(point).1.is_empty()
    }

    /// Puts a stone on an empty point and takes what it captures: how many. `None` for suicide.
    fn put(&mut self, side: Seat, point: Point) -> Option<u32> {
        self.at[point] = Some(side);
        let mut taken = 0;
        for neighbour in self.neighbours(point) {
            if self.at[neighbour] == Some(side.other()) && self.is_choked(neighbour) {
                for stone in self.group(neighbour).0 {
                    self.at[stone] = None;
                    taken += 1;
                }
            }
        }
        (!self.is_choked(point)).then_some(taken)
    }
}

/// A game of Go. Black is [`Seat::First`]. Suicide is illegal, and so is a capture that repeats an earlier
/// board with the same side to move.
///
/// ```
/// use anqi_games::{Board, Go};
///
/// let mut board = Go::new(9)?;
/// board.play("E5")?;
/// board.play("pass")?;
/// assert_eq!(board.moves().len(), 80 + 1);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Go {
    stones: Stones,
    turn: Seat,
    /// Stones that Black and White have captured.
    prisoners: [u32; 2],
    passes: u32,
    seen: HashSet<(Stones, Seat)>,
}

/// An empty board.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("a board of {0} lines, expected {smallest} to {largest}", smallest = Go::SIZES.start(), largest = Go::SIZES.end())]
pub struct BadSize(pub usize);

impl Go {
    /// The boards there are.
    pub const SIZES: std::ops::RangeInclusive<usize> = 5..=19;

    /// An empty board; Black begins.
    ///
    /// # Errors
    /// If there is no board of that size.
    pub fn new(size: usize) -> Result<Go, BadSize> {
        if !Go::SIZES.contains(&size) {
            return Err(BadSize(size));
        }
        let stones = Stones { size, at: vec![None; size * size] };
        Ok(Go { stones, turn: Seat::First, prisoners: [0; 2], passes: 0, seen: HashSet::new() })
    }

    /// Puts a stone down without a move, as handicaps are.
    ///
    /// # Errors
    /// If there is one already, or no such point, or it would have no liberty.
    pub fn place(&mut self, side: Seat, vertex: &str) -> Result<(), IllegalMove> {
        let illegal = || IllegalMove::new(vertex);
        let point = self.empty_point(vertex).ok_or_else(illegal)?;
        let mut stones = self.stones.clone();
        stones.at[point] = Some(side);
        if stones.is_choked(point) || stones.neighbours(point).any(|next| stones.is_choked(next)) {
            return Err(illegal());
        }
        self.stones = stones;
        Ok(())
    }

    /// Sets whose move it is, whatever was played last.
    pub fn set_turn(&mut self, turn: Seat) {
        self.turn = turn;
    }

    /// The name of a point, `x` lines from the left and `y` from the bottom.
    #[must_use]
    pub fn vertex(x: usize, y: usize) -> Option<String> {
        COLUMNS.get(x).filter(|_| y < COLUMNS.len()).map(|&column| format!("{}{}", char::from(column), y + 1))
    }

    /// How far a named point lies from the left and from the bottom.
    #[must_use]
    pub fn coordinates(vertex: &str) -> Option<(usize, usize)> {
        let (column, row) = vertex.split_at_checked(1)?;
        let x = COLUMNS.iter().position(|&name| name.eq_ignore_ascii_case(&column.as_bytes()[0]))?;
        let y: usize = row.parse().ok().filter(|_| row.bytes().all(|byte| byte.is_ascii_digit()))?;
        (1..=COLUMNS.len()).contains(&y).then(|| (x, y - 1))
    }

    fn empty_point(&self, vertex: &str) -> Option<Point> {
        let size = self.stones.size;
        let (x, y) = Go::coordinates(vertex)?;
        let point = y * size + x;
        (x < size && y < size && self.stones.at[point].is_none()).then_some(point)
    }

    /// The stones after a legal move to an empty point, and how many it took.
    fn after(&self, point: Point) -> Option<(Stones, u32)> {
        let mut stones = self.stones.clone();
        let taken = stones.put(self.turn, point)?;
        let key = (stones, self.turn.other());
        if taken > 0 && self.seen.contains(&key) { None } else { Some((key.0, taken)) }
    }
}

impl Board for Go {
    fn turn(&self) -> Seat {
        self.turn
    }

    fn moves(&self) -> Vec<String> {
        let (size, at) = (self.stones.size, &self.stones.at);
        let legal = (0..at.len()).filter(|&point| at[point].is_none() && self.after(point).is_some());
        let names = legal.filter_map(|point| Go::vertex(point % size, point / size));
        names.chain(["pass".to_owned()]).collect()
    }

    fn play(&mut self, mv: &str) -> Result<(), IllegalMove> {
        if mv.eq_ignore_ascii_case("pass") {
            self.passes += 1;
        } else {
            let played = self.empty_point(mv).and_then(|point| self.after(point));
            let (stones, taken) = played.ok_or_else(|| IllegalMove::new(mv))?;
            let before = std::mem::replace(&mut self.stones, stones);
            self.seen.insert((before, self.turn));
            self.prisoners[usize::from(self.turn == Seat::Second)] += taken;
            self.passes = 0;
        }
        self.turn = self.turn.other();
        Ok(())
    }

    fn end(&self) -> Option<GameEnd> {
        (self.passes >= 2).then_some(GameEnd::Counting)
    }

    fn facts(&self) -> Facts {
        let own = usize::from(self.turn == Seat::Second);
        let Stones { at, .. } = &self.stones;
        let in_atari = |side| {
            let stones = (0..at.len()).filter(move |&point| at[point] == Some(side));
            stones.filter_map(|point| <[Point; 1]>::try_from(self.stones.group(point).1).ok())
        };
        Facts {
            turn: self.turn,
            pieces: at.iter().flatten().count() as u32,
            lead: self.prisoners[own] as i32 - self.prisoners[1 - own] as i32,
            check: in_atari(self.turn).next().is_some(),
            capture: in_atari(self.turn.other()).any(|[last]| self.after(last).is_some()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(moves: &str) -> Go {
        let mut board = Go::new(9).unwrap();
        moves.split_whitespace().for_each(|mv| board.play(mv).unwrap());
        board
    }

    #[test]
    fn captures_and_ko() {
        // White has just taken D2 from C2 and attacks C1; Black may take back after a move elsewhere, not at once.
        let mut board = after("C3 D3 B2 E2 C1 D1 D2 C2");
        assert_eq!(board.facts(), Facts { turn: Seat::First, pieces: 7, lead: -1, check: true, capture: false });
        assert!(board.play("D2").is_err());
        for mv in ["J9", "J1", "D2"] {
            board.play(mv).unwrap();
        }
        assert_eq!(board.facts().lead, 0);
        assert!(board.play("C2").is_err());
    }

    #[test]
    fn suicide_and_nonsense_are_illegal() {
        let mut board = after("A2 J9 B1 J8");
        board.set_turn(Seat::Second);
        for mv in ["A1", "A2", "I5", "Z1", "A0", "A10", "A-1", "A+1", "", "é1", "PASS me"] {
            assert_eq!(board.play(mv), Err(IllegalMove(mv.to_owned())));
        }
        assert_eq!(board.moves().len(), 81 - 4 - 1 + 1);
        assert!(Go::new(4).is_err() && Go::new(20).is_err());
    }

    #[test]
    fn two_passes_end_it() {
        assert_eq!(after("E5 pass").end(), None);
        assert_eq!(after("E5 pass pass").end(), Some(GameEnd::Counting));
    }
}
