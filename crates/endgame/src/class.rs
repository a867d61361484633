//! `Class`: endings that are the same game, because the same pieces take each other.
//!
//! Away from cannons only relative strength matters (Chen et al. 2.5): GN against MN is MN against RN. What matters
//! is which pieces take which by stepping, and which pieces are cannons. Pieces of one side that take the same
//! enemies and are taken by the same enemies form one *group*: nobody needs to tell them apart. An ending becomes
//! groups, their sizes and the relation between them; two endings are of one class when these are isomorphic,
//! colours exchanged or not.
//!
//! All of this holds for pieces that lie face down, too: a group counts both. The tables of this crate have none; those
//! who solve games with chance (`anqi-solve`) have.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use anqi_rules::{BoardSize, ByColor, Color, Kind, Ladder, Material, Piece, Position, Setup, SquareSet};
use arrayvec::ArrayVec;

use crate::index::MOST_PIECES;
use crate::{Ending, Placement, TableTally};

/// The most groups a class can have: every piece its own.
const MOST: usize = Piece::COUNT;

/// Interchangeable pieces of one side.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Group {
    /// Whose they are, in the colours of the class.
    pub color: Color,
    /// Whether they are cannons that capture by jumping.
    pub jumps: bool,
    /// How many are revealed.
    pub count: u8,
    /// How many lie face down.
    pub pool: u8,
    /// The groups that they take by stepping, one bit each.
    takes: u16,
}

impl Group {
    /// Whether these pieces take group number `other` by stepping onto it.
    #[must_use]
    #[inline]
    pub const fn takes(&self, other: usize) -> bool {
        self.takes >> other & 1 == 1
    }

    const fn is_empty(&self) -> bool {
        self.count == 0 && self.pool == 0
    }
}

/// A class of endings, in canonical form: equal if and only if isomorphic. Red groups come first.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Class {
    groups: ArrayVec<Group, MOST>,
}

/// How the pieces of something (an ending, a class with a piece taken off) become the groups of a class.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Grouping {
    /// The class.
    pub class: Class,
    /// Whether red plays the part of black.
    pub swapped: bool,
    /// The group of each old number: [`Piece::index`] for an ending, the old group for a class. Numbers of pieces
    /// that are not there mean nothing.
    parts: [u8; MOST],
}

impl Grouping {
    /// The group that the piece (or old group) of this number belongs to.
    #[must_use]
    #[inline]
    pub const fn part(&self, old: usize) -> usize {
        self.parts[old] as usize
    }

    /// The colour that `color` plays in the class.
    #[must_use]
    #[inline]
    pub const fn color(&self, color: Color) -> Color {
        if self.swapped { color.other() } else { color }
    }

    /// The results over all placements of an ending, by the side to move, from those of its class.
    #[must_use]
    pub fn tally(&self, ending: &Ending, class: &ByColor<TableTally>) -> ByColor<TableTally> {
        // Pieces of different kinds in one group can change places: each such change is a placement of the ending.
        let mut merged = [0; MOST];
        let mut arrangements = 1;
        for (piece, count) in ending.material().iter() {
            for nth in 1..=u64::from(count) {
                let group = &mut merged[self.part(piece.index())];
                *group += 1;
                arrangements = arrangements * *group / nth;
            }
        }
        ByColor(Color::ALL.map(|color| class[self.color(color)] * arrangements))
    }

    /// A placement of the class as a position of `ending`; `None` if it is none of its placements.
    ///
    /// ```
    /// use anqi_endgame::{Class, Ending, Tables};
    ///
    /// let ending: Ending = "K-p".parse()?;
    /// let mut tables = Tables::default();
    /// tables.build([ending], std::num::NonZeroUsize::MIN)?;
    /// let (table, grouping) = tables.table(&ending).ok_or("not built")?;
    /// for place in 0..table.index().places() {
    ///     let Some(placement) = table.index().placement(place) else { continue };
    ///     let position = grouping.position(&ending, &placement).ok_or("no position")?;
    ///     assert_eq!(tables.probe(&position), Some(table.value(&placement)));
    /// }
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    #[must_use]
    pub fn position(&self, ending: &Ending, placement: &Placement) -> Option<Position> {
        let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
        let mut sets = placement.sets;
        for piece in ending.material().pieces() {
            let set = &mut sets[self.part(piece.index())];
            let square = SquareSet(*set).first()?;
            *set ^= square.set().0;
            setup.pieces[square.index()] = Some(piece);
        }
        setup.turn = Color::ALL.into_iter().find(|&color| self.color(color) == placement.turn);
        Position::try_from(setup).ok()
    }
}

impl Class {
    /// The class of an ending.
    ///
    /// ```
    /// use anqi_endgame::{Class, Ending};
    ///
    /// let class = |name: &str| Ok::<_, anqi_endgame::EndingError>(Class::of(&name.parse::<Ending>()?).class);
    /// assert_eq!(class("GN-mn")?, class("MN-rn")?);
    /// assert_eq!(class("K-p")?, class("P-n")?); // the pawn takes the king
    /// assert_ne!(class("C-p")?, class("C-n")?);
    /// # Ok::<(), anqi_endgame::EndingError>(())
    /// ```
    #[must_use]
    pub fn of(ending: &Ending) -> Grouping {
        Class::of_pieces(ending.material(), &Material::EMPTY, Ladder::Taiwan)
    }

    /// The class of revealed pieces and those that lie face down.
    ///
    /// ```
    /// use anqi_endgame::Class;
    /// use anqi_rules::Ladder;
    ///
    /// let class = |shown: &str, pool: &str| {
    ///     Ok::<_, anqi_rules::ParseError>(Class::of_pieces(&shown.parse()?, &pool.parse()?, Ladder::Taiwan).class)
    /// };
    /// assert_eq!(class("GN", "mn")?, class("mn", "RN")?);
    /// assert_ne!(class("GN", "m")?, class("Gm", "N")?);
    /// # Ok::<(), anqi_rules::ParseError>(())
    /// ```
    #[must_use]
    pub fn of_pieces(shown: &Material, pool: &Material, ladder: Ladder) -> Grouping {
        let all: Material = shown.pieces().chain(pool.pieces()).collect();
        let kinds: ArrayVec<Piece, MOST> = all.iter().map(|(piece, _)| piece).collect();
        let group = |piece: &Piece| {
            let taken = |victim: &Piece| victim.color != piece.color && ladder.takes(piece.kind, victim.kind);
            let takes = kinds.iter().enumerate().filter(|(_, victim)| taken(victim)).map(|(i, _)| 1 << i).sum();
            let jumps = piece.kind == Kind::Cannon && ladder.cannons_jump();
            Group { color: piece.color, jumps, count: shown.count(*piece), pool: pool.count(*piece), takes }
        };
        let mut grouping = canonical(&kinds.iter().map(group).collect());
        let parts = grouping.parts;
        for (number, piece) in kinds.iter().enumerate() {
            grouping.parts[piece.index()] = parts[number];
        }
        grouping
    }

    /// The groups, red first.
    #[must_use]
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// How many pieces there are.
    #[must_use]
    pub fn pieces(&self) -> u32 {
        self.shown() + self.hidden()
    }

    /// How many of them are revealed.
    #[must_use]
    pub fn shown(&self) -> u32 {
        self.groups.iter().map(|group| u32::from(group.count)).sum()
    }

    /// How many of them lie face down.
    #[must_use]
    pub fn hidden(&self) -> u32 {
        self.groups.iter().map(|group| u32::from(group.pool)).sum()
    }

    /// The class that remains when a revealed piece of group number `captured` is taken; `None` if there is none, or if
    /// it was the last of its side.
    #[must_use]
    pub fn without(&self, captured: usize) -> Option<Grouping> {
        let mut groups = self.groups.clone();
        groups[captured].count = groups[captured].count.checked_sub(1)?;
        let alive = |color| groups.iter().any(|group| group.color == color && !group.is_empty());
        Color::ALL.into_iter().all(alive).then(|| canonical(&groups))
    }

    /// Whether an enemy that is revealed takes pieces of group number `victim`, and one of them is revealed.
    #[must_use]
    pub fn can_be_taken(&self, victim: usize) -> bool {
        let takes = |group: &Group| group.count > 0 && (group.jumps || group.takes(victim));
        let group = &self.groups[victim];
        group.count > 0 && self.groups.iter().any(|other| other.color != group.color && takes(other))
    }

    /// The class in which a face-down piece of group number `flipped` has turned up; `None` if there is none.
    #[must_use]
    pub fn flipped(&self, flipped: usize) -> Option<Grouping> {
        let mut groups = self.groups.clone();
        groups[flipped].pool = groups[flipped].pool.checked_sub(1)?;
        groups[flipped].count += 1;
        Some(canonical(&groups))
    }

    /// The classes that captures lead to, one for each group that can lose a piece.
    pub fn smaller(&self) -> impl Iterator<Item = Class> {
        (0..self.groups.len()).filter_map(|captured| self.without(captured)).map(|grouping| grouping.class)
    }

    /// All classes of `pieces` pieces, each with the ending it is named by: the one of fewest different pieces, and
    /// of these the one with the lowest.
    #[must_use]
    pub fn all(pieces: u32) -> BTreeMap<Class, Ending> {
        let mut classes: BTreeMap<Class, Ending> = BTreeMap::new();
        for ending in Ending::all(pieces) {
            let kinds = |ending: &Ending| ending.material().kinds();
            let name = classes.entry(Class::of(&ending).class).or_insert(ending);
            if kinds(&ending) < kinds(name) {
                *name = ending;
            }
        }
        classes
    }

    /// The classes of `endings` and all that captures lead to, by number of pieces; an ending that has too many for a
    /// table is the error.
    pub(crate) fn levels(
        endings: impl IntoIterator<Item = Ending>,
    ) -> Result<[BTreeSet<Class>; MOST_PIECES + 1], Ending> {
        let mut levels: [BTreeSet<Class>; MOST_PIECES + 1] = Default::default();
        for ending in endings {
            let level = levels.get_mut(ending.len() as usize).ok_or(ending)?;
            level.insert(Class::of(&ending).class);
        }
        for pieces in (3..levels.len()).rev() {
            let (below, level) = levels.split_at_mut(pieces);
            for class in &level[0] {
                below[pieces - 1].extend(class.smaller());
            }
        }
        Ok(levels)
    }

    /// The ending that names the class; `None` if it has more pieces than a table can have.
    #[must_use]
    pub fn name(&self) -> Option<Ending> {
        NAMES.get(self.pieces() as usize)?.get(self).copied()
    }
}

/// Names of classes, by number of pieces.
static NAMES: [LazyLock<BTreeMap<Class, Ending>>; MOST_PIECES + 1] = [
    LazyLock::new(BTreeMap::new),
    LazyLock::new(BTreeMap::new),
    LazyLock::new(|| Class::all(2)),
    LazyLock::new(|| Class::all(3)),
    LazyLock::new(|| Class::all(4)),
    LazyLock::new(|| Class::all(5)),
    LazyLock::new(|| Class::all(6)),
];

/// The canonical form of groups that may be empty or interchangeable, in the better of both colourings.
fn canonical(old: &ArrayVec<Group, MOST>) -> Grouping {
    let (merged, merged_into) = merge(old);
    let [plain, swapped] = [false, true].map(|swapped| {
        let color = |color: Color| if swapped { color.other() } else { color };
        let recolored = merged.iter().map(|group| Group { color: color(group.color), ..*group }).collect();
        settle(&Relation { groups: recolored }, [0; MOST])
    });
    let swap = swapped.0 < plain.0;
    let (class, labels) = if swap { swapped } else { plain };
    Grouping { class, swapped: swap, parts: merged_into.map(|number| labels[number as usize]) }
}

/// Leaves out empty groups and joins those that take and are taken alike.
fn merge(old: &ArrayVec<Group, MOST>) -> (ArrayVec<Group, MOST>, [u8; MOST]) {
    let present: u16 = old.iter().enumerate().filter(|(_, group)| !group.is_empty()).map(|(i, _)| 1 << i).sum();
    let taken_by = |number: usize| -> u16 {
        old.iter().enumerate().filter(|(_, group)| group.takes(number)).map(|(i, _)| 1 << i).sum::<u16>() & present
    };
    let likeness = |i: usize| (old[i].color, old[i].jumps, old[i].takes & present, taken_by(i));

    let mut firsts: ArrayVec<usize, MOST> = ArrayVec::new();
    let mut merged: ArrayVec<Group, MOST> = ArrayVec::new();
    let mut merged_into = [0; MOST];
    for number in (0..old.len()).filter(|&number| !old[number].is_empty()) {
        let like = firsts.iter().position(|&first| likeness(first) == likeness(number));
        let place = like.unwrap_or(firsts.len());
        merged_into[number] = place as u8;
        if like.is_some() {
            merged[place].count += old[number].count;
            merged[place].pool += old[number].pool;
        } else {
            firsts.push(number);
            merged.push(old[number]);
        }
    }
    for group in &mut merged {
        let takes = group.takes;
        group.takes =
            firsts.iter().enumerate().filter(|&(_, &first)| takes >> first & 1 == 1).map(|(i, _)| 1 << i).sum();
    }
    (merged, merged_into)
}

/// Groups in no particular order.
struct Relation {
    groups: ArrayVec<Group, MOST>,
}

/// A number for each group; groups not told apart yet share one.
type Labels = [u8; MOST];

/// What tells a group apart: its label and nature, then its enemies by label and relation.
type Signature = ArrayVec<u8, { MOST + 5 }>;

impl Relation {
    fn signature(&self, number: usize, labels: &Labels) -> Signature {
        let group = self.groups[number];
        let enemies = self.groups.iter().enumerate().filter(|(_, other)| other.color != group.color);
        let mut relations: ArrayVec<u8, MOST> = enemies
            .map(|(i, other)| labels[i] << 2 | u8::from(group.takes(i)) << 1 | u8::from(other.takes(number)))
            .collect();
        relations.sort_unstable();
        let nature = [group.color as u8, labels[number], u8::from(group.jumps), group.count, group.pool];
        nature.into_iter().chain(relations).collect()
    }

    /// Splits labels by signature until nothing changes. The new labels count the groups before.
    fn refine(&self, mut labels: Labels) -> Labels {
        loop {
            let signatures: ArrayVec<Signature, MOST> =
                (0..self.groups.len()).map(|number| self.signature(number, &labels)).collect();
            let mut refined = [0; MOST];
            for (label, signature) in refined.iter_mut().zip(&signatures) {
                *label = signatures.iter().filter(|other| *other < signature).count() as u8;
            }
            if refined == labels {
                return labels;
            }
            labels = refined;
        }
    }

    /// The class with groups in the order of distinct labels.
    fn ordered(&self, labels: &Labels) -> Class {
        let mut groups = self.groups.clone();
        for (number, group) in self.groups.iter().enumerate() {
            let takes = (0..self.groups.len()).filter(|&i| group.takes(i)).map(|i| 1 << labels[i]).sum();
            groups[labels[number] as usize] = Group { takes, ..*group };
        }
        Class { groups }
    }
}

/// Refines; where groups remain alike, tries each of them as the first and keeps the least outcome.
fn settle(relation: &Relation, labels: Labels) -> (Class, Labels) {
    let labels = relation.refine(labels);
    let count = relation.groups.len();
    let alike = |label: u8| (0..count).filter(move |&number| labels[number] == label);
    let Some(tied) = (0..count as u8).find(|&label| alike(label).nth(1).is_some()) else {
        return (relation.ordered(&labels), labels);
    };
    let tries = alike(tied).map(|first| {
        let mut labels = labels;
        alike(tied).filter(|&number| number != first).for_each(|number| labels[number] += 1);
        settle(relation, labels)
    });
    tries.min_by(|a, b| a.0.cmp(&b.0)).unwrap_or_else(|| unreachable!("a tie has members"))
}
/// All classes of up to `pieces` pieces, each with the ending that names it.
#[must_use]
pub fn classes_up_to(pieces: u32) -> BTreeMap<Class, Ending> {
    (2..=pieces).flat_map(Class::all).collect()
}
