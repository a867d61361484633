//! `Stock`: what both sides have, on the board and face down, up to names.
//!
//! As for endings without face-down pieces (`anqi-endgame`, Chen et al. 2.5), only this matters: which pieces take which
//! by stepping, and which are cannons. Pieces of one side that take and are taken alike form one *group*, shown or not:
//! nobody needs to tell them apart, now or after a flip. Two stocks with isomorphic groups are the same game, colours
//! exchanged or not, and have one canonical form.

use anqi_rules::{Color, Kind, Ladder, Material, Piece};
use arrayvec::ArrayVec;

/// The most groups: eight squares full of different pieces.
pub(crate) const MOST_GROUPS: usize = 8;

/// Interchangeable pieces of one side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Group {
    pub(crate) color: Color,
    /// Whether they are cannons that capture by jumping.
    pub(crate) jumps: bool,
    /// How many are on the board.
    pub(crate) shown: u8,
    /// How many are face down.
    pub(crate) pool: u8,
    /// The groups that they take by stepping, one bit each.
    takes: u16,
}

impl Group {
    #[inline]
    pub(crate) const fn takes(&self, other: usize) -> bool {
        self.takes >> other & 1 == 1
    }

    const fn is_empty(&self) -> bool {
        self.shown == 0 && self.pool == 0
    }
}

type Groups = ArrayVec<Group, MOST_GROUPS>;

/// Groups in canonical form: equal if and only if isomorphic.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub(crate) struct Stock {
    groups: Groups,
}

/// How the pieces of something (a material, a stock after a capture or a flip) become the groups of a stock.
#[derive(Clone, Debug)]
pub(crate) struct Reading {
    pub(crate) stock: Stock,
    /// Whether red plays the part of black.
    pub(crate) swapped: bool,
    /// The group of each old number: [`Piece::index`] for a material, the old group for a stock.
    parts: [u8; Piece::COUNT],
}

impl Reading {
    #[inline]
    pub(crate) const fn part(&self, old: usize) -> usize {
        self.parts[old] as usize
    }

    #[inline]
    pub(crate) const fn color(&self, color: Color) -> Color {
        if self.swapped { color.other() } else { color }
    }
}

impl Stock {
    /// The stock of the pieces `shown` on the board and those in the `pool`; `None` if there are too many kinds.
    pub(crate) fn of(shown: &Material, pool: &Material, ladder: Ladder) -> Option<Reading> {
        let all = shown.pieces().chain(pool.pieces()).collect::<Material>();
        if all.kinds() as usize > MOST_GROUPS {
            return None;
        }
        let kinds: ArrayVec<Piece, MOST_GROUPS> = all.iter().map(|(piece, _)| piece).collect();
        let group = |piece: &Piece| {
            let taken = |victim: &Piece| victim.color != piece.color && ladder.takes(piece.kind, victim.kind);
            let takes = kinds.iter().enumerate().filter(|(_, victim)| taken(victim)).map(|(i, _)| 1 << i).sum();
            let jumps = piece.kind == Kind::Cannon && ladder.cannons_jump();
            Group { color: piece.color, jumps, shown: shown.count(*piece), pool: pool.count(*piece), takes }
        };
        let mut reading = canonical(&kinds.iter().map(group).collect());
        let parts = reading.parts;
        for (number, piece) in kinds.iter().enumerate() {
            reading.parts[piece.index()] = parts[number];
        }
        Some(reading)
    }

    /// The groups, red first.
    pub(crate) fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// How many pieces are on the board and face up.
    pub(crate) fn shown(&self) -> u32 {
        self.groups.iter().map(|group| u32::from(group.shown)).sum()
    }

    /// How many pieces lie face down.
    pub(crate) fn hidden(&self) -> u32 {
        self.groups.iter().map(|group| u32::from(group.pool)).sum()
    }

    pub(crate) fn pieces(&self) -> u32 {
        self.shown() + self.hidden()
    }

    /// What remains when a piece of group number `captured` is taken.
    pub(crate) fn after_capture(&self, captured: usize) -> Next {
        let victim = self.groups[captured];
        let somebody_takes = self
            .groups
            .iter()
            .any(|group| group.color != victim.color && group.shown > 0 && (group.jumps || group.takes(captured)));
        if victim.shown == 0 || !somebody_takes {
            return Next::Never;
        }
        let mut groups = self.groups.clone();
        groups[captured].shown -= 1;
        let alive = groups.iter().any(|group| group.color == victim.color && !group.is_empty());
        if alive { Next::Stock(canonical(&groups)) } else { Next::Won }
    }

    /// What remains when a piece of group number `flipped` turns up; `None` if none is face down.
    pub(crate) fn after_flip(&self, flipped: usize) -> Option<Reading> {
        let mut groups = self.groups.clone();
        let group = &mut groups[flipped];
        group.pool = group.pool.checked_sub(1)?;
        group.shown += 1;
        Some(canonical(&groups))
    }

    /// Everything that can become of it with one capture or flip.
    pub(crate) fn successors(&self) -> impl Iterator<Item = Stock> {
        (0..self.groups.len()).flat_map(|group| {
            let captured = match self.after_capture(group) {
                Next::Stock(reading) => Some(reading),
                Next::Won | Next::Never => None,
            };
            captured.into_iter().chain(self.after_flip(group)).map(|reading| reading.stock)
        })
    }
}

/// What a capture leads to.
#[derive(Clone, Debug)]
pub(crate) enum Next {
    /// Nobody can make it.
    Never,
    /// It takes the last piece of a side.
    Won,
    Stock(Reading),
}

/// The canonical form of groups that may be empty or interchangeable: the least of all orders and both colourings.
fn canonical(old: &Groups) -> Reading {
    let (merged, merged_into) = merge(old);
    let candidates = [false, true].into_iter().flat_map(|swapped| {
        let color = |color: Color| if swapped { color.other() } else { color };
        let recolored: Groups = merged.iter().map(|group| Group { color: color(group.color), ..*group }).collect();
        orders(&recolored).into_iter().map(move |order| (reordered(&recolored, &order), swapped, order))
    });
    let least = candidates.min_by(|a, b| a.0.cmp(&b.0));
    let (groups, swapped, order) = least.unwrap_or_else(|| unreachable!("there is always an order"));
    let mut parts = [0; Piece::COUNT];
    for (old, &group) in merged_into.iter().enumerate() {
        parts[old] = order.iter().position(|&number| number == group).unwrap_or_default() as u8;
    }
    Reading { stock: Stock { groups }, swapped, parts }
}

/// Leaves out empty groups and joins those that take and are taken alike.
fn merge(old: &Groups) -> (Groups, ArrayVec<usize, MOST_GROUPS>) {
    let present: u16 = old.iter().enumerate().filter(|(_, group)| !group.is_empty()).map(|(i, _)| 1 << i).sum();
    let taken_by = |number: usize| -> u16 {
        old.iter().enumerate().filter(|(_, group)| group.takes(number)).map(|(i, _)| 1 << i).sum::<u16>() & present
    };
    let likeness = |i: usize| (old[i].color, old[i].jumps, old[i].takes & present, taken_by(i));

    let mut firsts: ArrayVec<usize, MOST_GROUPS> = ArrayVec::new();
    let mut merged = Groups::new();
    let mut merged_into = ArrayVec::new();
    for (number, group) in old.iter().enumerate() {
        if group.is_empty() {
            merged_into.push(0); // nobody will ask
            continue;
        }
        match firsts.iter().position(|&first| likeness(first) == likeness(number)) {
            Some(place) => {
                merged[place].shown += group.shown;
                merged[place].pool += group.pool;
                merged_into.push(place);
            }
            None => {
                merged_into.push(merged.len());
                firsts.push(number);
                merged.push(*group);
            }
        }
    }
    for group in &mut merged {
        let takes = group.takes;
        group.takes =
            firsts.iter().enumerate().filter(|&(_, &first)| takes >> first & 1 == 1).map(|(i, _)| 1 << i).sum();
    }
    (merged, merged_into)
}

type Order = ArrayVec<usize, MOST_GROUPS>;

/// The orders that sort groups by what does not depend on an order; several where that leaves groups alike.
fn orders(groups: &Groups) -> Vec<Order> {
    let taken = |number: usize| groups.iter().filter(|group| group.takes(number)).count();
    let key = |number: usize| {
        let Group { color, jumps, shown, pool, takes } = groups[number];
        (color, jumps, shown, pool, takes.count_ones(), taken(number))
    };
    let mut orders = vec![Order::new()];
    for _ in 0..groups.len() {
        let longer = |order: Order| {
            let left: Order = (0..groups.len()).filter(|number| !order.contains(number)).collect();
            let least = left.iter().map(|&number| key(number)).min();
            let next = left.into_iter().filter(move |&number| Some(key(number)) == least);
            next.map(move |number| order.iter().copied().chain([number]).collect::<Order>()).collect::<Vec<_>>()
        };
        orders = orders.into_iter().flat_map(longer).collect();
    }
    orders
}

fn reordered(groups: &Groups, order: &Order) -> Groups {
    let place =
        |mask: u16| order.iter().enumerate().filter(|&(_, &old)| mask >> old & 1 == 1).map(|(i, _)| 1 << i).sum();
    order.iter().map(|&old| Group { takes: place(groups[old].takes), ..groups[old] }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use anqi_endgame::Ending;

    use super::*;

    #[test]
    fn stocks_without_a_pool_are_the_known_classes_of_endings() {
        for (pieces, classes) in [(2, 5), (3, 20), (4, 75), (5, 233), (6, 709)] {
            let stock = |ending: Ending| {
                let reading = Stock::of(ending.material(), &Material::EMPTY, Ladder::Taiwan);
                reading.expect("few kinds").stock
            };
            assert_eq!(Ending::all(pieces).map(stock).collect::<BTreeSet<_>>().len(), classes, "{pieces} pieces");
        }
    }

    #[test]
    fn names_and_colours_do_not_matter_but_what_is_face_down_does() {
        let stock = |shown: &str, pool: &str| {
            let [shown, pool] = [shown, pool].map(|text| text.parse().expect(text));
            Stock::of(&shown, &pool, Ladder::Taiwan).expect("few kinds").stock
        };
        assert_eq!(stock("GN", "mn"), stock("MN", "rn"));
        assert_eq!(stock("GN", "mn"), stock("gn", "MN"));
        assert_eq!(stock("P", "k"), stock("g", "N")); // the pawn takes the king
        assert_ne!(stock("GN", "m"), stock("Gm", "N"));
        assert_ne!(stock("C", "p"), stock("N", "p"));
    }
}
