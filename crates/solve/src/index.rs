//! `Index`: the placements of the shown pieces of a class, the face-down squares given, as numbers without gaps.
//!
//! Groups are placed one after the other, each as a set of the squares still free, ranked in the combinatorial number
//! system. Where the board can be turned so that the face-down squares stay, and no square stays, placements are
//! folded: a group of one piece, the *anchor*, is turned to the least square of its orbit and takes the others along.

use anqi_endgame::Class;
use anqi_rules::{BoardSize, Color, Square, SquareSet};
use arrayvec::ArrayVec;

use crate::turning::Turning;

/// The most groups: eight squares full of different pieces.
pub(crate) const MOST_GROUPS: usize = 8;

/// Where the shown pieces of each group stand, and who is to move, in the colours of the class.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct VeiledPlacement {
    pub(crate) sets: [u32; MOST_GROUPS],
    pub(crate) turn: Color,
}

impl VeiledPlacement {
    /// All squares with a shown piece.
    #[inline]
    pub(crate) fn occupied(&self) -> u32 {
        self.sets.iter().fold(0, |all, set| all | set)
    }
}

/// The numbering of one level.
#[derive(Clone, Debug)]
pub(crate) struct Index {
    /// The squares of the board that are not face down.
    free: u32,
    /// Groups with shown pieces in the order of placing.
    order: ArrayVec<Digit, MOST_GROUPS>,
    fold: Option<Box<Fold>>,
    half: u32,
}

#[derive(Clone, Copy, Debug)]
struct Digit {
    group: usize,
    count: u32,
    ways: u32,
}

#[derive(Clone, Debug)]
struct Fold {
    /// By the square of the anchor: how to turn the board; `None` if it is well as it is.
    turnings: [Option<Turning>; Square::COUNT],
    /// Where an anchor may stand.
    squares: Vec<u32>,
    /// By square: its place among them.
    rank: [u32; Square::COUNT],
    weight: u32,
}

impl Index {
    pub(crate) fn new(board: BoardSize, turnings: &[Turning], class: &Class, hidden: u32) -> Index {
        let free = board.squares().0 & !hidden;
        let groups = class.groups();
        let fold = Fold::new(board, turnings, hidden);
        let anchor = fold.as_ref().and_then(|_| groups.iter().position(|group| group.count == 1));
        let fold = fold.filter(|_| anchor.is_some());
        let mut left = free.count_ones();
        let shown = (0..groups.len()).filter(|&group| groups[group].count > 0 && Some(group) != anchor);
        let order: ArrayVec<Digit, MOST_GROUPS> = anchor
            .into_iter()
            .chain(shown)
            .map(|group| {
                let count = u32::from(groups[group].count);
                let ways = choose(left, count);
                left -= count;
                Digit { group, count, ways }
            })
            .collect();
        let unfolded: u32 = order.iter().map(|step| step.ways).product();
        let half = fold.as_ref().map_or(unfolded, |fold| unfolded / free.count_ones() * fold.squares.len() as u32);
        Index { free, order, fold: fold.map(Box::new), half }
    }

    /// How many numbers there are, both sides to move together.
    pub(crate) const fn len(&self) -> u32 {
        2 * self.half
    }

    /// How many placements each number stands for.
    pub(crate) fn weight(&self) -> u32 {
        self.fold.as_ref().map_or(1, |fold| fold.weight)
    }

    /// The number of a placement, which must have as many squares in each set as the group has shown pieces.
    #[inline]
    pub(crate) fn number(&self, placement: &VeiledPlacement) -> u32 {
        let Some(fold) = &self.fold else {
            return self.rank_all(&placement.sets, 0, self.free, &self.order, placement);
        };
        let anchor = self.order[0].group;
        let square = placement.sets[anchor].trailing_zeros() as usize % Square::COUNT;
        match &fold.turnings[square] {
            None => {
                let free = self.free & !placement.sets[anchor];
                self.rank_all(&placement.sets, fold.rank[square], free, &self.order[1..], placement)
            }
            Some(turning) => {
                let sets = placement.sets.map(|set| turning.apply(set));
                let square = sets[anchor].trailing_zeros() as usize % Square::COUNT;
                self.rank_all(&sets, fold.rank[square], self.free & !sets[anchor], &self.order[1..], placement)
            }
        }
    }

    #[inline]
    fn rank_all(
        &self,
        sets: &[u32; MOST_GROUPS],
        first: u32,
        mut free: u32,
        order: &[Digit],
        placement: &VeiledPlacement,
    ) -> u32 {
        let mut number = first;
        for step in order {
            let set = sets[step.group];
            number = number * step.ways + rank(set, free);
            free &= !set;
        }
        placement.turn as u32 * self.half + number
    }

    /// The placement of a number below [`len`](Index::len).
    #[inline]
    pub(crate) fn placement(&self, number: u32) -> VeiledPlacement {
        let (turn, mut rest) =
            if number < self.half { (Color::Red, number) } else { (Color::Black, number - self.half) };
        let mut placement = VeiledPlacement { sets: [0; MOST_GROUPS], turn };
        let mut digits = [0; MOST_GROUPS];
        let folded = usize::from(self.fold.is_some());
        for (digit, step) in digits.iter_mut().zip(&self.order).skip(folded).rev() {
            *digit = rest % step.ways;
            rest /= step.ways;
        }
        let mut free = self.free;
        if let Some(fold) = &self.fold {
            let anchor = fold.squares[rest as usize];
            placement.sets[self.order[0].group] = anchor;
            free &= !anchor;
        }
        for (step, digit) in self.order.iter().zip(digits).skip(folded) {
            let set = unrank(digit, step.count, free);
            placement.sets[step.group] = set;
            free &= !set;
        }
        placement
    }
}

impl Fold {
    /// How to fold by the turnings that leave `hidden` where it is; `None` if there is no other than the identity, or
    /// one that leaves a square where it is: then some placements would be their own images.
    fn new(board: BoardSize, turnings: &[Turning], hidden: u32) -> Option<Fold> {
        let stay: Vec<&Turning> = turnings.iter().filter(|turning| turning.apply(hidden) == hidden).collect();
        if stay.len() == 1 || stay[1..].iter().any(|turning| turning.fixes_a_square(board)) {
            return None;
        }
        let weight = stay.len() as u32;
        let mut fold = Fold { turnings: [None; Square::COUNT], squares: Vec::new(), rank: [0; Square::COUNT], weight };
        for square in SquareSet(board.squares().0 & !hidden) {
            let set = square.set().0;
            let best = stay.iter().min_by_key(|turning| turning.apply(set));
            if let Some(turning) = best.filter(|turning| turning.apply(set) != set) {
                fold.turnings[square.index()] = Some(**turning);
            } else {
                fold.rank[square.index()] = fold.squares.len() as u32;
                fold.squares.push(set);
            }
        }
        Some(fold)
    }
}

/// The rank of `set` among the sets of its size on the `free` squares.
#[inline]
fn rank(mut set: u32, free: u32) -> u32 {
    let (mut rank, mut place) = (0, 1);
    while set != 0 {
        let below = (set & set.wrapping_neg()) - 1;
        rank += choose((free & below).count_ones(), place);
        set &= set - 1;
        place += 1;
    }
    rank
}

/// The set of `count` free squares with this rank.
#[inline]
fn unrank(mut rank: u32, count: u32, free: u32) -> u32 {
    let mut set = 0;
    for place in (1..=count).rev() {
        let mut square = place - 1;
        if place == 1 {
            square = rank;
        } else {
            while choose(square + 1, place) <= rank {
                square += 1;
            }
        }
        rank -= choose(square, place);
        set |= nth(square, free);
    }
    set
}

/// The square number `n` of a set, as a set.
#[inline]
fn nth(mut n: u32, mut set: u32) -> u32 {
    let mut skipped = 0;
    for width in [16, 8, 4, 2, 1] {
        let below = (set & ((1 << width) - 1)).count_ones();
        if n >= below {
            n -= below;
            set >>= width;
            skipped += width;
        }
    }
    1 << skipped
}

#[inline]
fn choose(n: u32, k: u32) -> u32 {
    CHOOSE[k as usize][n as usize]
}

/// No group has more pieces than fill a small board.
const MOST_TOGETHER: usize = 8;

static CHOOSE: [[u32; Square::COUNT + 1]; MOST_TOGETHER + 1] = {
    let mut table = [[0; Square::COUNT + 1]; MOST_TOGETHER + 1];
    table[0] = [1; Square::COUNT + 1];
    let mut k = 1;
    while k <= MOST_TOGETHER {
        let mut n = 1;
        while n <= Square::COUNT {
            table[k][n] = table[k][n - 1] + table[k - 1][n - 1];
            n += 1;
        }
        k += 1;
    }
    table
};

#[cfg(test)]
mod tests {
    use anqi_rules::{Ladder, Material};

    use super::*;
    use crate::turning::orbits;

    /// Every number is that of its placement, however the board is turned, and no two have the same.
    fn check(board: BoardSize, shown: &str, pool: &str) {
        let [shown, pool]: [Material; 2] = [shown, pool].map(|text| text.parse().expect(text));
        let class = Class::of_pieces(&shown, &pool, Ladder::Taiwan).class;
        let turnings = Turning::all(board);
        for hidden in orbits(board, &turnings, pool.len()) {
            let index = Index::new(board, &turnings, &class, hidden);
            let stay = || turnings.iter().filter(|turning| turning.apply(hidden) == hidden);
            for number in 0..index.len() {
                let placement = index.placement(number);
                assert_eq!(index.number(&placement), number);
                assert_eq!(placement.occupied().count_ones(), class.shown());
                assert_eq!(placement.occupied() & (hidden | !board.squares().0), 0);
                let turned = |turning: &Turning| VeiledPlacement {
                    sets: placement.sets.map(|set| turning.apply(set)),
                    ..placement
                };
                if index.weight() > 1 {
                    assert!(stay().all(|turning| index.number(&turned(turning)) == number));
                }
            }
            let placements: u32 =
                (0..class.shown()).map(|placed| board.squares().len() - pool.len() - placed).product();
            let alike: u32 = class.groups().iter().map(|group| (1..=u32::from(group.count)).product::<u32>()).product();
            assert_eq!(index.len() * index.weight(), 2 * placements / alike);
        }
    }

    #[test]
    fn placements_and_numbers_go_round() {
        check(BoardSize::FourByEight, "Kn", "p");
        check(BoardSize::FourByEight, "Knn", "-");
        check(BoardSize::FourByEight, "C", "Pp");
        check(BoardSize::FourByEight, "PPnn", "-");
        check(BoardSize::TwoByFour, "KCpp", "kP");
        check(BoardSize::ThreeByTwo, "KCp", "kP");
        check(BoardSize::TwoByTwo, "Kp", "-");
    }
}
