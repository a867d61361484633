//! A text that reads as a position prints as one that reads the same, and its moves can be played.
#![no_main]

use anqi_rules::{Ladder, Move, Position};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    for ladder in Ladder::ALL {
        let Ok(position) = Position::parse(text, ladder) else { continue };
        assert_eq!(Position::parse(&position.to_string(), ladder), Ok(position));
        for mv in position.moves() {
            assert!(position.is_legal(mv));
            let next = match (mv, position.reveals().next()) {
                (Move::Step { from, to }, _) => position.after_step(from, to),
                (Move::Flip(square), Some((piece, _))) => position.after_flip(square, piece),
                (Move::Flip(_), None) => unreachable!("a flip with an empty pool"),
            };
            assert_eq!(next.hash(), next.fresh_hash());
        }
    }
});
