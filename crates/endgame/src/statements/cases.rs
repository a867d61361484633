//! Placements of a few pieces that play parts, and what tables say about them.

use std::collections::{BTreeMap, BTreeSet};

use anqi_rules::{BoardSize, Color, Ladder, Piece, Position, Setup, Square, SquareSet, neighbours};

use super::ranks::Set;
use super::{Books, Finding, Shown, Unit};
use crate::index::{Fold, MOST_PIECES};
use crate::{
    Class, Distance, Ending, Flavour, Grouping, Measure, Placement, Table, TableBuildError, Tables, Value, Wdl,
};

/// How a statement is tested.
pub(super) enum Test {
    /// Case by case.
    Cases(Cases),
    /// By comparing endings.
    Ranks(Set),
}

/// A statement about every placement of some endings.
pub(super) struct Cases {
    pub(super) unit: Unit,
    /// The pieces of each ending in the order of their parts.
    pub(super) casts: Vec<Vec<Piece>>,
    /// Only this placement, by part.
    pub(super) at: Option<Vec<Square>>,
    pub(super) judge: fn(&Case<'_>) -> Judged,
}

/// What a statement says about a case.
pub(super) enum Judged {
    /// Nothing.
    Outside,
    /// It holds.
    Holds,
    /// It does not, and this happens instead.
    Fails(String),
}

impl Judged {
    /// `what` is asked for only if the statement does not hold.
    pub(super) fn new(holds: bool, what: impl FnOnce() -> String) -> Judged {
        if holds { Judged::Holds } else { Judged::Fails(what()) }
    }
}

/// Whether `attacker` takes `victim` with no third piece on the board: never if it is a cannon.
pub(super) fn takes(attacker: Piece, victim: Piece) -> bool {
    attacker.color != victim.color && Ladder::Taiwan.takes(attacker.kind, victim.kind)
}

/// A placement with a side to move.
pub(super) struct Case<'a> {
    pub(super) pieces: &'a [Piece],
    pub(super) squares: &'a [Square],
    pub(super) turn: Color,
    reading: &'a Reading<'a>,
}

impl Case<'_> {
    /// The Manhattan distance of two pieces.
    pub(super) fn distance(&self, one: usize, other: usize) -> u8 {
        let [one, other] = [self.squares[one], self.squares[other]];
        one.file().abs_diff(other.file()) + one.rank().abs_diff(other.rank())
    }

    /// What it is worth to the side to move.
    pub(super) fn value(&self) -> Value {
        self.value_for(self.turn)
    }

    /// What it is worth to `turn` if it is to move.
    pub(super) fn value_for(&self, turn: Color) -> Value {
        self.reading.value(self.squares, turn)
    }

    /// Who wins if `first` is to move; `None` for a draw.
    pub(super) fn winner(&self, first: Color) -> Option<Color> {
        match self.value_for(first).wdl() {
            Wdl::Win => Some(first),
            Wdl::Draw => None,
            Wdl::Loss => Some(first.other()),
        }
    }

    /// What each step of a piece of the side to move to an empty square is worth to that side.
    pub(super) fn steps(&self, piece: usize) -> impl Iterator<Item = Wdl> {
        let occupied: SquareSet = self.squares.iter().copied().collect();
        let empty = neighbours(self.squares[piece]) & !occupied;
        empty.iter().map(move |to| {
            let mut squares: Vec<Square> = self.squares.to_vec();
            squares[piece] = to;
            let after = self.reading.value(&squares, self.turn.other());
            // The step is a quiet ply: what takes all the plies that the rule allows comes too late.
            let in_time = |Distance(plies): Distance| self.reading.flavour().draw().is_none_or(|draw| plies < draw);
            after.distance().filter(|&plies| in_time(plies)).map_or(Wdl::Draw, |_| after.wdl().reversed())
        })
    }

    /// What happens with each side to move.
    pub(super) fn both(&self) -> String {
        let [red, black] = Color::ALL.map(|first| match self.winner(first) {
            None => "a draw",
            Some(Color::Red) => "Red wins",
            Some(Color::Black) => "Black wins",
        });
        format!("{red} if Red moves first, {black} if Black does")
    }

    fn shown(&self, unit: Unit) -> Option<Shown> {
        let turn = if unit == Unit::Positions { self.turn } else { Color::Red };
        let position = position(self.pieces, self.squares, turn)?;
        let describe = |turn| describe(self.value_for(turn), self.reading.flavour());
        let verdict = match unit {
            Unit::Positions => describe(turn),
            Unit::Placements => format!("Red first: {}, Black first: {}", describe(Color::Red), describe(Color::Black)),
        };
        Some(Shown { position, verdict })
    }
}

impl Cases {
    pub(super) fn endings(&self) -> Vec<Ending> {
        self.casts.iter().filter_map(|cast| ending(cast)).collect()
    }

    /// One finding for each of the tables.
    pub(super) fn examine(&self, books: &mut Books) -> Result<Vec<Finding>, TableBuildError> {
        books.build(&self.endings())?;
        // Casts in which the same parts take each other play the same game; one of them speaks for all.
        let mut alike: BTreeMap<_, (&[Piece], u64)> = BTreeMap::new();
        for cast in &self.casts {
            let Some(ending) = ending(cast) else { continue };
            let grouping = Class::of(&ending);
            let parts: Vec<usize> = cast.iter().map(|piece| grouping.part(piece.index())).collect();
            alike.entry((grouping.class, grouping.swapped, parts)).or_insert((cast, 0)).1 += 1;
        }
        let finding = |tables: &Tables| {
            let mut finding = Finding::new(tables.flavour());
            for &(cast, times) in alike.values() {
                let found = Reading::new(tables, cast).map(|reading| self.judge_all(cast, &reading, books.show));
                found.into_iter().for_each(|found| finding.add(found, times, books.show));
            }
            finding
        };
        Ok(books.tables.iter().map(finding).collect())
    }

    fn judge_all(&self, pieces: &[Piece], reading: &Reading<'_>, show: usize) -> Finding {
        let mut finding = Finding::new(reading.flavour());
        let turns = if self.unit == Unit::Positions { &Color::ALL[..] } else { &Color::ALL[..1] };
        let mut judge = |squares: &[Square], weight: u64| {
            for &turn in turns {
                let case = Case { pieces, squares, turn, reading };
                let what = match (self.judge)(&case) {
                    Judged::Outside => continue,
                    Judged::Holds => None,
                    Judged::Fails(what) => Some(what),
                };
                finding.count(weight, what, show, || case.shown(self.unit));
            }
        };
        match &self.at {
            Some(squares) => judge(squares, 1),
            None => placements(pieces, judge),
        }
        finding
    }
}

/// A table, read by the squares of pieces.
pub(super) struct Reading<'a> {
    table: &'a Table,
    grouping: Grouping,
    parts: Vec<usize>,
}

impl<'a> Reading<'a> {
    /// `None` if the table is not built.
    pub(super) fn new(tables: &'a Tables, pieces: &[Piece]) -> Option<Reading<'a>> {
        let (table, grouping) = tables.table(&ending(pieces)?)?;
        let parts = pieces.iter().map(|piece| grouping.part(piece.index())).collect();
        Some(Reading { table, grouping, parts })
    }

    pub(super) fn flavour(&self) -> Flavour {
        self.table.flavour()
    }

    /// What it is worth to `turn` to move with the pieces on these squares.
    pub(super) fn value(&self, squares: &[Square], turn: Color) -> Value {
        let mut placement = Placement { sets: [0; MOST_PIECES], turn: self.grouping.color(turn) };
        for (&part, square) in self.parts.iter().zip(squares) {
            placement.sets[part] |= square.set().0;
        }
        self.table.value(&placement)
    }
}

/// The pieces without their parts; `None` if one side has none.
fn ending(pieces: &[Piece]) -> Option<Ending> {
    Ending::try_from(pieces.iter().copied().collect::<anqi_rules::Material>()).ok()
}

/// Gives one of each four placements of `pieces` that are reflections to `each`, with how many it stands for.
pub(super) fn placements(pieces: &[Piece], mut each: impl FnMut(&[Square], u64)) {
    let is_single = |piece: &Piece| pieces.iter().filter(|other| *other == piece).count() == 1;
    let mut squares = Vec::new();
    if let Some(single) = pieces.iter().position(is_single) {
        // A single piece is never its own reflection: one of the four has it in the corner a1-b4.
        let allowed = |piece: usize, square: Square| piece != single || square.file() < 2 && square.rank() < 4;
        return place(pieces, &allowed, &mut squares, &mut |squares| each(squares, 4));
    }
    place(pieces, &|_, _| true, &mut squares, &mut |squares| {
        let set = |piece: &Piece| -> u32 {
            let equal = pieces.iter().zip(squares).filter(|(other, _)| *other == piece);
            equal.map(|(_, square)| square.set().0).sum()
        };
        let sets: Vec<u32> = pieces.iter().map(set).collect();
        let turned = |fold: Fold| sets.iter().map(|&set| fold.apply(set)).collect();
        let reflections: BTreeSet<Vec<u32>> = Fold::ALL.into_iter().map(turned).collect();
        if reflections.first() == Some(&sets) {
            each(squares, reflections.len() as u64);
        }
    });
}

/// Puts the next piece on every square that is free and `allowed`; equal pieces in the order of the squares.
fn place(
    pieces: &[Piece],
    allowed: &impl Fn(usize, Square) -> bool,
    squares: &mut Vec<Square>,
    each: &mut impl FnMut(&[Square]),
) {
    let next = squares.len();
    let Some(piece) = pieces.get(next) else { return each(squares) };
    let equal = (0..next).rev().find(|&before| pieces[before] == *piece);
    let least = equal.map_or(0, |before| squares[before].index() + 1);
    for square in Square::all().skip(least) {
        if allowed(next, square) && !squares.contains(&square) {
            squares.push(square);
            place(pieces, allowed, squares, each);
            squares.pop();
        }
    }
}

/// The pieces on their squares.
pub(super) fn position(pieces: &[Piece], squares: &[Square], turn: Color) -> Option<Position> {
    let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
    for (piece, square) in pieces.iter().zip(squares) {
        setup.pieces[square.index()] = Some(*piece);
    }
    Position::try_from(Setup { turn: Some(turn), ..setup }).ok()
}

/// With the plies to the end of the game; those to the next capture, which a table with a draw rule knows, would only confuse.
pub(super) fn describe(value: Value, flavour: Flavour) -> String {
    if flavour.measure() == Measure::End { flavour.describe(value) } else { value.wdl().name().to_owned() }
}
