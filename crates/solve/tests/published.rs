//! The solved boards of the literature of this project: value of the first flip in the corner and beside it.

#![expect(clippy::unwrap_used, reason = "a test may fail")]

use anqi_rules::{Material, Move, Position, Rules};
use anqi_solve::{Fraction, Solver};

/// Checks `P(win) − P(loss)` of the first flip on each square.
fn check(board: &str, army: &str, expected: &[(&str, i64, i64)]) {
    let rules: Rules = format!("chen,board={board},army={army},draw=off,repeat=off").parse().unwrap();
    let mut solver = Solver::with_split(rules.board(), rules.ladder());
    solver.solve(&Material::EMPTY, rules.army(), 2.try_into().unwrap()).unwrap();
    let flips = solver.actions(&Position::initial(&rules)).unwrap();
    assert_eq!(flips.len(), rules.board().squares().len() as usize);
    for &(square, numerator, denominator) in expected {
        let flip = Move::Flip(square.parse().unwrap());
        let (_, worth) = flips.iter().find(|(mv, _)| *mv == flip).unwrap();
        assert_eq!(worth.value, Fraction::new(numerator, denominator), "{board} {army} {square}");
        let all = [worth.win(), worth.draw, worth.loss()].map(Option::unwrap);
        assert!(all.iter().all(|&p| p >= Fraction::ZERO), "{board} {army} {square}: {all:?}");
        assert_eq!(all.iter().sum::<Fraction>(), Fraction::ONE);
    }
}

#[test]
fn two_by_two() {
    for army in ["KP", "KG", "GP", "PP", "KK", "CC"] {
        check("2x2", army, &[("a1", -1, 1), ("b2", -1, 1)]);
    }
    for army in ["KC", "GC", "CP"] {
        check("2x2", army, &[("a1", -1, 3), ("b2", -1, 3)]);
    }
}

#[test]
fn three_by_two() {
    check("3x2", "PPP", &[("a1", -1, 5), ("b1", 3, 5)]);
    check("3x2", "KPP", &[("a1", 1, 45), ("b1", 1, 3)]);
    check("3x2", "KGP", &[("a1", 11, 120), ("b1", 13, 40), ("c2", 11, 120), ("b2", 13, 40)]);
    check("3x2", "CPP", &[("a1", -1, 10), ("b1", -1, 15)]);
    check("3x2", "CCC", &[("a1", -2, 5), ("b1", -2, 5)]);
}

#[test]
fn two_by_four() {
    check("2x4", "KPPP", &[("a1", -23, 80), ("b1", -9, 40), ("d2", -23, 80), ("c2", -9, 40)]);
    check("2x4", "PPPP", &[("a1", -19, 35), ("b1", -19, 35)]);
    check("2x4", "CCPP", &[("a1", -11, 180), ("b1", -2, 45)]);
    check("2x4", "KCPP", &[("a1", -17, 140), ("b1", -1, 84)]);
    check("2x4", "NCPP", &[("a1", -47, 630), ("b1", 17, 1680)]);
    check("2x4", "RNCC", &[("a1", -89, 720), ("b1", -2, 45)]);
    check("2x4", "NNPP", &[("a1", -22, 105), ("b1", -43, 315)]);
}

#[test]
fn two_by_four_with_eight_different_pieces() {
    check("2x4", "KNCP", &[("a1", -347, 2880), ("b1", 1, 630)]);
}
