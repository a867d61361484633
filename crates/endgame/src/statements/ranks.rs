//! "Only the relative strength of pieces matter": endings with the same order of strength, compared placement by placement.
//!
//! Two endings have the same order if their pieces correspond one to one, colour by colour, so that what is equal, higher or
//! lower in one is so in the other. Tables share one class for such endings, so that their values agree proves little; that
//! the legal moves agree on every placement proves that the games are one, whatever ends them.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicUsize, Ordering};

use anqi_rules::{Color, Kind, Piece, Position, Square};
use anqi_task::together;

use super::cases::{Reading, Test, describe, placements, position};
use super::{Books, Finding, Outline, Shown};
use crate::{Ending, Flavour, Measure, TableBuildError, Value};

const SENTENCE: &str = "First, for pieces that are not pawns and cannons, only the relative strength of pieces matter.";
const EXAMPLE: &str = "For example, the endgame GN v.s. MN is equivalent to MN v.s. RN.";

/// Which endings are compared with another one of the same order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Set {
    /// GN against MN.
    Example,
    /// No pawns, no cannons: what the sentence is about.
    Officers,
    /// Pawns, no cannons, no king that faces an enemy pawn.
    Pawns,
    /// No cannons, a king that faces an enemy pawn.
    KingAndPawn,
    /// Cannons.
    Cannons,
}

pub(super) fn outlines() -> impl Iterator<Item = Outline> {
    let outline = |name, sentence, exactly, set| Outline {
        name,
        source: "section 2.5",
        sentence,
        exactly,
        test: Test::Ranks(set),
    };
    [
        outline(
            "ranks",
            SENTENCE,
            "An ending without pawns and cannons has on every placement the legal moves and the value of another one with the same \
             order of strength.",
            Set::Officers,
        ),
        outline(
            "ranks.example",
            EXAMPLE,
            "GN against MN has on every placement the legal moves and the value of MN against RN.",
            Set::Example,
        ),
        outline(
            "ranks.pawns",
            SENTENCE,
            "The same of endings with pawns and without cannons, if no king faces an enemy pawn: more than the sentence says.",
            Set::Pawns,
        ),
        outline(
            "ranks.king-and-pawn",
            SENTENCE,
            "An ending without cannons in which a king faces an enemy pawn has on every placement the value of an ending of the \
             same order in which none does: what the sentence leaves out.",
            Set::KingAndPawn,
        ),
        outline(
            "ranks.cannons",
            SENTENCE,
            "An ending with cannons has on every placement the value of an ending of the same order without cannons: what the sentence \
             leaves out.",
            Set::Cannons,
        ),
    ]
    .into_iter()
}

impl Set {
    fn of(ending: &Ending) -> Set {
        let has = |color: Color, kind: Kind| ending.material().count(Piece { color, kind }) > 0;
        let any = |kind: Kind| Color::ALL.into_iter().any(|color| has(color, kind));
        let faces = |color: Color| has(color, Kind::King) && has(color.other(), Kind::Pawn);
        match () {
            () if any(Kind::Cannon) => Set::Cannons,
            () if Color::ALL.into_iter().any(faces) => Set::KingAndPawn,
            () if any(Kind::Pawn) => Set::Pawns,
            () => Set::Officers,
        }
    }

    /// The endings of this set of up to `pieces` pieces, each after the one that it is compared with.
    fn compared(self, pieces: u32) -> Vec<[Ending; 2]> {
        if self == Set::Example {
            let [Ok(first), Ok(other)] = ["MN-rn", "GN-mn"].map(str::parse) else { return Vec::new() };
            return vec![[first, other]];
        }
        let mut first: BTreeMap<Vec<(Color, usize)>, Ending> = BTreeMap::new();
        let all = || (2..=pieces).flat_map(Ending::all);
        for set in [Set::Officers, Set::Pawns] {
            for ending in all().filter(|ending| Set::of(ending) == set) {
                first.entry(order(&ending)).or_insert(ending);
            }
        }
        let mine = all().filter(|ending| Set::of(ending) == self);
        let pair = |ending: Ending| Some([*first.get(&order(&ending))?, ending]);
        mine.filter_map(pair).filter(|[first, ending]| first != ending).collect()
    }

    /// The endings that were compared with another one, and one finding for each of the tables.
    pub(super) fn examine(
        self,
        books: &mut Books,
        pieces: u32,
    ) -> Result<(Vec<Ending>, Vec<Finding>), TableBuildError> {
        let pairs = self.compared(pieces);
        books.build(pairs.as_flattened())?;
        let books = &*books;
        // What the sentence says is said of the game itself: of moves as well as of values.
        let moves = matches!(self, Set::Example | Set::Officers | Set::Pawns);
        let next = AtomicUsize::new(0);
        let threads = books.threads.get().min(pairs.len());
        let found = together(threads, |_| {
            let take = || Some(next.fetch_add(1, Ordering::Relaxed)).filter(|&number| number < pairs.len());
            std::iter::from_fn(take).map(|number| (number, compare(books, pairs[number], moves))).collect::<Vec<_>>()
        });
        let found: BTreeMap<usize, Vec<Finding>> = found.into_iter().flatten().collect();
        let mut findings: Vec<Finding> = books.tables.iter().map(|tables| Finding::new(tables.flavour())).collect();
        for found in found.into_values() {
            findings.iter_mut().zip(found).for_each(|(all, finding)| all.add(finding, 1, books.show));
        }
        Ok((pairs.into_iter().map(|[_, ending]| ending).collect(), findings))
    }
}

/// The order of strength: each piece by its colour and by how many kinds that are there stand above it.
fn order(ending: &Ending) -> Vec<(Color, usize)> {
    let kinds: Vec<Kind> = Kind::ALL
        .into_iter()
        .filter(|&kind| Color::ALL.into_iter().any(|color| ending.material().count(Piece { color, kind }) > 0))
        .collect();
    let above = |kind: Kind| kinds.iter().take_while(|&&other| other != kind).count();
    ending.material().pieces().map(|piece| (piece.color, above(piece.kind))).collect()
}

/// Every placement of the second ending beside that of the first.
fn compare(books: &Books, pair: [Ending; 2], moves: bool) -> Vec<Finding> {
    // From the king down, so that pieces of the same order stand in the same place.
    let [others, pieces] = pair.map(|ending| ending.material().pieces().collect::<Vec<Piece>>());
    let readings =
        books.tables.iter().map(|tables| Some((Reading::new(tables, &others)?, Reading::new(tables, &pieces)?)));
    let readings: Vec<(Reading<'_>, Reading<'_>)> = readings.flatten().collect();
    let mut findings: Vec<Finding> = readings.iter().map(|(reading, _)| Finding::new(reading.flavour())).collect();
    placements(&pieces, |squares, weight| {
        for turn in Color::ALL {
            let same_moves = !moves || targets(&pieces, squares, turn) == targets(&others, squares, turn);
            for (finding, (there, here)) in findings.iter_mut().zip(&readings) {
                let [there_value, here_value] = [there, here].map(|reading| reading.value(squares, turn));
                let what = difference(there_value, here_value, here.flavour())
                    .or_else(|| (!same_moves).then(|| "other legal moves".to_owned()));
                finding.count(weight, what, books.show, || {
                    let [there_said, here_said] =
                        [there_value, here_value].map(|value| describe(value, here.flavour()));
                    let verdict = format!("{here_said}; {}: {there_said}", pair[0]);
                    Some(Shown { position: position(&pieces, squares, turn)?, verdict })
                });
            }
        }
    });
    findings
}

/// Where each piece of the side to move can go.
fn targets(pieces: &[Piece], squares: &[Square], turn: Color) -> Option<Vec<u32>> {
    let position: Position = position(pieces, squares, turn)?;
    Some(squares.iter().map(|&square| position.targets_from(square).0).collect())
}

fn difference(expected: Value, found: Value, flavour: Flavour) -> Option<String> {
    let [expected_wdl, found_wdl] = [expected, found].map(Value::wdl);
    let plies = if flavour.measure() == Measure::End { "the end" } else { "a capture" };
    match found == expected {
        true => None,
        false if found_wdl == expected_wdl => Some(format!("{} in other plies to {plies}", found_wdl.name())),
        false => Some(format!("{} instead of {}", found_wdl.name(), expected_wdl.name())),
    }
}
