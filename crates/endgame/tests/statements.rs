//! What Chen et al. say about endings, and how often it holds, as exact numbers.
//!
//! `tests/golden/statements.txt` has all of them; `UPDATE=1 cargo test` writes it anew. The other tests count some of them again
//! by slower code, which shares neither the placements nor the parts of pieces with the statements.

use std::collections::BTreeSet;
use std::fmt::Write;
use std::num::NonZeroUsize;
use std::path::Path;
use std::{env, fs};

use anqi_endgame::{Examination, Flavour, Statement, Tablebase, Wdl};
use anqi_rules::{BoardSize, Color, Ladder, Piece, Position, Setup, Square};

fn examined(pieces: u32, show: usize, wanted: impl Fn(&str) -> bool) -> Vec<Statement> {
    let examination = Examination { pieces, draw: 40, show, threads: NonZeroUsize::new(2).expect("two") };
    examination.run(wanted).expect("small endings")
}

fn one(name: &str, show: usize) -> Statement {
    let statements = examined(3, show, |wanted| wanted == name);
    statements.into_iter().next().expect(name)
}

fn golden(statements: &[Statement]) -> String {
    let mut text = String::new();
    for Statement { name, endings, findings, .. } in statements {
        writeln!(text, "{name}, {} endings", endings.len()).expect("a text");
        for finding in findings {
            writeln!(text, "  {}: {} of {}", finding.flavour, finding.holds, finding.cases).expect("a text");
            for (what, exceptions) in &finding.exceptions {
                writeln!(text, "    {} {what}", exceptions.count).expect("a text");
            }
        }
    }
    text
}

#[test]
fn exact_numbers() {
    let statements = examined(3, 2, |_| true);
    assert!(statements.iter().map(|statement| statement.name).eq(Examination::names()));
    for Statement { name, findings, .. } in &statements {
        for finding in findings {
            let exceptions: u64 = finding.exceptions.values().map(|exceptions| exceptions.count).sum();
            assert_eq!(finding.holds + exceptions, finding.cases, "{name}");
            assert!(finding.exceptions.values().all(|exceptions| !exceptions.positions.is_empty()), "{name}");
        }
    }
    let (path, actual) =
        (Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/statements.txt"), golden(&statements));
    if env::var_os("UPDATE").is_some() {
        fs::write(&path, &actual).expect("writable");
    }
    assert_eq!(actual, fs::read_to_string(&path).unwrap_or_default(), "{} (UPDATE=1 accepts)", path.display());
}

#[test]
fn findings_do_not_depend_on_threads() {
    let run = |threads: usize| {
        let threads = NonZeroUsize::new(threads).expect("some");
        Examination { pieces: 3, draw: 40, show: 3, threads }
            .run(|name| name == "ranks.king-and-pawn")
            .expect("small endings")
    };
    assert_eq!(run(1), run(3));
}

#[test]
#[ignore = "compares moves and values on every placement of endings of four pieces"]
fn ranks_of_four_pieces() {
    for statement in examined(4, 1, |name| name == "ranks" || name == "ranks.pawns") {
        for finding in &statement.findings {
            assert_eq!(finding.holds, finding.cases, "{}", statement.name);
        }
        println!("{} {} endings {} cases", statement.name, statement.endings.len(), statement.findings[0].cases);
    }
}

/// A placement, what it is worth to red if it is to move, and to black.
type Seen = ([Square; 3], Position, [Wdl; 2]);

/// Every placement of three different pieces, asked one by one.
fn all_placements(pieces: [char; 3]) -> Vec<Seen> {
    let tablebase = Tablebase::solving(Flavour::END, 3);
    let mut seen = Vec::new();
    for squares in Square::all().flat_map(|a| Square::all().flat_map(move |b| Square::all().map(move |c| [a, b, c]))) {
        if squares.into_iter().collect::<BTreeSet<Square>>().len() < 3 {
            continue;
        }
        let mut setup = Setup::empty(BoardSize::FourByEight, Ladder::Taiwan);
        for (piece, square) in pieces.into_iter().zip(squares) {
            setup.pieces[square.index()] = Piece::from_char(piece);
        }
        let wdl = |turn: Color| {
            let position = Position::try_from(Setup { turn: Some(turn), ..setup.clone() }).expect("a placement");
            tablebase.probe(&position).expect("no files").expect("small").wdl()
        };
        let values = Color::ALL.map(wdl);
        seen.push((squares, Position::try_from(setup).expect("a placement"), values));
    }
    seen
}

fn is_even(one: Square, other: Square) -> bool {
    (one.file() + one.rank() + other.file() + other.rank()).is_multiple_of(2)
}

/// Fig. 2: with a pawn to pass the turn Black always wins, but for eight placements.
#[test]
fn a_petty_piece_wins_unless_it_cannot_step() {
    let statement = one("figure-2-right.even", 100);
    let seen = all_placements(['N', 'n', 'p']);
    let even = || seen.iter().filter(|([red, black, _], ..)| is_even(*red, *black));
    let (wins, others): (Vec<&Seen>, Vec<&Seen>) = even().partition(|(.., values)| *values == [Wdl::Loss, Wdl::Win]);
    let endings = statement.endings.len() as u64;
    assert_eq!(endings, 15);
    let finding = &statement.findings[0];
    assert_eq!([wins.len() as u64 * endings, even().count() as u64 * endings], [finding.holds, finding.cases]);
    // The pawn stands in a corner, and both ways out are taken.
    assert_eq!(others.len(), 8);
    for ([red, black, pawn], position, values) in others {
        assert_eq!(*values, [Wdl::Loss, Wdl::Loss]);
        assert!(position.after_pass().targets_from(*pawn).is_empty());
        assert!(!is_even(*red, *pawn) && !is_even(*black, *pawn));
    }
    let shown = &finding.exceptions.values().next().expect("exceptions").positions;
    assert_eq!(shown.len(), 2, "one of each four reflections");
}

/// Fig. 3: the petty piece always saves the draw if Red moves first and it can step.
#[test]
fn a_petty_piece_draws_unless_it_cannot_step() {
    let statement = one("figure-3-right.turn", 1);
    let seen = all_placements(['N', 'r', 'p'.to_ascii_uppercase()]);
    let even = || seen.iter().filter(|([red, black, _], ..)| is_even(*red, *black));
    let lost: Vec<&Seen> = even().filter(|(.., values)| values[0] == Wdl::Loss).collect();
    assert!(lost.iter().all(|([.., pawn], position, _)| position.targets_from(*pawn).is_empty()));
    let endings = statement.endings.len() as u64;
    let finding = &statement.findings[0];
    assert_eq!(lost.len() as u64 * endings, finding.cases - finding.holds);
    assert_eq!(lost.len(), 8);
}

/// Fig. 3 with two equal pieces.
#[test]
fn two_pawns_are_lost_in_eight_placements() {
    let finding = &one("figure-3-right.pair", 100).findings[0];
    let lost = &finding.exceptions["Black wins if Red moves first, a draw if Black does"];
    assert_eq!((lost.count, lost.positions.len()), (8 * 14, 2));
}
